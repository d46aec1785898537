/* verify_double.h: the one door to the library built in double precision, which is linked into the program as one
 * object that keeps all other names to itself. */
#ifndef CLI_VERIFY_DOUBLE_H
#define CLI_VERIFY_DOUBLE_H

#include "../models/verification.h"

/* ts_verify_run, in double. */
bool cli_verify_run_double(int i, bool quick, uint64_t seed, ts_verify_result *result);

#endif
