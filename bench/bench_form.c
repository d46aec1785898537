#include "bench_form.h"

#include <math.h>

const char *cli_bench_number(double value, char text[CLI_NUMBER_TEXT]) {
    const double size = fabs(value);
    text[0] = '\0';
    if (!isnan(value))
        snprintf(text, CLI_NUMBER_TEXT, size < 1 ? "%.3g" : size < 10 ? "%.2f" : size < 100 ? "%.1f" : "%.0f", value);
    return text;
}

const char *cli_bench_percent(double share, char text[CLI_NUMBER_TEXT]) {
    text[0] = '\0';
    if (!isnan(share)) snprintf(text, CLI_NUMBER_TEXT, "%.0f%%", 100 * share);
    return text;
}

json_t *cli_bench_real(double value) {
    return isnan(value) ? json_null() : json_real(value);
}

/* ---- the machine ---- */

/* "peak 164 GFLOP/s on 1 thread, 321 on 2" */
static void write_rates(FILE *stream, const char *what, double one, double all, const char *unit, int threads) {
    char text[CLI_NUMBER_TEXT];
    if (isnan(one)) {
        fprintf(stream, "%s not measured", what);
        return;
    }
    fprintf(stream, "%s %s %s on 1 thread", what, cli_bench_number(one, text), unit);
    if (threads > 1) fprintf(stream, ", %s on %d", isnan(all) ? "not measured" : cli_bench_number(all, text), threads);
}

void cli_bench_write_machine(FILE *stream, const cli_bench_machine *m, const char *mark) {
    fprintf(stream, "%s%s, %lld core%s; tessera %s on %lld thread%s", mark, m->processor, CLI_COUNT(m->cores),
            TS_VERSION, CLI_COUNT(m->threads));
    if (m->asked > m->threads) fprintf(stream, " (%d were asked for)", m->asked);
    fprintf(stream, ", %s, %s; %s\n%s", m->instructions, m->compiler, m->date, mark);
    write_rates(stream, "peak of multiply-adds", m->peak_one, m->peak, "GFLOP/s", m->threads);
    write_rates(stream, "; memory", m->bandwidth_one, m->bandwidth, "GB/s", m->threads);
    fputc('\n', stream);
    if (cli_bench_shares_cores(m))
        fprintf(stream, "%swarning: %d threads reach %.2f times the peak of one: other work shares the cores\n", mark,
                m->threads, m->peak / m->peak_one);
}

json_t *cli_bench_machine_json(const cli_bench_machine *m) {
    return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "processor", m->processor, "cores",
                     m->cores, "threads", m->threads, "instructions", m->instructions, "compiler", m->compiler,
                     "version", TS_VERSION, "date", m->date, "peak_gflops_one_thread", cli_bench_real(m->peak_one),
                     "peak_gflops", cli_bench_real(m->peak), "bandwidth_gb_one_thread",
                     cli_bench_real(m->bandwidth_one), "bandwidth_gb", cli_bench_real(m->bandwidth), "cores_are_shared",
                     cli_bench_shares_cores(m));
}
