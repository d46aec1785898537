/* bench_work_train.c: one training step: drawing the tasks, forward, backward, the optimiser. */
#include "../cli/common/progress.h"
#include "../train/trainer.h"
#include "bench_work.h"

static void *prepare(const int64_t shape[CLI_BENCH_SHAPE], ts_error *error) {
    ts_train_options o = ts_train_defaults();
    o.n = shape[0], o.d = shape[1], o.k = shape[2], o.batch = shape[3];
    return ts_trainer_create(&o, error);
}

static ts_status run(void *work, double *milliseconds, ts_error *error) {
    ts_train_step report;
    const double began = cli_seconds();
    const ts_status status = ts_trainer_step(work, &report, error);
    *milliseconds = 1e3 * (cli_seconds() - began);
    return status;
}

static void release(void *work) {
    ts_trainer_free(work);
}

const cli_bench_kind cli_bench_train = {"train", prepare, run, release};
