#include "cluster_criterion.h"

#include <math.h>
#include <stdio.h>

#include "../../models/data/scores.h"

typedef enum criterion {
    SQUARED, /* the first three as ts_cost */
    DISTANCE,
    COSINE,
    FREE_ENERGY,
    COSINE_ENERGY,
    FUZZY,
    ALL_BUT_FAR
} criterion;

static const char *const names[] = {"sum of squared distances",
                                    "sum of distances",
                                    "sum of 1 - cosine",
                                    "free energy",
                                    "free energy of 1 - cosine",
                                    "sum of squared distances by the m-th powers of shares",
                                    "sum of squared distances of all rows but the farthest 10 %"};

static const double FAR_SHARE = 0.1;

/* Softmax assignments minimise the free energy if codes carry the shares exactly, which binary codes do not. Trimming a
 * share sums over the rows kept. Other weights by distance minimise no known sum: most of the rows judge the centres.
 */
static criterion criterion_of(const cli_cluster_job *job) {
    const cli_cluster_model *m = &job->model;
    const ts_definition *d = &m->definition;
    const bool is_table = m->variant != NULL, trims_share = is_table && m->variant->trims && m->settings.trim >= 0;
    if (d->cross_centers.own_code && !d->medoids && !m->directions && !trims_share) return ALL_BUT_FAR;
    if (is_table && ts_variant_has(m->variant, "m")) return FUZZY;
    if (is_table && d->cross_points.simplex.map->argmax == TS_NO_ARGMAX && d->construction != TS_CONSTRUCTION_BINARY)
        return m->directions ? COSINE_ENERGY : FREE_ENERGY;
    return (criterion)m->cost;
}

/* Without a scaling all columns share one unit, and criteria are reported in the unit of the file. */
static bool is_in_file_units(const cli_cluster_job *job) {
    return job->options->scaling == TS_SCALING_NONE && !job->model.trained;
}

static double measure(const cli_cluster_job *job, const cli_run *run, criterion c) {
    const ts_points points = cli_cluster_job_points(job);
    const ts_settings *s = &job->model.settings;
    switch (c) {
    case FREE_ENERGY: return ts_free_energy(TS_COST_SQUARED, &points, job->k, run->centers, s->gamma);
    case COSINE_ENERGY: return ts_free_energy(TS_COST_COSINE, &points, job->k, run->centers, s->gamma);
    case FUZZY: return ts_fuzzy_objective(&points, job->k, run->centers, s->fuzziness);
    case ALL_BUT_FAR: return ts_trimmed_objective(&points, job->k, run->centers, FAR_SHARE);
    default: return ts_cost_of((ts_cost)c, &points, NULL, run->centers, run->labels);
    }
}

double cli_cluster_criterion(const cli_cluster_job *job, const cli_run *run) {
    const criterion c = criterion_of(job);
    const double unit = is_in_file_units(job) ? job->rescaling.scale[0] : 1;
    const bool has_no_unit = c == COSINE || c == COSINE_ENERGY;
    return measure(job, run, c) * (has_no_unit ? 1 : c == DISTANCE ? unit : unit * unit);
}

const char *cli_cluster_criterion_name(const cli_cluster_job *job, char text[CLI_CRITERION_TEXT]) {
    snprintf(text, CLI_CRITERION_TEXT, "%s%s", names[criterion_of(job)], is_in_file_units(job) ? "" : ", as scaled");
    return text;
}

bool cli_cluster_criterion_is_objective(const cli_cluster_job *job) {
    const criterion c = criterion_of(job);
    return c == COSINE || (c < COSINE && is_in_file_units(job));
}
