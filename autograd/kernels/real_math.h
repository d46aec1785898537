/* real_math.h: the functions of <math.h> for ts_real. */
#ifndef TS_REAL_MATH_H
#define TS_REAL_MATH_H

#include <float.h>
#include <math.h>

#include "../tensor.h"

#ifdef TS_DOUBLE
#define TS_REAL_FN(name) name
#define TS_REAL_MAX DBL_MAX
#else
#define TS_REAL_FN(name) name##f
#define TS_REAL_MAX FLT_MAX
#endif

static inline ts_real r_exp(ts_real x) {
    return TS_REAL_FN(exp)(x);
}
static inline ts_real r_log(ts_real x) {
    return TS_REAL_FN(log)(x);
}
static inline ts_real r_sqrt(ts_real x) {
    return TS_REAL_FN(sqrt)(x);
}
static inline ts_real r_tanh(ts_real x) {
    return TS_REAL_FN(tanh)(x);
}

#endif
