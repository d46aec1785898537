/* An architecture of one's own, with a layer, a loss and tasks of one's own: trained, saved, judged, and used on a
 * file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../io/table.h"
#include "../models/definition/architecture_json.h"
#include "../train/checkpoint.h"
#include "../train/evaluation.h"

/* ---- a layer: y_j = w (c_j - mean of all rows), a trained scalar w that pushes rows apart, or together ---- */
static ts_status build(ts_layer *layer, ts_layer_builder *b) {
    layer->param[0] = ts_layer_param(layer, b, "weight", TS_SHAPE(1), (ts_init){.kind = TS_INIT_ZEROS});
    return b->error->status;
}
static ts_tensor *forward(const ts_layer *layer, ts_streams *s, ts_tensor *x) {
    return ts_mul(s->tape, ts_sub(s->tape, x, ts_mean(s->tape, x, 0, true)), ts_layer_use(layer, 0, s));
}
static const ts_layer_type away = {"away", "away from the mean", ts_no_fields, .build = build, .forward = forward};
/* ---- a loss: k-harmonic means, sum_i k / sum_j 1 / r_ij [Zhang, Hsu & Dayal 1999] ---- */
static ts_tensor *harmonic(ts_tape *t, ts_tensor *r, const ts_loss_spec *spec) {
    ts_tensor *one = ts_constant(t, TS_SHAPE(1), (ts_real[]){1}), *k = ts_scale(t, one, (double)r->shape.dim[1]);
    ts_tensor *inverse = ts_sum(t, ts_div(t, one, ts_clamp(t, r, 1e-4, 1e30)), -1, false);
    return spec == NULL ? NULL : ts_sum(t, ts_div(t, k, inverse), TS_ALL_AXES, false);
}
static const ts_loss harmonic_loss = {"harmonic", "k-harmonic means", false, ts_no_fields, harmonic};
/* ---- tasks: four blobs on a line that turns from task to task ---- */
static ts_status draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                      ts_task *out, ts_error *error) {
    const ts_rng rng = {seed, ts_rng_stream(source->name), step};
    if (!ts_task_buffer_fit(buffer, 128, 2, 0)) return ts_error_set(error, TS_ERROR_MEMORY, "no memory for a task");
    const ts_real slope = (ts_real)ts_rng_uniform(rng, task << 16);
    for (uint64_t i = 0, at = (task << 16) + 1; i < 128; i++, at += 3) {
        const ts_real x = (ts_real)(0.3 * (double)ts_rng_below(rng, at, 4) + 0.03 * ts_rng_normal(rng, at + 1));
        buffer->points[2 * i] = x, buffer->points[2 * i + 1] = slope * x + (ts_real)(0.03 * ts_rng_normal(rng, at + 2));
    }
    *out = (ts_task){128, 2, 4, buffer->points};
    return TS_OK;
}
static const ts_source blobs = {.name = "blobs", .n = {128, 128}, .d = {2, 2}, .k = {4, 4}, .draw = draw};

static const char text[] = /* a model of two of Tessera's layers and that one */
    "{\"name\": \"mine\", \"tokens\": {\"code\": \"none\", \"memory\": 16, \"point_marks\": 0.5}, \"keep\": \"tokens\","
    " \"standardised\": true, \"layers\": [{\"points\": [{\"soft_assignment\": {\"gamma\": [30, 5, 1]}}],"
    " \"centers\": [{\"gated_move\": {\"gamma\": [10, 3, 1]}}, {\"residual\": [\"away\"]}]}]}";
/* Ten steps of the model on the rows of a file, from its first two rows. */
static ts_status cluster(const ts_model *model, const char *path, ts_error *e) {
    ts_table table;
    ts_io_error io;
    if (!ts_table_read(path, NULL, &table, &io)) return ts_error_set(e, TS_ERROR_VALUE, "%s", io.text);
    ts_real *x = calloc((size_t)(table.rows * table.cols), sizeof *x);
    for (int64_t i = 0; i < table.rows * table.cols; i++) x[i] = (ts_real)table.values[i];
    const ts_model_task task = {.n = table.rows, .d = table.cols, .k = 2, .points = x, .centers = x, .seed = 1};
    ts_model_run *run = ts_model_run_create(model);
    ts_model_run_begin(run, &task, TS_RUN_AS_MODEL, e);
    for (int s = 0; s < 10 && e->status == TS_OK; s++) ts_model_run_step(run, e);
    printf("%s: log objective %.3f\n", path, ts_log_objective(task.n, task.d, 2, x, ts_model_run_centers(run)));
    ts_model_run_free(run), free(x), ts_table_free(&table);
    return e->status;
}

int main(int argc, char **argv) {
    ts_error e = {.status = TS_OK};
    ts_layer_register(&away, &e);
    ts_train_options o = ts_train_defaults();
    ts_architecture *a = ts_architecture_from_json(text, strlen(text), &e);
    o.architecture = a, o.source.own = &blobs, o.loss.own = &harmonic_loss, o.loss.log = true;
    o.n = 128, o.d = 2, o.k = 4, o.batch = 16, o.unroll = 4, o.clip = 1, o.schedule.rate = 0.003, o.steps = 150;
    ts_trainer *t = a == NULL ? NULL : ts_trainer_create(&o, &e);
    ts_train_test test;
    for (ts_train_step r; t != NULL && e.status == TS_OK && t->step < o.steps;) ts_trainer_step(t, &r, &e);
    if (e.status == TS_OK && ts_trainer_test(t, &test, &e) == TS_OK &&
        ts_checkpoint_write(t, "mine.safetensors", &e) == TS_OK)
        printf("%d numbers, objective relative to Lloyd's %.3f\n", (int)ts_model_trained(&t->model), test.relative);
    if (e.status == TS_OK && argc > 1) cluster(&t->model, argv[1], &e);
    if (e.status != TS_OK) puts(e.text);
    ts_trainer_free(t), ts_architecture_free(a);
    return e.status != TS_OK;
}
