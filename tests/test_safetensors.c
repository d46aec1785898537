#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../io/safetensors.h"
#include "test_main.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char folder[256], path[600];

static void enter(void) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tessera_safetensors_XXXXXX", base == NULL ? "/tmp" : base);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
}

static void leave(void) {
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const void *bytes, size_t size) {
    unlink(path); /* some file systems wait for the disk when a file is cut to nothing and closed */
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
    ck_assert_int_eq(fclose(stream), 0);
}

/* A file with this header as it stands, and `size` bytes 0, 1, 2, ... of data; returns its size. */
static size_t put_header(const char *header, size_t length, size_t size, unsigned char *bytes) {
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < size; i++) bytes[8 + length + i] = (unsigned char)i;
    put(bytes, 8 + length + size);
    return 8 + length + size;
}

static size_t get(unsigned char *bytes, size_t most) {
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    const size_t size = fread(bytes, 1, most, stream);
    fclose(stream);
    return size;
}

static ts_safetensors read_good(void) {
    ts_safetensors file;
    ts_io_error error;
    ck_assert_msg(ts_safetensors_read(path, &file, &error), "%s", error.text);
    return file;
}

static bool is_empty(const ts_safetensors *file) {
    return file->tensors == NULL && file->count == 0 && file->metadata == NULL && file->n_metadata == 0 &&
           file->data == NULL && file->header == NULL;
}

/* The error's text behind "FILE: "; the file must be left empty. */
static const char *read_bad(void) {
    static ts_io_error error;
    ts_safetensors file = {.count = 7, .data = &error};
    error.text[0] = '\0';
    ck_assert_msg(!ts_safetensors_read(path, &file, &error), "accepted");
    ck_assert(is_empty(&file));
    ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "%s", error.text);
    ck_assert_msg(strpbrk(error.text, "\r\n") == NULL, "%s", error.text);
    return error.text + strlen(path) + 2;
}

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

/* ---- writing ------------------------------------------------------------------------------------------------------
 */

static const char golden[] = "\230\0\0\0\0\0\0\0"
                             "{\"__metadata__\":{\"step\":\"7\",\"a\":\"\\\"x\\\"\\n\"},"
                             "\"w\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                             "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]}} "
                             "\0\0\200\77\0\0\0\300\376\377\377\377\377\377\377\377";

