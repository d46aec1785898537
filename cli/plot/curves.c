#include "curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/data/compare_doubles.h"
#include "../common/message.h"

/* "lr-0.01" of "runs/lr-0.01/metrics.csv"; "a" of "out/a.csv". */
static void name_of(const char *path, char *name, size_t size) {
    const char *end = strrchr(path, '/'), *file = end == NULL ? path : end + 1;
    if (strcmp(file, "metrics.csv") == 0 && end != NULL) {
        const char *begin = end;
        while (begin > path && begin[-1] != '/') begin--;
        snprintf(name, size, "%.*s", (int)(end - begin), begin);
        return;
    }
    const char *dot = strrchr(file, '.');
    snprintf(name, size, "%.*s", dot == NULL ? (int)strlen(file) : (int)(dot - file), file);
}

/* Takes "seed-12" out of a name, with a dash beside it. */
static void without_seed(char *name) {
    char *at = strstr(name, "seed-");
    if (at == NULL) return;
    const char *rest = at + 5 + strspn(at + 5, "0123456789");
    if (*rest == '-')
        rest++;
    else if (at > name && at[-1] == '-')
        at--;
    memmove(at, rest, strlen(rest) + 1);
    if (name[0] == '\0') strcpy(name, "all seeds");
}

static double quantile(const double *sorted, int64_t count, double q) {
    const double place = q * (double)(count - 1), fraction = place - floor(place);
    const double low = sorted[(int64_t)place];
    return fraction > 0 ? low + fraction * (sorted[(int64_t)place + 1] - low) : low;
}

static bool take_line(cli_line *line, int64_t count, bool ribbon) {
    double **const columns[] = {&line->x, &line->y, &line->low, &line->high};
    line->count = 0;
    for (int i = 0; i < (ribbon ? 4 : 2); i++) {
        *columns[i] = malloc((size_t)count * sizeof(double));
        if (*columns[i] == NULL) return false;
    }
    return true;
}

static double at(const cli_curve_file *file, int64_t row, int column) {
    return file->value[row * file->columns + column];
}

/* A row of a group: the median and the quartiles over its files at one step. Only steps that all files have count. */
static void add_row(cli_line *line, double step, double *values, int64_t count) {
    qsort(values, (size_t)count, sizeof *values, ts_compare_doubles);
    line->x[line->count] = step;
    line->y[line->count] = quantile(values, count, 0.5);
    if (line->low != NULL) {
        line->low[line->count] = quantile(values, count, 0.25);
        line->high[line->count] = quantile(values, count, 0.75);
    }
    line->count++;
}

static int64_t row_of(const cli_curve_file *file, int step_column, double step) {
    for (int64_t r = 0; r < file->rows; r++)
        if (at(file, r, step_column) == step) return r;
    return -1;
}

static int add_group(const cli_curve_file *const *files, int count, const char *name, const char *column,
                     cli_lines_picture *picture) {
    if (picture->n_lines == CLI_MOST_LINES)
        return cli_fail(CLI_FAILED, "%s: more than %d lines in one picture", files[0]->path, CLI_MOST_LINES);
    cli_line *line = &picture->line[picture->n_lines++];
    *line = (cli_line){.count = 0};
    snprintf(line->label, sizeof line->label, count > 1 ? "%.70s (median of %d)" : "%.70s", name, count);
    double *values = malloc((size_t)count * sizeof *values);
    if (values == NULL || !take_line(line, files[0]->rows, count > 1)) {
        free(values);
        return cli_fail_memory(files[0]->path);
    }
    const int step = cli_curve_column(files[0], "step");
    for (int64_t r = 0; r < files[0]->rows; r++) {
        bool everywhere = true;
        for (int f = 0; f < count && everywhere; f++) {
            const int64_t row = row_of(files[f], cli_curve_column(files[f], "step"), at(files[0], r, step));
            everywhere = row >= 0;
            if (everywhere) values[f] = at(files[f], row, cli_curve_column(files[f], column));
        }
        if (everywhere) add_row(line, at(files[0], r, step), values, count);
    }
    free(values);
    return CLI_DONE;
}

int cli_curves_add(const cli_curve_file *files, int count, const char *column, bool group, cli_lines_picture *picture) {
    enum { NAME = 96 };
    bool *taken = calloc((size_t)count, sizeof *taken);
    const cli_curve_file **members = calloc((size_t)count, sizeof *members);
    int status = taken != NULL && members != NULL ? CLI_DONE : cli_fail_memory(files[0].path);
    for (int i = 0; i < count && status == CLI_DONE; i++) {
        char name[NAME], other[NAME];
        int n = 0;
        if (taken[i]) continue;
        if (cli_curve_column(&files[i], column) < 0) {
            status = cli_fail(CLI_FAILED, "%s: has no column %s", files[i].path, column);
            break;
        }
        name_of(files[i].path, name, sizeof name);
        if (group) without_seed(name);
        for (int j = i; j < count; j++) {
            name_of(files[j].path, other, sizeof other);
            if (group) without_seed(other);
            if (j > i && (!group || strcmp(name, other) != 0)) continue;
            taken[j] = true;
            members[n++] = &files[j];
        }
        for (int l = 0; l < picture->n_lines;
             l++) /* names of other folders that are alike: the path tells them apart */
            if (strcmp(picture->line[l].label, name) == 0) snprintf(name, sizeof name, "%.90s", files[i].path);
        status = add_group(members, n, name, column, picture);
    }
    free(taken);
    free(members);
    return status;
}
