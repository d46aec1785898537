/* safetensors_reader.c: reads the header of a safetensors file, checks its layout, and reads the data. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "safetensors_base.h"

typedef struct reading {
    const char *path;
    FILE *stream;
    int64_t left; /* bytes of a regular file not read yet; 0 for anything else */
    ts_byte_source source;
    ts_io_error *error;
} reading;

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static int64_t read_file(void *context, void *buffer, int64_t size, ts_io_error *error) {
    reading *r = context;
    const int64_t count = ts_io_read_stream(r->stream, r->path, buffer, size, error);
    r->left = count >= 0 && r->left > count ? r->left - count : 0;
    return count;
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

/* Names a duplicate key, which jansson leaves out of its message if it is long: it stops behind the closing quote. */
static bool fail_duplicate(const reading *r, const char *text, size_t end) {
    char name[TS_SAFETENSORS_QUOTE_SIZE], quoted[TS_SAFETENSORS_QUOTE_SIZE];
    size_t start = end - 1;
    bool inside = true;
    while (inside && start > 0) {
        size_t slashes = 0;
        start--;
        while (slashes < start && text[start - 1 - slashes] == '\\') slashes++;
        inside = text[start] != '"' || slashes % 2 == 1;
    }
    snprintf(name, sizeof name, "%.*s", (int)(end - start - 2), text + start + 1);
    ts_safetensors_quote(name, quoted);
    return ts_io_fail(r->error, r->path, "header: duplicate key %s", quoted);
}

static bool parse_json(const reading *r, const char *text, size_t length, json_t **header) {
    json_error_t error;
    *header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (*header == NULL) {
        const enum json_error_code code = json_error_code(&error);
        if (code == json_error_out_of_memory || error.text[0] == '\0') { /* jansson does not always set the code */
            return ts_io_fail_memory(r->error, r->path);
        }
        if (code == json_error_duplicate_key && error.position >= 2 && (size_t)error.position <= length) {
            return fail_duplicate(r, text, (size_t)error.position);
        }
        return ts_io_fail(r->error, r->path, "not a safetensors file (header: %s)", error.text);
    }
    return json_is_object(*header) ||
           ts_io_fail(r->error, r->path, "not a safetensors file (header: not an object {...})");
}

static bool read_header(reading *r, json_t **header) {
    unsigned char start[8], *text = NULL;
    uint64_t length = 0;
    int64_t count = ts_source_fill(&r->source, start, 8, r->error);
    if (count < 0) return false;
    if (count == 0) return ts_io_fail(r->error, r->path, "the file is empty");
    if (count < 8)
        return ts_io_fail(r->error, r->path, "not a safetensors file (the file ends in the length of its header)");
    for (int i = 8; i > 0; i--) length = length << 8 | start[i - 1];
    if (length > TS_SAFETENSORS_MOST_HEADER) {
        return ts_io_fail(r->error, r->path,
                          "not a safetensors file (the header would have %" PRIu64 " bytes, more than %d)", length,
                          TS_SAFETENSORS_MOST_HEADER);
    }
    bool ok = length > 0 ? ts_source_collect(&r->source, (int64_t)length, r->left, &text, &count, r->error)
                         : ts_io_fail(r->error, r->path, "not a safetensors file (the header is empty)");
    if (ok && count < (int64_t)length) {
        ok = ts_io_fail(r->error, r->path,
                        "not a safetensors file, or not all of it (the file ends in its header, %" PRId64
                        " bytes of %" PRIu64 ")",
                        count, length);
    }
    ok = ok && parse_json(r, (const char *)text, (size_t)length, header);
    free(text);
    return ok;
}

static bool read_metadata(const reading *r, json_t *notes, ts_safetensors *file) {
    const char *key;
    json_t *value;
    char quoted[TS_SAFETENSORS_QUOTE_SIZE];
    if (!json_is_object(notes)) return ts_io_fail(r->error, r->path, "__metadata__: not an object {...}");
    file->metadata = malloc((json_object_size(notes) + 1) * sizeof *file->metadata);
    if (file->metadata == NULL) return ts_io_fail_memory(r->error, r->path);
    json_object_foreach(notes, key, value) {
        ts_safetensors_quote(key, quoted);
        if (!json_is_string(value)) return ts_io_fail(r->error, r->path, "__metadata__: %s is not a string", quoted);
        file->metadata[file->n_metadata++] = (ts_safetensors_note){key, json_string_value(value)};
    }
    return true;
}

/* ---- the tensors ------------------------------------------------------------------------------------------------- */

typedef struct placed {
    ts_safetensor tensor;
    int64_t begin, end;
} placed;

static bool whole_number(const json_t *value, int64_t *number) {
    *number = json_integer_value(value);
    return json_is_integer(value) && *number >= 0;
}

static bool read_shape(const reading *r, const json_t *shape, ts_safetensor *tensor) {
    const size_t rank = json_array_size(shape);
    if (!json_is_array(shape)) return ts_safetensors_fail(r->error, r->path, tensor->name, "shape: not a list [...]");
    if (rank > TS_SAFETENSORS_RANK) {
        return ts_safetensors_fail(r->error, r->path, tensor->name, "%zu dimensions, at most %d are read", rank,
                                   TS_SAFETENSORS_RANK);
    }
    for (size_t i = 0; i < rank; i++) {
        if (!whole_number(json_array_get(shape, i), &tensor->dim[i])) {
            return ts_safetensors_fail(r->error, r->path, tensor->name,
                                       "shape: number %zu is no whole number from 0 up", i + 1);
        }
    }
    tensor->rank = (int)rank;
    return ts_safetensor_count(tensor) >= 0 ||
           ts_safetensors_fail(r->error, r->path, tensor->name, "the shape is too large");
}

static bool read_offsets(const reading *r, const json_t *offsets, placed *p) {
    const char *name = p->tensor.name;
    if (json_array_size(offsets) != 2 || !whole_number(json_array_get(offsets, 0), &p->begin) ||
        !whole_number(json_array_get(offsets, 1), &p->end)) {
        return ts_safetensors_fail(r->error, r->path, name, "data_offsets: not two whole numbers from 0 up");
    }
    if (p->end < p->begin) {
        return ts_safetensors_fail(r->error, r->path, name, "data_offsets: %" PRId64 " is before %" PRId64, p->end,
                                   p->begin);
    }
    const int64_t bytes = ts_safetensor_count(&p->tensor) * ts_safetensors_dtype_size(p->tensor.dtype);
    if (p->end - p->begin != bytes) {
        return ts_safetensors_fail(r->error, r->path, name,
                                   "data_offsets: %" PRId64 " bytes where the shape takes %" PRId64 " of %s",
                                   p->end - p->begin, bytes, ts_safetensors_dtype_name(p->tensor.dtype));
    }
    return true;
}

/* An entry has exactly its three keys: an unknown one might change the meaning of the numbers. */
static bool check_keys(const reading *r, const char *name, json_t *entry) {
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    const char *key;
    json_t *value;
    if (!json_is_object(entry)) return ts_safetensors_fail(r->error, r->path, name, "not an object {...}");
    for (int i = 0; i < 3; i++) {
        if (json_object_get(entry, keys[i]) == NULL) {
            return ts_safetensors_fail(r->error, r->path, name, "%s is missing", keys[i]);
        }
    }
    json_object_foreach(entry, key, value) {
        if (strcmp(key, keys[0]) != 0 && strcmp(key, keys[1]) != 0 && strcmp(key, keys[2]) != 0) {
            char quoted[TS_SAFETENSORS_QUOTE_SIZE];
            ts_safetensors_quote(key, quoted);
            return ts_safetensors_fail(r->error, r->path, name, "unknown key %s", quoted);
        }
    }
    return true;
}

static bool read_tensor(const reading *r, const char *name, json_t *entry, placed *p) {
    *p = (placed){.tensor.name = name};
    if (!check_keys(r, name, entry)) return false;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (dtype == NULL) return ts_safetensors_fail(r->error, r->path, name, "dtype: not a string");
    if (!ts_safetensors_find_dtype(dtype, &p->tensor.dtype)) {
        char quoted[TS_QUOTE_SIZE];
        ts_io_quote(dtype, quoted);
        return ts_safetensors_fail(r->error, r->path, name, "dtype %s is not supported", quoted);
    }
    return read_shape(r, json_object_get(entry, "shape"), &p->tensor) &&
           read_offsets(r, json_object_get(entry, "data_offsets"), p);
}

static int by_place(const void *left, const void *right) {
    const placed *a = left, *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return strcmp(a->tensor.name, b->tensor.name);
}

/* Reports a hole in the data, or rather its cause, if a tensor's data lie beyond the end of the file. */
static bool fail_hole(const reading *r, const placed *before, const placed *last, int64_t from) {
    if (r->left > 0 && last->end > r->left) {
        return ts_safetensors_fail(r->error, r->path, last->tensor.name,
                                   "its data from %" PRId64 " to %" PRId64 " lie beyond the %" PRId64
                                   " bytes of data of the file",
                                   last->begin, last->end, r->left);
    }
    return ts_safetensors_fail(r->error, r->path, before->tensor.name,
                               "a hole in the data, from %" PRId64 " to %" PRId64 ", before it", from, before->begin);
}

/* Every byte of the data must belong to one tensor: in order of place, each begins where the previous one ends.
 * Overlaps are checked first, since an overlap causes a hole elsewhere. */
static bool check_tiling(const reading *r, placed *places, int count, int64_t *total) {
    *total = 0;
    if (count > 0) qsort(places, (size_t)count, sizeof *places, by_place);
    for (int i = 1; i < count; i++) {
        const placed *p = &places[i], *before = &places[i - 1];
        if (p->begin >= before->end) continue;
        char quoted[TS_SAFETENSORS_QUOTE_SIZE];
        ts_safetensors_quote(before->tensor.name, quoted);
        return ts_safetensors_fail(r->error, r->path, p->tensor.name,
                                   "its data at %" PRId64 " overlap those of %s, which end at %" PRId64, p->begin,
                                   quoted, before->end);
    }
    for (int i = 0; i < count; i++) {
        if (places[i].begin > *total) return fail_hole(r, &places[i], &places[count - 1], *total);
        *total = places[i].end;
    }
    return *total <= ts_safetensors_most_data ||
           ts_io_fail(r->error, r->path, "%" PRId64 " bytes of data, at most %" PRId64 " are read", *total,
                      ts_safetensors_most_data);
}

static bool read_entries(const reading *r, ts_safetensors *file, placed *places, int64_t *total) {
    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry) {
        if (strcmp(name, TS_SAFETENSORS_METADATA) == 0) {
            if (!read_metadata(r, entry, file)) return false;
        } else if (!read_tensor(r, name, entry, &places[file->count++])) {
            return false;
        }
    }
    if (!check_tiling(r, places, file->count, total)) return false;
    for (int i = 0; i < file->count; i++) file->tensors[i] = places[i].tensor;
    return true;
}

