/* cluster_job.h: what `tessera cluster` computes, from the file read to the numbers reported. */
#ifndef CLI_CLUSTER_JOB_H
#define CLI_CLUSTER_JOB_H

#include "../../io/table.h"
#include "../../models/data/clustering.h"
#include "../../models/data/rescaling.h"
#include "cluster_model.h"
#include "cluster_options.h"
#include "cluster_run.h"

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

/* Reads, scales, clusters, compares. Returns CLI_DONE, or CLI_FAILED after saying why; free it in either case. */
int cli_cluster_job_run(const cli_cluster_options *options, cli_cluster_job *job);
void cli_cluster_job_free(cli_cluster_job *job);

/* Writes the definition that the options mean to standard output as JSON, reading the file only where gamma is chosen
 * by the data. */
int cli_cluster_job_print_arch(const cli_cluster_options *options);

/* The points, as scaled. */
ts_points cli_cluster_job_points(const cli_cluster_job *job);

/* rows of numbers as scaled to the units of the file. */
void cli_cluster_job_invert(const cli_cluster_job *job, int64_t rows, const double *points, double *table);

#endif
