#include <math.h>
#include <stdio.h>
#include <string.h>

#include "on_tape.h"

START_TEST(gradient_of_a_diamond) {
    /* z = x y + x: x is used twice, its gradient is the sum of both ways. */
    ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3}), *y = ts_variable(tape, TS_SCALAR, (ts_real[]){2});
    ts_tensor *z = ts_add(tape, ts_mul(tape, x, y), x);
    ck_assert_int_eq(ts_backward(tape, z), TS_OK);
    ck_assert(z->data[0] == 9 && x->grad[0] == 3 && y->grad[0] == 3);
    /* Leaves add up, computed tensors start afresh. */
    ck_assert_int_eq(ts_backward(tape, z), TS_OK);
    ck_assert(x->grad[0] == 6 && y->grad[0] == 6 && z->grad[0] == 1);
}
END_TEST

START_TEST(only_what_the_loss_needs_gets_gradients) {
    ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3}), *c = ts_constant(tape, TS_SCALAR, (ts_real[]){5});
    ts_tensor *used = ts_mul(tape, x, c), *unused = ts_exp(tape, x);
    ck_assert_int_eq(ts_backward(tape, used), TS_OK);
    ck_assert_ptr_null(unused->grad);
    ck_assert_ptr_null(c->grad);
    ck_assert(!ts_mul(tape, c, c)->wants_grad);
    ck_assert(x->grad[0] == 5);
}
END_TEST

START_TEST(parameters_live_outside) {
    ts_real value[2] = {1, 2}, grad[2] = {10, 20};
    ts_tensor *p = ts_leaf(tape, TS_SHAPE(2), value, grad);
    ck_assert_ptr_eq(p->data, value);
    ck_assert_int_eq(ts_backward_from(tape, ts_mul(tape, p, p), (ts_real[]){1, 1}), TS_OK);
    ck_assert(grad[0] == 12 && grad[1] == 24); /* added, not written */
    ts_tape_reset(tape);
    ck_assert_ptr_null(ts_tape_last(tape));
    ck_assert(value[0] == 1 && grad[1] == 24);
}
END_TEST

START_TEST(the_first_failure_is_kept) {
    ts_tensor *a = ts_variable(tape, TS_SHAPE(2, 3), NULL), *b = ts_variable(tape, TS_SHAPE(4), NULL);
    ts_tensor *bad = ts_add(tape, a, b);
    ck_assert_str_eq(ts_tape_error(tape), "add [2,3] [4]: the shapes do not broadcast");
    ck_assert_int_eq(ts_tape_status(tape), TS_ERROR_SHAPE);
    ck_assert(isnan((double)bad->data[0]));
    ts_mul(tape, bad, ts_variable(tape, TS_SHAPE(-1), NULL));
    ts_log(tape, bad);
    ck_assert_str_eq(ts_tape_error(tape), "add [2,3] [4]: the shapes do not broadcast");
    ck_assert_int_eq(ts_backward(tape, bad), TS_ERROR_SHAPE);
    ck_assert_ptr_null(ts_tape_take(tape, 8));
    ts_tape_reset(tape);
    ck_assert_ptr_null(ts_tape_error(tape));
    ck_assert(ts_square(tape, ts_variable(tape, TS_SCALAR, (ts_real[]){4}))->data[0] == 16);
}
END_TEST

START_TEST(misuse_is_refused) {
    ts_tensor *x = ts_variable(tape, TS_SHAPE(2), NULL);
    ck_assert_int_eq(ts_backward(tape, ts_exp(tape, x)), TS_ERROR_SHAPE);
    ck_assert_str_eq(ts_tape_error(tape), "backward: the loss must hold one element, its shape is [2]");
    ts_tape_reset(tape);
    ck_assert_int_eq(ts_backward(tape, ts_constant(tape, TS_SCALAR, NULL)), TS_ERROR_USAGE);
    ts_tape_reset(tape);
    ts_apply(tape, &ts_op_add, NULL, 1, (ts_tensor *[]){ts_variable(tape, TS_SCALAR, NULL)});
    ck_assert_str_eq(ts_tape_error(tape), "add: 1 inputs given, 2 to 2 taken");
    ts_tape_reset(tape);
    ts_add(tape, ts_variable(tape, TS_SHAPE(2), NULL), NULL);
    ck_assert_str_eq(ts_tape_error(tape), "add: input 1 is NULL");
    ts_tape_reset(tape);
    ts_variable(tape, TS_SHAPE((int64_t)1 << 40, (int64_t)1 << 40), NULL);
    ck_assert_int_eq(ts_tape_status(tape), TS_ERROR_SHAPE);
    ts_tape_reset(tape);
    ts_variable(tape, TS_SHAPE((int64_t)1 << 55), NULL);
    ck_assert_int_ne(ts_tape_status(tape), TS_OK); /* more memory than there is */
}
END_TEST

