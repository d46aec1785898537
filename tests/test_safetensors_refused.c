/* Safetensors files that are no such files, or damaged. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "safetensors_files.h"

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
        put_file(cases[i].bytes, cases[i].size);
        const char *message = read_bad();
        if (cases[i].message != NULL) ck_assert_str_eq(message, cases[i].message);
    }
}
END_TEST

START_TEST(truncated_at_every_byte) {
    for (size_t size = 0; size < golden_size; size++) {
        put_file(golden, size);
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
    start_draws();
    for (int i = 0; i < 20000; i++) {
        static unsigned char bytes[FUZZ_SIZE];
        size_t size = golden_size;
        memcpy(bytes, golden, size);
        for (size_t rounds = 1 + draw(3); rounds > 0; rounds--) size = mutate(bytes, size);
        if (draw(4) > 0 && size >= 24) { /* mostly the header is as long as it says, for errors deeper inside */
            memset(bytes, 0, 8);
            bytes[0] = (unsigned char)((size - 24) & 255);
            bytes[1] = (unsigned char)((size - 24) >> 8);
        }
        put_file(bytes, size);
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
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, bad_json);
    tcase_add_test(tests, bad_entries);
    tcase_add_test(tests, bad_places);
    tcase_add_test(tests, bad_lengths);
    tcase_add_test(tests, truncated_at_every_byte);
    tcase_add_test(tests, no_file);
    tcase_add_test(tests, extremes);
    tcase_add_test(tests, mutations);
    return run_safetensors_case("refused safetensors", tests);
}
