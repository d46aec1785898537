/* nearest_key.h: the nearest of k keys to each of many rows, with the same ties as a plain search in double.
 *
 * Rows are in ts_real or, where that rounds them, in double together with their roundings; keys are doubles.
 *
 * The nearest key has the least  gamma sum_c (x_c - key_c)^2  or, by dot product, the greatest  gamma sum_c x_c key_c.
 * The sum is taken in double, in the order of the coordinates, with every operation rounded. These are the scores of
 * attention (ops/shared/attention_rows.c) to the last bit, so both have the same ties.
 *
 * A fast filter comes first: scores  ||b_j||^2 - 2 a.b_j  or  -a.b_j  in ts_real, where m is the mean key and
 * b_j = key_j - m, and a = x - m or, by dot product, a = x. Up to rounding, these are the squared distances less
 * ||a||^2, or the negative dot products plus x.m, and both terms are the same for all keys. With u = eps/2, A = ||a||
 * and B the greatest ||b_j|| (by dot product, also of ||key_j||), the error of a score is at most the sum of
 *
 *     u (d+4) (A^2 + 3 B^2)          from rounding a, b, ||b_j||^2 and a sum of d products
 *     u (d+4) (2 A^2 + 2 B^2)        from the sums in double, whose relative error is u (d+4) when ts_real is double
 *
 * so every key that may be nearest has a score within  6 eps (d+4) (A^2 + B^2)  of the least, of which a sixth is left
 * for products of errors; (d+4) times the smallest normal number is added for underflow. Rows that were rounded to
 * ts_real add  2 u B ||x||  to the error of a score, with ||x|| <= A + ||m||, which adds  2 eps (A^2 + B^2 + B ||m||)
 * and another term for underflow to the limit. A row with one such key is settled. For the other rows, and where scores
 * might overflow, the sums in double decide among these keys. */
#ifndef TS_NEAREST_KEY_H
#define TS_NEAREST_KEY_H

#include "kernels/nearest_key_kernels.h"

/* Rows [..,d]. */
typedef struct ts_key_rows {
    const ts_real *real;
    const double *exact; /* the numbers that were rounded to `real`; NULL: `real` is exact */
} ts_key_rows;

/* Prepares a search among keys [k,d], in `memory` of ts_nearest_keys_size numbers, for rows that are exact in ts_real
 * or were `rounded` to it; keys and memory must outlive the search. All numbers must be finite, no sum may overflow a
 * double, and 1e-12 <= gamma <= 1e12. O(kd). */
int64_t ts_nearest_keys_size(int64_t d, int64_t k);
ts_nearest_keys ts_nearest_keys_prepare(int64_t d, int64_t k, bool dot, double gamma, bool rounded, const double *keys,
                                        ts_real *memory);

/* nearest[i] = the key nearest to row i of x [rows,d], or -1 - key for the first of several equally near keys. `work`
 * holds ts_nearest_keys_work numbers and serves one thread. The same on every instruction set. O(rows k d). */
int64_t ts_nearest_keys_work(int64_t d, int64_t k);
void ts_nearest_keys_find(const ts_nearest_keys *s, int64_t rows, ts_key_rows x, ts_real *work, int32_t *nearest);

/* Writes all keys that are nearest to row x [d], in ascending order, to ties[k]; returns their number. O(kd). */
int64_t ts_nearest_keys_ties(const ts_nearest_keys *s, ts_key_rows x, int32_t *ties);

/* Row i of rows of d numbers. */
static inline ts_key_rows ts_key_row(ts_key_rows x, int64_t i, int64_t d) {
    return (ts_key_rows){x.real + i * d, x.exact != NULL ? x.exact + i * d : NULL};
}

#endif
