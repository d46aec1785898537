/* op.h: what an operation is. One descriptor, in one file, holds everything about it; `ts_apply` runs it.
 *
 * To write your own: fill a `const ts_op`, write a two-line wrapper that calls ts_apply (tape.h). Nothing of the
 * library is touched; hand your op to ts_op_check (gradcheck.h) and it is tested as the built-in ones are.
 * examples/03_own_op.c does it. */
#ifndef TS_OP_H
#define TS_OP_H

#include <limits.h>

#include "rng.h"
#include "status.h"
#include "tensor.h"
#include "upstream.h"

struct ts_op;

/* As an axis: all of them. */
#define TS_ALL_AXES INT_MIN

/* One application of an op: a node of the tape. */
typedef struct ts_node {
    const struct ts_op *op;
    const void *attr; /* the op's attributes, attr_size bytes copied by the tape; NULL when attr_size is 0 */
    int n_in;
    ts_tensor **in;
    ts_tensor *out;
    void *saved;    /* op->saved bytes, written by forward for backward; NULL when no gradient will be asked */
    void *scratch;  /* op->scratch bytes for the duration of one forward or backward; contents undefined at entry */
    unsigned fresh; /* in backward: the inputs of op->assigns_in whose gradients hold nothing yet */
    ts_error *error;
    struct ts_node *previous; /* the tape, backwards */
    const ts_real **seen;     /* in checking mode: the data of each input and of the output, as forward left them */
} ts_node;

typedef void ts_pass(const ts_node *node); /* an op's forward or backward */

/* An input set the generic test runs the op on, in every dtype, every subset of differentiable inputs, aliased
 * inputs. A list of cases ends with one whose label is NULL. */
enum { TS_CASE_INPUTS = 5 };
typedef enum ts_case_kind {
    TS_CASE_SMOOTH = 0,    /* analytic gradient must equal the numeric one */
    TS_CASE_SURROGATE = 1, /* the gradient is not the derivative, on purpose (straight-through); only run */
    TS_CASE_REFUSED = 2    /* the shape rule must refuse it */
} ts_case_kind;
typedef struct ts_op_case {
    const char *label;
    int n_in;
    ts_shape in[TS_CASE_INPUTS];
    const void *attr;
    double low, high; /* inputs are uniform in [low, high); both 0: [-2, 2) */
    ts_case_kind kind;
    double float_tolerance; /* largest |float - double| / max(1, |double|); 0: 2e-5 */
} ts_op_case;

typedef struct ts_op {
    const char *name;
    int min_in, max_in;
    size_t attr_size;
    unsigned constant_in; /* bit i set: input i never gets a gradient (a mask) */
    /* bit i set: where bit i of node->fresh is, backward writes all of in[i]->grad instead of adding to it, which saves
     * filling it with zeros. Inputs, which may be one tensor, are written in ascending order, each before the next is
     * added to. */
    unsigned assigns_in;

    /* Infers the output's shape; refuses with ts_refuse. Looks at op, attr, in[]->shape only. */
    ts_status (*shape)(const ts_node *node, ts_shape *out);
    size_t (*saved)(const ts_node *node);   /* bytes kept from forward to backward; NULL: none */
    size_t (*scratch)(const ts_node *node); /* bytes of workspace, the larger of both passes; NULL: none */
    ts_pass *forward;                       /* writes every element of out->data; cannot fail */

    /* in[i]->grad += d(loss)/d(in[i]) for every input i, unless in[i]->grad is NULL: then nobody wants it. What no
     * element of the output asks for is 0, see upstream.h. NULL for an op that is used without gradients: ts_backward
     * refuses to pass through it. */
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
