/* model.c: builds architectures, embeds rows, and applies layers on a tape. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building ---------------------------------------------------------------------------------------------------- */

typedef struct construction_site {
    ts_model *model;
    ts_layer_builder builder;
} construction_site;

static ts_layer *build_list(construction_site *site, const ts_layer_spec *list, int layer, int time, bool centers) {
    char place[TS_LAYER_NAME], prefix[TS_LAYER_NAME];
    const char *stream = centers ? "centers" : "points";
    snprintf(place, sizeof place, "layers[%d].%s", layer, stream);
    if (time == 0)
        snprintf(prefix, sizeof prefix, "layers.%d.%s", layer, stream);
    else
        snprintf(prefix, sizeof prefix, "layers.%d.%d.%s", layer, time, stream);
    site->builder.on_centers = centers;
    ts_layer *built = ts_layer_build(list, place, prefix, &site->builder);
    if (built != NULL) site->model->built[site->model->n_built++] = built;
    return built;
}

static ts_status build_layers(construction_site *site) {
    ts_model *model = site->model;
    const ts_architecture *a = model->architecture;
    ts_error *error = site->builder.error;
    if (a->n_layers == 0) return ts_error_set(error, TS_ERROR_VALUE, "layers: at least one is needed");
    for (int i = 0; i < a->n_layers; i++) {
        const ts_architecture_layer *layer = &a->layer[i];
        ts_layer *points = NULL, *centers = NULL;
        if (layer->times < 1 || model->n_applied + layer->times > TS_MOST_APPLIED)
            return ts_error_set(error, TS_ERROR_VALUE, "layers[%d]: times must be 1 or more, and %d in all layers", i,
                                TS_MOST_APPLIED);
        for (int t = 0; t < layer->times; t++, model->n_applied++) {
            if (t == 0 || !layer->shared) {
                points = build_list(site, layer->points, i, t, false);
                centers = points == NULL ? NULL : build_list(site, layer->centers, i, t, true);
                if (centers == NULL) return error->status;
            }
            model->points[model->n_applied] = points;
            model->centers[model->n_applied] = centers;
        }
    }
    return TS_OK;
}

