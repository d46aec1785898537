/* inspect_weights.c: the weights of a model as heat maps. */
#include "inspect_pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/definition/variants.h"
#include "../draw/heat_map.h"

enum { PARTS = 3, COLUMNS = 4, SIDE = 100, GAP = 9, LEFT = 34, TOP = 124, HEADING = 20, LINE = SIDE + 6 };
static const char *const part_names[PARTS] = {"query", "key", "value"};

/* The matrices of a model, [e,e] each: query, key, value and query key' of each block. */
typedef struct matrices {
    int64_t e;
    double *value; /* [blocks, COLUMNS, e, e] */
    bool has_part[TS_BLOCKS][COLUMNS];
} matrices;

static double *matrix_of(const matrices *m, int block, int column) {
    return m->value + (block * COLUMNS + column) * m->e * m->e;
}

/* Fixed diagonal matrices are stored as their diagonal. */
static bool copy_matrix(const ts_transformer *model, int block, int part, matrices *m) {
    char name[TS_PARAM_NAME];
    double *to = matrix_of(m, block, part);
    snprintf(name, sizeof name, "%s.%s.weight", ts_block_names[block], part_names[part]);
    const int at = ts_params_find(model->params, name);
    if (at < 0) return false;
    const ts_real *from = ts_params_value(model->params, at);
    const bool diagonal = ts_params_shape(model->params, at)->rank == 1;
    for (int64_t i = 0; i < m->e; i++)
        for (int64_t j = 0; j < m->e; j++)
            to[i * m->e + j] = diagonal ? (i == j ? (double)from[i] : 0) : (double)from[i * m->e + j];
    return true;
}

/* query key', [e,e]: row i, column j is what coordinate i of one token makes of coordinate j of the other. */
static void multiply(const matrices *m, int block) {
    const double *query = matrix_of(m, block, 0), *key = matrix_of(m, block, 1);
    double *product = matrix_of(m, block, PARTS);
#pragma omp parallel for if (m->e > 64)
    for (int64_t i = 0; i < m->e; i++)
        for (int64_t j = 0; j < m->e; j++) {
            double sum = 0;
            for (int64_t l = 0; l < m->e; l++) sum += query[i * m->e + l] * key[j * m->e + l];
            product[i * m->e + j] = sum;
        }
}

static bool take_matrices(const ts_transformer *model, matrices *m) {
    *m = (matrices){.e = model->e};
    m->value = calloc((size_t)(TS_BLOCKS * COLUMNS * m->e * m->e), sizeof *m->value);
    if (m->value == NULL) return false;
    for (int b = 0; b < TS_BLOCKS; b++) {
        for (int part = 0; part < PARTS; part++) m->has_part[b][part] = copy_matrix(model, b, part, m);
        m->has_part[b][PARTS] = m->has_part[b][0] && m->has_part[b][1];
        if (m->has_part[b][PARTS]) multiply(m, b);
    }
    return true;
}

/* The range of values of columns first .. last. */
static cli_heat_scale scale_columns(matrices *m, int first, int last) {
    double *maps[TS_BLOCKS * COLUMNS];
    int count = 0;
    for (int b = 0; b < TS_BLOCKS; b++)
        for (int c = first; c <= last; c++) maps[count++] = matrix_of(m, b, c);
    return cli_heat_scale_maps(maps, count, m->e * m->e);
}

/* The four matrices of a block in a line. */
static void draw_block(const cli_drawing *d, const ts_transformer *model, const matrices *m, int b, double y,
                       const char *name) {
    for (int c = 0; c < COLUMNS; c++) {
        const cli_heat_map map = {.box = {LEFT + c * (SIDE + GAP), y, SIDE, SIDE},
                                  .rows = m->e,
                                  .columns = m->e,
                                  .values = matrix_of(m, b, c),
                                  .is_signed = true,
                                  .name = c == 0 ? name : NULL,
                                  .lines = &model->d,
                                  .n_lines = model->s > 0,
                                  .both_ways = true};
        if (!m->has_part[b][c])
            cli_drawing_text(d, map.box.x + SIDE / 2, y + SIDE / 2, CLI_CENTER, CLI_SMALL, SIDE + GAP,
                             "looks at itself");
        cli_heat_map_add(d, &map);
    }
}

