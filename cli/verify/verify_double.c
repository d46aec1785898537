#include "verify_double.h"

#ifndef TS_DOUBLE
#error "this file is for the library in double precision"
#endif

bool cli_verify_run_double(int i, bool quick, uint64_t seed, ts_verify_result *result) {
    return ts_verify_run(i, quick, seed, result);
}
