/* variant_runs.h: runs of variants on small problems, for their tests. */
#ifndef TESTS_VARIANT_RUNS_H
#define TESTS_VARIANT_RUNS_H

#include <float.h>
#include <math.h>

#include "../models/definition/variants.h"
#include "../models/run/runner.h"
#include "rounding.h"
#include "test_main.h"

extern ts_error error; /* the last one; cleared before every test */

#define ROWS(array) (int64_t)(sizeof(array) / sizeof *(array))
#define PROBLEM(dims, points_, centers_)                                                                               \
    (ts_problem) {                                                                                                     \
        .n = ROWS(points_) / (dims), .d = (dims), .k = ROWS(centers_) / (dims), .points = points_, .centers = centers_ \
    }

/* Each of these succeeds, or the test ends. gamma 0: the variant's own. */
const ts_variant *variant(const char *name);
ts_settings settings_of(const char *name, const char *construction, double gamma);
ts_definition define(const char *name, const ts_settings *s);
ts_definition lloyd(double gamma, bool share_ties); /* with one-hot codes */
ts_runner *runner_of(const char *name, const ts_settings *s, const ts_problem *p);
ts_plain *plain_of(const char *name, const ts_settings *s, const ts_problem *p);
const ts_clustering *step(ts_runner *runner);
const ts_clustering *finish(ts_runner *runner);

bool near(double a, double b, double tolerance);
double length_of(int64_t d, const ts_real *c);

/* Every construction of every variant, one after the other, with a gamma that suits the data where one is needed; the
 * softmax of those that are exact as well. */
typedef struct setting {
    const ts_variant *variant;
    ts_settings settings;
} setting;

enum { MOST_SETTINGS = 64 };
int all_settings(const ts_problem *p, setting *list);
void expect_sane(const setting *s, const ts_problem *p, const ts_clustering *state);

/* Round blobs around k places, which are 10 apart along the diagonal, `spread` wide; no row is zero. */
void fill_blobs(int64_t n, int64_t d, int64_t k, double spread, uint64_t seed, ts_real *x);
/* Two values a coordinate: duplicates everywhere, and ties. */
void fill_duplicates(int64_t n, int64_t d, uint64_t seed, ts_real *x);

/* Runs the suite of these tests; what main returns. */
int run_variant_tests(const char *name, void (*add_tests)(TCase *tests));

#endif
