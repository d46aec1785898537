#include "program.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char *out, *err;

char *read_file(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const size_t length = (size_t)ftell(file);
    char *text = calloc(length + 1, 1);
    rewind(file);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, length, file), length);
    fclose(file);
    if (size != NULL) *size = length;
    return text;
}

void write_bytes(const char *name, const char *bytes, size_t size) {
    FILE *file = fopen(name, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

void write_file(const char *name, const char *text) {
    write_bytes(name, text, strlen(text));
}

bool file_exists(const char *name) {
    return access(name, F_OK) == 0;
}

int shell(const char *command) {
    free(out);
    free(err);
    const int status = system(command);
    ck_assert_msg(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) < 126, "%s: status %d", command, status);
    out = read_file("out.txt", NULL);
    err = read_file("err.txt", NULL);
    ck_assert(out != NULL && err != NULL);
    return WEXITSTATUS(status);
}

int tessera_v(const char *format, va_list arguments) {
    char words[2048], command[4096];
    vsnprintf(words, sizeof words, format, arguments);
    snprintf(command, sizeof command, "\"$TESSERA\" %s >out.txt 2>err.txt", words);
    return shell(command);
}

int tessera(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int code = tessera_v(format, arguments);
    va_end(arguments);
    return code;
}

json_t *tessera_json(const char *format, ...) {
    char words[2048];
    json_error_t error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    const size_t command = strcspn(words, " "); /* --json goes behind it: a later "--" would hide it */
    const int code = tessera("%.*s --json%s", (int)command, words, words + command);
    ck_assert_msg(code == 0, "%s: exit %d: %s", words, code, err);
    json_t *report = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(report != NULL, "%s in %s", error.text, out);
    return report;
}

double number(const json_t *report, const char *key) {
    const json_t *value = json_object_get(report, key);
    ck_assert_msg(json_is_number(value), "no number %s", key);
    return json_number_value(value);
}

const char *word(const json_t *report, const char *key) {
    const char *value = json_string_value(json_object_get(report, key));
    ck_assert_msg(value != NULL, "no text %s", key);
    return value;
}

double center(const json_t *report, size_t i, size_t j) {
    return json_number_value(json_array_get(json_array_get(json_object_get(report, "centers"), i), j));
}

int label(const json_t *report, size_t i) {
    return (int)json_integer_value(json_array_get(json_object_get(report, "labels"), i));
}

void expect_labels(const json_t *report, const char *digits) {
    ck_assert_uint_eq(json_array_size(json_object_get(report, "labels")), strlen(digits));
    for (size_t i = 0; digits[i] != '\0'; i++)
        ck_assert_msg(label(report, i) == digits[i] - '0', "row %zu: label %d, not %c", i, label(report, i), digits[i]);
}

void expect_centers(const json_t *report, size_t k, size_t d, const double *centers) {
    ck_assert_uint_eq(json_array_size(json_object_get(report, "centers")), k);
    for (size_t i = 0; i < k * d; i++) ck_assert_double_eq_tol(center(report, i / d, i % d), centers[i], 1e-12);
}

int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
    return count;
}

char *script_of(const char *format, ...) {
    char folder[2048], text[4200], *path = strdup(getenv("PATH"));
    va_list arguments;
    ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
    mkdir("drawer", 0777);
    snprintf(text, sizeof text, "#!/bin/sh\ncat >'%s/script.txt'\necho drawn\n", folder);
    write_file("drawer/gnuplot", text);
    ck_assert_int_eq(chmod("drawer/gnuplot", 0777), 0);
    remove("script.txt");
    snprintf(text, sizeof text, "%s/drawer:%s", folder, path);
    setenv("PATH", text, 1);
    va_start(arguments, format);
    const int code = tessera_v(format, arguments);
    va_end(arguments);
    setenv("PATH", path, 1);
    free(path);
    ck_assert_msg(code == 0, "%s: exit %d: %s", format, code, err);
    char *script = read_file("script.txt", NULL);
    ck_assert_msg(script != NULL, "%s: no script", format);
    return script;
}

void expect_drawn(const char *script, const char *text) {
    ck_assert_msg(strstr(script, text) != NULL, "'%s' is not in the script", text);
}

void expect_not_drawn(const char *script, const char *text) {
    ck_assert_msg(strstr(script, text) == NULL, "'%s' is in the script", text);
}

void read_range(const char *script, const char *which, double range[2]) {
    char begin[32];
    snprintf(begin, sizeof begin, "set %srange [", which);
    const char *at = strstr(script, begin);
    ck_assert_msg(at != NULL && sscanf(at + strlen(begin), "%lf:%lf", &range[0], &range[1]) == 2, "no %s", begin);
}

void expect_readable(const char *script) {
    static const char font[] = "font ',", place[] = "' at screen ";
    int texts = 0;
    for (const char *at = script; (at = strstr(at, font)) != NULL; at += sizeof font - 1)
        ck_assert_int_ge(strtol(at + sizeof font - 1, NULL, 10), 12);
    for (const char *at = script; (at = strstr(at, place)) != NULL; texts++) {
        double x, y;
        at += sizeof place - 1;
        ck_assert_int_eq(sscanf(at, "%lf,%lf", &x, &y), 2);
        ck_assert_msg(x > 0 && x < 1 && y > 0 && y < 1, "a text is at %g,%g", x, y);
    }
    ck_assert_int_gt(texts, 2);
}

void expect_file(const char *name, const char *text) {
    char *content = read_file(name, NULL);
    ck_assert_msg(content != NULL, "%s is missing", name);
    ck_assert_str_eq(content, text);
    free(content);
}

void expect_same_files(const char *a, const char *b) {
    size_t length_a = 0, length_b = 0;
    char *of_a = read_file(a, &length_a), *of_b = read_file(b, &length_b);
    ck_assert_msg(of_a != NULL && of_b != NULL, "%s or %s is missing", a, b);
    ck_assert_msg(length_a == length_b && memcmp(of_a, of_b, length_a) == 0, "%s and %s differ", a, b);
    free(of_a);
    free(of_b);
}

void expect_failure_line(const char *message) {
    ck_assert_str_eq(out, "");
    ck_assert_msg(strncmp(err, "tessera: ", 9) == 0, "%s", err);
    ck_assert_msg(strchr(err, '\n') == err + strlen(err) - 1, "not one line: %s", err);
    ck_assert_msg(strstr(err, message) != NULL, "'%s' is not in: %s", message, err);
}

void expect_failure(int expected, const char *message, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int code = tessera_v(format, arguments);
    va_end(arguments);
    ck_assert_msg(code == expected, "%s: exit %d, not %d; %s", format, code, expected, err);
    expect_failure_line(message);
}

int run_case_in_folder(const char *name, TCase *tests) {
    char folder[] = "/tmp/tessera-test-XXXXXX", command[100];
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) return EXIT_FAILURE;
    const int result = run_case(name, tests);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0) return EXIT_FAILURE;
    free(out);
    free(err);
    return result;
}

int run_program_case(const char *name, TCase *tests) {
    if (getenv("TESSERA") != NULL && getenv("TESSERA_DATA") != NULL) return run_case_in_folder(name, tests);
    fputs("TESSERA and TESSERA_DATA must be set\n", stderr);
    return EXIT_FAILURE;
}
