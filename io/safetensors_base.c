/* safetensors_base.c: dtypes, sizes and messages of safetensors. */
#include "safetensors_base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int size;
} dtypes[] = {
    [TS_SAFETENSORS_F32] = {"F32", 4},   [TS_SAFETENSORS_F64] = {"F64", 8}, [TS_SAFETENSORS_F16] = {"F16", 2},
    [TS_SAFETENSORS_BF16] = {"BF16", 2}, [TS_SAFETENSORS_I8] = {"I8", 1},   [TS_SAFETENSORS_I16] = {"I16", 2},
    [TS_SAFETENSORS_I32] = {"I32", 4},   [TS_SAFETENSORS_I64] = {"I64", 8}, [TS_SAFETENSORS_U8] = {"U8", 1},
    [TS_SAFETENSORS_U16] = {"U16", 2},   [TS_SAFETENSORS_U32] = {"U32", 4}, [TS_SAFETENSORS_U64] = {"U64", 8},
    [TS_SAFETENSORS_BOOL] = {"BOOL", 1},
};

const char *ts_safetensors_dtype_name(ts_safetensors_dtype dtype) {
    return dtypes[dtype].name;
}

int ts_safetensors_dtype_size(ts_safetensors_dtype dtype) {
    return dtypes[dtype].size;
}

bool ts_safetensors_find_dtype(const char *name, ts_safetensors_dtype *dtype) {
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(name, dtypes[i].name) != 0) continue;
        *dtype = (ts_safetensors_dtype)i;
        return true;
    }
    return false;
}

int64_t ts_safetensor_count(const ts_safetensor *tensor) {
    const int64_t most = INT64_MAX / ts_safetensors_dtype_size(tensor->dtype);
    int64_t count = 1;
    bool empty = false;
    if (tensor->rank < 0 || tensor->rank > TS_SAFETENSORS_RANK) return -1;
    for (int i = 0; i < tensor->rank; i++) {
        const int64_t dim = tensor->dim[i];
        if (dim < 0 || (dim > 0 && count > most / dim)) return -1;
        if (dim == 0)
            empty = true;
        else
            count *= dim;
    }
    return empty ? 0 : count;
}

void ts_safetensors_quote(const char *name, char quoted[TS_SAFETENSORS_QUOTE_SIZE]) {
    ts_io_quote_long(name, strlen(name), TS_SAFETENSORS_SHOWN, quoted);
}

bool ts_safetensors_fail(ts_io_error *error, const char *path, const char *name, const char *format, ...) {
    char quoted[TS_SAFETENSORS_QUOTE_SIZE], reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    ts_safetensors_quote(name, quoted);
    return ts_io_fail(error, path, "tensor %s: %s", quoted, reason);
}
