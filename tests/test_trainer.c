/* Training, evaluation and checkpoints: the trainer against one tape that holds all tasks, the same bits however a
 * training is cut into threads and runs, and files that are refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../io/safetensors.h"
#include "../models/plain.h"
#include "../models/seeding.h"
#include "../train/checkpoint.h"
#include "../train/evaluation.h"
#include "test_main.h"

static char folder[] = "/tmp/tessera-test-XXXXXX";

static void set_threads(int threads) {
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

/* A problem of moments. */
static ts_train_options small(void) {
    ts_train_options o = ts_train_defaults();
    o.n = 32;
    o.d = 2;
    o.k = 3;
    o.batch = 4;
    o.steps = 20;
    o.eval_every = 3;
    o.eval_batches = 2;
    o.seed = test_seed();
    return o;
}

static ts_trainer *make(const ts_train_options *o) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_trainer_create(o, &error);
    ck_assert_msg(t != NULL, "%s", error.text);
    return t;
}

static ts_train_step step(ts_trainer *t) {
    ts_error error = {.status = TS_OK};
    ts_train_step report;
    ck_assert_msg(ts_trainer_step(t, &report, &error) == TS_OK, "%s", error.text);
    return report;
}

static ts_train_test test(ts_trainer *t) {
    ts_error error = {.status = TS_OK};
    ts_train_test result;
    ck_assert_msg(ts_trainer_test(t, &result, &error) == TS_OK, "%s", error.text);
    return result;
}

/* As a program trains: with validation every few steps. */
static void train_to(ts_trainer *t, int64_t end) {
    while (t->step < end) {
        step(t);
        if (t->step % t->options.eval_every > 0) continue;
        const ts_train_test result = test(t);
        ts_trainer_observe(t, &result);
    }
}

static void save(const ts_trainer *t, const char *path) {
    ts_error error = {.status = TS_OK};
    ck_assert_msg(ts_checkpoint_write(t, path, &error) == TS_OK, "%s", error.text);
}

static ts_trainer *resume(const char *path) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_checkpoint_resume(path, &error);
    ck_assert_msg(t != NULL, "%s", error.text);
    return t;
}