static bool read_layout(const reading *r, ts_safetensors *file, int64_t *total) {
    const size_t most = json_object_size(file->header) + 1;
    placed *places = malloc(most * sizeof *places);
    file->tensors = malloc(most * sizeof *file->tensors);
    const bool ok = places != NULL && file->tensors != NULL ? read_entries(r, file, places, total)
                                                            : ts_io_fail_memory(r->error, r->path);
    free(places);
    return ok;
}

/* ---- the data ---------------------------------------------------------------------------------------------------- */

static void reverse_elements(unsigned char *bytes, int64_t count, int size) {
    for (int64_t i = 0; i < count; i++, bytes += size) {
        for (int b = 0; b < size / 2; b++) {
            const unsigned char byte = bytes[b];
            bytes[b] = bytes[size - 1 - b];
            bytes[size - 1 - b] = byte;
        }
    }
}

/* Reads the data, and one byte more to notice excess data, and points the tensors into them. */
static bool read_data(reading *r, ts_safetensors *file, int64_t total) {
    unsigned char *bytes = NULL;
    int64_t there, at = 0;
    const bool ok = ts_source_collect(&r->source, total + 1, r->left, &bytes, &there, r->error);
    file->data = bytes;
    if (!ok) return false;
    if (there > total)
        return ts_io_fail(r->error, r->path, "more data than the %" PRId64 " bytes of its tensors", total);
    for (int i = 0; i < file->count; i++) {
        ts_safetensor *tensor = &file->tensors[i];
        const int size = ts_safetensors_dtype_size(tensor->dtype);
        const int64_t count = ts_safetensor_count(tensor), end = at + count * size;
        if (end > there) {
            return ts_safetensors_fail(r->error, r->path, tensor->name,
                                       "the file ends in its data (%" PRId64 " bytes of %" PRId64 ")", there - at,
                                       count * size);
        }
        if (!ts_io_little_endian()) reverse_elements(bytes + at, count, size);
        tensor->data = bytes + at;
        at = end;
    }
    return true;
}

