/* tape.c: tensors, the application of ops, the backward pass and scopes (tape.h). */
#include "tape.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tape_parts.h"

/* A new number at every call. In steps of 2^32 / golden ratio, so that memory without a tensor (counts, numbers,
 * addresses) hardly ever matches a generation. */
static uint32_t new_generation(void) {
    static _Atomic uint32_t last;
    const uint32_t step = 0x9e3779b9u;
    return atomic_fetch_add_explicit(&last, step, memory_order_relaxed) + step;
}

static bool is_asked_to_check(void) {
    const char *word = getenv("TESSERA_CHECK");
    return word != NULL && *word != '\0' && strcmp(word, "0") != 0;
}

ts_tape *ts_tape_create(ts_tape_mode mode) {
    enum { CHUNK_BYTES = 1 << 18, TENSORS_BYTES = 1 << 14 };
    ts_tape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) return NULL;
    tape->mode = mode;
    tape->generation = new_generation();
    tape->nan_value = (ts_real)NAN;
    tape->failed = (ts_tensor){.data = &tape->nan_value};
    tape->checks = is_asked_to_check();
    tape->arena = ts_arena_create(CHUNK_BYTES);
    for (int i = 0; i < 2; i++) tape->tensors[i] = ts_arena_create(TENSORS_BYTES);
    if (tape->arena != NULL && tape->tensors[0] != NULL && tape->tensors[1] != NULL) {
        if (!tape->checks) return tape;
        ts_arena_spoil(tape->arena);
        for (int i = 0; i < 2; i++) ts_arena_spoil(tape->tensors[i]);
        return tape;
    }
    ts_tape_free(tape);
    return NULL;
}

void ts_tape_free(ts_tape *tape) {
    if (tape == NULL) return;
    for (int i = 0; i < 2; i++) ts_arena_free(tape->tensors[i]);
    ts_arena_free(tape->arena);
    free(tape->scratch);
    free(tape);
}

