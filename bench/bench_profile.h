/* bench_profile.h: `tessera bench --profile`: where the time of a training step goes.
 *
 * An observer on the tapes of the trainer (ts_trainer_watch) takes the time of every pass of every op. What lies
 * between passes is the tape's; what lies before the first op of a task is drawing it; what lies behind the last one of
 * the step is summing the gradients and the optimiser, of which the latter is timed alone as well; and a thread that is
 * done before the last one waits. The parts of all threads add up to the threads times the step. */
#ifndef CLI_BENCH_PROFILE_H
#define CLI_BENCH_PROFILE_H

#include "bench_form.h"
#include "bench_work.h"

enum { CLI_BENCH_PASSES = 2, CLI_BENCH_OPS = 64 }; /* forward, backward */

typedef enum cli_bench_part {
    CLI_BENCH_DRAW, /* tasks, and zeros for their gradients */
    CLI_BENCH_TAPE, /* nodes, memory, zeros for gradients of tensors */
    CLI_BENCH_WAIT, /* for the last task */
    CLI_BENCH_SUM,  /* gradients of the tasks */
    CLI_BENCH_STEP, /* the optimiser's */
    CLI_BENCH_PARTS
} cli_bench_part;
extern const char *const cli_bench_part_names[CLI_BENCH_PARTS];

/* Seconds of all threads in all runs. */
typedef struct cli_bench_profile {
    const char *work;
    int threads; /* that share the tasks out among them */
    int runs;
    double step; /* milliseconds, the mean */
    double total;
    int ops;
    const char *name[CLI_BENCH_OPS];
    double op[CLI_BENCH_OPS][CLI_BENCH_PASSES];
    double part[CLI_BENCH_PARTS];
} cli_bench_profile;

/* Of the works chosen. Those that fail are left out, and said why behind the report. */
typedef struct cli_bench_profiles {
    const cli_bench_options *options;
    int count, failures;
    cli_bench_profile profile[CLI_BENCH_TRAININGS];
    struct {
        const char *work;
        ts_error error;
    } failure[CLI_BENCH_TRAININGS];
} cli_bench_profiles;

void cli_bench_profile_run(const cli_bench_options *options, cli_bench_profiles *profiles);

/* CLI_DONE, or CLI_FAILED after saying what failed. */
int cli_bench_profile_judge(const cli_bench_profiles *profiles);

extern const cli_bench_report cli_bench_profile_report; /* of cli_bench_profiles: the largest ops first */

#endif
