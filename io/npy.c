/* npy.c: parses the header of a .npy file and converts its data. */
#include "npy.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static const char supported_types[] = "f4, f8, i1-i8, u1-u8 and bool are";

enum { MAGIC_SIZE = 8, LONGEST_HEADER = 1 << 16, CHUNK = 1 << 20 };

typedef struct npy_array {
    char descr[32];
    char kind; /* 'f', 'i', 'u' or 'b' */
    int size;  /* bytes of an element */
    bool swapped;
    bool fortran_order;
    int rank;
    int64_t rows, cols; /* INT64_MAX if too large to represent */
    char shape[128];    /* as in the header, cut if long */
    int64_t header_size;
} npy_array;

static bool fail_header(const ts_byte_source *source, ts_io_error *error, const char *what) {
    return ts_io_fail(error, source->name, "damaged .npy header: %s", what);
}

static const char *skip_space(const char *p) {
    return p + strspn(p, " \t\r\n");
}

/* Copies the quoted string at p, cut between characters if it is long. Returns its end, or NULL if there is none. */
static const char *parse_string(const char *p, char *text, size_t size) {
    const char quote = *p;
    if (quote != '\'' && quote != '"') return NULL;
    const char *end = strchr(p + 1, quote);
    if (end == NULL || memchr(p, '\\', (size_t)(end - p)) != NULL) return NULL;
    const size_t length = (size_t)(end - p - 1);
    snprintf(text, size, "%.*s", (int)(length < size ? length : ts_utf8_fit(p + 1, size - 1)), p + 1);
    return end + 1;
}

static const char *parse_bool(const char *p, bool *value) {
    *value = strncmp(p, "True", 4) == 0;
    return *value ? p + 4 : strncmp(p, "False", 5) == 0 ? p + 5 : NULL;
}

/* A tuple of integers, each perhaps with the suffix L of Python 2. */
static const char *parse_shape(const char *start, npy_array *array) {
    const char *p = start;
    bool comma = true;
    if (*p++ != '(') return NULL;
    array->rows = array->cols = 1;
    for (array->rank = 0; *(p = skip_space(p)) != ')'; array->rank++) {
        int64_t extent = 0;
        if (!comma || *p < '0' || *p > '9') return NULL;
        for (; *p >= '0' && *p <= '9'; p++) {
            extent = extent > (INT64_MAX - 9) / 10 ? INT64_MAX : extent * 10 + (*p - '0');
        }
        if (*p == 'L') p++;
        p = skip_space(p);
        comma = *p == ',';
        if (comma) p++;
        if (array->rank == 0) array->rows = extent;
        if (array->rank == 1) array->cols = extent;
    }
    if (array->rank == 1 && !comma) return NULL; /* (3) is a number, (3,) is a tuple */
    const size_t length = (size_t)(p + 1 - start), room = sizeof array->shape - sizeof "...";
    snprintf(array->shape, sizeof array->shape, "%.*s%s", (int)(length <= room ? length : room), start,
             length <= room ? "" : "...");
    return p + 1;
}

/* For a dtype that is a list or tuple of fields instead of a string. */
static bool fail_structured(const ts_byte_source *source, ts_io_error *error, const char *p) {
    char quoted[TS_QUOTE_SIZE];
    ts_io_quote(p, quoted);
    return ts_io_fail(error, source->name, "structured dtype %s is not supported (%s)", quoted, supported_types);
}

