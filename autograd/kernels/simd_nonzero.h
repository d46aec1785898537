/* simd_nonzero.h: products of matrices in which a zero adds 0, whatever it is multiplied by: for upstream gradients
 * (upstream.h) or weights of excluded keys in one factor, and infinities or NaN in the other. Included by kernels
 * compiled once for each instruction set, see simd.h. */
#ifndef TS_SIMD_NONZERO_H
#define TS_SIMD_NONZERO_H

#include "simd_product.h"

SIMD_INLINE bool vec_is_finite(vec x) {
    const vec zeros = x * 0; /* 0 or NaN */
    int nonfinite = 0;
    for (int l = 0; l < LANES; l++) nonfinite |= zeros[l] != 0;
    return !nonfinite;
}

/* Whether all n numbers are finite. */
SIMD_INLINE bool is_finite(const ts_real *x, int64_t n) {
    vec zeros[4] = {{0}, {0}, {0}, {0}}; /* 0 or NaN; four independent sums hide latency */
    int64_t i = 0;
    int nonfinite = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        for (int v = 0; v < 4; v++) zeros[v] += vec_load(x + i + v * LANES) * 0;
    for (; i + LANES <= n; i += LANES) zeros[0] += vec_load(x + i) * 0;
    for (; i < n; i++) nonfinite |= !(x[i] - x[i] == 0);
    return !nonfinite && vec_is_finite(zeros[0] + zeros[1] + zeros[2] + zeros[3]);
}

/* As multiply, with the same roundings, but leaves out terms in which the left factor (with `left`) or the right one
 * (with `right`) is 0. Slow, for data that are not finite, and not inlined into the fast code. */
static __attribute__((noinline)) void multiply_nonzero(const product *p, bool left, bool right) {
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->vecs * LANES; j += LANES) {
            vec sum = vec_all(p->start == NULL ? 0 : p->start[i]);
            for (int64_t l = 0; l < p->depth; l++) {
                const ts_real a = p->a[i * p->a_row + l * p->a_step];
                const vec b = vec_load(p->b + l * p->b_step + j);
                if (left && a == 0) continue;
                sum += (right ? vec_where(b != (vec){0}, vec_all(a)) : vec_all(a)) * b;
            }
            ts_real *c = p->c + i * p->c_step + j;
            vec_store(c, p->add ? vec_load(c) + sum : sum);
        }
}

#endif
