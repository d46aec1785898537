/* cluster_job.h: what `tessera cluster` knows, from the file read to the numbers reported. */
#ifndef CLI_CLUSTER_JOB_H
#define CLI_CLUSTER_JOB_H

#include "../../io/table.h"
#include "../../models/data/clustering.h"
#include "../../models/data/rescaling.h"
#include "cluster_model.h"
#include "cluster_options.h"

/* One run from its initial centres. */
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

typedef struct cli_cluster_job {
    const cli_cluster_options *options;
    int64_t n, d, k;
    cli_cluster_model model;
    ts_table table; /* its names and classes; the values are freed once the points are made */
    ts_rescaling rescaling;
    ts_real *points; /* [n,d] as scaled */
    double *exact;   /* [n,d] the same in double, where points are roundings; else NULL */
    double *init;    /* [k,d] as scaled, from --init FILE */
    cli_run run;     /* the best */
    bool keeps_path;
    bool narrow; /* a model gets a column that spans less than a fifth of [0,1], as it never saw in training */
    /* In the units of the file: */
    double *centers; /* [k,d] */
    double objective;
    double adjusted_rand_index; /* with --labels-column */
    double max_center_diff;
    int64_t label_mismatches; /* with --compare */
    int64_t *sizes;           /* [k] rows of each cluster */
    double seconds;
} cli_cluster_job;

void cli_cluster_job_free(cli_cluster_job *job);

/* "FILE: reason" and "FILE: out of memory"; return CLI_FAILED. */
int cli_cluster_fail(const cli_cluster_job *job, const ts_error *error);
int cli_cluster_fail_memory(const cli_cluster_job *job);

/* The points, as scaled. */
ts_points cli_cluster_job_points(const cli_cluster_job *job);

/* Converts scaled rows to the units of the file, unless the reported centres are directions, which have no unit. */
bool cli_cluster_reports_directions(const cli_cluster_job *job);
void cli_cluster_job_invert(const cli_cluster_job *job, int64_t rows, const double *points, double *table);

/* count * a elements of memory; NULL when that is too much. */
void *cli_allocate(int64_t count, int64_t a, size_t size);

bool cli_run_allocate(const cli_cluster_job *job, cli_run *run);
void cli_run_free(cli_run *run);

/* The problem of the job from the centres at the beginning of run->path. */
ts_problem cli_run_problem(const cli_cluster_job *job, const cli_run *run);

#endif
