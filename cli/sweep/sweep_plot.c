#include "sweep_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/number_text.h"
#include "../draw/drawing.h"
#include "sweep_grid.h"

enum {
    PANELS = 4,
    MOST_GAMMAS = 6,
    COLUMN_GAMMAS = 3,
    TOP = 64,
    TITLE = 22,
    HEIGHT = 104,
    LEFT = 58,
    GAP = 12,
    BAR = 82,
    MOST_WIDTH = 300
};
static const cli_sweep_axis across[PANELS] = {CLI_SWEEP_DIMENSIONS, CLI_SWEEP_CLUSTERS, CLI_SWEEP_POINTS,
                                              CLI_SWEEP_CLUSTERS};
static const cli_sweep_axis up[PANELS] = {CLI_SWEEP_SCALE, CLI_SWEEP_SCALE, CLI_SWEEP_SCALE, CLI_SWEEP_DIMENSIONS};
static const char *const axis_name[CLI_SWEEP_AXES] = {"clusters", "dimensions", "points", "data scale", "gamma"};

/* The means of one map: sums and counts [across][up]. */
typedef struct map {
    size_t columns, rows;
    double *sum;
    int64_t *count;
} map;

static bool make_map(const cli_sweep_grid *grid, int panel, int gamma, map *m) {
    *m = (map){grid->axis[across[panel]].count, grid->axis[up[panel]].count, NULL, NULL};
    m->sum = calloc(m->columns * m->rows, sizeof *m->sum);
    m->count = calloc(m->columns * m->rows, sizeof *m->count);
    if (m->sum == NULL || m->count == NULL) return false;
    for (int64_t c = 0; c < grid->cells; c++) {
        if (!cli_sweep_done(grid, c)) continue;
        if (gamma >= 0 && cli_sweep_place(grid, c, CLI_SWEEP_GAMMA) != (size_t)gamma) continue;
        const size_t at = cli_sweep_place(grid, c, across[panel]) * m->rows + cli_sweep_place(grid, c, up[panel]);
        m->sum[at] += fabs(grid->difference[c]);
        m->count[at]++;
    }
    return true;
}

static void free_map(map *m) {
    free(m->sum);
    free(m->count);
}

