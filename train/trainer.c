/* trainer.c: options, memory, training steps and validation. */
#include "trainer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../autograd/parallel.h"
#include "../models/definition/variants.h"
#include "../models/run/transformer.h"
#include "evaluation.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

ts_train_options ts_train_defaults(void) {
    ts_train_options o = {.n = 512,
                          .d = 32,
                          .k = 10,
                          .families = 1,
                          .family = {TS_FAMILY_NORMAL},
                          .component_scale = TS_TASK_SCALE,
                          .construction = TS_CONSTRUCTION_ONEHOT,
                          .gamma = 1,
                          .dropout = 0.01,
                          .loss = {.kind = TS_LOSS_SOFTMIN, .tau = 0.1},
                          .unroll = 1,
                          .batch = 32,
                          .steps = 10000,
                          .eval_every = 50,
                          .eval_batches = 10};
    o.optimiser = ts_optimiser_defaults(TS_ADAM);
    o.schedule = ts_schedule_defaults(TS_SCHEDULE_PLATEAU, 0.01, o.steps);
    o.schedule.factor = 0.5;
    o.schedule.patience = 5;
    return o;
}

static ts_task_spec task_spec(const ts_train_options *o, int64_t task) {
    return (ts_task_spec){.n = o->n,
                          .d = o->d,
                          .k = o->k,
                          .family = o->family[task % o->families],
                          .scale = o->component_scale,
                          .anisotropic = o->anisotropic,
                          .unequal = o->unequal};
}

