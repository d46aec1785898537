/* op_values.h: how tests of ops compare with values worked out by hand or by plain loops. */
#ifndef TESTS_OP_VALUES_H
#define TESTS_OP_VALUES_H

#include <math.h>

#include "on_tape.h"

static const double NEAR = sizeof(ts_real) == sizeof(double) ? 1e-13 : 2e-6;

/* Equal, infinities included; NaN equals NaN. */
static inline void expect(const ts_real *got, int64_t n, const double *wanted) {
    for (int64_t i = 0; i < n; i++) {
        const double g = (double)got[i], w = wanted[i];
        const bool same = g == w || (isnan(g) && isnan(w)) || fabs(g - w) <= NEAR * fmax(1, fabs(w));
        ck_assert_msg(same, "element %lld is %.17g, not %.17g", (long long)i, g, w);
    }
}

#define COUNT(...) (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define EXPECT(got, ...) expect(got, COUNT(__VA_ARGS__), (double[]){__VA_ARGS__})

static inline void expect_shape(const ts_tensor *t, ts_shape wanted) {
    char a[TS_SHAPE_TEXT], b[TS_SHAPE_TEXT];
    ck_assert_ptr_null(ts_tape_error(tape));
    ck_assert_str_eq(ts_shape_text(&t->shape, a), ts_shape_text(&wanted, b));
}

#endif
