/* train.h: all of training: tasks, losses, optimisers, schedules, the trainer, evaluation. (Checkpoints, which need
 * jansson, are in checkpoint.h.) */
#ifndef TS_TRAIN_H
#define TS_TRAIN_H

#include "evaluation.h"
#include "loss.h"
#include "optimiser.h"
#include "schedule.h"
#include "tasks.h"
#include "trainer.h"

#endif
