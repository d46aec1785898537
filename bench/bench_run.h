/* bench_run.h: the measurements of the table.
 *
 * The items of a work are processes that live as long as the work is measured; its peers come one after the other, for
 * a session each. A session has as many rounds as there are runs; in a round each item and the peer run once, in turned
 * order from round to round, so that what happens to the machine happens to all of them. */
#ifndef CLI_BENCH_RUN_H
#define CLI_BENCH_RUN_H

#include "bench_machine.h"
#include "bench_peer.h"
#include "bench_statistics.h"

/* What takes longer than so many seconds to warm up has fewer runs. */
enum { CLI_BENCH_SLOW_SECONDS = 2 };

enum { CLI_BENCH_ITEMS = 4, CLI_BENCH_SAMPLES = CLI_BENCH_PEERS * CLI_BENCH_MOST_RUNS };

/* Broken ones failed: child.text says why. */
typedef enum cli_bench_state { CLI_BENCH_ABSENT, CLI_BENCH_BROKEN, CLI_BENCH_MEASURED } cli_bench_state;

/* One of ours. Samples stand at session * runs + round; NAN: not measured. */
typedef struct cli_bench_result {
    const cli_bench_item *item;
    const int64_t *shape;
    cli_bench_state state;
    cli_bench_child child;
    int rounds; /* of a session that it takes part in */
    double ms[CLI_BENCH_SAMPLES], share[CLI_BENCH_SAMPLES];
    double before, peak; /* megabytes: before anything was prepared, and at most */
    cli_bench_summary time;
    double gflops, peak_share; /* NAN where useful work is not defined */
    double multiple;           /* of the data, of the megabytes that came; NAN where there are none */
} cli_bench_result;

/* One of theirs. */
typedef struct cli_bench_rival {
    const cli_bench_peer *peer;
    cli_bench_state state;
    cli_bench_child child;
    char version[CLI_BENCH_REASON];
    int rounds;
    double ms[CLI_BENCH_MOST_RUNS];
    double before, peak;
    cli_bench_summary time;
    double multiple;
    double ratio[CLI_BENCH_ITEMS]; /* its time over that of each of ours: the median over rounds */
} cli_bench_rival;

typedef struct cli_bench_group {
    const char *work;
    int results, rivals;
    cli_bench_result result[CLI_BENCH_ITEMS];
    cli_bench_rival rival[CLI_BENCH_PEERS];
} cli_bench_group;

typedef struct cli_bench_table {
    const cli_bench_options *options;
    cli_bench_machine machine;
    int groups;
    cli_bench_group *group; /* of the works chosen, in order */
} cli_bench_table;

/* CLI_DONE, or an exit code after saying why; free it in either case. A work that fails is a row that says so, and the
 * others go on. */
int cli_bench_run(const cli_bench_options *options, cli_bench_table *table);
/* CLI_DONE, or CLI_FAILED after saying which one of ours failed. */
int cli_bench_judge(const cli_bench_table *table);
void cli_bench_free(cli_bench_table *table);

/* How many runs are made of something whose first one took so long. */
int cli_bench_rounds(const cli_bench_options *options, double milliseconds);

#endif
