#include "curve_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/message.h"

enum { LINE = 2048 };

int cli_curve_column(const cli_curve_file *file, const char *name) {
    for (int c = 0; c < file->columns; c++)
        if (strcmp(file->column[c], name) == 0) return c;
    return -1;
}

void cli_curve_free(cli_curve_file *file) {
    free(file->value);
    file->value = NULL;
}

/* Splits a line at its commas; false if there are too many. */
static bool split(char *line, char *cell[CLI_CURVE_COLUMNS], int *count) {
    line[strcspn(line, "\r\n")] = '\0';
    *count = 0;
    for (char *at = line;;) {
        if (*count == CLI_CURVE_COLUMNS) return false;
        cell[(*count)++] = at;
        at += strcspn(at, ",");
        if (*at == '\0') return true;
        *at++ = '\0';
    }
}

static int read_head(FILE *stream, cli_curve_file *file) {
    char line[LINE], *cell[CLI_CURVE_COLUMNS];
    if (fgets(line, sizeof line, stream) == NULL) return cli_fail(CLI_FAILED, "%s: is empty", file->path);
    bool known = split(line, cell, &file->columns);
    for (int c = 0; known && c < file->columns; c++) {
        known = strlen(cell[c]) < CLI_CURVE_NAME;
        if (known) strcpy(file->column[c], cell[c]);
    }
    const bool training = known && cli_curve_column(file, "step") >= 0 && cli_curve_column(file, "val_relative") >= 0;
    const bool eval = known && cli_curve_column(file, "step") >= 0 && cli_curve_column(file, "model") >= 0;
    file->kind = training ? CLI_CURVES_OF_TRAINING : CLI_CURVES_OF_EVAL;
    if (training || eval) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: neither metrics.csv of a training run nor the CSV of tessera eval", file->path);
}

static int read_rows(FILE *stream, cli_curve_file *file) {
    char line[LINE], *cell[CLI_CURVE_COLUMNS];
    int64_t room = 0;
    for (int64_t number = 2; fgets(line, sizeof line, stream) != NULL; number++) {
        int count;
        if (!split(line, cell, &count) || count != file->columns)
            return cli_fail(CLI_FAILED, "%s: line %lld has not the %d columns of the header", file->path,
                            (long long)number, file->columns);
        if (file->rows == room) {
            room = room == 0 ? 256 : 2 * room;
            double *more = realloc(file->value, (size_t)(room * file->columns) * sizeof *more);
            if (more == NULL) return cli_fail_memory(file->path);
            file->value = more;
        }
        for (int c = 0; c < count; c++) {
            char *end;
            const double value = strtod(cell[c], &end);
            file->value[file->rows * file->columns + c] = end != cell[c] && *end == '\0' ? value : NAN;
        }
        file->rows++;
    }
    if (file->rows > 0) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: has no rows yet", file->path);
}

int cli_curve_read(const char *path, cli_curve_file *file) {
    *file = (cli_curve_file){.path = path};
    FILE *stream = fopen(path, "r");
    if (stream == NULL) return cli_fail(CLI_FAILED, "%s: %s", path, strerror(errno));
    int status = read_head(stream, file);
    if (status == CLI_DONE) status = read_rows(stream, file);
    if (status == CLI_DONE && ferror(stream)) status = cli_fail(CLI_FAILED, "%s: %s", path, strerror(errno));
    fclose(stream);
    return status;
}
