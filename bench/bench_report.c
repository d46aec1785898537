#include "bench_report.h"

#include <math.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const char *const state_names[] = {"not installed", "failed", "measured"};

/* The row of item i of ours, or of the rival beside it, without the numbers that it has not got. */
static cli_bench_row row_of(const cli_bench_group *g, int i, const cli_bench_rival *v) {
    const cli_bench_result *r = &g->result[i];
    const cli_bench_state state = v == NULL ? r->state : v->state;
    cli_bench_row row = {.work = g->work, .ours = v == NULL, .measured = state == CLI_BENCH_MEASURED};
    row.who = v == NULL ? "tessera" : v->peer->name;
    row.version = v == NULL ? "" : v->version;
    row.state = state_names[state];
    row.reason = state != CLI_BENCH_BROKEN ? "" : v == NULL ? r->child.text : v->child.text;
    row.time = (cli_bench_summary){0, NAN, NAN, NAN};
    row.gflops = row.share = row.megabytes = row.multiple = row.ratio = NAN;
    if (!row.measured) return row;
    row.time = v == NULL ? r->time : v->time;
    row.runs = row.time.count;
    row.megabytes = v == NULL ? r->peak : v->peak;
    row.multiple = v == NULL ? r->multiple : v->multiple;
    if (v == NULL) row.gflops = r->gflops, row.share = r->peak_share;
    if (v != NULL && r->state == CLI_BENCH_MEASURED) row.ratio = v->ratio[i];
    return row;
}

/* Its texts, which have their room in the row. */
static void write_texts(const cli_bench_result *r, cli_bench_row *row) {
    char number[CLI_NUMBER_TEXT];
    row->what = cli_bench_what(r->item, r->shape, row->text_of_what);
    row->title[0] = row->ours ? row->work : "";
    row->title[1] = row->ours ? row->what : row->who;
    snprintf(row->text_of_median, sizeof row->text_of_median, row->ours ? "**%s**" : "%s",
             cli_bench_number(row->time.median, number));
    row->median = row->text_of_median;
}

void cli_bench_each_row(const cli_bench_table *table, cli_bench_visit visit, void *context) {
    cli_bench_row row;
    for (int i = 0; i < table->groups; i++) {
        const cli_bench_group *g = &table->group[i];
        for (int r = 0; r < g->results; r++)
            for (int p = -1; p < g->rivals; p++) {
                row = row_of(g, r, p < 0 ? NULL : &g->rival[p]);
                write_texts(&g->result[r], &row);
                visit(context, &row);
            }
    }
}

