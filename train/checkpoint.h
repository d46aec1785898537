/* checkpoint.h: a model in training as one .safetensors file, which any reader of that format opens.
 *
 *     tensors    every parameter by its name ("cross_points.query.weight", F32), and the optimiser's moments as
 *                "optimiser.0.NAME" and "optimiser.1.NAME"
 *     metadata   "format": "tessera checkpoint 1"; "definition": the model (definition_json.h); "options": what was
 *                asked for; "state": step, schedule, best value. All but the format are JSON.
 *
 * There is no time, host or path in it: the same training gives the same bytes. Files appear whole or not at all
 * (io/output_file.h). The reader trusts nothing: a tensor of another shape or type, one that is missing or not known,
 * options that training would refuse are errors that name it. Built when jansson is there. */
#ifndef TS_CHECKPOINT_H
#define TS_CHECKPOINT_H

#include "trainer.h"

ts_status ts_checkpoint_write(const ts_trainer *trainer, const char *path, ts_error *error);

/* A trainer that goes on where the file stands, to the same bits as if it had never stopped. NULL with *error set. */
ts_trainer *ts_checkpoint_resume(const char *path, ts_error *error);

/* What training was asked for, as JSON text (two spaces a level), to be freed; NULL when out of memory. */
char *ts_train_options_to_json(const ts_train_options *options);

#endif
