/* tensor.h: dense tensors of rank 0 to 4, row-major, sizes int64_t.
 *
 * ts_real is float. The same sources built with -DTS_DOUBLE are the double-precision engine that the tests check
 * gradients with; nothing else differs, but that all names end with _double there (double_names.h): a program that is
 * compiled without it does not link with that engine, nor one compiled with it with the float one. */
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

/* TS_SHAPE(2, 3) is the shape [2,3]; TS_SCALAR the shape []. Where a static object is initialised, TS_DIMS(2, 3) and
 * TS_NO_DIMS are the same as initialisers. */
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

/* A tensor belongs to the tape it was made through, until that is reset. `grad` has the shape of `data` and is NULL
 * until a backward pass reaches the tensor; after it, grad[i] = d(loss)/d(data[i]). */
typedef struct ts_tensor {
    ts_shape shape;
    ts_real *data;
    ts_real *grad;
    bool wants_grad;     /* a variable, a parameter, or computed from one */
    bool is_leaf;        /* not computed by an op: its gradient accumulates over backward passes */
    bool reached;        /* used by the backward pass */
    uint32_t generation; /* its tape's when it was made: a tape takes none but its own of the present */
} ts_tensor;

/* Number of elements; 1 for a scalar. */
int64_t ts_size(const ts_shape *shape);
/* Rank 0 to TS_MAX_RANK, no negative length, and a size in bytes that fits. */
bool ts_shape_is_valid(const ts_shape *shape);
bool ts_shape_equal(const ts_shape *a, const ts_shape *b);

/* The last axis, 1 for a scalar; and the product of all axes before it. */
int64_t ts_cols(const ts_shape *shape);
int64_t ts_rows(const ts_shape *shape);

/* Writes "[2,3]" into text and returns it. */
enum { TS_SHAPE_TEXT = 96 };
const char *ts_shape_text(const ts_shape *shape, char text[TS_SHAPE_TEXT]);

#endif
