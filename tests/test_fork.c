/* Children forked before and after the first parallel region: the same bits as the parent's, and no child that waits
 * for threads it has not got. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../autograd/ops.h"
#include "../autograd/parallel.h"
#include "../models/reference/verification.h"
#include "../train/evaluation.h"
#include "../train/trainer.h"
#include "test_main.h"

enum { N = 4, RESULTS = 10000 };

static void two_threads(void) {
#ifdef _OPENMP
    omp_set_num_threads(2);
#endif
}

/* Products, maps, norms and both kinds of attention, there and back. */
static int64_t run_ops(ts_real *results) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_real values[N * 9 * 6];
    for (int i = 0; i < N * 9 * 6; i++) values[i] = (ts_real)(i % 17) / 8 - 1;
    ts_tensor *x = ts_variable(tape, TS_SHAPE(N, 9, 6), values), *w = ts_variable(tape, TS_SHAPE(6, 6), values);
    ts_tensor *y =
        ts_exp(tape, ts_matmul(tape, ts_transpose(tape, ts_transpose(tape, x, 0, 1), 0, 1), w, false, false));
    for (int fast = 0; fast < 2; fast++) {
        const ts_attention_spec spec = {
            .score = TS_SCORE_EUCLIDEAN, .simplex = {.map = &ts_softmax_map}, .gamma = .1, .fast = fast == 1};
        y = ts_attention(tape, y, x, ts_log_softmax(tape, y, -1), NULL, &spec);
    }
    ts_attention_spec spec = {.score = TS_SCORE_DOT, .simplex = {.map = &ts_sparsemax_map}, .gamma = 1};
    y = ts_matmul(tape, ts_attention_weights(tape, y, x, NULL, &spec), ts_dropout(tape, y, .2, (ts_rng){1, 2, 3}),
                  false, false);
    ts_backward(tape, ts_sum(tape, ts_logsumexp(tape, y, -1, false), TS_ALL_AXES, false));
    memcpy(results, y->data, N * 9 * 6 * sizeof *results);
    if (x->grad != NULL) memcpy(results + N * 9 * 6, x->grad, N * 9 * 6 * sizeof *results);
    ts_tape_free(tape);
    return 2 * N * 9 * 6;
}

static int64_t run_training(ts_real *results) {
    ts_train_options o = ts_train_defaults();
    ts_error error = {.status = TS_OK};
    ts_train_test test = {0, 0};
    o.n = 30, o.d = 3, o.k = 2, o.batch = 5, o.eval_batches = 2;
    ts_trainer *t = ts_trainer_create(&o, &error);
    for (int s = 0; s < 2; s++) ts_trainer_step(t, &(ts_train_step){0}, &error);
    ts_trainer_test(t, &test, &error);
    const int64_t size = ts_params_size(t->model.params);
    memcpy(results, ts_params_values(t->model.params), (size_t)size * sizeof *results);
    results[size] = (ts_real)test.relative;
    ts_trainer_free(t);
    const ts_task_spec spec = {.n = 20, .d = 3, .k = 2, .scale = TS_TASK_SCALE};
    ts_task_batch(&spec, 1, 0, 0, 5, results + size + 1, NULL, &error);
    return size + 1 + 5 * 20 * 3;
}

/* The models and their plain algorithms. */
static int64_t run_models(ts_real *results) {
    int64_t n = 0;
    for (int i = 0; i < ts_verify_count(); i += 5) {
        ts_verify_result result;
        results[n++] = (ts_real)ts_verify_run(i, true, 1, &result);
    }
    return n;
}

static int64_t run_all(ts_real *results) {
    int64_t n = run_ops(results);
    n += run_training(results + n);
    return n + run_models(results + n);
}

/* ---- children ------------------------------------------------------------------------------------------------ */

enum { SAME = 0, DIFFERENT = 3, PATIENCE = 120 /* seconds, of which some are needed */ };

/* A child that waits for ever is ended. Check's own answer to the alarm would end the parent as well. */
static void be_patient(void) {
    signal(SIGALRM, SIG_DFL);
    alarm(PATIENCE);
}

/* What a child says with its exit code; minus the signal that ended it. */
static int answer_of(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return DIFFERENT;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* In a child, and in a child of that, and so on. No assertion may fail within: it would return to Check. */
static int compare_in_children(int generations, const ts_real *right, int64_t n) {
    const pid_t child = fork();
    if (child != 0) return answer_of(child);
    be_patient();
    two_threads(); /* which it may ask for, and not get */
    ts_real *own = calloc(RESULTS, sizeof *own);
    const bool same = own != NULL && run_all(own) == n && memcmp(own, right, (size_t)n * sizeof *own) == 0;
    free(own);
    _exit(!same ? DIFFERENT : generations > 1 ? compare_in_children(generations - 1, right, n) : SAME);
}

/* Comes first: this process has had no threads yet. */
START_TEST(a_child_forked_before_has_threads_of_its_own) {
#ifdef _OPENMP
    const pid_t child = fork();
    if (child == 0) {
        int threads = 0;
        be_patient();
        two_threads();
#pragma omp parallel if (ts_worth_parallel(1)) reduction(+ : threads)
        threads += 1;
        _exit(ts_max_threads() == 2 && threads == 2 ? SAME : DIFFERENT);
    }
    ck_assert_int_eq(answer_of(child), SAME);
#else
    skip_test("no OpenMP");
#endif
}
END_TEST

START_TEST(a_child_forked_afterwards_works_alone) {
    static ts_real right[RESULTS];
    two_threads();
    const int64_t n = run_all(right);
    ck_assert_int_lt(n, RESULTS);
    ck_assert_int_eq(compare_in_children(2, right, n), SAME);
    ck_assert(run_all(right) == n);
#ifdef _OPENMP
    ck_assert_int_eq(ts_max_threads(), 2); /* the parent keeps its own */
#endif
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    ts_parallel_cutoff = 0;
    tcase_add_test(tests, a_child_forked_before_has_threads_of_its_own);
    tcase_add_test(tests, a_child_forked_afterwards_works_alone);
    return run_case("fork", tests);
}
