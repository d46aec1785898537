/* params.h: the parameters of a model: named tensors in one block of memory, their gradients in another.
 *
 * Parameters outlive tapes. Add all of them, allocate once, then use them on any tape. The initial values of a
 * parameter depend only on the seed and its NAME, so adding a layer to a model does not change those of the others. */
#ifndef TS_PARAMS_H
#define TS_PARAMS_H

#include "../autograd/tape.h"

typedef struct ts_params ts_params;

enum { TS_PARAM_NAME = 128 }; /* bytes of a name, with its final NUL */

/* How a parameter is initialised, and whether it is trained. */
typedef struct ts_init {
    enum { TS_INIT_ZEROS, TS_INIT_ONES, TS_INIT_UNIFORM } kind;
    double bound; /* UNIFORM: uniform in (-bound, bound) */
    bool fixed;   /* not trained: it has no gradient; set its values after ts_params_allocate */
} ts_init;

ts_params *ts_params_create(void); /* NULL when out of memory */
void ts_params_free(ts_params *params);

/* The same parameters with separate gradients, owned by the caller: grads [ts_params_size]. For threads that use one
 * model at the same time. Must not outlive `params`. NULL when out of memory. */
ts_params *ts_params_share(const ts_params *params, ts_real *grads);
void ts_params_set_grads(ts_params *shared, ts_real *grads); /* replaces its gradients */

/* Adds a parameter and returns its number, or -1 with *error set: the name is empty, too long or taken, the shape has
 * an empty axis, ts_params_allocate was called before, or memory is short. */
int ts_params_add(ts_params *params, const char *name, ts_shape shape, ts_init init, ts_error *error);

/* Allocates all parameters and gradients and initialises them. Call once. */
ts_status ts_params_allocate(ts_params *params, uint64_t seed, ts_error *error);

int ts_params_count(const ts_params *params);
int ts_params_find(const ts_params *params, const char *name); /* -1 when there is none */
const char *ts_params_name(const ts_params *params, int i);
const ts_shape *ts_params_shape(const ts_params *params, int i);
ts_real *ts_params_value(ts_params *params, int i); /* NULL before ts_params_allocate */
ts_real *ts_params_grad(ts_params *params, int i);  /* NULL before ts_params_allocate, and if fixed */

/* All values, and all gradients, as one array of ts_params_size numbers, for optimisers. The gradients of fixed
 * parameters are zeros there. */
int64_t ts_params_size(const ts_params *params);
ts_real *ts_params_values(ts_params *params);
ts_real *ts_params_grads(ts_params *params);
void ts_params_zero_grads(ts_params *params);

/* Parameter i on a tape: a leaf whose gradient adds up in ts_params_grad. The tape refuses (TS_ERROR_USAGE) a number
 * that does not exist, and any before ts_params_allocate. */
ts_tensor *ts_params_use(ts_params *params, int i, ts_tape *tape);

#endif