static ts_status check_numbers(const ts_train_options *o, ts_error *error) {
    const struct {
        const char *name;
        int64_t value, least, most;
    } whole[] = {{"batch", o->batch, 1, 1 << 16},
                 {"steps", o->steps, 0, (int64_t)1 << 31},
                 {"unroll", o->unroll, 1, 1000},
                 {"eval_every", o->eval_every, 1, INT64_MAX},
                 {"eval_batches", o->eval_batches, 1, 1 << 16},
                 {"pool", o->pool, 0, (int64_t)TS_TASK_LIMIT},
                 {"families", o->families, 1, ts_families}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (whole[i].value < whole[i].least || whole[i].value > whole[i].most)
            return ts_error_set(error, TS_ERROR_VALUE, "%s must be from %lld to %lld, not %lld", whole[i].name,
                                (long long)whole[i].least, (long long)whole[i].most, (long long)whole[i].value);
    if (o->eval_batches * o->batch > (int64_t)TS_TASK_LIMIT)
        return ts_error_set(error, TS_ERROR_VALUE, "eval_batches * batch is beyond %lld", (long long)TS_TASK_LIMIT);
    if (!(o->unroll_ramp >= 0 && o->unroll_ramp <= 1))
        return ts_error_set(error, TS_ERROR_VALUE, "unroll_ramp must be in [0,1], not %g", o->unroll_ramp);
    if (!(o->clip >= 0)) return ts_error_set(error, TS_ERROR_VALUE, "clip must be 0 or more, not %g", o->clip);
    if (!(o->loss.tau > 0) || !isfinite(o->loss.tau))
        return ts_error_set(error, TS_ERROR_VALUE, "tau must be above 0 and finite, not %g", o->loss.tau);
    if (ts_loss_check(&o->loss, error) != TS_OK) return error->status;
    if (o->construction == TS_CONSTRUCTION_DOT)
        return ts_error_set(error, TS_ERROR_VALUE, "a learned model has the scheme onehot, binary or none");
    return TS_OK;
}

ts_status ts_train_check(const ts_train_options *o, ts_error *error) {
    if (check_numbers(o, error) != TS_OK) return error->status;
    for (int f = 0; f < o->families; f++) {
        const ts_task_spec spec = task_spec(o, f);
        if (ts_task_check(&spec, error) != TS_OK) return error->status;
    }
    if (o->architecture != NULL) return TS_OK;
    const int64_t width = o->d + ts_construction_width(o->construction, o->k),
                  most = 1 << 13; /* 12 width^2 parameters: 3 GB */
    if (width > most)
        return ts_error_set(error, TS_ERROR_VALUE, "tokens of d = %lld and k = %lld have %lld numbers, more than %lld",
                            (long long)o->d, (long long)o->k, (long long)width, (long long)most);
    const ts_definition definition = ts_learner(o->construction, o->gamma, o->dropout);
    return ts_definition_check(&definition, o->d, o->k, error);
}

int64_t ts_train_unroll_at(const ts_train_options *o, int64_t step) {
    const double ramp = o->unroll_ramp * (double)o->steps;
    if (!(ramp > 0) || (double)step >= ramp) return o->unroll;
    const int64_t number = 1 + (int64_t)floor((double)o->unroll * (double)step / ramp);
    return number < o->unroll ? number : o->unroll;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The memory of one thread. */
typedef struct worker {
    ts_tape *tape;
    ts_params *params; /* the model's; gradients go to the slot of the current task */
    ts_task_buffer buffer;
    ts_task task;
    ts_tensor **after; /* [unroll] */
} worker;

struct ts_trainer_work {
    ts_real *slots; /* [batch, parameters] the gradient of each task; zeros between steps */
    bool nonfinite; /* a step failed, and the slots are not zeros */
    double *losses; /* [batch] */
    worker *workers;
    int n_workers;
    ts_source *built;        /* owned; NULL: tasks are all alike, or the caller's */
    const ts_source *source; /* NULL: tasks are all alike */
    double *lloyd, *learned; /* [tasks, unroll + 1] log objectives of the validation tasks */
    bool knows_lloyd;
};

static void free_worker(worker *w) {
    ts_tape_free(w->tape);
    ts_params_free(w->params);
    ts_task_buffer_clear(&w->buffer);
    free(w->after);
}

static bool make_worker(worker *w, const ts_trainer *t) {
    *w = (worker){.tape = ts_tape_create(TS_RECORD), .params = ts_params_share(t->model.params, t->work->slots)};
    w->after = malloc((size_t)t->options.unroll * sizeof(ts_tensor *));
    return w->tape && w->params && w->after;
}

/* Creates workers until there is one for each thread. */
static bool enough_workers(ts_trainer *t) {
    struct ts_trainer_work *work = t->work;
    const int threads = ts_max_threads();
    if (work->n_workers >= threads) return true;
    worker *workers = realloc(work->workers, (size_t)threads * sizeof *workers);
    if (workers == NULL) return false;
    work->workers = workers;
    for (; work->n_workers < threads; work->n_workers++)
        if (!make_worker(&workers[work->n_workers], t)) {
            free_worker(&workers[work->n_workers]);
            return false;
        }
    return true;
}

static struct ts_trainer_work *make_work(const ts_train_options *o, int64_t parameters) {
    struct ts_trainer_work *work = calloc(1, sizeof *work);
    const size_t curve = (size_t)(o->eval_batches * o->batch * (o->unroll + 1));
    if (work == NULL) return NULL;
    work->slots = calloc((size_t)(o->batch * parameters), sizeof *work->slots);
    work->losses = malloc((size_t)o->batch * sizeof *work->losses);
    work->lloyd = malloc(curve * sizeof *work->lloyd);
    work->learned = malloc(curve * sizeof *work->learned);
    return work;
}

static void free_work(struct ts_trainer_work *work) {
    if (work == NULL) return;
    for (int i = 0; i < work->n_workers; i++) free_worker(&work->workers[i]);
    free(work->workers);
    free(work->slots);
    free(work->losses);
    free(work->lloyd);
    free(work->learned);
    ts_source_free(work->built);
    free(work);
}

/* ---- tasks that are not all alike -------------------------------------------------------------------------------- */

uint64_t ts_train_data_mark(const ts_real *data, int64_t rows, int64_t columns) {
    uint64_t mark = 14695981039346656037u; /* FNV-1a, over the bytes */
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t i = 0; i < (size_t)(rows * columns) * sizeof *data; i++) mark = (mark ^ bytes[i]) * 1099511628211u;
    return mark;
}

static ts_bounds range(int64_t least, int64_t most) {
    return (ts_bounds){least, most > 0 ? most : least};
}

static ts_source *families_of(const ts_train_options *o, ts_error *error) {
    const ts_train_source *s = &o->source;
    if (s->type != NULL)
        return s->type->create(range(o->n, s->n_most), range(o->d, s->d_most), range(o->k, s->k_most), s->field, error);
    ts_families_spec spec = {.n = range(o->n, s->n_most),
                             .d = range(o->d, s->d_most),
                             .k = range(o->k, s->k_most),
                             .components = range(s->components, s->components_most),
                             .scale = o->component_scale,
                             .scale_most = s->scale_most,
                             .families = o->families,
                             .anisotropic = o->anisotropic,
                             .unequal = o->unequal};
    memcpy(spec.family, o->family, sizeof spec.family);
    return ts_source_of_families(&spec, error);
}

static ts_source *make_source(const ts_train_options *o, ts_error *error) {
    const ts_train_source *s = &o->source;
    const double share = s->data_share > 0 ? s->data_share : 1;
    if (s->data == NULL) return families_of(o, error);
    if (!(share <= 1)) {
        ts_error_set(error, TS_ERROR_VALUE, "data_share must be in (0,1], not %g", share);
        return NULL;
    }
    ts_source *rows = ts_source_of_rows(s->data, s->rows, s->columns, range(o->n, s->n_most), range(o->d, s->d_most),
                                        range(o->k, s->k_most), error);
    if (rows == NULL || share == 1) return rows;
    ts_source *families = families_of(o, error);
    if (families == NULL) {
        ts_source_free(rows);
        return NULL;
    }
    return ts_source_mixture(2, (ts_source *[]){rows, families}, (double[]){share, 1 - share}, error);
}

static bool is_plain(const ts_train_source *s) {
    return s->n_most == 0 && s->d_most == 0 && s->k_most == 0 && s->components == 0 && s->components_most == 0 &&
           !(s->scale_most > 0) && s->rows == 0 && s->data == NULL && s->type == NULL;
}

static bool lacks_data(const ts_train_source *s) {
    return s->data == NULL && s->rows > 0;
}

static ts_status check_data(const ts_trainer *t, ts_error *error) {
    const ts_train_source *s = &t->options.source;
    if (!lacks_data(s)) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "its data, %lld rows of %lld columns, are needed to go on (--data)",
                        (long long)s->rows, (long long)s->columns);
}

