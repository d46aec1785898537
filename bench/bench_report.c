#include "bench_report.h"

#include <math.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

const char *cli_bench_state_text(cli_bench_state state) {
    static const char *const names[] = {"not installed", "failed", "measured"};
    return names[state];
}

/* A row without the numbers that it has not got; or without a reason. */
static cli_bench_row only_measured(cli_bench_row row) {
    if (row.state == CLI_BENCH_MEASURED) {
        row.reason[0] = '\0';
        return row;
    }
    row.time = (cli_bench_summary){0, NAN, NAN, NAN};
    row.gflops = row.share = row.megabytes = row.multiple = row.ratio = NAN;
    return row;
}

static cli_bench_row row_of_ours(const cli_bench_group *g, int i) {
    const cli_bench_result *r = &g->result[i];
    char text[CLI_BENCH_TEXT];
    cli_bench_row row = {.work = g->work, .ours = true, .who = "tessera", .state = r->state, .ratio = NAN};
    snprintf(row.what, sizeof row.what, "%s", cli_bench_what(r->item, r->shape, text));
    snprintf(row.reason, sizeof row.reason, "%s", r->child.text);
    row.time = r->time, row.gflops = r->gflops, row.share = r->peak_share, row.megabytes = r->peak,
    row.multiple = r->multiple;
    return only_measured(row);
}

static cli_bench_row row_of_theirs(const cli_bench_group *g, int i, const cli_bench_rival *v) {
    cli_bench_row row = {.work = g->work, .who = v->peer->name, .state = v->state, .gflops = NAN, .share = NAN};
    char text[CLI_BENCH_TEXT];
    snprintf(row.what, sizeof row.what, "%s", cli_bench_what(g->result[i].item, g->result[i].shape, text));
    snprintf(row.reason, sizeof row.reason, "%s", v->state == CLI_BENCH_BROKEN ? v->child.text : "");
    row.time = v->time, row.megabytes = v->peak, row.multiple = v->multiple;
    row.ratio = g->result[i].state == CLI_BENCH_MEASURED ? v->ratio[i] : NAN;
    return only_measured(row);
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

/* "peak 164 GFLOP/s on 1 thread, 321 on 2" */
static void write_rates(FILE *stream, const char *what, double one, double all, const char *unit, int threads) {
    char text[CLI_BENCH_NUMBER];
    if (isnan(one)) {
        fprintf(stream, "%s not measured", what);
        return;
    }
    fprintf(stream, "%s %s %s on 1 thread", what, cli_bench_number(one, text), unit);
    if (threads > 1) fprintf(stream, ", %s on %d", isnan(all) ? "not measured" : cli_bench_number(all, text), threads);
}

void cli_bench_write_machine(FILE *stream, const cli_bench_machine *m, const char *mark) {
    fprintf(stream, "%s%s, %d core%s; tessera %s on %d thread%s", mark, m->processor, m->cores,
            m->cores == 1 ? "" : "s", TS_VERSION, m->threads, m->threads == 1 ? "" : "s");
    if (m->asked > m->threads) fprintf(stream, " (%d were asked for)", m->asked);
    fprintf(stream, ", %s, %s; %s\n%s", m->instructions, m->compiler, m->date, mark);
    write_rates(stream, "peak of multiply-adds", m->peak_one, m->peak, "GFLOP/s", m->threads);
    write_rates(stream, "; memory", m->bandwidth_one, m->bandwidth, "GB/s", m->threads);
    fputc('\n', stream);
    if (cli_bench_shares_cores(m))
        fprintf(stream, "%swarning: %d threads reach %.2f times the peak of one: other work shares the cores\n", mark,
                m->threads, m->peak / m->peak_one);
}

static void print_row(void *context, const cli_bench_row *row) {
    char cell[7][CLI_BENCH_NUMBER];
    (void)context;
    printf("%-15s %-31s", row->ours ? row->work : "", row->ours ? row->what : row->who);
    if (row->state != CLI_BENCH_MEASURED) {
        printf(" %s%s%s\n", cli_bench_state_text(row->state), row->reason[0] != '\0' ? ": " : "", row->reason);
        return;
    }
    printf(" %4d %9s %9s %9s %8s %6s %7s %6s %7s\n", row->time.count, cli_bench_number(row->time.median, cell[0]),
           cli_bench_number(row->time.least, cell[1]), cli_bench_number(row->time.most, cell[2]),
           cli_bench_number(row->gflops, cell[3]), cli_bench_percent(row->share, cell[4]),
           cli_bench_number(row->megabytes, cell[5]), cli_bench_number(row->multiple, cell[6]),
           cli_bench_number(row->ratio, (char[CLI_BENCH_NUMBER]){0}));
}

void cli_bench_print_report(const cli_bench_table *table) {
    cli_bench_write_machine(stdout, &table->machine, "");
    printf("median, least and most of the runs; ours counts those beside all its peers%s\n\n",
           table->options->quick ? "; --quick: shapes too small to mean anything" : "");
    printf("%-15s %-31s %4s %9s %9s %9s %8s %6s %7s %6s %7s\n", "work", "", "runs", "ms", "least", "most", "GFLOP/s",
           "share", "MB", "data", "ratio");
    cli_bench_each_row(table, print_row, NULL);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

json_t *cli_bench_real(double value) {
    return isnan(value) ? json_null() : json_real(value);
}

json_t *cli_bench_machine_json(const cli_bench_machine *m) {
    return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "processor", m->processor, "cores",
                     m->cores, "threads", m->threads, "instructions", m->instructions, "compiler", m->compiler,
                     "version", TS_VERSION, "date", m->date, "peak_gflops_one_thread", cli_bench_real(m->peak_one),
                     "peak_gflops", cli_bench_real(m->peak), "bandwidth_gb_one_thread",
                     cli_bench_real(m->bandwidth_one), "bandwidth_gb", cli_bench_real(m->bandwidth), "cores_are_shared",
                     cli_bench_shares_cores(m));
}

static json_t *time_json(const cli_bench_summary *time, double megabytes, double multiple) {
    return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "runs", time->count, "median_ms", cli_bench_real(time->median),
                     "least_ms", cli_bench_real(time->least), "most_ms", cli_bench_real(time->most), "peak_megabytes",
                     cli_bench_real(megabytes), "multiple_of_data", cli_bench_real(multiple));
}

