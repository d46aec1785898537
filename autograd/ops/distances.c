/* y_ij = sqrt(sum_c (a_ic - b_jc)^2);  da_i += sum_j dy_ij (a_i - b_j) / y_ij,  db_j -= sum_i of the same; a term is 0
 * where y_ij = 0 */
#include "../ops.h"
#include "shared/distance.h"

TS_DISTANCE_OP(distances, true)
