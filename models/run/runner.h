/* runner.h: runs any clustering transformer, a construction or a trained model, on one data set, step by step.
 *
 *     ts_runner *c = ts_runner_create(&definition, &problem, &error);
 *     while (!ts_runner_state(c)->converged && steps-- > 0)
 *         if (ts_runner_step(c, &error) != TS_OK) ...
 *     ts_runner_finish(c, &error);          // labels are now those of the centres in the state
 *     ts_runner_free(c);
 *
 * If the self-attention of points is the identity, nothing of size n x n is ever allocated. A layer that computes
 * Lloyd's step is streamed (streamed_layer.h): there are no tokens of points, and the caller's rows are read in place.
 * Labels and centres are the same as by the ops, which problem.op_by_op requests.
 *
 * Attention cannot do everything; outside the layer are the treatment of empty clusters (clustering.h), of centres that
 * lost their direction (definition.h, ts_norm_definition), and the rule that a medoid belongs to its own cluster
 * (plain.h). */
#ifndef TS_RUNNER_H
#define TS_RUNNER_H

#include "../data/clustering.h"
#include "../definition/definition.h"
#include "model_run.h"

typedef struct ts_runner ts_runner;

/* NULL, with *error set, if the definition or the problem is refused (k < 1, k > n, d < 1, a point without direction
 * although the definition normalises) or memory is short. The problem's points must outlive the runner. */
ts_runner *ts_runner_create(const ts_definition *definition, const ts_problem *problem, ts_error *error);
/* The same for any model (model.h), trained ones too, which must outlive the runner; problem.seed is that of its marks
 * and random draws. There is nothing outside its layers: no repairs, no medoids, no trimming. The labels of the state
 * are those of its centres, from the beginning on: the nearest centre's, or the codes' if the model says so; it has
 * converged when a step changes no label. */
ts_runner *ts_runner_create_for(const ts_model *model, const ts_problem *problem, ts_run_mode mode, ts_error *error);
void ts_runner_free(ts_runner *runner);

/* Assigns the points and moves the centres, once. Fails if memory is short, if the layer's numbers are not finite, and
 * if a cluster is empty under TS_EMPTY_ERROR. O(nkd) for a streamed layer. */
ts_status ts_runner_step(ts_runner *runner, ts_error *error);

/* Assigns once more with the current centres and moves none, so that labels and centres match. Trimmed points get the
 * label -1; k-medoids returns to the cheapest medoids found so far. */
ts_status ts_runner_finish(ts_runner *runner, ts_error *error);

/* The state after the last step; valid until ts_runner_free. */
const ts_clustering *ts_runner_state(const ts_runner *runner);

/* weights [n,k]: the share of each point that each current centre has; rows sum to 1, those of trimmed points to 0.
 * Call it after ts_runner_finish. */
ts_status ts_runner_weights(ts_runner *runner, ts_real *weights, ts_error *error);

/* Is it run in double, on a problem stated in double (clustering.h)? Streamed layers are, without a norm or with one of
 * all data coordinates to length 1 and dot products as scores. */
bool ts_runner_is_exact(const ts_runner *runner);

/* How many points had a weight of exactly 1 for one centre and 0 for all others in the last assignment; -1 without
 * one-hot codes. */
int64_t ts_runner_onehot_rows(const ts_runner *runner);

/* The peak memory of the tape and the streamed layer, in bytes. */
size_t ts_runner_bytes(const ts_runner *runner);

#endif
