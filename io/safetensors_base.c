/* safetensors_base.c: dtypes, sizes and messages of safetensors. */
#include "safetensors_base.h"

#include <math.h>
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

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* IEEE 754 half precision: sign, 5 bits of exponent, 10 of fraction. */
static double from_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction > 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

/* bfloat16 is the upper half of a float. */
static double from_brain(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

#define ELEMENT(type, convert)            \
    {                                     \
        type value;                       \
        memcpy(&value, at, sizeof value); \
        return (double)convert(value);    \
    }

double ts_safetensor_at(const ts_safetensor *tensor, int64_t i) {
    const char *at = (const char *)tensor->data + i * ts_safetensors_dtype_size(tensor->dtype);
    switch (tensor->dtype) {
    case TS_SAFETENSORS_F32: ELEMENT(float, )
    case TS_SAFETENSORS_F64: ELEMENT(double, )
    case TS_SAFETENSORS_F16: ELEMENT(uint16_t, from_half)
    case TS_SAFETENSORS_BF16: ELEMENT(uint16_t, from_brain)
    case TS_SAFETENSORS_I8: ELEMENT(int8_t, )
    case TS_SAFETENSORS_I16: ELEMENT(int16_t, )
    case TS_SAFETENSORS_I32: ELEMENT(int32_t, )
    case TS_SAFETENSORS_I64: ELEMENT(int64_t, )
    case TS_SAFETENSORS_U8: ELEMENT(uint8_t, )
    case TS_SAFETENSORS_U16: ELEMENT(uint16_t, )
    case TS_SAFETENSORS_U32: ELEMENT(uint32_t, )
    case TS_SAFETENSORS_U64: ELEMENT(uint64_t, )
    case TS_SAFETENSORS_BOOL: ELEMENT(uint8_t, )
    }
    return NAN;
}
