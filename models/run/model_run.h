/* model_run.h: many steps of a model on one data set after another, without a graph. */
#ifndef TS_MODEL_RUN_H
#define TS_MODEL_RUN_H

#include "model.h"

typedef struct ts_model_run ts_model_run;

/* What a step leaves to the next: as the model says; only the places of centres; or the tokens as they are. */
typedef enum ts_run_mode { TS_RUN_AS_MODEL, TS_RUN_REEMBED, TS_RUN_RAW } ts_run_mode;

/* NULL when out of memory. The model must outlive the run. */
ts_model_run *ts_model_run_create(const ts_model *model);
void ts_model_run_free(ts_model_run *run);

/* Starts on a task, whose points must outlive the steps; the centres are copied. Fails if the model does not fit it or
 * memory is short. */
ts_status ts_model_run_begin(ts_model_run *run, const ts_model_task *task, ts_run_mode mode, ts_error *error);
ts_status ts_model_run_step(ts_model_run *run, ts_error *error);

const ts_real *ts_model_run_centers(const ts_model_run *run); /* [k,d], in units of the data */
/* Tokens [n,e] of the points and [k,e] of the centres, as the last step left them. */
const ts_real *ts_model_run_points(const ts_model_run *run);
size_t ts_model_run_bytes(const ts_model_run *run); /* the most memory of its tape */

/* The streams of the next step on the run's tape, which is reset: for tools that look inside a layer. */
ts_streams ts_model_run_streams(ts_model_run *run);

#endif
