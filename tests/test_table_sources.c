/* Where tables come from: short reads, pipes, standard input, files that cannot be read, and damaged ones. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../io/csv.h"
#include "../io/npy.h"
#include "table_files.h"

/* Memory handed out in pieces of 1 to 7 bytes, that may fail at its end. */
typedef struct dripping {
    const unsigned char *bytes;
    int64_t size, used;
    bool fails;
} dripping;

static int64_t drip(void *context, void *buffer, int64_t size, ts_io_error *error) {
    dripping *source = context;
    int64_t count = 1 + source->used % 7;
    if (count > size) count = size;
    if (count > source->size - source->used) count = source->size - source->used;
    if (count == 0 && source->fails) {
        ts_io_fail(error, "drip", "Input/output error");
        return -1;
    }
    memcpy(buffer, source->bytes + source->used, (size_t)count);
    source->used += count;
    return count;
}

/* Reads from a source of unknown size as ts_table_read would. */
static bool read_source(bool npy, const unsigned char *bytes, size_t size, bool fails, ts_table *table,
                        ts_io_error *error) {
    static const ts_table_options options = {TS_HEADER_AUTO, NULL, NULL};
    dripping dripped = {bytes, (int64_t)size, 0, fails};
    const ts_byte_source source = {"drip", -1, drip, &dripped};
    *table = (ts_table){0};
    ts_table_builder builder = {.source_name = "drip", .options = &options, .table = table};
    const bool ok = npy ? ts_npy_read(&source, &builder, error) : ts_csv_read(&source, false, &builder, error);
    ts_builder_free(&builder);
    if (!ok) ts_table_free(table);
    return ok;
}

START_TEST(short_reads_and_failures) {
    const double payload[] = {1, 2, 3, 4, 5, 6};
    const size_t size = build_npy(1, "{'descr':'=f8','fortran_order':True,'shape':(2,3),}", payload, sizeof payload);
    ts_table table;
    ts_io_error error;
    ck_assert(read_source(true, file_bytes, size, false, &table, &error));
    assert_values(&table, 2, 3, (const double[]){1, 3, 5, 2, 4, 6});
    ts_table_free(&table);
    ck_assert(!read_source(true, file_bytes, size - 1, false, &table, &error));
    ck_assert_str_eq(error.text, "drip: 47 bytes of data where shape (2,3) of '=f8' takes 48");
    file_bytes[size] = 0;
    ck_assert(!read_source(true, file_bytes, size + 1, false, &table, &error));
    ck_assert_str_eq(error.text, "drip: more data than shape (2,3) of '=f8' takes (48 bytes)");
    static const size_t cuts[] = {3, 9, 20, 80};
    for (size_t i = 0; i < COUNT(cuts); i++) {
        ck_assert(!read_source(true, file_bytes, cuts[i], true, &table, &error));
        ck_assert_str_eq(error.text, "drip: Input/output error");
    }
    static const unsigned char text[] = "1,2\n3,4\n";
    ck_assert(read_source(false, text, 8, false, &table, &error));
    assert_values(&table, 2, 2, payload);
    ts_table_free(&table);
    for (size_t i = 0; i <= 8; i++) {
        ck_assert(!read_source(false, text, i, true, &table, &error));
        ck_assert_str_eq(error.text, "drip: Input/output error");
    }
    const size_t huge =
        build_npy(1, "{'descr':'=f8','fortran_order':True,'shape':(2,300000000000),}", payload, sizeof payload);
    ck_assert(!read_source(true, file_bytes, huge, false, &table, &error));
    ck_assert_str_eq(error.text, "drip: 48 bytes of data where shape (2,300000000000) of '=f8' takes 4800000000000");
}
END_TEST

/* Reads bytes through a named pipe that a child fills. */
static ts_table read_pipe(const char *name, const void *bytes, size_t size, const char **message) {
    static ts_io_error error;
    ts_table table;
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int pipe = open(path, O_WRONLY);
        for (size_t done = 0; done < size;) {
            const ssize_t count = write(pipe, (const char *)bytes + done, size - done);
            if (count < 0) break;
            done += (size_t)count;
        }
        _exit(0);
    }
    const bool ok = ts_table_read(path, NULL, &table, &error);
    waitpid(child, NULL, 0);
    *message = ok ? NULL : error.text + strlen(path) + 2;
    return table;
}

START_TEST(pipes) {
    enum { ROWS = 300000 };
    const char *message;
    double *payload = malloc(ROWS * sizeof *payload);
    unsigned char *bytes = malloc(200 + ROWS * sizeof *payload);
    for (int i = 0; i < ROWS; i++) payload[i] = i;
    const size_t header = build_npy(1, "{'descr':'=f8','fortran_order':False,'shape':(150000,2)}", "", 0);
    memcpy(bytes, file_bytes, header);
    memcpy(bytes + header, payload, ROWS * sizeof *payload);
    for (int i = 0; i < 2; i++) { /* by its ending, by its first bytes */
        ts_table table = read_pipe(i == 0 ? "a.npy" : "pipe", bytes, header + ROWS * sizeof *payload, &message);
        ck_assert_ptr_null(message);
        assert_values(&table, ROWS / 2, 2, payload);
        ts_table_free(&table);
    }
    free(payload);
    free(bytes);
    ts_table table = read_pipe("pipe", "1,2\n3,4\n", 8, &message);
    ck_assert_ptr_null(message);
    assert_values(&table, 2, 2, (const double[]){1, 2, 3, 4});
    ts_table_free(&table);
    table = read_pipe("pipe", "1", 1, &message);
    ck_assert_ptr_null(message);
    ts_table_free(&table);
    read_pipe("pipe", "PK\3\4 and so on", 14, &message);
    ck_assert_str_eq(message, "an .npz archive cannot be read from a pipe");
}
END_TEST