/* The source of the tasks; refuses one that the model does not fit. */
static ts_status choose_source(ts_trainer *t, ts_error *error) {
    const ts_train_source *s = &t->options.source;
    const ts_layout *layout = &t->model.layout;
    t->work->source = s->own;
    if (s->own == NULL && is_plain(s)) return TS_OK;
    if (s->own == NULL) {
        if (lacks_data(s)) return TS_OK; /* it can be looked at, but makes no step */
        t->work->source = t->work->built = make_source(&t->options, error);
        if (t->work->source == NULL) return error->status;
    }
    const struct {
        const char *name;
        ts_bounds of;
        int64_t built;
        bool any;
    } sizes[] = {{"d", t->work->source->d, layout->d, t->model.any_d},
                 {"k", t->work->source->k, layout->k, t->model.any_k}};
    for (int i = 0; i < 2; i++)
        if (!sizes[i].any && (sizes[i].of.least != sizes[i].built || sizes[i].of.most != sizes[i].built))
            return ts_error_set(error, TS_ERROR_VALUE,
                                "tasks of %s = %lld to %lld: the parameters of %s depend on %s, and are for %lld",
                                sizes[i].name, (long long)sizes[i].of.least, (long long)sizes[i].of.most,
                                t->model.architecture->name, sizes[i].name, (long long)sizes[i].built);
    return TS_OK;
}

/* Freezes the parameters that options.freeze names. */
static ts_status freeze(ts_trainer *t, ts_error *error) {
    const char *at = t->options.freeze;
    ts_params *params = t->model.params;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        bool found = false;
        for (int i = 0; i < ts_params_count(params); i++) {
            if (strncmp(ts_params_name(params, i), at, length) != 0) continue;
            const int64_t first = ts_params_value(params, i) - ts_params_values(params);
            for (int64_t l = 0; l < ts_shape_size(ts_params_shape(params, i)); l++)
                t->optimiser->frozen[first + l] = true;
            found = true;
        }
        if (!found || length == 0)
            return ts_error_set(error, TS_ERROR_VALUE, "freeze: no parameter's name begins with '%.*s'", (int)length,
                                at);
        at += length + (at[length] == ',');
    }
    return TS_OK;
}

