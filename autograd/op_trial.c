/* op_trial.c: the trial's child process, and the parent that explains its end (op_trial.h). */
#include "op_trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- the child ----------------------------------------------------------------------------------------------- */

enum { BACKWARD = 0x80 }; /* before each pass the child reports the subset, with this bit for backward */

static void tell(int pipe_end, unsigned what) {
    const unsigned char byte = (unsigned char)what;
    const ssize_t written = write(pipe_end, &byte, 1);
    (void)written; /* fails only when the parent is gone */
}

static void run_subset(const ts_op *op, const ts_op_case *test, ts_real *const values[], unsigned subset,
                       int pipe_end) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return;
    ts_tensor *in[TS_CASE_INPUTS];
    for (int i = 0; i < test->n_in; i++)
        in[i] = subset >> i & 1u ? ts_variable(tape, test->in[i], values[i]) : ts_borrow(tape, test->in[i], values[i]);
    tell(pipe_end, subset);
    ts_tensor *out = ts_apply(tape, op, test->attr, test->n_in, in);
    const size_t size = (size_t)ts_shape_size(&out->shape);
    ts_real *upstream = ts_tape_take(tape, size * sizeof *upstream);
    if (upstream != NULL) memset(upstream, 0, size * sizeof *upstream);
    tell(pipe_end, subset | BACKWARD);
    if (upstream != NULL) ts_backward_from(tape, out, upstream);
    ts_tape_free(tape);
}

/* All inputs first, then all but one of them, then the rest, so that the first failure tells the input. */
static void run_subsets(const ts_op *op, const ts_op_case *test, ts_real *const values[], unsigned all, int pipe_end) {
    run_subset(op, test, values, all, pipe_end);
    for (int i = 0; i < test->n_in; i++)
        if (all >> i & 1u && all != 1u << i) run_subset(op, test, values, all & ~(1u << i), pipe_end);
    for (unsigned subset = 1; subset < all; subset++)
        if ((subset & ~all) == 0) run_subset(op, test, values, subset, pipe_end);
}

/* Signals end the child, without a core file; an op with its own parallel regions gets one thread (parallel.h); and an
 * alarm ends a child that hangs. */
static void prepare_child(void) {
    enum { PATIENCE = 60 }; /* seconds */
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    alarm(PATIENCE);
}

/* ---- the parent ---------------------------------------------------------------------------------------------- */

/* Writes what the child did last, and what to do about it. */
static void explain(const ts_op *op, unsigned all, int last, int status, char *text, size_t room) {
    const unsigned subset = (unsigned)last & ~(unsigned)BACKWARD, missing = all & ~subset;
    char end[100];
    if (WIFSIGNALED(status))
        snprintf(end, sizeof end, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(end, sizeof end, "ended with exit code %d", WEXITSTATUS(status));
    int input = 0;
    while (missing >> input > 1) input++;
    if (!(last & BACKWARD))
        snprintf(text, room, "forward: %s", end);
    else if (missing == 0 && op->constant_in == 0)
        snprintf(text, room, "backward: %s, though all gradients are wanted", end);
    else if (missing == 0)
        snprintf(text, room, "backward: %s; does it write the gradient of an input of constant_in? There is none", end);
    else if (missing == 1u << input)
        snprintf(text, room,
                 "backward: %s when input %d wants no gradient: ts_grad_of(node, %d) is NULL then, and must not be "
                 "written: if (ts_grad_of(node, %d) != NULL) ...",
                 end, input, input, input);
    else
        snprintf(text, room,
                 "backward: %s when several inputs want no gradient: ts_grad_of(node, i) is NULL then, and must not be "
                 "written",
                 end);
}

/* The last byte that the child wrote, or -1 if there is none. */
static int last_byte(int pipe_end) {
    int last = -1;
    unsigned char byte;
    while (read(pipe_end, &byte, 1) == 1) last = byte;
    return last;
}

ts_status ts_op_try(const ts_op *op, const ts_op_case *test, ts_real *const values[], char *text, size_t room) {
    const unsigned all = ((1u << test->n_in) - 1) & ~op->constant_in;
    int ends[2], status = 0;
    if (pipe(ends) != 0) return TS_OK;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        prepare_child();
        run_subsets(op, test, values, all, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    const int last = child > 0 ? last_byte(ends[0]) : -1;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || last < 0) return TS_OK;
    if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
        return TS_OK;
    explain(op, all, last, status, text, room);
    return TS_ERROR_VALUE;
}
