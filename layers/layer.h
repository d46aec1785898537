/* layer.h: layers as data. A layer type is a descriptor in one file, like an op; a model is a tree of layers of such
 * types (models/definition/architecture.h), written in C or as JSON.
 *
 * Every layer maps the rows of a stream to as many rows: the points [n,e] or the centres [k,e] of one task. The rows of
 * both streams are tokens (tokens.h). A layer adds its parameters when a model is built, and is applied on a tape.
 *
 *     static ts_tensor *forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
 *         return ts_tanh(streams->tape, x);
 *     }
 *     const ts_layer_type tanh_layer = {.name = "tanh", .summary = "y = tanh x", .fields = ts_no_fields,
 *                                       .forward = forward};
 *     ts_layer_register(&tanh_layer, &error);            // now {"tanh": {}} can stand in JSON
 *
 * Equivariance. A field "weights" = "equivariant" makes a layer's weights scalars on the data coordinates and matrices
 * on all others. Where the others are memory only, parameters know neither d nor k, and turning or moving the data
 * turns and moves what a model of such layers does. */
#ifndef TS_LAYER_H
#define TS_LAYER_H

#include "field.h"
#include "params.h"
#include "tokens.h"

enum { TS_LAYER_NAME = 32, TS_LAYER_PATH = 96, TS_LAYER_PARTS = 12, TS_LAYER_PARAMS = 16 };

typedef struct ts_layer_type ts_layer_type;

/* ---- a layer as data ------------------------------------------------------------------------------------------ */

/* One unit of a fixed feed-forward layer, or one copy of a fixed linear one (weight is then not used). */
typedef struct ts_layer_copy {
    ts_copy copy;
    double weight;
} ts_layer_copy;

typedef struct ts_layer_spec {
    const ts_layer_type *type;
    char name[TS_LAYER_NAME]; /* begins the names of its parameters; "": they begin with its place in the model */
    double field[TS_MAX_FIELDS];
    int n_copies;
    ts_layer_copy copy[TS_MAX_COPIES];
    int n_parts;
    struct ts_layer_spec *part[TS_LAYER_PARTS]; /* owned; of a type with named parts in their order, NULL: not given */
} ts_layer_spec;

/* A layer of that type, its fields at their defaults; NULL when out of memory. Free it with its parts. */
ts_layer_spec *ts_layer_spec_create(const ts_layer_type *type);
void ts_layer_spec_free(ts_layer_spec *spec);
/* The value of a field by name, for writing in C: *ts_layer_field(spec, "heads") = 4. NULL: it has no such field. */
double *ts_layer_field(ts_layer_spec *spec, const char *name);
/* Adds a part to the end of a list; frees it and fails if there is no room, or either is NULL. */
ts_status ts_layer_spec_add(ts_layer_spec *spec, ts_layer_spec *part, ts_error *error);

/* ---- a layer that was built ------------------------------------------------------------------------------------- */

typedef struct ts_layer {
    const ts_layer_spec *spec;
    char path[TS_LAYER_PATH];   /* its place in the model, for messages: layers[1].centers[0].attention */
    char prefix[TS_LAYER_PATH]; /* of its parameters' names */
    int param[TS_LAYER_PARAMS]; /* numbers of its parameters, as the type has them; -1: none */
    int n_parts;
    struct ts_layer *part[TS_LAYER_PARTS]; /* owned */
    uint32_t stream[2];                    /* random streams: dropout, simplex map */
    bool on_centers;                       /* which stream is its own */
} ts_layer;

/* What is known while a model is built. */
typedef struct ts_layer_builder {
    ts_params *params;
    ts_layout layout;
    bool on_centers;
    bool of_part; /* the layer is a part of another, like a query, and no row of a stream */
    ts_error *error;
} ts_layer_builder;

/* Soft assignments of points to centres by several heads, which the layer soft_assignment leaves for others. */
typedef struct ts_assignments {
    ts_tensor *distances;   /* [n,k] squared, between data coordinates */
    ts_tensor *log_weights; /* [h,n,k] */
    ts_tensor *weights;     /* [h,n,k] */
} ts_assignments;

enum { TS_MEMO = 16 };

