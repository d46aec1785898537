/* checkpoint.h: the state of a training run as one .safetensors file, which any reader of that format opens.
 *
 *     tensors    every parameter by its name ("cross_points.query.weight", F32), and the optimiser's moments as
 *                "optimiser.0.NAME" and "optimiser.1.NAME"
 *     metadata   "format": "tessera checkpoint 1"; "definition": the model (architecture_json.h); "options": the
 *                training options; "state": step, schedule, best value. All but the format are JSON.
 *
 * It holds no time, host or path: the same training gives the same bytes. Files appear complete or not at all
 * (io/output_file.h). The reader trusts nothing: a tensor that is missing, unknown, or of another shape or type, and
 * options that training would refuse, are errors that name it. Built only if jansson is found. */
#ifndef TS_CHECKPOINT_H
#define TS_CHECKPOINT_H

#include "trainer.h"

/* Fails when the file cannot be written or memory is short; the previous file is then unchanged. */
ts_status ts_checkpoint_write(const ts_trainer *trainer, const char *path, ts_error *error);

/* A trainer that continues from the file, with the same bits as if training had never stopped; NULL with *error set. */
ts_trainer *ts_checkpoint_resume(const char *path, ts_error *error);

/* The same of a run whose tasks are rows of data, which the file does not hold: `data` has them. Refuses other rows. */
ts_trainer *ts_checkpoint_resume_with(const char *path, const ts_train_source *data, ts_error *error);

/* The model of a checkpoint alone: no trainer is built, and no state of an optimiser is needed. Writes to *steps how
 * many steps it was trained for (NULL: not wanted). *model is empty after a failure. */
ts_status ts_model_load(const char *path, ts_model *model, int64_t *steps, ts_error *error);

/* The options as allocated JSON text, indented by two spaces a level; NULL when out of memory. */
char *ts_train_options_to_json(const ts_train_options *options);

#endif
