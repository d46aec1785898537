/* learner.h: the clustering transformer that is trained [C26 section 4, P26 section 3; definition.h], and its runs of
 * many steps.
 *
 * It is one layer of four blocks of Euclidean softmax attention with scores -gamma ||q - k||^2 / sqrt(e) and learned
 * projections. It is run by re-embedding: in every step the centres are new tokens [c | code] and the points [x | 0].
 * (On its own output tokens, mode "raw", a layer that was trained for one step diverges.) */
#ifndef TS_LEARNER_H
#define TS_LEARNER_H

#include "transformer.h"

/* The definition; it has 12 (e^2 + e) parameters, e = d + s. */
ts_definition ts_learner(ts_construction construction, double gamma, double dropout);

/* `steps` re-embedded steps on a tape, from points x [n,d] and centres c [k,d]: writes the centres [k,d] after each
 * step to after[steps]. The self-attention of the points is computed once. `step` selects the random draws of dropout.
 */
void ts_learner_unroll(const ts_transformer *model, ts_tape *tape, const ts_real *x, int64_t n, const ts_real *c,
                       int64_t steps, uint32_t step, ts_tensor **after);

/* Runs a model on one data set after another. */
typedef struct ts_learner_run ts_learner_run;

typedef enum ts_learner_mode { TS_LEARNER_REEMBED, TS_LEARNER_RAW } ts_learner_mode;

/* NULL when out of memory. The model must outlive the run, which is without dropout. */
ts_learner_run *ts_learner_run_create(const ts_transformer *model);
void ts_learner_run_free(ts_learner_run *run);

/* Starts with points [n,d], which must outlive the steps, and initial centres [k,d], which are copied. */
ts_status ts_learner_run_begin(ts_learner_run *run, int64_t n, const ts_real *points, const ts_real *centers,
                               ts_learner_mode mode, ts_error *error);
ts_status ts_learner_run_step(ts_learner_run *run, ts_error *error);
const ts_real *ts_learner_run_centers(const ts_learner_run *run); /* [k,d] */

#endif
