/* inspect_file.h: what `tessera inspect` reads: any .safetensors file, and more of a checkpoint. */
#ifndef CLI_INSPECT_FILE_H
#define CLI_INSPECT_FILE_H

#include "../../io/safetensors.h"
#include "../../train/trainer.h"

typedef struct cli_inspect_file {
    const char *path;
    ts_safetensors file;
    ts_trainer *trainer; /* NULL: not a checkpoint */
    bool all;            /* the moments of the optimiser are listed, too */
} cli_inspect_file;

/* CLI_DONE, or CLI_FAILED after saying why; free it in either case. */
int cli_inspect_read(const char *path, cli_inspect_file *file);
void cli_inspect_free(cli_inspect_file *file);

/* Of the finite elements of a tensor; NaN where there are none. */
typedef struct cli_inspect_numbers {
    int64_t count, not_finite;
    double mean, deviation, least, most, norm; /* deviation: over count, not count - 1 */
} cli_inspect_numbers;

cli_inspect_numbers cli_inspect_measure(const ts_safetensor *tensor);

#endif
