/* 02_fit: a line, then a small network, fitted by gradient descent. Parameters live in one block outside the tape; the
 * tape is reset every step and reuses its memory. */
#include <math.h>
#include <stdio.h>

#include "../layers/linear.h"

enum { N = 64 };
static ts_real inputs[N], line_targets[N], sine_targets[N];

/* mean (prediction - target)^2 */
static ts_tensor *mean_squared_error(ts_tape *tape, ts_tensor *prediction, const ts_real *targets) {
    ts_tensor *error = ts_sub(tape, prediction, ts_borrow(tape, TS_SHAPE(N, 1), targets));
    return ts_mean(tape, ts_square(tape, error), TS_ALL_AXES, false);
}

static void descend(ts_params *params, double rate) {
    ts_real *values = ts_params_values(params), *grads = ts_params_grads(params);
    for (int64_t i = 0; i < ts_params_size(params); i++) values[i] -= (ts_real)rate * grads[i];
    ts_params_zero_grads(params);
}

static int fit_line(ts_tape *tape, ts_error *error) {
    ts_params *params = ts_params_create();
    ts_linear line;
    if (params == NULL || ts_linear_add(&line, params, "line", 1, 1, true, error) != TS_OK ||
        ts_params_allocate(params, 0, error) != TS_OK)
        return 1;
    for (int step = 0; step < 200; step++) {
        ts_tape_reset(tape);
        ts_tensor *x = ts_borrow(tape, TS_SHAPE(N, 1), inputs);
        ts_tensor *loss = mean_squared_error(tape, ts_linear_forward(&line, params, tape, x), line_targets);
        if (ts_backward(tape, loss) != TS_OK) return 1;
        descend(params, 0.1);
    }
    printf("line:     y = %.3f x + %.3f    (the data: y = 2 x - 1)\n", (double)ts_params_value(params, line.weight)[0],
           (double)ts_params_value(params, line.bias)[0]);
    ts_params_free(params);
    return 0;
}

static int fit_network(ts_tape *tape, ts_error *error) {
    ts_params *params = ts_params_create();
    ts_linear hidden, out;
    if (params == NULL || ts_linear_add(&hidden, params, "hidden", 1, 16, true, error) != TS_OK ||
        ts_linear_add(&out, params, "out", 16, 1, true, error) != TS_OK ||
        ts_params_allocate(params, 0, error) != TS_OK)
        return 1;
    for (int step = 0; step <= 4000; step++) {
        ts_tape_reset(tape);
        ts_tensor *x = ts_borrow(tape, TS_SHAPE(N, 1), inputs);
        ts_tensor *h = ts_tanh(tape, ts_linear_forward(&hidden, params, tape, x));
        ts_tensor *loss = mean_squared_error(tape, ts_linear_forward(&out, params, tape, h), sine_targets);
        if (ts_backward(tape, loss) != TS_OK) return 1;
        if (step % 1000 == 0) printf("network:  step %4d, mean squared error %.5f\n", step, (double)loss->data[0]);
        descend(params, 0.1);
    }
    ts_params_free(params);
    return 0;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        inputs[i] = (ts_real)(-1 + 2.0 * i / (N - 1));
        line_targets[i] = 2 * inputs[i] - 1;
        sine_targets[i] = (ts_real)sin(4 * (double)inputs[i]);
    }
    ts_error error = {.status = TS_OK};
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return 1;
    const int failed = fit_line(tape, &error) || fit_network(tape, &error);
    if (failed) fprintf(stderr, "%s\n", error.status != TS_OK ? error.text : ts_tape_error(tape));
    ts_tape_free(tape);
    return failed;
}
