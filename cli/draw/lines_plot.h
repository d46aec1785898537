/* lines_plot.h: lines with ribbons in one panel: runs of training beside one another, or curves of eval. */
#ifndef CLI_LINES_PLOT_H
#define CLI_LINES_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "../../io/io_error.h"

typedef struct cli_line {
    char label[96];
    bool is_lloyd; /* drawn in the colour of Lloyd's algorithm */
    int64_t count;
    double *x, *y;      /* [count]; values that are not finite, or below 0 on a logarithmic axis, are left out */
    double *low, *high; /* [count], a ribbon around y; NULL: none */
} cli_line;

enum { CLI_MOST_LINES = 24 };
typedef struct cli_lines_picture {
    const char *title, *x_name, *y_name;
    const char *reference_name; /* a level line across; NULL: none */
    double reference;
    double most; /* what is higher leaves the picture; 0: nothing does */
    bool y_log, x_log;
    int n_lines;
    cli_line line[CLI_MOST_LINES];
} cli_lines_picture;

/* The same bytes for the same picture (.pdf: but for its date). */
bool cli_lines_plot(const cli_lines_picture *picture, const char *path, ts_io_error *error);
void cli_lines_free(cli_lines_picture *picture);

#endif