static bool parse_dict(const ts_byte_source *source, const char *p, npy_array *array, ts_io_error *error) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false};
    p = skip_space(p);
    if (*p != '{') return fail_header(source, error, "no dictionary");
    for (p = skip_space(p + 1); *p != '}'; p = skip_space(p)) {
        char key[24];
        int which = 0;
        p = parse_string(p, key, sizeof key);
        if (p == NULL) return fail_header(source, error, "a key was expected");
        while (which < 3 && strcmp(key, keys[which]) != 0) which++;
        if (which == 3) return ts_io_fail(error, source->name, "damaged .npy header: unknown key '%s'", key);
        if (seen[which]) return ts_io_fail(error, source->name, "damaged .npy header: key '%s' twice", key);
        seen[which] = true;
        p = skip_space(p);
        if (*p != ':') return fail_header(source, error, "a colon was expected");
        p = skip_space(p + 1);
        if (which == 0 && (*p == '[' || *p == '(')) return fail_structured(source, error, p);
        p = which == 0   ? parse_string(p, array->descr, sizeof array->descr)
            : which == 1 ? parse_bool(p, &array->fortran_order)
                         : parse_shape(p, array);
        if (p == NULL) return ts_io_fail(error, source->name, "damaged .npy header: value of '%s'", key);
        p = skip_space(p);
        if (*p != ',' && *p != '}') return fail_header(source, error, "a comma was expected");
        if (*p == ',') p++;
    }
    if (*skip_space(p + 1) != '\0') return fail_header(source, error, "text after the dictionary");
    if (!seen[0] || !seen[1] || !seen[2]) return fail_header(source, error, "a key is missing");
    return true;
}

static bool parse_dtype(const ts_byte_source *source, npy_array *array, ts_io_error *error) {
    static const char *const supported[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
    const bool little = ts_io_little_endian();
    const char order = array->descr[0];
    const char *type = array->descr + (order != '\0' && strchr("<>=|", order) != NULL);
    if (strcmp(type, "?") == 0) type = "b1";
    array->swapped = (order == '<' && !little) || (order == '>' && little);
    for (size_t i = 0; i < sizeof supported / sizeof supported[0]; i++) {
        if (strcmp(type, supported[i]) != 0) continue;
        array->kind = type[0];
        array->size = type[1] - '0';
        return true;
    }
    return ts_io_fail(error, source->name, "dtype '%s' is not supported (%s)", array->descr, supported_types);
}

/* One or two dimensions, at least one number, and a number of bytes that fits into int64_t. */
static bool check_shape(const ts_byte_source *source, const npy_array *array, ts_io_error *error) {
    if (array->rank < 1 || array->rank > 2) {
        return ts_io_fail(error, source->name, "shape %s has %d dimensions, a table has 1 or 2", array->shape,
                          array->rank);
    }
    if (array->rows == 0 || array->cols == 0) {
        return ts_io_fail(error, source->name, "shape %s holds no numbers", array->shape);
    }
    if (array->rows > INT64_MAX / array->cols / array->size) {
        return ts_io_fail(error, source->name, "shape %s is too large", array->shape);
    }
    return true;
}

/* Reads everything before the data. */
static bool read_header(const ts_byte_source *source, npy_array *array, ts_io_error *error) {
    unsigned char start[MAGIC_SIZE + 4];
    int64_t count = ts_source_fill(source, start, MAGIC_SIZE, error);
    if (count < 0) return false;
    if (count < MAGIC_SIZE || memcmp(start, "\x93NUMPY", 6) != 0) {
        return ts_io_fail(error, source->name, "not a .npy file");
    }
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        return ts_io_fail(error, source->name, "version %d.%d of .npy is not supported", start[6], start[7]);
    }
    const int length_size = start[6] == 1 ? 2 : 4;
    count = ts_source_fill(source, start + MAGIC_SIZE, length_size, error);
    if (count < 0) return false;
    if (count < length_size) return fail_header(source, error, "the file ends in it");
    uint32_t length = 0;
    for (int i = length_size; i > 0; i--) length = length << 8 | start[MAGIC_SIZE + i - 1];
    if (length > LONGEST_HEADER) {
        return ts_io_fail(error, source->name, "damaged .npy header: it claims %" PRIu32 " bytes", length);
    }
    char *text = malloc((size_t)length + 1);
    if (text == NULL) return ts_io_fail_memory(error, source->name);
    count = ts_source_fill(source, text, length, error);
    text[count < 0 ? 0 : count] = '\0';
    array->header_size = (int64_t)MAGIC_SIZE + length_size + length;
    const bool ok = count >= 0 && (count == length || fail_header(source, error, "the file ends in it")) &&
                    (strlen(text) == length || fail_header(source, error, "a NUL byte")) &&
                    parse_dict(source, text, array, error) && parse_dtype(source, array, error) &&
                    check_shape(source, array, error);
    free(text);
    return ok;
}

