#include "lines_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "drawing.h"

enum { TOP = 40, HEIGHT = 240, RIGHT = 16, KEY = 17 };

static const char *const colors[] = {CLI_MODEL_COLOR, CLI_GREEN, CLI_PURPLE, CLI_ORANGE, CLI_SKY, CLI_INK};
enum { COLORS = sizeof colors / sizeof *colors };

static const char *color_of(const cli_lines_picture *p, int l) {
    return p->line[l].is_lloyd ? CLI_LLOYD_COLOR : colors[l % COLORS];
}

static bool shown(double value, bool logarithmic) {
    return isfinite(value) && (!logarithmic || value > 0);
}

static void widen(double value, bool logarithmic, double *low, double *high) {
    if (!shown(value, logarithmic)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static cli_axis axis_of(double low, double high, bool logarithmic) {
    if (!(low <= high)) low = high = 1;
    return logarithmic ? cli_axis_log(low, high, 5) : cli_axis_of(low, high, 5);
}

static cli_axis x_axis(const cli_lines_picture *p) {
    double low = INFINITY, high = -INFINITY;
    for (int l = 0; l < p->n_lines; l++)
        for (int64_t i = 0; i < p->line[l].count; i++) widen(p->line[l].x[i], p->x_log, &low, &high);
    return axis_of(p->x_log ? low : fmin(low, 0), high, p->x_log);
}

/* Of lines and ribbons; on a logarithmic axis four decades. */
static cli_axis y_axis(const cli_lines_picture *p) {
    const bool reference = p->reference_name != NULL;
    double low = reference ? p->reference : INFINITY, high = reference ? p->reference : -INFINITY;
    for (int l = 0; l < p->n_lines; l++) {
        const cli_line *line = &p->line[l];
        for (int64_t i = 0; i < line->count; i++) {
            widen(line->y[i], p->y_log, &low, &high);
            if (line->low != NULL) widen(line->low[i], p->y_log, &low, &high);
            if (line->high != NULL) widen(line->high[i], p->y_log, &low, &high);
        }
    }
    if (p->y_log) high = fmin(high, 1e4 * low);
    if (p->most != 0) high = fmin(high, p->most);
    return axis_of(low, high, p->y_log);
}

static double place(const cli_axis *axis, double value, bool logarithmic) {
    return logarithmic ? value : cli_axis_place(axis, value);
}

static void write_block(FILE *script, const cli_lines_picture *p, int l, const cli_axis *x, const cli_axis *y) {
    const cli_line *line = &p->line[l];
    fprintf(script, "$l%d << EOD\n", l);
    for (int64_t i = 0; i < line->count; i++) {
        if (!shown(line->x[i], p->x_log) || !shown(line->y[i], p->y_log)) continue;
        const double at = place(y, line->y[i], p->y_log);
        const bool low = line->low != NULL && shown(line->low[i], p->y_log),
                   high = line->high != NULL && shown(line->high[i], p->y_log);
        fprintf(script, "%.9g %.9g %.9g %.9g\n", place(x, line->x[i], p->x_log), at,
                low ? place(y, line->low[i], p->y_log) : at, high ? place(y, line->high[i], p->y_log) : at);
    }
    fputs("EOD\n", script);
}

static void write_lines(FILE *script, const cli_lines_picture *p, const cli_axis *y) {
    if (p->x_log) fputs("set logscale x\n", script);
    if (p->y_log) fputs("set logscale y\n", script);
    fputs("plot ", script);
    for (int l = 0; l < p->n_lines; l++)
        if (p->line[l].low != NULL)
            fprintf(script,
                    "$l%d using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.15 noborder notitle, \\\n ",
                    l, color_of(p, l));
    if (p->reference_name != NULL)
        fprintf(script, "%.9g with lines lw 1.4 lc rgb '" CLI_LLOYD_COLOR "' notitle, \\\n ",
                place(y, p->reference, p->y_log));
    for (int l = 0; l < p->n_lines; l++)
        fprintf(script, "$l%d using 1:2 with lines lw 1.6 dt %d lc rgb '%s' notitle%s", l, 1 + l / COLORS % 4,
                color_of(p, l), l + 1 < p->n_lines ? ", \\\n " : "\n");
}

bool cli_lines_plot(const cli_lines_picture *p, const char *path, ts_io_error *error) {
    const cli_axis x = x_axis(p), y = y_axis(p);
    const double left = cli_drawing_y_room(&y);
    const int entries = p->n_lines + (p->reference_name != NULL), keys = (entries + 1) / 2;
    const cli_box box = {left, TOP + keys * KEY, CLI_COLUMN - left - RIGHT, HEIGHT};
    cli_drawing d;
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, (int)box.y + HEIGHT + CLI_X_ROOM + 4, error)) return false;
    for (int l = 0; l < p->n_lines; l++) write_block(d.script, p, l, &x, &y);
    cli_drawing_line(&d, left, 16, CLI_LARGE, "%s", p->title);
    for (int e = 0; e < entries; e++)
        cli_drawing_key(&d, left + e % 2 * (CLI_COLUMN - left) / 2, TOP + e / 2 * KEY, 0,
                        e < p->n_lines ? color_of(p, e) : CLI_LLOYD_COLOR,
                        e < p->n_lines ? p->line[e].label : p->reference_name);
    cli_drawing_plot(&d, &box, &x, p->x_name, &y, p->y_name, left);
    write_lines(d.script, p, &y);
    return cli_drawing_end(&d, error);
}

void cli_lines_free(cli_lines_picture *p) {
    for (int l = 0; l < p->n_lines; l++) {
        free(p->line[l].x);
        free(p->line[l].y);
        free(p->line[l].low);
        free(p->line[l].high);
    }
    p->n_lines = 0;
}
