/* tape_backward.c: the backward pass: the nodes from last to first, each adding to the gradients of its inputs. */
#include <string.h>

#include "tape.h"
#include "tape_parts.h"

/* Marks a tensor as reached and gives it a gradient buffer. A buffer that holds nothing yet is filled with zeros, or,
 * if the op is to assign to it, left alone: then `bit` is not 0 and is added to *fresh. */
static bool reach(ts_tape *tape, ts_tensor *t, unsigned bit, unsigned *fresh) {
    const size_t bytes = (size_t)ts_shape_size(&t->shape) * sizeof *t->grad;
    const bool holds_nothing = !t->reached && (t->grad == NULL || !t->is_leaf);
    if (t->grad == NULL) t->grad = ts_tape_take(tape, bytes);
    t->reached = t->grad != NULL;
    if (t->reached && holds_nothing && bit == 0) memset(t->grad, 0, bytes);
    if (holds_nothing && bit != 0) *fresh |= bit;
    return t->reached;
}

static bool reach_inputs(ts_tape *tape, ts_node *node) {
    node->fresh = 0;
    for (int i = 0; i < node->n_in; i++) {
        const unsigned bit = 1u << i;
        const bool wanted = node->in[i]->wants_grad && !(node->op->constant_in & bit);
        if (wanted && !reach(tape, node->in[i], node->op->assigns_in & bit, &node->fresh)) return false;
    }
    return true;
}

/* The backward pass of one node whose output's gradient is complete. */
static bool node_backward(ts_tape *tape, ts_node *node) {
    if (node->op->backward == NULL) {
        ts_fail(tape, TS_ERROR_USAGE, "%s: a gradient is asked of it, and it has no backward function", node->op->name);
        return false;
    }
    if (!reach_inputs(tape, node) || !ts_tape_reserve_scratch(tape, node)) return false;
    tape->checks ? ts_tape_check_backward(tape, node) : ts_tape_run(tape, node, node->op->backward);
    return tape->error.status == TS_OK;
}

ts_status ts_backward_from(ts_tape *tape, ts_tensor *out, const ts_real *upstream) {
    if (tape->error.status != TS_OK || !ts_tape_is_usable(tape, out, "backward", -1)) return tape->error.status;
    if (upstream == NULL) return ts_error_set(&tape->error, TS_ERROR_USAGE, "backward: the upstream gradient is NULL");
    if (!out->wants_grad)
        return ts_error_set(&tape->error, TS_ERROR_USAGE,
                            !tape->records ? "backward: the tape only infers (TS_INFER), it keeps no graph"
                                           : "backward: the tensor was not computed from a variable or parameter");
    for (ts_node *node = tape->last; node != NULL; node = node->previous) {
        node->out->reached = false;
        for (int i = 0; i < node->n_in; i++) node->in[i]->reached = false;
    }
    out->reached = false;
    if (!reach(tape, out, 0, NULL)) return tape->error.status;
    const int64_t size = ts_shape_size(&out->shape);
    for (int64_t i = 0; i < size; i++) out->grad[i] += upstream[i];

    for (ts_node *node = tape->last; node != NULL; node = node->previous)
        if (node->out->reached && !node_backward(tape, node)) return tape->error.status;
    return TS_OK;
}

ts_status ts_backward(ts_tape *tape, ts_tensor *loss) {
    const ts_real one = 1;
    char text[TS_SHAPE_TEXT];
    if (tape->error.status == TS_OK && ts_tape_is_usable(tape, loss, "backward", -1) &&
        ts_shape_size(&loss->shape) != 1)
        ts_fail(tape, TS_ERROR_SHAPE, "backward: the loss must hold one element, its shape is %s",
                ts_shape_text(&loss->shape, text));
    return ts_backward_from(tape, loss, &one);
}