static double decode(const npy_array *array, const unsigned char *bytes) {
    union {
        unsigned char bytes[8];
        float f4;
        double f8;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } number;
    for (int i = 0; i < array->size; i++) number.bytes[array->swapped ? array->size - 1 - i : i] = bytes[i];
    if (array->kind == 'b') return number.bytes[0] != 0;
    if (array->kind == 'f') return array->size == 4 ? (double)number.f4 : number.f8;
    const bool is_signed = array->kind == 'i';
    switch (array->size) {
    case 1: return is_signed ? number.i1 : number.bytes[0];
    case 2: return is_signed ? number.i2 : number.u2;
    case 4: return is_signed ? (double)number.i4 : (double)number.u4;
    default: return is_signed ? (double)number.i8 : (double)number.u8;
    }
}

/* The feature that each column of the file becomes, or -1; allocated. */
static int64_t *feature_of_column(const ts_table_builder *b) {
    int64_t *features = malloc((size_t)b->n_columns * sizeof *features);
    for (int64_t j = 0; features != NULL && j < b->n_columns; j++) features[j] = -1;
    for (int64_t k = 0; features != NULL && k < b->table->cols; k++) features[b->columns[k]] = k;
    return features;
}

static bool store(ts_table_builder *b, const int64_t *features, int64_t row, int64_t column, double value,
                  ts_io_error *error) {
    char text[TS_NUMBER_SIZE];
    if (features[column] < 0 && column != b->label) return true;
    if (!isfinite(value)) {
        const char *what = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
        return ts_io_fail(error, b->source_name, "row %" PRId64 ", column %" PRId64 ": not finite (%s)", row + 1,
                          column + 1, what);
    }
    if (column == b->label) {
        ts_io_print_double(value + 0.0, text); /* + 0.0: -0 and 0 are one class */
        return ts_builder_add_label(b, text, error);
    }
    b->table->values[row * b->table->cols + features[column]] = value;
    return true;
}

static bool fail_size(const ts_byte_source *source, const npy_array *array, int64_t there, ts_io_error *error) {
    const int64_t needed = array->rows * array->cols * array->size;
    if (there > needed) {
        return ts_io_fail(error, source->name, "more data than shape %s of '%s' takes (%" PRId64 " bytes)",
                          array->shape, array->descr, needed);
    }
    return ts_io_fail(error, source->name, "%" PRId64 " bytes of data where shape %s of '%s' takes %" PRId64, there,
                      array->shape, array->descr, needed);
}

/* A place in the table that advances in the file's order of storage. */
typedef struct npy_place {
    int64_t row, column;
} npy_place;

static void advance(const npy_array *array, npy_place *place) {
    int64_t *const fast = array->fortran_order ? &place->row : &place->column;
    int64_t *const slow = array->fortran_order ? &place->column : &place->row;
    if (++*fast < (array->fortran_order ? array->rows : array->cols)) return;
    *fast = 0;
    ++*slow;
}

static bool store_chunk(const npy_array *array, ts_table_builder *b, const int64_t *features, npy_place *place,
                        const unsigned char *chunk, int64_t size, ts_io_error *error) {
    for (int64_t i = 0; i < size; i += array->size) {
        if (!store(b, features, place->row, place->column, decode(array, chunk + i), error)) return false;
        advance(array, place);
    }
    return true;
}

