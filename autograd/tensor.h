/* tensor.h: dense tensors of rank 0 to 4, row-major, with int64_t sizes.
 *
 * ts_real is float. Compiling the same sources with -DTS_DOUBLE gives the double-precision engine with which the tests
 * check gradients. The only other difference is that all names end in _double there (double_names.h), so that code
 * compiled for one precision does not link with the library of the other. */
#ifndef TS_TENSOR_H
#define TS_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "double_names.h"

#ifdef TS_DOUBLE
typedef double ts_real;
#else
typedef float ts_real;
#endif

enum { TS_MAX_RANK = 4 };

typedef struct ts_shape {
    int rank; /* 0 (a scalar) to TS_MAX_RANK */
    int64_t dim[TS_MAX_RANK];
} ts_shape;

/* TS_SHAPE(2, 3) is the shape [2,3], TS_SCALAR the shape []. TS_DIMS(2, 3) and TS_NO_DIMS are the same shapes as
 * initialisers of static objects. */
#define TS_DIMS(...)                                                                              \
    {                                                                                             \
        .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .dim = { __VA_ARGS__ } \
    }
#define TS_NO_DIMS              \
    {                           \
        .rank = 0, .dim = { 0 } \
    }
#define TS_SHAPE(...) ((ts_shape)TS_DIMS(__VA_ARGS__))
#define TS_SCALAR ((ts_shape)TS_NO_DIMS)

/* A tensor belongs to the tape that made it and is valid until that tape is reset. `grad` has the shape of `data` and,
 * unless it is a leaf's, is NULL until a backward pass reaches the tensor; then grad[i] = d(loss)/d(data[i]). */
typedef struct ts_tensor {
    ts_shape shape;
    ts_real *data;
    ts_real *grad;
    bool wants_grad;     /* it is a variable or a parameter, or computed from one */
    bool is_leaf;        /* not computed by an op; its gradient accumulates over backward passes */
    bool reached;        /* the current backward pass has reached it */
    uint32_t generation; /* that of its tape when it was made; a tape accepts only its current generation */
} ts_tensor;

/* Number of elements; 1 for a scalar. */
int64_t ts_shape_size(const ts_shape *shape);
/* True when the rank is 0 to TS_MAX_RANK, no length is negative and the size in bytes fits an int64_t. */
bool ts_shape_is_valid(const ts_shape *shape);
bool ts_shape_equal(const ts_shape *a, const ts_shape *b);

/* The length of the last axis, and the product of all other lengths; both are 1 for a scalar. */
int64_t ts_shape_cols(const ts_shape *shape);
int64_t ts_shape_rows(const ts_shape *shape);

/* Writes "[2,3]" into text and returns it. */
enum { TS_SHAPE_TEXT = 96 };
const char *ts_shape_text(const ts_shape *shape, char text[TS_SHAPE_TEXT]);

#endif
