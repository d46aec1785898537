/* gradcheck.h: are the gradients right? Compares the backward pass with numeric derivatives.
 *
 * The function's output is multiplied with random upstream weights and summed (a plain sum would hide errors: that of a
 * softmax is constant). Each derivative is a five-point difference at two step sizes; where they disagree the point
 * lies at a kink and is skipped, and more than a tenth of points skipped is a failure. Meant for the double build
 * (-DTS_DOUBLE), where 1e-7 is reached; in float expect 1e-2. */
#ifndef TS_GRADCHECK_H
#define TS_GRADCHECK_H

#include "tape.h"

/* Computes an output from inputs in[]; must be a pure function of their values. */
typedef ts_tensor *(*ts_function)(ts_tape *tape, ts_tensor *const in[], void *context);

typedef struct ts_gradcheck_report {
    double worst; /* largest |analytic - numeric| / max(|analytic|, |numeric|, rms of the input's gradient, 1e-3) */
    int input;    /* where it was: input, element, and both values */
    int64_t element;
    double analytic, numeric;
    int64_t checked, skipped;
    char text[400]; /* why it failed, or "" */
} ts_gradcheck_report;

/* Checks the gradients with respect to the inputs i that have wants[i] (NULL: all), at values[i] of shapes[i]. TS_OK
 * when report->worst <= tolerance; TS_ERROR_VALUE when not (NaN is not); else the function's own failure. n <= 16. */
ts_status ts_gradcheck(ts_function function, void *context, int n, const ts_shape *shapes, const ts_real *const *values,
                       const bool *wants, uint64_t seed, double tolerance, ts_gradcheck_report *report);

/* The generic test of an op: runs one of its cases on random inputs; gradients for every subset of its differentiable
 * inputs, with inputs of equal shape aliased, and after a second backward pass (leaves add up, exactly twice); then
 * ts_zero_upstream_check. A case of kind TS_CASE_REFUSED must fail with a message that names the op. The report is of
 * all these checks: how many numbers they compared, and the worst. Before, a child process tries whether the op's
 * backward pass writes gradients that are NULL because nobody wants them, the commonest mistake, and the report says
 * for which input. */
ts_status ts_op_check(const ts_op *op, const ts_op_case *test, uint64_t seed, double tolerance,
                      ts_gradcheck_report *report);

/* Part of that, of a case that is not refused: a gradient that nobody asks for is 0 (TS_ASKED, op.h). With an upstream
 * of zeros all gradients must be exactly 0, on inputs that hold 0, infinities, NaN, the largest numbers and the
 * smallest. And where one element of an input is such a number, and only the outputs that it moves have an upstream of
 * 0, its gradient must be 0 and all others what they are when it is an ordinary number (not for TS_CASE_SURROGATE).
 * Tries a few elements of every input. */
ts_status ts_zero_upstream_check(const ts_op *op, const ts_op_case *test, uint64_t seed, ts_gradcheck_report *report);

/* An observer (ts_tape_observe) that puts 1000 wherever a gradient holds nothing yet: an op that should assign and
 * leaves or adds to it is found out. */
void ts_spoil_fresh(void *context, const ts_node *node, ts_pass *pass);

/* Random inputs of a case: uniform in its range, rounded to float so that both precisions see the same numbers. */
void ts_op_case_input(const ts_op_case *test, int input, uint64_t seed, ts_real *values);

#endif
