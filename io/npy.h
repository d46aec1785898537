/* npy.h: the array format of NumPy, versions 1.0 to 3.0, plain numbers in one or two dimensions. Internal to io/.
 *
 * Integers beyond 2^53 are rounded to the nearest double. From a file or archive the payload is converted chunk by
 * chunk, so that the table is the only large allocation; a pipe's payload, whose true size is known at its end only,
 * is collected first. */
#ifndef TS_NPY_H
#define TS_NPY_H

#include "table_builder.h"

/* Needs the "C" locale. */
bool ts_npy_read(const ts_byte_source *source, ts_table_builder *builder, ts_io_error *error);

#endif
