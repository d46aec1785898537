/* npz.h: reads one .npy array of a zip archive, stored or deflated. Internal to io/. */
#ifndef TS_NPZ_H
#define TS_NPZ_H

#include "table_builder.h"

/* array: the member's name, with or without its .npy; NULL: the only one. Of several members with the same name the
 * last is read, as in NumPy. Without libzip (TS_HAVE_LIBZIP is not defined) this always fails. Needs the "C" locale. */
bool ts_npz_read(const char *path, const char *array, ts_table_builder *builder, ts_io_error *error);

#endif