#define FIELD(name) offsetof(cli_bench_row, name)
static const cli_column columns[] = {
    {.field = FIELD(title[0]), .cell = CLI_CELL_TEXT, .head = "work", .md = "work", .width = -15},
    {.field = FIELD(title[1]), .cell = CLI_CELL_TEXT, .head = "", .md = "", .width = -31},
    {.field = FIELD(work), .cell = CLI_CELL_TEXT, .csv = "work"},
    {.field = FIELD(what), .cell = CLI_CELL_QUOTED, .csv = "what"},
    {.field = FIELD(who), .cell = CLI_CELL_QUOTED, .csv = "who"},
    {.field = FIELD(state), .cell = CLI_CELL_TEXT, .csv = "state"},
    {.field = FIELD(runs), .cell = CLI_CELL_WHOLE, .csv = "runs", .head = "runs", .md = "runs", .width = 4},
    {.field = FIELD(median), .cell = CLI_CELL_TEXT, .md = "ms"},
    {.field = FIELD(time.least), .cell = CLI_CELL_RANGE, .show = cli_bench_number, .md = "least to most"},
    {.field = FIELD(time.median), .csv = "median_ms", .head = "ms", .width = 9, .show = cli_bench_number},
    {.field = FIELD(time.least), .csv = "least_ms", .head = "least", .width = 9, .show = cli_bench_number},
    {.field = FIELD(time.most), .csv = "most_ms", .head = "most", .width = 9, .show = cli_bench_number},
    {.field = FIELD(gflops), .csv = "gflops", .head = "GFLOP/s", .md = "GFLOP/s", .width = 8, .show = cli_bench_number},
    {.field = FIELD(share),
     .csv = "share_of_peak",
     .head = "share",
     .md = "share of peak",
     .width = 6,
     .show = cli_bench_percent},
    {.field = FIELD(megabytes),
     .csv = "peak_megabytes",
     .head = "MB",
     .md = "MB",
     .width = 7,
     .show = cli_bench_number},
    {.field = FIELD(multiple),
     .csv = "multiple_of_data",
     .head = "data",
     .md = "times the data",
     .width = 6,
     .show = cli_bench_number},
    {.field = FIELD(ratio), .csv = "ratio", .head = "ratio", .md = "ratio", .width = 7, .show = cli_bench_number},
    {.field = FIELD(reason), .cell = CLI_CELL_QUOTED, .csv = "reason"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_row(void *context, const cli_bench_row *row) {
    (void)context;
    if (row->measured)
        cli_report_row(stdout, CLI_TEXT_TABLE, columns, COLUMNS, row);
    else
        printf("%-15s %-31s %s%s%s\n", row->title[0], row->title[1], row->state, row->reason[0] != '\0' ? ": " : "",
               row->reason);
}

static void print(const void *result) {
    const cli_bench_table *table = result;
    cli_bench_write_machine(stdout, &table->machine, "");
    printf("median, least and most of the runs; ours counts those beside all its peers%s\n\n",
           table->options->quick ? "; --quick: shapes too small to mean anything" : "");
    cli_report_head(stdout, CLI_TEXT_TABLE, columns, COLUMNS);
    cli_bench_each_row(table, print_row, NULL);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* The works being written; `open` between the first of ours and the end. */
typedef struct works {
    cli_json *json;
    bool open;
} works;

static void put_time(cli_json *json, const cli_bench_row *row) {
    cli_json_put(json, "runs:i median_ms:f least_ms:f most_ms:f peak_megabytes:f multiple_of_data:f", row->runs,
                 row->time.median, row->time.least, row->time.most, row->megabytes, row->multiple);
}

/* Each of ours is an object, which ends with its peers. */
static void put_json_row(void *context, const cli_bench_row *row) {
    works *w = context;
    if (row->ours) {
        cli_json_put(w->json, w->open ? "] } {" : "{");
        put_time(w->json, row);
        cli_json_put(w->json, "work:s what:s state:s reason:s gflops:f share_of_peak:f peers:[", row->work, row->what,
                     row->state, row->reason, row->gflops, row->share);
        w->open = true;
        return;
    }
    cli_json_put(w->json, "{ name:s state:s reason:s version:s", row->who, row->state, row->reason, row->version);
    if (row->measured) put_time(w->json, row);
    if (row->measured) cli_json_put(w->json, "ratio:f", row->ratio);
    cli_json_put(w->json, "}");
}

static void put_json(const void *result, cli_json *json) {
    const cli_bench_table *table = result;
    works w = {json, false};
    cli_json_put(json, "{");
    cli_bench_put_machine(json, &table->machine);
    cli_json_put(json, "runs:i quick:b works:[", table->options->runs, table->options->quick);
    cli_bench_each_row(table, put_json_row, &w);
    cli_json_put(json, w.open ? "] } ] }" : "] }");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void put_row(void *context, const cli_bench_row *row) {
    cli_report_row(context, CLI_CSV, columns, COLUMNS, row);
}

static void put_csv(const void *result, FILE *stream) {
    cli_report_head(stream, CLI_CSV, columns, COLUMNS);
    cli_bench_each_row(result, put_row, stream);
}

/* In a reason a bar would end the cell; the rest is not to be read as Markdown or HTML either. */
static void put_markdown_row(void *context, const cli_bench_row *row) {
    FILE *stream = context;
    if (row->measured) {
        cli_report_row(stream, CLI_MARKDOWN, columns, COLUMNS, row);
        return;
    }
    fprintf(stream, "| %s | %s | | %s%s", row->title[0], row->title[1], row->state, row->reason[0] != '\0' ? ": " : "");
    for (const char *c = row->reason; *c != '\0'; c++)
        fprintf(stream, strchr("|\\`*_<[", *c) != NULL ? "\\%c" : "%c", *c);
    fputs(" | | | | | | |\n", stream);
}

/* Each peer that was there, once, by its version. */
static void write_versions(FILE *stream, const cli_bench_table *table) {
    const char *told[CLI_BENCH_WORKS * CLI_BENCH_PEERS];
    int count = 0;
    for (int i = 0; i < table->groups; i++)
        for (int p = 0; p < table->group[i].rivals; p++) {
            const cli_bench_rival *v = &table->group[i].rival[p];
            if (v->version[0] == '\0' || cli_place_of(told, count, v->peer->name) >= 0) continue;
            told[count++] = v->peer->name;
            fprintf(stream, "* %s: %s\n", v->peer->name, v->version);
        }
}

static void put_markdown(const void *result, FILE *stream) {
    const cli_bench_table *table = result;
    fputs("# Speed\n\nWritten by `tessera bench --markdown`; docs/performance.md says what is measured and how.\n\n",
          stream);
    cli_bench_write_machine(stream, &table->machine, "* ");
    write_versions(stream, table);
    fprintf(
        stream,
        "\nMedians of as many runs as the row says. Ours and a peer's take turns for %lld, %d at most of what takes "
        "over %d s to\nwarm up; ours has those beside all its peers.%s\n\n",
        (long long)table->options->runs, cli_bench_rounds(table->options, INFINITY), CLI_BENCH_SLOW_SECONDS,
        table->options->quick ? " **--quick: shapes too small to mean anything.**" : "");
    cli_report_head(stream, CLI_MARKDOWN, columns, COLUMNS);
    cli_bench_each_row(table, put_markdown_row, stream);
}

const cli_bench_report cli_bench_table_report = {print, put_json, put_csv, put_markdown};
