#include "inspect_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../models/variants.h"

enum { PARTS = 3, COLUMNS = 4, SIDE = 150, GAP = 16, LEFT = 40, TOP = 120, LINE = SIDE + 34 };
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

/* Fixed diagonal ones are stored as their diagonal. */
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

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The size of elements that only 1 in 200 exceeds, in columns first .. last; they are divided by it. NAN when out of
 * memory. */
static double scale_columns(matrices *m, int first, int last) {
    const int64_t cells = m->e * m->e, count = TS_BLOCKS * (last - first + 1) * cells;
    double *sizes = malloc((size_t)count * sizeof *sizes);
    int64_t at = 0;
    if (sizes == NULL) return NAN;
    for (int b = 0; b < TS_BLOCKS; b++)
        for (int64_t i = 0; i < (last - first + 1) * cells; i++) sizes[at++] = fabs(matrix_of(m, b, first)[i]);
    qsort(sizes, (size_t)count, sizeof *sizes, compare);
    const double limit = sizes[(int64_t)(0.995 * (double)(count - 1))], divisor = limit > 0 ? limit : 1;
    free(sizes);
    for (int b = 0; b < TS_BLOCKS; b++)
        for (int64_t i = 0; i < (last - first + 1) * cells; i++) matrix_of(m, b, first)[i] /= divisor;
    return divisor;
}

static void draw_block(cli_picture *p, const ts_transformer *model, const matrices *m, int b, int left) {
    static const char *const titles[COLUMNS] = {"Q", "K", "V", "Q K'"};
    for (int c = 0; c < COLUMNS; c++) {
        const cli_picture_map map = {.x = left + c * (SIDE + GAP),
                                     .y = TOP + b * LINE,
                                     .width = SIDE,
                                     .height = SIDE,
                                     .rows = m->e,
                                     .columns = m->e,
                                     .values = matrix_of(m, b, c),
                                     .is_signed = true,
                                     .title = b == 0 ? titles[c] : NULL,
                                     .y_label = c == 0 && left == LEFT ? ts_block_names[b] : NULL,
                                     .lines_x = &model->d,
                                     .lines_y = &model->d,
                                     .n_lines_x = model->s > 0,
                                     .n_lines_y = model->s > 0};
        if (!m->has_part[b][c])
            cli_picture_text(p, map.x + SIDE / 2, map.y + SIDE / 2, CLI_CENTER, 10, "looks at itself");
        cli_picture_add(p, &map);
    }
}

/* What is drawn beside the model; NULL-sized when there is no construction with its codes. */
static bool take_construction(const ts_transformer *model, matrices *m, ts_error *error) {
    const ts_variant *lloyd = ts_variant_by_name("lloyd");
    ts_settings settings = ts_variant_settings(lloyd);
    ts_definition definition;
    ts_transformer construction = {0};
    *m = (matrices){0};
    if (model->scheme == TS_SCHEME_NONE) return true;
    settings.scheme = ts_scheme_names[model->scheme];
    const bool done = ts_variant_define(lloyd, &settings, &definition, error) == TS_OK &&
                      ts_transformer_build(&construction, &definition, model->d, model->k, 0, error) == TS_OK &&
                      take_matrices(&construction, m);
    ts_transformer_clear(&construction);
    return done;
}

static bool draw(const ts_transformer *model, matrices *m, const matrices *other, const char *path,
                 ts_io_error *error) {
    const int half = COLUMNS * (SIDE + GAP) - GAP, right = LEFT + half + 50, sides = other->value != NULL ? 2 : 1;
    const double weights = scale_columns(m, 0, PARTS - 1), products = scale_columns(m, PARTS, PARTS);
    const int width = sides == 2 ? right + half + 20 : LEFT + half + 20, height = TOP + TS_BLOCKS * LINE + 10;
    char text[200];
    cli_picture p;
    if (isnan(weights) || isnan(products)) {
        snprintf(error->text, sizeof error->text, "plot: out of memory");
        return false;
    }
    if (!cli_picture_begin(&p, path, width, height, error)) return false;
    snprintf(text, sizeof text, "learned: colours end at %.2g for Q, K, V and at %.2g for Q K'", weights, products);
    cli_picture_text(&p, LEFT, 78, CLI_LEFT, 13, text);
    if (sides == 2)
        cli_picture_text(&p, right, 78, CLI_LEFT, 13, "the construction that is Lloyd's algorithm: colours end at 1");
    snprintf(text, sizeof text,
             "Weights: row i, column j is what coordinate i becomes in coordinate j; first %lld of data, then %lld of "
             "code",
             (long long)model->d, (long long)model->s);
    cli_picture_text(&p, LEFT, 22, CLI_LEFT, 15, text);
    cli_picture_key(&p, LEFT + 30, 44, true, "-", "+");
    for (int b = 0; b < TS_BLOCKS; b++) {
        draw_block(&p, model, m, b, LEFT);
        if (sides == 2) draw_block(&p, model, other, b, right);
    }
    return cli_picture_end(&p, error);
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