/* What layers share while a model is applied to one task. */
typedef struct ts_streams {
    ts_tape *tape;
    ts_params *params;
    ts_layout layout;
    ts_tensor *points, *centers;             /* both streams before the current list of layers */
    ts_tensor *first_points, *first_centers; /* both before the first step */
    bool training;                           /* dropout drops */
    uint64_t seed;                           /* of random draws .. */
    uint32_t step;                           /* .. in this step */
    ts_assignments assignments;
    /* What depends only on `fresh`, points whose tokens are the same in every step, is computed once. */
    ts_tensor *fresh; /* NULL: nothing is */
    int scopes;       /* scopes of the tape that are open: what is made in them is not kept on a tape without a graph */
    int n_memo;
    struct {
        const ts_layer *layer;
        ts_tensor *output;
    } memo[TS_MEMO];
} ts_streams;

/* ---- layer types ------------------------------------------------------------------------------------------------ */

struct ts_layer_type {
    const char *name, *summary;
    const ts_field *fields;   /* ts_no_fields: none */
    const char *const *parts; /* the names of its parts, each a linear layer, ending with NULL; NULL: none */
    bool list;                /* its parts are a list of layers instead */
    bool last_first;          /* builds its parts from the last to the first: their parameters are in that order */
    bool copies;              /* takes fixed copies, or units */
    bool random;              /* draws random numbers when it is applied */

    /* Checks what the fields alone do not say, and adds its parameters; layer->path is set, and its parts are built.
     * NULL: there is nothing to do. */
    ts_status (*build)(ts_layer *layer, ts_layer_builder *builder);
    /* Writes initial values that are not those of ts_init, after ts_params_allocate. NULL: there are none. */
    void (*fill)(const ts_layer *layer, ts_params *params, const ts_layout *layout);
    /* y of x, both [n,e] or [k,e]. Failures are recorded on the tape. */
    ts_tensor *(*forward)(const ts_layer *layer, ts_streams *streams, ts_tensor *x);
    /* Does the output depend on nothing but x and parameters? NULL: no. */
    bool (*alone)(const ts_layer *layer);
};

extern const ts_field ts_no_fields[];

/* The built-in types, ending with NULL, and the type of that name, built in or registered; NULL: there is none. */
extern const ts_layer_type *const ts_layer_types[];
const ts_layer_type *ts_layer_type_by_name(const char *name);
/* Makes a type of the caller's known by its name. Call it before threads read types. TS_ERROR_USAGE if the name is
 * taken or the type lacks fields or forward. */
ts_status ts_layer_register(const ts_layer_type *type, ts_error *error);

/* ---- building and applying -------------------------------------------------------------------------------------- */

/* Builds a layer and its parts. `place` is its path without its type, "layers[0].points[1]"; `prefix` what its
 * parameters' names begin with unless the spec has a name. NULL with *builder->error set. */
ts_layer *ts_layer_build(const ts_layer_spec *spec, const char *place, const char *prefix, ts_layer_builder *builder);
void ts_layer_free(ts_layer *layer);
void ts_layer_fill(const ts_layer *layer, ts_params *params, const ts_layout *layout);
ts_tensor *ts_layer_forward(const ts_layer *layer, ts_streams *streams, ts_tensor *x);

/* For types: a value of a field by its place, a refusal that names the layer, a parameter NAME of this layer. */
double ts_layer_value(const ts_layer *layer, int place);
ts_status ts_layer_refuse(const ts_layer *layer, ts_layer_builder *builder, const char *format, ...) TS_PRINTF(3, 4);
int ts_layer_param(ts_layer *layer, ts_layer_builder *builder, const char *name, ts_shape shape, ts_init init);
/* Weights [in,out] of a layer, uniform in +-1/sqrt(in). */
int ts_layer_matrix(ts_layer *layer, ts_layer_builder *builder, const char *name, int64_t in, int64_t out);
ts_tensor *ts_layer_use(const ts_layer *layer, int slot, ts_streams *streams);

/* Scopes of the tape (tape.h), for layers that release what they need for a while. */
ts_scope ts_layer_scope_begin(ts_streams *streams);
ts_tensor *ts_layer_scope_end(ts_streams *streams, ts_scope scope, ts_tensor *keep);

/* The data coordinates of rows [..,e], and all others. */
ts_tensor *ts_data_of(ts_streams *streams, ts_tensor *rows);
ts_tensor *ts_rest_of(ts_streams *streams, ts_tensor *rows);
ts_tensor *ts_join_data(ts_streams *streams, ts_tensor *data, ts_tensor *rest);

#endif
