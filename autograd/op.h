/* op.h: what an op is: one descriptor, in one file, holds everything about it, and ts_apply (tape.h) runs it.
 *
 * To write your own, fill in a `const ts_op` and write a two-line wrapper that calls ts_apply; no file of the library
 * changes. ts_op_check (gradcheck.h) tests your op as it tests the built-in ones. examples/03_own_op.c is an example.
 */
#ifndef TS_OP_H
#define TS_OP_H

#include <limits.h>

#include "rng.h"
#include "status.h"
#include "tensor.h"
#include "upstream.h"

struct ts_op;

/* As an axis argument: all axes. */
#define TS_ALL_AXES INT_MIN

/* One application of an op: a node of the tape. */
typedef struct ts_node {
    const struct ts_op *op;
    const void *attr; /* the op's attributes, attr_size bytes copied by the tape; NULL when attr_size is 0 */
    int n_in;
    ts_tensor **in;
    ts_tensor *out;
    void *saved;    /* op->saved bytes, written by forward for backward; NULL when the output wants no gradient */
    void *scratch;  /* op->scratch bytes for the duration of one forward or backward; contents undefined at entry */
    unsigned fresh; /* in backward: bit i set for an input of op->assigns_in whose gradient is still uninitialised */
    ts_error *error;
    struct ts_node *previous; /* the node before it on the tape */
    const ts_real **seen;     /* in checking mode: copies of all inputs and of the output, as forward left them */
} ts_node;

typedef void ts_pass(const ts_node *node); /* an op's forward or backward */

/* Inputs on which the generic test runs the op: in both precisions, with every subset of its differentiable inputs, and
 * with inputs of equal shape aliased. A list of cases ends with one whose label is NULL. */
enum { TS_CASE_INPUTS = 5 };
typedef enum ts_case_kind {
    TS_CASE_SMOOTH = 0,    /* the analytic gradient must equal the numeric one */
    TS_CASE_SURROGATE = 1, /* the gradient is deliberately not the derivative (straight-through) and not compared */
    TS_CASE_REFUSED = 2    /* the shape rule must refuse it */
} ts_case_kind;
typedef struct ts_op_case {
    const char *label;
    int n_in;
    ts_shape in[TS_CASE_INPUTS];
    const void *attr;
    double low, high; /* inputs are uniform in [low, high); both 0: [-2, 2) */
    ts_case_kind kind;
    double float_tolerance; /* bound on |float - double| / max(1, |double|); 0: 2e-5 */
} ts_op_case;

typedef struct ts_op {
    const char *name;
    int min_in, max_in;
    size_t attr_size;
    unsigned constant_in; /* bit i set: input i, such as a mask, never gets a gradient */
    /* Bit i set: if bit i of node->fresh is set, backward overwrites all of in[i]->grad instead of adding to it, which
     * saves filling it with zeros. Two inputs may be one tensor, so backward must go through the inputs in ascending
     * order and finish each gradient before it adds to the next. */
    unsigned assigns_in;

    /* Infers the output's shape, or refuses with ts_refuse. May read op, attr and in[]->shape only. */
    ts_status (*shape)(const ts_node *node, ts_shape *out);
    size_t (*saved)(const ts_node *node);   /* bytes kept from forward to backward; NULL: none */
    size_t (*scratch)(const ts_node *node); /* bytes of workspace that either pass needs; NULL: none */
    ts_pass *forward;                       /* writes every element of out->data; cannot fail */

    /* in[i]->grad += d(loss)/d(in[i]) for every input i; in[i]->grad is NULL when input i needs no gradient. An output
     * element whose upstream gradient is 0 adds exactly 0, see upstream.h. NULL for an op without gradients:
     * ts_backward refuses to pass through it. */
    ts_pass *backward;
    const ts_op_case *cases;
} ts_op;

/* Refuses the node: the message becomes "add [2,3] [4]: " followed by the reason. Returns `status`. */
ts_status ts_refuse(const ts_node *node, ts_status status, const char *format, ...) TS_PRINTF(3, 4);

/* The gradient buffer of input i, or NULL when that input needs none. */
static inline ts_real *ts_grad_of(const ts_node *node, int i) {
    return node->in[i]->grad;
}

#endif
