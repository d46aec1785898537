/* verify_command.c: `tessera verify`: every construction and variant against its plain algorithm, in float and in
 * double, and figure 3 of the paper. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/commands.h"
#include "../common/json_writer.h"
#include "../common/message.h"
#include "../common/number_text.h"
#include "../common/options.h"
#include "../common/outputs.h"
#include "../common/progress.h"
#include "../common/threads.h"
#include "verify_double.h"
#include "verify_figure.h"

typedef struct verify_options {
    cli_shared shared;
    bool quick;
} verify_options;

#define FIELD(name) offsetof(verify_options, name)

static const cli_option options_table[] = {
    CLI_OPTION(CLI_FLAG, "quick", NULL, quick, "a few of the problems, in seconds"),
    CLI_SHARED_SEED("of the problems"),
    CLI_SHARED_THREADS("changes no result"),
    CLI_SHARED_JSON("the table"),
    CLI_SHARED_QUIET,
};

static const cli_command command = {
    .name = "verify",
    .summary = "Holds every construction and variant of the clustering transformers against the plain algorithm\n"
               "that it is, step by step, on a grid of hard problems: one cluster, as many as points, numbers of\n"
               "clusters that are no power of two, one dimension, duplicates, exact and near ties, data far from\n"
               "the origin, empty clusters. Labels must be equal, centres within a bound, and the objective must\n"
               "not rise where the theory says so. A layer that can be streamed, which makes no tokens, is held\n"
               "so and op by op. Then figure 3 of Clarkson et al. (ICML 2026), on one sample\n"
               "whatever the seed: the log objective of points in [0,1]^2, as the paper has it, though\n"
               "the algorithms see them in [0,5]^2. Exit code 1 if anything fails.\n\n"
               "Columns\n"
               "  problems   how many problems, and steps compared in all\n"
               "  centres    the largest difference of centres, in units of the largest coordinate, / its bound\n"
               "  ties       labels that differ within the rounding of the scores, which is 0 for Lloyd's\n"
               "             algorithm in one-hot and binary codes: there nothing is excused\n"
               "  rises      steps at which the objective rose; - where the theory promises nothing",
    .examples = "Examples\n"
                "  tessera verify --quick\n"
                "  tessera verify --seed 7 --json\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

enum { PRECISIONS = 2, FIGURES = 2 };
static const char *const precision_names[PRECISIONS] = {"float", "double"};
static const char *const figure_constructions[FIGURES] = {"onehot",
                                                          "dot"}; /* binary codes have no softmax in the papers */

typedef struct verification {
    int lines;
    ts_verify_result *result; /* [lines, PRECISIONS] */
    cli_figure figure[FIGURES];
    int failures;
} verification;

static bool passed(const ts_verify_result *r) {
    return r->failure[0] == '\0' && r->mismatches == 0 && r->rises <= 0 && r->center_difference <= r->center_bound;
}

static bool figure_passed(const cli_figure *f) {
    return f->difference <= CLI_FIGURE_BOUND;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int run_lines(const verify_options *o, verification *v) {
    const int items = v->lines * PRECISIONS;
    bool room = true;
    cli_progress progress = cli_progress_begin(o->shared.quiet);
    int done = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : room)
    for (int item = 0; item < items; item++) {
        const int line = item / PRECISIONS;
        room = (item % PRECISIONS == 0 ? ts_verify_run : cli_verify_run_double)(line, o->quick, o->shared.seed,
                                                                                &v->result[item]) &&
               room;
#pragma omp critical(verify_progress)
        cli_progress_item(&progress, "comparisons", items, (double)++done / items);
    }
    cli_progress_end(&progress);
    return room ? CLI_DONE : cli_fail_memory("verify");
}

