/* bench_profile_report.h: profiles as text, JSON, CSV and Markdown: shares in percent, the largest ops first. */
#ifndef CLI_BENCH_PROFILE_REPORT_H
#define CLI_BENCH_PROFILE_REPORT_H

#include "bench_profile.h"

void cli_bench_profile_print(const cli_bench_options *options, const cli_bench_profile *profiles, int count);
/* false when out of memory */
bool cli_bench_profile_print_json(const cli_bench_options *options, const cli_bench_profile *profiles, int count);
bool cli_bench_profile_write_csv(const cli_bench_options *options, const cli_bench_profile *profiles, int count,
                                 ts_io_error *error);
bool cli_bench_profile_write_markdown(const cli_bench_options *options, const cli_bench_profile *profiles, int count,
                                      ts_io_error *error);

#endif
