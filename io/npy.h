/* npy.h: reads NumPy's array format, versions 1.0 to 3.0: one- and two-dimensional arrays of f4, f8, i1-i8, u1-u8 and
 * bool (numpy.org, numpy.lib.format). Internal to io/.
 *
 * Integers beyond 2^53 round to the nearest double. The data of a file or archive are converted chunk by chunk, so that
 * the table is the only large allocation; those of a pipe, whose size is known only at its end, are collected first. */
#ifndef TS_NPY_H
#define TS_NPY_H

#include "table_builder.h"

/* Refuses other types and shapes, arrays without numbers, damaged headers, missing or additional bytes, and numbers
 * that are not finite in the chosen columns. Needs the "C" locale. */
bool ts_npy_read(const ts_byte_source *source, ts_table_builder *builder, ts_io_error *error);

#endif
