/* inspect_pictures.h: a model's weights, and where it looks in one task, as heat maps. */
#ifndef CLI_INSPECT_PICTURES_H
#define CLI_INSPECT_PICTURES_H

#include "../../io/io_error.h"
#include "../../models/run/transformer.h"
#include "../../train/trainer.h"

/* A row of maps for each block: query, key and value, and query key', which is what scores see of the first two. */
bool cli_inspect_plot_weights(const ts_transformer *model, const char *path, ts_io_error *error);

/* Of a model of any layers: every matrix of its parameters as a map, by the names of its layers. */
bool cli_inspect_plot_layers(const ts_model *model, const char *path, ts_io_error *error);

/* The attention of points to centres and of centres to points in some re-embedded steps, beside the nearest centre of
 * each point, which is what Lloyd's algorithm would look at; and the two self-attentions. The task is the first of
 * those that watched over the training, points ordered by their true cluster, centres by that of the point they start
 * at. The same bytes for the same trainer (.pdf: but for its date). */
bool cli_inspect_plot_attention(const ts_trainer *trainer, const char *path, ts_io_error *error);

#endif
