/* verify_double.h: the library in double precision, whose names end with _double (autograd/double_names.h). */
#ifndef CLI_VERIFY_DOUBLE_H
#define CLI_VERIFY_DOUBLE_H

#include "../../models/reference/verification.h"

/* ts_verify_run, in double. */
bool cli_verify_run_double(int i, bool quick, uint64_t seed, ts_verify_result *result);

#endif
