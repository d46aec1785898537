#include "bench_report.h"

#include <math.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static cli_bench_row row_of_ours(const cli_bench_group *g, int i) {
    const cli_bench_result *r = &g->result[i];
    char text[CLI_BENCH_TEXT];
    cli_bench_row row = {.work = g->work, .ours = true, .who = "tessera", .missing = "", .time = r->time};
    snprintf(row.what, sizeof row.what, "%s", cli_bench_what(r->item, r->shape, text));
    row.gflops = r->gflops, row.share = r->peak_share, row.megabytes = r->peak, row.multiple = r->multiple,
    row.ratio = NAN;
    return row;
}

static cli_bench_row row_of_theirs(const cli_bench_group *g, int i, const cli_bench_rival *v) {
    cli_bench_row row = row_of_ours(g, i);
    row.ours = false, row.who = v->peer->name, row.missing = cli_bench_state_text(v->state);
    row.gflops = row.share = row.megabytes = row.multiple = NAN;
    row.time = (cli_bench_summary){0, NAN, NAN, NAN};
    if (v->state != CLI_BENCH_MEASURED) return row;
    row.time = v->time, row.megabytes = v->peak, row.multiple = v->multiple, row.ratio = v->ratio[i];
    return row;
}

void cli_bench_each_row(const cli_bench_table *table, cli_bench_visit visit, void *context) {
    for (int i = 0; i < table->groups; i++) {
        const cli_bench_group *g = &table->group[i];
        for (int r = 0; r < g->results; r++) {
            cli_bench_row row = row_of_ours(g, r);
            visit(context, &row);
            for (int p = 0; p < g->rivals; p++) {
                row = row_of_theirs(g, r, &g->rival[p]);
                visit(context, &row);
            }
        }
    }
}

const char *cli_bench_number(double value, char text[CLI_BENCH_NUMBER]) {
    const double size = fabs(value);
    text[0] = '\0';
    if (!isnan(value))
        snprintf(text, CLI_BENCH_NUMBER, size < 1 ? "%.3g" : size < 10 ? "%.2f" : size < 100 ? "%.1f" : "%.0f", value);
    return text;
}

const char *cli_bench_percent(double share, char text[CLI_BENCH_NUMBER]) {
    text[0] = '\0';
    if (!isnan(share)) snprintf(text, CLI_BENCH_NUMBER, "%.0f%%", 100 * share);
    return text;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

void cli_bench_write_machine(FILE *stream, const cli_bench_machine *m, const char *mark) {
    fprintf(stream, "%s%s, %d core%s; tessera %s on %d thread%s, %s, %s; %s\n", mark, m->processor, m->cores,
            m->cores == 1 ? "" : "s", TS_VERSION, m->threads, m->threads == 1 ? "" : "s", m->instructions, m->compiler,
            m->date);
    fprintf(stream, "%speak of multiply-adds %.0f GFLOP/s on 1 thread, %.0f on %d; memory %.1f GB/s on 1, %.1f on %d\n",
            mark, m->peak_one, m->peak, m->threads, m->bandwidth_one, m->bandwidth, m->threads);
    if (cli_bench_shares_cores(m))
        fprintf(stream, "%swarning: %d threads reach %.2f times the peak of one: other work shares the cores\n", mark,
                m->threads, m->peak / m->peak_one);
}

static void print_row(void *context, const cli_bench_row *row) {
    char cell[7][CLI_BENCH_NUMBER];
    (void)context;
    printf("%-15s %-31s", row->ours ? row->work : "", row->ours ? row->what : row->who);
    if (row->missing[0] != '\0') {
        printf(" %s\n", row->missing);
        return;
    }
    printf(" %9s %9s %9s %8s %6s %7s %6s %7s\n", cli_bench_number(row->time.median, cell[0]),
           cli_bench_number(row->time.least, cell[1]), cli_bench_number(row->time.most, cell[2]),
           cli_bench_number(row->gflops, cell[3]), cli_bench_percent(row->share, cell[4]),
           cli_bench_number(row->megabytes, cell[5]), cli_bench_number(row->multiple, cell[6]),
           cli_bench_number(row->ratio, (char[CLI_BENCH_NUMBER]){0}));
}

void cli_bench_print_report(const cli_bench_table *table) {
    cli_bench_write_machine(stdout, &table->machine, "");
    printf("median of %lld run%s, the least and the most%s\n\n", (long long)table->options->runs,
           table->options->runs == 1 ? "" : "s",
           table->options->quick ? "; --quick: shapes too small to mean anything" : "");
    printf("%-15s %-31s %9s %9s %9s %8s %6s %7s %6s %7s\n", "work", "", "ms", "least", "most", "GFLOP/s", "share", "MB",
           "data", "ratio");
    cli_bench_each_row(table, print_row, NULL);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

json_t *cli_bench_real(double value) {
    return isnan(value) ? json_null() : json_real(value);
}

json_t *cli_bench_machine_json(const cli_bench_machine *m) {
    return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:b}", "processor", m->processor, "cores",
                     m->cores, "threads", m->threads, "instructions", m->instructions, "compiler", m->compiler,
                     "version", TS_VERSION, "date", m->date, "peak_gflops_one_thread", m->peak_one, "peak_gflops",
                     m->peak, "bandwidth_gb_one_thread", m->bandwidth_one, "bandwidth_gb", m->bandwidth,
                     "cores_are_shared", cli_bench_shares_cores(m));
}

