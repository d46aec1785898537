/* safetensors.h: named tensors in one file, as huggingface.co/docs/safetensors has it: 8 bytes with the length of a
 * JSON header (little-endian), the header, the data.
 *
 * The reader trusts nothing. The tensors' data must tile the data part: no overlap, no hole, not a byte less or more;
 * names are unique; an entry has its three keys and no other. Refused are headers above 100 MB, data above 4 GiB (both
 * are held in memory), more than 8 dimensions, and dtypes not listed here. Order of keys, spaces and alignment are
 * free.
 *
 * Needs jansson; a library of its own (safetensors_dep). */
#ifndef TS_SAFETENSORS_H
#define TS_SAFETENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "io_error.h"

enum { TS_SAFETENSORS_RANK = 8 };

typedef enum ts_safetensors_dtype {
    TS_SAFETENSORS_F32,
    TS_SAFETENSORS_F64,
    TS_SAFETENSORS_F16,
    TS_SAFETENSORS_BF16,
    TS_SAFETENSORS_I8,
    TS_SAFETENSORS_I16,
    TS_SAFETENSORS_I32,
    TS_SAFETENSORS_I64,
    TS_SAFETENSORS_U8,
    TS_SAFETENSORS_U16,
    TS_SAFETENSORS_U32,
    TS_SAFETENSORS_U64,
    TS_SAFETENSORS_BOOL
} ts_safetensors_dtype;

typedef struct ts_safetensor {
    const char *name; /* UTF-8; any but "__metadata__" */
    ts_safetensors_dtype dtype;
    int rank; /* 0: a scalar */
    int64_t dim[TS_SAFETENSORS_RANK];
    const void *data; /* row-major, in the machine's byte order; of a file read, not aligned to anything */
} ts_safetensor;

typedef struct ts_safetensors_note {
    const char *key, *value; /* UTF-8 */
} ts_safetensors_note;

/* A file that was read; everything in it lives until ts_safetensors_free. */
typedef struct ts_safetensors {
    ts_safetensor *tensors; /* [count], in the order of their data */
    int count;
    ts_safetensors_note *metadata; /* [n_metadata] */
    int n_metadata;
    void *data;            /* the data part */
    struct json_t *header; /* names, keys and values */
} ts_safetensors;

/* On failure *file is zeroed, and the error names the file and, where one is at fault, the tensor. */
bool ts_safetensors_read(const char *path, ts_safetensors *file, ts_io_error *error);

/* Harmless on a zeroed struct, which it leaves. */
void ts_safetensors_free(ts_safetensors *file);

/* Either is NULL if the file has none of that name. */
const ts_safetensor *ts_safetensors_find(const ts_safetensors *file, const char *name);
const char *ts_safetensors_metadata(const ts_safetensors *file, const char *key);

/* "F32", and the bytes an element takes. */
const char *ts_safetensors_dtype_name(ts_safetensors_dtype dtype);
int ts_safetensors_dtype_size(ts_safetensors_dtype dtype);

/* Elements; -1 for a shape that cannot be: its rank, a negative number, or more than 2^63 - 1 bytes even with its zeros
 * left out, so that of a tensor that was read the numbers may be multiplied in any order. */
int64_t ts_safetensor_count(const ts_safetensor *tensor);

/* False, and nothing copied, unless the tensor is F32 and has this many elements. */
bool ts_safetensor_copy_f32(const ts_safetensor *tensor, int64_t count, float *out);

/* The same arguments give the same bytes: tensors and metadata in the order given, no spaces in the header but those
 * at its end that let the data start at a multiple of 8, no __metadata__ if there is none. Whole or not at all
 * (output_file.h). Names and keys must be unique; what the reader would refuse is refused. data may be NULL for a
 * tensor without elements. */
bool ts_safetensors_write(const char *path, const ts_safetensor *tensors, int count,
                          const ts_safetensors_note *metadata, int n_metadata, ts_io_error *error);

#endif
