/* tape_apply.c: applying an op: the node, its output, the forward pass. */
#include <string.h>

#include "tape.h"
#include "tape_parts.h"

static bool is_sound(ts_tape *tape, const ts_op *op, const void *attr, int n, ts_tensor *const in[]) {
    if (op == NULL || op->name == NULL || op->shape == NULL || op->forward == NULL || n < op->min_in ||
        n > op->max_in || n < 0 || n > TS_MOST_INPUTS || (attr == NULL && op->attr_size > 0) || (in == NULL && n > 0)) {
        ts_tape_refuse_call(tape, op, attr, n);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (!ts_tape_is_usable(tape, in[i], op->name, i)) return false;
    return true;
}

/* Copies the caller's arguments, so that none of them has to outlive the call. */
static bool node_fill(ts_tape *tape, ts_node *node, const void *attr, int n, ts_tensor *const in[]) {
    node->in = ts_tape_take(tape, (size_t)n * sizeof(ts_tensor *));
    void *copy = ts_tape_take(tape, node->op->attr_size);
    if (node->in == NULL || copy == NULL) return false;
    memcpy(node->in, in, (size_t)n * sizeof(ts_tensor *));
    if (node->op->attr_size > 0) memcpy(copy, attr, node->op->attr_size);
    node->attr = node->op->attr_size > 0 ? copy : NULL;
    return true;
}

ts_tensor *ts_apply(ts_tape *tape, const ts_op *op, const void *attr, int n, ts_tensor *const in[]) {
    if (tape->error.status != TS_OK || !is_sound(tape, op, attr, n, in)) return &tape->failed;
    ts_node *node = ts_tape_take(tape, sizeof *node);
    if (node == NULL) return &tape->failed;
    *node = (ts_node){.op = op, .n_in = n, .error = &tape->error};
    if (!node_fill(tape, node, attr, n, in)) return &tape->failed;

    ts_shape shape = TS_SCALAR;
    if (op->shape(node, &shape) != TS_OK) return &tape->failed;
    node->out = ts_tape_tensor(tape, shape, NULL);
    if (node->out == NULL) return &tape->failed;
    for (int i = 0; i < n; i++)
        if (in[i]->wants_grad && !(op->constant_in >> i & 1u)) node->out->wants_grad = true;

    if (node->out->wants_grad && op->saved != NULL && op->saved(node) > 0) {
        node->saved = ts_tape_take(tape, op->saved(node));
        if (node->saved == NULL) return &tape->failed;
    }
    if (!ts_tape_reserve_scratch(tape, node)) return &tape->failed;
    tape->checks ? ts_tape_check_forward(tape, node) : ts_tape_run(tape, node, op->forward);
    if (tape->error.status != TS_OK) return &tape->failed;
    if (tape->records) {
        node->previous = tape->last;
        tape->last = node;
    }
    return node->out;
}
