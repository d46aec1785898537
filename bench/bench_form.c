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

void cli_bench_put_machine(cli_json *json, const cli_bench_machine *m) {
    cli_json_put(json, "machine:{ processor:s cores:i threads:i instructions:s compiler:s version:s date:s",
                 m->processor, (int64_t)m->cores, (int64_t)m->threads, m->instructions, m->compiler, TS_VERSION,
                 m->date);
    cli_json_put(json, "peak_gflops_one_thread:f peak_gflops:f bandwidth_gb_one_thread:f bandwidth_gb:f", m->peak_one,
                 m->peak, m->bandwidth_one, m->bandwidth);
    cli_json_put(json, "cores_are_shared:b }", cli_bench_shares_cores(m));
}
