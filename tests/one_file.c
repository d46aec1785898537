#include "one_file.h"

#include <unistd.h>

char folder[256], path[600];

void enter(void) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tessera_file_XXXXXX", base == NULL ? "/tmp" : base);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

void leave(void) {
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Removed first: some file systems wait for the disk when a file is cut to nothing and closed. */
void name_file(const char *name) {
    if (path[0] != '\0') unlink(path);
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

void put(const char *name, const void *bytes, size_t size) {
    name_file(name);
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
    ck_assert_int_eq(fclose(stream), 0);
}

size_t get(void *bytes, size_t most) {
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    const size_t size = fread(bytes, 1, most, stream);
    fclose(stream);
    return size;
}
