/* architecture.h: a clustering transformer as data, composed of layers.
 *
 *     tokens        what rows of points and centres hold beside their data (layers/tokens.h)
 *     layers        each has a list for the points and one for the centres, of layers of any type (layers/layer.h).
 *                   A step applies all: the points of a layer, then its centres, then the next layer
 *     kept          from step to step: only the places of the centres, with fresh tokens in every step; or the tokens
 * of both, as the layers left them labels        a point belongs to the nearest centre; or to the cluster whose code is
 * nearest to its own standardised  the layers see (x - mean) / r, r the root of the points' mean squared distance to
 * their mean
 *
 * The four blocks of a definition (definition.h) are one such layer: ts_architecture_of_definition. Architectures are
 * read from JSON and written by architecture_json.h; ts_model_build (models/run/model.h) builds one for some d and k.
 */
#ifndef TS_ARCHITECTURE_H
#define TS_ARCHITECTURE_H

#include "../../layers/layer.h"
#include "definition.h"

enum { TS_MAX_LAYERS = 16 };

typedef enum ts_labels { TS_LABELS_NEAREST, TS_LABELS_CODE } ts_labels;
extern const char *const ts_labels_names[]; /* "nearest", "code", NULL */

typedef struct ts_architecture_layer {
    int times;                       /* how often the layer is applied in a step */
    bool shared;                     /* with the same weights each time */
    ts_layer_spec *points, *centers; /* owned; of type sequence */
} ts_architecture_layer;

typedef struct ts_architecture {
    char name[TS_DEFINITION_NAME];
    ts_token_spec tokens;
    bool keeps_tokens, standardised;
    ts_labels labels;
    int n_layers;
    ts_architecture_layer layer[TS_MAX_LAYERS];
    ts_definition *definition; /* owned; the definition that it was made of, as which it is written; or NULL */
} ts_architecture;

/* Without layers, of tokens without anything beside data; NULL when out of memory. */
ts_architecture *ts_architecture_create(const char *name);
void ts_architecture_free(ts_architecture *architecture); /* NULL is fine */

ts_architecture *ts_architecture_copy(const ts_architecture *architecture); /* NULL when out of memory */

/* Adds an empty layer, applied once, and returns it; NULL with *error set. Add to its lists with ts_layer_spec_add. */
ts_architecture_layer *ts_architecture_add(ts_architecture *architecture, ts_error *error);

/* The same model, of one layer whose attention layers have the names of the blocks, so that parameters have the names
 * and the values of ts_transformer_build. Medoids and trimming, which attention alone cannot do, are not in it. NULL
 * with *error set when out of memory. */
ts_architecture *ts_architecture_of_definition(const ts_definition *definition, ts_error *error);

/* Has the definition a part that is trained? */
bool ts_definition_is_learned(const ts_definition *definition);

#endif