START_TEST(golden_file) {
    const int64_t number = -2;
    const ts_safetensors_note metadata[] = {{"step", "7"}, {"a", "\"x\"\n"}};
    const ts_safetensor tensors[] = {{"w", TS_SAFETENSORS_F32, 2, {2, 1}, floats},
                                     {"b", TS_SAFETENSORS_I64, 0, {0}, &number}};
    write_good(tensors, 2, metadata, 2);
    assert_file(golden, sizeof golden - 1);
    write_good(tensors, 2, metadata, 2); /* over itself, the same */
    assert_file(golden, sizeof golden - 1);
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
    put("old", 3);
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

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

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
    put(bytes, 8 + length + sizeof data);
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

typedef struct bad_header {
    const char *header;
    size_t data;
    const char *message;
} bad_header;

static void assert_bad_headers(const bad_header *cases, size_t count) {
    static unsigned char bytes[2000];
    for (size_t i = 0; i < count; i++) {
        put_header(cases[i].header, strlen(cases[i].header), cases[i].data, bytes);
        ck_assert_str_eq(read_bad(), cases[i].message);
    }
}

#define ENTRY(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define A(dtype, shape, offsets) "{\"a\":" ENTRY(dtype, shape, offsets) "}"
#define ABC(a, b, c) "{\"a\":" ENTRY("U8", "[4]", a) ",\"b\":" ENTRY("U8", "[4]", b) ",\"c\":" ENTRY("U8", "[4]", c) "}"
#define AB(a, b) "{\"a\":" ENTRY("U8", "[4]", a) ",\"b\":" ENTRY("U8", "[4]", b) "}"

START_TEST(bad_json) {
    static const bad_header cases[] = {
        {"{", 0, "not a safetensors file (header: string or '}' expected near end of file)"},
        {"[]", 0, "not a safetensors file (header: not an object {...})"},
        {"7", 0, "not a safetensors file (header: '[' or '{' expected near '7')"},
        {"      ", 0, "not a safetensors file (header: '[' or '{' expected near end of file)"},
        {"{}x", 0, "not a safetensors file (header: end of file expected near 'x')"},
        {"\xef\xbb\xbf{}", 0, "not a safetensors file (header: '[' or '{' expected near '\xef\xbb\xbf')"},
        {"{\"\xff\":1}", 0, "not a safetensors file (header: unable to decode byte 0xff near '\"')"},
        {"{\"a\\ud800\":1}", 0, "not a safetensors file (header: invalid Unicode '\\uD800' near '\"a\\ud800\"')"},
        {"{\"a\\u0000b\":1}", 0,
         "not a safetensors file (header: NUL byte in object key not supported near '\"a\\u0000b\"')"},
        {"{\"a\":\"x\\u0000\"}", 0,
         "not a safetensors file (header: \\u0000 is not allowed without JSON_ALLOW_NUL near '\"x\\u0000\"')"},
        {"{\"a\n\":1}", 0, "not a safetensors file (header: unexpected newline near '\"a')"},
        {"{\"a\":1,\"a\":1}", 0, "header: duplicate key 'a'"},
        {"{\"a\":1,\"\\u0061\":1}", 0, "header: duplicate key '\\u0061'"},
        {"{\"\":1,\"\":1}", 0, "header: duplicate key ''"},
        {"{\"\\\"\\\\\":1,\"\\\"\\\\\":1}", 0, "header: duplicate key '\\\"\\\\'"},
        {"{\"blocks.0.attention.query.weight\":1,\"blocks.0.attention.query.weight\":1}", 0,
         "header: duplicate key 'blocks.0.attention.query.weight'"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, "header: duplicate key 'dtype'"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "header: duplicate key '__metadata__'"},
        {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0, "header: duplicate key 'k'"},
        {"{\"__metadata__\":[]}", 0, "__metadata__: not an object {...}"},
        {"{\"__metadata__\":null}", 0, "__metadata__: not an object {...}"},
        {"{\"__metadata__\":{\"a\":\"1\",\"k\\n\":7}}", 0, "__metadata__: 'k?' is not a string"},
    };
    assert_bad_headers(cases, COUNT(cases));
}
END_TEST

START_TEST(bad_entries) {
    static const bad_header cases[] = {
        {"{\"a\":7}", 0, "tensor 'a': not an object {...}"},
        {"{\"a\":{}}", 0, "tensor 'a': dtype is missing"},
        {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,0]}}", 0, "tensor 'a': shape is missing"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}", 0, "tensor 'a': data_offsets is missing"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"strides\":[1]}}", 0,
         "tensor 'a': unknown key 'strides'"},
        {"{\"a\":{\"dtype\":8,\"shape\":[0],\"data_offsets\":[0,0]}}", 0, "tensor 'a': dtype: not a string"},
        {A("F4", "[2]", "[0,1]"), 1, "tensor 'a': dtype 'F4' is not supported"},
        {A("f32", "[1]", "[0,4]"), 4, "tensor 'a': dtype 'f32' is not supported"},
        {A("", "[1]", "[0,4]"), 4, "tensor 'a': dtype '' is not supported"},
        {A("U8", "4", "[0,4]"), 4, "tensor 'a': shape: not a list [...]"},
        {A("U8", "[-4]", "[0,4]"), 4, "tensor 'a': shape: number 1 is no whole number from 0 up"},
        {A("U8", "[4,1.0]", "[0,4]"), 4, "tensor 'a': shape: number 2 is no whole number from 0 up"},
        {A("U8", "[4e0]", "[0,4]"), 4, "tensor 'a': shape: number 1 is no whole number from 0 up"},
        {A("U8", "[\"4\"]", "[0,4]"), 4, "tensor 'a': shape: number 1 is no whole number from 0 up"},
        {A("U8", "[[4]]", "[0,4]"), 4, "tensor 'a': shape: number 1 is no whole number from 0 up"},
        {A("U8", "[true]", "[0,1]"), 1, "tensor 'a': shape: number 1 is no whole number from 0 up"},
        {A("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "tensor 'a': 9 dimensions, at most 8 are read"},
        {A("U8", "[99999999999999999999]", "[0,1]"), 1,
         "not a safetensors file (header: too big integer near '99999999999999999999')"},
        {A("U8", "[1e999]", "[0,1]"), 1, "not a safetensors file (header: real number overflow near '1e999')"},
        {A("U8", "[4294967296,4294967296]", "[0,0]"), 0, "tensor 'a': the shape is too large"},
        {A("F32", "[2305843009213693952]", "[0,0]"), 0, "tensor 'a': the shape is too large"},
        {A("U8", "[4294967296,0,4294967296]", "[0,0]"), 0, "tensor 'a': the shape is too large"},
    };
    assert_bad_headers(cases, COUNT(cases));
}
END_TEST

