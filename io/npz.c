/* npz.c: finds an array in an archive with libzip, or refuses if built without it. */
#include "npz.h"

#ifdef TS_HAVE_LIBZIP

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "npy.h"
#include "utf8.h"

/* The greatest compression ratio of deflate. */
enum { MOST_DEFLATED = 1032 };

typedef struct zip_member {
    zip_file_t *file;
    const char *name;
} zip_member;

static int64_t read_member(void *context, void *buffer, int64_t size, ts_io_error *error) {
    const zip_member *member = context;
    const zip_int64_t count = zip_fread(member->file, buffer, (zip_uint64_t)size);
    if (count < 0) ts_io_fail(error, member->name, "%s", zip_file_strerror(member->file));
    return count < 0 ? -1 : (int64_t)count;
}

/* A few names of arrays, as they may follow the colon in FILE.npz:NAME. */
static void list_arrays(zip_t *archive, char *list, size_t size) {
    enum { SHOWN = 6 };
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    size_t used = 0;
    list[0] = '\0';
    for (zip_int64_t i = 0; i < count && i < SHOWN && used < size; i++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        if (name == NULL) continue;
        const size_t length = strlen(name) - (ts_io_ends_with(name, ".npy") ? 4 : 0);
        used += (size_t)snprintf(list + used, size - used, "%s%.*s", used == 0 ? "" : ", ",
                                 (int)ts_utf8_fit(name, length > 30 ? 30 : length), name);
    }
    ts_utf8_end_whole(list);
    if (count > SHOWN && used < size) snprintf(list + used, size - used, ", ... (%" PRId64 " in all)", (int64_t)count);
}

/* The last member called wanted + ending, which is the one that NumPy reads; -1: there is none. */
static zip_int64_t last_member(zip_t *archive, const char *wanted, const char *ending) {
    const size_t length = strlen(wanted);
    for (zip_int64_t i = zip_get_num_entries(archive, 0) - 1; i >= 0; i--) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        if (name != NULL && strncmp(name, wanted, length) == 0 && strcmp(name + length, ending) == 0) return i;
    }
    return -1;
}

/* The last member, if all members have the same name; else -1. */
static zip_int64_t only_member(zip_t *archive) {
    const zip_int64_t last = zip_get_num_entries(archive, 0) - 1;
    const char *name = zip_get_name(archive, (zip_uint64_t)last, 0);
    for (zip_int64_t i = 0; i < last; i++) {
        const char *other = zip_get_name(archive, (zip_uint64_t)i, 0);
        if (name == NULL || other == NULL || strcmp(name, other) != 0) return -1;
    }
    return last;
}

/* The index of the member asked for, or -1. */
static zip_int64_t find_member(zip_t *archive, const char *path, const char *array, ts_io_error *error) {
    char list[200];
    if (zip_get_num_entries(archive, 0) == 0) {
        ts_io_fail(error, path, "the archive holds no array");
        return -1;
    }
    zip_int64_t index = array == NULL ? only_member(archive) : last_member(archive, array, "");
    if (index < 0 && array != NULL) index = last_member(archive, array, ".npy");
    if (index >= 0) return index;
    list_arrays(archive, list, sizeof list);
    if (array == NULL) {
        ts_io_fail(error, path, "holds several arrays, choose one by FILE.npz:NAME: %s", list);
        return -1;
    }
    char quoted[TS_QUOTE_SIZE];
    ts_io_quote(array, quoted);
    ts_io_fail(error, path, "no array %s in the archive, which holds: %s", quoted, list);
    return -1;
}

/* Checks the claimed size of a member against what the file can contain. */
static bool check_sizes(const zip_stat_t *member, int64_t archive_size, const char *name, ts_io_error *error) {
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((member->valid & needed) != needed) return ts_io_fail(error, name, "the archive does not tell its size");
    const bool stored = member->comp_method == ZIP_CM_STORE;
    if (!stored && member->comp_method != ZIP_CM_DEFLATE) {
        return ts_io_fail(error, name, "compressed by method %d, only stored and deflated arrays are read",
                          (int)member->comp_method);
    }
    if (member->comp_size > (zip_uint64_t)archive_size ||
        (stored ? member->size != member->comp_size : member->size / MOST_DEFLATED > member->comp_size)) {
        return ts_io_fail(error, name, "damaged archive: it claims %" PRIu64 " bytes in %" PRIu64,
                          (uint64_t)member->size, (uint64_t)member->comp_size);
    }
    return true;
}

/* Does the member begin like an array? Yes if it cannot be read: the reader of arrays will say why. */
static bool is_array(zip_t *archive, zip_int64_t index) {
    static const char magic[] = "\x93NUMPY";
    char start[sizeof magic] = "";
    zip_file_t *file = zip_fopen_index(archive, (zip_uint64_t)index, 0);
    const bool known = file != NULL && zip_fread(file, start, sizeof magic - 1) >= 0;
    if (file != NULL) zip_fclose(file);
    return !known || strcmp(start, magic) == 0;
}

static bool read_entry(zip_t *archive, zip_int64_t index, const char *path, int64_t archive_size,
                       ts_table_builder *builder, ts_io_error *error) {
    zip_stat_t status;
    if (zip_stat_index(archive, (zip_uint64_t)index, 0, &status) != 0) {
        return ts_io_fail(error, path, "%s", zip_strerror(archive));
    }
    const size_t size = strlen(path) + strlen(status.name) + 2;
    char *name = malloc(size);
    if (name == NULL) return ts_io_fail_memory(error, path);
    snprintf(name, size, "%s:%s", path, status.name);
    if (ts_io_ends_with(name, ".npy")) name[size - 1 - strlen(".npy")] = '\0';
    zip_member member = {NULL, name};
    bool ok = check_sizes(&status, archive_size, name, error);
    if (ok && !is_array(archive, index))
        ok = ts_io_fail(error, name, "not an array, and of an archive only arrays (.npy) are read: unpack it first");
    if (ok) {
        member.file = zip_fopen_index(archive, (zip_uint64_t)index, 0);
        const ts_byte_source source = {name, (int64_t)status.size, read_member, &member};
        builder->source_name = name;
        ok = member.file != NULL ? ts_npy_read(&source, builder, error)
                                 : ts_io_fail(error, name, "%s", zip_strerror(archive));
        builder->source_name = path;
    }
    if (member.file != NULL) zip_fclose(member.file);
    free(name);
    return ok;
}

bool ts_npz_read(const char *path, const char *array, ts_table_builder *builder, ts_io_error *error) {
    struct stat status;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0) return ts_io_fail(error, path, "%s", strerror(errno));
    if (S_ISDIR(status.st_mode)) return ts_io_fail(error, path, "%s", strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) return ts_io_fail(error, path, "an .npz archive cannot be read from a pipe");
    int code;
    zip_t *archive = zip_open(path, ZIP_RDONLY, &code);
    if (archive == NULL) {
        zip_error_t reason;
        zip_error_init_with_code(&reason, code);
        ts_io_fail(error, path, "%s", zip_error_strerror(&reason));
        zip_error_fini(&reason);
        return false;
    }
    const zip_int64_t index = find_member(archive, path, array, error);
    const bool ok = index >= 0 && read_entry(archive, index, path, status.st_size, builder, error);
    zip_discard(archive);
    return ok;
}

#else

bool ts_npz_read(const char *path, const char *array, ts_table_builder *builder, ts_io_error *error) {
    (void)array;
    (void)builder;
    return ts_io_fail(error, path, "cannot read .npz archives: this program was built without libzip");
}

#endif
