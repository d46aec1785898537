/* simd.h: vectors of ts_real in the compilers' vector extension, for kernels compiled once for each instruction set.
 *
 * The including file defines SIMD_BYTES, the register width (16, 32 or 64), and is compiled with the flags for that
 * width and with -ffp-contract=fast: x * y + z may round once. Vectors never cross a call that is not inlined, so no
 * calling convention depends on the flags. */
#ifndef TS_SIMD_H
#define TS_SIMD_H

#include <float.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "../tensor.h"

#define SIMD_INLINE static inline __attribute__((always_inline))

#ifdef TS_DOUBLE
typedef uint64_t simd_bits;
typedef int64_t simd_int;
#define SIMD_LOWEST (-DBL_MAX)
#else
typedef uint32_t simd_bits;
typedef int32_t simd_int;
#define SIMD_LOWEST (-FLT_MAX)
#endif

enum { LANES = SIMD_BYTES / (int)sizeof(ts_real) };

typedef ts_real vec __attribute__((vector_size(SIMD_BYTES)));
typedef simd_int vec_int __attribute__((vector_size(SIMD_BYTES)));   /* a comparison's result: -1 or 0 */
typedef simd_bits vec_bits __attribute__((vector_size(SIMD_BYTES))); /* the same bits, unsigned */
typedef uint32_t vec_word __attribute__((vector_size(LANES * 4)));   /* 32 bits a lane, whatever ts_real is */
typedef int32_t vec_signed __attribute__((vector_size(LANES * 4)));

SIMD_INLINE vec vec_load(const ts_real *x) {
    vec v;
    memcpy(&v, x, sizeof v);
    return v;
}

SIMD_INLINE void vec_store(ts_real *x, vec v) {
    memcpy(x, &v, sizeof v);
}

/* Loads the first `count` lanes, 1 to LANES, from memory that may end there; the others are 0. */
SIMD_INLINE vec vec_load_part(const ts_real *x, int64_t count) {
#if !defined(TS_DOUBLE) && SIMD_BYTES == 64
    return (vec)_mm512_maskz_loadu_ps((__mmask16)(0xFFFFu >> (LANES - count)), x);
#else
    vec v = {0};
    for (int l = 0; l < LANES; l++)
        if (l < count) v[l] = x[l];
    return v;
#endif
}

SIMD_INLINE void vec_store_part(ts_real *x, int64_t count, vec v) {
#if !defined(TS_DOUBLE) && SIMD_BYTES == 64
    _mm512_mask_storeu_ps(x, (__mmask16)(0xFFFFu >> (LANES - count)), (__m512)v);
#else
    for (int l = 0; l < LANES; l++)
        if (l < count) x[l] = v[l];
#endif
}

SIMD_INLINE vec vec_all(ts_real x) {
    return x - (vec){0};
}

/* x where the comparison holds, else 0. */
SIMD_INLINE vec vec_where(vec_int holds, vec x) {
    return (vec)((vec_int)x & holds);
}

/* x y, but 0 where x is 0, whatever y is. */
SIMD_INLINE vec vec_times(vec x, vec y) {
#if !defined(TS_DOUBLE) && SIMD_BYTES == 64 /* masks have their own registers */
    return (vec)_mm512_maskz_mul_ps(_mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_NEQ_UQ), (__m512)x,
                                    (__m512)y);
#else
    return vec_where(x != (vec){0}, x * y);
#endif
}

/* x in the lanes whose word is at least the threshold, else 0. */
SIMD_INLINE vec vec_where_at_least(vec_signed word, int32_t threshold, vec x) {
#if defined(TS_DOUBLE)
    return vec_where(__builtin_convertvector(word >= threshold, vec_int), x);
#elif SIMD_BYTES == 64 /* masks have their own registers */
    return (vec)_mm512_maskz_mov_ps(_mm512_cmpge_epi32_mask((__m512i)word, _mm512_set1_epi32(threshold)), (__m512)x);
#else
    return vec_where(word >= threshold, x);
#endif
}