START_TEST(bad_places) {
    static const char two_numbers[] = "tensor 'a': data_offsets: not two whole numbers from 0 up";
    static const bad_header cases[] = {
        {A("U8", "[4]", "4"), 4, two_numbers},
        {A("U8", "[4]", "[4]"), 4, two_numbers},
        {A("U8", "[4]", "[0,4,8]"), 4, two_numbers},
        {A("U8", "[4]", "[-4,0]"), 4, two_numbers},
        {A("U8", "[4]", "[0,4.0]"), 4, two_numbers},
        {A("U8", "[4]", "[4,0]"), 4, "tensor 'a': data_offsets: 0 is before 4"},
        {A("F32", "[2]", "[0,7]"), 7, "tensor 'a': data_offsets: 7 bytes where the shape takes 8 of F32"},
        {A("F32", "[]", "[0,8]"), 8, "tensor 'a': data_offsets: 8 bytes where the shape takes 4 of F32"},
        {A("F32", "[0]", "[0,4]"), 4, "tensor 'a': data_offsets: 4 bytes where the shape takes 0 of F32"},
        {A("U8", "[9223372036854775807]", "[0,9223372036854775807]"), 4,
         "9223372036854775807 bytes of data, at most 4294967296 are read"},
        {A("U8", "[4294967296]", "[0,4294967296]"), 4, "tensor 'a': the file ends in its data (4 bytes of 4294967296)"},
        {A("U8", "[4]", "[0,4]"), 3, "tensor 'a': the file ends in its data (3 bytes of 4)"},
        {A("U8", "[4]", "[0,4]"), 0, "tensor 'a': the file ends in its data (0 bytes of 4)"},
        {A("U8", "[4]", "[0,4]"), 5, "more data than the 4 bytes of its tensors"},
        {"{}", 1, "more data than the 0 bytes of its tensors"},
        {A("U8", "[4]", "[1,5]"), 5, "tensor 'a': a hole in the data, from 0 to 1, before it"},
        {A("U8", "[0]", "[4,4]"), 4, "tensor 'a': a hole in the data, from 0 to 4, before it"},
        {AB("[0,4]", "[0,4]"), 4, "tensor 'b': its data at 0 overlap those of 'a', which end at 4"},
        {AB("[3,7]", "[0,4]"), 7, "tensor 'a': its data at 3 overlap those of 'b', which end at 4"},
        {ABC("[0,4]", "[8,12]", "[8,12]"), 12, "tensor 'c': its data at 8 overlap those of 'b', which end at 12"},
        {ABC("[0,4]", "[900,904]", "[8,12]"), 12,
         "tensor 'b': its data from 900 to 904 lie beyond the 12 bytes of data of the file"},
        {AB("[0,4]", "[8,12]"), 12, "tensor 'b': a hole in the data, from 4 to 8, before it"},
        {AB("[8,12]", "[0,4]"), 12, "tensor 'a': a hole in the data, from 4 to 8, before it"},
        {AB("[0,4]", "[4,8]"), 7, "tensor 'b': the file ends in its data (3 bytes of 4)"},
        {"{\"A\":" ENTRY("F32", "[2]", "[0,8]") ",\"B\":" ENTRY("F64", "[1]", "[0,8]") "}", 8,
         "tensor 'B': its data at 0 overlap those of 'A', which end at 8"},
        {"{\"a\":" ENTRY("U8", "[4]", "[0,4]") ",\"z\":" ENTRY("U8", "[0]", "[2,2]") "}", 4,
         "tensor 'z': its data at 2 overlap those of 'a', which end at 4"},
    };
    assert_bad_headers(cases, COUNT(cases));
}
END_TEST