/* The construction drawn beside the model; empty if none has its codes. */
static bool take_construction(const ts_transformer *model, matrices *m, ts_error *error) {
    const ts_variant *lloyd = ts_variant_by_name("lloyd");
    ts_settings settings = ts_variant_settings(lloyd);
    ts_definition definition;
    ts_transformer construction = {0};
    *m = (matrices){0};
    if (model->construction == TS_CONSTRUCTION_NONE) return true;
    settings.construction = ts_construction_names[model->construction];
    const bool done = ts_variant_define(lloyd, &settings, &definition, error) == TS_OK &&
                      ts_transformer_build(&construction, &definition, model->d, model->k, 0, error) == TS_OK &&
                      take_matrices(&construction, m);
    ts_transformer_clear(&construction);
    return done;
}

/* In the order of ts_block_names. */
static const char *const block_titles[TS_BLOCKS] = {
    "cross_points: points look at centres", "self_points: points look at points",
    "cross_centers: centres look at points", "self_centers: centres look at centres"};

static void write_titles(const cli_drawing *d, const ts_transformer *model) {
    cli_drawing_line(d, LEFT, 16, CLI_LARGE, "Weights of the attentions");
    cli_drawing_line(d, LEFT, 36, CLI_SMALL, "row i, column j: what coordinate i becomes in coordinate j");
    cli_drawing_line(d, LEFT, 52, CLI_SMALL, "the first %lld are data, the other %lld code", (long long)model->d,
                     (long long)model->s);
}

static void write_keys(const cli_drawing *d, const char *const *names, const cli_heat_scale *scales, int count) {
    const double width = (d->width - LEFT) / 3.0;
    for (int i = 0; i < count; i++) {
        cli_drawing_text(d, LEFT + (i + 0.5) * width, 76, CLI_CENTER, CLI_SMALL, width, names[i]);
        cli_heat_map_key(d, LEFT + i * width, 86, width, true, scales[i]);
    }
}

/* Block for block the learned matrices, and below them those of the construction, if there is one. */
static bool draw(const ts_transformer *model, matrices *m, const matrices *other, const char *path,
                 ts_io_error *error) {
    static const char *const keys[] = {"learned Q, K, V", "learned Q K'", "Lloyd"};
    static const char *const titles[COLUMNS] = {"Q", "K", "V", "Q K'"};
    const cli_heat_scale scales[] = {scale_columns(m, 0, PARTS - 1), scale_columns(m, PARTS, PARTS), {.end = 1}};
    const int sides = other->value != NULL ? 2 : 1, block = HEADING + sides * LINE + 8;
    cli_drawing d;
    if (isnan(scales[0].end) || isnan(scales[1].end)) return cli_drawing_fail_memory(error);
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, TOP + TS_BLOCKS * block, error)) return false;
    write_titles(&d, model);
    write_keys(&d, keys, scales, sides + 1);
    for (int c = 0; c < COLUMNS; c++)
        cli_drawing_text(&d, LEFT + c * (SIDE + GAP) + SIDE / 2, TOP - 9, CLI_CENTER, CLI_PLAIN, SIDE, titles[c]);
    for (int b = 0; b < TS_BLOCKS; b++) {
        const double y = TOP + b * block + HEADING;
        cli_drawing_line(&d, LEFT, y - 9, CLI_PLAIN, "%s", block_titles[b]);
        draw_block(&d, model, m, b, y, "learned");
        if (sides == 2) draw_block(&d, model, other, b, y + LINE, "Lloyd");
    }
    return cli_drawing_end(&d, error);
}

bool cli_inspect_plot_weights(const ts_transformer *model, const char *path, ts_io_error *error) {
    enum { MOST_WIDTH = 1024 };
    ts_error reason = {.status = TS_OK};
    if (model->e > MOST_WIDTH) {
        snprintf(error->text, sizeof error->text, "plot: matrices of %lld rows are too large to be seen",
                 (long long)model->e);
        return false;
    }
    matrices m = {0}, other = {0};
    bool done = take_matrices(model, &m) && take_construction(model, &other, &reason);
    if (done)
        done = draw(model, &m, &other, path, error);
    else
        snprintf(error->text, sizeof error->text, "plot: %s", reason.status == TS_OK ? "out of memory" : reason.text);
    free(m.value);
    free(other.value);
    return done;
}
