#include "bench_work.h"

#include <stdio.h>
#include <string.h>

static const cli_bench_kind *const kinds[] = {&cli_bench_train, &cli_bench_forward, &cli_bench_backward,
                                              &cli_bench_exact, &cli_bench_plain};

const cli_bench_kind *cli_bench_kind_by_name(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

static double train_flops(double n, double d, double k, double b) {
    const double e = d + k;
    return b * (14 * e * (n + k) * (n + k) + 4 * e * e * (7 * n + 6 * k) + 6 * n * k * d);
}

double cli_bench_flops(const cli_bench_kind *kind, const int64_t shape[CLI_BENCH_SHAPE]) {
    const double s[CLI_BENCH_SHAPE] = {(double)shape[0], (double)shape[1], (double)shape[2], (double)shape[3]};
    if (kind == &cli_bench_train) return train_flops(s[0], s[1], s[2], s[3]);
    if (kind == &cli_bench_forward) return 4 * s[2] * s[0] * s[0] * s[1];
    if (kind == &cli_bench_backward) return 10 * s[2] * s[0] * s[0] * s[1];
    return 0;
}

double cli_bench_data_bytes(const cli_bench_kind *kind, const int64_t shape[CLI_BENCH_SHAPE]) {
    const bool clusters = kind == &cli_bench_exact || kind == &cli_bench_plain;
    return clusters ? (double)shape[0] * (double)shape[1] * (double)sizeof(float) : 0;
}

const char *cli_bench_line(const char *name, const int64_t shape[CLI_BENCH_SHAPE], char line[CLI_BENCH_LINE]) {
    snprintf(line, CLI_BENCH_LINE, "run %s %lld %lld %lld %lld", name, (long long)shape[0], (long long)shape[1],
             (long long)shape[2], (long long)shape[3]);
    return line;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

const char *const cli_bench_works[CLI_BENCH_WORKS] = {"train-512",      "train-128",     "train-512x4",
                                                      "train-1024x100", "attention-512", "attention-128",
                                                      "cluster-10",     "cluster-100",   "long"};

#define STEP "training step"
#define TRAIN &cli_bench_train
const cli_bench_item cli_bench_items[] = {
    {"train-512", STEP, TRAIN, {512, 32, 10, 32}, {24, 4, 3, 4}, true},
    {"train-128", STEP, TRAIN, {128, 32, 10, 32}, {12, 4, 3, 4}, true},
    {"train-512x4", STEP, TRAIN, {512, 4, 6, 32}, {24, 2, 2, 4}, true},
    {"train-1024x100", STEP, TRAIN, {1024, 32, 100, 32}, {40, 4, 10, 4}, true},
    {"attention-512", "forward", &cli_bench_forward, {512, 42, 32, 0}, {24, 7, 4, 0}, false},
    {"attention-512", "backward", &cli_bench_backward, {512, 42, 32, 0}, {24, 7, 4, 0}, false},
    {"attention-512", "forward, dropout .01", &cli_bench_forward, {512, 42, 32, 1}, {24, 7, 4, 1}, false},
    {"attention-512", "backward, dropout .01", &cli_bench_backward, {512, 42, 32, 1}, {24, 7, 4, 1}, false},
    {"attention-128", "forward", &cli_bench_forward, {128, 42, 32, 0}, {12, 7, 4, 0}, false},
    {"attention-128", "backward", &cli_bench_backward, {128, 42, 32, 0}, {12, 7, 4, 0}, false},
    {"attention-128", "forward, dropout .01", &cli_bench_forward, {128, 42, 32, 1}, {12, 7, 4, 1}, false},
    {"attention-128", "backward, dropout .01", &cli_bench_backward, {128, 42, 32, 1}, {12, 7, 4, 1}, false},
    {"cluster-10", "transformer", &cli_bench_exact, {1000000, 32, 10, 0}, {3000, 8, 5, 0}, true},
    {"cluster-10", "plain Lloyd", &cli_bench_plain, {1000000, 32, 10, 0}, {3000, 8, 5, 0}, true},
    {"cluster-100", "transformer", &cli_bench_exact, {1000000, 32, 100, 0}, {3000, 8, 10, 0}, true},
    {"cluster-100", "plain Lloyd", &cli_bench_plain, {1000000, 32, 100, 0}, {3000, 8, 10, 0}, true},
    {"long", NULL, TRAIN, {16384, 32, 10, 1}, {64, 4, 3, 1}, false},
    {"long", NULL, TRAIN, {32768, 32, 10, 1}, {128, 4, 3, 1}, false},
    {"long", NULL, TRAIN, {65536, 32, 10, 1}, {256, 4, 3, 1}, false},
    {.work = NULL},
};

const char *cli_bench_what(const cli_bench_item *item, const int64_t *shape, char text[CLI_BENCH_TEXT]) {
    if (item->what != NULL) return item->what;
    snprintf(text, CLI_BENCH_TEXT, "n = %lld", (long long)shape[0]);
    return text;
}