static ts_status build(ts_trainer *t, ts_error *error) {
    const ts_train_options *o = &t->options;
    const ts_definition papers = ts_learner(o->construction, o->gamma, o->dropout);
    ts_architecture *architecture =
        o->architecture == NULL ? ts_architecture_of_definition(&papers, error) : ts_architecture_copy(o->architecture);
    if (architecture == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a model");
    if (ts_model_build(&t->model, architecture, o->d, o->k, o->seed, error) != TS_OK) return error->status;
    if (o->architecture != NULL) t->options.architecture = t->model.architecture;
    if (ts_model_trained(&t->model) == 0)
        return ts_error_set(error, TS_ERROR_VALUE, "%s: nothing in it is trained", t->model.architecture->name);
    if (ts_schedule_start(&t->schedule, &o->schedule, error) != TS_OK) return error->status;
    t->optimiser = ts_optimiser_create_for(&o->optimiser, t->model.params, error);
    if (t->optimiser == NULL || freeze(t, error) != TS_OK) return error->status;
    t->work = make_work(o, ts_params_size(t->model.params));
    if (t->work == NULL || !t->work->slots || !t->work->losses || !t->work->lloyd || !t->work->learned)
        return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for training");
    return choose_source(t, error);
}

ts_trainer *ts_trainer_create(const ts_train_options *options, ts_error *error) {
    if (ts_train_check(options, error) != TS_OK) return NULL;
    ts_trainer *t = calloc(1, sizeof *t);
    if (t == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for training");
        return NULL;
    }
    t->options = *options;
    t->best = INFINITY;
    if (build(t, error) == TS_OK) return t;
    ts_trainer_free(t);
    return NULL;
}

void ts_trainer_free(ts_trainer *t) {
    if (t == NULL) return;
    free_work(t->work);
    ts_optimiser_free(t->optimiser);
    ts_model_clear(&t->model);
    free(t);
}

/* ---- initial values ---------------------------------------------------------------------------------------------- */

ts_status ts_trainer_start_from(ts_trainer *t, const ts_model *model, ts_error *error) {
    ts_params *mine = t->model.params, *theirs = model->params;
    int taken = 0;
    for (int i = 0; i < ts_params_count(mine); i++) {
        const int from = ts_params_find(theirs, ts_params_name(mine, i));
        const ts_shape *shape = ts_params_shape(mine, i);
        char own[TS_SHAPE_TEXT], other[TS_SHAPE_TEXT];
        if (from < 0) continue;
        if (!ts_shape_equal(shape, ts_params_shape(theirs, from)))
            return ts_error_set(error, TS_ERROR_SHAPE, "%s has the shape %s, that of the start %s",
                                ts_params_name(mine, i), ts_shape_text(shape, own),
                                ts_shape_text(ts_params_shape(theirs, from), other));
        memcpy(ts_params_value(mine, i), ts_params_value(theirs, from), (size_t)ts_shape_size(shape) * sizeof(ts_real));
        taken++;
    }
    if (taken > 0) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "no parameter of the model has a name of the start's");
}

/* A fixed projection as the weight [in,out] and the bias of a trained one. */
static void write_projection(ts_params *mine, int weight, ts_params *theirs, int from, double scale) {
    const ts_shape *shape = ts_params_shape(mine, weight);
    const bool diagonal = ts_params_shape(theirs, from)->rank == 1;
    ts_real *to = ts_params_value(mine, weight);
    const ts_real *value = ts_params_value(theirs, from);
    for (int64_t r = 0; r < shape->dim[0]; r++)
        for (int64_t c = 0; c < shape->dim[1]; c++) {
            const ts_real w = diagonal ? (r == c ? value[r] : 0) : value[r * shape->dim[1] + c];
            to[r * shape->dim[1] + c] = (ts_real)(scale * (double)w);
        }
}

static void zero(ts_params *params, const char *block, const char *part) {
    char name[TS_PARAM_NAME];
    snprintf(name, sizeof name, "%s.%s.bias", block, part);
    const int bias = ts_params_find(params, name);
    if (bias >= 0)
        memset(ts_params_value(params, bias), 0,
               (size_t)ts_shape_size(ts_params_shape(params, bias)) * sizeof(ts_real));
}

