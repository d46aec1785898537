/* bench_work_attention.c: softmax attention as training uses it, forward or backward, of N queries over N keys. */
#include <stdlib.h>

#include "../autograd/kernels/fast_attention.h"
#include "../cli/common/progress.h"
#include "bench_work.h"

enum { ARRAYS = 9 };

typedef struct attention {
    ts_fast_attention call;
    ts_real *array[ARRAYS];
    void *scratch;
} attention;

static void release(void *work) {
    attention *a = work;
    for (int i = 0; i < ARRAYS; i++) free(a->array[i]);
    free(a->scratch);
    free(a);
}

/* Numbers in (-.5,.5), each array its own. */
static ts_real *numbers(int64_t count, uint32_t stream) {
    ts_real *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; x != NULL && i < count; i++)
        x[i] = (ts_real)(ts_rng_uniform((ts_rng){1, stream, 0}, (uint64_t)i) - 0.5);
    return x;
}

static void *prepare(const int64_t shape[CLI_BENCH_SHAPE], ts_error *error) {
    const int64_t n = shape[0], e = shape[1], b = shape[2];
    attention *a = calloc(1, sizeof *a);
    bool room = a != NULL;
    for (int i = 0; room && i < ARRAYS; i++) {
        a->array[i] = numbers(b * n * e, (uint32_t)i);
        room = a->array[i] != NULL;
    }
    if (room) {
        ts_real **x = a->array;
        a->call = (ts_fast_attention){
            .batches = b, .n = n, .m = n, .e = e, .f = e, .map = TS_FAST_SOFTMAX, .euclidean = true, .gamma = 0.2};
        a->call.dropout = 0.01 * (double)shape[3], a->call.wants_grad = true;
        a->call.q = x[0], a->call.k = x[1], a->call.v = x[2], a->call.y = x[3], a->call.dy = x[4];
        a->call.dq = x[5], a->call.dk = x[6], a->call.dv = x[7], a->call.stats = x[8]; /* 2 b n, and e >= 2 */
        a->scratch = aligned_alloc(64, (ts_fast_attention_scratch(&a->call) + 63) / 64 * 64);
        room = a->scratch != NULL;
    }
    if (room) return a;
    if (a != NULL) release(a);
    ts_error_set(error, TS_ERROR_MEMORY, "out of memory for attention");
    return NULL;
}

static ts_status forward(void *work, double *milliseconds, ts_error *error) {
    attention *a = work;
    const double began = cli_seconds();
    ts_fast_attention_forward(&a->call, a->scratch);
    *milliseconds = 1e3 * (cli_seconds() - began);
    return error->status;
}

static ts_status backward(void *work, double *milliseconds, ts_error *error) {
    attention *a = work;
    ts_fast_attention_forward(&a->call, a->scratch);
    const double began = cli_seconds();
    ts_fast_attention_backward(&a->call, a->scratch);
    *milliseconds = 1e3 * (cli_seconds() - began);
    return error->status;
}

const cli_bench_kind cli_bench_forward = {"forward", prepare, forward, release};
const cli_bench_kind cli_bench_backward = {"backward", prepare, backward, release};
