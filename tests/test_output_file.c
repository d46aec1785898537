#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../io/output_file.h"
#include "test_main.h"

static char folder[256];

static void enter(void) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tessera_output_XXXXXX", base == NULL ? "/tmp" : base);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* The number of entries of the folder, and their removal. */
static int count_files(bool removing) {
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (removing && unlink(path) != 0) rmdir(path);
        count++;
    }
    closedir(directory);
    return count;
}

static void leave(void) {
    count_files(true);
    rmdir(folder);
}

static const char *in_folder(const char *name) {
    static char paths[4][600];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *path, const char *text) {
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

static void assert_content(const char *path, const char *expected) {
    char text[100] = "";
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    ck_assert_str_eq(text, expected);
}

static mode_t mode_of(const char *path) {
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_mode & 0777;
}

static void write_whole(const char *path, const char *text) {
    ts_output_file file;
    ts_io_error error;
    ck_assert_msg(ts_output_open(path, &file, &error), "%s", error.text);
    fputs(text, file.stream);
    ck_assert_msg(ts_output_commit(&file, &error), "%s", error.text);
    ts_output_abandon(&file);
}

static void assert_open_fails(const char *path, const char *reason) {
    ts_output_file file;
    ts_io_error error;
    char expected[700];
    snprintf(expected, sizeof expected, "%s: %s", path, reason);
    ck_assert(!ts_output_open(path, &file, &error));
    ck_assert_str_eq(error.text, expected);
    ck_assert_ptr_null(file.stream);
    ts_output_abandon(&file);
}

START_TEST(appears_at_commit_only) {
    const char *path = in_folder("a.txt");
    ts_output_file file;
    ts_io_error error;
    put(path, "old");
    ck_assert(ts_output_open(path, &file, &error));
    fputs("new", file.stream);
    fflush(file.stream);
    assert_content(path, "old");
    ck_assert_int_eq(count_files(false), 2);
    ck_assert_msg(ts_output_commit(&file, &error), "%s", error.text);
    assert_content(path, "new");
    ck_assert_int_eq(count_files(false), 1);
}
END_TEST

START_TEST(abandon_leaves_the_old_file) {
    const char *path = in_folder("a.txt");
    ts_output_file file, zeroed = {0};
    ts_io_error error;
    put(path, "old");
    ck_assert(ts_output_open(path, &file, &error));
    fputs("new", file.stream);
    ts_output_abandon(&file);
    ts_output_abandon(&file);
    ts_output_abandon(&zeroed);
    assert_content(path, "old");
    ck_assert_int_eq(count_files(false), 1);
}
END_TEST

START_TEST(two_writers_do_not_meet) {
    const char *path = in_folder("a.txt");
    ts_output_file first, second;
    ts_io_error error;
    ck_assert(ts_output_open(path, &first, &error));
    ck_assert(ts_output_open(path, &second, &error));
    fputs("first", first.stream);
    fputs("second", second.stream);
    ck_assert(ts_output_commit(&first, &error));
    assert_content(path, "first");
    ck_assert(ts_output_commit(&second, &error));
    assert_content(path, "second");
}
END_TEST

START_TEST(permissions) {
    const char *path = in_folder("a.txt"), *other = in_folder("b.txt");
    const mode_t old = umask(027);
    write_whole(path, "x");
    ck_assert_uint_eq(mode_of(path), 0640);
    umask(077);
    ck_assert_int_eq(chmod(path, 0664), 0);
    write_whole(path, "y");
    ck_assert_uint_eq(mode_of(path), 0664);
    write_whole(other, "y");
    ck_assert_uint_eq(mode_of(other), 0600);
    umask(old);
}
END_TEST

START_TEST(links_are_written_through) {
    struct stat status;
    const char *path = in_folder("real.txt"), *link = in_folder("link.txt");
    put(path, "old");
    ck_assert_int_eq(symlink("real.txt", link), 0);
    write_whole(link, "new");
    ck_assert_int_eq(lstat(link, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    assert_content(path, "new");
    ck_assert_int_eq(unlink(path), 0);
    write_whole(link, "dangling");
    assert_content(path, "dangling");
    ck_assert_int_eq(count_files(false), 2);
    ck_assert_int_eq(symlink("loop", in_folder("loop")), 0);
    assert_open_fails(in_folder("loop"), "Too many levels of symbolic links");
}
END_TEST

START_TEST(refused_names) {
    put(in_folder("file"), "x");
    assert_open_fails(in_folder("missing/x.csv"), "No such file or directory");
    assert_open_fails(in_folder("missing/"), "Is a directory");
    assert_open_fails(in_folder("file/x.csv"), "Not a directory");
    assert_open_fails(folder, "Is a directory");
    assert_open_fails("", "No such file or directory");
    assert_open_fails("out_that_is_not_there/x.csv", "No such file or directory");
    ck_assert_int_eq(count_files(false), 1);
}
END_TEST

START_TEST(read_only_target) {
    const char *path = in_folder("a.txt");
    put(path, "old");
    ck_assert_int_eq(chmod(path, 0444), 0);
    if (access(path, W_OK) == 0) {
        skip_test("root, who may write everything");
        return;
    }
    assert_open_fails(path, "Permission denied");
    assert_content(path, "old");
}
END_TEST

START_TEST(full_device) {
    if (access("/dev/full", W_OK) != 0) {
        skip_test("no /dev/full");
        return;
    }
    for (int size = 1; size <= 100000; size *= 100) { /* fails at the flush, or within a write before */
        ts_output_file file;
        ts_io_error error;
        ck_assert(ts_output_open("/dev/full", &file, &error));
        for (int i = 0; i < size; i++) putc('x', file.stream);
        errno = 0;
        ck_assert(!ts_output_commit(&file, &error));
        ck_assert_str_eq(error.text, "/dev/full: No space left on device");
    }
}
END_TEST

/* The descriptor is exchanged for one that cannot be written, as a disk may fail at any time. */
START_TEST(failed_write_leaves_the_target) {
    const char *path = in_folder("a.txt");
    put(path, "old");
    for (int size = 1; size <= 100000; size *= 100) {
        ts_output_file file;
        ts_io_error error;
        ck_assert(ts_output_open(path, &file, &error));
        const int broken = open("/dev/null", O_RDONLY);
        ck_assert_int_ge(dup2(broken, fileno(file.stream)), 0);
        close(broken);
        for (int i = 0; i < size; i++) putc('x', file.stream);
        ck_assert(!ts_output_commit(&file, &error));
        ck_assert_ptr_nonnull(strstr(error.text, "a.txt: Bad file descriptor"));
        assert_content(path, "old");
        ck_assert_int_eq(count_files(false), 1);
    }
}
END_TEST

START_TEST(failed_rename) {
    const char *path = in_folder("a.txt");
    ts_output_file file;
    ts_io_error error;
    ck_assert(ts_output_open(path, &file, &error));
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert(!ts_output_commit(&file, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "a.txt: Is a directory"));
    ck_assert_int_eq(count_files(false), 1);
}
END_TEST

START_TEST(pipes_are_written_directly) {
    const char *path = in_folder("pipe");
    char text[10] = "";
    struct stat status;
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    write_whole(path, "through");
    ck_assert_int_eq((int)read(reader, text, sizeof text), 7);
    close(reader);
    ck_assert_str_eq(text, "through");
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert(S_ISFIFO(status.st_mode));
    write_whole("/dev/null", "nothing");
}
END_TEST

/* What the program printed before and after stays in its place, also where standard output is a file. */
START_TEST(standard_output) {
    const char *path = in_folder("out");
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO), target = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(target, STDOUT_FILENO);
    printf("before ");
    write_whole("/dev/stdout", "during ");
    printf("after");
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(target);
    assert_content(path, "before during after");
}
END_TEST

START_TEST(long_names_keep_the_reason) {
    char path[900];
    ts_output_file file;
    ts_io_error error;
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    path[5] = '\n';
    memcpy(path + sizeof path - 7, "/x.csv", 7);
    ck_assert(!ts_output_open(path, &file, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "/x.csv: File name too long"));
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    write_whole(in_folder(name), "the longest name there is"); /* and the temporary one is not longer */
    ck_assert_int_eq(count_files(false), 1);
    ck_assert(!ts_output_open("a\nb/x", &file, &error));
    ck_assert_str_eq(error.text, "a?b/x: No such file or directory");
}
END_TEST

/* Two names of one file are found out before it exists, through folders and dangling links too. */
START_TEST(one_file_under_two_names) {
    char dotted[700];
    snprintf(dotted, sizeof dotted, "%s/./new.csv", folder);
    ck_assert(ts_output_same(in_folder("new.csv"), dotted));
    ck_assert(!ts_output_same(in_folder("new.csv"), in_folder("other.csv")));
    ck_assert_int_eq(symlink("new.csv", in_folder("link.csv")), 0);
    ck_assert(ts_output_same(in_folder("link.csv"), in_folder("new.csv")));
    put(in_folder("new.csv"), "1");
    ck_assert(ts_output_same(in_folder("link.csv"), dotted));
    ck_assert_int_eq(link(in_folder("new.csv"), in_folder("hard.csv")), 0);
    ck_assert(ts_output_same(in_folder("hard.csv"), dotted));
    ck_assert(!ts_output_same("/dev/null", in_folder("new.csv")));
    ck_assert(!ts_output_same("/nowhere/a.csv", "/nowhere/b.csv"));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, one_file_under_two_names);
    tcase_add_test(tests, appears_at_commit_only);
    tcase_add_test(tests, abandon_leaves_the_old_file);
    tcase_add_test(tests, two_writers_do_not_meet);
    tcase_add_test(tests, permissions);
    tcase_add_test(tests, links_are_written_through);
    tcase_add_test(tests, refused_names);
    tcase_add_test(tests, read_only_target);
    tcase_add_test(tests, full_device);
    tcase_add_test(tests, failed_write_leaves_the_target);
    tcase_add_test(tests, failed_rename);
    tcase_add_test(tests, pipes_are_written_directly);
    tcase_add_test(tests, standard_output);
    tcase_add_test(tests, long_names_keep_the_reason);
    return run_case("output files", tests);
}
