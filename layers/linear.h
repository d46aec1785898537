/* linear.h: y = x W + b on the last axis; x [..,in], W [in,out], b [out], y [..,out]. Gradients, errors and cost:
 * ts_affine in ops.h. */
#ifndef TS_LINEAR_H
#define TS_LINEAR_H

#include "../autograd/ops.h"
#include "params.h"

typedef struct ts_linear {
    int weight;           /* parameter "NAME.weight", [in,out], or [in] if diagonal */
    int bias;             /* parameter "NAME.bias", [out]; -1: none */
    bool diagonal;        /* W = diag(weight), in = out: one multiplication a coordinate */
    int64_t first, count; /* count > 0: y is coordinates first .. first+count-1 of x, and there are no parameters */
} ts_linear;

/* Adds weights and, if `bias`, a bias, all uniform in (-1/sqrt(in), 1/sqrt(in)): the common initialisation that Glorot
 * & Bengio 2010 describe. Fails as ts_params_add does. */
ts_status ts_linear_add(ts_linear *layer, ts_params *params, const char *name, int64_t in, int64_t out, bool bias,
                        ts_error *error);

/* The same without bias and with fixed weights: zero until the caller writes them, and not trained. */
ts_status ts_linear_add_fixed(ts_linear *layer, ts_params *params, const char *name, int64_t in, int64_t out,
                              bool diagonal, ts_error *error);

ts_tensor *ts_linear_forward(const ts_linear *layer, ts_params *params, ts_tape *tape, ts_tensor *x);

#endif
