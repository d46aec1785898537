/* trainer.h: training a clustering transformer, as create / step / test in the caller's hands.
 *
 *     ts_trainer *t = ts_trainer_create(&options, &error);
 *     while (t->step < t->options.steps) {
 *         ts_trainer_step(t, &report, &error);
 *         if (t->step % t->options.eval_every == 0) {
 *             ts_trainer_test(t, &result, &error);
 *             if (ts_trainer_observe(t, &result)) ... the best so far ...
 *         }
 *     }
 *     ts_trainer_free(t);
 *
 * A step draws `batch` tasks, takes each through the layer, the loss and back on one thread, and adds their gradients
 * in a binary tree that is fixed by the tasks' numbers: ((g0 + g1) + (g2 + g3)) + ... So the same bits come out however
 * the tasks are shared out, and data depend on (seed, step, task) alone. */
#ifndef TS_TRAINER_H
#define TS_TRAINER_H

#include "../models/run/learner.h"
#include "loss.h"
#include "optimiser.h"
#include "schedule.h"
#include "tasks.h"

typedef struct ts_train_options {
    /* the tasks (tasks.h); number t of a step is of family[t mod families] */
    int64_t n, d, k;
    int families;
    ts_family family[TS_FAMILIES];
    double component_scale;
    bool anisotropic, unequal;
    int64_t pool; /* 0: fresh tasks for ever; M > 0: M fixed ones in turn */
    /* the model (learner.h) */
    ts_scheme scheme;
    double gamma, dropout;
    /* what is made small, and how */
    ts_loss_spec loss;
    int64_t unroll;     /* re-embedded steps that a task is trained through; the loss is the mean over them */
    double unroll_ramp; /* in [0,1]: over this fraction of training they grow from 1 to unroll, each number as long */
    ts_optimiser_spec optimiser;
    ts_schedule_spec schedule;
    double clip; /* the largest norm of the gradient; 0: none */
    int64_t batch, steps;
    /* how it is watched: eval_batches * batch fixed tasks every eval_every steps */
    int64_t eval_every, eval_batches;
    uint64_t seed;
} ts_train_options;

/* The protocol of the papers: n 512, d 32, k 10, normal, one-hot, softmin with tau .1, Adam .01, plateau (.5, 5), batch
 * 32, 10000 steps, 10 batches every 50 steps, dropout .01. */
ts_train_options ts_train_defaults(void);
ts_status ts_train_check(const ts_train_options *options, ts_error *error); /* names what is wrong */

/* About how many bytes training takes, measured to within a third for runs of tens of megabytes and more: a task on
 * each thread, 4 n (22 e + unroll (10 e + 14 k)), e = d + code; parameters, moments, and the batch's gradients; and the
 * curves of validation. */
double ts_train_memory(const ts_train_options *options, int threads);

typedef struct ts_trainer {
    ts_train_options options;
    ts_definition definition;
    ts_transformer model;
    ts_optimiser *optimiser;
    ts_schedule schedule;
    int64_t step;       /* steps done */
    int64_t skipped;    /* of them without an update: the gradient was not finite, or too large for the optimiser */
    int64_t stuck;      /* the last ones in a row that were; not part of a checkpoint */
    double loss_sum;    /* of the steps since the last observation, */
    int64_t loss_count; /* and how many they are */
    double best;        /* the least relative validation loss; INFINITY at first */
    int64_t best_step;  /* and after which step */
    struct ts_trainer_work *work;
} ts_trainer;

ts_trainer *ts_trainer_create(const ts_train_options *options, ts_error *error);
void ts_trainer_free(ts_trainer *trainer); /* NULL is fine */

typedef struct ts_train_step {
    double loss; /* mean over the tasks */
    double norm; /* of the gradient, before clipping */
    double rate; /* learning rate */
    int64_t unroll;
    bool skipped; /* the gradient was not finite, or too large for the optimiser (ts_optimiser_step) */
} ts_train_step;

/* TS_ERROR_VALUE when a parameter is not finite after it, or so large that its square is not: the training diverged,
 * and the trainer is of no more use. */
ts_status ts_trainer_step(ts_trainer *trainer, ts_train_step *report, ts_error *error);

typedef struct ts_train_test {
    double objective; /* k-means objective after `unroll` learned steps, mean over the validation tasks */
    double relative;  /* mean of (objective after those) / (objective after as many of Lloyd's); < 1 beats Lloyd */
} ts_train_test;

/* Changes nothing in the trainer but its cache of Lloyd's objectives. */
ts_status ts_trainer_test(ts_trainer *trainer, ts_train_test *result, ts_error *error);

/* To be asked between test and observe: TS_ERROR_VALUE when training has come to nothing. That is when no step since
 * the last observation, and none of ten, could be taken; or, after the last of options.steps, when most could not, or
 * no validation loss was finite. */
ts_status ts_trainer_check(const ts_trainer *trainer, const ts_train_test *result, ts_error *error);

/* Tells the schedule, begins loss_sum anew, and remembers the best; whether this is it. */
bool ts_trainer_observe(ts_trainer *trainer, const ts_train_test *result);

/* For tools that measure: `observer` sees every op of the steps that follow (tape.h), called by each of the threads
 * that there are now, a task's ops in order on one of them. */
ts_status ts_trainer_watch(ts_trainer *trainer, ts_tape_observer *observer, void *context, ts_error *error);

/* Re-embedded steps that step number `step` (from 0) trains through. */
int64_t ts_train_unroll_at(const ts_train_options *options, int64_t step);

#endif
