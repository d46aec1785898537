/* gradcheck.h: tests of gradients, which compare the backward pass with numeric derivatives.
 *
 * The function's output is multiplied by random upstream weights and summed (a plain sum would hide errors: that of a
 * softmax is constant). Each derivative is a five-point difference at two step sizes, at 8 to 40 evaluations per input
 * element. Where the two disagree the element lies at a kink and is skipped; skipping more than a tenth is a failure.
 * Meant for the double build (-DTS_DOUBLE), which reaches errors of 1e-7; in float expect 1e-2. */
#ifndef TS_GRADCHECK_H
#define TS_GRADCHECK_H

#include "tape.h"

/* Computes an output from the inputs in[]; must be a pure function of their values. */
typedef ts_tensor *(*ts_function)(ts_tape *tape, ts_tensor *const in[], void *context);

typedef struct ts_gradcheck_report {
    double worst; /* largest |analytic - numeric| / max(|analytic|, |numeric|, rms of the input's gradient, 1e-3) */
    int input;    /* the input and element of the worst error, and both values there */
    int64_t element;
    double analytic, numeric;
    int64_t checked, skipped;
    char text[400]; /* why it failed, or "" */
} ts_gradcheck_report;

/* Checks the gradients with respect to the inputs i with wants[i] (NULL: all), at values[i] of shape shapes[i]. TS_OK
 * when report->worst <= tolerance, TS_ERROR_VALUE when it is not or is NaN; else the function's own failure. n <= 16.
 */
ts_status ts_gradcheck(ts_function function, void *context, int n, const ts_shape *shapes, const ts_real *const *values,
                       const bool *wants, uint64_t seed, double tolerance, ts_gradcheck_report *report);

/* The generic test of an op, on one of its cases with random inputs. First a child process tries whether the op's
 * backward pass writes gradients that are NULL because they are not wanted, the commonest mistake; the report says for
 * which input. Then a second backward pass must double the gradients of leaves, ts_zero_upstream_check must pass, and
 * the gradients must be right for every subset of the differentiable inputs, and with inputs of equal shape aliased.
 * A case of kind TS_CASE_REFUSED must instead fail with a message that begins with the op's name. The report covers all
 * these checks: how many numbers they compared, and the worst error. */
ts_status ts_op_check(const ts_op *op, const ts_op_case *test, uint64_t seed, double tolerance,
                      ts_gradcheck_report *report);

/* The part of ts_op_check on zero upstream gradients (upstream.h), for a case that is not refused. With an upstream of
 * zeros all gradients must be exactly 0, on inputs that hold 0, infinities, NaN, the largest numbers and the smallest.
 * And when one element of an input is such a number, and exactly the outputs that depend on it have an upstream of 0,
 * its gradient must be 0 and all others what they are when it is an ordinary number (not for TS_CASE_SURROGATE). Tries
 * a few elements of every input. */
ts_status ts_zero_upstream_check(const ts_op *op, const ts_op_case *test, uint64_t seed, ts_gradcheck_report *report);

/* An observer (ts_tape_observe) that fills uninitialised gradients (node->fresh) with 1000, which exposes an op that
 * should assign to them but leaves them alone or adds to them. */
void ts_poison_fresh(void *context, const ts_node *node, ts_pass *pass);

/* Random inputs of a case: uniform in its range, and rounded to float so that both precisions see the same numbers. */
void ts_op_case_input(const ts_op_case *test, int input, uint64_t seed, ts_real *values);

#endif
