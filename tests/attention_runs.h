/* attention_runs.h: attention on random numbers, and the fast path of it held against attention written out in double,
 * draw by draw and sum by sum, with the row maps of the exact one. */
#ifndef TESTS_ATTENTION_RUNS_H
#define TESTS_ATTENTION_RUNS_H

#include <float.h>
#include <math.h>

#include "instruction_sets.h"
#include "rounding.h"

/* The maps that have a fast path. */
enum { MAP_COUNT = 4 };
extern const ts_simplex *const MAPS[MAP_COUNT];

ts_attention_spec fast_spec(ts_score score, double gamma, double dropout); /* of softmax */
ts_attention_spec map_spec(int map, int score, double gamma, double dropout);

/* What to add to random queries and keys: linear weights are for scores that are not negative. */
double offset_of(int map, int score);

/* offset + uniform in [-1,1), rounded to float so that both precisions see the same numbers. */
ts_tensor *random_tensor(int64_t b, int64_t n, int64_t d, double offset, const char *name);

/* Under a mask either all keys are seen, or half of them, at random, and some rows see none. */
typedef enum mask_kind { NO_MASK, ALL_SEEN, SOME_SEEN, MASK_KINDS } mask_kind;
ts_tensor *random_mask(int64_t b, int64_t n, int64_t m, mask_kind kind);

typedef struct problem {
    int64_t b, n, m, e, f;
    ts_attention_spec spec;
    double offset;
    mask_kind mask;
} problem;

/* Forward and backward of one problem on every instruction set that is here: within bounds that follow from the error
 * of scores that fast_attention.h states. */
void check_problem(const problem *p);

bool all_zero(const ts_real *x, int64_t n);
bool all_nan(const ts_real *x, int64_t n);

/* A case on a tape, whose gradients hold NaN until they are written, and instruction sets; small work meets threads. */
TCase *attention_case(void);

#endif
