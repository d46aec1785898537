/* inspect_attention.c: where a model looks in one task, as heat maps. */
#include "inspect_pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/data/nearest.h"
#include "../../train/evaluation.h"
#include "../draw/heat_map.h"

enum { SHOWN = 4, MOST_POINTS = 512, COLUMNS = 3 };
static const int shown_step[SHOWN] = {1, 2, 5, 10};

/* One task, and what was seen in it. */
typedef struct scene {
    ts_transformer built, model; /* and a view of it without dropout */
    int64_t n, k, d, e;
    ts_real *points, *tokens;    /* [n,d], [n,e] */
    ts_real *centers;            /* [k,d] */
    int64_t *border, borders;    /* where the next true cluster begins */
    double *map[SHOWN][COLUMNS]; /* [k,n]: to centres, to points, nearest */
    double *self_points;         /* [n,n] */
    double *self_centers[2];     /* [k,k] in the first and the last step shown */
} scene;

static void free_scene(scene *s) {
    free(s->points);
    free(s->tokens);
    free(s->centers);
    free(s->border);
    free(s->map[0][0]);
    free(s->self_points);
    ts_transformer_clear(&s->built);
}

static bool take_scene(const ts_trainer *t, scene *s, ts_error *error) {
    const int64_t most = t->options.k > MOST_POINTS ? t->options.k : MOST_POINTS;
    const ts_layout *layout = &t->model.layout;
    *s = (scene){.n = t->options.n < most ? t->options.n : most, .k = layout->k, .d = layout->d, .e = layout->e};
    if (ts_transformer_of_model(&s->built, &t->model, error) != TS_OK) return false;
    s->model = ts_transformer_view(&s->built, s->built.params, 0, false);
    s->points = malloc((size_t)(s->n * s->d) * sizeof *s->points);
    s->tokens = malloc((size_t)(s->n * s->e) * sizeof *s->tokens);
    s->centers = malloc((size_t)(s->k * s->d) * sizeof *s->centers);
    s->border = malloc((size_t)s->k * sizeof *s->border);
    s->map[0][0] = calloc((size_t)(SHOWN * COLUMNS * s->k * s->n), sizeof(double));
    s->self_points = calloc((size_t)(s->n * s->n + 2 * s->k * s->k), sizeof(double));
    if (!s->points || !s->tokens || !s->centers || !s->border || !s->map[0][0] || !s->self_points) return false;
    for (int i = 0; i < SHOWN * COLUMNS; i++) s->map[i / COLUMNS][i % COLUMNS] = s->map[0][0] + i * s->k * s->n;
    for (int i = 0; i < 2; i++) s->self_centers[i] = s->self_points + s->n * s->n + i * s->k * s->k;
    return true;
}

/* Rows drawn [n,d] in the order of their clusters to the scene: its points, and the first k as centres. */
static void arrange(scene *s, const ts_real *drawn, const int64_t *component) {
    int64_t at = 0, center = 0;
    for (int64_t c = 0; c < s->k; c++) {
        if (at > 0 && at < s->n && (s->borders == 0 || s->border[s->borders - 1] < at)) s->border[s->borders++] = at;
        for (int64_t i = 0; i < s->n; i++) {
            if (component[i] != c) continue;
            memcpy(s->points + at++ * s->d, drawn + i * s->d, (size_t)s->d * sizeof *drawn);
            if (i < s->k) memcpy(s->centers + center++ * s->d, drawn + i * s->d, (size_t)s->d * sizeof *drawn);
        }
    }
}