static char *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    char *bytes = malloc(*size + 1);
    rewind(file);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void expect_same_bytes(const char *a, const char *b, const char *what) {
    size_t size_a, size_b;
    char *of_a = read_bytes(a, &size_a), *of_b = read_bytes(b, &size_b);
    ck_assert_msg(size_a == size_b && memcmp(of_a, of_b, size_a) == 0, "%s: %s and %s differ", what, a, b);
    free(of_a);
    free(of_b);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

START_TEST(training_lowers_the_validation_loss) {
    ts_train_options o = small();
    o.batch = 8;
    o.steps = 200;
    o.eval_every = 50;
    o.eval_batches = 8;
    ts_trainer *t = make(&o);
    const ts_train_test before = test(t);
    ck_assert(isinf(t->best));
    train_to(t, o.steps);
    const ts_train_test after = test(t);
    ck_assert_msg(after.relative < 0.8 * before.relative, "%g -> %g", before.relative, after.relative);
    ck_assert_msg(after.objective < 0.9 * before.objective, "%g -> %g", before.objective, after.objective);
    ck_assert_double_le(t->best, after.relative);
    ck_assert_int_eq(t->best_step % 50, 0);
    ck_assert_int_eq(t->skipped, 0);
    ts_trainer_free(t);
}
END_TEST

static ts_task_spec task_of(const ts_train_options *o, int64_t number) {
    return (ts_task_spec){.n = o->n,
                          .d = o->d,
                          .k = o->k,
                          .family = o->family[number % o->families],
                          .scale = o->component_scale,
                          .anisotropic = o->anisotropic,
                          .unequal = o->unequal};
}

/* The loss of all tasks of step 0 on one tape, without dropout; its gradient goes to the model's parameters. */
static double reference(const ts_trainer *t, ts_real *points) {
    const ts_train_options *o = &t->options;
    const ts_transformer model = ts_transformer_view(&t->model, t->model.params, 0, false);
    const int64_t unroll = ts_train_unroll_at(o, 0);
    ts_error error = {.status = TS_OK};
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *sum = NULL, *after[8];
    for (int64_t b = 0; b < o->batch; b++) {
        ts_real *x = points + b * o->n * o->d;
        const ts_task_spec spec = task_of(o, b);
        ck_assert_int_eq(ts_task_draw(&spec, o->seed, 0, (uint64_t)b, x, NULL, &error), TS_OK);
        ts_learner_unroll(&model, tape, x, o->n, x, unroll, 0, after);
        for (int64_t s = 0; s < unroll; s++) {
            ts_tensor *loss = ts_clustering_loss(tape, ts_borrow(tape, TS_SHAPE(o->n, o->d), x), after[s], &o->loss);
            sum = sum == NULL ? loss : ts_add(tape, sum, loss);
        }
    }
    sum = ts_scale(tape, sum, 1 / (double)(o->batch * unroll));
    ts_params_zero_grads(t->model.params);
    ck_assert_msg(ts_backward(tape, sum) == TS_OK, "%s", ts_tape_error(tape));
    const double loss = (double)sum->data[0];
    ts_tape_free(tape);
    return loss;
}

/* The velocity of SGD after its first step is the gradient. */
static void expect_reference_gradient(ts_train_options o, const char *what) {
    o.optimiser = ts_optimiser_defaults(TS_SGD);
    o.dropout = 0;
    ts_trainer *t = make(&o);
    const int64_t size = ts_params_size(t->model.params);
    ts_real *points = malloc((size_t)(o.batch * o.n * o.d) * sizeof *points);
    const double loss = reference(t, points);
    const ts_train_step report = step(t);
    double largest = 0, norm = 0, difference = 0;
    for (int64_t i = 0; i < size; i++) {
        const double expected = (double)ts_params_grads(t->model.params)[i];
        largest = fmax(largest, fabs(expected));
        norm += expected * expected;
        difference = fmax(difference, fabs(expected - (double)t->optimiser->moment[0][i]));
    }
    ck_assert_double_gt(largest, 0);
    ck_assert_msg(difference <= 2e-5 * largest, "%s: gradients differ by %g of %g", what, difference, largest);
    ck_assert_msg(fabs(report.loss - loss) <= 1e-5 * fabs(loss), "%s: loss %g, not %g", what, report.loss, loss);
    ck_assert_msg(fabs(report.norm - sqrt(norm)) <= 1e-5 * sqrt(norm), "%s: norm %g", what, report.norm);
    free(points);
    ts_trainer_free(t);
}

START_TEST(the_gradient_is_that_of_one_tape) {
    ts_train_options o = small();
    expect_reference_gradient(o, "softmin");
    o.loss.log = true;
    expect_reference_gradient(o, "log loss");
    o.batch = 7; /* no power of two */
    o.unroll = 3;
    expect_reference_gradient(o, "three steps");
    o.loss.kind = TS_LOSS_SPARSEMIN;
    o.families = 3;
    o.family[1] = TS_FAMILY_LAPLACE;
    o.family[2] = TS_FAMILY_CAUCHY;
    o.unequal = o.anisotropic = true;
    expect_reference_gradient(o, "families in turn");
    o.scheme = TS_SCHEME_BINARY;
    o.gamma = 3;
    expect_reference_gradient(o, "binary codes");
    o.scheme = TS_SCHEME_NONE;
    o.batch = 1;
    expect_reference_gradient(o, "no codes");
}
END_TEST

START_TEST(clipping) {
    ts_train_options o = small();
    o.optimiser = ts_optimiser_defaults(TS_SGD);
    ts_trainer *t = make(&o), *clipped;
    const ts_train_step free_step = step(t);
    o.clip = free_step.norm / 4;
    clipped = make(&o);
    const ts_train_step report = step(clipped);
    ck_assert_double_eq(report.norm, free_step.norm);
    for (int64_t i = 0; i < t->optimiser->size; i++)
        ck_assert_double_eq_tol((double)clipped->optimiser->moment[0][i], (double)t->optimiser->moment[0][i] / 4,
                                1e-6 * free_step.norm);
    ts_trainer_free(t);
    ts_trainer_free(clipped);
}
END_TEST

/* A rate at which no float of the parameters changes. */
static ts_train_options at_rest(void) {
    ts_train_options o = small();
    o.optimiser = ts_optimiser_defaults(TS_SGD);
    o.schedule = ts_schedule_defaults(TS_SCHEDULE_CONSTANT, 1e-30, o.steps);
    o.dropout = 0;
    return o;
}

static double loss_of_first_step(const ts_train_options *o) {
    ts_trainer *t = make(o);
    const double loss = step(t).loss;
    ts_trainer_free(t);
    return loss;
}

START_TEST(a_pool_of_tasks_comes_in_turn) {
    enum { STEPS = 12 };
    ts_train_options o = at_rest();
    double loss[STEPS];
    o.pool = 12;
    ts_trainer *t = make(&o);
    for (int s = 0; s < STEPS; s++) loss[s] = step(t).loss;
    for (int s = 0; s + 3 < STEPS; s++) ck_assert_double_eq(loss[s], loss[s + 3]);
    ck_assert_double_ne(loss[0], loss[1]);
    ck_assert_double_ne(loss[1], loss[2]);
    ts_trainer_free(t);
    o.pool = 0;
    t = make(&o);
    for (int s = 0; s < STEPS; s++) loss[s] = step(t).loss;
    for (int s = 1; s < STEPS; s++)
        for (int earlier = 0; earlier < s; earlier++) ck_assert_double_ne(loss[s], loss[earlier]);
    ts_trainer_free(t);
}
END_TEST

/* One task is one task, wherever in a step it stands. */
START_TEST(a_task_of_the_pool_keeps_its_family) {
    ts_train_options o = at_rest();
    o.families = 2;
    o.family[1] = TS_FAMILY_CAUCHY;
    o.pool = 1;
    o.batch = 1;
    const double alone = loss_of_first_step(&o);
    o.batch = 2;
    ck_assert_double_eq(loss_of_first_step(&o), alone);
}
END_TEST

START_TEST(dropout_is_new_for_every_task_and_step) {
    ts_train_options o = at_rest();
    o.pool = 1;
    o.batch = 1;
    o.dropout = 0.3;
    ts_trainer *t = make(&o);
    const double first = step(t).loss, second = step(t).loss;
    ck_assert_double_ne(first, second);
    o.batch = 2; /* the same task twice: the mean is the first only if it is dropped from alike */
    ck_assert_double_ne(loss_of_first_step(&o), first);
    o.dropout = 0;
    ck_assert_double_ne(loss_of_first_step(&o), first);
    o.batch = 1;
    ts_trainer *without = make(&o);
    const ts_train_test a = test(t), b = test(without);
    ck_assert_double_eq(a.objective, b.objective);
    ck_assert_double_eq(a.relative, b.relative);
    ts_trainer_free(t);
    ts_trainer_free(without);
}
END_TEST

START_TEST(steps_that_are_trained_through) {
    ts_train_options o = small();
    static const int64_t of_eight[] = {1, 1, 2, 2, 3, 3, 4, 4, 4, 4};
    o.steps = 4000;
    o.unroll = 5;
    ck_assert_int_eq(ts_train_unroll_at(&o, 0), 5);
    o.unroll_ramp = 0.5;
    static const int64_t at[][2] = {{0, 1},    {399, 1},  {400, 2},  {799, 2},  {800, 3},
                                    {1599, 4}, {1600, 5}, {1999, 5}, {2000, 5}, {3999, 5}};
    for (int i = 0; i < 10; i++) ck_assert_int_eq(ts_train_unroll_at(&o, at[i][0]), at[i][1]);
    o.unroll_ramp = 1;
    o.steps = 8;
    o.unroll = 4;
    for (int s = 0; s < 10; s++) ck_assert_int_eq(ts_train_unroll_at(&o, s), of_eight[s]);
    ts_trainer *t = make(&o);
    for (int s = 0; s < 8; s++) ck_assert_int_eq(step(t).unroll, of_eight[s]);
    ts_trainer_free(t);
    o.unroll = 1;
    ck_assert_int_eq(ts_train_unroll_at(&o, 0), 1);
}
END_TEST

/* A step that makes no sense changes nothing, and is counted. */
START_TEST(a_gradient_that_is_not_finite_is_skipped) {
    const ts_train_options o = small();
    ts_trainer *t = make(&o);
    const int64_t size = ts_params_size(t->model.params);
    ts_real *before = malloc((size_t)size * sizeof *before), *values = ts_params_values(t->model.params);
    ts_real *weight = ts_params_value(t->model.params, t->model.cross_centers.value.weight);
    ck_assert(!step(t).skipped);
    const ts_real kept = weight[0];
    weight[0] = NAN;
    memcpy(before, values, (size_t)size * sizeof *before);
    for (int s = 0; s < 3; s++) {
        const ts_train_step report = step(t);
        ck_assert(report.skipped);
        ck_assert(!isfinite(report.norm));
        ck_assert_mem_eq(before, values, (size_t)size * sizeof *before);
    }
    const ts_train_test result = test(t);
    ck_assert(isnan(result.relative) && !ts_trainer_observe(t, &result));
    weight[0] = kept;
    ck_assert(!step(t).skipped);
    ck_assert_int_eq(t->skipped, 3);
    ck_assert_int_eq(t->step, 5);
    ck_assert_int_eq(t->optimiser->steps, 2);
    save(t, "skipped.safetensors");
    ts_trainer *again = resume("skipped.safetensors");
    ck_assert_int_eq(again->skipped, 3);
    free(before);
    ts_trainer_free(t);
    ts_trainer_free(again);
}
END_TEST

/* Parameters as large as floats go. */
START_TEST(a_rate_that_is_far_too_large) {
    ts_train_options o = small();
    o.optimiser = ts_optimiser_defaults(TS_SGD);
    for (double rate = 1e4; rate < 1e40; rate *= 1e5) {
        ts_error error = {.status = TS_OK};
        ts_train_test result;
        o.schedule = ts_schedule_defaults(TS_SCHEDULE_CONSTANT, rate, o.steps);
        ts_trainer *t = make(&o);
        for (int s = 0; s < 4; s++) step(t);
        ck_assert_int_eq(ts_trainer_test(t, &result, &error), TS_OK);
        ts_trainer_observe(t, &result);
        ts_trainer_free(t);
    }
}
END_TEST

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

enum { KINDS = 3 };

/* Trainings that between them have every kind of state. */
static ts_train_options kind(int number) {
    ts_train_options o = small();
    o.schedule.patience = 0;
    if (number == 0) return o;
    o.unroll = 3;
    o.unroll_ramp = 0.7;
    o.loss.log = true;
    o.clip = 1;
    if (number == 1) {
        o.optimiser = ts_optimiser_defaults(TS_SGD);
        o.optimiser.momentum = 0.9;
        o.optimiser.nesterov = true;
        o.schedule = ts_schedule_defaults(TS_SCHEDULE_COSINE, 0.01, o.steps);
        o.schedule.warmup = 5;
        o.pool = 10;
        return o;
    }
    o.scheme = TS_SCHEME_BINARY;
    o.optimiser = ts_optimiser_defaults(TS_ADAMW);
    o.loss.kind = TS_LOSS_SPARSEMIN;
    o.families = 2;
    o.family[1] = TS_FAMILY_GUMBEL;
    o.anisotropic = o.unequal = true;
    o.dropout = 0.1;
    o.seed = UINT64_MAX;
    return o;
}

START_TEST(threads_change_nothing) {
    static const int threads[] = {1, 2, 8};
    static const char *const name[] = {"t1.safetensors", "t2.safetensors", "t8.safetensors"};
    for (int k = 0; k < KINDS; k++) {
        const ts_train_options o = kind(k);
        for (int i = 0; i < 3; i++) {
            set_threads(threads[i]);
            ts_trainer *t = make(&o);
            train_to(t, o.steps);
            save(t, name[i]);
            ts_trainer_free(t);
        }
        set_threads(2);
        expect_same_bytes(name[0], name[1], "1 and 2 threads");
        expect_same_bytes(name[0], name[2], "1 and 8 threads");
    }
}
END_TEST

START_TEST(threads_may_change_on_the_way) {
    const ts_train_options o = kind(2);
    set_threads(1);
    ts_trainer *t = make(&o);
    train_to(t, o.steps);
    save(t, "one.safetensors");
    ts_trainer_free(t);
    t = make(&o);
    for (int s = 1; s <= o.steps; s++) {
        set_threads(1 + s % 5);
        train_to(t, s);
    }
    set_threads(2);
    save(t, "many.safetensors");
    ts_trainer_free(t);
    expect_same_bytes("one.safetensors", "many.safetensors", "threads");
}
END_TEST

/* Stopped after any of these steps, read and gone on with. */
START_TEST(resumed_is_as_unbroken) {
    enum { STOPS = 6 };
    static const int64_t stops[STOPS] = {0, 1, 6, 13, 19, 20};
    char name[STOPS][32];
    for (int k = 0; k < KINDS; k++) {
        const ts_train_options o = kind(k);
        ts_trainer *t = make(&o);
        for (int i = 0; i < STOPS; i++) {
            snprintf(name[i], sizeof name[i], "stop%d.safetensors", i);
            train_to(t, stops[i]);
            save(t, name[i]);
        }
        ts_trainer_free(t);
        for (int i = 0; i < STOPS; i++) {
            t = resume(name[i]);
            ck_assert_int_eq(t->step, stops[i]);
            save(t, "again.safetensors");
            expect_same_bytes(name[i], "again.safetensors", "read and written");
            train_to(t, o.steps);
            save(t, "end.safetensors");
            ts_trainer_free(t);
            expect_same_bytes("end.safetensors", name[STOPS - 1], "resumed");
        }
    }
}
END_TEST

START_TEST(seeds_and_options_reach_the_model) {
    ts_train_options o = kind(0);
    ts_trainer *t = make(&o);
    o.seed++;
    ts_trainer *other = make(&o);
    const int64_t size = ts_params_size(t->model.params);
    ck_assert_int_eq(size, 12 * (5 * 5 + 5)); /* e = d + k = 5 */
    ck_assert_int_ne(memcmp(ts_params_values(t->model.params), ts_params_values(other->model.params),
                            (size_t)size * sizeof(ts_real)),
                     0);
    ck_assert_double_ne(step(t).loss, step(other).loss);
    ts_trainer_free(t);
    ts_trainer_free(other);
}
END_TEST

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

enum { TASKS = 6, STEPS = 6, WIDTH = STEPS + 1 };

static ts_evaluation evaluation(ts_start start, ts_learner_mode mode) {
    return (ts_evaluation){.task = {.n = 40, .d = 2, .k = 3, .family = TS_FAMILY_NORMAL, .scale = 0.1},
                           .tasks = TASKS,
                           .steps = STEPS,
                           .mode = mode,
                           .start = start,
                           .seed = ts_evaluation_seed(test_seed())};
}

static void evaluate(const ts_trainer *t, const ts_evaluation *e, double *lloyd, double *learned) {
    ts_error error = {.status = TS_OK};
    ck_assert_msg(ts_evaluate(&t->model, e, lloyd, learned, &error) == TS_OK, "%s", error.text);
}

/* A model that is not as it was drawn. */
static ts_trainer *some_model(void) {
    const ts_train_options o = small();
    ts_trainer *t = make(&o);
    train_to(t, 10);
    return t;
}

/* Points of a task and its initial centres. */
static void draw(const ts_evaluation *e, uint64_t task, ts_real *points, ts_real *centers) {
    static const ts_seeding seedings[] = {TS_SEED_FIRST, TS_SEED_KMEANS_PP, TS_SEED_GONZALEZ};
    const ts_task_spec *s = &e->task;
    const uint64_t seed = ts_rng_bits((ts_rng){e->seed, ts_rng_stream("evaluation start"), 0}, task);
    int64_t rows[8];
    ts_error error = {.status = TS_OK};
    ck_assert_int_eq(ts_task_draw(s, e->seed, 0, task, points, NULL, &error), TS_OK);
    ck_assert_int_eq(ts_seed_rows(seedings[e->start], s->n, s->d, s->k, points, 0, seed, rows, &error), TS_OK);
    ck_assert_int_eq(rows[0], 0);
    for (int64_t j = 0; j < s->k; j++)
        for (int64_t a = 0; a < s->d; a++) centers[j * s->d + a] = points[rows[j] * s->d + a];
}

START_TEST(lloyd_is_lloyd) {
    ts_real points[80], centers[6];
    double lloyd[TASKS * WIDTH];
    ts_trainer *t = some_model();
    for (int start = 0; start < 3; start++) {
        const ts_evaluation e = evaluation((ts_start)start, TS_LEARNER_REEMBED);
        evaluate(t, &e, lloyd, NULL);
        for (int task = 0; task < TASKS; task++) {
            ts_error error = {.status = TS_OK};
            draw(&e, (uint64_t)task, points, centers);
            const ts_problem problem = {40, 2, 3, points, centers, TS_EMPTY_KEEP, 0};
            ts_plain *plain = ts_plain_create(&ts_plain_lloyd, &(ts_settings){.gamma = INFINITY}, &problem, &error);
            ck_assert_ptr_nonnull(plain);
            for (int s = 0; s <= STEPS; s++) {
                const double expected = ts_log_objective(40, 2, 3, points, ts_plain_state(plain)->centers);
                ck_assert_double_eq(lloyd[task * WIDTH + s], expected);
                ck_assert_int_eq(ts_plain_step(plain, &error), TS_OK);
            }
            ts_plain_free(plain);
        }
    }
    ts_trainer_free(t);
}
END_TEST

START_TEST(learned_steps_are_those_of_the_tape) {
    ts_real points[80], centers[6];
    double lloyd[TASKS * WIDTH], learned[TASKS * WIDTH];
    ts_trainer *t = some_model();
    const ts_transformer model = ts_transformer_view(&t->model, t->model.params, 0, false);
    const ts_evaluation e = evaluation(TS_START_RANDOM, TS_LEARNER_REEMBED);
    ts_tape *tape = ts_tape_create(TS_INFER);
    evaluate(t, &e, lloyd, learned);
    for (int task = 0; task < TASKS; task++) {
        ts_tensor *after[STEPS];
        draw(&e, (uint64_t)task, points, centers);
        ck_assert_double_eq(learned[task * WIDTH], lloyd[task * WIDTH]);
        ck_assert_double_eq(learned[task * WIDTH], ts_log_objective(40, 2, 3, points, points));
        ts_tape_reset(tape);
        ts_learner_unroll(&model, tape, points, 40, centers, STEPS, 0, after);
        for (int s = 0; s < STEPS; s++)
            ck_assert_double_eq_tol(learned[task * WIDTH + s + 1], ts_log_objective(40, 2, 3, points, after[s]->data),
                                    1e-5);
    }
    ts_tape_free(tape);
    ts_trainer_free(t);
}
END_TEST

START_TEST(modes_starts_and_threads) {
    static const int threads[] = {1, 2, 8};
    double lloyd[TASKS * WIDTH], learned[TASKS * WIDTH], raw[TASKS * WIDTH], other[TASKS * WIDTH];
    ts_trainer *t = some_model();
    ts_evaluation e = evaluation(TS_START_RANDOM, TS_LEARNER_REEMBED);
    set_threads(1);
    evaluate(t, &e, lloyd, learned);
    for (int i = 0; i < 3; i++) {
        set_threads(threads[i]);
        evaluate(t, &e, other, raw);
        ck_assert_mem_eq(other, lloyd, sizeof lloyd);
        ck_assert_mem_eq(raw, learned, sizeof learned);
    }
    set_threads(2);
    e.mode = TS_LEARNER_RAW;
    evaluate(t, &e, NULL, raw);
    for (int task = 0; task < TASKS; task++) {
        for (int s = 0; s < 2; s++) ck_assert_double_eq_tol(raw[task * WIDTH + s], learned[task * WIDTH + s], 1e-6);
        ck_assert_double_gt(fabs(raw[task * WIDTH + 3] - learned[task * WIDTH + 3]), 1e-6);
    }
    e.mode = TS_LEARNER_REEMBED;
    for (int start = 1; start < 3; start++) {
        e.start = (ts_start)start;
        evaluate(t, &e, other, NULL);
        ck_assert_mem_ne(other, lloyd, sizeof lloyd);
    }
    e.start = TS_START_RANDOM;
    e.seed++;
    evaluate(t, &e, other, NULL);
    ck_assert_mem_ne(other, lloyd, sizeof lloyd);
    ts_trainer_free(t);
}
END_TEST

START_TEST(tasks_of_zero_cost_and_of_another_size) {
    double lloyd[TASKS * WIDTH], learned[TASKS * WIDTH];
    ts_trainer *t = some_model();
    ts_evaluation e = evaluation(TS_START_RANDOM, TS_LEARNER_REEMBED);
    ts_error error = {.status = TS_OK};
    e.task.n = 3;
    evaluate(t, &e, lloyd, learned);
    for (int i = 0; i < TASKS * WIDTH; i++) ck_assert(isinf(lloyd[i]) && lloyd[i] < 0);
    ck_assert(isinf(learned[0]) && isfinite(learned[1]));
    e.task.k = 2;
    ck_assert_int_eq(ts_evaluate(&t->model, &e, lloyd, learned, &error), TS_ERROR_SHAPE);
    ck_assert_ptr_nonnull(strstr(error.text, "k = 2"));
    ts_trainer_free(t);
}
END_TEST

/* The validation of the trainer by hand: 5 tasks of two families. */
/* One centre that is no number makes the objective none, wherever it stands. */
START_TEST(a_lost_centre_is_not_overlooked) {
    const ts_real x[] = {0, 0, 1, 1, 5, 5};
    for (int lost = 0; lost < 3; lost++) {
        ts_real c[] = {0, 0, 1, 1, 4, 4};
        ck_assert_double_eq_tol(ts_log_objective(3, 2, 3, x, c), log(2), 1e-12);
        c[2 * lost + 1] = (ts_real)NAN;
        ck_assert(isnan(ts_log_objective(3, 2, 3, x, c)));
    }
}
END_TEST

START_TEST(validation_is_an_evaluation) {
    double lloyd[3 * 3], learned[3 * 3], objective = 0, relative = 0;
    ts_train_options o = small();
    o.batch = 5;
    o.eval_batches = 1;
    o.unroll = 2;
    o.families = 2;
    o.family[0] = TS_FAMILY_LAPLACE;
    o.family[1] = TS_FAMILY_GUMBEL;
    ts_trainer *t = make(&o);
    for (int f = 0; f < 2; f++) {
        const ts_evaluation e = {
            .task = task_of(&o, f), .tasks = 3 - f, .steps = 2, .seed = ts_evaluation_seed(o.seed)};
        evaluate(t, &e, lloyd, learned);
        for (int task = 0; task < 3 - f; task++) {
            objective += exp(learned[task * 3 + 2]) / 5;
            relative += exp(learned[task * 3 + 2]) / exp(lloyd[task * 3 + 2]) / 5;
        }
    }
    const ts_train_test first = test(t), second = test(t);
    ck_assert_double_eq_tol(first.objective, objective, 1e-12 * objective);
    ck_assert_double_eq_tol(first.relative, relative, 1e-12 * relative);
    ck_assert_double_eq(first.relative, second.relative); /* Lloyd's objectives are kept */
    ts_trainer_free(t);
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void expect_refused(const ts_train_options *o, const char *message) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_trainer_create(o, &error);
    ck_assert_msg(t == NULL, "not refused: %s", message);
    ck_assert_msg(strstr(error.text, message) != NULL, "'%s' is not in: %s", message, error.text);
}

/* One field of the options that is wrong. */
typedef struct wrong_whole {
    size_t field;
    int64_t value;
    const char *message;
} wrong_whole;
typedef struct wrong_real {
    size_t field;
    double value;
    const char *message;
} wrong_real;
#define FIELD(name) offsetof(ts_train_options, name)

static const wrong_whole wrong_numbers[] = {
    {FIELD(batch), 0, "batch must be from 1 to 65536, not 0"},
    {FIELD(batch), 65537, "batch must be"},
    {FIELD(steps), -1, "steps must be"},
    {FIELD(steps), (int64_t)1 << 32, "steps must be"},
    {FIELD(unroll), 0, "unroll must be"},
    {FIELD(unroll), 1001, "unroll must be"},
    {FIELD(eval_every), 0, "eval_every must be"},
    {FIELD(eval_batches), 0, "eval_batches must be"},
    {FIELD(eval_batches), 65537, "eval_batches must be"},
    {FIELD(pool), -1, "pool must be"},
    {FIELD(pool), (int64_t)1 << 25, "pool must be"},
    {FIELD(n), 2, "k = 3"},
    {FIELD(n), 0, "n = 0"},
    {FIELD(n), INT64_MAX, "n = 9223372036854775807"},
    {FIELD(d), 0, "d = 0"},
    {FIELD(k), 0, "k = 0"},
    {FIELD(k), 33, "k = 33"},
};
static const wrong_real wrong_reals[] = {
    {FIELD(unroll_ramp), -0.1, "unroll_ramp must be"},
    {FIELD(unroll_ramp), 1.1, "unroll_ramp must be"},
    {FIELD(unroll_ramp), NAN, "unroll_ramp must be"},
    {FIELD(clip), -1, "clip must be"},
    {FIELD(clip), NAN, "clip must be"},
    {FIELD(loss.tau), 0, "tau must be"},
    {FIELD(loss.tau), INFINITY, "tau must be"},
    {FIELD(loss.tau), NAN, "tau must be"},
    {FIELD(component_scale), 0, "scale"},
    {FIELD(component_scale), NAN, "scale"},
    {FIELD(gamma), 0, "gamma"},
    {FIELD(gamma), INFINITY, "gamma"},
    {FIELD(dropout), 1.1, "dropout"},
    {FIELD(dropout), -0.1, "dropout"},
    {FIELD(schedule.rate), -1, "rate"},
    {FIELD(schedule.factor), 1.5, "factor"},
    {FIELD(optimiser.beta1), 1, "beta"},
    {FIELD(optimiser.epsilon), 0, "epsilon"},
};

START_TEST(wrong_options_are_named) {
    for (size_t i = 0; i < sizeof wrong_numbers / sizeof wrong_numbers[0]; i++) {
        ts_train_options o = small();
        memcpy((char *)&o + wrong_numbers[i].field, &wrong_numbers[i].value, sizeof wrong_numbers[i].value);
        expect_refused(&o, wrong_numbers[i].message);
    }
    for (size_t i = 0; i < sizeof wrong_reals / sizeof wrong_reals[0]; i++) {
        ts_train_options o = small();
        memcpy((char *)&o + wrong_reals[i].field, &wrong_reals[i].value, sizeof wrong_reals[i].value);
        expect_refused(&o, wrong_reals[i].message);
    }
}
END_TEST

START_TEST(wrong_combinations_are_named) {
    ts_train_options o = small();
    ts_error error = {.status = TS_OK};
    ck_assert_int_eq(ts_train_check(&o, &error), TS_OK);
    o.families = 0;
    expect_refused(&o, "families must be from 1 to 5");
    o.families = 6;
    expect_refused(&o, "families must be");
    o.families = 1;
    o.batch = o.eval_batches = 5000;
    expect_refused(&o, "eval_batches * batch is beyond 16777216");
    o = small();
    o.scheme = TS_SCHEME_DOT;
    expect_refused(&o, "onehot, binary or none");
    o = small();
    o.families = 2;
    o.family[1] = TS_FAMILY_LOGNORMAL;
    o.component_scale = 65;
    expect_refused(&o, "lognormal");
    o = small();
    o.n = 32;
    o.d = (int64_t)1 << 35; /* matrices of 2^70 numbers */
    expect_refused(&o, "d = 34359738368 and k = 3 have 34359738371 numbers, more than 1048576");
    o.d = (1 << 20) - 3; /* of 4 TB each */
    expect_refused(&o, "out of memory");
}
END_TEST

/* A checkpoint taken apart. */
enum { MOST_TENSORS = 80, NOTES = 4 };
typedef struct parts {
    ts_safetensors file;
    ts_safetensor tensors[MOST_TENSORS];
    ts_safetensors_note notes[NOTES];
    int count;
} parts;

static void open_parts(parts *p) {
    ts_io_error error;
    if (access("good.safetensors", F_OK) != 0) {
        const ts_train_options o = small();
        ts_trainer *t = make(&o);
        train_to(t, 20);
        save(t, "good.safetensors");
        ts_trainer_free(t);
    }
    ck_assert_msg(ts_safetensors_read("good.safetensors", &p->file, &error), "%s", error.text);
    ck_assert_int_le(p->file.count, MOST_TENSORS - 1);
    ck_assert_int_eq(p->file.n_metadata, NOTES);
    p->count = p->file.count;
    memcpy(p->tensors, p->file.tensors, (size_t)p->count * sizeof p->tensors[0]);
    memcpy(p->notes, p->file.metadata, sizeof p->notes);
}

static ts_safetensor *part(parts *p, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->tensors[i].name, name) == 0) return &p->tensors[i];
    ck_abort_msg("no tensor %s", name);
    return NULL;
}

