/* evaluation.h: compares a learned model with Lloyd's algorithm on fresh tasks, from the same initial centres. */
#ifndef TS_EVALUATION_H
#define TS_EVALUATION_H

#include "../models/run/model_run.h"
#include "source.h"

/* The initial centres; k-means++ and gonzalez start from the task's first row and choose the others. */
typedef enum ts_start { TS_START_RANDOM, TS_START_KMEANS_PP, TS_START_GONZALEZ } ts_start;
extern const char *const ts_start_names[]; /* "random" (the task's own first k rows), "kmeans++", "gonzalez", NULL */

typedef struct ts_evaluation {
    ts_task_spec task;       /* d and k are the model's, unless it serves any */
    const ts_source *source; /* the tasks are of this source instead; NULL: none */
    int64_t tasks; /* tasks 0 .. tasks-1 of `seed`; for tasks unlike those of training see ts_evaluation_seed */
    int64_t steps;
    ts_run_mode mode;
    ts_start start;
    uint64_t seed;
} ts_evaluation;

/* A seed whose tasks differ from those of every training step with `seed`. */
uint64_t ts_evaluation_seed(uint64_t seed);

/* Writes the natural logarithm of the k-means objective, sum_i min_j ||x_i - c_j||^2, of each task after 0 .. steps
 * steps to lloyd [tasks,steps+1] and learned [tasks,steps+1]; either may be NULL. Lloyd's algorithm keeps the centre of
 * an empty cluster. The values are -inf where the objective is 0, and NaN or inf where a model diverges. Threads share
 * the tasks; memory is that of one task for each thread. Fails when the task's spec is wrong, d or k is not the
 * model's, or memory is short. */
ts_status ts_evaluate(const ts_model *model, const ts_evaluation *evaluation, double *lloyd, double *learned,
                      ts_error *error);

/* The logarithm of the objective of centers [k,d] on points [n,d]; NaN if a centre is NaN. O(n k d). */
double ts_log_objective(int64_t n, int64_t d, int64_t k, const ts_real *points, const ts_real *centers);

#endif