/* Queries and keys of a trained block are larger than the circuit's by a factor that makes its gamma the circuit's.
 * Where the circuit has no softmax, but weights that pick rows of the same code, or the row itself, it is a softmax in
 * which such rows outweigh all others. */
static double factor_of(const ts_block_definition *trained, const ts_block_definition *circuit, int64_t width) {
    const double picks = 20, most = 1e6;
    const bool soft = !circuit->identity && circuit->simplex.map == &ts_softmax_map;
    const double gamma = soft ? fmin(circuit->gamma, most) : picks;
    return sqrt(gamma / (trained->scaled ? trained->gamma / sqrt((double)width) : trained->gamma));
}

static ts_status start_block(ts_trainer *t, const ts_transformer *circuit, const ts_definition *definition, int i,
                             ts_error *error) {
    static const char *const parts[] = {"query", "key", "value"};
    const ts_definition *trained = t->model.architecture->definition;
    const ts_block_definition *b = ts_definition_block((ts_definition *)definition, i);
    const int64_t e = t->model.layout.e;
    const double factor = factor_of(ts_definition_block((ts_definition *)trained, i), b, e);
    for (int p = 0; p < 3; p++) {
        char name[TS_PARAM_NAME];
        snprintf(name, sizeof name, "%s.%s.weight", ts_block_names[i], parts[p]);
        const int mine = ts_params_find(t->model.params, name), from = ts_params_find(circuit->params, name);
        if (mine < 0 || ts_params_shape(t->model.params, mine)->rank != 2)
            return ts_error_set(error, TS_ERROR_VALUE, "%s is no trained matrix", name);
        zero(t->model.params, ts_block_names[i], parts[p]);
        if (from >= 0)
            write_projection(t->model.params, mine, circuit->params, from, p == 2 ? 1 : factor);
        else
            for (int64_t r = 0; r < e * e; r++) /* the row itself: all of its coordinates */
                ts_params_value(t->model.params, mine)[r] = r % (e + 1) == 0 ? (ts_real)factor : 0;
    }
    return TS_OK;
}

