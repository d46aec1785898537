/* tape.h: the tape (Wengert list) of reverse-mode automatic differentiation.
 *
 * An op runs when it is called and appends one node to the tape. The order of calls is therefore a topological order,
 * and the backward pass walks from the last node to the first, without sorting or recursion.
 *
 * Ownership: a tape owns every tensor and buffer made through it; ts_tape_reset releases them together and keeps the
 * memory for reuse. Parameters and their gradients live outside the tape (ts_leaf) and outlive it.
 * Errors: the tape keeps the first failure (op, shapes, reason); later ops do nothing and return a harmless NaN scalar.
 * ts_backward and ts_tape_error report the failure, and ts_tape_reset clears it.
 *
 *     ts_tape *tape = ts_tape_create(TS_RECORD);
 *     ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3});
 *     ts_tensor *y = ts_mul(tape, x, x);
 *     if (ts_backward(tape, y) != TS_OK) puts(ts_tape_error(tape));
 *     else printf("%g\n", x->grad[0]);             // 6
 *     ts_tape_free(tape);
 *
 * Threads: a tape is used by one thread at a time. Its ops use all OpenMP threads and give the same bits with any
 * number of them. In a child forked from a process that has threads, for example after a large op, one thread does all
 * work, with the same bits: fork copies only the calling thread.
 *
 * Checking mode finds mistakes. A tape that is created while the environment has TESSERA_CHECK=1 gives the same
 * numbers, takes several times the time and memory, and fails
 *   - at the first op whose forward or backward pass makes a NaN from numbers or an infinity from finite numbers, and
 *     at the first NaN that an op is given; the message has the op, its shapes, the place and its inputs' values;
 *   - where the backward pass finds that data changed since an op used them (ts_leaf);
 *   - at tensors from before any reset (as long as 64 MB hold them), and mostly at those of a scope that has ended;
 *     without checking mode, tensors are refused as ts_tape_reset says.
 * In checking mode released memory, and output that an op leaves unwritten, holds NaN. */
#ifndef TS_TAPE_H
#define TS_TAPE_H

#include "arena.h"
#include "op.h"

typedef struct ts_tape ts_tape;

typedef enum ts_tape_mode {
    TS_RECORD, /* keeps the graph: ts_backward works */
    TS_INFER   /* keeps no graph: tensors want no gradients, and a scope releases its memory when it ends */
} ts_tape_mode;

ts_tape *ts_tape_create(ts_tape_mode mode); /* NULL when out of memory */
void ts_tape_free(ts_tape *tape);           /* tape may be NULL */

/* Forgets all tensors, nodes and the error, and keeps the memory. Every pointer obtained through the tape becomes
 * invalid. Ops, the backward pass and the end of a scope refuse a tensor from before the reset until the next reset;
 * after that one its memory may hold a new tensor, which is used instead. Tensors of other tapes are always refused,
 * those of freed tapes mostly. Code that reads an old tensor's data directly is not caught: it finds other numbers. */
void ts_tape_reset(ts_tape *tape);

const char *ts_tape_error(const ts_tape *tape); /* the first failure as one line, or NULL */
ts_status ts_tape_status(const ts_tape *tape);
bool ts_tape_records(const ts_tape *tape); /* is its mode TS_RECORD? */
size_t ts_tape_bytes(const ts_tape *tape); /* the most memory held so far */

/* ---- tensors ------------------------------------------------------------------------------------------------- */
/* Copies of the caller's values (NULL: zeros). A variable gets a gradient, a constant does not. */
ts_tensor *ts_variable(ts_tape *tape, ts_shape shape, const ts_real *values);
ts_tensor *ts_constant(ts_tape *tape, ts_shape shape, const ts_real *values);

/* No copy: `data`, and `grad` to which the backward pass ADDS, belong to the caller and must outlive the tape's use of
 * them. grad = NULL: no gradient is wanted.
 *
 * Data that an op has used must not change before the last backward pass over that op: the pass reads them again and
 * would silently give wrong gradients. Update parameters after ts_backward, then reset the tape and compute anew. The
 * same holds for the data of every other tensor. Checking mode, above, finds such changes. */
ts_tensor *ts_leaf(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad);
ts_tensor *ts_borrow(ts_tape *tape, ts_shape shape, const ts_real *data); /* read only, no gradient */

/* `bytes` of memory until the reset (or the end of a TS_INFER scope), for arrays that an op's attributes point to. NULL
 * after a failure. */
void *ts_tape_take(ts_tape *tape, size_t bytes);

/* ---- ops ----------------------------------------------------------------------------------------------------- */
/* Runs op on n inputs, at most 32, and returns its output. `attr` (op->attr_size bytes) is copied. The output wants a
 * gradient when an input outside op->constant_in does. */
ts_tensor *ts_apply(ts_tape *tape, const ts_op *op, const void *attr, int n, ts_tensor *const in[]);

/* Records a failure of the caller, and returns what a failed op returns. */
ts_tensor *ts_fail(ts_tape *tape, ts_status status, const char *format, ...) TS_PRINTF(3, 4);

/* ---- gradients ----------------------------------------------------------------------------------------------- */
/* Computes the gradient of `loss`, which must hold one element, with respect to every tensor that it was computed from
 * and that wants one. Gradients of computed tensors start afresh; those of leaves and variables add up over calls. */
ts_status ts_backward(ts_tape *tape, ts_tensor *loss);

/* The same from any tensor: the gradients of sum(upstream * out), where upstream has the shape of out. */
ts_status ts_backward_from(ts_tape *tape, ts_tensor *out, const ts_real *upstream);

/* ---- scopes -------------------------------------------------------------------------------------------------- */
/* In TS_INFER mode everything made between begin and end is released at the end, except `keep`, whose new address is
 * returned. In TS_RECORD mode both calls do nothing. Scopes nest. */
typedef struct ts_scope {
    ts_arena_mark memory, tensors;
    uint32_t generation;
} ts_scope;
ts_scope ts_scope_begin(ts_tape *tape);
ts_tensor *ts_scope_end(ts_tape *tape, ts_scope scope, ts_tensor *keep);

/* ---- for tools ----------------------------------------------------------------------------------------------- */
/* The last node; node->previous walks back from it. NULL when the tape is empty. For tools that draw the graph. */
const ts_node *ts_tape_last(const ts_tape *tape);

/* For tools that measure or check: from now on `observer` is called in place of every op's forward and backward pass,
 * and calls pass(node) itself. pass is node->op->backward in a backward pass. NULL removes the observer. */
typedef void ts_tape_observer(void *context, const ts_node *node, ts_pass *pass);
void ts_tape_observe(ts_tape *tape, ts_tape_observer *observer, void *context);

#endif