/* The larger; y where either is NaN, as the x86 instruction has it, which compilers do not choose by themselves. */
SIMD_INLINE vec vec_max(vec x, vec y) {
#if !defined(TS_DOUBLE) && SIMD_BYTES == 64
    return (vec)_mm512_max_ps((__m512)x, (__m512)y);
#elif !defined(TS_DOUBLE) && SIMD_BYTES == 32
    return (vec)_mm256_max_ps((__m256)x, (__m256)y);
#elif !defined(TS_DOUBLE) && defined(__SSE2__)
    return (vec)_mm_max_ps((__m128)x, (__m128)y);
#else
    const vec_int holds = x > y;
    return (vec)(((vec_int)x & holds) | ((vec_int)y & ~holds));
#endif
}

/* The smaller; y where either is NaN. */
SIMD_INLINE vec vec_min(vec x, vec y) {
#if !defined(TS_DOUBLE) && SIMD_BYTES == 64
    return (vec)_mm512_min_ps((__m512)x, (__m512)y);
#elif !defined(TS_DOUBLE) && SIMD_BYTES == 32
    return (vec)_mm256_min_ps((__m256)x, (__m256)y);
#elif !defined(TS_DOUBLE) && defined(__SSE2__)
    return (vec)_mm_min_ps((__m128)x, (__m128)y);
#else
    const vec_int holds = x < y;
    return (vec)(((vec_int)x & holds) | ((vec_int)y & ~holds));
#endif
}

/* `then` in the lanes where x < y, `otherwise` elsewhere. */
SIMD_INLINE vec_int vec_pick_less(vec x, vec y, vec_int then, vec_int otherwise) {
#if !defined(TS_DOUBLE) && SIMD_BYTES == 64 /* masks have their own registers */
    return (vec_int)_mm512_mask_mov_epi32((__m512i)otherwise, _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_LT_OQ),
                                          (__m512i)then);
#else
    const vec_int holds = x < y;
    return (then & holds) | (otherwise & ~holds);
#endif
}

typedef ts_real quad __attribute__((vector_size(4 * sizeof(ts_real))));

#if defined(__clang__) || __GNUC__ >= 12
#define QUAD_PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
typedef simd_int quad_int __attribute__((vector_size(4 * sizeof(ts_real))));
#define QUAD_PICK(x, y, a, b, c, d) __builtin_shuffle(x, y, (quad_int){a, b, c, d})
#endif

/* The sum of all lanes, by repeated halving. */
SIMD_INLINE ts_real vec_sum(vec v) {
#if SIMD_BYTES < 32 && defined(TS_DOUBLE)
    return v[0] + v[1];
#else
    quad part[LANES / 4];
    memcpy(part, &v, sizeof v);
    for (int half = LANES / 8; half > 0; half /= 2)
        for (int l = 0; l < half; l++) part[l] += part[l + half];
    const quad pair = part[0] + QUAD_PICK(part[0], part[0], 2, 3, 2, 3);
    return pair[0] + pair[1];
#endif
}

/* 2^x. NaN gives NaN, -inf and denormal results give exactly 0, +inf gives +inf or NaN, and 2^0 is exactly 1. In float
 * the relative error is below 1.5e-7. */
#if SIMD_BYTES == 64 && !defined(TS_DOUBLE)

/* x = n + f with n = floor(x): 2^f is a polynomial, and special instructions find f and multiply by 2^n. */
SIMD_INLINE vec vec_exp2(vec x) {
    /* The minimax polynomial, of relative error 2.1e-9, among those that are exact at 0. */
    static const float c[] = {
        1, 0.693147063f, 0.240229309f, 0.0554852784f, 0.00967545249f, 0.00124678388f, 0.000216129396f};
    enum { TERMS = 7 };
    const vec f = (vec)_mm512_reduce_ps((__m512)x, _MM_FROUND_TO_NEG_INF);
    vec p = vec_all(c[TERMS - 1]);
    for (int k = TERMS - 2; k >= 0; k--) p = p * f + c[k];
    const __mmask16 normal = _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(-126), _CMP_NLT_UQ);
    return (vec)_mm512_maskz_scalef_ps(normal, (__m512)p, (__m512)x);
}

#else

/* x = n + f with n an integer and |f| <= 1/2; 2 2^f is a polynomial, and 2^(n-1) is made by shifting n into the
 * exponent field. Adding x to a number so large that its last bit is worth 1 gives n and its bits. Thanks to the spare
 * factor 2 the lowest n has the exponent field 0, a plain zero, and the next n is already a normal number. */
