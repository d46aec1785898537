#include "train_list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../io/output_file.h"
#include "../../models/data/compare_doubles.h"
#include "../common/json_writer.h"
#include "../common/message.h"
#include "../common/number_text.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../draw/gnuplot.h"
#include "../plot/curves.h"

/* The options that may be lists, in the order in which they vary: the last varies fastest. */
static const char *const listed[] = {"lr", "tau", "gamma", "batch", "unroll", "loss", "seed"};
enum {
    LISTED = sizeof listed / sizeof *listed,
    SEED = LISTED - 1,
    MOST_VALUES = 64,
    MOST_RUNS = 256,
    PATH = 1024,
    WORD = 64
};

typedef struct list_option {
    int count; /* 0: not given as a list */
    char value[MOST_VALUES][WORD];
} list_option;

typedef struct run {
    int place[LISTED]; /* of its value in each list */
    char folder[PATH];
    int status;
    int64_t steps, best_step;
    double best, last, seconds;
} run;

typedef struct train_list {
    const char *out;
    bool json;
    list_option option[LISTED];
    int n_runs;
    run *runs;
    int n_words;
    char **words; /* those of all runs: neither the lists nor --out */
} train_list;

/* The value of --name at word i, "--name=value" or "--name value"; NULL: it is another word. *used: how many words. */
static const char *value_of(const char *name, int n_words, char *const *words, int i, int *used) {
    const size_t length = strlen(name);
    if (strncmp(words[i], "--", 2) != 0 || strncmp(words[i] + 2, name, length) != 0) return NULL;
    *used = 1;
    if (words[i][2 + length] == '=') return words[i] + 3 + length;
    *used = 2;
    return words[i][2 + length] == '\0' && i + 1 < n_words ? words[i + 1] : NULL;
}

/* Commas between numbers; those behind a colon belong to fields of a loss. */
static bool has_comma(const char *value) {
    const char *comma = strchr(value, ','), *colon = strchr(value, ':');
    return comma != NULL && (colon == NULL || comma < colon);
}

static int listed_at(int n_words, char *const *words, int i, const char **value, int *used) {
    for (int o = 0; o < LISTED; o++) {
        *value = value_of(listed[o], n_words, words, i, used);
        if (*value != NULL) return o;
    }
    return -1;
}

bool cli_train_is_list(int n_words, char *const *words) {
    for (int i = 0; i < n_words; i++) {
        const char *value;
        int used;
        if (listed_at(n_words, words, i, &value, &used) >= 0 && has_comma(value)) return true;
    }
    return false;
}

static int read_values(const char *name, const char *text, list_option *option) {
    option->count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (option->count == MOST_VALUES || length == 0 || length >= WORD)
            return cli_fail(CLI_WRONG_USE, "--%s: '%s' is no list of 1 to %d values", name, text, MOST_VALUES);
        snprintf(option->value[option->count], WORD, "%.*s", (int)length, at);
        for (int i = 0; i < option->count; i++)
            if (strcmp(option->value[i], option->value[option->count]) == 0)
                return cli_fail(CLI_WRONG_USE, "--%s: %s stands there twice", name, option->value[i]);
        option->count++;
        at += length;
        if (*at == '\0') return CLI_GO_ON;
    }
}

static int read_words(int n_words, char *const *words, train_list *l) {
    for (int i = 0, used; i < n_words; i += used) {
        const char *value, *out = value_of("out", n_words, words, i, &used);
        if (out != NULL) {
            l->out = out;
            continue;
        }
        const int o = listed_at(n_words, words, i, &value, &used);
        if (o >= 0 && has_comma(value)) {
            const int status = read_values(listed[o], value, &l->option[o]);
            if (status != CLI_GO_ON) return status;
            continue;
        }
        used = 1;
        if (strcmp(words[i], "--resume") == 0 || strncmp(words[i], "--resume=", 9) == 0)
            return cli_fail(CLI_WRONG_USE, "--resume: a list of runs goes on by itself: give the same command again");
        l->json = l->json || strcmp(words[i], "--json") == 0;
        l->words[l->n_words++] = words[i];
    }
    if (l->out == NULL) return cli_fail(CLI_WRONG_USE, "where to? --out DIR (see tessera train --help)");
    return CLI_GO_ON;
}

