/* learner.h: the clustering transformer that is trained [C26 section 4, P26 section 3], and how it is run for many
 * steps.
 *
 * One layer of four blocks of euclidean softmax attention, scores -gamma ||q - k||^2 / sqrt(e), all projections
 * learned. It is run by re-embedding: centres enter every step as fresh tokens [c | code], points as [x | 0]. (Run on
 * its own tokens instead, "raw", a layer that was trained for one step diverges.) */
#ifndef TS_LEARNER_H
#define TS_LEARNER_H

#include "transformer.h"

/* The definition: 12 (e^2 + e) parameters, e = d + s. */
ts_definition ts_learner(ts_scheme scheme, double gamma, double dropout);

/* `steps` re-embedded steps on a tape: x [n,d] and c [k,d] to the centres [k,d] after each step, which are written to
 * after[steps]. The points' self-attention is computed once. `draw` numbers the random draws. */
void ts_learner_unroll(const ts_transformer *model, ts_tape *tape, const ts_real *x, int64_t n, const ts_real *c,
                       int64_t steps, uint32_t draw, ts_tensor **after);

/* A run on one data set after the other. */
typedef struct ts_learner_run ts_learner_run;

typedef enum ts_learner_mode { TS_LEARNER_REEMBED, TS_LEARNER_RAW } ts_learner_mode;

/* NULL when out of memory. The model must outlive the run; it is run without dropout. */
ts_learner_run *ts_learner_run_create(const ts_transformer *model);
void ts_learner_run_free(ts_learner_run *run);

/* Begins with points [n,d], which must outlive the steps, and initial centres [k,d], copied. */
ts_status ts_learner_run_begin(ts_learner_run *run, int64_t n, const ts_real *points, const ts_real *centers,
                               ts_learner_mode mode, ts_error *error);
ts_status ts_learner_run_step(ts_learner_run *run, ts_error *error);
const ts_real *ts_learner_run_centers(const ts_learner_run *run); /* [k,d] */

#endif