/* Builds the layers, with parameters that are not allocated yet. */
static ts_status lay_out(ts_model *model, int64_t d, int64_t k, ts_error *error) {
    model->layout = ts_layout_of(&model->architecture->tokens, d, k);
    model->params = ts_params_create();
    if (model->params == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a model");
    construction_site site = {model, {.params = model->params, .layout = model->layout, .error = error}};
    return build_layers(&site);
}

static void take_down(ts_model *model) {
    for (int i = 0; i < model->n_built; i++) ts_layer_free(model->built[i]);
    ts_params_free(model->params);
    model->params = NULL;
    model->n_built = model->n_applied = 0;
}

/* Would the model have the same parameters for another d or k? */
static bool same_shapes(const ts_model *model, int64_t d, int64_t k) {
    ts_model *other = calloc(1, sizeof *other);
    ts_error error = {.status = TS_OK};
    if (other == NULL) return false;
    other->architecture = model->architecture;
    bool same =
        lay_out(other, d, k, &error) == TS_OK && ts_params_count(other->params) == ts_params_count(model->params);
    for (int i = 0; same && i < ts_params_count(model->params); i++)
        same = ts_shape_equal(ts_params_shape(model->params, i), ts_params_shape(other->params, i));
    take_down(other);
    free(other);
    return same;
}

static ts_status check(const ts_architecture *a, int64_t d, int64_t k, ts_error *error) {
    if (d < 1 || k < 1) return ts_error_set(error, TS_ERROR_VALUE, "d and k must be at least 1");
    if (a->definition != NULL && ts_definition_check(a->definition, d, k, error) != TS_OK) return error->status;
    if (a->name[0] == '\0' || memchr(a->name, '\0', sizeof a->name) == NULL)
        return ts_error_set(error, TS_ERROR_VALUE, "a model needs a name of at most %d bytes", TS_DEFINITION_NAME - 1);
    if (a->tokens.memory < 0 || a->tokens.memory > 1 << 16)
        return ts_error_set(error, TS_ERROR_VALUE, "tokens: memory must be from 0 to %d", 1 << 16);
    const double marks[] = {a->tokens.point_marks, a->tokens.center_marks};
    for (int i = 0; i < 2; i++)
        if (!(marks[i] >= 0 && marks[i] <= 1e6))
            return ts_error_set(error, TS_ERROR_VALUE, "tokens: marks must be in [0,1e+06], not %g", marks[i]);
    if (a->labels == TS_LABELS_CODE && ts_construction_code_width(a->tokens.construction, k) == 0)
        return ts_error_set(error, TS_ERROR_VALUE, "labels: tokens without a code have none to read");
    return TS_OK;
}

int64_t ts_model_size(const ts_architecture *architecture, int64_t d, int64_t k, ts_error *error) {
    ts_model *model = calloc(1, sizeof *model);
    int64_t size = -1;
    if (model == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a model");
        return -1;
    }
    model->architecture = (ts_architecture *)architecture;
    if (check(architecture, d, k, error) == TS_OK && lay_out(model, d, k, error) == TS_OK)
        size = ts_params_size(model->params);
    take_down(model);
    free(model);
    return size;
}

ts_status ts_model_build(ts_model *model, ts_architecture *architecture, int64_t d, int64_t k, uint64_t seed,
                         ts_error *error) {
    *model = (ts_model){.architecture = architecture};
    ts_status status = check(architecture, d, k, error);
    if (status == TS_OK) status = lay_out(model, d, k, error);
    if (status == TS_OK) {
        model->any_d = same_shapes(model, d + 1, k);
        model->any_k = same_shapes(model, d, k + 1) && same_shapes(model, d, 4 * k + 7);
        if (ts_params_count(model->params) > 0) status = ts_params_allocate(model->params, seed, error);
    }
    if (status == TS_OK)
        for (int i = 0; i < model->n_built; i++) ts_layer_fill(model->built[i], model->params, &model->layout);
    else
        ts_model_clear(model);
    return status;
}

void ts_model_clear(ts_model *model) {
    take_down(model);
    ts_architecture_free(model->architecture);
    *model = (ts_model){0};
}

int64_t ts_model_trained(const ts_model *model) {
    int64_t trained = 0;
    for (int i = 0; i < ts_params_count(model->params); i++)
        if (ts_params_grad(model->params, i) != NULL) trained += ts_shape_size(ts_params_shape(model->params, i));
    return trained;
}

ts_status ts_model_layout(const ts_model *model, int64_t d, int64_t k, ts_layout *layout, ts_error *error) {
    const bool fits = (model->any_d || d == model->layout.d) && (model->any_k || k == model->layout.k);
    *layout = ts_layout_of(&model->architecture->tokens, d, k);
    if (fits) return TS_OK;
    return ts_error_set(error, TS_ERROR_SHAPE, "data of d = %lld, k = %lld for a model of d = %lld, k = %lld",
                        (long long)d, (long long)k, (long long)model->layout.d, (long long)model->layout.k);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

void ts_model_standard(const ts_model *model, const ts_model_task *task, ts_standard *standard) {
    const int64_t n = task->n, d = task->d;
    memset(standard->mean, 0, (size_t)d * sizeof *standard->mean);
    standard->scale = 1;
    if (!model->architecture->standardised) return;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < d; a++) standard->mean[a] += (double)task->points[i * d + a];
    for (int64_t a = 0; a < d; a++) standard->mean[a] /= (double)n;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < d; a++) {
            const double difference = (double)task->points[i * d + a] - standard->mean[a];
            sum += difference * difference;
        }
    if (sum > 0) standard->scale = sqrt(sum / (double)n);
}

/* Rows of data as tokens. Marks are drawn by the row's number, so they do not depend on how many rows there are. */
static void embed(const ts_layout *l, int64_t rows, const ts_real *data, const ts_standard *standard, bool centers,
                  uint64_t seed, ts_real *tokens) {
    const double marks = centers ? l->spec.center_marks : l->spec.point_marks;
    const ts_rng rng = {seed, ts_rng_stream(centers ? "marks of centers" : "marks of points"), 0};
    const int64_t m = l->spec.memory;
    for (int64_t i = 0; i < rows; i++) {
        ts_real *token = tokens + i * l->e, *memory = token + l->e - m;
        for (int64_t a = 0; a < l->d; a++) {
            const ts_real x = data[i * l->d + a];
            token[a] = standard->scale == 1 && standard->mean[a] == 0
                           ? x
                           : (ts_real)(((double)x - standard->mean[a]) / standard->scale);
        }
        memset(token + l->d, 0, (size_t)l->s * sizeof *token);
        for (int64_t c = 0; centers && c < l->c; c++)
            token[l->d + c] = l->spec.construction == TS_CONSTRUCTION_BINARY ? (ts_real)(i >> c & 1) : i == c;
        if (l->spec.construction == TS_CONSTRUCTION_DOT) {
            double norm = 0;
            for (int64_t a = 0; a < l->d; a++) norm += (double)token[a] * (double)token[a];
            token[l->d + l->c] = (ts_real)norm;
            token[l->d + l->c + 1] = 1;
        }
        for (int64_t c = 0; marks > 0 && c < m; c++)
            memory[c] = (ts_real)(marks * ts_rng_normal(rng, (uint64_t)(i * m + c)));
    }
}

