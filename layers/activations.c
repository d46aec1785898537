/* activations.c: the list of activations. */
#include "activations.h"

static const ts_activation functions[] = {ts_relu, ts_relu_squared, ts_tanh, ts_sigmoid};
enum { COUNT = sizeof functions / sizeof *functions };
const char *const ts_activation_words[] = {"relu", "relu_squared", "tanh", "sigmoid", NULL};

ts_activation ts_activation_at(int place) {
    return functions[place];
}

int ts_activation_place(ts_activation activation) {
    for (int i = 0; i < COUNT; i++)
        if (functions[i] == activation) return i;
    return -1;
}
