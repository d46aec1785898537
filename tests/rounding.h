/* rounding.h: the unit in which tests state how far a result may be off. */
#ifndef TESTS_ROUNDING_H
#define TESTS_ROUNDING_H

#include <float.h>

#include "../autograd/tensor.h"

/* From 1 to the next number of ts_real. */
#define EPS (sizeof(ts_real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON)

#endif
