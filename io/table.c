#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "csv.h"
#include "npy.h"
#include "npz.h"

typedef enum table_format { FORMAT_TEXT, FORMAT_NPY, FORMAT_NPZ } table_format;

enum { HEAD_SIZE = 6 };

/* An open file, the bytes that were looked at to tell its format first. */
typedef struct file_bytes {
    FILE *stream;
    const char *name;
    char head[HEAD_SIZE];
    int64_t head_size, head_used;
} file_bytes;

static int64_t read_file(void *context, void *buffer, int64_t size, ts_io_error *error) {
    file_bytes *file = context;
    int64_t count = file->head_size - file->head_used;
    if (count > 0) {
        if (count > size) count = size;
        memcpy(buffer, file->head + file->head_used, (size_t)count);
        file->head_used += count;
        return count;
    }
    errno = 0;
    count = (int64_t)fread(buffer, 1, (size_t)size, file->stream);
    if (count == 0 && ferror(file->stream)) {
        ts_io_fail(error, file->name, "%s", strerror(errno != 0 ? errno : EIO));
        return -1;
    }
    return count;
}

/* By the name's ending, else by the first bytes. */
static bool find_format(const char *path, file_bytes *file, table_format *format, ts_io_error *error) {
    static const struct {
        const char *ending;
        table_format format;
    } endings[] = {{".npy", FORMAT_NPY},
                   {".npz", FORMAT_NPZ},
                   {".csv", FORMAT_TEXT},
                   {".tsv", FORMAT_TEXT},
                   {".txt", FORMAT_TEXT}};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (!ts_io_ends_with(path, endings[i].ending)) continue;
        *format = endings[i].format;
        return true;
    }
    const ts_byte_source source = {file->name, -1, read_file, file};
    char head[HEAD_SIZE] = "";
    const int64_t count = ts_source_fill(&source, head, HEAD_SIZE, error);
    if (count < 0) return false;
    memcpy(file->head, head, HEAD_SIZE);
    file->head_size = count;
    *format = memcmp(head, "\x93NUMPY", 6) == 0 ? FORMAT_NPY
              : memcmp(head, "PK\3\4", 4) == 0  ? FORMAT_NPZ
                                                : FORMAT_TEXT;
    return true;
}

static bool read_open(const char *path, FILE *stream, int64_t size, ts_table_builder *builder, ts_io_error *error) {
    file_bytes file = {.stream = stream, .name = builder->source_name};
    table_format format;
    if (!find_format(path, &file, &format, error)) return false;
    const ts_byte_source source = {file.name, size, read_file, &file};
    switch (format) {
    case FORMAT_NPY: return ts_npy_read(&source, builder, error);
    case FORMAT_NPZ:
        return size >= 0 ? ts_npz_read(path, NULL, builder, error)
                         : ts_io_fail(error, file.name, "an .npz archive cannot be read from a pipe");
    default: return ts_csv_read(&source, ts_io_ends_with(path, ".tsv"), builder, error);
    }
}

static bool read_named(const char *path, ts_table_builder *builder, ts_io_error *error) {
    FILE *stream = fopen(path, "rb");
    struct stat status;
    if (stream == NULL || fstat(fileno(stream), &status) != 0) {
        ts_io_fail(error, path, "%s", strerror(errno));
        if (stream != NULL) fclose(stream);
        return false;
    }
    const int64_t size = S_ISREG(status.st_mode) ? (int64_t)status.st_size : -1;
    const bool ok = S_ISDIR(status.st_mode) ? ts_io_fail(error, path, "%s", strerror(EISDIR))
                                            : read_open(path, stream, size, builder, error);
    fclose(stream);
    return ok;
}

/* The last colon that follows ".npz", or NULL. */
static const char *archive_colon(const char *path) {
    static const char mark[] = ".npz:";
    const char *colon = NULL;
    for (const char *p = path; *p != '\0'; p++) {
        if (strncasecmp(p, mark, strlen(mark)) == 0) colon = p + strlen(mark) - 1;
    }
    return colon;
}

static bool read_path(const char *path, ts_table_builder *builder, ts_io_error *error) {
    if (strcmp(path, "-") == 0) {
        builder->source_name = "standard input";
        return read_open(path, stdin, -1, builder, error);
    }
    struct stat status;
    const char *colon = stat(path, &status) == 0 ? NULL : archive_colon(path);
    if (colon == NULL) return read_named(path, builder, error);
    char *archive = strndup(path, (size_t)(colon - path));
    if (archive == NULL) return ts_io_fail_memory(error, path);
    const bool ok = ts_npz_read(archive, colon + 1, builder, error);
    free(archive);
    return ok;
}

bool ts_table_read(const char *path, const ts_table_options *options, ts_table *table, ts_io_error *error) {
    static const ts_table_options defaults = {TS_HEADER_AUTO, NULL, NULL};
    *table = (ts_table){0};
    ts_table_builder builder = {
        .source_name = path, .options = options == NULL ? &defaults : options, .table = table, .label = -1};
    ts_io_locale locale;
    if (!ts_io_enter_locale(&locale)) return ts_io_fail_memory(error, path);
    const bool ok = read_path(path, &builder, error);
    ts_io_leave_locale(&locale);
    ts_builder_free(&builder);
    if (!ok) ts_table_free(table);
    return ok;
}

void ts_table_free(ts_table *table) {
    for (int64_t j = 0; table->names != NULL && j < table->cols; j++) free(table->names[j]);
    for (int64_t k = 0; table->classes != NULL && k < table->n_classes; k++) free(table->classes[k]);
    free(table->names);
    free(table->classes);
    free(table->labels);
    free(table->values);
    *table = (ts_table){0};
}