void ts_tape_reset(ts_tape *tape) {
    enum { KEPT_BYTES = 1 << 26 }; /* checking mode keeps ts_tensors of earlier generations up to this size */
    ts_arena_reset(tape->arena);
    tape->turn = !tape->turn;
    if (!tape->checks || ts_arena_held(tape->tensors[tape->turn]) > KEPT_BYTES)
        ts_arena_reset(tape->tensors[tape->turn]);
    tape->generation = new_generation();
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
    return ts_arena_peak(tape->arena) + ts_arena_peak(tape->tensors[0]) + ts_arena_peak(tape->tensors[1]) +
           tape->scratch_bytes;
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

/* Memory for a ts_tensor without its data. NULL after a failure. */
static ts_tensor *tensor_take(ts_tape *tape) {
    if (tape->error.status != TS_OK) return NULL;
    ts_tensor *t = ts_arena_take(tape->tensors[tape->turn], sizeof *t);
    if (t == NULL) ts_fail(tape, TS_ERROR_MEMORY, "out of memory for a tensor");
    return t;
}

/* A tensor with this data, or with data taken from the tape when it is NULL. NULL after a failure. */
static ts_tensor *tensor_create(ts_tape *tape, ts_shape shape, ts_real *data) {
    char text[TS_SHAPE_TEXT];
    if (!ts_shape_is_valid(&shape)) {
        ts_fail(tape, TS_ERROR_SHAPE, "%s is not a shape", ts_shape_text(&shape, text));
        return NULL;
    }
    ts_tensor *t = tensor_take(tape);
    if (t != NULL && data == NULL) data = ts_tape_take(tape, (size_t)ts_size(&shape) * sizeof *data);
    if (t == NULL || data == NULL) return NULL;
    *t = (ts_tensor){.shape = shape, .data = data, .generation = tape->generation};
    return t;
}

/* As ts_leaf, but takes data from the tape when it is NULL. */
static ts_tensor *leaf_create(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad) {
    ts_tensor *t = tensor_create(tape, shape, data);
    if (t == NULL) return &tape->failed;
    t->is_leaf = true;
    t->grad = tape->mode == TS_RECORD ? grad : NULL;
    t->wants_grad = t->grad != NULL;
    return t;
}

ts_tensor *ts_leaf(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad) {
    char text[TS_SHAPE_TEXT];
    if (data == NULL && ts_shape_is_valid(&shape) && ts_size(&shape) > 0)
        return ts_fail(tape, TS_ERROR_USAGE, "a leaf of shape %s is given NULL for its data",
                       ts_shape_text(&shape, text));
    return leaf_create(tape, shape, data, grad);
}

ts_tensor *ts_borrow(ts_tape *tape, ts_shape shape, const ts_real *data) {
    return ts_leaf(tape, shape, (ts_real *)(uintptr_t)data, NULL); /* no op writes to a leaf's data */
}

ts_tensor *ts_constant(ts_tape *tape, ts_shape shape, const ts_real *values) {
    ts_tensor *t = leaf_create(tape, shape, NULL, NULL);
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

/* Refuses a tensor that the tape cannot use. The message says that `what` was given it, as its input i unless i < 0. */
static void refuse_tensor(ts_tape *tape, const ts_tensor *t, const char *what, int i) {
    char which[32] = "the tensor";
    if (i >= 0) snprintf(which, sizeof which, "input %d", i);
    if (t == NULL)
        ts_fail(tape, TS_ERROR_USAGE, "%s: %s is NULL", what, which);
    else if (t == &tape->failed || ts_arena_holds(tape->tensors[0], t) || ts_arena_holds(tape->tensors[1], t))
        ts_fail(tape, TS_ERROR_USAGE, "%s: %s was made before the tape was reset%s", what, which,
                tape->mode == TS_RECORD ? "; a reset forgets all tensors" : ", or in a scope that ended");
    else
        ts_fail(tape, TS_ERROR_USAGE, "%s: %s belongs to another tape, or to one that was freed", what, which);
}

static inline bool is_usable(ts_tape *tape, const ts_tensor *t, const char *what, int i) {
    if (t != NULL && t->generation == tape->generation) return true;
    refuse_tensor(tape, t, what, i);
    return false;
}

/* ---- applying an op ------------------------------------------------------------------------------------------ */

enum { MOST_INPUTS = 32 }; /* sets of inputs are the bits of an unsigned */

/* Says why ts_apply cannot run the call. */
static void refuse_call(ts_tape *tape, const ts_op *op, const void *attr, int n) {
    const char *name = op == NULL || op->name == NULL ? "ts_apply" : op->name;
    if (op == NULL)
        ts_fail(tape, TS_ERROR_USAGE, "ts_apply: the op is NULL");
    else if (op->name == NULL || op->shape == NULL || op->forward == NULL)
        ts_fail(tape, TS_ERROR_USAGE, "%s: the op's descriptor has no %s", name,
                op->name == NULL    ? "name"
                : op->shape == NULL ? "shape function"
                                    : "forward function");
    else if (n < op->min_in || n > op->max_in || n < 0 || n > MOST_INPUTS)
        ts_fail(tape, TS_ERROR_USAGE, "%s: %d inputs given, %d to %d taken", name, n, op->min_in,
                op->max_in < MOST_INPUTS ? op->max_in : MOST_INPUTS);
    else if (attr == NULL && op->attr_size > 0)
        ts_fail(tape, TS_ERROR_USAGE, "%s: its attributes, %zu bytes, are NULL", name, op->attr_size);
    else
        ts_fail(tape, TS_ERROR_USAGE, "%s: the list of inputs is NULL", name);
}

static bool is_sound(ts_tape *tape, const ts_op *op, const void *attr, int n, ts_tensor *const in[]) {
    if (op == NULL || op->name == NULL || op->shape == NULL || op->forward == NULL || n < op->min_in ||
        n > op->max_in || n < 0 || n > MOST_INPUTS || (attr == NULL && op->attr_size > 0) || (in == NULL && n > 0)) {
        refuse_call(tape, op, attr, n);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (!is_usable(tape, in[i], op->name, i)) return false;
    return true;
}

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
    node->out = tensor_create(tape, shape, NULL);
    if (node->out == NULL) return &tape->failed;
    for (int i = 0; i < n; i++)
        if (in[i]->wants_grad && !(op->constant_in >> i & 1u)) node->out->wants_grad = true;

    if (node->out->wants_grad && op->saved != NULL && op->saved(node) > 0) {
        node->saved = ts_tape_take(tape, op->saved(node));
        if (node->saved == NULL) return &tape->failed;
    }
    if (!reserve_scratch(tape, node)) return &tape->failed;
    tape->checks ? ts_tape_check_forward(tape, node) : ts_tape_run(tape, node, op->forward);
    if (tape->error.status != TS_OK) return &tape->failed;
    if (tape->mode == TS_RECORD) {
        node->previous = tape->last;
        tape->last = node;
    }
    return node->out;
}

/* ---- the backward pass --------------------------------------------------------------------------------------- */

/* Marks a tensor as reached and gives it a gradient buffer. A buffer that holds nothing yet is filled with zeros, or,
 * if the op is to assign to it, left alone: then `bit` is not 0 and is added to *fresh. */
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

/* The backward pass of one node; the gradient of its output is complete. */
static bool node_backward(ts_tape *tape, ts_node *node) {
    if (node->op->backward == NULL) {
        ts_fail(tape, TS_ERROR_USAGE, "%s: a gradient is asked of it, and it has no backward function", node->op->name);
        return false;
    }
    if (!reach_inputs(tape, node) || !reserve_scratch(tape, node)) return false;
    tape->checks ? ts_tape_check_backward(tape, node) : ts_tape_run(tape, node, node->op->backward);
    return tape->error.status == TS_OK;
}

ts_status ts_backward_from(ts_tape *tape, ts_tensor *out, const ts_real *upstream) {
    if (tape->error.status != TS_OK || !is_usable(tape, out, "backward", -1)) return tape->error.status;
    if (upstream == NULL) return ts_error_set(&tape->error, TS_ERROR_USAGE, "backward: the upstream gradient is NULL");
    if (!out->wants_grad)
        return ts_error_set(&tape->error, TS_ERROR_USAGE,
                            tape->mode == TS_INFER
                                ? "backward: the tape only infers (TS_INFER), it keeps no graph"
                                : "backward: the tensor was not computed from a variable or parameter");
    for (ts_node *node = tape->last; node != NULL; node = node->previous) {
        node->out->reached = false;
        for (int i = 0; i < node->n_in; i++) node->in[i]->reached = false;
    }
    out->reached = false;
    if (!reach(tape, out, 0, NULL)) return tape->error.status;
    const int64_t size = ts_size(&out->shape);
    for (int64_t i = 0; i < size; i++) out->grad[i] += upstream[i];

    for (ts_node *node = tape->last; node != NULL; node = node->previous)
        if (node->out->reached && !node_backward(tape, node)) return tape->error.status;
    return TS_OK;
}

ts_status ts_backward(ts_tape *tape, ts_tensor *loss) {
    const ts_real one = 1;
    char text[TS_SHAPE_TEXT];
    if (tape->error.status == TS_OK && is_usable(tape, loss, "backward", -1) && ts_size(&loss->shape) != 1)
        ts_fail(tape, TS_ERROR_SHAPE, "backward: the loss must hold one element, its shape is %s",
                ts_shape_text(&loss->shape, text));
    return ts_backward_from(tape, loss, &one);
}

/* ---- scopes -------------------------------------------------------------------------------------------------- */

ts_scope ts_scope_begin(ts_tape *tape) {
    return (ts_scope){ts_arena_position(tape->arena), ts_arena_position(tape->tensors[tape->turn]), tape->generation};
}

ts_tensor *ts_scope_end(ts_tape *tape, ts_scope scope, ts_tensor *keep) {
    if (tape->mode == TS_RECORD || tape->error.status != TS_OK) return keep;
    if (scope.generation != tape->generation)
        return ts_fail(tape, TS_ERROR_USAGE, "a scope ends that was begun before the tape was reset, or on another");
    if (!is_usable(tape, keep, "the end of a scope", -1)) return &tape->failed;
    const ts_tensor copy = *keep;
    ts_real *data = ts_arena_rewind(tape->arena, scope.memory, copy.data, (size_t)ts_size(&copy.shape) * sizeof *data);
    ts_arena_rewind(tape->tensors[tape->turn], scope.tensors, NULL, 0);
    ts_tensor *t = data == NULL ? NULL : tensor_take(tape);
    if (t == NULL) return ts_fail(tape, TS_ERROR_MEMORY, "out of memory at the end of a scope");
    *t = copy;
    t->data = data;
    return t;
}
