/* Arrays of .npz archives. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table_files.h"
#ifdef TS_HAVE_LIBZIP
#include <zip.h>
#endif

#ifdef TS_HAVE_LIBZIP

enum { MEMBER_SIZE = 1000 };

static void put_npz(const char *name, int count, const char *const *members, bool deflated) {
    static unsigned char bytes[16][MEMBER_SIZE];
    put(name, "", 0);
    unlink(path);
    zip_t *archive = zip_open(path, ZIP_CREATE, NULL);
    ck_assert_ptr_nonnull(archive);
    for (int i = 0; i < count; i++) {
        const double payload[] = {i, 2, 3, 4, 5, 6};
        const size_t size =
            build_npy(1, "{'descr':'=f8','fortran_order':False,'shape':(3,2)}", payload, sizeof payload);
        memcpy(bytes[i], file_bytes, size);
        zip_source_t *source = zip_source_buffer(archive, bytes[i], size, 0);
        const zip_int64_t index = zip_file_add(archive, members[i], source, 0);
        ck_assert_int_ge(index, 0);
        zip_set_file_compression(archive, (zip_uint64_t)index, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    ck_assert_int_eq(zip_close(archive), 0);
}

/* Reads path:array; NULL after checking that the values are those of member `which`, else the error's text. */
static const char *read_member(const char *array, int which) {
    static ts_io_error error;
    char whole[700];
    ts_table table;
    snprintf(whole, sizeof whole, "%s%s", path, array);
    if (!ts_table_read(whole, NULL, &table, &error)) return error.text + strlen(path);
    assert_values(&table, 3, 2, (const double[]){which, 2, 3, 4, 5, 6});
    ts_table_free(&table);
    return NULL;
}

START_TEST(npz_members) {
    static const char *const members[] = {"x.npy", "y.npy", "plain", "d", "e", "f", "g", "h"};
    for (int deflated = 0; deflated < 2; deflated++) {
        put_npz("a.npz", 3, members, deflated);
        ck_assert_ptr_null(read_member(":x", 0));
        ck_assert_ptr_null(read_member(":y.npy", 1));
        ck_assert_ptr_null(read_member(":plain", 2));
        ck_assert_str_eq(read_member("", 0), ": holds several arrays, choose one by FILE.npz:NAME: x, y, plain");
        ck_assert_str_eq(read_member(":z", 0), ": no array 'z' in the archive, which holds: x, y, plain");
        ck_assert_str_eq(read_member(":", 0), ": no array '' in the archive, which holds: x, y, plain");
        put_npz("a.npz", 1, members, deflated);
        ck_assert_ptr_null(read_member("", 0));
        put_npz("zip_without_ending", 1, members, deflated);
        ck_assert_ptr_null(read_member("", 0));
    }
    put_npz("a.npz", 8, members, false);
    ck_assert_str_eq(read_member(":z", 0),
                     ": no array 'z' in the archive, which holds: x, y, plain, d, e, f, ... (8 in all)");
    put_npz("a.npz:x", 1, members, false); /* a plain file with a colon in its name */
    const ts_table_options first = {.columns = "1"};
    ts_table table = read_good(&first);
    ck_assert_int_eq(table.cols, 1);
    ts_table_free(&table);
}
END_TEST

/* The bytes of the archive at path. */
static size_t load(unsigned char bytes[MEMBER_SIZE]) {
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    const size_t size = fread(bytes, 1, MEMBER_SIZE, stream);
    fclose(stream);
    return size;
}

/* Renames member `from`, of one letter, in the archive's bytes, where libzip would refuse. */
static void rename_member(char from, char to) {
    static unsigned char bytes[2 * MEMBER_SIZE];
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    const size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    const char name[] = {from, '.', 'n', 'p', 'y'};
    int renamed = 0;
    for (size_t at = 0; at + sizeof name <= size; at++) {
        if (memcmp(bytes + at, name, sizeof name) != 0) continue;
        bytes[at] = (unsigned char)to;
        renamed++;
    }
    ck_assert_int_eq(renamed, 2);
    put("a.npz", bytes, size);
}