SIMD_INLINE vec vec_exp2(vec x) {
#ifdef TS_DOUBLE
    /* 2 (ln 2)^k / k!, the power series; its relative error is 4e-18 at |f| = 1/2. */
    static const double c[] = {2,
                               1.3862943611198906188,
                               0.48045301391820142467,
                               0.11100821732964315991,
                               0.019236258215256954324,
                               0.0026667116292856886847,
                               0.00030807060786763219909,
                               3.050546760811968056e-5,
                               2.6430973580288618977e-6,
                               2.0356172018479399455e-7,
                               1.410982324160224666e-8,
                               8.8910765437416229952e-10,
                               5.1356871986976410284e-11,
                               2.7382977707808258e-12};
    const double low = -1022, shift = 6755399441055744.0 + 1022; /* 1.5 2^52 + 1022 */
    enum { TERMS = 14, EXPONENT = 52 };
#else
    /* The minimax polynomial, of relative error 2.6e-9, among those that are exact at 0. */
    static const float c[] = {
        2, 1.38629448f, 0.480453044f, 0.111006208f, 0.019235386f, 0.00268132868f, 0.000311893556f};
    const float low = -126, shift = 12582912.0f + 126; /* 1.5 2^23 + 126 */
    enum { TERMS = 7, EXPONENT = 23 };
#endif
    x = vec_max(vec_all(low), x);
    const vec t = x + shift, f = x - (t - shift);
    vec p = vec_all(c[TERMS - 1]);
    for (int k = TERMS - 2; k >= 0; k--) p = p * f + c[k];
    return p * (vec)((vec_bits)t << EXPONENT);
}

#endif

/* ---- transposition ----------------------------------------------------------------------------------------------- */

/* y[c][r] = factor x[r][c], or += with `add`, for four rows and four columns. */
SIMD_INLINE void transpose_four(const ts_real *x, int64_t x_step, ts_real *y, int64_t y_step, bool add,
                                ts_real factor) {
    quad r[4], old[4];
    for (int i = 0; i < 4; i++) memcpy(&r[i], x + i * x_step, sizeof(quad));
    const quad low0 = QUAD_PICK(r[0], r[1], 0, 4, 1, 5), low1 = QUAD_PICK(r[2], r[3], 0, 4, 1, 5);
    const quad high0 = QUAD_PICK(r[0], r[1], 2, 6, 3, 7), high1 = QUAD_PICK(r[2], r[3], 2, 6, 3, 7);
    r[0] = QUAD_PICK(low0, low1, 0, 1, 4, 5), r[1] = QUAD_PICK(low0, low1, 2, 3, 6, 7);
    r[2] = QUAD_PICK(high0, high1, 0, 1, 4, 5), r[3] = QUAD_PICK(high0, high1, 2, 3, 6, 7);
    for (int i = 0; i < 4; i++) {
        if (add) memcpy(&old[i], y + i * y_step, sizeof(quad));
        r[i] = add ? old[i] + factor * r[i] : factor * r[i];
        memcpy(y + i * y_step, &r[i], sizeof(quad));
    }
}

#ifdef TS_DOUBLE
#define SIMD_QUADS (SIMD_BYTES / 32)
#else
#define SIMD_QUADS (SIMD_BYTES / 16)
#endif

#if SIMD_QUADS == 4
#define EACH_QUAD(a, b, c, d) \
    a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, d + 12
#elif SIMD_QUADS == 2
#define EACH_QUAD(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4
#else
#define EACH_QUAD(a, b, c, d) a, b, c, d
#endif
#if defined(__clang__) || __GNUC__ >= 12
#define VEC_PICK(x, y, ...) __builtin_shufflevector(x, y, EACH_QUAD(__VA_ARGS__))
#else
#define VEC_PICK(x, y, ...) __builtin_shuffle(x, y, (vec_int){EACH_QUAD(__VA_ARGS__)})
#endif