static ts_status draw_task(const ts_trainer *t, scene *s, ts_error *error) {
    const ts_train_options *o = &t->options;
    const ts_task_spec spec = {.n = s->n,
                               .d = s->d,
                               .k = s->k,
                               .family = o->family[0],
                               .scale = o->component_scale,
                               .anisotropic = o->anisotropic,
                               .unequal = o->unequal};
    ts_real *drawn = malloc((size_t)(s->n * s->d) * sizeof *drawn);
    int64_t *component = malloc((size_t)s->n * sizeof *component);
    ts_status status =
        drawn != NULL && component != NULL ? TS_OK : ts_error_set(error, TS_ERROR_MEMORY, "out of memory");
    if (status == TS_OK) status = ts_task_draw(&spec, ts_evaluation_seed(o->seed), 0, 0, drawn, component, error);
    if (status == TS_OK) arrange(s, drawn, component);
    free(drawn);
    free(component);
    return status;
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void find_nearest(const scene *s, double *map) {
    for (int64_t i = 0; i < s->n; i++) {
        int64_t nearest;
        ts_nearest(s->d, s->k, s->points + i * s->d, s->centers, &nearest);
        map[nearest * s->n + i] = 1;
    }
}

static void copy(double *to, const ts_tensor *from) {
    for (int64_t i = 0; i < ts_shape_size(&from->shape); i++) to[i] = (double)from->data[i];
}

static ts_tensor *self_weights(const scene *s, ts_tape *tape, const ts_attention_block *block, ts_tensor *tokens) {
    return ts_attention_block_weights(block, s->model.params, tape, tokens, tokens, NULL, 0);
}

/* Fills the maps of shown step `at`. */
static void look(scene *s, ts_tape *tape, int at, ts_tensor *points, ts_tensor *assigned, ts_tensor *tokens) {
    const ts_tensor *to_centers = ts_transformer_assign_weights(&s->model, tape, points, tokens, 0);
    const ts_tensor *to_points = ts_transformer_update_weights(&s->model, tape, assigned, tokens, 0);
    const ts_tensor *of_points = at == 0 ? self_weights(s, tape, &s->model.self_points, points) : NULL;
    const ts_tensor *of_centers =
        at == 0 || at == SHOWN - 1 ? self_weights(s, tape, &s->model.self_centers, tokens) : NULL;
    if (ts_tape_status(tape) != TS_OK) return;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->k; j++) s->map[at][0][j * s->n + i] = (double)to_centers->data[i * s->k + j];
    copy(s->map[at][1], to_points);
    find_nearest(s, s->map[at][2]);
    if (of_points != NULL) copy(s->self_points, of_points);
    if (of_centers != NULL) copy(s->self_centers[at > 0], of_centers);
}

