#include "heat_map.h"
#include "../../models/data/compare_doubles.h"

#include <math.h>
#include <stdlib.h>

cli_heat_scale cli_heat_scale_maps(double *const *maps, int n_maps, int64_t count) {
    double *sizes = malloc((size_t)(n_maps * count) * sizeof *sizes);
    const int64_t last = n_maps * count - 1;
    if (sizes == NULL) return (cli_heat_scale){.end = NAN};
    for (int m = 0; m < n_maps; m++)
        for (int64_t i = 0; i < count; i++) sizes[m * count + i] = fabs(maps[m][i]);
    qsort(sizes, (size_t)last + 1, sizeof *sizes, ts_compare_doubles);
    const double most = sizes[(int64_t)(0.995 * (double)last)], largest = sizes[last];
    const double end = most > 0 ? most : largest > 0 ? largest : 1;
    free(sizes);
    for (int m = 0; m < n_maps; m++)
        for (int64_t i = 0; i < count; i++) maps[m][i] /= end;
    return (cli_heat_scale){.end = end, .exceeded = largest > 1.05 * end};
}

static void write_lines(FILE *script, const cli_heat_map *map, int64_t down, int64_t across) {
    static const char *const style = "nohead front lw 0.7 lc rgb '#777777'";
    for (int64_t i = 0; i < map->n_lines; i++) {
        const double x = (double)(map->lines[i] * across) - 0.5;
        fprintf(script, "set arrow from %.1f,graph 0 to %.1f,graph 1 %s\n", x, x, style);
    }
    for (int64_t i = 0; map->both_ways && i < map->n_lines; i++) {
        const double y = (double)(map->lines[i] * down) - 0.5;
        fprintf(script, "set arrow from graph 0,first %.1f to graph 1,first %.1f %s\n", y, y, style);
    }
}

/* Viewers blur images between pixel centres, so each element becomes many pixels: two a unit. */
static int64_t fineness(int64_t cells, double length) {
    const int64_t pixels = (int64_t)(2 * length);
    return cells >= pixels ? 1 : (pixels + cells - 1) / cells;
}

static void write_values(FILE *script, const cli_heat_map *map, int64_t down, int64_t across) {
    fputs("$map << EOD\n", script);
    for (int64_t r = 0; r < map->rows * down; r++) {
        for (int64_t c = 0; c < map->columns; c++) {
            const double value = fmax(-1, fmin(1, map->values[r / down * map->columns + c]));
            for (int64_t i = 0; i < across; i++) fprintf(script, "%.3g ", value);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

void cli_heat_map_add(const cli_drawing *d, const cli_heat_map *map) {
    const int64_t down = fineness(map->rows, map->box.height), across = fineness(map->columns, map->box.width);
    write_values(d->script, map, down, across);
    cli_drawing_palette(d, map->is_signed);
    cli_drawing_place(d, &map->box);
    if (map->name != NULL)
        cli_drawing_text(d, map->box.x - 11, map->box.y + map->box.height / 2, CLI_UPWARD, CLI_SMALL, map->box.height,
                         map->name);
    write_lines(d->script, map, down, across);
    fprintf(d->script,
            "set border 15 lw 0.7\nunset tics\nunset grid\nset cbrange [%d:1]\nset xrange [-0.5:%lld.5]\n"
            "set yrange [%lld.5:-0.5]\nplot $map matrix with image\nundefine $map\n",
            map->is_signed ? -1 : 0, (long long)(map->columns * across - 1), (long long)(map->rows * down - 1));
    cli_drawing_next(d);
}

void cli_heat_map_key(const cli_drawing *d, double x, double y, double width, bool is_signed, cli_heat_scale scale) {
    enum { SHADES = 101, NUMBER = 42 };
    double shade[SHADES];
    char low[32] = "0", high[32];
    for (int i = 0; i < SHADES; i++) shade[i] = (double)i / (SHADES - 1) * (is_signed ? 2 : 1) - is_signed;
    if (is_signed) snprintf(low, sizeof low, "%s-%.2g", scale.exceeded ? "≤" : "", scale.end);
    snprintf(high, sizeof high, "%s%.2g", scale.exceeded ? "≥" : "", scale.end);
    cli_drawing_text(d, x + NUMBER - 5, y + CLI_HEAT_KEY_HEIGHT / 2, CLI_RIGHT, CLI_SMALL, d->width, low);
    cli_drawing_text(d, x + width - NUMBER + 5, y + CLI_HEAT_KEY_HEIGHT / 2, CLI_LEFT, CLI_SMALL, d->width, high);
    const cli_heat_map key = {.box = {x + NUMBER, y, width - 2 * NUMBER, CLI_HEAT_KEY_HEIGHT},
                              .rows = 1,
                              .columns = SHADES,
                              .values = shade,
                              .is_signed = is_signed};
    cli_heat_map_add(d, &key);
}