static json_t *time_json(const cli_bench_summary *time, double megabytes, double multiple) {
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "runs", time->count, "median_ms", cli_bench_real(time->median),
                     "least_ms", cli_bench_real(time->least), "most_ms", cli_bench_real(time->most), "peak_megabytes",
                     cli_bench_real(megabytes), "multiple_of_data", cli_bench_real(multiple));
}

static json_t *rival_json(const cli_bench_rival *v, int result) {
    const bool there = v->state == CLI_BENCH_MEASURED;
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", v->peer->name, "state",
                               there ? "measured" : cli_bench_state_text(v->state), "version", v->version);
    json_t *numbers = there ? time_json(&v->time, v->peak, v->multiple) : NULL;
    if (numbers != NULL) json_object_update(object, numbers);
    if (there) json_object_set_new(object, "ratio", cli_bench_real(v->ratio[result]));
    json_decref(numbers);
    return object;
}

static json_t *result_json(const cli_bench_group *g, int i) {
    const cli_bench_result *r = &g->result[i];
    char what[CLI_BENCH_TEXT];
    json_t *peers = json_array();
    json_t *object = time_json(&r->time, r->peak, r->multiple);
    for (int p = 0; p < g->rivals; p++) json_array_append_new(peers, rival_json(&g->rival[p], i));
    json_object_set_new(object, "work", json_string(g->work));
    json_object_set_new(object, "what", json_string(cli_bench_what(r->item, r->shape, what)));
    json_object_set_new(object, "gflops", cli_bench_real(r->gflops));
    json_object_set_new(object, "share_of_peak", cli_bench_real(r->peak_share));
    json_object_set_new(object, "peers", peers);
    return object;
}

bool cli_bench_print_object(json_t *object) {
    const bool done = object != NULL && json_dumpf(object, stdout, JSON_REAL_PRECISION(9)) == 0;
    json_decref(object);
    if (done) putchar('\n');
    return done || ferror(stdout);
}

bool cli_bench_print_json(const cli_bench_table *table) {
    json_t *works = json_array();
    for (int i = 0; i < table->groups; i++)
        for (int r = 0; r < table->group[i].results; r++)
            json_array_append_new(works, result_json(&table->group[i], r));
    return cli_bench_print_object(json_pack("{s:o, s:I, s:b, s:o}", "machine", cli_bench_machine_json(&table->machine),
                                            "runs", (json_int_t)table->options->runs, "quick", table->options->quick,
                                            "works", works));
}
