/* program.h: what the tests of the program share: it is run in a folder of its own, through the shell, and judged by
 * exit codes, output and files. TESSERA is the path of the program, TESSERA_DATA that of the folder with iris.csv. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "test_main.h"

extern char *out, *err; /* what the last command wrote */

/* The bytes of a file with a 0 behind them, to be freed; NULL when there is no such file. */
char *read_file(const char *name, size_t *size);
void write_file(const char *name, const char *text);
void write_bytes(const char *name, const char *bytes, size_t size);
bool file_exists(const char *name);

/* Runs a shell command, which writes out.txt and err.txt, and returns its exit code; never the death of a signal. */
int shell(const char *command);

/* Runs the program on these words. */
int tessera(const char *format, ...);
int tessera_v(const char *format, va_list arguments);

/* Runs it on these words and --json, expects success, and returns the report, to be given back with json_decref; and
 * what stands in the reports of `tessera cluster`. */
json_t *tessera_json(const char *format, ...);
double number(const json_t *report, const char *key);
const char *word(const json_t *report, const char *key);
double center(const json_t *report, size_t i, size_t j);
int label(const json_t *report, size_t i);
void expect_labels(const json_t *report, const char *digits); /* "0011" */
void expect_centers(const json_t *report, size_t k, size_t d, const double *centers);

/* How often this part is in a text, which may overlap itself. */
int count_of(const char *text, const char *part);

/* Runs it with a gnuplot of ours in PATH, expects success, and returns the script that gnuplot would have drawn from,
 * to be freed. So what is in a picture can be tested where there is no gnuplot. */
char *script_of(const char *format, ...);

/* What is in it, or is not; and the numbers of "set xrange [-0.04:1.04]", which is "x" here. */
void expect_drawn(const char *script, const char *text);
void expect_not_drawn(const char *script, const char *text);
void read_range(const char *script, const char *which, double range[2]);

/* A column of a paper makes letters of 12 those of 6 points: there are none smaller, and every text begins on the page.
 */
void expect_readable(const char *script);

/* A file holds this text; both files hold the same bytes. */
void expect_file(const char *name, const char *text);
void expect_same_files(const char *a, const char *b);

/* Runs it and expects: this exit code; one line on standard error, which begins with "tessera: " and contains
 * `message`; nothing on standard output. */
void expect_failure(int expected, const char *message, const char *format, ...);
void expect_failure_line(const char *message);

/* Runs a case in a fresh folder and removes that; what main returns. The second is for cases that run the program. */
int run_case_in_folder(const char *name, TCase *tests);
int run_program_case(const char *name, TCase *tests);

#endif
