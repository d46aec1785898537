/* safetensors_files.h: what the tests of safetensors files share: the file is `path`, in a folder of its own. */
#ifndef TESTS_SAFETENSORS_FILES_H
#define TESTS_SAFETENSORS_FILES_H

#include "../io/safetensors.h"
#include "one_file.h"

/* A small file as it must be written. */
extern const char golden[];
extern const size_t golden_size;

void put_file(const void *bytes, size_t size);

/* A file with this header as it stands, and `size` bytes 0, 1, 2, ... of data; returns its size. */
size_t put_header(const char *header, size_t length, size_t size, unsigned char *bytes);

ts_safetensors read_good(void);
bool is_empty(const ts_safetensors *file);

/* The error's text behind "FILE: "; the file must be left empty. */
const char *read_bad(void);

/* What main returns. */
int run_safetensors_case(const char *name, TCase *tests);

#endif
