#include "inspect_file.h"

#include <math.h>
#include <string.h>

#include "../../train/checkpoint.h"
#include "../common/message.h"

static bool claims_checkpoint(const ts_safetensors *file) {
    static const char beginning[] = "tessera checkpoint";
    const char *format = ts_safetensors_metadata(file, "format");
    return format != NULL && strncmp(format, beginning, strlen(beginning)) == 0;
}

int cli_inspect_read(const char *path, cli_inspect_file *file) {
    ts_io_error io_error;
    ts_error error = {.status = TS_OK};
    *file = (cli_inspect_file){.path = path};
    if (!ts_safetensors_read(path, &file->file, &io_error)) return cli_fail(CLI_FAILED, "%s", io_error.text);
    if (!claims_checkpoint(&file->file)) return CLI_DONE;
    file->trainer = ts_checkpoint_resume(path, &error);
    return file->trainer != NULL ? CLI_DONE : cli_fail(CLI_FAILED, "%s", error.text);
}

void cli_inspect_free(cli_inspect_file *file) {
    ts_safetensors_free(&file->file);
    ts_trainer_free(file->trainer);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

cli_inspect_numbers cli_inspect_measure(const ts_safetensor *tensor) {
    cli_inspect_numbers m = {
        .count = ts_safetensor_count(tensor), .mean = NAN, .deviation = NAN, .least = NAN, .most = NAN, .norm = 0};
    double sum = 0, squares = 0, spread = 0;
    for (int64_t i = 0; i < m.count; i++) {
        const double value = ts_safetensor_at(tensor, i);
        m.not_finite += !isfinite(value);
        if (!isfinite(value)) continue;
        sum += value;
        squares += value * value;
        m.least = fmin(m.least, value);
        m.most = fmax(m.most, value);
    }
    const double finite = (double)(m.count - m.not_finite);
    m.norm = sqrt(squares);
    if (!(finite > 0)) return m;
    m.mean = sum / finite;
    for (int64_t i = 0; i < m.count; i++) {
        const double difference = ts_safetensor_at(tensor, i) - m.mean;
        if (isfinite(difference)) spread += difference * difference;
    }
    m.deviation = sqrt(spread / finite);
    return m;
}
