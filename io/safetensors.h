/* safetensors.h: reads and writes named tensors in one file, in the format of huggingface.co/docs/safetensors: 8 bytes
 * with the length of a JSON header (little-endian), the header, the data.
 *
 * The reader trusts nothing. The tensors' data must fill the data part exactly, without overlap, hole or excess; names
 * must be unique; an entry must have its three keys and no other. Headers above 100 MB, data above 4 GiB (both are held
 * in memory), more than 8 dimensions and dtypes not listed here are refused. The order of keys, spaces and alignment do
 * not matter.
 *
 * Needs jansson; a separate library (safetensors_dep). */
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
    const void *data; /* row-major, in the machine's byte order; after reading a file not aligned */
} ts_safetensor;

typedef struct ts_safetensors_note {
    const char *key, *value; /* UTF-8 */
} ts_safetensors_note;

/* A file that was read; all pointers in it are valid until ts_safetensors_free. */
typedef struct ts_safetensors {
    ts_safetensor *tensors; /* [count], in the order of their data */
    int count;
    ts_safetensors_note *metadata; /* [n_metadata] */
    int n_metadata;
    void *data;            /* the data part */
    struct json_t *header; /* names, keys and values */
} ts_safetensors;

/* On failure *file is zeroed, and the error names the file and, if one is to blame, the tensor. */
bool ts_safetensors_read(const char *path, ts_safetensors *file, ts_io_error *error);

/* Frees the file's memory and zeroes *file; harmless on a zeroed struct. */
void ts_safetensors_free(ts_safetensors *file);

/* The tensor or metadata value of that name, or NULL. */
const ts_safetensor *ts_safetensors_find(const ts_safetensors *file, const char *name);
const char *ts_safetensors_metadata(const ts_safetensors *file, const char *key);

/* A dtype's name, e.g. "F32", and the bytes of one element. */
const char *ts_safetensors_dtype_name(ts_safetensors_dtype dtype);
int ts_safetensors_dtype_size(ts_safetensors_dtype dtype);

/* The number of elements; -1 for an invalid shape: a wrong rank, a negative dimension, or more than 2^63 - 1 bytes with
 * zero dimensions left out. So the dimensions of a tensor that was read can be multiplied in any order. */
int64_t ts_safetensor_count(const ts_safetensor *tensor);

/* Element i, whatever the dtype, rounded to double where it is a large integer; a BOOL is 0 or 1. */
double ts_safetensor_at(const ts_safetensor *tensor, int64_t i);

/* Copies the elements if the tensor is F32 and has `count` of them; else returns false. */
bool ts_safetensor_copy_f32(const ts_safetensor *tensor, int64_t count, float *out);

/* Writes tensors and metadata in the order given; the same arguments give the same bytes. The header has spaces only at
 * its end, to start the data at a multiple of 8, and no __metadata__ if there is none. The file appears complete or not
 * at all (output_file.h). Names and keys must be unique, and whatever the reader would refuse is refused. `data` may be
 * NULL for a tensor without elements. */
bool ts_safetensors_write(const char *path, const ts_safetensor *tensors, int count,
                          const ts_safetensors_note *metadata, int n_metadata, ts_io_error *error);

#endif
