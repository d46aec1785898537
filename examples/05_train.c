/* 05_train: a layer of attention learns to cluster. The loop is the caller's: create, step, test.
 *
 * Tasks are drawn anew for every step; the loss is a soft k-means objective of the centres that the layer makes of the
 * initial ones; the judge is one step of Lloyd's algorithm on tasks kept aside. Below 1 the layer is better. */
#include <stdio.h>

#include "../train/trainer.h"

int main(void) {
    ts_train_options options = ts_train_defaults();
    options.n = 64; /* points of a task, their coordinates, clusters */
    options.d = 2;
    options.k = 2;
    options.batch = 16;
    options.steps = 800;
    options.eval_every = 200;
    options.seed = 1;

    ts_error error = {.status = TS_OK};
    ts_trainer *trainer = ts_trainer_create(&options, &error);
    if (trainer == NULL) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%lld parameters\n", (long long)ts_params_size(trainer->model.params));
    while (trainer->step < options.steps) {
        ts_train_step step;
        ts_train_test test;
        if (ts_trainer_step(trainer, &step, &error) != TS_OK) break;
        if (trainer->step % options.eval_every != 0) continue;
        if (ts_trainer_test(trainer, &test, &error) != TS_OK) break;
        ts_trainer_observe(trainer, &test); /* the schedule lowers the rate when this no longer falls */
        printf("step %lld: loss %.3f, objective relative to a step of Lloyd's %.3f\n", (long long)trainer->step,
               step.loss, test.relative);
    }
    if (error.status != TS_OK) fprintf(stderr, "%s\n", error.text);
    const int failed = error.status != TS_OK;
    ts_trainer_free(trainer);
    return failed;
}
