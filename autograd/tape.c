/* tape.c: a tape: its tensors, its failure, its scopes (tape.h). tape_apply.c applies ops, tape_backward.c
 * differentiates. */
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
    tape->records = mode == TS_RECORD;
    tape->generation = new_generation();
    tape->nan_value = (ts_real)NAN;
    tape->failed = (ts_tensor){.data = &tape->nan_value};
    tape->checks = is_asked_to_check();
    tape->arena = ts_arena_create(CHUNK_BYTES);
    for (int i = 0; i < 2; i++) tape->tensors[i] = ts_arena_create(TENSORS_BYTES);
    if (tape->arena != NULL && tape->tensors[0] != NULL && tape->tensors[1] != NULL) {
        if (!tape->checks) return tape;
        ts_arena_poison(tape->arena);
        for (int i = 0; i < 2; i++) ts_arena_poison(tape->tensors[i]);
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

ts_tensor *ts_tape_tensor(ts_tape *tape, ts_shape shape, ts_real *data) {
    char text[TS_SHAPE_TEXT];
    if (!ts_shape_is_valid(&shape)) {
        ts_fail(tape, TS_ERROR_SHAPE, "%s is not a shape", ts_shape_text(&shape, text));
        return NULL;
    }
    ts_tensor *t = tensor_take(tape);
    if (t != NULL && data == NULL) data = ts_tape_take(tape, (size_t)ts_shape_size(&shape) * sizeof *data);
    if (t == NULL || data == NULL) return NULL;
    *t = (ts_tensor){.shape = shape, .data = data, .generation = tape->generation};
    return t;
}

/* As ts_leaf, but takes data from the tape when it is NULL. */
static ts_tensor *leaf_create(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad) {
    ts_tensor *t = ts_tape_tensor(tape, shape, data);
    if (t == NULL) return &tape->failed;
    t->is_leaf = true;
    t->grad = tape->records ? grad : NULL;
    t->wants_grad = t->grad != NULL;
    return t;
}

ts_tensor *ts_leaf(ts_tape *tape, ts_shape shape, ts_real *data, ts_real *grad) {
    char text[TS_SHAPE_TEXT];
    if (data == NULL && ts_shape_is_valid(&shape) && ts_shape_size(&shape) > 0)
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
    memset(t->data, 0, (size_t)ts_shape_size(&shape) * sizeof *values);
    if (values != NULL) memcpy(t->data, values, (size_t)ts_shape_size(&shape) * sizeof *values);
    return t;
}

ts_tensor *ts_variable(ts_tape *tape, ts_shape shape, const ts_real *values) {
    ts_tensor *t = ts_constant(tape, shape, values);
    if (t != &tape->failed) t->wants_grad = tape->records;
    return t;
}

/* Memory for a node's workspace, which all nodes share. */
bool ts_tape_reserve_scratch(ts_tape *tape, ts_node *node) {
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

/* ---- scopes -------------------------------------------------------------------------------------------------- */

bool ts_tape_records(const ts_tape *tape) {
    return tape->records;
}

ts_scope ts_scope_begin(ts_tape *tape) {
    return (ts_scope){ts_arena_position(tape->arena), ts_arena_position(tape->tensors[tape->turn]), tape->generation};
}

ts_tensor *ts_scope_end(ts_tape *tape, ts_scope scope, ts_tensor *keep) {
    if (tape->records || tape->error.status != TS_OK) return keep;
    if (scope.generation != tape->generation)
        return ts_fail(tape, TS_ERROR_USAGE, "a scope ends that was begun before the tape was reset, or on another");
    if (!ts_tape_is_usable(tape, keep, "the end of a scope", -1)) return &tape->failed;
    const ts_tensor copy = *keep;
    ts_real *data =
        ts_arena_rewind(tape->arena, scope.memory, copy.data, (size_t)ts_shape_size(&copy.shape) * sizeof *data);
    ts_arena_rewind(tape->tensors[tape->turn], scope.tensors, NULL, 0);
    ts_tensor *t = data == NULL ? NULL : tensor_take(tape);
    if (t == NULL) return ts_fail(tape, TS_ERROR_MEMORY, "out of memory at the end of a scope");
    *t = copy;
    t->data = data;
    return t;
}
