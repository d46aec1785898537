/* Evaluation: learned steps and Lloyd's from the same centres. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../models/data/seeding.h"
#include "../models/reference/plain.h"
#include "../train/evaluation.h"
#include "trained.h"

enum { TASKS = 6, STEPS = 6, WIDTH = STEPS + 1 };

static ts_evaluation evaluation(ts_start start, ts_run_mode mode) {
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
    const ts_points all = {.n = s->n, .d = s->d, .real = points};
    ck_assert_int_eq(ts_seed_rows(seedings[e->start], &all, s->k, 0, seed, rows, &error), TS_OK);
    ck_assert_int_eq(rows[0], 0);
    for (int64_t j = 0; j < s->k; j++)
        for (int64_t a = 0; a < s->d; a++) centers[j * s->d + a] = points[rows[j] * s->d + a];
}

START_TEST(lloyd_is_lloyd) {
    ts_real points[80], centers[6];
    double lloyd[TASKS * WIDTH];
    ts_trainer *t = some_model();
    for (int start = 0; start < 3; start++) {
        const ts_evaluation e = evaluation((ts_start)start, TS_RUN_AS_MODEL);
        evaluate(t, &e, lloyd, NULL);
        for (int task = 0; task < TASKS; task++) {
            ts_error error = {.status = TS_OK};
            draw(&e, (uint64_t)task, points, centers);
            const ts_problem problem = {.n = 40, .d = 2, .k = 3, .points = points, .centers = centers};
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
    const ts_evaluation e = evaluation(TS_START_RANDOM, TS_RUN_AS_MODEL);
    ts_tape *tape = ts_tape_create(TS_INFER);
    evaluate(t, &e, lloyd, learned);
    for (int task = 0; task < TASKS; task++) {
        ts_tensor *after[STEPS];
        draw(&e, (uint64_t)task, points, centers);
        ck_assert_double_eq(learned[task * WIDTH], lloyd[task * WIDTH]);
        ck_assert_double_eq(learned[task * WIDTH], ts_log_objective(40, 2, 3, points, points));
        ts_tape_reset(tape);
        const ts_model_task of_model = {.n = 40, .d = 2, .k = 3, .points = points, .centers = centers};
        ts_model_unroll(&t->model, t->model.params, tape, &of_model, STEPS, 0, after);
        for (int s = 0; s < STEPS; s++)
            ck_assert_double_eq_tol(learned[task * WIDTH + s + 1], ts_log_objective(40, 2, 3, points, after[s]->data),
                                    1e-12);
    }
    ts_tape_free(tape);
    ts_trainer_free(t);
}
END_TEST

START_TEST(modes_starts_and_threads) {
    static const int threads[] = {1, 2, 8};
    double lloyd[TASKS * WIDTH], learned[TASKS * WIDTH], raw[TASKS * WIDTH], other[TASKS * WIDTH];
    ts_trainer *t = some_model();
    ts_evaluation e = evaluation(TS_START_RANDOM, TS_RUN_AS_MODEL);
    set_threads(1);
    evaluate(t, &e, lloyd, learned);
    for (int i = 0; i < 3; i++) {
        set_threads(threads[i]);
        evaluate(t, &e, other, raw);
        ck_assert_mem_eq(other, lloyd, sizeof lloyd);
        ck_assert_mem_eq(raw, learned, sizeof learned);
    }
    set_threads(2);
    e.mode = TS_RUN_RAW;
    evaluate(t, &e, NULL, raw);
    for (int task = 0; task < TASKS; task++) {
        for (int s = 0; s < 2; s++) ck_assert_double_eq_tol(raw[task * WIDTH + s], learned[task * WIDTH + s], 1e-12);
        ck_assert_double_gt(fabs(raw[task * WIDTH + 3] - learned[task * WIDTH + 3]), 1e-6);
    }
    e.mode = TS_RUN_AS_MODEL;
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
    ts_evaluation e = evaluation(TS_START_RANDOM, TS_RUN_AS_MODEL);
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

int main(void) {
    TCase *tests = tcase_create("evaluation");
    tcase_add_test(tests, lloyd_is_lloyd);
    tcase_add_test(tests, learned_steps_are_those_of_the_tape);
    tcase_add_test(tests, modes_starts_and_threads);
    tcase_add_test(tests, tasks_of_zero_cost_and_of_another_size);
    tcase_add_test(tests, a_lost_centre_is_not_overlooked);
    tcase_add_test(tests, validation_is_an_evaluation);
    return run_case_in_folder("evaluation", tests);
}
