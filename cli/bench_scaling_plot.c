/* bench_scaling_plot.c: time and memory against each number, on logarithmic scales, a panel each. */
#include <math.h>
#include <stdio.h>

#include "bench_scaling.h"
#include "gnuplot.h"

enum { COLUMNS = 4, PANEL_WIDTH = 360, PANEL_HEIGHT = 300, TOP = 100 };

static void write_block(FILE *script, const cli_bench_curve *c, int at) {
    fprintf(script, "$c%d << EOD\n", at);
    for (int i = 0; i < c->points; i++)
        fprintf(script, "%.0f %.6g %.6g\n", c->x[i], c->ms[i], c->added[i] > 0 ? c->added[i] : NAN);
    fputs("EOD\n", script);
}

static void write_title(FILE *script, const cli_bench_scaling *s, const cli_bench_curve *c) {
    const cli_bench_axis *axis = cli_bench_axis_of(c->axis);
    fprintf(script, "set title \"%s: %s", cli_bench_axes[c->axis], axis->fixed[s->options->quick]);
    if (!isnan(c->time_exponent)) fprintf(script, "\\ntime as %s^%.2f", axis->number, c->time_exponent);
    if (!isnan(c->memory_exponent)) fprintf(script, ", memory as %s^%.2f", axis->number, c->memory_exponent);
    fputs("\" offset 0,-0.4 font ',12' textcolor rgb '#111111'\n", script);
}

/* At the points, at every second one where they are many. */
static void write_tics(FILE *script, const cli_bench_curve *c) {
    const int stride = c->points > 6 ? 2 : 1, first = (c->points - 1) % stride;
    fputs("set xtics (", script);
    for (int i = first; i < c->points; i += stride) {
        const double x = c->x[i], unit = x >= 1e6 ? 1e6 : x >= 1e4 ? 1e3 : 1;
        fprintf(script, "%s'%.*g%s' %.0f", i > first ? ", " : "", unit > 1 ? 3 : 4, x / unit,
                x >= 1e6   ? "M"
                : x >= 1e4 ? "k"
                           : "",
                x);
    }
    fputs(")\n", script);
}

static void write_panel(FILE *script, const cli_bench_scaling *s, int at) {
    const cli_bench_curve *c = &s->curve[at];
    write_title(script, s, c);
    fprintf(script, "set xlabel '%s' offset 0,0.5 textcolor rgb '#222222'\n", cli_bench_axis_of(c->axis)->number);
    write_tics(script, c);
    fprintf(script, "set xrange [%.6g:%.6g]\n", c->x[0] / 1.3, c->x[c->points - 1] * 1.3);
    fprintf(script,
            "plot $c%d using 1:2 with linespoints pt 7 ps 0.5 lw 1.6 lc rgb '#0072B2' notitle, "
            "$c%d using 1:3 axes x1y2 with linespoints pt 5 ps 0.4 lw 1.6 lc rgb '#D55E00' notitle, "
            "NaN with lines lw 2 lc rgb '#0072B2' title 'milliseconds a step (left)', "
            "NaN with lines lw 2 lc rgb '#D55E00' title 'megabytes added (right)'\n",
            at, at);
    fputs("unset key\n", script);
}

bool cli_bench_scaling_plot(const cli_bench_scaling *s, ts_io_error *error) {
    int panels = 0;
    for (int i = 0; i < s->curves; i++) panels += s->curve[i].points > 0;
    if (panels == 0) {
        snprintf(error->text, sizeof error->text, "plot: nothing was measured");
        return false;
    }
    const int columns = panels < COLUMNS ? panels : COLUMNS, rows = (panels + columns - 1) / columns;
    const double width = 60 + PANEL_WIDTH * columns, height = TOP + 10 + PANEL_HEIGHT * rows;
    FILE *script = tmpfile();
    if (script == NULL) {
        snprintf(error->text, sizeof error->text, "plot: no room for temporary files");
        return false;
    }
    cli_gnuplot_begin(script, s->options->plot, (int)width, (int)height);
    fputs("set border 11\nset logscale xyy2\nset format y '%g'\nset format y2 '%g'\n"
          "set y2tics out nomirror scale 0.5 textcolor rgb '#444444' font ',11'\n",
          script);
    for (int i = 0; i < s->curves; i++)
        if (s->curve[i].points > 0) write_block(script, &s->curve[i], i);
    fprintf(script, "set multiplot layout %d,%d margins %.4f,%.4f,%.4f,%.4f spacing %.4f,%.4f\n", rows, columns,
            62 / width, 1 - 62 / width, 54 / height, 1 - TOP / height, 130 / width, 116 / height);
    fprintf(script, "set key at screen 0.5, %.4f center horizontal samplen 3 textcolor rgb '#222222'\n",
            1 - 24 / height);
    for (int i = 0; i < s->curves; i++)
        if (s->curve[i].points > 0) write_panel(script, s, i);
    fputs("unset multiplot\n", script);
    const bool done = cli_gnuplot_run(script, s->options->plot, error);
    fclose(script);
    return done;
}
