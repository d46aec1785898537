/* Training: the trainer against one tape that holds all tasks, the same bits however a training is cut into threads and
 * runs. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trained.h"

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

/* The loss of all tasks of the next step on one tape, without dropout; its gradient goes to the model's parameters. */
static double reference(const ts_trainer *t, ts_real *points) {
    const ts_train_options *o = &t->options;
    const int64_t unroll = ts_train_unroll_at(o, t->step);
    ts_error error = {.status = TS_OK};
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *sum = NULL, *after[8];
    for (int64_t b = 0; b < o->batch; b++) {
        ts_real *x = points + b * o->n * o->d;
        const ts_task_spec spec = task_of(o, b);
        ck_assert_int_eq(ts_task_draw(&spec, o->seed, (uint32_t)t->step, (uint64_t)b, x, NULL, &error), TS_OK);
        const ts_model_task task = {.n = o->n, .d = o->d, .k = o->k, .points = x, .centers = x};
        ts_model_unroll(&t->model, t->model.params, tape, &task, unroll, 0, after);
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

/* The velocity of SGD without momentum is the gradient. */
static void expect_reference_step(ts_trainer *t, ts_real *points, const char *what) {
    const double loss = reference(t, points);
    const ts_train_step report = step(t);
    double largest = 0, norm = 0, difference = 0;
    for (int64_t i = 0; i < ts_params_size(t->model.params); i++) {
        const double expected = (double)ts_params_grads(t->model.params)[i];
        largest = fmax(largest, fabs(expected));
        norm += expected * expected;
        difference = fmax(difference, fabs(expected - (double)t->optimiser->moment[0][i]));
    }
    ck_assert_double_gt(largest, 0);
    ck_assert_msg(difference <= 1e-6 * largest, "%s: gradients differ by %g of %g", what, difference, largest);
    ck_assert_msg(fabs(report.loss - loss) <= 1e-6 * fabs(loss), "%s: loss %g, not %g", what, report.loss, loss);
    ck_assert_msg(fabs(report.norm - sqrt(norm)) <= 1e-6 * sqrt(norm), "%s: norm %g", what, report.norm);
}

static void expect_reference_gradient(ts_train_options o, const char *what) {
    o.optimiser = ts_optimiser_defaults(TS_SGD);
    o.dropout = 0;
    ts_trainer *t = make(&o);
    ts_real *points = malloc((size_t)(o.batch * o.n * o.d) * sizeof *points);
    for (int s = 0; s < 2; s++) expect_reference_step(t, points, what); /* the second has tasks of its own */
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
    o.construction = TS_CONSTRUCTION_BINARY;
    o.gamma = 3;
    expect_reference_gradient(o, "binary codes");
    o.construction = TS_CONSTRUCTION_NONE;
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
    for (int64_t i = 0; i < t->optimiser->size; i++) {
        const double whole = (double)t->optimiser->moment[0][i], quarter = (double)clipped->optimiser->moment[0][i];
        ck_assert_msg(fabs(4 * quarter - whole) <= 4 * FLT_EPSILON * fabs(whole), "%g of %g", quarter, whole);
    }
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

/* A step that makes no sense changes nothing, and is counted. */
START_TEST(a_gradient_that_is_not_finite_is_skipped) {
    const ts_train_options o = small();
    ts_trainer *t = make(&o);
    const int64_t size = ts_params_size(t->model.params);
    ts_real *before = malloc((size_t)size * sizeof *before), *values = ts_params_values(t->model.params);
    ts_real *weight = ts_params_value(t->model.params, ts_params_find(t->model.params, "cross_centers.value.weight"));
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

/* Parameters as large as floats go, and beyond. */
START_TEST(a_rate_that_is_far_too_large) {
    const double most = sqrt((double)FLT_MAX);
    ts_train_options o = small();
    int diverged = 0;
    o.optimiser = ts_optimiser_defaults(TS_SGD);
    for (double rate = 1e4; rate < 1e40; rate *= 1e5) {
        ts_error error = {.status = TS_OK};
        ts_train_test result;
        o.schedule = ts_schedule_defaults(TS_SCHEDULE_CONSTANT, rate, o.steps);
        ts_trainer *t = make(&o);
        for (int s = 0; s < 4 && error.status == TS_OK; s++) ts_trainer_step(t, &(ts_train_step){0}, &error);
        const ts_real *values = ts_params_values(t->model.params), *moment = t->optimiser->moment[0];
        bool usable = true;
        for (int64_t i = 0; i < ts_params_size(t->model.params); i++) {
            usable = usable && fabs((double)values[i]) <= most;
            ck_assert(isfinite(moment[i]));
        }
        ck_assert_int_eq(error.status, usable ? TS_OK : TS_ERROR_VALUE);
        ck_assert(usable || strstr(error.text, "training diverged in step ") == error.text);
        error.status = TS_OK;
        ck_assert_int_eq(ts_trainer_test(t, &result, &error), TS_OK);
        ts_trainer_observe(t, &result);
        ts_trainer_free(t);
        diverged += !usable;
    }
    ck_assert_int_gt(diverged, 0);
}
END_TEST

/* A gradient whose square no moment holds: skipped and counted, until it is said that nothing moves any more. */
START_TEST(a_gradient_that_is_too_large_is_skipped) {
    ts_train_options o = small();
    o.steps = 100;
    ts_trainer *t = make(&o);
    ts_real *second = t->optimiser->moment[1];
    ck_assert(!step(t).skipped);
    ts_train_test result = test(t);
    ts_error error = {.status = TS_OK};
    ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_OK);
    ts_trainer_observe(t, &result);
    const ts_real kept = second[0];
    second[0] = INFINITY; /* whatever comes, this stays */
    for (int s = 0; s < 10; s++) {
        ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_OK);
        const ts_train_step report = step(t);
        ck_assert(report.skipped && isfinite(report.norm));
    }
    ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_ERROR_VALUE);
    ck_assert_str_eq(error.text,
                     "training diverged: 10 of 11 steps changed nothing, their gradients not being finite or "
                     "too large (a smaller learning rate?)");
    second[0] = kept;
    ck_assert(!step(t).skipped);
    error.status = TS_OK;
    ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_OK);
    t->options.steps = t->step; /* the end, most steps having been skipped */
    ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_ERROR_VALUE);
    t->skipped = 0;
    error.status = TS_OK;
    ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_OK);
    t->best = INFINITY;
    result.relative = NAN;
    ck_assert_int_eq(ts_trainer_check(t, &result, &error), TS_ERROR_VALUE);
    ck_assert_ptr_nonnull(strstr(error.text, "no validation loss was finite"));
    ts_trainer_free(t);
}
END_TEST

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

