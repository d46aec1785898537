/* linear.h: y = x W + b on the last axis; x [..,in], W [in,out], b [out], y [..,out]. */
#ifndef TS_LINEAR_H
#define TS_LINEAR_H

#include "../autograd/ops.h"
#include "params.h"

typedef struct ts_linear {
    int weight;           /* parameter "NAME.weight", [in,out], or [in] when diagonal */
    int bias;             /* parameter "NAME.bias", [out]; -1: none */
    bool diagonal;        /* W = diag(weight): y = x * weight, in = out, one multiplication a coordinate */
    int64_t first, count; /* count > 0: W only selects coordinates first .. first+count-1, and y holds just these */
} ts_linear;

/* Weights and bias uniform in (-1/sqrt(in), 1/sqrt(in)) [Glorot & Bengio 2010, as in common practice]. */
ts_status ts_linear_add(ts_linear *layer, ts_params *params, const char *name, int64_t in, int64_t out, bool bias,
                        ts_error *error);

/* The same with weights that are not trained, zero until the caller writes them; no bias. */
ts_status ts_linear_add_fixed(ts_linear *layer, ts_params *params, const char *name, int64_t in, int64_t out,
                              bool diagonal, ts_error *error);

ts_tensor *ts_linear_forward(const ts_linear *layer, ts_params *params, ts_tape *tape, ts_tensor *x);

#endif