static int run_all(const verify_options *o, verification *v) {
    ts_error error = {.status = TS_OK};
    v->lines = ts_verify_count();
    v->result = calloc((size_t)(v->lines * PRECISIONS), sizeof *v->result);
    if (v->result == NULL) return cli_fail_memory("verify");
    const int status = run_lines(o, v);
    if (status != CLI_DONE) return status;
    for (int i = 0; i < FIGURES; i++)
        if (cli_figure_run(figure_constructions[i], 0, &v->figure[i], &error) != TS_OK)
            return cli_fail(CLI_FAILED, "verify: figure 3: %s", error.text);
    for (int i = 0; i < v->lines * PRECISIONS; i++) v->failures += !passed(&v->result[i]);
    for (int i = 0; i < FIGURES; i++) v->failures += !figure_passed(&v->figure[i]);
    return CLI_DONE;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void print_line(const ts_verify_result *r, const char *precision) {
    char rises[24] = "-";
    if (r->rises >= 0) snprintf(rises, sizeof rises, "%lld", (long long)r->rises);
    printf("%-41s %-6s %4lld %6lld  %7.1e /%8.1e  %6lld %5s  %s\n", r->name, precision, (long long)r->problems,
           (long long)r->steps, r->center_difference, r->center_bound, (long long)r->ties, rises,
           passed(r) ? "pass" : "FAIL");
    if (r->failure[0] != '\0') printf("    %s\n", r->failure);
}

static void print_curve(const char *name, const double *curve, int digits, const char *end) {
    printf("  %-10s", name);
    for (int t = 0; t <= CLI_FIGURE_STEPS; t++) printf("%7.*f", digits, curve[t]);
    fputs(end, stdout);
}

static void print_figure(const cli_figure *f, bool first) {
    static const double steps[CLI_FIGURE_STEPS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    if (first) {
        print_curve("steps", steps, 0, "\n");
        print_curve("paper", cli_figure_published, 2, "  of its own sample\n");
        print_curve("Lloyd", f->lloyd, 3, "\n");
    }
    print_curve(f->construction, f->circuit, 3, "");
    printf("  differ by %.1e  %s\n", f->difference, figure_passed(f) ? "pass" : "FAIL");
}

static bool print_table(const void *result) {
    const verification *v = result;
    printf("%-41s %-6s %4s %6s  %17s  %6s %5s\n", "against its plain algorithm", "", "prob", "steps", "centres / bound",
           "ties", "rises");
    for (int i = 0; i < v->lines * PRECISIONS; i++) print_line(&v->result[i], precision_names[i % PRECISIONS]);
    printf("\nfigure 3: log objective of points in [0,1]^2, clustered in [0,5]^2; D = 2, N = %d, K = 5, gamma = 10^4\n",
           CLI_FIGURE_POINTS);
    for (int i = 0; i < FIGURES; i++) print_figure(&v->figure[i], i == 0);
    printf("  points whose weight is all, exactly, on one centre: %lld of %d (9921 in the paper's sample)\n",
           (long long)v->figure[0].onehot, CLI_FIGURE_POINTS);
    if (v->failures == 0)
        printf("\nall %d lines pass\n", v->lines * PRECISIONS + FIGURES);
    else
        printf("\n%d of %d lines FAIL\n", v->failures, v->lines * PRECISIONS + FIGURES);
    return true;
}

/* null for what does not apply. */
static json_t *count_json(int64_t count) {
    return count < 0 ? json_null() : json_integer((json_int_t)count);
}

static void put_line(cli_json *json, const ts_verify_result *r, const char *precision) {
    cli_json_put(json, "{ name:s precision:s problems:i steps:i mismatches:i ties:i center_difference:f center_bound:f",
                 r->name, precision, r->problems, r->steps, r->mismatches, r->ties, r->center_difference,
                 r->center_bound);
    cli_json_put(json, "rises:j pass:b failure:s }", count_json(r->rises), passed(r), r->failure);
}

static void put_figure(cli_json *json, const cli_figure *f) {
    const int64_t length = CLI_FIGURE_STEPS + 1;
    cli_json_put(json, "{ construction:s lloyd:F circuit:F difference:f onehot:j pass:b }", f->construction, length,
                 f->lloyd, length, f->circuit, f->difference, count_json(f->onehot), figure_passed(f));
}

static bool print_json(const void *result) {
    const verification *v = result;
    cli_json json = {.digits = 17};
    cli_json_put(&json, "{ rows:[");
    for (int i = 0; i < v->lines * PRECISIONS; i++) put_line(&json, &v->result[i], precision_names[i % PRECISIONS]);
    cli_json_put(&json, "] figure3:[");
    for (int i = 0; i < FIGURES; i++) put_figure(&json, &v->figure[i]);
    cli_json_put(&json, "] pass:b }", v->failures == 0);
    return cli_json_end(&json);
}

int cli_verify(int n_words, char *const *words) {
    verify_options options = {0};
    verification v = {0};
    int status = cli_parse(&command, n_words, words, &options, NULL);
    if (status != CLI_GO_ON) return status;
    cli_set_threads(options.shared.threads);
    status = run_all(&options, &v);
    const cli_outputs outputs = {.as_json = options.shared.json};
    if (status == CLI_DONE) status = cli_outputs_tell(&outputs, "verify", print_json, print_table, &v);
    if (status == CLI_DONE && v.failures > 0)
        status = cli_fail(CLI_FAILED, "verify: %lld comparison%s failed", CLI_COUNT(v.failures));
    free(v.result);
    return status;
}