void ts_model_embed(const ts_model *model, const ts_layout *layout, const ts_model_task *task,
                    const ts_standard *standard, ts_real *points, ts_real *centers) {
    (void)model;
    embed(layout, task->n, task->points, standard, false, task->seed, points);
    embed(layout, task->k, task->centers, standard, true, task->seed, centers);
}

ts_tensor *ts_model_fresh_centers(ts_streams *streams, ts_tensor *c) {
    ts_tape *tape = streams->tape;
    const ts_layout *l = &streams->layout;
    if (l->s == 0) return c;
    if (l->spec.construction != TS_CONSTRUCTION_DOT)
        return ts_concat(tape, 2, (ts_tensor *[]){c, ts_rest_of(streams, streams->first_centers)}, -1);
    ts_tensor *norm = ts_sum(tape, ts_square(tape, c), -1, true);
    ts_tensor *code = ts_slice(tape, streams->first_centers, -1, l->d, l->c);
    ts_tensor *after = ts_slice(tape, streams->first_centers, -1, l->d + l->c + 1, l->e - l->d - l->c - 1);
    return ts_concat(tape, 4, (ts_tensor *[]){c, code, norm, after}, -1);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

void ts_model_step(const ts_model *model, ts_streams *streams) {
    for (int i = 0; i < model->n_applied; i++) {
        streams->assignments = (ts_assignments){NULL, NULL, NULL};
        streams->points = ts_layer_forward(model->points[i], streams, streams->points);
        streams->centers = ts_layer_forward(model->centers[i], streams, streams->centers);
    }
}

/* Places of centres in units of the data. */
static ts_tensor *in_units_of_data(ts_streams *streams, ts_tensor *c, const ts_standard *standard) {
    const int64_t d = streams->layout.d;
    if (standard->scale == 1) return c; /* nothing was standardised, or all points are equal */
    ts_tensor *mean = ts_constant(streams->tape, TS_SHAPE(d), NULL);
    for (int64_t a = 0; a < d && ts_tape_status(streams->tape) == TS_OK; a++)
        mean->data[a] = (ts_real)standard->mean[a];
    return ts_add(streams->tape, ts_scale(streams->tape, c, standard->scale), mean);
}

void ts_model_unroll(const ts_model *model, ts_params *params, ts_tape *tape, const ts_model_task *task, int64_t steps,
                     uint32_t step, ts_tensor **after) {
    ts_streams s = {.tape = tape, .params = params, .training = task->training, .seed = task->seed, .step = step};
    ts_error error = {.status = TS_OK};
    if (ts_model_layout(model, task->d, task->k, &s.layout, &error) != TS_OK)
        ts_fail(tape, error.status, "%s", error.text);
    s.first_points = ts_constant(tape, TS_SHAPE(task->n, s.layout.e), NULL);
    s.first_centers = ts_constant(tape, TS_SHAPE(task->k, s.layout.e), NULL);
    ts_standard standard = {.mean = ts_tape_take(tape, (size_t)task->d * sizeof(double)), .scale = 1};
    if (ts_tape_status(tape) == TS_OK) {
        ts_model_standard(model, task, &standard);
        ts_model_embed(model, &s.layout, task, &standard, s.first_points->data, s.first_centers->data);
    }
    s.points = s.first_points;
    s.centers = s.first_centers;
    if (!model->architecture->keeps_tokens) s.fresh = s.first_points;
    for (int64_t t = 0; t < steps; t++, s.step++) {
        if (s.fresh != NULL) s.points = s.fresh;
        ts_model_step(model, &s);
        ts_tensor *c = ts_data_of(&s, s.centers);
        after[t] = in_units_of_data(&s, c, &standard);
        if (s.fresh != NULL && t + 1 < steps) s.centers = ts_model_fresh_centers(&s, c);
    }
}
