/* safetensors_base.h: what the reader and the writer of safetensors share. Internal to io/. */
#ifndef TS_SAFETENSORS_BASE_H
#define TS_SAFETENSORS_BASE_H

#include "io_base.h"
#include "safetensors.h"

#define TS_SAFETENSORS_METADATA "__metadata__"

enum { TS_SAFETENSORS_MOST_HEADER = 100000000, TS_SAFETENSORS_SHOWN = 100 };
enum { TS_SAFETENSORS_QUOTE_SIZE = 4 * TS_SAFETENSORS_SHOWN + 8 };
static const int64_t ts_safetensors_most_data = (int64_t)1 << 32;

bool ts_safetensors_find_dtype(const char *name, ts_safetensors_dtype *dtype);

/* Quotes a name like ts_io_quote, but shows more of it, since names of parameters differ at their ends. */
void ts_safetensors_quote(const char *name, char quoted[TS_SAFETENSORS_QUOTE_SIZE]);

/* Sets the error to "FILE: tensor 'NAME': text"; returns false. */
bool ts_safetensors_fail(ts_io_error *error, const char *path, const char *name, const char *format, ...)
    TS_IO_PRINTF(4, 5);

#endif
