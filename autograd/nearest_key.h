/* nearest_key.h: the nearest of k keys to each of many rows, decided as by hand.
 *
 * Rows are numbers in ts_real or, where that rounds them, in double with their roundings beside them; keys are doubles.
 *
 * Nearest is the key with the least  gamma sum_c (x_c - key_c)^2  or, by dot product, the greatest  gamma sum_c x_c
 * key_c: the sum in double, in the order of the coordinates, every operation rounded. These are the scores of attention
 * (ops/shared/attention_rows.c) to the last bit, so ties are the same here and there.
 *
 * Fast is a filter before that: scores  ||b_j||^2 - 2 a.b_j  or  -a.b_j  in ts_real. With m the mean key, b_j = key_j -
 * m, a = x - m or, by dot product, x, they differ from the squared distances by ||a||^2, from the dot products by -x.m,
 * and by rounding. With u = eps/2, A = ||a||, B the greatest ||b_j|| and, by dot product, ||key_j||, a score is off by
 * at most
 *
 *     u (d+4) (A^2 + 3 B^2)          rounding of a and b, of ||b_j||^2, and of a sum of d products
 *     u (d+4) (2 A^2 + 2 B^2)        of the double sums above, by u (d+4) of themselves when ts_real is double
 *
 * so every key that may be nearest has a score within  6 eps (d+4) (A^2 + B^2)  of the least, which leaves a sixth for
 * products of errors; (d+4) times the smallest normal number is added for what underflows. Rows that were rounded to
 * ts_real add  2 u B ||x||  to the error of a score, ||x|| <= A + ||m||: then keys within  2 eps (A^2 + B^2 + B ||m||)
 * more, and what underflows, may be nearest. Rows with one such key are settled. The others, and rows or keys so large
 * that scores might overflow, are decided among these keys by the sums in double. */
#ifndef TS_NEAREST_KEY_H
#define TS_NEAREST_KEY_H

#include "kernels/nearest_key_kernels.h"

/* Rows [..,d]. */
typedef struct ts_key_rows {
    const ts_real *real;
    const double *exact; /* what `real` are roundings of; NULL: they are exact */
} ts_key_rows;

/* Prepares a search among keys [k,d], which must outlive it, in `memory` of ts_nearest_keys_size numbers, for rows that
 * are exact in ts_real or were rounded to it. Numbers must be finite, and no sum may overflow a double; 1e-12 <= gamma
 * <= 1e12. O(kd). */
int64_t ts_nearest_keys_size(int64_t d, int64_t k);
ts_nearest_keys ts_nearest_keys_prepare(int64_t d, int64_t k, bool dot, double gamma, bool rounded, const double *keys,
                                        ts_real *memory);

/* nearest[i] = the key nearest to row i of x [rows,d], the first of equally near ones; as -1 - key where there are
 * such. `work` holds ts_nearest_keys_work numbers, for one thread. The same on every instruction set. O(rows k d). */
int64_t ts_nearest_keys_work(int64_t d, int64_t k);
void ts_nearest_keys_find(const ts_nearest_keys *s, int64_t rows, ts_key_rows x, ts_real *work, int32_t *nearest);

/* Writes all keys that are equally near to row x [d] and nearest, in ascending order, to ties[k]; how many. O(kd). */
int64_t ts_nearest_keys_ties(const ts_nearest_keys *s, ts_key_rows x, int32_t *ties);

/* Row i of rows of d numbers. */
static inline ts_key_rows ts_key_row(ts_key_rows x, int64_t i, int64_t d) {
    return (ts_key_rows){x.real + i * d, x.exact != NULL ? x.exact + i * d : NULL};
}

#endif