/* "OUT/lr-0.01-seed-1". Characters that names of files should not have become dashes. */
static int name_run(const train_list *l, run *r) {
    int used = snprintf(r->folder, PATH, "%s/", l->out);
    bool first = true;
    for (int o = 0; o < LISTED && used < PATH; o++) {
        if (l->option[o].count == 0) continue;
        const int begin = used;
        used += snprintf(r->folder + used, (size_t)(PATH - used), "%s%s-%s", first ? "" : "-", listed[o],
                         l->option[o].value[r->place[o]]);
        for (int c = begin; c < used && c < PATH; c++)
            if (strchr("/:=, ", r->folder[c]) != NULL) r->folder[c] = '-';
        first = false;
    }
    return used < PATH ? CLI_DONE : cli_fail(CLI_FAILED, "%.40s...: the name is too long", l->out);
}

static int make_runs(train_list *l) {
    int64_t total = 1;
    for (int o = 0; o < LISTED; o++)
        if (l->option[o].count > 0) total *= l->option[o].count;
    if (total > MOST_RUNS) return cli_fail(CLI_WRONG_USE, "%lld runs are more than %d", (long long)total, MOST_RUNS);
    l->runs = calloc((size_t)total, sizeof *l->runs);
    if (l->runs == NULL) return cli_fail_memory(l->out);
    for (; l->n_runs < total; l->n_runs++) {
        run *r = &l->runs[l->n_runs];
        int rest = l->n_runs;
        for (int o = LISTED - 1; o >= 0; o--) {
            if (l->option[o].count == 0) continue;
            r->place[o] = rest % l->option[o].count;
            rest /= l->option[o].count;
        }
        if (name_run(l, r) != CLI_DONE) return CLI_FAILED;
    }
    return CLI_GO_ON;
}

static bool is_there(const char *folder, const char *file) {
    char path[PATH + 32];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return access(path, F_OK) == 0;
}

/* A run that goes on keeps its options, but for these. */
static int resume_words(const train_list *l, char **words) {
    static const char *const kept[] = {"threads", "data", "columns", "labels-column", "checkpoint-every"};
    int n = 0;
    for (int i = 0; i < l->n_words; i++) {
        int used = 1;
        if (strcmp(l->words[i], "--quiet") == 0) words[n++] = l->words[i];
        for (int o = 0; o < 5; o++)
            if (value_of(kept[o], l->n_words, l->words, i, &used) != NULL)
                for (int w = 0; w < used; w++) words[n++] = l->words[i + w];
    }
    return n;
}

