#include "trained.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/parallel.h"

void set_threads(int threads) {
    ts_parallel_cutoff = 1000; /* small work meets threads */
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

ts_train_options small(void) {
    ts_train_options o = ts_train_defaults();
    o.n = 32;
    o.d = 2;
    o.k = 3;
    o.batch = 4;
    o.steps = 20;
    o.eval_every = 3;
    o.eval_batches = 2;
    o.seed = test_seed();
    return o;
}

ts_trainer *make(const ts_train_options *o) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_trainer_create(o, &error);
    ck_assert_msg(t != NULL, "%s", error.text);
    return t;
}

ts_train_step step(ts_trainer *t) {
    ts_error error = {.status = TS_OK};
    ts_train_step report;
    ck_assert_msg(ts_trainer_step(t, &report, &error) == TS_OK, "%s", error.text);
    return report;
}

ts_train_test test(ts_trainer *t) {
    ts_error error = {.status = TS_OK};
    ts_train_test result;
    ck_assert_msg(ts_trainer_test(t, &result, &error) == TS_OK, "%s", error.text);
    return result;
}

void train_to(ts_trainer *t, int64_t end) {
    while (t->step < end) {
        step(t);
        if (t->step % t->options.eval_every > 0) continue;
        const ts_train_test result = test(t);
        ts_trainer_observe(t, &result);
    }
}

void save(const ts_trainer *t, const char *path) {
    ts_error error = {.status = TS_OK};
    ck_assert_msg(ts_checkpoint_write(t, path, &error) == TS_OK, "%s", error.text);
}

ts_trainer *resume(const char *path) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_checkpoint_resume(path, &error);
    ck_assert_msg(t != NULL, "%s", error.text);
    return t;
}

ts_train_options kind(int number) {
    ts_train_options o = small();
    o.schedule.patience = 0;
    o.schedule.cooldown = 2; /* so that stops find it cooling */
    if (number == 0) return o;
    o.unroll = 3;
    o.unroll_ramp = 0.7;
    o.loss.log = true;
    o.clip = 1;
    if (number == 1) {
        o.optimiser = ts_optimiser_defaults(TS_SGD);
        o.optimiser.momentum = 0.9;
        o.optimiser.nesterov = true;
        o.schedule = ts_schedule_defaults(TS_SCHEDULE_COSINE, 0.01, o.steps);
        o.schedule.warmup = 5;
        o.pool = 10;
        return o;
    }
    o.construction = TS_CONSTRUCTION_BINARY;
    o.optimiser = ts_optimiser_defaults(TS_ADAMW);
    o.loss.kind = TS_LOSS_SPARSEMIN;
    o.families = 2;
    o.family[1] = TS_FAMILY_GUMBEL;
    o.anisotropic = o.unequal = true;
    o.dropout = 0.1;
    o.seed = UINT64_MAX;
    return o;
}

ts_task_spec task_of(const ts_train_options *o, int64_t number) {
    return (ts_task_spec){.n = o->n,
                          .d = o->d,
                          .k = o->k,
                          .family = o->family[number % o->families],
                          .scale = o->component_scale,
                          .anisotropic = o->anisotropic,
                          .unequal = o->unequal};
}
