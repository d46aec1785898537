#include "op_runner.h"

#include "../autograd/gradcheck.h"
#include "../autograd/ops.h"

static int64_t append(double *results, int64_t at, const ts_real *values, int64_t n) {
    for (int64_t i = 0; i < n && at + i < OP_RUN_MAX; i++) results[at + i] = values == NULL ? 0 : (double)values[i];
    return at + n;
}

static int64_t run(ts_tape *tape, const ts_op *op, const ts_op_case *test, uint64_t seed, double *results) {
    ts_tensor *in[TS_CASE_INPUTS];
    for (int i = 0; i < test->n_in; i++) {
        in[i] = ts_variable(tape, test->in[i], NULL);
        if (ts_tape_status(tape) == TS_OK) ts_op_case_input(test, i, seed, in[i]->data);
    }
    ts_tensor *out = ts_apply(tape, op, test->attr, test->n_in, in);
    const int64_t size = ts_shape_size(&out->shape);
    ts_real *upstream = ts_tape_take(tape, (size_t)size * sizeof *upstream);
    if (upstream == NULL) return -3;
    const ts_rng rng = {seed, ts_rng_stream("upstream"), 0};
    for (int64_t i = 0; i < size; i++) upstream[i] = (ts_real)(float)(2 * ts_rng_uniform(rng, (uint64_t)i) - 1);
    int64_t at = append(results, 0, out->data, size);
    if (out->wants_grad && ts_backward_from(tape, out, upstream) != TS_OK) return -3;
    for (int i = 0; i < test->n_in; i++) at = append(results, at, in[i]->grad, ts_shape_size(&in[i]->shape));
    return at <= OP_RUN_MAX ? at : -3;
}

int64_t OP_RUNNER(int op, int test, uint64_t seed, double *results);

int64_t OP_RUNNER(int op, int test, uint64_t seed, double *results) {
    for (int i = 0; i <= op; i++)
        if (ts_ops[i] == NULL) return -2;
    for (int i = 0; i <= test; i++)
        if (ts_ops[op]->cases[i].label == NULL) return -1;
    const ts_op_case *one = &ts_ops[op]->cases[test];
    if (one->kind == TS_CASE_REFUSED) return 0;
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return -3;
    const int64_t n = run(tape, ts_ops[op], one, seed, results);
    ts_tape_free(tape);
    return n;
}