/* The block $mapCR of column and row, and the range of the means above 0 so far. */
static bool write_map(FILE *script, const cli_sweep_grid *grid, int row, int panel, int gamma, double range[2]) {
    map m;
    const bool room = make_map(grid, panel, gamma, &m);
    if (room) fprintf(script, "$map%d%d << EOD\n", row, panel);
    for (size_t i = 0; room && i < m.columns * m.rows; i++) {
        if (m.count[i] == 0) continue; /* all its cells were left out */
        const double mean = m.sum[i] / (double)m.count[i];
        fprintf(script, "%zu %zu %.6g\n", i / m.rows, i % m.rows, mean);
        range[0] = mean > 0 ? fmin(range[0], mean) : range[0];
        range[1] = fmax(range[1], mean);
    }
    if (room) fputs("EOD\n", script);
    free_map(&m);
    return room;
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

/* A column of maps for each gamma, or one for all; a row for each pair of axes. */
typedef struct layout {
    int columns, width;
    bool all; /* the one column is the mean over gamma */
    double map_width;
    cli_axis colors; /* the range of the means */
    double least;    /* means below count as this */
} layout;

static layout layout_of(const cli_sweep_grid *grid) {
    const int gammas = (int)grid->axis[CLI_SWEEP_GAMMA].count;
    layout l = {.all = gammas > MOST_GAMMAS};
    l.columns = l.all ? 1 : gammas;
    l.width = l.columns > COLUMN_GAMMAS ? 2 * CLI_COLUMN : CLI_COLUMN;
    l.map_width = fmin((l.width - LEFT - BAR) / (double)l.columns, MOST_WIDTH) - GAP;
    return l;
}

/* Values stand side by side whatever their distances; if room is short only every second, third, ... is named. */
static cli_axis axis_of(const cli_number_list *list, double room) {
    cli_axis axis = {.low = -0.5, .high = (double)list->count - 0.5};
    const size_t fit = room < CLI_AXIS_MOST_TICS ? (size_t)room : CLI_AXIS_MOST_TICS;
    const size_t stride = (list->count + fit - 1) / fit;
    for (size_t i = 0; i < list->count; i += stride) {
        char number[CLI_NUMBER_TEXT];
        if (list->value[i] >= 1e4)
            snprintf(number, sizeof number, list->value[i] < 1e6 ? "%.3gk" : "%.3gM",
                     list->value[i] / (list->value[i] < 1e6 ? 1e3 : 1e6));
        else
            cli_number_text(list->value[i], number);
        axis.tic[axis.tics] = (double)i;
        snprintf(axis.text[axis.tics++], CLI_AXIS_TEXT, "%s", number);
    }
    return axis;
}

/* How many numbers, of such a list, fit side by side into the width of a map. */
static double room_for(const cli_number_list *list, double width) {
    const cli_axis one = axis_of(list, CLI_AXIS_MOST_TICS);
    return fmax(1, width / (CLI_SMALL * 0.64 * (cli_axis_width(&one) + 0.6)));
}

/* Differences span decades, so the colours are logarithmic; the darkest stands for all below 1/10000 of the greatest.
 */
static void choose_colors(layout *l, const double range[2]) {
    if (range[1] > 0) {
        l->least = fmax(range[0], 1e-4 * range[1]);
        l->colors = cli_axis_log(l->least, range[1], 6);
        l->colors.low = l->least;
        l->colors.high = range[1] > l->least ? range[1] : 2 * l->least;
    } else {
        l->colors = cli_axis_of(0, 1, 5);
        l->colors.low = 0;
        l->colors.high = 1;
    }
}

/* One key of colours for all maps, right of them. */
static void write_colors(const cli_drawing *d, const layout *l) {
    const double x = LEFT + l->columns * (l->map_width + GAP) + 2, y = TOP + TITLE, height = 2 * HEIGHT;
    cli_drawing_palette(d, false);
    cli_axis_write(&l->colors, "cb", d->script);
    fprintf(d->script, "least = %.6g\n%sset colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f\n", l->least,
            l->least > 0 ? "set logscale cb\n" : "", x / d->width, 1 - (y + height) / d->height, 10.0 / d->width,
            height / d->height);
    cli_drawing_text(d, d->width - 8, y + height / 2, CLI_UPWARD, CLI_SMALL, 3 * height,
                     "mean |difference of log objectives|");
}

static void write_panel(const cli_drawing *d, const layout *l, const cli_sweep_grid *grid, int row, int column) {
    const cli_box box = {LEFT + column * (l->map_width + GAP), TOP + TITLE + row * (HEIGHT + CLI_X_ROOM + 4),
                         l->map_width, HEIGHT};
    const cli_number_list *wide = &grid->axis[across[row]], *high = &grid->axis[up[row]];
    const cli_axis x_axis = axis_of(wide, room_for(wide, l->map_width));
    cli_axis y_axis = axis_of(high, HEIGHT / (CLI_SMALL * 1.1));
    char text[CLI_NUMBER_TEXT + 16], number[CLI_NUMBER_TEXT];
    snprintf(text, sizeof text, "gamma = %s", cli_number_text(grid->axis[CLI_SWEEP_GAMMA].value[column], number));
    if (row == 0)
        cli_drawing_text(d, box.x + box.width / 2, box.y - 12, CLI_CENTER, CLI_PLAIN, box.width + GAP,
                         l->all ? "mean over gamma" : text);
    for (int i = 0; column > 0 && i < y_axis.tics; i++) y_axis.text[i][0] = '\0'; /* those of the first serve all */
    cli_drawing_plot(d, &box, &x_axis, axis_name[across[row]], &y_axis, column > 0 ? "" : axis_name[up[row]], LEFT);
    fprintf(d->script,
            "plot $map%d%d using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):($3 > least ? $3 : least) "
            "with boxxyerror fs solid noborder lc palette\nunset colorbox\n",
            column, row);
    cli_drawing_next(d);
}

static bool write_maps(const cli_drawing *d, layout *l, const cli_sweep_grid *grid) {
    double range[2] = {INFINITY, 0};
    for (int i = 0; i < l->columns * PANELS; i++)
        if (!write_map(d->script, grid, i / PANELS, i % PANELS, l->all ? -1 : i / PANELS, range)) return false;
    choose_colors(l, range);
    return true;
}

bool cli_sweep_plot(const void *result, const char *path, ts_io_error *error) {
    const cli_sweep_grid *grid = result;
    const cli_sweep_options *options = grid->options;
    layout l = layout_of(grid);
    cli_drawing d;
    if (!cli_drawing_begin(&d, path, l.width, TOP + TITLE + PANELS * (HEIGHT + CLI_X_ROOM + 4), error)) return false;
    if (!write_maps(&d, &l, grid)) {
        cli_drawing_abandon(&d);
        return cli_drawing_fail_memory(error);
    }
    cli_drawing_line(&d, LEFT, 16, CLI_LARGE, "Softmax transformer and Lloyd, %lld step%s", CLI_COUNT(options->steps));
    cli_drawing_line(&d, LEFT, 36, CLI_SMALL, "means over %s not shown%s", l.all ? "gamma and the axes" : "the axes",
                     options->tasks > 1 ? " and over tasks" : "");
    fputs("set border 15\nunset grid\n", d.script);
    write_colors(&d, &l);
    for (int i = 0; i < l.columns * PANELS; i++) write_panel(&d, &l, grid, i / l.columns, i % l.columns);
    return cli_drawing_end(&d, error);
}
