/* array_writer.c: writes .npy headers and data, and text tables. */
#include "array_writer.h"

#include <inttypes.h>
#include <string.h>

#include "io_base.h"
#include "output_file.h"

enum { MOST_DIMENSIONS = 4 };

typedef struct array_format {
    const char *ending;
    int most_dimensions;
    char separator; /* 0: .npy */
} array_format;

static const array_format formats[] = {
    {".npy", MOST_DIMENSIONS, 0},
    {".csv", 2, ','},
    {".tsv", 2, '\t'},
    {".txt", 2, ' '},
};

static const array_format *find_format(const char *path, int rank, ts_io_error *error) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (!ts_io_ends_with(path, formats[i].ending)) continue;
        if (rank >= 1 && rank <= formats[i].most_dimensions) return &formats[i];
        ts_io_fail(error, path, "a %s file takes 1 to %d dimensions, the array has %d", formats[i].ending,
                   formats[i].most_dimensions, rank);
        return NULL;
    }
    ts_io_fail(error, path, "the name must end in .npy, .csv, .tsv or .txt");
    return NULL;
}

bool ts_array_path_ok(const char *path, int rank, ts_io_error *error) {
    return find_format(path, rank, error) != NULL;
}

static size_t element_size(ts_array_type type) {
    return type == TS_ARRAY_FLOAT32 ? sizeof(float) : sizeof(double);
}

static int64_t element_count(const ts_array_view *array) {
    int64_t count = 1;
    for (int i = 0; i < array->rank; i++) count *= array->dim[i];
    return count;
}

static void write_npy_header(const ts_array_view *array, FILE *stream) {
    static const char *const descriptions[] = {"<f4", "<f8", "<i8"};
    enum { PREFIX = 10, ALIGNMENT = 64 };
    char shape[128] = "", text[256];
    for (int i = 0; i < array->rank; i++) {
        const size_t used = strlen(shape);
        snprintf(shape + used, sizeof shape - used, "%s%" PRId64 "%s", i == 0 ? "" : " ", array->dim[i],
                 i + 1 < array->rank || array->rank == 1 ? "," : "");
    }
    const int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                                descriptions[array->type], shape);
    /* The header is padded with blanks so that its closing newline ends on the alignment. */
    const int padded = (PREFIX + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - PREFIX;
    const unsigned char prefix[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded % 256), (unsigned char)(padded / 256)};
    fwrite(prefix, 1, PREFIX, stream);
    fprintf(stream, "%-*s\n", padded - 1, text);
}

static void write_npy(const ts_array_view *array, FILE *stream) {
    write_npy_header(array, stream);
    ts_io_write_little_endian(array->data, element_size(array->type), (size_t)element_count(array), stream);
}

/* Quotes a name that would otherwise be read differently: as several columns, a comment, a byte order mark, or nothing.
 */
static void write_name(const char *name, char separator, FILE *stream) {
    const char special[] = {separator, ',', ';', '\t', '"', '\r', '\n', '\0'};
    const size_t length = strlen(name);
    const bool marked = strncmp(name, "\xef\xbb\xbf", 3) == 0;
    if (length > 0 && strpbrk(name, special) == NULL && name[0] != '#' && name[0] != ' ' && name[length - 1] != ' ' &&
        !marked) {
        fputs(name, stream);
        return;
    }
    putc('"', stream);
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') putc('"', stream);
        putc(*c, stream);
    }
    putc('"', stream);
}

static void write_element(const ts_array_view *array, int64_t index, FILE *stream) {
    char text[TS_NUMBER_SIZE];
    switch (array->type) {
    case TS_ARRAY_FLOAT32: ts_io_print_float(((const float *)array->data)[index], text); break;
    case TS_ARRAY_FLOAT64: ts_io_print_double(((const double *)array->data)[index], text); break;
    case TS_ARRAY_INT64: snprintf(text, sizeof text, "%" PRId64, ((const int64_t *)array->data)[index]); break;
    }
    fputs(text, stream);
}

static void write_text(const ts_array_view *array, char separator, FILE *stream) {
    const int64_t columns = array->rank == 1 ? 1 : array->dim[1];
    for (int64_t j = 0; array->column_names != NULL && j < columns; j++) {
        write_name(array->column_names[j], separator, stream);
        putc(j + 1 < columns ? separator : '\n', stream);
    }
    for (int64_t i = 0; i < array->dim[0] && !ferror(stream); i++) {
        for (int64_t j = 0; j < columns; j++) {
            write_element(array, i * columns + j, stream);
            putc(j + 1 < columns ? separator : '\n', stream);
        }
    }
}

bool ts_array_write(const char *path, const ts_array_view *array, ts_io_error *error) {
    const array_format *format = find_format(path, array->rank, error);
    ts_output_file file;
    if (format == NULL || !ts_output_open(path, &file, error)) return false;
    ts_io_locale locale;
    if (!ts_io_enter_locale(&locale)) {
        ts_output_abandon(&file);
        return ts_io_fail_memory(error, path);
    }
    if (format->separator == 0) {
        write_npy(array, file.stream);
    } else {
        write_text(array, format->separator, file.stream);
    }
    ts_io_leave_locale(&locale);
    return ts_output_commit(&file, error);
}