static void expect_bad_file(const char *message) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_checkpoint_resume("bad.safetensors", &error);
    ck_assert_msg(t == NULL, "not refused: %s", message);
    ck_assert_msg(strncmp(error.text, "bad.safetensors: ", 17) == 0, "%s", error.text);
    ck_assert_msg(strchr(error.text, '\n') == NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, message) != NULL, "'%s' is not in: %s", message, error.text);
}

/* Writes the parts together again, and expects that to be refused. */
static void expect_bad(parts *p, const char *message) {
    ts_io_error error;
    ck_assert_msg(ts_safetensors_write("bad.safetensors", p->tensors, p->count, p->notes, NOTES, &error), "%s",
                  error.text);
    expect_bad_file(message);
    ts_safetensors_free(&p->file);
}

#define WEIGHT "cross_points.query.weight"

START_TEST(tensors_of_another_model) {
    static const float numbers[25] = {1, 2, 3};
    static const double wide[25] = {1, 2, 3};
    static float odd[25];
    parts p;
    open_parts(&p);
    *part(&p, WEIGHT) = p.tensors[--p.count];
    expect_bad(&p, "tensor '" WEIGHT "' is missing");
    open_parts(&p);
    *part(&p, "optimiser.1." WEIGHT) = p.tensors[--p.count];
    expect_bad(&p, "tensor 'optimiser.1." WEIGHT "' is missing");
    open_parts(&p);
    p.tensors[p.count++] =
        (ts_safetensor){.name = "extra", .dtype = TS_SAFETENSORS_F32, .rank = 1, .dim = {3}, .data = numbers};
    expect_bad(&p, "1 of them unknown to the model");
    open_parts(&p);
    *part(&p, WEIGHT) =
        (ts_safetensor){.name = WEIGHT, .dtype = TS_SAFETENSORS_F32, .rank = 2, .dim = {1, 3}, .data = numbers};
    expect_bad(&p, "tensor '" WEIGHT "' has the shape [1,3], the model has [5,5]");
    open_parts(&p);
    *part(&p, WEIGHT) =
        (ts_safetensor){.name = WEIGHT, .dtype = TS_SAFETENSORS_F32, .rank = 1, .dim = {25}, .data = numbers};
    expect_bad(&p, "has the shape [25], the model has [5,5]");
    open_parts(&p);
    *part(&p, WEIGHT) = (ts_safetensor){
        .name = WEIGHT, .dtype = TS_SAFETENSORS_F32, .rank = 6, .dim = {1, 1, 5, 5, 1, 1}, .data = numbers};
    expect_bad(&p, "tensor '" WEIGHT "' has the shape");
    open_parts(&p);
    *part(&p, WEIGHT) =
        (ts_safetensor){.name = WEIGHT, .dtype = TS_SAFETENSORS_F64, .rank = 2, .dim = {5, 5}, .data = wide};
    expect_bad(&p, "tensor '" WEIGHT "' is of type F64, not F32");
    for (int i = 0; i < 2; i++) {
        odd[7] = i == 0 ? NAN : -INFINITY;
        open_parts(&p);
        part(&p, WEIGHT)->data = odd;
        expect_bad(&p, "tensor '" WEIGHT "' is not finite");
    }
}
END_TEST

