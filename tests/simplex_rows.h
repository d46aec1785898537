/* simplex_rows.h: simplex maps run on single rows, in double. */
#ifndef TESTS_SIMPLEX_ROWS_H
#define TESTS_SIMPLEX_ROWS_H

#include "../autograd/ops.h"
#include "test_main.h"

enum { LONGEST = 256 };

typedef struct probe {
    const ts_simplex *map;
    double parameter;
    bool smooth; /* its gradient is its derivative and not zero everywhere */
} probe;

/* Every map, those with a parameter at several. */
extern const probe probes[];
extern const int n_probes;

ts_simplex_row row_of(const probe *of, int64_t n, double *work);

/* p = the weights of s; nothing past them is written. */
void weights(const probe *of, int64_t n, const double *s, double *p);

/* ds = (dp/ds)^T dp; 0 of a map that has no gradient. */
void gradient(const probe *of, int64_t n, const double *s, const double *dp, double *ds);

/* The scores a map is made for: 1 and -1 one sign, 0 any. */
int sign_of(const ts_simplex *map);

/* Uniform in (-scale, scale), or (0, scale) or (-scale, 0) for the maps that want one sign. */
void random_row(const ts_simplex *map, uint32_t step, double scale, int64_t n, double *s);

void check_weights(const probe *of, int64_t n, const double *s, const double *right, double tolerance);

#define ROW(...) ((double[]){__VA_ARGS__})

#endif