/* The tape failed with these words; then it is reset. */
static void expect_error(ts_tape *failed, const char *message) {
    ck_assert_pstr_eq(ts_tape_error(failed), message);
    ts_tape_reset(failed);
}

START_TEST(null_is_refused_everywhere) {
    const ts_real one[] = {1, 1};
    ck_assert_int_eq(ts_backward(tape, NULL), TS_ERROR_USAGE);
    expect_error(tape, "backward: the tensor is NULL");
    ck_assert_int_eq(ts_backward_from(tape, NULL, one), TS_ERROR_USAGE);
    expect_error(tape, "backward: the tensor is NULL");
    ck_assert_int_eq(ts_backward_from(tape, ts_variable(tape, TS_SHAPE(2), NULL), NULL), TS_ERROR_USAGE);
    expect_error(tape, "backward: the upstream gradient is NULL");
    ts_leaf(tape, TS_SHAPE(2), NULL, NULL);
    expect_error(tape, "a leaf of shape [2] is given NULL for its data");
    ts_borrow(tape, TS_SHAPE(2), NULL);
    expect_error(tape, "a leaf of shape [2] is given NULL for its data");
    ts_borrow(tape, TS_SHAPE(2, 0), NULL); /* which has none */
    ck_assert_ptr_null(ts_tape_error(tape));
    ts_concat(tape, 2, NULL, 0);
    expect_error(tape, "concat: the list of inputs is NULL");
    ts_gather_rows(tape, ts_variable(tape, TS_SHAPE(2, 2), NULL), NULL, 2);
    expect_error(tape, "gather_rows: the list of rows is NULL");
    ts_simplex_apply(tape, ts_variable(tape, TS_SHAPE(2, 2), NULL), 0, NULL);
    expect_error(tape, "simplex_map: the spec is NULL");
    ts_tensor *z = ts_variable(tape, TS_SHAPE(2, 2), NULL);
    ts_attention(tape, z, z, z, NULL, NULL);
    char message[100];
    snprintf(message, sizeof message, "attention: its attributes, %zu bytes, are NULL", sizeof(ts_attention_spec));
    expect_error(tape, message);
    ts_tape *infer = ts_tape_create(TS_INFER);
    ts_scope_end(infer, ts_scope_begin(infer), NULL);
    expect_error(infer, "the end of a scope: the tensor is NULL");
    ck_assert_int_eq(ts_backward(infer, ts_variable(infer, TS_SCALAR, one)), TS_ERROR_USAGE);
    expect_error(infer, "backward: the tape only infers (TS_INFER), it keeps no graph");
    ts_tape_free(infer);
}
END_TEST

static ts_status same_shape(const ts_node *node, ts_shape *out) {
    *out = node->in[0]->shape;
    return TS_OK;
}

static void copy(const ts_node *node) {
    memcpy(node->out->data, node->in[0]->data, (size_t)ts_shape_size(&node->out->shape) * sizeof(ts_real));
}

START_TEST(a_descriptor_that_lacks_something) {
    const ts_op whole = {.name = "copy", .min_in = 1, .max_in = 1, .shape = same_shape, .forward = copy};
    ts_op op = whole;
    ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3}), *c = ts_constant(tape, TS_SCALAR, (ts_real[]){5});
    ts_tensor *y = ts_apply(tape, &op, NULL, 1, &x);
    ck_assert(y->data[0] == 3 && ts_apply(tape, &op, NULL, 1, &c)->data[0] == 5); /* without gradients it is whole */
    ck_assert_int_eq(ts_backward(tape, y), TS_ERROR_USAGE);
    expect_error(tape, "copy: a gradient is asked of it, and it has no backward function");
    ts_apply(tape, NULL, NULL, 0, NULL);
    expect_error(tape, "ts_apply: the op is NULL");
    op.name = NULL, x = ts_variable(tape, TS_SCALAR, NULL);
    ts_apply(tape, &op, NULL, 1, &x);
    expect_error(tape, "ts_apply: the op's descriptor has no name");
    op = whole, op.shape = NULL, x = ts_variable(tape, TS_SCALAR, NULL);
    ts_apply(tape, &op, NULL, 1, &x);
    expect_error(tape, "copy: the op's descriptor has no shape function");
    op = whole, op.forward = NULL, x = ts_variable(tape, TS_SCALAR, NULL);
    ts_apply(tape, &op, NULL, 1, &x);
    expect_error(tape, "copy: the op's descriptor has no forward function");
    op = whole, op.attr_size = 4, x = ts_variable(tape, TS_SCALAR, NULL);
    ts_apply(tape, &op, NULL, 1, &x);
    expect_error(tape, "copy: its attributes, 4 bytes, are NULL");
    op = whole, op.max_in = 50;
    ts_tensor *many[50];
    for (int i = 0; i < 50; i++) many[i] = ts_variable(tape, TS_SCALAR, NULL);
    ts_apply(tape, &op, NULL, 33, many);
    expect_error(tape, "copy: 33 inputs given, 1 to 32 taken");
}
END_TEST

