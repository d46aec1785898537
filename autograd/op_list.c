/* op_list.c: the table of the library's ops (ops.h). */
#include "ops.h"

#define TS_LIST_OP(name) &ts_op_##name,
const ts_op *const ts_ops[] = {TS_OPS(TS_LIST_OP) NULL};