START_TEST(standard_input) {
    put("a.csv", "1,2\n3\n", 6);
    ts_table table;
    ts_io_error error;
    ck_assert_ptr_nonnull(freopen(path, "rb", stdin));
    ck_assert(!ts_table_read("-", NULL, &table, &error));
    ck_assert_str_eq(error.text, "standard input: row 2: 1 column where the first row has 2");
    put("b.csv", "1,2\n3,4\n", 8);
    ck_assert_ptr_nonnull(freopen(path, "rb", stdin));
    ck_assert_msg(ts_table_read("-", NULL, &table, &error), "%s", error.text);
    assert_values(&table, 2, 2, (const double[]){1, 2, 3, 4});
    ts_table_free(&table);
}
END_TEST

START_TEST(files_that_cannot_be_read) {
    ts_table table;
    ts_io_error error;
    static const char *const endings[] = {"", ".csv", ".npy"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        char message[700];
        put("gone", "", 0);
        unlink(path);
        snprintf(path, sizeof path, "%s/gone%s", folder, endings[i]);
        ck_assert_str_eq(read_bad(NULL), "No such file or directory");
        ck_assert_int_eq(mkdir(path, 0777), 0);
        snprintf(message, sizeof message, "%s: Is a directory", path);
        ck_assert(!ts_table_read(path, NULL, &table, &error));
        ck_assert_str_eq(error.text, message);
        rmdir(path);
    }
    put("a.csv", "1,2\n", 4);
    ck_assert_int_eq(chmod(path, 0), 0);
    if (access(path, R_OK) != 0)
        ck_assert_str_eq(read_bad(NULL), "Permission denied");
    else
        skip_part("root, who reads everything");
    if (access("/proc/self/mem", R_OK) == 0) {
        ck_assert(!ts_table_read("/proc/self/mem", NULL, &table, &error));
        ck_assert_str_eq(error.text, "/proc/self/mem: Input/output error");
    } else {
        skip_part("no /proc/self/mem");
    }
    ck_assert(!ts_table_read("", NULL, &table, &error));
    ck_assert_str_eq(error.text, ": No such file or directory");
}
END_TEST

/* ---- damage ---- */

/* Flips, replaces, repeats and cuts bytes of good files. Whatever comes of it is read or refused with a reason. */
START_TEST(mutations) {
    enum { ROUNDS = 4000, MOST = 4096 };
    static const char *const texts[] = {
        "a,b,c\n1,2,3\n4.5,\"6\",7e1\n",
        "\357\273\2771,5;2,5\r\n# x\r\n3,5;4,5\r\n",
        "x y\n1 2\n3\t4\n\n5 6",
        "\"q,\"\"r\",s\r1,2\r3,4\r",
        "\"a\" \"b\"\n\"1\" 1.5 2\n\"2\" 3 4\n",
        "sep=;\n# x\n#N/A;Gr\366\337e;2019\n1,5;2;3\n",
    };
    static const char *const headers[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n",
                                          "{'descr': '>i2', 'fortran_order': True, 'shape': (24,), }\n"};
    static unsigned char bytes[2 * MOST];
    int refused = 0;
    start_draws();
    for (int round = 0; round < ROUNDS; round++) {
        const bool npy = round % 2 == 0;
        size_t size;
        if (npy) {
            static const char payload[48] = {0};
            size = build_npy(1 + (int)draw(3), headers[draw(2)], payload, sizeof payload);
            memcpy(bytes, file_bytes, size);
        } else {
            const char *text = texts[draw(COUNT(texts))];
            size = strlen(text);
            memcpy(bytes, text, size);
        }
        for (size_t changes = 1 + draw(4); changes > 0 && size > 0; changes--) {
            static const char special[] = "\0\"',;\t\r\n #-:()[]{}9eE.\xff";
            const size_t at = draw(size);
            switch (draw(4)) {
            case 0: bytes[at] ^= (unsigned char)(1u << draw(8)); break;
            case 1: bytes[at] = (unsigned char)special[draw(sizeof special)]; break;
            case 2: size = at; break;
            default: memmove(bytes + at + 1, bytes + at, size - at); size++;
            }
        }
        ts_table table;
        ts_io_error error = {""};
        bool ok;
        if (round % 4 < 2) {
            put(npy ? "a.npy" : "a.csv", bytes, size);
            ok = ts_table_read(path, NULL, &table, &error);
        } else {
            ok = read_source(npy, bytes, size, false, &table, &error);
        }
        if (ok) {
            ck_assert(table.rows > 0 && table.cols > 0);
            for (int64_t i = 0; i < table.rows * table.cols; i++) ck_assert(isfinite(table.values[i]));
        } else {
            ck_assert_uint_gt(strlen(error.text), 6);
            ck_assert_ptr_null(strpbrk(error.text, "\n\r"));
            refused++;
        }
        ts_table_free(&table);
    }
    ck_assert(refused > ROUNDS / 4 && refused < ROUNDS);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, short_reads_and_failures);
    tcase_add_test(tests, pipes);
    tcase_add_test(tests, standard_input);
    tcase_add_test(tests, files_that_cannot_be_read);
    tcase_add_test(tests, mutations);
    return run_table_case("sources of tables", tests);
}
