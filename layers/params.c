/* params.c: the list of parameters, their memory and initial values. */
#include "params.h"

#include <stdlib.h>
#include <string.h>

typedef struct param {
    char name[TS_PARAM_NAME];
    ts_shape shape;
    ts_init init;
    int64_t offset;
} param;

struct ts_params {
    param *items;
    int count;
    int64_t size;
    ts_real *values, *grads;
    bool shared; /* names and values belong to another ts_params, gradients to the caller */
};

ts_params *ts_params_create(void) {
    return calloc(1, sizeof(ts_params));
}

void ts_params_free(ts_params *params) {
    if (params == NULL) return;
    if (!params->shared) {
        free(params->items);
        free(params->values);
        free(params->grads);
    }
    free(params);
}

ts_params *ts_params_share(const ts_params *params, ts_real *grads) {
    ts_params *shared = malloc(sizeof *shared);
    if (shared == NULL) return NULL;
    *shared = *params;
    shared->shared = true;
    shared->grads = grads;
    return shared;
}

void ts_params_set_grads(ts_params *shared, ts_real *grads) {
    shared->grads = grads;
}

int ts_params_find(const ts_params *params, const char *name) {
    for (int i = 0; i < params->count; i++)
        if (strcmp(params->items[i].name, name) == 0) return i;
    return -1;
}

int ts_params_add(ts_params *params, const char *name, ts_shape shape, ts_init init, ts_error *error) {
    const size_t length = strlen(name);
    ts_status status = TS_OK;
    if (params->values != NULL)
        status = ts_error_set(error, TS_ERROR_USAGE, "parameter '%s' is added after allocation", name);
    else if (length == 0 || length >= TS_PARAM_NAME)
        status = ts_error_set(error, TS_ERROR_VALUE, "'%s' is no name for a parameter: 1 to %d bytes", name,
                              TS_PARAM_NAME - 1);
    else if (ts_params_find(params, name) >= 0)
        status = ts_error_set(error, TS_ERROR_VALUE, "there are two parameters '%s'", name);
    for (int a = 0; a < shape.rank && status == TS_OK; a++)
        if (shape.dim[a] < 1)
            status = ts_error_set(error, TS_ERROR_SHAPE, "parameter '%s' has an empty axis %d", name, a);
    if (status != TS_OK) return -1;

    param *items = realloc(params->items, (size_t)(params->count + 1) * sizeof *items);
    if (items == NULL) {
        ts_error_set(error, TS_ERROR_MEMORY, "out of memory for parameter '%s'", name);
        return -1;
    }
    params->items = items;
    param *p = &items[params->count];
    *p = (param){.shape = shape, .init = init, .offset = params->size};
    memcpy(p->name, name, length + 1);
    params->size += ts_shape_size(&shape);
    return params->count++;
}

static void initialise(const param *p, uint64_t seed, ts_real *values) {
    const ts_rng rng = {seed, ts_rng_stream(p->name), 0};
    const int64_t size = ts_shape_size(&p->shape);
    for (int64_t i = 0; i < size; i++) switch (p->init.kind) {
        case TS_INIT_ZEROS: values[i] = 0; break;
        case TS_INIT_ONES: values[i] = 1; break;
        case TS_INIT_UNIFORM: values[i] = (ts_real)(p->init.bound * (2 * ts_rng_uniform(rng, (uint64_t)i) - 1)); break;
        }
}

ts_status ts_params_allocate(ts_params *params, uint64_t seed, ts_error *error) {
    if (params->values != NULL) return ts_error_set(error, TS_ERROR_USAGE, "the parameters are allocated already");
    const size_t size = params->size > 0 ? (size_t)params->size : 1;
    params->values = calloc(size, sizeof(ts_real));
    params->grads = calloc(size, sizeof(ts_real));
    if (params->values == NULL || params->grads == NULL)
        return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for %zu parameters", size);
    for (int i = 0; i < params->count; i++) initialise(&params->items[i], seed, ts_params_value(params, i));
    return TS_OK;
}

int ts_params_count(const ts_params *params) {
    return params->count;
}

const char *ts_params_name(const ts_params *params, int i) {
    return params->items[i].name;
}

const ts_shape *ts_params_shape(const ts_params *params, int i) {
    return &params->items[i].shape;
}

ts_real *ts_params_value(ts_params *params, int i) {
    return params->values == NULL ? NULL : params->values + params->items[i].offset;
}

ts_real *ts_params_grad(ts_params *params, int i) {
    return params->grads == NULL || params->items[i].init.fixed ? NULL : params->grads + params->items[i].offset;
}

int64_t ts_params_size(const ts_params *params) {
    return params->size;
}

ts_real *ts_params_values(ts_params *params) {
    return params->values;
}

ts_real *ts_params_grads(ts_params *params) {
    return params->grads;
}

void ts_params_zero_grads(ts_params *params) {
    if (params->grads != NULL) memset(params->grads, 0, (size_t)params->size * sizeof(ts_real));
}

ts_tensor *ts_params_use(ts_params *params, int i, ts_tape *tape) {
    if (params == NULL || i < 0 || i >= params->count)
        return ts_fail(tape, TS_ERROR_USAGE, "there is no parameter %d: was its layer added to these parameters?", i);
    if (params->values == NULL)
        return ts_fail(tape, TS_ERROR_USAGE, "parameter '%s' is used before ts_params_allocate", params->items[i].name);
    return ts_leaf(tape, params->items[i].shape, ts_params_value(params, i), ts_params_grad(params, i));
}