static json_t *rival_json(const cli_bench_rival *v, double ratio) {
    const bool there = v->state == CLI_BENCH_MEASURED;
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "name", v->peer->name, "state", cli_bench_state_text(v->state),
                               "reason", v->state == CLI_BENCH_BROKEN ? v->child.text : "", "version", v->version);
    json_t *numbers = there ? time_json(&v->time, v->peak, v->multiple) : NULL;
    if (numbers != NULL) json_object_update(object, numbers);
    if (there) json_object_set_new(object, "ratio", cli_bench_real(ratio));
    json_decref(numbers);
    return object;
}

static json_t *result_json(const cli_bench_group *g, int i) {
    const cli_bench_row row = row_of_ours(g, i);
    json_t *peers = json_array();
    json_t *object = time_json(&row.time, row.megabytes, row.multiple);
    for (int p = 0; p < g->rivals; p++)
        json_array_append_new(peers, rival_json(&g->rival[p], row_of_theirs(g, i, &g->rival[p]).ratio));
    json_object_set_new(object, "work", json_string(row.work));
    json_object_set_new(object, "what", json_string(row.what));
    json_object_set_new(object, "state", json_string(cli_bench_state_text(row.state)));
    json_object_set_new(object, "reason", json_string(row.reason));
    json_object_set_new(object, "gflops", cli_bench_real(row.gflops));
    json_object_set_new(object, "share_of_peak", cli_bench_real(row.share));
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
