/* table.c: opens a file, tells its format, and calls the reader of that format. */
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "csv.h"
#include "file_format.h"
#include "gzip.h"
#include "npy.h"
#include "npz.h"
#include "table_notes.h"

static const ts_table_options defaults = {.header = TS_HEADER_AUTO};

typedef struct open_file {
    FILE *stream;
    const char *name;
} open_file;

static int64_t read_file(void *context, void *buffer, int64_t size, ts_io_error *error) {
    const open_file *file = context;
    return ts_io_read_stream(file->stream, file->name, buffer, size, error);
}

/* A source whose first bytes have been read to tell its format; they are read again from `head`. */
typedef struct looked_at {
    const ts_byte_source *source;
    unsigned char head[TS_FILE_HEAD];
    int64_t size, used;
} looked_at;

static int64_t read_on(void *context, void *buffer, int64_t size, ts_io_error *error) {
    looked_at *start = context;
    int64_t count = start->size - start->used;
    if (count == 0) return start->source->read(start->source->context, buffer, size, error);
    if (count > size) count = size;
    memcpy(buffer, start->head + start->used, (size_t)count);
    start->used += count;
    return count;
}

/* Does the name end in `ending`, or in `ending`.gz? */
static bool is_named(const char *path, const char *ending) {
    char packed[16];
    snprintf(packed, sizeof packed, "%s.gz", ending);
    return ts_io_ends_with(path, ending) || ts_io_ends_with(path, packed);
}

static bool read_source(const char *path, const ts_byte_source *source, bool packed, ts_table_builder *builder,
                        ts_io_error *error);

static bool read_packed(const char *path, const ts_byte_source *source, ts_table_builder *builder, ts_io_error *error) {
    ts_gzip *gzip = ts_gzip_open(source, error);
    const ts_byte_source unpacked = {source->name, -1, ts_gzip_read, gzip};
    const bool ok = gzip != NULL && read_source(path, &unpacked, true, builder, error);
    ts_gzip_close(gzip);
    return ok;
}

static bool read_archive(const char *path, const ts_byte_source *source, bool packed, ts_table_builder *builder,
                         ts_io_error *error) {
    if (packed)
        return ts_io_fail(error, source->name, "an archive inside a gzip file is not read: decompress it first");
    return source->size >= 0 ? ts_npz_read(path, NULL, builder, error)
                             : ts_io_fail(error, source->name, "an .npz archive cannot be read from a pipe");
}

/* The first bytes tell the format; if they do not, the name's ending does. */
static bool read_source(const char *path, const ts_byte_source *source, bool packed, ts_table_builder *builder,
                        ts_io_error *error) {
    looked_at start = {.source = source};
    const char *what, *advice;
    start.size = ts_source_fill(source, start.head, TS_FILE_HEAD, error);
    if (start.size < 0) return false;
    const ts_byte_source whole = {source->name, source->size, read_on, &start};
    ts_file_format format = ts_file_format_of(start.head, start.size, &what, &advice);
    if (format == TS_FILE_TEXT && is_named(path, ".npy")) format = TS_FILE_NPY;
    if (format == TS_FILE_TEXT && is_named(path, ".npz")) format = TS_FILE_ZIP;
    switch (format) {
    case TS_FILE_NPY: return ts_npy_read(&whole, builder, error);
    case TS_FILE_ZIP: return read_archive(path, source, packed, builder, error);
    case TS_FILE_GZIP:
        if (packed) return ts_io_fail(error, source->name, "gzip inside gzip is not read: decompress it first");
        return read_packed(path, &whole, builder, error);
    case TS_FILE_UNREAD: return ts_io_fail(error, source->name, "this is %s, which is not read: %s", what, advice);
    default: return ts_csv_read(&whole, is_named(path, ".tsv"), builder, error);
    }
}

static bool read_open(const char *path, FILE *stream, int64_t size, ts_table_builder *builder, ts_io_error *error) {
    open_file file = {stream, builder->source_name};
    const ts_byte_source source = {file.name, size, read_file, &file};
    return read_source(path, &source, false, builder, error);
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

bool ts_table_options_check(const char *path, const ts_table_options *options, ts_io_error *error) {
    return ts_builder_check_options(path, options, error);
}

static bool read_table(const char *path, ts_table_builder *builder, ts_io_error *error) {
    ts_io_locale locale;
    *builder->table = (ts_table){0};
    if (!ts_io_enter_locale(&locale)) return ts_io_fail_memory(error, path);
    const bool ok = read_path(path, builder, error);
    ts_io_leave_locale(&locale);
    if (ok && !builder->fixed) ts_note_row_numbers(builder);
    ts_builder_free(builder);
    if (!ok) ts_table_free(builder->table);
    return ok;
}

bool ts_table_read(const char *path, const ts_table_options *options, ts_table *table, ts_io_error *error) {
    ts_table_builder builder = {
        .source_name = path, .options = options == NULL ? &defaults : options, .table = table, .label = -1};
    return read_table(path, &builder, error);
}

bool ts_table_read_features(const char *path, char *const *names, int64_t count, ts_table *table, ts_io_error *error) {
    ts_table_builder builder = {.source_name = path,
                                .options = &defaults,
                                .table = table,
                                .label = -1,
                                .fixed = true,
                                .wanted = names,
                                .n_wanted = count};
    return read_table(path, &builder, error);
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
