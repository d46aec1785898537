/* on_tape.h: what tests on a tape share. Every test of theirs has a fresh tape, `tape`, that records. */
#ifndef TESTS_ON_TAPE_H
#define TESTS_ON_TAPE_H

#include "../autograd/ops.h"
#include "../autograd/rng.h"
#include "rounding.h"
#include "test_main.h"

__attribute__((weak)) ts_tape *tape = NULL;

static inline void open_tape(void) {
    tape = ts_tape_create(TS_RECORD);
    ck_assert_ptr_nonnull(tape);
}

static inline void close_tape(void) {
    ts_tape_free(tape);
}

/* A case whose tests have a tape. */
static inline TCase *tape_case(void) {
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, open_tape, close_tape);
    return tests;
}

/* Uniform numbers in [-1,1), of this name's stream. */
static inline void fill(ts_tensor *t, const char *name) {
    const ts_rng rng = {test_seed(), ts_rng_stream(name), 0};
    for (int64_t i = 0; i < ts_shape_size(&t->shape); i++)
        t->data[i] = (ts_real)(2 * ts_rng_uniform(rng, (uint64_t)i) - 1);
}

static inline ts_tensor *filled(ts_shape shape, const char *name) {
    ts_tensor *t = ts_variable(tape, shape, NULL);
    ck_assert_ptr_null(ts_tape_error(tape));
    fill(t, name);
    return t;
}

static inline ts_tensor *vector(int64_t n, const ts_real *values) {
    return ts_variable(tape, TS_SHAPE(n), values);
}

/* Gradients of the sum of y. */
static inline void backward_of_sum(ts_tensor *y) {
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
}

#endif
