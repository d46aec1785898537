/* trainer.h: trains a clustering transformer; the caller owns the loop of create, step and test.
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
 * A step draws `batch` tasks, runs the forward and backward pass of each on one thread, and adds their gradients in a
 * binary tree fixed by the tasks' numbers: ((g0 + g1) + (g2 + g3)) + .. So the result has the same bits however threads
 * share the tasks, and the data depend on (seed, step, task) alone. */
#ifndef TS_TRAINER_H
#define TS_TRAINER_H

#include "../models/definition/learner.h"
#include "../models/run/model_run.h"
#include "loss.h"
#include "optimiser.h"
#include "schedule.h"
#include "source.h"

enum { TS_FREEZE_TEXT = 256, TS_TRAIN_SOURCE_FIELDS = 8 };

/* Tasks that are not all alike. Where all is 0, tasks are as the options beside it say. */
typedef struct ts_train_source {
    int64_t n_most, d_most, k_most;      /* n, d, k are drawn from options.n to n_most, etc.; 0: there is no range */
    int64_t components, components_most; /* of families: other numbers than k; 0: k */
    double scale_most;                   /* component_scale is drawn up to this */
    const ts_real *data;                 /* [rows,columns]: tasks are random rows of it; must outlive the trainer */
    int64_t rows, columns;
    double data_share;                    /* the share of tasks that are of data, in (0,1]; 0 stands for 1: all */
    uint64_t data_mark;                   /* ts_train_data_mark, by which a run knows its data again */
    const ts_source_type *type;           /* by name, instead of families; NULL: none */
    double field[TS_TRAIN_SOURCE_FIELDS]; /* of it */
    const ts_source *own;                 /* the caller's source instead; must outlive the trainer */
} ts_train_source;
uint64_t ts_train_data_mark(const ts_real *data, int64_t rows, int64_t columns);

typedef struct ts_train_options {
    /* the tasks (tasks.h); number t of a step is of family[t mod families] */
    int64_t n, d, k;
    int families;
    ts_family family[TS_MOST_FAMILIES];
    double component_scale;
    bool anisotropic, unequal;
    ts_train_source source;
    int64_t pool; /* 0: every task is new; M > 0: M fixed tasks in turn */
    /* the model: an architecture, which the trainer copies; or NULL: that of the papers (learner.h) */
    const ts_architecture *architecture;
    ts_construction construction;
    double gamma, dropout;
    char freeze[TS_FREEZE_TEXT]; /* names of parameters, or how names begin, with commas between: not trained */
    /* the loss and its minimisation */
    ts_loss_spec loss;
    int64_t unroll;     /* layers applied in turn, with re-embedding; the loss is the mean over their results */
    double unroll_ramp; /* in [0,1]: during this fraction of training it grows from 1 to unroll in equal intervals */
    ts_optimiser_spec optimiser;
    ts_schedule_spec schedule;
    double clip; /* largest norm of the gradient; 0: no clipping */
    int64_t batch, steps;
    /* validation on eval_batches * batch fixed tasks, every eval_every steps */
    int64_t eval_every, eval_batches;
    uint64_t seed;
} ts_train_options;

/* The protocol of the papers: n 512, d 32, k 10, normal, one-hot, softmin with tau .1, Adam .01, plateau (.5, 5), batch
 * 32, 10000 steps, 10 batches every 50 steps, dropout .01. */
ts_train_options ts_train_defaults(void);
ts_status ts_train_check(const ts_train_options *options, ts_error *error); /* the error names a wrong option */

typedef struct ts_trainer {
    ts_train_options options;
    ts_model model;
    ts_optimiser *optimiser;
    ts_schedule schedule;
    int64_t step;       /* steps done */
    int64_t skipped;    /* those without an update: the gradient was not finite, or too large for the optimiser */
    int64_t stuck;      /* how many of the last steps in a row were skipped; not part of a checkpoint */
    double loss_sum;    /* sum of the losses of the steps since the last observation */
    int64_t loss_count; /* the number of these steps */
    double best;        /* the least relative validation loss; initially INFINITY */
    int64_t best_step;  /* the step after which it was reached */
    struct ts_trainer_work *work;
} ts_trainer;

/* NULL with *error set if an option is wrong or memory is short. */
ts_trainer *ts_trainer_create(const ts_train_options *options, ts_error *error);
void ts_trainer_free(ts_trainer *trainer); /* NULL is fine */

/* An estimate of the bytes that training takes with so many threads: the memory of one task, forward and backward,
 * which is measured by running it, for each task that is computed at once; parameters, moments and the batch's
 * gradients; and the validation curves. */
ts_status ts_trainer_memory(ts_trainer *trainer, int threads, double *bytes, ts_error *error);

/* Initial values from another model, before the first step: all parameters of the same name and shape. Fails if there
 * is none, or one of the same name has another shape. */
ts_status ts_trainer_start_from(ts_trainer *trainer, const ts_model *model, ts_error *error);
/* Learned projections of the papers' blocks begin as those of soft k-means, with the given gamma, so that the untrained
 * model is a circuit. Fails if the model has no such blocks. */
ts_status ts_trainer_start_as_construction(ts_trainer *trainer, double gamma, ts_error *error);

typedef struct ts_train_step {
    double loss; /* mean over the tasks */
    double norm; /* norm of the gradient before clipping */
    double rate; /* learning rate */
    int64_t unroll;
    bool skipped; /* the gradient was not finite, or too large for the optimiser (ts_optimiser_step) */
} ts_train_step;

/* One step. TS_ERROR_VALUE if a parameter, or its square, is not finite afterwards: training has diverged, and the
 * trainer must not be used further. */
ts_status ts_trainer_step(ts_trainer *trainer, ts_train_step *report, ts_error *error);

typedef struct ts_train_test {
    double objective; /* k-means objective after `unroll` learned steps, mean over the validation tasks */
    double relative;  /* mean of (that objective) / (objective after as many of Lloyd's steps); < 1 beats Lloyd */
} ts_train_test;

/* Runs validation. Changes nothing in the trainer except its cache of Lloyd's objectives. */
ts_status ts_trainer_test(ts_trainer *trainer, ts_train_test *result, ts_error *error);

/* Call it between test and observe: TS_ERROR_VALUE if training has failed. That is the case if all steps since the last
 * observation, and at least ten in a row, were skipped; or, after the last of options.steps, if most were skipped or no
 * validation loss was finite. */
ts_status ts_trainer_check(const ts_trainer *trainer, const ts_train_test *result, ts_error *error);

/* Reports the result to the schedule, resets loss_sum, and remembers the best result; returns whether this is it. */
bool ts_trainer_observe(ts_trainer *trainer, const ts_train_test *result);

/* For measuring tools: `observer` sees every op of later steps (ts_tape_observe). It is called by all current threads;
 * the ops of a task are called in order on one of them. */
ts_status ts_trainer_watch(ts_trainer *trainer, ts_tape_observer *observer, void *context, ts_error *error);

/* The value of unroll at step number `step`, counted from 0. */
int64_t ts_train_unroll_at(const ts_train_options *options, int64_t step);

#endif
