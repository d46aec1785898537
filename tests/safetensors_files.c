#include "safetensors_files.h"

#include <string.h>

const char golden[] = "\230\0\0\0\0\0\0\0"
                      "{\"__metadata__\":{\"step\":\"7\",\"a\":\"\\\"x\\\"\\n\"},"
                      "\"w\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                      "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]}} "
                      "\0\0\200\77\0\0\0\300\376\377\377\377\377\377\377\377";
const size_t golden_size = sizeof golden - 1;

void put_file(const void *bytes, size_t size) {
    put("a.safetensors", bytes, size);
}

size_t put_header(const char *header, size_t length, size_t size, unsigned char *bytes) {
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < size; i++) bytes[8 + length + i] = (unsigned char)i;
    put_file(bytes, 8 + length + size);
    return 8 + length + size;
}

ts_safetensors read_good(void) {
    ts_safetensors file;
    ts_io_error error;
    ck_assert_msg(ts_safetensors_read(path, &file, &error), "%s", error.text);
    return file;
}

bool is_empty(const ts_safetensors *file) {
    return file->tensors == NULL && file->count == 0 && file->metadata == NULL && file->n_metadata == 0 &&
           file->data == NULL && file->header == NULL;
}

const char *read_bad(void) {
    static ts_io_error error;
    ts_safetensors file = {.count = 7, .data = &error};
    error.text[0] = '\0';
    ck_assert_msg(!ts_safetensors_read(path, &file, &error), "accepted");
    ck_assert(is_empty(&file));
    ck_assert_msg(strncmp(error.text, path, strlen(path)) == 0, "%s", error.text);
    ck_assert_msg(strpbrk(error.text, "\r\n") == NULL, "%s", error.text);
    return error.text + strlen(path) + 2;
}

static void enter_unnamed(void) {
    enter();
    name_file("a.safetensors");
}

int run_safetensors_case(const char *name, TCase *tests) {
    tcase_add_checked_fixture(tests, enter_unnamed, leave);
    return run_case(name, tests);
}