START_TEST(bad_lengths) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        {"", 0, "the file is empty"},
        {"\2", 1, "not a safetensors file (the file ends in the length of its header)"},
        {"\2\0\0\0\0\0\0", 7, "not a safetensors file (the file ends in the length of its header)"},
        {"\0\0\0\0\0\0\0\0", 8, "not a safetensors file (the header is empty)"},
        {"\2\0\0\0\0\0\0\0", 8, "not a safetensors file, or not all of it (the file ends in its header, 0 bytes of 2)"},
        {"\3\0\0\0\0\0\0\0{}", 10,
         "not a safetensors file, or not all of it (the file ends in its header, 2 bytes of 3)"},
        {"\3\0\0\0\0\0\0\0{}\0", 11, "not a safetensors file (header: end of file expected near end of file)"},
        {"\360\377\377\377\0\0\0\0{}  ", 12,
         "not a safetensors file (the header would have 4294967280 bytes, more than 100000000)"},
        {"\377\377\377\377\377\377\377\377{}  ", 12,
         "not a safetensors file (the header would have 18446744073709551615 bytes, more than 100000000)"},
        {"\1\341\365\5\0\0\0\0{}  ", 12,
         "not a safetensors file (the header would have 100000001 bytes, more than 100000000)"},
        {"\0\341\365\5\0\0\0\0{}  ", 12,
         "not a safetensors file, or not all of it (the file ends in its header, 4 bytes of 100000000)"},
        {"\x93NUMPY\1\0v\0{'descr'", 18, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        put(cases[i].bytes, cases[i].size);
        const char *message = read_bad();
        if (cases[i].message != NULL) ck_assert_str_eq(message, cases[i].message);
    }
}
END_TEST

START_TEST(truncated_at_every_byte) {
    for (size_t size = 0; size < sizeof golden - 1; size++) {
        put(golden, size);
        ck_assert_ptr_nonnull(strstr(read_bad(), size == 0 ? "empty" : "the file ends in"));
    }
}
END_TEST

START_TEST(no_file) {
    ts_safetensors file;
    ts_io_error error;
    unlink(path);
    ck_assert_str_eq(read_bad(), "No such file or directory");
    ck_assert(!ts_safetensors_read(folder, &file, &error) && is_empty(&file));
    ck_assert_str_eq(error.text + strlen(folder) + 2, "Is a directory");
}
END_TEST

