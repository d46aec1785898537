/* axis.h: one axis of a tensor, or all axes, as the middle of [outer, n, inner], and reductions over it.
 *
 * The work is cut into pieces, which threads divide: at most TS_AXIS_BLOCK steps of the axis times at most
 * TS_AXIS_STRIP neighbours of the inner part. A piece reduces to one double for each of its neighbours, and the doubles
 * of successive blocks are joined in order, so the order of all operations depends on the shape only. */
#ifndef TS_AXIS_H
#define TS_AXIS_H

#include "../../op.h"

enum { TS_AXIS_BLOCK = 4096, TS_AXIS_STRIP = 64 };

/* The attributes of an op that reduces an axis; keep: the axis stays, with length 1. */
typedef struct ts_reduction {
    int axis;
    bool keep;
} ts_reduction;

typedef struct ts_axis {
    int64_t outer, n, inner;
    int64_t blocks, strips; /* pieces along n (at least 1) and along inner */
} ts_axis;

/* Elements start + j * step + c of the tensor for j < count, c < width. When step is 1, so is width. */
typedef struct ts_piece {
    int64_t start, count, step, width;
    int64_t output;  /* for the first neighbour: its index in the reduced tensor, */
    int64_t partial; /* the place of the piece's result, */
    int64_t total;   /* and the place of the result of all blocks */
} ts_piece;

/* *number = the axis counted from 0, if it may be negative. Refuses TS_ALL_AXES and an axis that the shape lacks. */
ts_status ts_axis_number(const ts_node *node, const ts_shape *shape, int axis, int *number);

/* `axis` is valid for the shape, or TS_ALL_AXES. */
ts_axis ts_axis_of(const ts_shape *shape, int axis);

/* Shape rules of reductions, whose attributes begin with a ts_reduction. The second one refuses an empty axis. */
ts_status ts_shape_reduced(const ts_node *node, ts_shape *out);
ts_status ts_shape_reduced_filled(const ts_node *node, ts_shape *out);

int64_t ts_axis_pieces(const ts_axis *axis);
ts_piece ts_axis_piece(const ts_axis *axis, int64_t item);

/* The number of partial results, at least 1, and the index among them at which the result of output q ends up. */
int64_t ts_axis_partials(const ts_axis *axis);
int64_t ts_axis_total(const ts_axis *axis, int64_t q);

/* The size of the tensor. */
int64_t ts_axis_steps(const ts_axis *axis);

/* Writes the piece's results to into[0 .. width-1]. */
typedef void ts_piece_fn(const ts_piece *piece, const void *context, double *into);
typedef double ts_join_fn(double a, double b);

/* Reduces every piece and joins the blocks; the results end up in partial[ts_axis_total(axis, q)]. */
void ts_axis_reduce(const ts_axis *axis, ts_piece_fn *reduce, const void *context, ts_join_fn *join, double *partial);

/* Cases that every reduction is tested on; empty_kind is the kind of those with an empty axis. */
#define TS_REDUCTION_CASE(text, dims, along, kept, kind_) \
    { .label = text, .n_in = 1, .in = {dims}, .attr = &(const ts_reduction){along, kept}, .kind = kind_ }
#define TS_REDUCTION_CASES(empty_kind)                                                    \
    TS_REDUCTION_CASE("last axis", TS_DIMS(3, 5), -1, false, TS_CASE_SMOOTH),             \
        TS_REDUCTION_CASE("first axis, kept", TS_DIMS(7, 4), 0, true, TS_CASE_SMOOTH),    \
        TS_REDUCTION_CASE("middle axis", TS_DIMS(2, 7, 3), 1, false, TS_CASE_SMOOTH),     \
        TS_REDUCTION_CASE("rank 4", TS_DIMS(2, 3, 2, 3), -3, true, TS_CASE_SMOOTH),       \
        TS_REDUCTION_CASE("all", TS_DIMS(42, 3), TS_ALL_AXES, false, TS_CASE_SMOOTH),     \
        TS_REDUCTION_CASE("all, kept", TS_DIMS(2, 3), TS_ALL_AXES, true, TS_CASE_SMOOTH), \
        TS_REDUCTION_CASE("scalar", TS_NO_DIMS, TS_ALL_AXES, false, TS_CASE_SMOOTH),      \
        TS_REDUCTION_CASE("one element", TS_DIMS(1), 0, false, TS_CASE_SMOOTH),           \
        TS_REDUCTION_CASE("wide", TS_DIMS(2, 150), 0, false, TS_CASE_SMOOTH),             \
        TS_REDUCTION_CASE("no rows", TS_DIMS(0, 3), 1, false, TS_CASE_SMOOTH),            \
        TS_REDUCTION_CASE("empty axis", TS_DIMS(3, 0), 1, false, empty_kind),             \
        TS_REDUCTION_CASE("empty, all", TS_DIMS(0), TS_ALL_AXES, false, empty_kind),      \
        TS_REDUCTION_CASE("axis", TS_DIMS(3, 5), 2, false, TS_CASE_REFUSED)

#endif
