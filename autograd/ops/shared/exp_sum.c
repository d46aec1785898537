/* exp_sum.c: maxima and sums of exponentials along an axis (exp_sum.h). */
#include "exp_sum.h"

#include "extreme.h"
#include "sum.h"

typedef struct term_context {
    const ts_real *x;
    const double *shift;
} term_context;

static void sum_terms(const ts_piece *piece, const void *context, double *into) {
    const term_context *t = context;
    const ts_real *x = t->x + piece->start;
    const double *shift = t->shift + piece->total;
    for (int64_t c = 0; c < piece->width; c++) into[c] = 0;
    for (int64_t j = 0; j < piece->count; j++)
        for (int64_t c = 0; c < piece->width; c++) into[c] += ts_exp_term(x[j * piece->step + c], shift[c]);
}

void ts_largest_along(const ts_axis *axis, const ts_real *x, double *shift) {
    ts_axis_reduce(axis, ts_largest_piece, x, ts_join_largest, shift);
}

void ts_exp_sum_along(const ts_axis *axis, const ts_real *x, const double *shift, double *sum) {
    const term_context context = {x, shift};
    ts_axis_reduce(axis, sum_terms, &context, ts_join_sums, sum);
}

size_t ts_exp_sum_scratch(const ts_axis *axis) {
    return 2 * (size_t)ts_axis_partials(axis) * sizeof(double);
}
