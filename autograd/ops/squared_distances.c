/* y_ij = sum_c (a_ic - b_jc)^2;  da_i += sum_j 2 dy_ij (a_i - b_j),  db_j -= sum_i 2 dy_ij (a_i - b_j) */
#include "../ops.h"
#include "shared/distance.h"

TS_DISTANCE_OP(squared_distances, false)