static int train_run(const train_list *l, run *r, cli_train_one_fn *one) {
    char **words = calloc((size_t)l->n_words + 2 * LISTED + 4, sizeof *words), texts[LISTED][2 * WORD];
    static char out[] = "--out", resume[] = "--resume";
    int n = 0;
    if (words == NULL) return cli_fail_memory(l->out);
    const bool begun = is_there(r->folder, "last.safetensors");
    if (begun) {
        n = resume_words(l, words);
    } else {
        for (; n < l->n_words; n++) words[n] = l->words[n];
        for (int o = 0; o < LISTED; o++) {
            if (l->option[o].count == 0) continue;
            snprintf(texts[o], sizeof texts[o], "--%s=%s", listed[o], l->option[o].value[r->place[o]]);
            words[n++] = texts[o];
        }
    }
    words[n++] = begun ? resume : out;
    words[n++] = r->folder;
    const int status = one(n, words, false);
    free(words);
    return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The best and the last row of a run's metrics. */
static void read_result(run *r, cli_curve_file *file) {
    r->best = r->last = r->seconds = NAN;
    const int step = cli_curve_column(file, "step"), relative = cli_curve_column(file, "val_relative"),
              seconds = cli_curve_column(file, "seconds");
    for (int64_t i = 0; i < file->rows; i++) {
        const double *row = file->value + i * file->columns;
        r->steps = (int64_t)row[step];
        r->last = row[relative];
        r->seconds = row[seconds];
        if (!(row[relative] < r->best) && !isnan(r->best)) continue;
        r->best = row[relative];
        r->best_step = r->steps;
    }
}

static void print_names(const train_list *l, const run *r, int last, int width) {
    int used = 0;
    for (int o = 0; o < last; o++)
        if (l->option[o].count > 0)
            used += printf("%s%s %s", used == 0 ? "" : ", ", listed[o], l->option[o].value[r->place[o]]);
    if (used == 0) used = printf("all");
    printf("%*s", used < width ? width - used : 1, "");
}

/* The runs of one combination but for the seed stand one after the other. */
static bool print_table(const void *result) {
    const train_list *l = result;
    const int seeds = l->option[SEED].count > 0 ? l->option[SEED].count : 1;
    double *best = malloc((size_t)seeds * sizeof *best);
    if (best == NULL) return false;
    printf("%s: %d runs\n\n  %-32s %10s %10s %10s %10s\n", l->out, l->n_runs, "best objective relative to Lloyd",
           "median", "quartile", "quartile", "failed");
    for (int first = 0; first < l->n_runs; first += seeds) {
        int count = 0;
        for (int i = first; i < first + seeds; i++)
            if (isfinite(l->runs[i].best) && l->runs[i].status == CLI_DONE) best[count++] = l->runs[i].best;
        qsort(best, (size_t)count, sizeof *best, ts_compare_doubles);
        fputs("  ", stdout);
        print_names(l, &l->runs[first], SEED, 32);
        for (int q = 0; q < 3; q++) {
            const double place = (double)(count - 1) * (double[]){0.5, 0.25, 0.75}[q], part = place - floor(place);
            const double low = count > 0 ? best[(int)place] : NAN,
                         high = count > 0 && part > 0 ? best[(int)place + 1] : low;
            printf(" %10.4f", low + part * (high - low));
        }
        printf(" %10d\n", seeds - count);
    }
    free(best);
    return true;
}

static bool print_json(const void *result) {
    const train_list *l = result;
    cli_json json = {.digits = 17};
    cli_json_put(&json, "{ out:s runs:[", l->out);
    for (int i = 0; i < l->n_runs; i++) {
        const run *r = &l->runs[i];
        cli_json_put(&json, "{ folder:s", r->folder);
        for (int o = 0; o < LISTED; o++) {
            char member[WORD];
            snprintf(member, sizeof member, "%s:s", listed[o]);
            if (l->option[o].count > 0) cli_json_put(&json, member, l->option[o].value[r->place[o]]);
        }
        cli_json_put(&json, "steps:i best_relative:f best_step:i last_relative:f seconds:f failed:b }", r->steps,
                     r->best, r->best_step, r->last, r->seconds, r->status != CLI_DONE);
    }
    cli_json_put(&json, "] }");
    return cli_json_end(&json);
}

static int write_csv(const train_list *l) {
    char path[PATH + 32], number[CLI_NUMBER_TEXT];
    ts_output_file file;
    ts_io_error error;
    snprintf(path, sizeof path, "%s/runs.csv", l->out);
    if (!ts_output_open(path, &file, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    for (int o = 0; o < LISTED; o++)
        if (l->option[o].count > 0) fprintf(file.stream, "%s,", listed[o]);
    fputs("steps,best_relative,best_step,last_relative,seconds,failed\n", file.stream);
    for (int i = 0; i < l->n_runs; i++) {
        const run *r = &l->runs[i];
        for (int o = 0; o < LISTED; o++)
            if (l->option[o].count > 0) fprintf(file.stream, "%s,", l->option[o].value[r->place[o]]);
        fprintf(file.stream, "%lld,%s", (long long)r->steps, cli_any_number(r->best, number));
        fprintf(file.stream, ",%lld,%s", (long long)r->best_step, cli_any_number(r->last, number));
        fprintf(file.stream, ",%.1f,%d\n", r->seconds, r->status != CLI_DONE);
    }
    return ts_output_commit(&file, &error) ? CLI_DONE : cli_fail(CLI_FAILED, "%s", error.text);
}

/* Reads the runs' metrics, and draws and writes what is to be seen of them. */
static int finish(train_list *l) {
    char path[PATH + 32];
    int count = 0, status = CLI_DONE;
    char(*paths)[PATH + 32] = calloc((size_t)l->n_runs, sizeof *paths);
    cli_curve_file *files = calloc((size_t)l->n_runs, sizeof *files);
    cli_lines_picture *picture = calloc(1, sizeof *picture);
    if (paths == NULL || files == NULL || picture == NULL) status = cli_fail_memory(l->out);
    for (int i = 0; i < l->n_runs && status == CLI_DONE; i++) {
        l->runs[i].best = l->runs[i].last = NAN;
        if (!is_there(l->runs[i].folder, "metrics.csv")) continue;
        snprintf(paths[count], sizeof *paths, "%s/metrics.csv", l->runs[i].folder);
        if (cli_curve_read(paths[count], &files[count]) == CLI_DONE) read_result(&l->runs[i], &files[count++]);
    }
    if (status == CLI_DONE && count > 0 && cli_gnuplot_found()) {
        ts_io_error error;
        *picture = (cli_lines_picture){.title = "Training runs",
                                       .x_name = "training step",
                                       .y_name = "objective relative to Lloyd",
                                       .reference_name = "Lloyd",
                                       .reference = 1,
                                       .y_log = true};
        snprintf(path, sizeof path, "%s/curves.svg", l->out);
        status = cli_curves_add(files, count, "val_relative", true, picture);
        if (status == CLI_DONE && !cli_lines_plot(picture, path, &error))
            status = cli_fail(CLI_FAILED, "%s", error.text);
        cli_lines_free(picture);
    }
    for (int i = 0; files != NULL && i < count; i++) cli_curve_free(&files[i]);
    free(paths);
    free(files);
    free(picture);
    return status == CLI_DONE ? write_csv(l) : status;
}

int cli_train_list(int n_words, char *const *words, cli_train_one_fn *one, bool (*stopped)(void)) {
    train_list l = {.words = calloc((size_t)n_words + 1, sizeof *l.words)};
    int failed = CLI_DONE;
    int status = l.words == NULL ? cli_fail(CLI_FAILED, "out of memory") : read_words(n_words, words, &l);
    if (status == CLI_GO_ON) status = make_runs(&l);
    if (status == CLI_GO_ON && mkdir(l.out, 0777) != 0 && errno != EEXIST)
        status = cli_fail(CLI_FAILED, "%s: %s", l.out, strerror(errno));
    for (int i = 0; i < l.n_runs && status == CLI_GO_ON; i++) {
        l.runs[i].status = train_run(&l, &l.runs[i], one);
        if (l.runs[i].status != CLI_DONE) failed = l.runs[i].status;
        if (l.runs[i].status == CLI_WRONG_USE || stopped()) status = l.runs[i].status;
    }
    if (status == CLI_GO_ON) status = finish(&l);
    const cli_outputs outputs = {.as_json = l.json};
    if (status == CLI_DONE) status = cli_outputs_tell(&outputs, l.out, print_json, print_table, &l);
    free(l.runs);
    free(l.words);
    return status == CLI_DONE ? failed : status;
}
