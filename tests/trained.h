/* trained.h: small trainings, for the tests of the trainer, of evaluation and of checkpoints. */
#ifndef TESTS_TRAINED_H
#define TESTS_TRAINED_H

#include "../train/checkpoint.h"
#include "program.h"

void set_threads(int threads);

/* A problem of moments. */
ts_train_options small(void);

/* Trainings that between them have every kind of state: number 0, 1 or 2. */
enum { KINDS = 3 };
ts_train_options kind(int number);

/* The distribution that task `number` of a step is drawn from. */
ts_task_spec task_of(const ts_train_options *o, int64_t number);

/* Each of these succeeds, or the test ends. */
ts_trainer *make(const ts_train_options *o);
ts_train_step step(ts_trainer *t);
ts_train_test test(ts_trainer *t);
void save(const ts_trainer *t, const char *path);
ts_trainer *resume(const char *path);

/* As a program trains: with validation every few steps. */
void train_to(ts_trainer *t, int64_t end);

#endif
