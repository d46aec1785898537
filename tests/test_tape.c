#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../autograd/ops.h"
#include "test_main.h"

static ts_tape *tape;

static void setup(void) {
    tape = ts_tape_create(TS_RECORD);
    ck_assert_ptr_nonnull(tape);
}

static void teardown(void) {
    ts_tape_free(tape);
}

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
    ts_add(tape, x, NULL);
    ck_assert_str_eq(ts_tape_error(tape), "add: input 1 is NULL");
    ts_tape_reset(tape);
    ts_variable(tape, TS_SHAPE((int64_t)1 << 40, (int64_t)1 << 40), NULL);
    ck_assert_int_eq(ts_tape_status(tape), TS_ERROR_SHAPE);
    ts_tape_reset(tape);
    ts_variable(tape, TS_SHAPE((int64_t)1 << 55), NULL);
    ck_assert_int_ne(ts_tape_status(tape), TS_OK); /* more memory than there is */
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
        const ts_arena_mark scope = ts_scope_begin(infer);
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
    ts_arena_mark scope = ts_scope_begin(infer);
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
    ts_arena *arena = ts_arena_create();
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

int main(void) {
    Suite *suite = suite_create("tape");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, gradient_of_a_diamond);
    tcase_add_test(tests, only_what_the_loss_needs_gets_gradients);
    tcase_add_test(tests, parameters_live_outside);
    tcase_add_test(tests, the_first_failure_is_kept);
    tcase_add_test(tests, misuse_is_refused);
    tcase_add_test(tests, a_repeated_step_reuses_its_memory);
    tcase_add_test(tests, inference_keeps_no_graph_and_scopes_release);
    tcase_add_test(tests, a_scope_keeps_small_and_older_tensors);
    tcase_add_test(tests, arena_alignment_and_bounds);
    tcase_add_test(tests, an_observer_runs_every_pass);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