static ts_safetensors_note *note(parts *p, const char *key) {
    for (int i = 0; i < NOTES; i++)
        if (strcmp(p->notes[i].key, key) == 0) return &p->notes[i];
    ck_abort_msg("no metadata %s", key);
    return NULL;
}

/* In metadata `key`, `from` becomes `to`. */
static void expect_bad_text(const char *key, const char *from, const char *to, const char *message) {
    char text[4096];
    parts p;
    open_parts(&p);
    ts_safetensors_note *changed = note(&p, key);
    const char *at = strstr(changed->value, from);
    ck_assert_msg(at != NULL, "'%s' is not in %s", from, changed->value);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - changed->value), changed->value, to, at + strlen(from));
    changed->value = text;
    expect_bad(&p, message);
}

/* In the metadata of this key this text becomes that one; the message. */
static const char *const damages[][4] = {
    {"format", "tessera checkpoint 1", "tessera checkpoint 2", "not a checkpoint of tessera"},
    {"options", "{", "", "metadata 'options' is no JSON object"},
    {"options", "}", "", "metadata 'options' is no JSON object"},
    {"options", "{", "{\"n\":32,", "metadata 'options' is no JSON object"}, /* n twice */
    {"options", "\"n\":32", "\"m\":32", "options.n is missing"},
    {"options", "\"n\":32", "\"n\":\"32\"", "options.n is of another type"},
    {"options", "\"n\":32", "\"n\":2", "k = 3"},
    {"options", "\"n\":32", "\"n\":99999999999999999999", "metadata 'options' is no JSON object"},
    {"options", "\"k\":3", "\"k\":0", "k = 0"},
    {"options", "\"k\":3", "\"k\":4", "has the shape [5,5], the model has [6,6]"},
    {"options", "\"d\":2", "\"d\":3", "has the shape [5,5], the model has [6,6]"},
    {"options", "\"batch\":4", "\"batch\":0", "batch must be"},
    {"options", "\"steps\":20", "\"steps\":-1", "steps must be"},
    {"options", "\"steps\":20", "\"steps\":19", "state: a number is out of range"},
    {"options", "\"lr\":", "\"lr\":-", "rate"},
    {"options", "\"dropout\":", "\"dropout\":-", "dropout"},
    {"options", "\"log_loss\":false", "\"log_loss\":0", "options.log_loss is of another type"},
    {"options", "\"seed\":\"", "\"seed\":\"x", "options.seed is of another type"},
    {"options", "[\"normal\"]", "[]", "options.family"},
    {"options", "[\"normal\"]", "\"normal\"", "options.family"},
    {"options", "[\"normal\"]", "[\"student\"]", "options.family is unknown"},
    {"options", "\"adam\"", "\"eve\"", "options.optimiser is unknown"},
    {"options", "\"adam\"", "\"sgd\"", "unknown to the model"},
    {"options", "\"softmin\"", "3", "options.loss is missing"},
    {"options", "\"onehot\"", "\"dot\"", "onehot, binary or none"},
    {"state", "{", "[", "metadata 'state' is no JSON object"},
    {"state", "\"step\":20", "\"step\":21", "state: a number is out of range"},
    {"state", "\"step\":20", "\"step\":-1", "state: a number is out of range"},
    {"state", "\"step\":20", "\"step\":2.5", "state.step is of another type"},
    {"state", "\"skipped\":0", "\"skipped\":21", "state: a number is out of range"},
    {"state", "\"skipped\":0", "\"skipped\":-1", "state: a number is out of range"},
    {"state", "\"best_step\":", "\"best_step\":-", "state: a number is out of range"},
    {"state", "\"optimiser_steps\":20", "\"optimiser_steps\":-1", "state: a number is out of range"},
    {"state", "\"optimiser_steps\":20", "\"other\":20", "state.optimiser_steps is missing"},
    {"state", "\"schedule_rate\":", "\"schedule_rate\":-", "state: a number is out of range"},
};

