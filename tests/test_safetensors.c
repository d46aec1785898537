/* Safetensors files: written, and read again. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "safetensors_files.h"

static void write_good(const ts_safetensor *tensors, int count, const ts_safetensors_note *metadata, int n_metadata) {
    ts_io_error error;
    ck_assert_msg(ts_safetensors_write(path, tensors, count, metadata, n_metadata, &error), "%s", error.text);
}

static void assert_file(const void *expected, size_t size) {
    unsigned char bytes[1000];
    ck_assert_uint_eq(get(bytes, sizeof bytes), size);
    ck_assert_mem_eq(bytes, expected, size);
}

static const float floats[] = {1, -2, 0.5f, 3};

START_TEST(golden_file) {
    const int64_t number = -2;
    const ts_safetensors_note metadata[] = {{"step", "7"}, {"a", "\"x\"\n"}};
    const ts_safetensor tensors[] = {{"w", TS_SAFETENSORS_F32, 2, {2, 1}, floats},
                                     {"b", TS_SAFETENSORS_I64, 0, {0}, &number}};
    write_good(tensors, 2, metadata, 2);
    assert_file(golden, golden_size);
    write_good(tensors, 2, metadata, 2); /* over itself, the same */
    assert_file(golden, golden_size);
}
END_TEST

/* {"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} is 54 bytes with a name of one letter. */
START_TEST(padding_to_eight) {
    for (int length = 54; length <= 72; length++) {
        char name[32] = "";
        unsigned char bytes[200];
        memset(name, 'x', (size_t)(length - 53));
        write_good(&(ts_safetensor){name, TS_SAFETENSORS_F32, 1, {1}, floats}, 1, NULL, 0);
        const size_t size = get(bytes, sizeof bytes);
        const int padded = length == 65 ? 72 : (length + 7) / 8 * 8;
        ck_assert_uint_eq(size, (size_t)(8 + padded + 4));
        ck_assert_int_eq(bytes[0], padded);
        ck_assert_int_eq(bytes[8 + length - 1], '}');
        for (int i = length; i < padded; i++) ck_assert_int_eq(bytes[8 + i], ' ');
        ck_assert_mem_eq(bytes + 8 + padded, floats, 4);
    }
}
END_TEST

START_TEST(no_tensors) {
    write_good(NULL, 0, NULL, 0);
    assert_file("\10\0\0\0\0\0\0\0{}      ", 16);
    ts_safetensors file = read_good();
    ck_assert(file.count == 0 && file.n_metadata == 0 && ts_safetensors_find(&file, "a") == NULL);
    ts_safetensors_free(&file);
    ck_assert(is_empty(&file));
    ts_safetensors_free(&file);
}
END_TEST

static void assert_tensors(const ts_safetensors *file, const ts_safetensor *tensors, size_t count) {
    ck_assert_uint_eq((size_t)file->count, count);
    for (int i = 0; i < file->count; i++) {
        const ts_safetensor *written = &tensors[i], *read = ts_safetensors_find(file, written->name);
        ck_assert_ptr_eq(read, &file->tensors[i]);
        ck_assert(read->dtype == written->dtype && read->rank == written->rank);
        ck_assert_mem_eq(read->dim, written->dim, sizeof read->dim);
        const size_t size = (size_t)ts_safetensor_count(read) * (size_t)ts_safetensors_dtype_size(read->dtype);
        if (size > 0) ck_assert_mem_eq(read->data, written->data, size);
    }
}

START_TEST(round_trip) {
    static const unsigned char bytes[100] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    char long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const ts_safetensor tensors[] = {
        {"odd", TS_SAFETENSORS_U8, 1, {3}, bytes},
        {"w", TS_SAFETENSORS_F32, 2, {2, 2}, floats}, /* now not aligned */
        {"nothing", TS_SAFETENSORS_F64, 3, {4, 0, 5}, NULL},
        {"nothing either", TS_SAFETENSORS_F32, 1, {0}, bytes},
        {"", TS_SAFETENSORS_F64, 0, {0}, bytes},
        {"a \"\\/\n\t\x01 \xc3\xa9 \xf0\x9f\x98\x80", TS_SAFETENSORS_BF16, 8, {1, 1, 1, 1, 1, 1, 1, 2}, bytes},
        {long_name, TS_SAFETENSORS_F16, 1, {1}, bytes},
        {"i8", TS_SAFETENSORS_I8, 1, {1}, bytes},
        {"i16", TS_SAFETENSORS_I16, 1, {1}, bytes},
        {"i32", TS_SAFETENSORS_I32, 1, {1}, bytes},
        {"i64", TS_SAFETENSORS_I64, 1, {1}, bytes},
        {"u16", TS_SAFETENSORS_U16, 1, {1}, bytes},
        {"u32", TS_SAFETENSORS_U32, 1, {1}, bytes},
        {"u64", TS_SAFETENSORS_U64, 1, {1}, bytes},
        {"bool", TS_SAFETENSORS_BOOL, 1, {100}, bytes},
    };
    const ts_safetensors_note metadata[] = {{"z", ""}, {"", "y"}, {"\xc3\xa9\n", "\"\xf0\x9f\x98\x80\""}};
    write_good(tensors, COUNT(tensors), metadata, 3);
    ts_safetensors file = read_good();
    assert_tensors(&file, tensors, COUNT(tensors));
    for (int i = 0; i < 3; i++) ck_assert_str_eq(ts_safetensors_metadata(&file, metadata[i].key), metadata[i].value);
    ck_assert_ptr_null(ts_safetensors_metadata(&file, "y"));
    ck_assert_ptr_null(ts_safetensors_find(&file, "__metadata__"));
    unsigned char before[2000], after[2000]; /* what was read writes the same file */
    const size_t size = get(before, sizeof before);
    write_good(file.tensors, file.count, file.metadata, file.n_metadata);
    ck_assert_uint_eq(get(after, sizeof after), size);
    ck_assert_mem_eq(after, before, size);
    ts_safetensors_free(&file);
}
END_TEST

