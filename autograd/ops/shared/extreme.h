/* extreme.h: the largest or smallest element along an axis, which ts_max and ts_min share. NaN is more extreme than any
 * number. All elements equal to the extreme one share its gradient equally. */
#ifndef TS_EXTREME_H
#define TS_EXTREME_H

#include "axis.h"

double ts_join_largest(double a, double b);
double ts_join_smallest(double a, double b);
ts_piece_fn ts_largest_piece, ts_smallest_piece; /* context: const ts_real *, the tensor */

/* The passes of a node whose attributes are a ts_reduction and whose scratch is ts_reduction_scratch. */
void ts_largest_forward(const ts_node *node);
void ts_smallest_forward(const ts_node *node);
void ts_extreme_backward(const ts_node *node);

#endif
