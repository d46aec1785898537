/* inspect_layers.c: the matrices of a model of any layers as heat maps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../draw/heat_map.h"
#include "inspect_pictures.h"

enum { COLUMNS = 4, SIDE = 96, GAP = 12, LEFT = 14, TOP = 74, LINE = SIDE + 50, MOST_MAPS = 60, MOST_SIDE = 1024 };

/* The matrices, one after the other. */
typedef struct maps {
    int count;
    int param[MOST_MAPS];
    double *value[MOST_MAPS];
    double *all;
    int64_t numbers;
} maps;

static bool is_drawn(ts_params *params, int i) {
    const ts_shape *shape = ts_params_shape(params, i);
    return shape->rank == 2 && shape->dim[0] <= MOST_SIDE && shape->dim[1] <= MOST_SIDE;
}

static bool take_maps(const ts_model *model, maps *m) {
    ts_params *params = model->params;
    *m = (maps){.count = 0};
    for (int i = 0; i < ts_params_count(params) && m->count < MOST_MAPS; i++)
        if (is_drawn(params, i)) {
            m->param[m->count++] = i;
            m->numbers += ts_shape_size(ts_params_shape(params, i));
        }
    m->all = malloc(((size_t)m->numbers + 1) * sizeof *m->all);
    double *at = m->all;
    for (int l = 0; l < m->count && at != NULL; l++) {
        const ts_real *from = ts_params_value(params, m->param[l]);
        const int64_t size = ts_shape_size(ts_params_shape(params, m->param[l]));
        m->value[l] = at;
        for (int64_t i = 0; i < size; i++) *at++ = (double)from[i];
    }
    return m->all != NULL;
}

/* Three lines for "layers.0.points.0.attention.query.weight": the place "0.points.0", the type "attention", the matrix
 * "query"; of a layer with a name, that name and the matrix. */
static void write_name(const cli_drawing *d, double x, double y, const char *name) {
    char text[TS_PARAM_NAME], *line[3] = {text, NULL, NULL};
    snprintf(text, sizeof text, "%s", strncmp(name, "layers.", 7) == 0 ? name + 7 : name);
    const size_t length = strlen(text), tail = strlen(".weight");
    if (length > tail && strcmp(text + length - tail, ".weight") == 0) text[length - tail] = '\0';
    for (char *at; (at = strstr(text, "residual.")) != NULL;) memmove(at, at + 9, strlen(at + 9) + 1); /* no news */
    char *type = NULL; /* the word after the last number */
    for (char *at = text; *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && at[1] == '.' && (at == text || at[-1] == '.')) type = at + 1;
    if (type != NULL) {
        *type++ = '\0';
        line[1] = type;
    }
    char *matrix = strchr(line[type != NULL], '.');
    if (matrix != NULL) {
        *matrix++ = '\0';
        line[2] = matrix;
    }
    for (int i = 0; i < 3; i++)
        if (line[i] != NULL)
            cli_drawing_text(d, x + SIDE / 2.0, y - 34 + 13 * i, CLI_CENTER, CLI_SMALL, SIDE + GAP, line[i]);
}

static bool draw(const ts_model *model, const maps *m, const char *path, ts_io_error *error) {
    double *const all[] = {m->all};
    const cli_heat_scale scale = cli_heat_scale_maps(all, 1, m->numbers);
    const int lines = (m->count + COLUMNS - 1) / COLUMNS;
    cli_drawing d;
    if (isnan(scale.end)) return cli_drawing_fail_memory(error);
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, TOP + lines * LINE + 8, error)) return false;
    cli_drawing_line(&d, LEFT, 16, CLI_LARGE, "Weights of %s", model->architecture->name);
    cli_drawing_line(&d, LEFT, 36, CLI_SMALL, "row i, column j: what input i becomes in output j");
    cli_heat_map_key(&d, LEFT, 50, 220, true, scale);
    for (int l = 0; l < m->count; l++) {
        const ts_shape *shape = ts_params_shape(model->params, m->param[l]);
        const double x = LEFT + l % COLUMNS * (SIDE + GAP), y = TOP + l / COLUMNS * LINE + 42;
        const cli_heat_map map = {.box = {x, y, SIDE, SIDE},
                                  .rows = shape->dim[0],
                                  .columns = shape->dim[1],
                                  .values = m->value[l],
                                  .is_signed = true};
        write_name(&d, x, y, ts_params_name(model->params, m->param[l]));
        cli_heat_map_add(&d, &map);
    }
    return cli_drawing_end(&d, error);
}

bool cli_inspect_plot_layers(const ts_model *model, const char *path, ts_io_error *error) {
    maps m;
    bool done = take_maps(model, &m);
    if (!done)
        cli_drawing_fail_memory(error);
    else if (m.count == 0) {
        snprintf(error->text, sizeof error->text, "plot: %s has no matrices to be seen", model->architecture->name);
        done = false;
    } else
        done = draw(model, &m, path, error);
    free(m.all);
    return done;
}