/* The last counts, as in NumPy. */
START_TEST(npz_of_one_name_twice) {
    static const char *const members[] = {"w.npy", "x.npy", "y.npy"};
    put_npz("a.npz", 3, members, false);
    rename_member('y', 'x');
    ck_assert_ptr_null(read_member(":x", 2));
    ck_assert_ptr_null(read_member(":x.npy", 2));
    ck_assert_ptr_null(read_member(":w", 0));
    ck_assert_str_eq(read_member("", 0), ": holds several arrays, choose one by FILE.npz:NAME: w, x, x");
    put_npz("a.npz", 2, members, false);
    rename_member('x', 'w');
    ck_assert_ptr_null(read_member("", 1));
    static const char *const alike[] = {"x", "x.npy"}; /* two names: the one asked for, then the other */
    put_npz("a.npz", 2, alike, false);
    ck_assert_ptr_null(read_member(":x", 0));
    ck_assert_ptr_null(read_member(":x.npy", 1));
}
END_TEST

static void put_zip_of_text(void) {
    put("a.npz", "", 0);
    unlink(path);
    zip_t *archive = zip_open(path, ZIP_CREATE, NULL);
    ck_assert_ptr_nonnull(archive);
    ck_assert_int_ge(zip_file_add(archive, "x.csv", zip_source_buffer(archive, "1,2\n", 4, 0), 0), 0);
    ck_assert_int_eq(zip_close(archive), 0);
}

START_TEST(npz_refused) {
    static const char *const members[] = {"x.npy"};
    put("a.npz", "no archive at all", 17);
    ck_assert_str_eq(read_bad(NULL), "Not a zip archive");
    put("a.npz", "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    ck_assert_str_eq(read_bad(NULL), "the archive holds no array");
    unlink(path);
    ck_assert_str_eq(read_member(":x", 0), ": No such file or directory");
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert_str_eq(read_member(":x", 0), ": Is a directory");
    rmdir(path);
    put_zip_of_text();
    ck_assert_str_eq(read_member(":x.csv", 0),
                     ":x.csv: not an array, and of an archive only arrays (.npy) are read: unpack it first");
    ck_assert_str_eq(read_member("", 0),
                     ":x.csv: not an array, and of an archive only arrays (.npy) are read: unpack it first");
    put_npz("a.npz", 1, members, false);
    static unsigned char bytes[MEMBER_SIZE];
    const size_t size = load(bytes);
    bytes[30 + 5 + 10 + 52 + 20] ^= 1; /* in the payload: the checksum tells */
    put("a.npz", bytes, size);
    ck_assert_str_eq(read_member(":x", 0), ":x: CRC error");
    for (int deflated = 0; deflated < 2; deflated++) { /* a false size in the directory */
        put_npz("a.npz", 1, members, deflated);
        const size_t changed = load(bytes);
        for (size_t at = 0; at + 46 < changed; at++) {
            if (memcmp(bytes + at, "PK\1\2", 4) == 0) bytes[at + 27] = 0x7f;
        }
        put("a.npz", bytes, changed);
        static const char message[] = ":x: damaged archive: it claims ";
        ck_assert_int_eq(strncmp(read_member("", 0), message, strlen(message)), 0);
    }
}
END_TEST

START_TEST(npz_mutations) {
    static const char *const members[] = {"x.npy"};
    static unsigned char good[MEMBER_SIZE], bytes[MEMBER_SIZE];
    size_t size = 0;
    int accepted = 0;
    start_draws();
    for (int round = 0; round < 1000; round++) {
        if (round % 500 == 0) put_npz("a.npz", 1, members, round > 0);
        if (round % 500 == 0) size = load(good);
        memcpy(bytes, good, size);
        for (size_t changes = 1 + draw(3); changes > 0; changes--) bytes[draw(size)] ^= (unsigned char)(1u << draw(8));
        put("a.npz", bytes, draw(8) == 0 ? draw(size) : size);
        accepted += read_or_reason();
    }
    ck_assert_msg(accepted > 0 && accepted < 500, "%d of 1000 are read", accepted);
}
END_TEST

#else

START_TEST(npz_without_libzip) {
    put("a.npz", "PK\3\4", 4);
    ck_assert_str_eq(read_bad(NULL), "cannot read .npz archives: this program was built without libzip");
}
END_TEST

#endif

int main(void) {
    TCase *tests = tcase_create("all");
#ifdef TS_HAVE_LIBZIP
    tcase_add_test(tests, npz_members);
    tcase_add_test(tests, npz_of_one_name_twice);
    tcase_add_test(tests, npz_refused);
    tcase_add_test(tests, npz_mutations);
#else
    say_skipped("npz_members, npz_of_one_name_twice, npz_refused, npz_mutations", "no libzip");
    tcase_add_test(tests, npz_without_libzip);
#endif
    return run_table_case("npz archives", tests);
}