/* ---- whose a tensor is --------------------------------------------------------------------------------------- */

START_TEST(tensors_of_two_tapes) {
    ts_tape *other = ts_tape_create(TS_RECORD);
    ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3}), *y = ts_variable(other, TS_SCALAR, (ts_real[]){2});
    ts_mul(tape, x, y);
    expect_error(tape, "mul: input 1 belongs to another tape, or to one that was freed");
    ck_assert_int_eq(ts_backward(tape, y), TS_ERROR_USAGE);
    expect_error(tape, "backward: the tensor belongs to another tape, or to one that was freed");
    ck_assert_ptr_null(ts_tape_error(other));
    ck_assert_int_eq(ts_backward(other, ts_mul(other, y, y)), TS_OK);
    ck_assert(y->grad[0] == 4);
    ts_tape_free(other);
}
END_TEST

/* The commonest: made before the loop, used in it. Its memory must not have become one of the new ones. */
START_TEST(tensors_from_before_a_reset) {
    static const char message[] = "mul: input 1 was made before the tape was reset; a reset forgets all tensors";
    for (int made = 0; made < 700; made += made < 10 ? 1 : 300) {
        ts_tensor *old[1000];
        for (int i = 0; i <= made; i++) old[i] = ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 2});
        ts_tape_reset(tape);
        ts_tensor *x = ts_variable(tape, TS_SHAPE(2), (ts_real[]){1, 2});
        for (int i = 0; i < made; i++) ck_assert_ptr_ne(ts_variable(tape, TS_SHAPE(2), NULL), old[i]);
        ts_tensor *y = ts_mul(tape, x, x);
        ck_assert(y->data[1] == 4);
        ck_assert(isnan((double)ts_mul(tape, x, old[made])->data[0]));
        expect_error(tape, message);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 1}), TS_ERROR_USAGE);
        expect_error(tape, "backward: the tensor was made before the tape was reset; a reset forgets all tensors");
    }
    ts_tensor *failed = ts_variable(tape, TS_SHAPE(-1), NULL);
    ts_tape_reset(tape);
    ts_mul(tape, ts_variable(tape, TS_SCALAR, NULL), failed);
    expect_error(tape, message);
}
END_TEST

START_TEST(a_scope_from_before_a_reset) {
    ts_tape *infer = ts_tape_create(TS_INFER);
    const ts_scope scope = ts_scope_begin(infer);
    ts_tape_reset(infer);
    ts_scope_end(infer, scope, ts_constant(infer, TS_SCALAR, NULL));
    expect_error(infer, "a scope ends that was begun before the tape was reset, or on another");
    ts_tape_free(infer);
}
END_TEST

/* A step that repeats takes no new memory. */
START_TEST(a_repeated_step_reuses_its_memory) {
    size_t first = 0;
    for (int step = 0; step < 5; step++) {
        ts_tape_reset(tape);
        ts_tensor *x = ts_variable(tape, TS_SHAPE(300, 100), NULL), *w = ts_variable(tape, TS_SHAPE(100), NULL);
        ts_tensor *y = ts_exp(tape, ts_mul(tape, x, w));
        ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
        if (step == 0) first = ts_tape_bytes(tape);
    }
    ck_assert_uint_eq(ts_tape_bytes(tape), first);
}
END_TEST

START_TEST(inference_keeps_no_graph_and_scopes_release) {
    ts_tape *infer = ts_tape_create(TS_INFER);
    ts_tensor *x = ts_variable(infer, TS_SHAPE(1000, 100), NULL);
    ck_assert(!x->wants_grad);
    for (int i = 0; i < 50; i++) {
        const ts_scope scope = ts_scope_begin(infer);
        ts_tensor *y = ts_exp(infer, ts_scale(infer, x, 0.5));
        y = ts_add(infer, y, y);
        x = ts_scope_end(infer, scope, y);
        ck_assert(ts_shape_equal(&x->shape, &TS_SHAPE(1000, 100)));
        if (i == 0) ck_assert(x->data[0] == 2 && x->data[99999] == 2);
        x = ts_scale(infer, x, 0); /* kept by the next round only */
    }
    ck_assert_ptr_null(ts_tape_last(infer));
    /* 50 rounds of four tensors each; kept results add up, the rest is reused. */
    ck_assert_uint_lt(ts_tape_bytes(infer), 110 * 100000 * sizeof(ts_real));
    ts_tape_free(infer);
}
END_TEST