/* Deep nesting and long names are refused, not followed. */
START_TEST(extremes) {
    enum { LENGTH = 300000 };
    char *header = malloc(LENGTH);
    unsigned char *bytes = malloc(LENGTH + 8);
    ck_assert(header != NULL && bytes != NULL);
    memset(header, '[', LENGTH);
    put_header(header, LENGTH, 0, bytes);
    ck_assert_ptr_nonnull(strstr(read_bad(), "header: maximum parsing depth reached"));
    memset(header, 'n', LENGTH);
    memcpy(header, "{\"", 2);
    memcpy(header + LENGTH - 5, "\":7}", 4);
    header[LENGTH - 1] = ' ';
    put_header(header, LENGTH, 0, bytes);
    const char *message = read_bad();
    ck_assert_ptr_nonnull(strstr(message, "nnn...': not an object {...}"));
    ck_assert_uint_lt(strlen(message), 200);
    free(header);
    free(bytes);
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

/* ---- mutations ----------------------------------------------------------------------------------------------------
 */

static uint64_t random_state;

static size_t draw(size_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(random_state >> 33) % below;
}

enum { FUZZ_SIZE = 2048 };

/* Replaces `cut` bytes at `at` by others. */
static size_t splice(unsigned char *bytes, size_t size, size_t at, size_t cut, const void *other, size_t other_size) {
    if (cut > size - at) cut = size - at;
    if (size - cut + other_size > FUZZ_SIZE) return size;
    unsigned char copy[64];
    memcpy(copy, other, other_size);
    memmove(bytes + at + other_size, bytes + at + cut, size - at - cut);
    memcpy(bytes + at, copy, other_size);
    return size - cut + other_size;
}

static size_t mutate(unsigned char *bytes, size_t size) {
    static const char entry[] = "\"q\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},";
    static const char *const words[] = {"0",          "1",
                                        "9",          "-",
                                        "4",          "8",
                                        "16",         "1.5",
                                        "\"",         "\\",
                                        "[",          "]",
                                        "{",          "}",
                                        ",",          ":",
                                        "null",       "[0,0]",
                                        "F64",        "U8",
                                        "F32",        "I64",
                                        " ",          entry,
                                        "\\u0000",    "\\ud83d",
                                        "\xff",       "\n",
                                        "\"w\"",      "\"dtype\"",
                                        "\"shape\"",  "\"b\"",
                                        "\xc3\xa9",   "9223372036854775807",
                                        "4294967296", "\"__metadata__\":{},"};
    const size_t at = draw(size);
    const char *word = words[draw(COUNT(words))];
    switch (draw(8)) {
    case 0: bytes[at] = (unsigned char)draw(256); return size;
    case 1: bytes[at] ^= (unsigned char)(1u << draw(8)); return size;
    case 2: return size > 32 ? splice(bytes, size, at, 1 + draw(8), "", 0) : size;
    case 3: return splice(bytes, size, at, draw(4), word, strlen(word));
    case 4: {
        const size_t from = draw(size), left = size - from;
        return splice(bytes, size, at, 0, bytes + from, 1 + draw(left < 60 ? left : 60));
    }
    default: /* another number, in JSON that stays whole */
        for (size_t i = at; i + 16 < size; i++) {
            if (bytes[i] < '0' || bytes[i] > '9') continue;
            bytes[i] = (unsigned char)('0' + draw(10));
            break;
        }
        return size;
    }
}

/* Whatever was accepted: its data tile the data part, and every byte of it may be read. */
static void check_accepted(const ts_safetensors *file) {
    const unsigned char *at = file->data;
    size_t sum = 0;
    for (int i = 0; i < file->count; i++) {
        const ts_safetensor *tensor = &file->tensors[i];
        const int64_t count = ts_safetensor_count(tensor);
        ck_assert(count >= 0 && tensor->data == at && ts_safetensors_find(file, tensor->name) == tensor);
        for (int64_t b = 0; b < count * ts_safetensors_dtype_size(tensor->dtype); b++) sum += *at++;
    }
    for (int i = 0; i < file->n_metadata; i++) sum += strlen(file->metadata[i].key) + strlen(file->metadata[i].value);
    ck_assert_uint_lt(sum, 1000000);
}

START_TEST(mutations) {
    int accepted = 0;
    random_state = test_seed();
    for (int i = 0; i < 20000; i++) {
        static unsigned char bytes[FUZZ_SIZE];
        size_t size = sizeof golden - 1;
        memcpy(bytes, golden, size);
        for (size_t rounds = 1 + draw(3); rounds > 0; rounds--) size = mutate(bytes, size);
        if (draw(4) > 0 && size >= 24) { /* mostly the header is as long as it says, for errors deeper inside */
            memset(bytes, 0, 8);
            bytes[0] = (unsigned char)((size - 24) & 255);
            bytes[1] = (unsigned char)((size - 24) >> 8);
        }
        put(bytes, size);
        ts_safetensors file;
        ts_io_error error;
        if (ts_safetensors_read(path, &file, &error)) {
            accepted++;
            check_accepted(&file);
            ts_safetensors_free(&file);
        } else {
            ck_assert(is_empty(&file) && strncmp(error.text, path, strlen(path)) == 0 &&
                      strpbrk(error.text, "\r\n") == NULL);
        }
    }
    ck_assert_msg(accepted > 100 && accepted < 15000, "%d accepted, seed %" PRIu64, accepted, test_seed());
}
END_TEST

int main(void) {
    Suite *suite = suite_create("safetensors");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 0);
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, golden_file);
    tcase_add_test(tests, padding_to_eight);
    tcase_add_test(tests, no_tensors);
    tcase_add_test(tests, round_trip);
    tcase_add_test(tests, copying_floats);
    tcase_add_test(tests, refused_writes);
    tcase_add_test(tests, file_of_another_writer);
    tcase_add_test(tests, bad_json);
    tcase_add_test(tests, bad_entries);
    tcase_add_test(tests, bad_places);
    tcase_add_test(tests, bad_lengths);
    tcase_add_test(tests, truncated_at_every_byte);
    tcase_add_test(tests, no_file);
    tcase_add_test(tests, extremes);
    tcase_add_test(tests, pipe_and_large_data);
    tcase_add_test(tests, mutations);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