START_TEST(threads_change_nothing) {
#ifndef _OPENMP
    skip_part("no OpenMP, one thread only");
#endif
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
        expect_same_files(name[0], name[1]);
        expect_same_files(name[0], name[2]);
    }
}
END_TEST

static void count_passes(void *context, const ts_node *node, ts_pass *pass) {
    int64_t *passes = context; /* forward and backward of attentions */
    if (strcmp(node->op->name, "attention") == 0) {
#pragma omp atomic
        passes[pass == node->op->backward]++;
    }
    pass(node);
}

/* Four attentions there and back for each task of a step, and the same bits as unseen. */
START_TEST(an_observer_sees_all_tasks_and_changes_nothing) {
    ts_train_options o = small();
    o.batch = 5;
    int64_t passes[2] = {0, 0};
    ts_error error = {.status = TS_OK};
    ts_trainer *seen = make(&o), *unseen = make(&o);
    ck_assert_int_eq(ts_trainer_watch(seen, count_passes, passes, &error), TS_OK);
    for (int s = 0; s < 3; s++) step(seen), step(unseen);
    ck_assert_int_eq(passes[0], 4 * 5 * 3);
    ck_assert_int_eq(passes[1], 4 * 5 * 3);
    const size_t bytes = (size_t)ts_params_size(seen->model.params) * sizeof(ts_real);
    ck_assert_mem_eq(ts_params_values(seen->model.params), ts_params_values(unseen->model.params), bytes);
    ts_trainer_free(seen);
    ts_trainer_free(unseen);
}
END_TEST

/* Fails the third backward pass of an op. */
static void fail_backward(void *context, const ts_node *node, ts_pass *pass) {
    int *passes = context;
    if (pass == node->op->backward && ++*passes == 3) ts_error_set(node->error, TS_ERROR_MEMORY, "no more");
    pass(node);
}

START_TEST(a_step_that_failed_leaves_no_trace) {
    const ts_train_options o = small();
    ts_error error = {.status = TS_OK};
    ts_train_step report;
    int passes = 0;
    ts_trainer *once = make(&o), *again = make(&o);
    set_threads(1);
    step(once);
    ck_assert_int_eq(ts_trainer_watch(again, fail_backward, &passes, &error), TS_OK);
    ck_assert_int_eq(ts_trainer_step(again, &report, &error), TS_ERROR_MEMORY);
    ck_assert_str_eq(error.text, "no more");
    ck_assert_int_eq(again->step, 0);
    ck_assert_int_eq(ts_trainer_watch(again, NULL, NULL, &error), TS_OK);
    step(again);
    const size_t bytes = (size_t)ts_params_size(once->model.params) * sizeof(ts_real);
    ck_assert_mem_eq(ts_params_values(once->model.params), ts_params_values(again->model.params), bytes);
    ts_trainer_free(once);
    ts_trainer_free(again);
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
    expect_same_files("one.safetensors", "many.safetensors");
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
            expect_same_files(name[i], "again.safetensors");
            train_to(t, o.steps);
            save(t, "end.safetensors");
            ts_trainer_free(t);
            expect_same_files("end.safetensors", name[STOPS - 1]);
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

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, training_lowers_the_validation_loss);
    tcase_add_test(tests, the_gradient_is_that_of_one_tape);
    tcase_add_test(tests, clipping);
    tcase_add_test(tests, a_pool_of_tasks_comes_in_turn);
    tcase_add_test(tests, a_task_of_the_pool_keeps_its_family);
    tcase_add_test(tests, dropout_is_new_for_every_task_and_step);
    tcase_add_test(tests, a_gradient_that_is_not_finite_is_skipped);
    tcase_add_test(tests, a_rate_that_is_far_too_large);
    tcase_add_test(tests, a_gradient_that_is_too_large_is_skipped);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, an_observer_sees_all_tasks_and_changes_nothing);
    tcase_add_test(tests, a_step_that_failed_leaves_no_trace);
    tcase_add_test(tests, threads_may_change_on_the_way);
    tcase_add_test(tests, resumed_is_as_unbroken);
    tcase_add_test(tests, seeds_and_options_reach_the_model);
    return run_case_in_folder("trainer", tests);
}