static ts_status run(scene *s, ts_tape *tape, ts_error *error) {
    int at = 0;
    ts_transformer_embed(&s->model, s->n, s->points, NULL, s->tokens);
    for (int step = 1; step <= shown_step[SHOWN - 1]; step++) {
        ts_tape_reset(tape);
        ts_tensor *points = ts_borrow(tape, TS_SHAPE(s->n, s->e), s->tokens);
        ts_tensor *tokens = ts_constant(tape, TS_SHAPE(s->k, s->e), NULL);
        if (ts_tape_status(tape) == TS_OK)
            ts_transformer_embed(&s->model, s->k, s->centers, s->model.book, tokens->data);
        ts_tensor *assigned = ts_transformer_assign(&s->model, tape, points, tokens, 0);
        if (step == shown_step[at]) look(s, tape, at++, points, assigned, tokens);
        const ts_tensor *moved = ts_transformer_update(&s->model, tape, assigned, tokens, 0);
        if (ts_tape_status(tape) != TS_OK) return ts_error_set(error, ts_tape_status(tape), "%s", ts_tape_error(tape));
        for (int64_t j = 0; j < s->k; j++)
            memcpy(s->centers + j * s->d, moved->data + j * s->e, (size_t)s->d * sizeof *s->centers);
    }
    return TS_OK;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

enum {
    WIDTH = 132,
    LOW = 60,
    GAP = 12,
    LINE = LOW + 6,
    LEFT = 36,
    TOP = 124,
    SQUARES = TOP + SHOWN * LINE + 22 + 64 /* below the maps of the steps, their name and three lines of titles */
};

/* Two lines above y that name a column's maps, and the colour scale of their values. False if memory is short. */
static bool head(const cli_drawing *d, int column, double y, const char *const what[2], double *const *maps, int n_maps,
                 int64_t count) {
    const double x = LEFT + column * (WIDTH + GAP);
    cli_drawing_text(d, x + WIDTH / 2.0, y - 46, CLI_CENTER, CLI_SMALL, WIDTH + GAP, what[0]);
    cli_drawing_text(d, x + WIDTH / 2.0, y - 32, CLI_CENTER, CLI_SMALL, WIDTH + GAP, what[1]);
    const cli_heat_scale scale = cli_heat_scale_maps(maps, n_maps, count);
    cli_heat_map_key(d, x, y - 20, WIDTH, false, scale);
    return !isnan(scale.end);
}

/* Lines between the true clusters, along each axis that counts points. */
typedef enum parted { NOTHING, COLUMNS_ONLY, BOTH_WAYS } parted;
static void add_map(const scene *s, const cli_drawing *d, const cli_box *box, int64_t rows, int64_t columns,
                    const double *values, const char *name, parted lines) {
    const cli_heat_map map = {.box = *box,
                              .rows = rows,
                              .columns = columns,
                              .values = values,
                              .name = name,
                              .lines = s->border,
                              .n_lines = lines == NOTHING ? 0 : s->borders,
                              .both_ways = lines == BOTH_WAYS};
    cli_heat_map_add(d, &map);
}

static bool draw_steps(const scene *s, const cli_drawing *d) {
    static const char *const what[COLUMNS][2] = {
        {"points look", "at centres"}, {"centres look", "at points"}, {"nearest", "centre"}};
    for (int i = 0; i < SHOWN * COLUMNS; i++) {
        const int column = i / SHOWN, row = i % SHOWN;
        const cli_box box = {LEFT + column * (WIDTH + GAP), TOP + row * LINE, WIDTH, LOW};
        double *const maps[SHOWN] = {s->map[0][column], s->map[1][column], s->map[2][column], s->map[3][column]};
        char label[16];
        snprintf(label, sizeof label, "step %d", shown_step[row]);
        if (row == 0 && !head(d, column, box.y, what[column], maps, SHOWN, s->k * s->n)) return false;
        if (row == SHOWN - 1)
            cli_drawing_text(d, box.x + WIDTH / 2.0, box.y + LOW + 11, CLI_CENTER, CLI_SMALL, WIDTH + GAP,
                             "points by cluster");
        add_map(s, d, &box, s->k, s->n, maps[row], column == 0 ? label : NULL, COLUMNS_ONLY);
    }
    return true;
}

static bool draw_selves(const scene *s, const cli_drawing *d) {
    static const char *const what[COLUMNS][2] = {{"points look at", "points, any step"},
                                                 {"centres look at", "centres, step 1"},
                                                 {"centres look at", "centres, step 10"}};
    double *const maps[COLUMNS] = {s->self_points, s->self_centers[0], s->self_centers[1]};
    for (int column = 0; column < COLUMNS; column++) {
        const cli_box box = {LEFT + column * (WIDTH + GAP), SQUARES, WIDTH, WIDTH};
        const int64_t side = column == 0 ? s->n : s->k;
        if (!head(d, column, SQUARES, what[column], &maps[column], 1, side * side)) return false;
        add_map(s, d, &box, side, side, maps[column], NULL, column == 0 ? BOTH_WAYS : NOTHING);
    }
    return true;
}

static bool draw(const scene *s, const char *path, ts_io_error *error) {
    cli_drawing d;
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, SQUARES + WIDTH + 10, error)) return false;
    cli_drawing_line(&d, LEFT, 16, CLI_LARGE, "Attention in one task");
    cli_drawing_line(&d, LEFT, 36, CLI_SMALL, "n = %lld, d = %lld, k = %lld", (long long)s->n, (long long)s->d,
                     (long long)s->k);
    cli_drawing_line(&d, LEFT, 52, CLI_SMALL, "a row for each centre; grey lines part the true clusters");
    if (draw_steps(s, &d) && draw_selves(s, &d)) return cli_drawing_end(&d, error);
    cli_drawing_abandon(&d);
    return cli_drawing_fail_memory(error);
}

bool cli_inspect_plot_attention(const ts_trainer *t, const char *path, ts_io_error *error) {
    ts_error reason = {.status = TS_OK};
    ts_tape *tape = ts_tape_create(TS_INFER);
    scene s;
    bool done = take_scene(t, &s, &reason) && tape != NULL;
    if (!done) ts_error_set(&reason, TS_ERROR_MEMORY, "out of memory");
    done = done && draw_task(t, &s, &reason) == TS_OK && run(&s, tape, &reason) == TS_OK;
    if (done)
        done = draw(&s, path, error);
    else
        snprintf(error->text, sizeof error->text, "attention: %s", reason.text);
    ts_tape_free(tape);
    free_scene(&s);
    return done;
}