bool ts_safetensors_read(const char *path, ts_safetensors *file, ts_io_error *error) {
    reading r = {path, fopen(path, "rb"), 0, {path, -1, read_file, &r}, error};
    struct stat status;
    int64_t total = 0;
    *file = (ts_safetensors){0};
    if (r.stream == NULL) return ts_io_fail(error, path, "%s", strerror(errno));
    if (fstat(fileno(r.stream), &status) == 0 && S_ISREG(status.st_mode)) r.left = (int64_t)status.st_size;
    const bool ok = read_header(&r, &file->header) && read_layout(&r, file, &total) && read_data(&r, file, total);
    fclose(r.stream);
    if (!ok) ts_safetensors_free(file);
    return ok;
}

void ts_safetensors_free(ts_safetensors *file) {
    free(file->tensors);
    free(file->metadata);
    free(file->data);
    json_decref(file->header);
    *file = (ts_safetensors){0};
}

const ts_safetensor *ts_safetensors_find(const ts_safetensors *file, const char *name) {
    for (int i = 0; i < file->count; i++) {
        if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
    }
    return NULL;
}

const char *ts_safetensors_metadata(const ts_safetensors *file, const char *key) {
    for (int i = 0; i < file->n_metadata; i++) {
        if (strcmp(file->metadata[i].key, key) == 0) return file->metadata[i].value;
    }
    return NULL;
}

bool ts_safetensor_copy_f32(const ts_safetensor *tensor, int64_t count, float *out) {
    if (tensor->dtype != TS_SAFETENSORS_F32 || ts_safetensor_count(tensor) != count) return false;
    if (count > 0) memcpy(out, tensor->data, (size_t)count * sizeof *out);
    return true;
}
