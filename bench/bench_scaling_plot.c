/* bench_scaling_plot.c: time and memory against each number, on logarithmic scales, a line of two panels each. */
#include <math.h>
#include <stdio.h>

#include "../cli/draw/drawing.h"
#include "bench_scaling.h"

enum { TOP = 34, TITLE = 36, HEIGHT = 66, GAP = 6, RIGHT = 14, LINE = TITLE + HEIGHT + CLI_X_ROOM };
typedef enum quantity { TIME, MEMORY, QUANTITIES } quantity;

static double value_of(const cli_bench_curve *c, quantity q, int i) {
    const double value = q == TIME ? c->ms[i] : c->added[i];
    return value > 0 ? value : NAN;
}

static void write_block(FILE *script, const cli_bench_curve *c) {
    fputs("$curve << EOD\n", script);
    for (int i = 0; i < c->points; i++)
        fprintf(script, "%.0f %.6g %.6g\n", c->x[i], value_of(c, TIME, i), value_of(c, MEMORY, i));
    fputs("EOD\n", script);
}

/* At the points, at every second one where they are many. */
static cli_axis number_axis(const cli_bench_curve *c) {
    enum { FIT = 5 };
    cli_axis axis = {.low = c->x[0] / 1.2, .high = c->x[c->points - 1] * 1.2};
    const int stride = (c->points + FIT - 1) / FIT;
    for (int i = (c->points - 1) % stride; i < c->points; i += stride) {
        const double x = c->x[i], unit = x >= 1e6 ? 1e6 : x >= 1e4 ? 1e3 : 1;
        axis.tic[axis.tics] = x;
        snprintf(axis.text[axis.tics++], CLI_AXIS_TEXT, "%.*g%s", unit > 1 ? 3 : 4, x / unit,
                 x >= 1e6   ? "M"
                 : x >= 1e4 ? "k"
                            : "");
    }
    return axis;
}

static cli_axis value_axis(const cli_bench_curve *c, quantity q) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < c->points; i++) {
        low = fmin(low, value_of(c, q, i)); /* which leaves NAN out */
        high = fmax(high, value_of(c, q, i));
    }
    return high > 0 ? cli_axis_log(low, high, 4) : cli_axis_log(1, 10, 4);
}

/* The curve of one quantity; `x` is where its half of the page begins. */
static void write_panel(const cli_drawing *d, const cli_bench_curve *c, quantity q, double x, double y, double left) {
    static const char *const names[QUANTITIES] = {"ms a step", "MB added"}, *const what[QUANTITIES] = {"time",
                                                                                                       "memory"};
    const double exponent = q == TIME ? c->time_exponent : c->memory_exponent;
    const double width = d->width / 2.0 - left - RIGHT;
    const cli_axis across = number_axis(c), up = value_axis(c, q);
    const char *number = cli_bench_axis_of(c->axis)->number;
    char text[80];
    snprintf(text, sizeof text, "%s as %s^%.2f", what[q], number, exponent);
    if (!isnan(exponent)) cli_drawing_text(d, x + left, y - 9, CLI_LEFT, CLI_SMALL, width + RIGHT, text);
    cli_drawing_plot(d, &(cli_box){x + left, y, width, HEIGHT}, &across, number, &up, names[q], left);
    fprintf(d->script, "plot $curve using 1:%d with linespoints pt 7 ps 2*dot lw 1.4 lc rgb '%s' notitle\n", 2 + q,
            cli_bench_axis_of(c->axis)->kind == &cli_bench_plain ? CLI_LLOYD_COLOR : CLI_MODEL_COLOR);
    cli_drawing_next(d);
}

static void write_curve(const cli_drawing *d, const cli_bench_scaling *s, const cli_bench_curve *c, double y,
                        double left) {
    cli_drawing_line(d, left, y + 12, CLI_PLAIN, "%s: %s", cli_bench_axes[c->axis],
                     cli_bench_axis_of(c->axis)->fixed[s->options->quick]);
    write_block(d->script, c);
    for (quantity q = TIME; q < QUANTITIES; q++) write_panel(d, c, q, q == TIME ? 0 : d->width / 2.0, y + TITLE, left);
}

bool cli_bench_scaling_plot(const void *scaling, const char *path, ts_io_error *error) {
    const cli_bench_scaling *s = scaling;
    int lines = 0, at = 0;
    double left = 0;
    cli_drawing d;
    for (int i = 0; i < s->curves; i++) {
        if (s->curve[i].points == 0) continue;
        lines++;
        for (quantity q = TIME; q < QUANTITIES; q++) {
            const cli_axis axis = value_axis(&s->curve[i], q);
            left = fmax(left, cli_drawing_y_room(&axis));
        }
    }
    if (lines == 0) {
        snprintf(error->text, sizeof error->text, "plot: nothing was measured");
        return false;
    }
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, TOP + lines * (LINE + GAP), error)) return false;
    fputs("set logscale xy\n", d.script);
    cli_drawing_line(&d, left, 16, CLI_LARGE, "Time and memory of a step");
    for (int i = 0; i < s->curves; i++)
        if (s->curve[i].points > 0) write_curve(&d, s, &s->curve[i], TOP + at++ * (LINE + GAP), left);
    return cli_drawing_end(&d, error);
}