#if SIMD_QUADS > 0 /* else a vector is shorter than a quad */
/* Four numbers from every fourth row, as many rows as fill a vector. */
SIMD_INLINE vec load_quads(const ts_real *x, int64_t x_step) {
#if SIMD_QUADS == 1
    (void)x_step;
    return vec_load(x);
#elif defined(TS_DOUBLE)
    return (vec)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(x)), _mm256_loadu_pd(x + 4 * x_step), 1);
#elif SIMD_QUADS == 2
    return (vec)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(x)), _mm_loadu_ps(x + 4 * x_step), 1);
#else
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(x));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(x + 4 * x_step), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(x + 8 * x_step), 2);
    return (vec)_mm512_insertf32x4(v, _mm_loadu_ps(x + 12 * x_step), 3);
#endif
}

/* column[c][r] = x[r][c] */
SIMD_INLINE void load_columns(const ts_real *x, int64_t x_step, vec column[4]) {
    vec r[4];
    for (int i = 0; i < 4; i++) r[i] = load_quads(x + i * x_step, x_step);
    const vec low0 = VEC_PICK(r[0], r[1], 0, LANES, 1, LANES + 1);
    const vec low1 = VEC_PICK(r[2], r[3], 0, LANES, 1, LANES + 1);
    const vec high0 = VEC_PICK(r[0], r[1], 2, LANES + 2, 3, LANES + 3);
    const vec high1 = VEC_PICK(r[2], r[3], 2, LANES + 2, 3, LANES + 3);
    column[0] = VEC_PICK(low0, low1, 0, 1, LANES, LANES + 1);
    column[1] = VEC_PICK(low0, low1, 2, 3, LANES + 2, LANES + 3);
    column[2] = VEC_PICK(high0, high1, 0, 1, LANES, LANES + 1);
    column[3] = VEC_PICK(high0, high1, 2, 3, LANES + 2, LANES + 3);
}
#endif

#if SIMD_QUADS > 1
/* As transpose_four, for LANES rows and four columns. */
SIMD_INLINE void transpose_lanes(const ts_real *x, int64_t x_step, ts_real *y, int64_t y_step, bool add,
                                 ts_real factor) {
    vec column[4];
    load_columns(x, x_step, column);
    for (int i = 0; i < 4; i++)
        vec_store(y + i * y_step, add ? vec_load(y + i * y_step) + factor * column[i] : factor * column[i]);
}
#else
#define transpose_lanes transpose_four /* a vector is at most a quad */
#endif

/* The same for `height` rows, 4 or LANES, and any number of columns. `height` and `add` are compile-time constants, and
 * so is `factor` if it is 1. */
SIMD_INLINE void transpose_strip(const ts_real *x, int64_t x_step, const int height, int64_t cols, ts_real *y,
                                 int64_t y_step, const bool add, ts_real factor) {
    int64_t c = 0;
    while (c + 4 <= cols) {
        if (height == 4)
            transpose_four(x + c, x_step, y + c * y_step, y_step, add, factor);
        else
            transpose_lanes(x + c, x_step, y + c * y_step, y_step, add, factor);
        c += 4;
        if (!add && c < cols && c + 4 > cols) c = cols - 4; /* the rest, with some columns done twice */
    }
    for (; c < cols; c++)
        for (int64_t i = 0; i < height; i++)
            y[c * y_step + i] = add ? y[c * y_step + i] + factor * x[i * x_step + c] : factor * x[i * x_step + c];
}

/* The same for any number of rows and columns; x and y must not overlap. `add` is a compile-time constant. */
SIMD_INLINE void transpose(const ts_real *x, int64_t x_step, int64_t rows, int64_t cols, ts_real *y, int64_t y_step,
                           const bool add, ts_real factor) {
    enum { HEIGHT = LANES > 4 ? LANES : 4 };
    int64_t r = 0;
    while (r + HEIGHT <= rows) {
        transpose_strip(x + r * x_step, x_step, HEIGHT, cols, y + r, y_step, add, factor);
        r += HEIGHT;
        if (!add && r < rows && r + HEIGHT > rows) r = rows - HEIGHT;
    }
    for (; r + 4 <= rows; r += 4) transpose_strip(x + r * x_step, x_step, 4, cols, y + r, y_step, add, factor);
    for (; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            y[c * y_step + r] = add ? y[c * y_step + r] + factor * x[r * x_step + c] : factor * x[r * x_step + c];
}

#endif
