/* safetensors_writer.c: writes safetensors files. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "safetensors_base.h"
#include "utf8.h"

static const char padding[] = "        ";

static bool add_metadata(const char *path, json_t *header, const ts_safetensors_note *metadata, int count,
                         ts_io_error *error) {
    json_t *notes = json_object();
    if (json_object_set_new(header, TS_SAFETENSORS_METADATA, notes) != 0) return ts_io_fail_memory(error, path);
    for (int i = 0; i < count; i++) {
        const char *key = metadata[i].key;
        char quoted[TS_SAFETENSORS_QUOTE_SIZE];
        ts_safetensors_quote(key, quoted);
        if (ts_utf8_fault(key) != NULL || ts_utf8_fault(metadata[i].value) != NULL) {
            return ts_io_fail(error, path, "__metadata__: %s is not UTF-8", quoted);
        }
        if (json_object_get(notes, key) != NULL)
            return ts_io_fail(error, path, "__metadata__: duplicate key %s", quoted);
        if (json_object_set_new(notes, key, json_string(metadata[i].value)) != 0) return ts_io_fail_memory(error, path);
    }
    return true;
}

static json_t *describe(const ts_safetensor *tensor, int64_t begin, int64_t end) {
    json_t *shape = json_array();
    bool ok = shape != NULL;
    for (int i = 0; ok && i < tensor->rank; i++) ok = json_array_append_new(shape, json_integer(tensor->dim[i])) == 0;
    json_t *entry = ok ? json_pack("{s:s, s:O, s:[I, I]}", "dtype", ts_safetensors_dtype_name(tensor->dtype), "shape",
                                   shape, "data_offsets", (json_int_t)begin, (json_int_t)end)
                       : NULL;
    json_decref(shape);
    return entry;
}

/* Adds an entry for a tensor; *used is the number of bytes of data so far. */
static bool add_tensor(const char *path, json_t *header, const ts_safetensor *tensor, int64_t *used,
                       ts_io_error *error) {
    const char *name = tensor->name;
    const int64_t count = ts_safetensor_count(tensor), size = ts_safetensors_dtype_size(tensor->dtype);
    if (ts_utf8_fault(name) != NULL) return ts_safetensors_fail(error, path, name, "the name is not UTF-8");
    if (strcmp(name, TS_SAFETENSORS_METADATA) == 0) return ts_safetensors_fail(error, path, name, "the name is taken");
    if (json_object_get(header, name) != NULL) return ts_safetensors_fail(error, path, name, "duplicate name");
    if (count < 0) return ts_safetensors_fail(error, path, name, "the shape is not possible");
    if (count > (ts_safetensors_most_data - *used) / size) {
        return ts_safetensors_fail(error, path, name, "more than %" PRId64 " bytes of data", ts_safetensors_most_data);
    }
    json_t *entry = describe(tensor, *used, *used + count * size);
    if (entry == NULL || json_object_set_new(header, name, entry) != 0) return ts_io_fail_memory(error, path);
    *used += count * size;
    return true;
}

/* The header's text without padding, allocated; NULL after writing the error. */
static char *make_header(const char *path, const ts_safetensor *tensors, int count, const ts_safetensors_note *metadata,
                         int n_metadata, ts_io_error *error) {
    json_t *header = json_object();
    char *text = NULL;
    int64_t used = 0;
    bool ok = header != NULL || ts_io_fail_memory(error, path);
    if (ok && n_metadata > 0) ok = add_metadata(path, header, metadata, n_metadata, error);
    for (int i = 0; ok && i < count; i++) ok = add_tensor(path, header, &tensors[i], &used, error);
    if (ok) {
        text = json_dumps(header, JSON_COMPACT | JSON_PRESERVE_ORDER);
        if (text == NULL) ts_io_fail_memory(error, path);
    }
    json_decref(header);
    return text;
}

static void write_header(const char *text, size_t length, size_t padded, FILE *stream) {
    for (int i = 0; i < 8; i++) putc((int)(padded >> 8 * i & 255), stream);
    fwrite(text, 1, length, stream);
    fwrite(padding, 1, padded - length, stream);
}

static void write_data(const ts_safetensor *tensor, FILE *stream) {
    ts_io_write_little_endian(tensor->data, (size_t)ts_safetensors_dtype_size(tensor->dtype),
                              (size_t)ts_safetensor_count(tensor), stream);
}

bool ts_safetensors_write(const char *path, const ts_safetensor *tensors, int count,
                          const ts_safetensors_note *metadata, int n_metadata, ts_io_error *error) {
    char *text = make_header(path, tensors, count, metadata, n_metadata, error);
    if (text == NULL) return false;
    const size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    ts_output_file file;
    bool ok = padded <= TS_SAFETENSORS_MOST_HEADER ||
              ts_io_fail(error, path, "a header of %zu bytes, more than %d", padded, TS_SAFETENSORS_MOST_HEADER);
    if (ok && ts_output_open(path, &file, error)) {
        write_header(text, length, padded, file.stream);
        for (int i = 0; i < count && !ferror(file.stream); i++) write_data(&tensors[i], file.stream);
        ok = ts_output_commit(&file, error);
    } else {
        ok = false;
    }
    free(text);
    return ok;
}
