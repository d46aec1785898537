/* tape.h: the tape (Wengert list) of reverse-mode automatic differentiation.
 *
 * An op runs when it is called and appends one node to the tape. Calling order is therefore a topological order, and
 * the backward pass is a walk from the last node to the first: no sorting, no recursion.
 *
 * Ownership: a tape owns every tensor and buffer made through it, and ts_tape_reset releases them together while
 * keeping the memory; parameters and their gradients live outside (ts_leaf) and outlive tapes.
 * Errors: the tape keeps the first failure (op, shapes, reason); later ops do nothing and return a harmless NaN scalar;
 * ts_backward and ts_tape_error report it, and ts_tape_reset clears it.
 *
 *     ts_tape *tape = ts_tape_create(TS_RECORD);
 *     ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3});
 *     ts_tensor *y = ts_mul(tape, x, x);
 *     if (ts_backward(tape, y) != TS_OK) puts(ts_tape_error(tape));
 *     else printf("%g\n", x->grad[0]);             // 6
 *     ts_tape_free(tape);
 *
 * A tape is used by one thread at a time; its ops use all of OpenMP's threads, and give the same bits with any number
 * of them. In a child forked from a process that has threads, as this one has after its first large op, all work is
 * done by one thread (fork copies no others), with the same bits.
 *
 * The checking mode is for finding mistakes: a tape that is created while the environment has TESSERA_CHECK=1 takes
 * several times the time and memory, gives the same numbers, and fails
 *   - at the first op that makes a NaN of numbers, or an infinity of finite ones, in its forward or its backward pass,
 *     and at the first NaN that an op is given; the message has the op, its shapes, the place, and what its inputs
 * hold;
 *   - where the backward pass meets data that changed since an op used them (ts_leaf);
 *   - at tensors from before any reset (until 64 MB of them are kept), and mostly at those of a scope that ended;
 * without it tensors are refused as ts_tape_reset says. What is given back, and what an op leaves unwritten, holds NaN.
 */
#ifndef TS_TAPE_H
#define TS_TAPE_H

#include "arena.h"
#include "op.h"

typedef struct ts_tape ts_tape;

typedef enum ts_tape_mode {
    TS_RECORD, /* keeps the graph: ts_backward works */
    TS_INFER   /* keeps no graph: tensors want no gradients, and a scope gives its memory back when it ends */
} ts_tape_mode;

ts_tape *ts_tape_create(ts_tape_mode mode); /* NULL when out of memory */
void ts_tape_free(ts_tape *tape);           /* NULL is fine */

/* Forgets tensors, nodes and error, keeps the memory. Every pointer obtained through the tape becomes invalid. A tensor
 * from before the reset that is handed to an op, to the backward pass or to the end of a scope is refused until the
 * next reset; after that one its memory may be another tensor's, and is taken for it. Tensors of other tapes are
 * refused always, those of freed ones mostly. What reads an old tensor's data itself is not noticed: it finds other
 * numbers. */
void ts_tape_reset(ts_tape *tape);

const char *ts_tape_error(const ts_tape *tape); /* the first failure as one line, or NULL */
ts_status ts_tape_status(const ts_tape *tape);
size_t ts_tape_bytes(const ts_tape *tape); /* the most memory held so far */

/* ---- tensors ------------------------------------------------------------------------------------------------- */
/* Copies of the caller's values (NULL: zeros). A variable gets a gradient, a constant does not. */
ts_tensor *ts_variable(ts_tape *tape, ts_shape shape, const ts_real *values);
ts_tensor *ts_constant(ts_tape *tape, ts_shape shape, const ts_real *values);

/* No copy: `data`, and `grad` to which the backward pass ADDS, belong to the caller and must outlive the tape's use of
 * them. grad = NULL: no gradient wanted.
 *
 * Data that an op has used must not be changed before the last backward pass over it: that pass reads them again, and
 * would give wrong gradients without a word. Update parameters after ts_backward, then reset the tape and compute anew.
 * The same holds for the data of every other tensor. The checking mode, above, finds it. */
ts_tensor *ts_leaf(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad);
ts_tensor *ts_borrow(ts_tape *tape, ts_shape shape, const ts_real *data); /* read only, no gradient */

/* `bytes` that live until the reset, for arrays that an op's attributes point to; NULL after a failure. */
void *ts_tape_take(ts_tape *tape, size_t bytes);

/* ---- ops ----------------------------------------------------------------------------------------------------- */
/* Runs op on n inputs, 32 at most, and returns its output. `attr` (op->attr_size bytes) is copied. The output wants a
 * gradient when an input does, unless the tape only infers. */
ts_tensor *ts_apply(ts_tape *tape, const ts_op *op, const void *attr, int n, ts_tensor *const in[]);

/* Records a failure of the caller's own, as an op would. */
ts_tensor *ts_fail(ts_tape *tape, ts_status status, const char *format, ...) TS_PRINTF(3, 4);

/* ---- gradients ----------------------------------------------------------------------------------------------- */
/* Gradients of `loss`, which must hold one element, in every tensor it was computed from that wants one. Those of
 * computed tensors are fresh; those of leaves and variables add up over calls. */
ts_status ts_backward(ts_tape *tape, ts_tensor *loss);

/* The same from any tensor: gradients of sum(upstream * out); upstream has out's shape. */
ts_status ts_backward_from(ts_tape *tape, ts_tensor *out, const ts_real *upstream);

/* ---- scopes -------------------------------------------------------------------------------------------------- */
/* In TS_INFER mode everything made between begin and end is released at the end, except `keep`, whose new address is
 * returned. In TS_RECORD mode both do nothing. Scopes nest. */
typedef struct ts_scope {
    ts_arena_mark memory, tensors;
    uint32_t generation;
} ts_scope;
ts_scope ts_scope_begin(ts_tape *tape);
ts_tensor *ts_scope_end(ts_tape *tape, ts_scope scope, ts_tensor *keep);

/* ---- for tools ----------------------------------------------------------------------------------------------- */
/* The last node, from which node->previous walks the tape; NULL when empty. For tools that draw it. */
const ts_node *ts_tape_last(const ts_tape *tape);

/* For tools that measure or check: from here on `observer` is called in the place of every op's forward and backward,
 * and calls pass(node) itself. A pass equal to node->op->backward is a backward one. NULL: none. */
typedef void ts_tape_observer(void *context, const ts_node *node, ts_pass *pass);
void ts_tape_observe(ts_tape *tape, ts_tape_observer *observer, void *context);

#endif