START_TEST(copying_floats) {
    static const ts_safetensor tensors[] = {{"odd", TS_SAFETENSORS_U8, 1, {1}, "x"},
                                            {"w", TS_SAFETENSORS_F32, 2, {2, 2}, floats},
                                            {"none", TS_SAFETENSORS_F32, 1, {0}, NULL}};
    float out[4] = {9, 9, 9, 9};
    write_good(tensors, 3, NULL, 0);
    ts_safetensors file = read_good();
    const ts_safetensor *w = ts_safetensors_find(&file, "w");
    ck_assert(!ts_safetensor_copy_f32(w, 3, out) && !ts_safetensor_copy_f32(w, 5, out));
    ck_assert(!ts_safetensor_copy_f32(ts_safetensors_find(&file, "odd"), 1, out));
    ck_assert(out[0] == 9);
    ck_assert(ts_safetensor_copy_f32(ts_safetensors_find(&file, "none"), 0, NULL));
    ck_assert(ts_safetensor_copy_f32(w, 4, out));
    ck_assert_mem_eq(out, floats, sizeof out);
    ts_safetensors_free(&file);
}
END_TEST

typedef struct bad_write {
    ts_safetensor tensors[2];
    ts_safetensors_note metadata[2];
    int n_metadata;
    const char *message;
} bad_write;

/* Nothing is written, and the old file stays. */
START_TEST(refused_writes) {
    static const ts_safetensor good = {"a", TS_SAFETENSORS_F32, 1, {4}, floats};
    const bad_write cases[] = {
        {{good, good}, {{0}}, 0, "tensor 'a': duplicate name"},
        {{good, {.name = "__metadata__"}}, {{0}}, 0, "tensor '__metadata__': the name is taken"},
        {{good, {.name = "\xff\n"}}, {{0}}, 0, "tensor '?\?': the name is not UTF-8"},
        {{good, {.name = "b", .rank = 9}}, {{0}}, 0, "tensor 'b': the shape is not possible"},
        {{good, {.name = "b", .rank = -1}}, {{0}}, 0, "tensor 'b': the shape is not possible"},
        {{good, {.name = "b", .rank = 1, .dim = {-1}}}, {{0}}, 0, "tensor 'b': the shape is not possible"},
        {{good, {.name = "b", .rank = 2, .dim = {INT64_MAX / 4, 2}}},
         {{0}},
         0,
         "tensor 'b': the shape is not possible"},
        {{good, {.name = "b", .rank = 1, .dim = {(1 << 30) - 3}}},
         {{0}},
         0,
         "tensor 'b': more than 4294967296 bytes of data"},
        {{good, {.name = "b"}}, {{"k", "1"}, {"k", "1"}}, 2, "__metadata__: duplicate key 'k'"},
        {{good, {.name = "b"}}, {{"k", "\xc3"}}, 1, "__metadata__: 'k' is not UTF-8"},
        {{good, {.name = "b"}}, {{"\xed\xa0\x80", ""}}, 1, "__metadata__: '?\?\?' is not UTF-8"},
    };
    put_file("old", 3);
    for (size_t i = 0; i < COUNT(cases); i++) {
        ts_io_error error;
        ck_assert(!ts_safetensors_write(path, cases[i].tensors, 2, cases[i].metadata, cases[i].n_metadata, &error));
        ck_assert_str_eq(error.text + strlen(path) + 2, cases[i].message);
        assert_file("old", 3);
    }
    ts_io_error error;
    ck_assert(!ts_safetensors_write("/nowhere/a", &good, 1, NULL, 0, &error));
    ck_assert_str_eq(error.text, "/nowhere/a: No such file or directory");
    if (access("/dev/full", W_OK) != 0) {
        skip_part("no /dev/full");
        return;
    }
    ck_assert(!ts_safetensors_write("/dev/full", &good, 1, NULL, 0, &error));
    ck_assert_str_eq(error.text, "/dev/full: No space left on device");
}
END_TEST

