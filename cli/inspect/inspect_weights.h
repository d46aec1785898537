/* inspect_weights.h: the weight matrices of a model as heat maps, beside those of the construction that is Lloyd's
 * algorithm. */
#ifndef CLI_INSPECT_WEIGHTS_H
#define CLI_INSPECT_WEIGHTS_H

#include "../../models/run/transformer.h"
#include "inspect_picture.h"

/* A row of maps for each block: query, key and value, and query key', which is what scores see of the first two. */
bool cli_inspect_plot_weights(const ts_transformer *model, const char *path, ts_io_error *error);

#endif
