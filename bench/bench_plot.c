/* bench_plot.c: the table of `tessera bench` as dots, a line for each of ours: its time, and how many times as long the
 * peers take. */
#include <math.h>
#include <string.h>

#include "../cli/common/options.h"
#include "../cli/draw/drawing.h"
#include "bench_report.h"

enum {
    MOST_SERIES = 6, /* peers: four and two (bench_peer.c) */
    MOST_ITEMS = 64,
    LEFT = 164,
    RIGHT = 14,
    GAP = 22,
    LINE = 32, /* two lines of text */
    KEY_TOP = 40,
    KEY_LINE = 17
};

static const int shapes[MOST_SERIES] = {7, 5, 9, 13, 11, 15};
static const char *const colors[MOST_SERIES] = {CLI_GREEN, CLI_PURPLE, CLI_ORANGE, CLI_SKY, CLI_GREY, CLI_INK};

typedef struct item {
    const char *work;
    char what[CLI_BENCH_TEXT];
    cli_bench_summary time;
    double ratio[MOST_SERIES]; /* NAN: not measured */
} item;

typedef struct chart {
    item items[MOST_ITEMS];
    const char *series[MOST_SERIES];
    int n_items, n_series;
    double time[2], ratio[2]; /* least and most */
} chart;

static int series_of(chart *c, const char *who) {
    const int place = cli_place_of(c->series, c->n_series, who);
    if (place >= 0 || c->n_series == MOST_SERIES) return place;
    c->series[c->n_series] = who;
    return c->n_series++;
}

static void take_row(void *context, const cli_bench_row *row) {
    chart *c = context;
    if (row->ours && c->n_items < MOST_ITEMS) {
        item *i = &c->items[c->n_items++];
        *i = (item){.work = row->work, .time = row->time};
        snprintf(i->what, sizeof i->what, "%s", row->what);
        for (int s = 0; s < MOST_SERIES; s++) i->ratio[s] = NAN;
        if (row->measured) {
            c->time[0] = fmin(c->time[0], row->time.least);
            c->time[1] = fmax(c->time[1], row->time.most);
        }
    } else if (!row->ours && row->ratio > 0) {
        const int s = series_of(c, row->who);
        if (s >= 0) c->items[c->n_items - 1].ratio[s] = row->ratio;
        c->ratio[0] = fmin(c->ratio[0], row->ratio);
        c->ratio[1] = fmax(c->ratio[1], row->ratio);
    }
}

/* A line for each of ours that was measured: its place, median, least, most, and the ratios of the peers. */
static void write_data(FILE *script, const chart *c) {
    fputs("$rows << EOD\n", script);
    for (int i = 0; i < c->n_items; i++) {
        const item *t = &c->items[i];
        if (isnan(t->time.median)) continue;
        fprintf(script, "%d %.6g %.6g %.6g", i, t->time.median, t->time.least, t->time.most);
        for (int s = 0; s < c->n_series; s++) fprintf(script, " %.6g", t->ratio[s]);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void write_head(const cli_drawing *d, const chart *c) {
    cli_drawing_line(d, 12, 16, CLI_LARGE, "Time of a repetition");
    cli_drawing_key(d, 12, KEY_TOP, 7, CLI_MODEL_COLOR, "tessera: median, and least to most");
    for (int s = 0; s < c->n_series; s++)
        cli_drawing_key(d, 12 + s % 2 * (d->width / 2), KEY_TOP + (s / 2 + 1) * KEY_LINE, shapes[s], colors[s],
                        c->series[s]);
}

/* Names of the lines, and a thin line for each in both panels. */
static void write_lines(const cli_drawing *d, const chart *c, double top) {
    fprintf(d->script, "set yrange [%d.5:-0.5]\nset ytics (", c->n_items - 1);
    for (int i = 0; i < c->n_items; i++) fprintf(d->script, "%s'' %d", i > 0 ? ", " : "", i);
    fputs(")\nset ytics scale 0\nset logscale x\n", d->script);
    for (int i = 0; i < c->n_items; i++) {
        const double middle = top + (i + 0.5) * LINE;
        const bool told = strncmp(c->items[i].work, "train", 5) == 0; /* what it is */
        cli_drawing_text(d, LEFT - 8, told ? middle : middle - 6.5, CLI_RIGHT, CLI_SMALL, LEFT, c->items[i].work);
        if (!told) cli_drawing_text(d, LEFT - 8, middle + 6.5, CLI_RIGHT, CLI_SMALL, LEFT, c->items[i].what);
    }
}

static void write_panels(const cli_drawing *d, const chart *c, double top) {
    const double whole = d->width - LEFT - RIGHT, height = c->n_items * LINE;
    const double width = c->n_series > 0 ? (whole - GAP) / 2 : whole;
    const cli_box times = {LEFT, top, width, height}, ratios = {LEFT + width + GAP, top, width, height};
    const cli_axis time = cli_axis_log(c->time[0], c->time[1], c->n_series > 0 ? 3 : 6);
    cli_drawing_plot(d, &times, &time, "milliseconds", NULL, NULL, 0);
    fputs("plot $rows using 2:1:3:4 with xerrorbars pt 7 ps 3*dot lw 1.4 lc rgb '" CLI_MODEL_COLOR "' notitle\n",
          d->script);
    cli_drawing_next(d);
    if (c->n_series == 0) return;
    const cli_axis ratio = cli_axis_log(fmin(1, c->ratio[0]), fmax(1, c->ratio[1]), 3);
    cli_drawing_plot(d, &ratios, &ratio, "time over tessera's", NULL, NULL, 0);
    fputs("set arrow from 1,graph 0 to 1,graph 1 nohead back lw 1.4 lc rgb '" CLI_MODEL_COLOR "'\nplot ", d->script);
    for (int s = 0; s < c->n_series; s++)
        fprintf(d->script, "%s$rows using %d:1 with points pt %d ps 3.5*dot lc rgb '%s' notitle", s > 0 ? ", " : "",
                5 + s, shapes[s], colors[s]);
    fputc('\n', d->script);
    cli_drawing_next(d);
}

bool cli_bench_plot(const void *table, const char *path, ts_io_error *error) {
    chart c = {.time = {INFINITY, -INFINITY}, .ratio = {INFINITY, -INFINITY}};
    cli_drawing d;
    cli_bench_each_row(table, take_row, &c);
    if (!(c.time[1] > 0)) {
        snprintf(error->text, sizeof error->text, "plot: nothing was measured");
        return false;
    }
    const double top = KEY_TOP + 14 + KEY_LINE * ((c.n_series + 1) / 2);
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, (int)top + LINE * c.n_items + CLI_X_ROOM + 4, error)) return false;
    write_data(d.script, &c);
    write_head(&d, &c);
    write_lines(&d, &c, top);
    write_panels(&d, &c, top);
    return cli_drawing_end(&d, error);
}