/* As another writer may do it: other order of keys and tensors, spaces, escapes, data that start at an odd byte. */
START_TEST(file_of_another_writer) {
    static const char header[] =
        " {\r\n\t\"b\\u0061\\ud83d\\ude00\" : { \"data_offsets\":[3 , 11], \"shape\" : [ 2 ] , \"dtype\":\"F32\"},"
        "\"e\":{\"shape\":[0,7],\"dtype\":\"F64\",\"data_offsets\":[3,3]}, \"d\":{\"shape\":[],\"dtype\":\"BOOL\","
        "\"data_offsets\":[11,12]}, \"c\\/\":{\"data_offsets\":[0,3],\"dtype\":\"\\u00558\",\"shape\":[3,1]},"
        "\"__metadata__\":{\"format\":\"pt\",\"n\":\"\\u00e9\"}}\n ";
    static const unsigned char data[] = {7, 8, 9, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 1};
    unsigned char bytes[1000];
    const size_t length = strlen(header) % 2 == 0 ? strlen(header) - 1 : strlen(header);
    put_header(header, length, 0, bytes);
    memcpy(bytes + 8 + length, data, sizeof data);
    put_file(bytes, 8 + length + sizeof data);
    ts_safetensors file = read_good();
    static const char *const names[] = {"c/", "e", "ba\xf0\x9f\x98\x80", "d"};
    ck_assert_int_eq(file.count, 4);
    for (int i = 0; i < 4; i++) ck_assert_str_eq(file.tensors[i].name, names[i]);
    const ts_safetensor *c = &file.tensors[0], *d = &file.tensors[3];
    float out[2];
    ck_assert(ts_safetensor_copy_f32(&file.tensors[2], 2, out) && out[0] == 1 && out[1] == -2);
    ck_assert(c->dtype == TS_SAFETENSORS_U8 && c->rank == 2 && c->dim[0] == 3 && c->dim[1] == 1);
    ck_assert_mem_eq(c->data, data, 3);
    ck_assert(d->rank == 0 && ts_safetensor_count(d) == 1 && *(const char *)d->data == 1);
    ck_assert(ts_safetensor_count(&file.tensors[1]) == 0);
    ck_assert_str_eq(ts_safetensors_metadata(&file, "format"), "pt");
    ck_assert_str_eq(ts_safetensors_metadata(&file, "n"), "\xc3\xa9");
    ts_safetensors_free(&file);
}
END_TEST

/* From a pipe, whose size nobody knows, and larger than a chunk. */
START_TEST(pipe_and_large_data) {
    enum { NUMBERS = 700000 };
    float *numbers = malloc(NUMBERS * sizeof *numbers), *out = malloc(NUMBERS * sizeof *out);
    ck_assert(numbers != NULL && out != NULL);
    for (int i = 0; i < NUMBERS; i++) numbers[i] = (float)i;
    const ts_safetensor tensor = {"w", TS_SAFETENSORS_F32, 1, {NUMBERS}, numbers};
    for (int piped = 0; piped < 2; piped++) {
        unlink(path);
        if (piped) ck_assert_int_eq(mkfifo(path, 0600), 0);
        const pid_t child = piped ? fork() : -1;
        if (child == 0) {
            ts_io_error error;
            _exit(ts_safetensors_write(path, &tensor, 1, NULL, 0, &error) ? 0 : 1);
        }
        if (!piped) write_good(&tensor, 1, NULL, 0);
        ts_safetensors file = read_good();
        ck_assert(ts_safetensor_copy_f32(&file.tensors[0], NUMBERS, out));
        ck_assert_mem_eq(out, numbers, NUMBERS * sizeof *out);
        ts_safetensors_free(&file);
        int status = 0;
        if (piped) ck_assert(waitpid(child, &status, 0) == child && status == 0);
    }
    free(numbers);
    free(out);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, golden_file);
    tcase_add_test(tests, padding_to_eight);
    tcase_add_test(tests, no_tensors);
    tcase_add_test(tests, round_trip);
    tcase_add_test(tests, copying_floats);
    tcase_add_test(tests, refused_writes);
    tcase_add_test(tests, file_of_another_writer);
    tcase_add_test(tests, pipe_and_large_data);
    return run_safetensors_case("safetensors", tests);
}