START_TEST(damaged_metadata) {
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++)
        expect_bad_text(damages[i][0], damages[i][1], damages[i][2], damages[i][3]);
    for (int i = 0; i < 3; i++) {
        static const char *const keys[] = {"format", "options", "state"};
        char message[64];
        parts p;
        open_parts(&p);
        note(&p, keys[i])->key = "another";
        snprintf(message, sizeof message, i == 0 ? "not a checkpoint of tessera" : "no metadata '%s'", keys[i]);
        expect_bad(&p, message);
    }
}
END_TEST

START_TEST(files_that_are_no_checkpoint) {
    ts_error error = {.status = TS_OK};
    size_t size;
    parts p;
    open_parts(&p);
    ts_safetensors_free(&p.file);
    char *bytes = read_bytes("good.safetensors", &size);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 4) {
        write_bytes("bad.safetensors", bytes, cut);
        expect_bad_file("");
    }
    write_bytes("bad.safetensors", bytes, size - 1);
    expect_bad_file("");
    free(bytes);
    write_bytes("bad.safetensors", "x,y\n1,2\n3,4\n", 12);
    expect_bad_file("");
    ck_assert_ptr_null(ts_checkpoint_resume("absent.safetensors", &error));
    ck_assert_ptr_nonnull(strstr(error.text, "absent.safetensors: No such file"));
    const ts_train_options o = small();
    ts_trainer *t = make(&o);
    ts_error unwritten = {.status = TS_OK};
    ck_assert_int_ne(ts_checkpoint_write(t, "nowhere/x.safetensors", &unwritten), TS_OK);
    ck_assert_ptr_nonnull(strstr(unwritten.text, "nowhere/x.safetensors: No such file"));
    ts_trainer_free(t);
}
END_TEST

