#include "tape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tape_parts.h"

ts_tape *ts_tape_create(ts_tape_mode mode) {
    ts_tape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) return NULL;
    tape->mode = mode;
    tape->arena = ts_arena_create();
    tape->nan_value = (ts_real)NAN;
    tape->failed = (ts_tensor){.data = &tape->nan_value};
    if (tape->arena != NULL) return tape;
    free(tape);
    return NULL;
}

void ts_tape_free(ts_tape *tape) {
    if (tape == NULL) return;
    ts_arena_free(tape->arena);
    free(tape->scratch);
    free(tape);
}

void ts_tape_reset(ts_tape *tape) {
    ts_arena_reset(tape->arena);
    tape->last = NULL;
    tape->error = (ts_error){.status = TS_OK};
}

const char *ts_tape_error(const ts_tape *tape) {
    return tape->error.status == TS_OK ? NULL : tape->error.text;
}

ts_status ts_tape_status(const ts_tape *tape) {
    return tape->error.status;
}

size_t ts_tape_bytes(const ts_tape *tape) {
    return ts_arena_peak(tape->arena) + tape->scratch_bytes;
}

/* ---- failures ------------------------------------------------------------------------------------------------ */

ts_tensor *ts_fail(ts_tape *tape, ts_status status, const char *format, ...) {
    char text[sizeof tape->error.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ts_error_set(&tape->error, status, "%s", text);
    return &tape->failed;
}

void *ts_tape_take(ts_tape *tape, size_t bytes) {
    if (tape->error.status != TS_OK) return NULL;
    void *memory = ts_arena_take(tape->arena, bytes);
    if (memory == NULL) ts_fail(tape, TS_ERROR_MEMORY, "out of memory: %zu bytes more", bytes);
    return memory;
}

/* ---- tensors ------------------------------------------------------------------------------------------------- */

/* A tensor around `data`, or around memory of the tape when data is NULL. NULL after a failure. */
static ts_tensor *tensor_create(ts_tape *tape, ts_shape shape, ts_real *data) {
    char text[TS_SHAPE_TEXT];
    if (!ts_shape_is_valid(&shape)) {
        ts_fail(tape, TS_ERROR_SHAPE, "%s is not a shape", ts_shape_text(&shape, text));
        return NULL;
    }
    ts_tensor *t = ts_tape_take(tape, sizeof *t);
    if (t != NULL && data == NULL) data = ts_tape_take(tape, (size_t)ts_size(&shape) * sizeof *data);
    if (t == NULL || data == NULL) return NULL;
    *t = (ts_tensor){.shape = shape, .data = data};
    return t;
}

ts_tensor *ts_leaf(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad) {
    ts_tensor *t = tensor_create(tape, shape, data);
    if (t == NULL) return &tape->failed;
    t->is_leaf = true;
    t->grad = tape->mode == TS_RECORD ? grad : NULL;
    t->wants_grad = t->grad != NULL;
    return t;
}

ts_tensor *ts_borrow(ts_tape *tape, ts_shape shape, const ts_real *data) {
    return ts_leaf(tape, shape, (ts_real *)(uintptr_t)data, NULL); /* without a gradient nothing writes to it */
}

ts_tensor *ts_constant(ts_tape *tape, ts_shape shape, const ts_real *values) {
    ts_tensor *t = ts_leaf(tape, shape, NULL, NULL);
    if (t == &tape->failed) return t;
    memset(t->data, 0, (size_t)ts_size(&shape) * sizeof *values);
    if (values != NULL) memcpy(t->data, values, (size_t)ts_size(&shape) * sizeof *values);
    return t;
}

ts_tensor *ts_variable(ts_tape *tape, ts_shape shape, const ts_real *values) {
    ts_tensor *t = ts_constant(tape, shape, values);
    if (t != &tape->failed) t->wants_grad = tape->mode == TS_RECORD;
    return t;
}

/* ---- applying an op ------------------------------------------------------------------------------------------ */

static bool reserve_scratch(ts_tape *tape, ts_node *node) {
    const size_t bytes = node->op->scratch == NULL ? 0 : node->op->scratch(node);
    if (bytes > tape->scratch_bytes) {
        free(tape->scratch);
        tape->scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
        tape->scratch_bytes = tape->scratch == NULL ? 0 : bytes;
        if (tape->scratch == NULL)
            ts_fail(tape, TS_ERROR_MEMORY, "%s: out of memory: %zu bytes", node->op->name, bytes);
    }
    node->scratch = tape->scratch;
    return tape->error.status == TS_OK;
}

/* Copies what the caller handed over, so that nothing of it has to outlive the call. */
static bool node_fill(ts_tape *tape, ts_node *node, const void *attr, int n, ts_tensor *const in[]) {
    node->in = ts_tape_take(tape, (size_t)n * sizeof(ts_tensor *));
    void *copy = ts_tape_take(tape, node->op->attr_size);
    if (node->in == NULL || copy == NULL) return false;
    memcpy(node->in, in, (size_t)n * sizeof(ts_tensor *));
    if (node->op->attr_size > 0) memcpy(copy, attr, node->op->attr_size);
    node->attr = node->op->attr_size > 0 ? copy : NULL;
    return true;
}

static void run(const ts_tape *tape, const ts_node *node, ts_pass *pass) {
    tape->observer == NULL ? pass(node) : tape->observer(tape->observing, node, pass);
}

ts_tensor *ts_apply(ts_tape *tape, const ts_op *op, const void *attr, int n, ts_tensor *const in[]) {
    if (tape->error.status != TS_OK) return &tape->failed;
    if (n < op->min_in || n > op->max_in)
        return ts_fail(tape, TS_ERROR_USAGE, "%s: %d inputs given, %d to %d taken", op->name, n, op->min_in,
                       op->max_in);

    for (int i = 0; i < n; i++)
        if (in[i] == NULL) return ts_fail(tape, TS_ERROR_USAGE, "%s: input %d is NULL", op->name, i);
    ts_node *node = ts_tape_take(tape, sizeof *node);
    if (node == NULL) return &tape->failed;
    *node = (ts_node){.op = op, .n_in = n, .error = &tape->error};
    if (!node_fill(tape, node, attr, n, in)) return &tape->failed;

    ts_shape shape = TS_SCALAR;
    if (op->shape(node, &shape) != TS_OK) return &tape->failed;
    node->out = tensor_create(tape, shape, NULL);
    if (node->out == NULL) return &tape->failed;
    for (int i = 0; i < n; i++)
        if (in[i]->wants_grad && !(op->constant_in >> i & 1u)) node->out->wants_grad = true;

    if (node->out->wants_grad && op->saved != NULL && op->saved(node) > 0) {
        node->saved = ts_tape_take(tape, op->saved(node));
        if (node->saved == NULL) return &tape->failed;
    }
    if (!reserve_scratch(tape, node)) return &tape->failed;
    run(tape, node, op->forward);
    if (tape->mode == TS_RECORD) {
        node->previous = tape->last;
        tape->last = node;
    }
    return node->out;
}

/* ---- the backward pass --------------------------------------------------------------------------------------- */

/* Sees that a tensor that is reached has a gradient buffer. One that holds nothing yet is filled with zeros, or with a
 * `bit` left to the op, which that is added to *fresh for. */
static bool reach(ts_tape *tape, ts_tensor *t, unsigned bit, unsigned *fresh) {
    const size_t bytes = (size_t)ts_size(&t->shape) * sizeof *t->grad;
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

ts_status ts_backward_from(ts_tape *tape, ts_tensor *out, const ts_real *upstream) {
    if (tape->error.status != TS_OK) return tape->error.status;
    if (!out->wants_grad)
        return ts_error_set(&tape->error, TS_ERROR_USAGE,
                            "backward: the tensor was not computed from a variable or parameter");
    for (ts_node *node = tape->last; node != NULL; node = node->previous) {
        node->out->reached = false;
        for (int i = 0; i < node->n_in; i++) node->in[i]->reached = false;
    }
    out->reached = false;
    if (!reach(tape, out, 0, NULL)) return tape->error.status;
    const int64_t size = ts_size(&out->shape);
    for (int64_t i = 0; i < size; i++) out->grad[i] += upstream[i];

    for (ts_node *node = tape->last; node != NULL; node = node->previous) {
        if (!node->out->reached) continue;
        if (!reach_inputs(tape, node) || !reserve_scratch(tape, node)) return tape->error.status;
        run(tape, node, node->op->backward);
    }
    return TS_OK;
}

ts_status ts_backward(ts_tape *tape, ts_tensor *loss) {
    const ts_real one = 1;
    char text[TS_SHAPE_TEXT];
    if (tape->error.status == TS_OK && ts_size(&loss->shape) != 1)
        ts_fail(tape, TS_ERROR_SHAPE, "backward: the loss must hold one element, its shape is %s",
                ts_shape_text(&loss->shape, text));
    return ts_backward_from(tape, loss, &one);
}

/* ---- scopes -------------------------------------------------------------------------------------------------- */

ts_arena_mark ts_scope_begin(ts_tape *tape) {
    return ts_arena_position(tape->arena);
}

ts_tensor *ts_scope_end(ts_tape *tape, ts_arena_mark scope, ts_tensor *keep) {
    if (tape->mode == TS_RECORD || tape->error.status != TS_OK) return keep;
    const ts_tensor copy = *keep;
    ts_real *data = ts_arena_rewind(tape->arena, scope, copy.data, (size_t)ts_size(&copy.shape) * sizeof *copy.data);
    ts_tensor *t = data == NULL ? NULL : ts_tape_take(tape, sizeof *t);
    if (t == NULL) return ts_fail(tape, TS_ERROR_MEMORY, "out of memory at the end of a scope");
    *t = copy;
    t->data = data;
    return t;
}
