/* evaluation.h: learned steps against Lloyd's, on fresh tasks, from the same initial centres. */
#ifndef TS_EVALUATION_H
#define TS_EVALUATION_H

#include "../models/run/learner.h"
#include "tasks.h"

/* Where the centres start; k-means++ and gonzalez choose the rows after the task's first centre. */
typedef enum ts_start { TS_START_RANDOM, TS_START_KMEANS_PP, TS_START_GONZALEZ } ts_start;
extern const char *const ts_start_names[]; /* "random" (the task's own first k rows), "kmeans++", "gonzalez", NULL */

typedef struct ts_evaluation {
    ts_task_spec task; /* d and k are the model's */
    int64_t tasks;     /* numbers 0 .. tasks-1 of `seed`; training draws others, by ts_evaluation_seed */
    int64_t steps;
    ts_learner_mode mode;
    ts_start start;
    uint64_t seed;
} ts_evaluation;

/* A seed whose tasks are those of no training step with `seed`. */
uint64_t ts_evaluation_seed(uint64_t seed);

/* Writes the log of the k-means objective, sum_i min_j ||x_i - c_j||^2, after 0 .. steps steps of each task to lloyd
 * [tasks,steps+1] and learned [tasks,steps+1]; either may be NULL. Lloyd's algorithm keeps the centre of an empty
 * cluster. -inf where the objective is 0; NaN or inf where a model diverges. Tasks are shared out among threads, and
 * memory is that of a task a thread. */
ts_status ts_evaluate(const ts_transformer *model, const ts_evaluation *evaluation, double *lloyd, double *learned,
                      ts_error *error);

/* The log of the objective of one set of centres; NaN when a centre is. */
double ts_log_objective(int64_t n, int64_t d, int64_t k, const ts_real *points, const ts_real *centers);

#endif
