/* table_files.h: what the tests of the readers of tables share. */
#ifndef TESTS_TABLE_FILES_H
#define TESTS_TABLE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "../io/table.h"
#include "one_file.h"

extern unsigned char file_bytes[8192];

ts_table read_good(const ts_table_options *options);

/* The error's text behind "FILE: "; the table must be left empty. */
const char *read_bad(const ts_table_options *options);

/* Whether damaged bytes are read all the same; if not, a reason is given. */
bool read_or_reason(void);

void assert_values(const ts_table *table, int64_t rows, int64_t cols, const double *values);

typedef struct good_text {
    const char *text;
    int rows, cols;
    double values[12];
    const char *first_name; /* NULL: no header */
    const char *file;       /* NULL: a.csv */
} good_text;

void assert_good_texts(const good_text *cases, size_t count, const ts_table_options *options);

typedef struct bad_text {
    const char *text, *message;
} bad_text;

void assert_bad_texts(const bad_text *cases, size_t count, const ts_table_options *options);

/* Builds a .npy file in file_bytes and returns its size. */
size_t build_npy(int version, const char *header, const void *payload, size_t payload_size);
void put_npy(const char *header, const void *payload, size_t payload_size);

/* Runs the tests, each in a fresh folder; what main returns. */
int run_table_case(const char *name, TCase *tests);

#endif