/* Are the file's numbers floats in the table's own order, with no column left out, moved or used as labels? */
static bool is_whole_table(const npy_array *array, const ts_table_builder *b, const int64_t *features) {
    bool whole = array->kind == 'f' && !array->swapped && !array->fortran_order && b->label < 0;
    for (int64_t j = 0; whole && j < array->cols; j++) whole = features[j] == j;
    return whole;
}

/* Converts floats of such a file; false if one is not finite. */
static bool convert(const npy_array *array, const unsigned char *chunk, int64_t count, double *values) {
    bool finite = true;
    for (int64_t i = 0; i < count && array->size == 4; i++) {
        float value;
        memcpy(&value, chunk + 4 * i, 4);
        values[i] = (double)value;
    }
    if (array->size == 8) memcpy(values, chunk, (size_t)count * 8);
    for (int64_t i = 0; i < count; i++) finite = finite & (fabs(values[i]) <= DBL_MAX);
    return finite;
}

/* Converts the data into the table, whose values are allocated. */
static bool read_payload(const ts_byte_source *source, const npy_array *array, ts_table_builder *b,
                         const int64_t *features, unsigned char *chunk, ts_io_error *error) {
    const int64_t total = array->rows * array->cols * array->size;
    const bool whole = is_whole_table(array, b, features);
    for (int64_t done = 0; done < total; done += CHUNK) {
        const int64_t wanted = total - done < CHUNK ? total - done : CHUNK, at = done / array->size;
        const int64_t count = ts_source_fill(source, chunk, wanted, error);
        npy_place place = {at / array->cols, at % array->cols};
        if (array->fortran_order) place = (npy_place){at % array->rows, at / array->rows};
        if (count < 0) return false;
        if (count < wanted) return fail_size(source, array, done + count, error);
        if (whole && convert(array, chunk, count / array->size, b->table->values + at)) continue;
        if (!store_chunk(array, b, features, &place, chunk, count, error)) return false;
    }
    const int64_t more = ts_source_fill(source, chunk, 1, error);
    return more == 0 || (more > 0 && fail_size(source, array, total + 1, error));
}

static bool read_array(const ts_byte_source *source, const npy_array *array, ts_table_builder *b, ts_io_error *error) {
    bool by_name;
    if (!ts_builder_choose(b, array->cols, NULL, &by_name, error)) return false;
    if (!ts_builder_reserve(b, array->rows, error)) return false;
    int64_t *features = feature_of_column(b);
    unsigned char *chunk = malloc(CHUNK);
    const bool ok = features != NULL && chunk != NULL ? read_payload(source, array, b, features, chunk, error)
                                                      : ts_io_fail_memory(error, source->name);
    free(features);
    free(chunk);
    if (ok) ts_builder_finish(b, array->rows);
    return ok;
}

typedef struct memory_block {
    unsigned char *bytes;
    int64_t size, used;
} memory_block;

static int64_t read_memory(void *context, void *buffer, int64_t size, ts_io_error *error) {
    memory_block *block = context;
    const int64_t left = block->size - block->used, count = size < left ? size : left;
    (void)error;
    if (count > 0) memcpy(buffer, block->bytes + block->used, (size_t)count);
    block->used += count;
    return count;
}

bool ts_npy_read(const ts_byte_source *source, ts_table_builder *builder, ts_io_error *error) {
    npy_array array = {0};
    if (!read_header(source, &array, error)) return false;
    const int64_t total = array.rows * array.cols * array.size;
    if (source->size >= 0) {
        const int64_t there = source->size - array.header_size;
        return there == total ? read_array(source, &array, builder, error) : fail_size(source, &array, there, error);
    }
    memory_block block = {0};
    const ts_byte_source memory = {source->name, -1, read_memory, &block};
    const int64_t most = total < INT64_MAX ? total + 1 : total; /* one byte more, to notice excess data */
    const bool ok = ts_source_collect(source, most, 0, &block.bytes, &block.size, error) &&
                    (block.size == total || fail_size(source, &array, block.size, error)) &&
                    read_array(&memory, &array, builder, error);
    free(block.bytes);
    return ok;
}
