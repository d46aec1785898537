/* train.h: training of clustering transformers: tasks, losses, optimisers, the loop and its checkpoints.
 *
 * Nothing is here yet; models can be trained today with the engine alone, as examples/02_fit.c shows. The folder stands
 * so that the order of dependencies, autograd -> layers -> models -> train -> cli, is whole. */
#ifndef TS_TRAIN_H
#define TS_TRAIN_H

#include "../models/transformer.h"

#endif
