/* bench_plot.c: the times of `tessera bench` as bars on a logarithmic scale, ours and the peers' side by side. */
#include <string.h>

#include "bench_report.h"
#include "gnuplot.h"

/* Ours, and four and two peers (bench_peer.c). */
enum { MOST_SERIES = 7, PLACE_WIDTH = 26, LEAST_WIDTH = 520 }; /* the title is as wide */
static const char *const colors[MOST_SERIES] = {"#D55E00", "#0072B2", "#56B4E9", "#009E73",
                                                "#999999", "#CC79A7", "#E69F00"};

/* The script being written: bars stand at places from the left; those of one item stand together. */
typedef struct chart {
    FILE *script;
    const char *series[MOST_SERIES];
    int n_series, place, items;
} chart;

static int series_of(chart *c, const char *who) {
    for (int s = 0; s < c->n_series; s++)
        if (strcmp(c->series[s], who) == 0) return s;
    c->series[c->n_series] = who;
    return c->n_series++;
}

/* A line of the data block: place, series, median, least, most. */
static void write_bar(void *context, const cli_bench_row *row) {
    chart *c = context;
    if (row->ours) c->place += c->items++ > 0; /* a gap before each of ours */
    if (row->state != CLI_BENCH_MEASURED) return;
    const int series = series_of(c, row->who);
    fprintf(c->script, "%d %d %.6g %.6g %.6g\n", c->place++, series, row->time.median, row->time.least, row->time.most);
}

static void write_tic(void *context, const cli_bench_row *row) {
    chart *c = context;
    if (row->ours) {
        c->place += c->items++ > 0;
        const bool told = strncmp(row->work, "train", 5) == 0; /* what it is */
        fprintf(c->script, "%s'%s%s%s' %d", c->items > 1 ? ", " : "", row->work, told ? "" : ", ",
                told ? "" : row->what, c->place);
    }
    c->place += row->state == CLI_BENCH_MEASURED;
}

static void write_plot(const chart *c) {
    fprintf(c->script, "\nset logscale y\nset xrange [-1:%d]\nset style fill solid 0.85 noborder\n", c->place);
    fputs("set ylabel 'milliseconds' textcolor rgb '#222222'\nset grid noxtics ytics\nset bars 0.4\n"
          "set key outside top center horizontal maxcols 4 samplen 1.5 textcolor rgb '#222222'\n"
          "set title 'Time of a repetition: median, least and most' textcolor rgb '#111111'\nplot ",
          c->script);
    for (int s = 0; s < c->n_series; s++) {
        fprintf(c->script, "%s$bars using 1:($2==%d ? $3 : NaN):4:5:(0.9) with boxerrorbars lc rgb '%s' title ",
                s > 0 ? ", " : "", s, colors[s]);
        cli_gnuplot_string(c->script, c->series[s]);
    }
    fputc('\n', c->script);
}

bool cli_bench_plot(const cli_bench_table *table, ts_io_error *error) {
    chart c = {.script = tmpfile()}, tics;
    if (c.script == NULL) {
        snprintf(error->text, sizeof error->text, "plot: no room for temporary files");
        return false;
    }
    tics = c;
    fputs("$bars << EOD\n", c.script);
    cli_bench_each_row(table, write_bar, &c);
    fputs("EOD\n", c.script);
    const int width = 160 + PLACE_WIDTH * (c.place + 4);
    cli_gnuplot_begin(c.script, table->options->plot, width > LEAST_WIDTH ? width : LEAST_WIDTH, 560);
    fputs("set xtics rotate by -35 left (", c.script);
    cli_bench_each_row(table, write_tic, &tics);
    fputs(")\n", c.script);
    write_plot(&c);
    if (c.n_series == 0) snprintf(error->text, sizeof error->text, "plot: nothing was measured");
    const bool done = c.n_series > 0 && cli_gnuplot_run(c.script, table->options->plot, error);
    fclose(c.script);
    return done;
}
