#include "inspect_file.h"

#include <math.h>
#include <string.h>

#include "../../train/checkpoint.h"
#include "../common/message.h"

static bool claims_checkpoint(const ts_safetensors *file) {
    static const char beginning[] = "tessera checkpoint";
    const char *format = ts_safetensors_metadata(file, "format");
    return format != NULL && strncmp(format, beginning, strlen(beginning)) == 0;
}

int cli_inspect_read(const char *path, cli_inspect_file *file) {
    ts_io_error io_error;
    ts_error error = {.status = TS_OK};
    *file = (cli_inspect_file){.path = path};
    if (!ts_safetensors_read(path, &file->file, &io_error)) return cli_fail(CLI_FAILED, "%s", io_error.text);
    if (!claims_checkpoint(&file->file)) return CLI_DONE;
    file->trainer = ts_checkpoint_resume(path, &error);
    return file->trainer != NULL ? CLI_DONE : cli_fail(CLI_FAILED, "%s", error.text);
}

void cli_inspect_free(cli_inspect_file *file) {
    ts_safetensors_free(&file->file);
    ts_trainer_free(file->trainer);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

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

static double element(const ts_safetensor *tensor, int64_t i) {
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

cli_inspect_numbers cli_inspect_measure(const ts_safetensor *tensor) {
    cli_inspect_numbers m = {
        .count = ts_safetensor_count(tensor), .mean = NAN, .deviation = NAN, .least = NAN, .most = NAN, .norm = 0};
    double sum = 0, squares = 0, spread = 0;
    for (int64_t i = 0; i < m.count; i++) {
        const double value = element(tensor, i);
        m.not_finite += !isfinite(value);
        if (!isfinite(value)) continue;
        sum += value;
        squares += value * value;
        m.least = fmin(m.least, value);
        m.most = fmax(m.most, value);
    }
    const double finite = (double)(m.count - m.not_finite);
    m.norm = sqrt(squares);
    if (!(finite > 0)) return m;
    m.mean = sum / finite;
    for (int64_t i = 0; i < m.count; i++) {
        const double difference = element(tensor, i) - m.mean;
        if (isfinite(difference)) spread += difference * difference;
    }
    m.deviation = sqrt(spread / finite);
    return m;
}
