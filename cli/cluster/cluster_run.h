/* cluster_run.h: one run of `tessera cluster` from its initial centres, by a circuit or a learned model. */
#ifndef CLI_CLUSTER_RUN_H
#define CLI_CLUSTER_RUN_H

#include "../../models/data/clustering.h"
#include "../common/progress.h"

struct cli_cluster_job;

/* One run of the circuit from its initial centres. */
typedef struct cli_run {
    int64_t restart; /* from 0 */
    uint64_t seed;
    double *path; /* [path_steps + 1, k, d] centres before and after every step, if it is kept; else the initial ones */
    int64_t path_steps, path_room;
    ts_real *start;   /* [k,d] the initial centres in ts_real */
    double *centers;  /* [k,d] */
    int64_t *labels;  /* [n] -1: trimmed */
    ts_real *weights; /* [n,k] if they are asked for, else NULL */
    int64_t steps, empty_repairs, trimmed;
    int64_t best_step; /* of a learned model: after which of the steps the centres are the best */
    bool converged;
    bool in_double;   /* all of it was computed so */
    double criterion; /* cluster_criterion.h; the run with the least is kept */
} cli_run;

/* count * a * b elements of memory; NULL when that is too much. */
void *cli_allocate(int64_t count, int64_t a, size_t size);

bool cli_run_allocate(const struct cli_cluster_job *job, cli_run *run);
void cli_run_free(cli_run *run);

/* The problem of the job from the centres at the beginning of run->path. */
ts_problem cli_run_problem(const struct cli_cluster_job *job, const cli_run *run);

/* From there to the end. CLI_DONE, or CLI_FAILED after saying why. A learned model's result is the best of its steps.
 */
int cli_run_circuit(const struct cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress);
int cli_run_learned(const struct cli_cluster_job *job, cli_run *run, int64_t restarts, cli_progress *progress);

#endif