START_TEST(options_as_json) {
    const ts_train_options o = kind(2);
    char *text = ts_train_options_to_json(&o);
    static const char *const parts_of[] = {"\"seed\": \"18446744073709551615\"",
                                           "\"unroll_ramp\": 0.69999999999999996",
                                           "\"optimiser\": \"adamw\"",
                                           "\"scratch\": \"binary\"",
                                           "\"gumbel\"",
                                           "\"loss\": \"sparsemin\""};
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < sizeof parts_of / sizeof parts_of[0]; i++)
        ck_assert_msg(strstr(text, parts_of[i]) != NULL, "%s is not in %s", parts_of[i], text);
    free(text);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, training_lowers_the_validation_loss);
    tcase_add_test(tests, the_gradient_is_that_of_one_tape);
    tcase_add_test(tests, clipping);
    tcase_add_test(tests, a_pool_of_tasks_comes_in_turn);
    tcase_add_test(tests, a_task_of_the_pool_keeps_its_family);
    tcase_add_test(tests, dropout_is_new_for_every_task_and_step);
    tcase_add_test(tests, steps_that_are_trained_through);
    tcase_add_test(tests, a_gradient_that_is_not_finite_is_skipped);
    tcase_add_test(tests, a_rate_that_is_far_too_large);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, threads_may_change_on_the_way);
    tcase_add_test(tests, resumed_is_as_unbroken);
    tcase_add_test(tests, seeds_and_options_reach_the_model);
    tcase_add_test(tests, lloyd_is_lloyd);
    tcase_add_test(tests, learned_steps_are_those_of_the_tape);
    tcase_add_test(tests, modes_starts_and_threads);
    tcase_add_test(tests, tasks_of_zero_cost_and_of_another_size);
    tcase_add_test(tests, a_lost_centre_is_not_overlooked);
    tcase_add_test(tests, validation_is_an_evaluation);
    tcase_add_test(tests, wrong_options_are_named);
    tcase_add_test(tests, wrong_combinations_are_named);
    tcase_add_test(tests, tensors_of_another_model);
    tcase_add_test(tests, damaged_metadata);
    tcase_add_test(tests, files_that_are_no_checkpoint);
    tcase_add_test(tests, options_as_json);
}

int main(void) {
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) return EXIT_FAILURE;
    Suite *suite = suite_create("trainer");
    TCase *tests = tcase_create("trainer");
    tcase_set_timeout(tests, 0);
    add_tests(tests);
    suite_add_tcase(suite, tests);
    const int result = run_suite(suite);
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0) return EXIT_FAILURE;
    return result;
}