ts_status ts_trainer_start_as_construction(ts_trainer *t, double gamma, ts_error *error) {
    const ts_definition *trained = t->model.architecture->definition;
    const ts_variant *soft = ts_variant_by_name("soft");
    ts_definition definition;
    ts_transformer circuit;
    if (trained == NULL)
        return ts_error_set(error, TS_ERROR_VALUE, "%s has not the four blocks of a construction",
                            t->model.architecture->name);
    ts_settings settings = ts_variant_settings(soft);
    settings.construction = ts_construction_names[trained->construction];
    settings.gamma = gamma;
    if (ts_variant_define(soft, &settings, &definition, error) != TS_OK) return error->status;
    if (ts_transformer_build(&circuit, &definition, t->model.layout.d, t->model.layout.k, 0, error) != TS_OK)
        return error->status;
    for (int i = 0; i < TS_BLOCKS && error->status == TS_OK; i++) start_block(t, &circuit, &definition, i, error);
    ts_transformer_clear(&circuit);
    return error->status;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static ts_status draw_task(const ts_trainer *t, int64_t step, int64_t task, worker *w, ts_error *error) {
    /* a task of the pool has the same family at every position in a step */
    const ts_train_options *o = &t->options;
    const int64_t number = o->pool > 0 ? (step * o->batch + task) % o->pool : task;
    const uint32_t of_step = o->pool > 0 ? 0 : (uint32_t)step;
    if (t->work->source != NULL)
        return ts_source_draw(t->work->source, o->seed, of_step, (uint64_t)number, &w->buffer, &w->task, error);
    const ts_task_spec spec = task_spec(o, number);
    if (!ts_task_buffer_fit(&w->buffer, o->n, o->d, ts_task_room(&spec)))
        return ts_error_set(error, TS_ERROR_MEMORY, "task: out of memory for n = %lld rows", (long long)o->n);
    w->task = (ts_task){o->n, o->d, o->k, w->buffer.points};
    return ts_task_draw_in(w->buffer.room, &spec, o->seed, of_step, (uint64_t)number, w->buffer.points, NULL, error);
}

/* Forward and backward pass of one task; its gradient goes to its slot. */
static ts_status train_task(const ts_trainer *t, worker *w, int64_t task, int64_t unroll, ts_error *error) {
    const ts_train_options *o = &t->options;
    const int64_t parameters = ts_params_size(t->model.params);
    const ts_rng rng = {o->seed, ts_rng_stream("training draws"), (uint32_t)t->step};
    ts_real *slot = t->work->slots + task * parameters;
    if (draw_task(t, t->step, task, w, error) != TS_OK) return error->status;
    ts_params_set_grads(w->params, slot);
    const ts_task *now = &w->task;
    const ts_model_task of_model = {.n = now->n,
                                    .d = now->d,
                                    .k = now->k,
                                    .points = now->points,
                                    .centers = now->points,
                                    .seed = ts_rng_bits(rng, (uint64_t)task),
                                    .training = true};
    ts_tape_reset(w->tape);
    ts_model_unroll(&t->model, w->params, w->tape, &of_model, unroll, 0, w->after);
    ts_tensor *points = ts_borrow(w->tape, TS_SHAPE(now->n, now->d), now->points);
    for (int64_t s = 0; s < unroll; s++) w->after[s] = ts_clustering_loss(w->tape, points, w->after[s], &o->loss);
    ts_tensor *loss = ts_loss_over_steps(w->tape, unroll, w->after, &o->loss);
    if (ts_backward(w->tape, loss) != TS_OK)
        return ts_error_set(error, ts_tape_status(w->tape), "%s", ts_tape_error(w->tape));
    t->work->losses[task] = (double)loss->data[0];
    return TS_OK;
}

/* Adds the slots level by level of the tree: slot 0 becomes the sum, the others zeros. */
static void add_slots(ts_real *slots, int64_t batch, int64_t parameters) {
    enum { RANGE = 4096 };
#pragma omp parallel for schedule(static) if (ts_worth_parallel(batch * parameters))
    for (int64_t first = 0; first < parameters; first += RANGE) {
        const int64_t end = first + RANGE < parameters ? first + RANGE : parameters;
        for (int64_t stride = 1; stride < batch; stride *= 2)
            for (int64_t b = 0; b + stride < batch; b += 2 * stride) {
                ts_real *restrict to = slots + b * parameters;
                ts_real *restrict from = slots + (b + stride) * parameters;
                for (int64_t i = first; i < end; i++) {
                    to[i] += from[i];
                    from[i] = 0;
                }
            }
    }
}

static ts_status train_batch(ts_trainer *t, int64_t unroll, ts_error *error) {
    const int64_t batch = t->options.batch;
    ts_error failure = {.status = TS_OK};
    if (check_data(t, error) != TS_OK) return error->status;
    if (!enough_workers(t)) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for training");
    if (t->work->nonfinite)
        memset(t->work->slots, 0, (size_t)(batch * ts_params_size(t->model.params)) * sizeof(ts_real));
    t->work->nonfinite = true;
#pragma omp parallel for schedule(dynamic, 1) if (ts_can_share(batch) && batch >= ts_max_threads())
    for (int64_t task = 0; task < batch; task++) {
        ts_error mine = {.status = TS_OK};
        if (train_task(t, &t->work->workers[ts_thread()], task, unroll, &mine) == TS_OK) continue;
#pragma omp critical(ts_train_batch)
        ts_error_set(&failure, mine.status, "%s", mine.text);
    }
    if (failure.status != TS_OK) ts_error_set(error, failure.status, "%s", failure.text);
    return failure.status;
}

/* The greatest magnitude; INFINITY if a number is not finite. */
static double largest(int64_t count, const ts_real *numbers) {
    ts_real most = 0;
    bool finite = true;
    for (int64_t i = 0; i < count; i++) {
        const ts_real size = numbers[i] < 0 ? -numbers[i] : numbers[i];
        most = size > most ? size : most;
        finite = isfinite(numbers[i]) && finite;
    }
    return finite ? (double)most : INFINITY;
}

/* Updates the parameters, or skips the step if the optimiser refuses the gradient. */
static ts_status update(ts_trainer *t, ts_train_step *report, const ts_real *gradient, ts_error *error) {
    const int64_t parameters = ts_params_size(t->model.params);
    ts_real *values = ts_params_values(t->model.params);
    report->skipped =
        !isfinite(report->norm) || ts_optimiser_step(t->optimiser, report->rate, parameters, values, gradient) != TS_OK;
    if (report->skipped) return TS_OK;
    const double most = largest(parameters, values);
    if (!isfinite(most))
        return ts_error_set(error, TS_ERROR_VALUE,
                            "training diverged in step %lld: the parameters are no numbers any more",
                            (long long)t->step);
    if (most > sqrt((double)(sizeof(ts_real) == sizeof(float) ? FLT_MAX : DBL_MAX)))
        return ts_error_set(error, TS_ERROR_VALUE,
                            "training diverged in step %lld: a parameter grew to %.3g, too large to be squared",
                            (long long)t->step, most);
    return TS_OK;
}

ts_status ts_trainer_step(ts_trainer *t, ts_train_step *report, ts_error *error) {
    const ts_train_options *o = &t->options;
    const int64_t parameters = ts_params_size(t->model.params);
    ts_real *gradient = t->work->slots;
    *report =
        (ts_train_step){.rate = ts_schedule_rate(&t->schedule, t->step), .unroll = ts_train_unroll_at(o, t->step)};
    if (train_batch(t, report->unroll, error) != TS_OK) return error->status;
    for (int64_t b = 0; b < o->batch; b++) report->loss += t->work->losses[b] / (double)o->batch;
    add_slots(gradient, o->batch, parameters);
    for (int64_t i = 0; i < parameters; i++) gradient[i] /= (ts_real)o->batch;
    report->norm = ts_clip_gradients(o->clip > 0 ? o->clip : INFINITY, parameters, gradient);
    t->step++;
    t->loss_sum += report->loss;
    t->loss_count++;
    if (update(t, report, gradient, error) != TS_OK) return error->status;
    t->skipped += report->skipped;
    t->stuck = report->skipped ? t->stuck + 1 : 0;
    memset(gradient, 0, (size_t)parameters * sizeof *gradient);
    t->work->nonfinite = false;
    return TS_OK;
}

/* The memory of one task of n points, forward and backward. */
static ts_status measure(const ts_trainer *t, int64_t n, double *bytes, ts_error *error) {
    ts_trainer small = *t;
    struct ts_trainer_work work = *t->work;
    worker one;
    small.options.n = n;
    small.options.d = t->model.any_d && t->work->source != NULL ? t->work->source->d.most : t->options.d;
    small.options.k = t->model.any_k && t->work->source != NULL ? t->work->source->k.most : t->options.k;
    small.options.component_scale = TS_TASK_SCALE;
    work.source = NULL; /* a task of the largest size */
    small.work = &work;
    if (!make_worker(&one, &small)) {
        free_worker(&one);
        return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for one task");
    }
    const ts_status status = train_task(&small, &one, 0, small.options.unroll, error);
    *bytes = (double)ts_tape_bytes(one.tape);
    memset(t->work->slots, 0, (size_t)ts_params_size(t->model.params) * sizeof(ts_real));
    free_worker(&one);
    return status;
}

/* Of many points it is foretold from two measurements, as a n + b n^2. */
static ts_status memory_of_task(const ts_trainer *t, double *bytes, ts_error *error) {
    const ts_source *source = t->work->source;
    const int64_t most = source != NULL ? source->n.most : t->options.n,
                  clusters = source != NULL ? source->k.most : t->options.k, small = clusters > 512 ? clusters : 512;
    const double n = (double)most;
    double once, twice;
    if (most <= 4 * small) return measure(t, most > clusters ? most : clusters, bytes, error);
    if (measure(t, small, &once, error) != TS_OK || measure(t, 2 * small, &twice, error) != TS_OK) return error->status;
    const double m = (double)small, square = fmax(0, (twice - 2 * once) / (2 * m * m));
    *bytes = n * ((twice / (2 * m)) - 2 * m * square) + n * n * square;
    return TS_OK;
}

ts_status ts_trainer_memory(ts_trainer *t, int threads, double *bytes, ts_error *error) {
    const ts_train_options *o = &t->options;
    double task;
    if (check_data(t, error) != TS_OK) return error->status;
    if (memory_of_task(t, &task, error) != TS_OK) return error->status;
    const double at_once = o->batch >= threads ? threads : 1, copies = (double)o->batch + 2 + t->optimiser->moments,
                 curves = 2 * (double)(o->eval_batches * o->batch) * ((double)o->unroll + 1);
    *bytes =
        at_once * task + sizeof(ts_real) * copies * (double)ts_params_size(t->model.params) + sizeof(double) * curves;
    return TS_OK;
}

ts_status ts_trainer_watch(ts_trainer *t, ts_tape_observer *observer, void *context, ts_error *error) {
    if (!enough_workers(t)) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for training");
    for (int i = 0; i < t->work->n_workers; i++) ts_tape_observe(t->work->workers[i].tape, observer, context);
    return TS_OK;
}

/* ---- validation -------------------------------------------------------------------------------------------------- */

/* The validation tasks are grouped by family: tasks / families of each, and one more of the first families. */
static ts_status run_tests(ts_trainer *t, ts_error *error) {
    const ts_train_options *o = &t->options;
    const int64_t tasks = o->eval_batches * o->batch, width = o->unroll + 1;
    if (t->work->source != NULL) {
        const ts_evaluation e = {.source = t->work->source,
                                 .tasks = tasks,
                                 .steps = o->unroll,
                                 .start = TS_START_RANDOM,
                                 .seed = ts_evaluation_seed(o->seed)};
        double *lloyd = t->work->knows_lloyd ? NULL : t->work->lloyd;
        if (ts_evaluate(&t->model, &e, lloyd, t->work->learned, error) != TS_OK) return error->status;
        t->work->knows_lloyd = true;
        return TS_OK;
    }
    for (int f = 0, first = 0; f < o->families; f++) {
        const int64_t count = tasks / o->families + (f < tasks % o->families);
        const ts_evaluation e = {.task = task_spec(o, f),
                                 .tasks = count,
                                 .steps = o->unroll,
                                 .mode = TS_RUN_AS_MODEL,
                                 .start = TS_START_RANDOM,
                                 .seed = ts_evaluation_seed(o->seed)};
        double *lloyd = t->work->knows_lloyd ? NULL : t->work->lloyd + first * width;
        if (ts_evaluate(&t->model, &e, lloyd, t->work->learned + first * width, error) != TS_OK) return error->status;
        first += (int)count;
    }
    t->work->knows_lloyd = true;
    return TS_OK;
}

ts_status ts_trainer_test(ts_trainer *t, ts_train_test *result, ts_error *error) {
    const ts_train_options *o = &t->options;
    const int64_t tasks = o->eval_batches * o->batch, width = o->unroll + 1;
    if (check_data(t, error) != TS_OK || run_tests(t, error) != TS_OK) return error->status;
    *result = (ts_train_test){0};
    for (int64_t i = 0; i < tasks; i++) {
        const double learned = t->work->learned[i * width + o->unroll], lloyd = t->work->lloyd[i * width + o->unroll];
        result->objective += exp(learned) / (double)tasks;
        /* a task that Lloyd solves with objective 0 gives no ratio: it counts as 1 */
        result->relative += (isinf(lloyd) ? 1 : exp(learned - lloyd)) / (double)tasks;
    }
    return TS_OK;
}

ts_status ts_trainer_check(const ts_trainer *t, const ts_train_test *result, ts_error *error) {
    enum { PATIENCE = 10 };
    const bool over = t->step >= t->options.steps, stands = t->stuck >= PATIENCE && t->stuck >= t->loss_count;
    if (stands || (over && 2 * t->skipped > t->step))
        return ts_error_set(
            error, TS_ERROR_VALUE,
            "training diverged: %lld of %lld steps changed nothing, their gradients not being finite or "
            "too large (a smaller learning rate?)",
            (long long)t->skipped, (long long)t->step);
    if (over && !isfinite(t->best) && !isfinite(result->relative))
        return ts_error_set(error, TS_ERROR_VALUE,
                            "training diverged: no validation loss was finite (a smaller learning rate?)");
    return TS_OK;
}

bool ts_trainer_observe(ts_trainer *t, const ts_train_test *result) {
    ts_schedule_observe(&t->schedule, result->relative);
    t->loss_sum = 0;
    t->loss_count = 0;
    if (!(result->relative < t->best)) return false;
    t->best = result->relative;
    t->best_step = t->step;
    return true;
}
