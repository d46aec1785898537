/* linear_layer.h: what attention asks of its projections, which are linear layers. */
#ifndef TS_LINEAR_LAYER_H
#define TS_LINEAR_LAYER_H

#include "../layer.h"

extern const ts_layer_type ts_linear_layer;

/* Does it copy one group onto itself, unscaled? Then *place is that group's. */
bool ts_linear_layer_is_group(const ts_layer *layer, const ts_layout *layout, ts_place *place);
int64_t ts_linear_layer_width(const ts_layer *layer, const ts_layout *layout);
bool ts_linear_layer_is_fixed(const ts_layer *layer); /* has it nothing to train? */

#endif
