#include "sweep_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gnuplot.h"
#include "number_text.h"

enum { PANELS = 4, MOST_ROWS = 6, MOST_TICS = 10 };
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

/* The block $mapRC, and the range of the means above 0 so far. */
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

/* Values stand side by side whatever their distances; of many every second, third, ... is named. */
static void write_tics(FILE *script, char axis, const cli_sweep_list *list) {
    const size_t stride = (list->count + MOST_TICS - 1) / MOST_TICS;
    fprintf(script, "set %ctics (", axis);
    for (size_t i = 0; i < list->count; i += stride) {
        char number[CLI_NUMBER_TEXT];
        if (list->value[i] >= 1e4)
            snprintf(number, sizeof number, "%.3gk", list->value[i] / 1000);
        else
            cli_number_text(list->value[i], number);
        fprintf(script, "%s'%s' %zu", i == 0 ? "" : ", ", number, i);
    }
    fprintf(script, ")\nset %crange [-0.5:%zu.5]\n", axis, list->count - 1);
}

static void write_terminal(FILE *script, const char *path, int rows) {
    const char *ending = path + strlen(path) - 4;
    fputs("set encoding utf8\nset terminal ", script);
    if (strcasecmp(ending, ".svg") == 0)
        fprintf(script, "svg size 1200,%d fixed font 'sans,12' background '#ffffff' name 'tessera'", 90 + 290 * rows);
    else if (strcasecmp(ending, ".png") == 0)
        fprintf(script, "pngcairo size 1800,%d font 'sans,12' fontscale 1.5 background '#ffffff'", 135 + 435 * rows);
    else
        fprintf(script, "pdfcairo size 12in,%.3gin font 'sans,12' background '#ffffff'", 0.9 + 2.9 * rows);
    fputs(" noenhanced\nunset output\n"
          "set border lw 1 lc rgb '#666666'\nset tics out nomirror scale 0.4 textcolor rgb '#444444' font ',10'\n"
          "unset key\n"
          /* Viridis by S. van der Walt and N. Smith: even to the eye, in grey too. */
          "set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', 5 '#27ad81', "
          "6 '#5cc863', 7 '#aadc32', 8 '#fde725')\n",
          script);
}

/* Differences run over decades from gamma to gamma, which only a logarithm shows in one scale of colours. Its darkest
 * is for all that is below the least mean, or below 1/10000 of the greatest. */
static void write_colors(FILE *script, const double range[2]) {
    if (!(range[1] > 0)) {
        fputs("set cbrange [0:1]\nleast = 0\n", script);
        return;
    }
    const double least = fmax(range[0], 1e-4 * range[1]);
    fprintf(script, "least = %.6g\nset logscale cb\nset cbrange [%.6g:%.6g]\n", least, least,
            range[1] > least ? range[1] : 2 * least);
    fputs("set format cb '%.2g'\n", script);
}

static void write_panel(FILE *script, const cli_sweep_grid *grid, int row, int panel, int gamma) {
    char number[CLI_NUMBER_TEXT];
    if (gamma >= 0)
        fprintf(script, "set title 'gamma = %s' offset 0,-0.5 textcolor rgb '#111111'\n",
                cli_number_text(grid->axis[CLI_SWEEP_GAMMA].value[gamma], number));
    else
        fputs("set title 'mean over gamma' offset 0,-0.5 textcolor rgb '#111111'\n", script);
    fprintf(script, "set xlabel '%s' offset 0,0.4 textcolor rgb '#222222'\n", axis_name[across[panel]]);
    fprintf(script, "set ylabel '%s' offset 0.8,0 textcolor rgb '#222222'\n", axis_name[up[panel]]);
    write_tics(script, 'x', &grid->axis[across[panel]]);
    write_tics(script, 'y', &grid->axis[up[panel]]);
    /* One key of colours a row, right of the last map. */
    fputs(panel == PANELS - 1 ? "set colorbox\n" : "unset colorbox\n", script);
    fprintf(script,
            "plot $map%d%d using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):($3 > least ? $3 : least) "
            "with boxxyerror fs solid noborder lc palette\n",
            row, panel);
}

static void write_layout(FILE *script, const cli_sweep_options *o, int rows) {
    const double height = 90 + 290 * rows, top = 60 / height;
    fprintf(script, "set multiplot layout %d,%d margins 0.05,0.93,%.4f,%.4f spacing 0.05,%.4f\n", rows, PANELS,
            50 / height, 1 - top - 20 / height, 90 / height);
    fprintf(script,
            "set label 1 'Mean |log objective of the transformer - log objective of Lloyd| after %lld steps, over the "
            "axes not shown' at screen "
            "0.5, %.4f center font ',15' textcolor rgb '#111111'\n",
            (long long)o->steps, 1 - 0.5 * top);
}

bool cli_sweep_plot(const cli_sweep_options *options, const cli_sweep_grid *grid, ts_io_error *error) {
    const int gammas = (int)grid->axis[CLI_SWEEP_GAMMA].count, rows = gammas > MOST_ROWS ? 1 : gammas;
    double range[2] = {INFINITY, 0};
    FILE *script = tmpfile();
    bool room = true, done = false;
    if (script == NULL) {
        snprintf(error->text, sizeof error->text, "plot: no room for temporary files");
        return false;
    }
    write_terminal(script, options->plot, rows);
    for (int i = 0; room && i < rows * PANELS; i++)
        room = write_map(script, grid, i / PANELS, i % PANELS, gammas > MOST_ROWS ? -1 : i / PANELS, range);
    write_colors(script, range);
    write_layout(script, options, rows);
    for (int i = 0; i < rows * PANELS; i++) {
        write_panel(script, grid, i / PANELS, i % PANELS, gammas > MOST_ROWS ? -1 : i / PANELS);
        if (i == 0) fputs("unset label 1\n", script);
    }
    fputs("unset multiplot\n", script);
    if (room)
        done = cli_gnuplot_run(script, options->plot, error);
    else
        snprintf(error->text, sizeof error->text, "plot: out of memory");
    fclose(script);
    return done;
}