START_TEST(a_scope_keeps_small_and_older_tensors) {
    ts_tape *infer = ts_tape_create(TS_INFER);
    ts_tensor *old = ts_constant(infer, TS_SHAPE(3), (ts_real[]){1, 2, 3});
    ts_scope scope = ts_scope_begin(infer);
    ts_tensor *waste = ts_constant(infer, TS_SHAPE(1000), NULL);
    ts_tensor *kept = ts_scope_end(infer, scope, ts_add(infer, old, old));
    (void)waste;
    for (int i = 0; i < 3; i++) ck_assert(kept->data[i] == 2 * (ts_real)(i + 1) && old->data[i] == (ts_real)(i + 1));
    scope = ts_scope_begin(infer);
    ts_constant(infer, TS_SHAPE(5), NULL);
    ck_assert_ptr_eq(ts_scope_end(infer, scope, old)->data, old->data);
    ck_assert(kept->data[2] == 6);
    ts_tape_free(infer);
}
END_TEST

START_TEST(arena_alignment_and_bounds) {
    ts_arena *arena = ts_arena_create(1 << 18);
    for (size_t bytes = 0; bytes < 200000; bytes = bytes * 2 + 1) {
        char *piece = ts_arena_take(arena, bytes);
        ck_assert_uint_eq((uintptr_t)piece % 64, 0);
        memset(piece, 1, bytes);
    }
    ck_assert_ptr_null(ts_arena_take(arena, SIZE_MAX));
    ck_assert_ptr_null(ts_arena_take(arena, SIZE_MAX / 2 + 1));
    const size_t held = ts_arena_held(arena);
    ts_arena_reset(arena);
    ck_assert_uint_eq(ts_arena_held(arena), held); /* kept for later */
    ts_arena_free(arena);
}
END_TEST

/* What an observer saw, in order: f or b for the pass, then the op's first letter. */
static void note(void *context, const ts_node *node, ts_pass *pass) {
    char *notes = context;
    snprintf(notes + strlen(notes), 3, "%c%c", pass == node->op->backward ? 'b' : 'f', node->op->name[0]);
    pass(node);
}

START_TEST(an_observer_runs_every_pass) {
    char notes[64] = "";
    ts_tape_observe(tape, note, notes);
    ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3}), *y = ts_exp(tape, ts_mul(tape, x, x));
    ts_neg(tape, x); /* the loss does not need it */
    ck_assert_int_eq(ts_backward(tape, y), TS_OK);
    ck_assert_str_eq(notes, "fmfefnbebm");
    ck_assert_double_eq((double)x->grad[0], 6 * (double)y->data[0]);
    ts_tape_reset(tape);
    ts_tape_observe(tape, NULL, NULL);
    ts_exp(tape, ts_constant(tape, TS_SCALAR, NULL));
    ck_assert_str_eq(notes, "fmfefnbebm");
}
END_TEST

/* Scratch of ops counts among the bytes of a tape: here numbers for each of many keys. */
START_TEST(scratch_is_counted) {
    enum { MANY = 100000 };
    const ts_attention_spec spec = {.score = TS_SCORE_DOT, .simplex = {.map = &ts_softmax_map}, .gamma = 1};
    ts_tensor *q = ts_constant(tape, TS_SHAPE(1, 1), NULL), *k = ts_constant(tape, TS_SHAPE(MANY, 1), NULL);
    const size_t before = ts_tape_bytes(tape);
    ts_attention(tape, q, k, k, NULL, &spec);
    ck_assert_uint_ge(ts_tape_bytes(tape), before + MANY * sizeof(double));
}
END_TEST

int main(void) {
    TCase *tests = tape_case();
    tcase_add_test(tests, gradient_of_a_diamond);
    tcase_add_test(tests, only_what_the_loss_needs_gets_gradients);
    tcase_add_test(tests, parameters_live_outside);
    tcase_add_test(tests, the_first_failure_is_kept);
    tcase_add_test(tests, misuse_is_refused);
    tcase_add_test(tests, null_is_refused_everywhere);
    tcase_add_test(tests, a_descriptor_that_lacks_something);
    tcase_add_test(tests, tensors_of_two_tapes);
    tcase_add_test(tests, tensors_from_before_a_reset);
    tcase_add_test(tests, a_scope_from_before_a_reset);
    tcase_add_test(tests, a_repeated_step_reuses_its_memory);
    tcase_add_test(tests, inference_keeps_no_graph_and_scopes_release);
    tcase_add_test(tests, a_scope_keeps_small_and_older_tensors);
    tcase_add_test(tests, arena_alignment_and_bounds);
    tcase_add_test(tests, an_observer_runs_every_pass);
    tcase_add_test(tests, scratch_is_counted);
    return run_case("tape", tests);
}
