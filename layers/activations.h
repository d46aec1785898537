/* activations.h: the elementwise functions that feed-forward layers can use. */
#ifndef TS_ACTIVATIONS_H
#define TS_ACTIVATIONS_H

#include "../autograd/ops.h"

/* Any elementwise op of one input: ts_relu, ts_relu_squared, ts_tanh, or your own. */
typedef ts_tensor *(*ts_activation)(ts_tape *tape, ts_tensor *x);

extern const char *const ts_activation_words[];    /* "relu", "relu_squared", "tanh", "sigmoid", NULL */
ts_activation ts_activation_at(int place);         /* the function of a word */
int ts_activation_place(ts_activation activation); /* -1: it is none of them */

#endif
