#include "fast_attention.h"

#include <math.h>

#include "fast_attention_kernels.h"
#include "isa.h"
#include "parallel.h"

static const ts_fast_kernels *const tables[TS_ISAS] = TS_ISA_TABLE(ts_fast_kernels);

static const ts_fast_kernels *kernels_in_use(void) {
    return tables[ts_isa_in_use()];
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

bool ts_fast_attention_takes(double gamma, double dropout) {
    return gamma > 1e-18 && gamma < 1e18 && dropout >= 0 && dropout < 1;
}

ts_drop_key ts_drop_key_of(ts_rng rng, double probability) {
    const uint64_t bits = ts_rng_bits(rng, 0);
    const double threshold = floor(probability * 0x1p32 + 0.5) - 0x1p31;
    return (ts_drop_key){.row = (uint32_t)bits,
                         .column = (uint32_t)(bits >> 32),
                         .threshold = (int32_t)fmin(fmax(threshold, INT32_MIN), INT32_MAX)};
}

/* Of each map: the unit of its scores, whether gamma matters to it, and whether weights have a gradient. */
static const struct {
    double unit;
    bool scaled, slopes;
} rules[] = {
    [TS_FAST_SOFTMAX] = {.unit = 1.4426950408889634074, .scaled = true, .slopes = true}, /* log2(e) */
    [TS_FAST_SPARSEMAX] = {.unit = 1, .scaled = true, .slopes = true},
    [TS_FAST_HARDMAX] = {.unit = 1},
    [TS_FAST_LINEAR] = {.unit = 1, .slopes = true},
};

/* Sizes in ts_reals, each a multiple of 64 bytes: of what is prepared of one batch, all of it a slot, for how many
 * batches there is room, of the words of dropout and of means. */
typedef struct layout {
    int64_t centre, centred, bias, values, slot, slots, columns, means;
} layout;

static int64_t padded(int64_t reals) {
    return (reals + 15) / 16 * 16;
}

/* With enough batches each is one thread's, which prepares it when its turn comes. */
static bool goes_by_batches(const ts_fast_attention *a) {
    return a->batches >= 4 * ts_max_threads();
}

static bool prepares_keys(const ts_fast_attention *a) {
    return a->euclidean || a->mask != NULL;
}

static layout layout_of(const ts_fast_attention *a) {
    layout l = {.columns = a->dropout > 0 ? padded(a->m) : 0}; /* a word is no larger than a ts_real */
    if (a->map == TS_FAST_SPARSEMAX && a->wants_grad) l.means = padded(a->batches * a->n);
    if (!prepares_keys(a)) return l;
    l.centre = padded(a->e);
    l.centred = a->m * padded(a->e);
    l.bias = padded(a->m);
    l.values = a->mask == NULL ? 0 : padded(a->m * a->f);
    l.slot = l.centre + l.centred + l.bias + l.values;
    l.slots = a->batches < 4 * ts_max_threads() ? a->batches : 4 * ts_max_threads();
    return l;
}

size_t ts_fast_attention_scratch(const ts_fast_attention *a) {
    const layout l = layout_of(a);
    const int64_t work = kernels_in_use()->work(a) * ts_max_threads();
    return (size_t)(l.slots * l.slot + l.columns + l.means + work) * sizeof(ts_real);
}

/* A call in progress. */
typedef struct call {
    const ts_fast_attention *a;
    const ts_fast_kernels *kernels;
    ts_fast_task task;
    layout layout;
    ts_real *slots, *means, *work;
    int64_t work_size, blocks;
} call;

static call call_of(const ts_fast_attention *a, ts_real *scratch) {
    const double factor = (a->euclidean ? 2 : 1) * (rules[a->map].scaled ? a->gamma : 1);
    call c = {.a = a, .kernels = kernels_in_use(), .layout = layout_of(a), .slots = scratch};
    c.work_size = c.kernels->work(a);
    c.blocks = ts_fast_blocks(c.kernels, a->n);
    c.task = (ts_fast_task){.a = a,
                            .score_scale = (ts_real)(factor * rules[a->map].unit),
                            .grad_scale = (ts_real)factor,
                            .whole = a->euclidean && a->map == TS_FAST_LINEAR,
                            .key_step = prepares_keys(a) ? padded(a->e) : a->e,
                            .drops = a->dropout > 0,
                            .kept_share = (ts_real)(1 / (1 - a->dropout))};
    ts_real *const columns = scratch + c.layout.slots * c.layout.slot;
    c.means = columns + c.layout.columns;
    c.work = c.means + c.layout.means;
    if (!c.task.drops) return c;
    c.task.key = ts_drop_key_of(a->rng, a->dropout);
    c.task.columns = (uint32_t *)(void *)columns;
    for (int64_t j = 0; j < a->m; j++) c.task.columns[j] = ts_drop_word(c.task.key.column, j);
    return c;
}

/* The task with the keys of a batch, prepared in, or to be prepared in, a slot. */
static ts_fast_task task_in(const call *c, int64_t slot, int64_t batch) {
    ts_fast_task task = c->task;
    if (prepares_keys(c->a)) {
        task.centre = c->slots + slot * c->layout.slot;
        task.centred = task.centre + c->layout.centre;
        task.bias = task.centred + c->layout.centred;
        task.own_values = task.bias + c->layout.bias;
    }
    task.keys = prepares_keys(c->a) ? task.centred : c->a->k + batch * c->a->m * c->a->e;
    task.values = c->a->mask != NULL ? task.own_values : c->a->v + batch * c->a->m * c->a->f;
    return task;
}

static ts_fast_task prepared(const call *c, int64_t slot, int64_t batch) {
    const ts_fast_task task = task_in(c, slot, batch);
    if (prepares_keys(c->a)) c->kernels->prepare(&task, batch);
    return task;
}

static ts_real *my_work(const call *c) {
    return c->work + ts_thread() * c->work_size;
}

static bool is_large(const ts_fast_attention *a) {
    return (double)a->batches * (double)a->n * (double)a->m * (double)(a->e + a->f) > TS_PARALLEL_CUTOFF;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static void forward_by_batches(const call *c) {
#pragma omp parallel for schedule(dynamic) if (is_large(c->a))
    for (int64_t batch = 0; batch < c->a->batches; batch++) {
        const ts_fast_task task = prepared(c, ts_thread(), batch);
        for (int64_t block = 0; block < c->blocks; block++) c->kernels->forward(&task, my_work(c), batch, block);
    }
}

static void forward_by_blocks(const call *c) {
#pragma omp parallel if (is_large(c->a))
    {
#pragma omp for schedule(dynamic)
        for (int64_t batch = 0; batch < c->a->batches; batch++) prepared(c, batch, batch);
#pragma omp for schedule(dynamic)
        for (int64_t item = 0; item < c->a->batches * c->blocks; item++) {
            const int64_t batch = item / c->blocks;
            const ts_fast_task task = task_in(c, batch, batch);
            c->kernels->forward(&task, my_work(c), batch, item % c->blocks);
        }
    }
}

void ts_fast_attention_forward(const ts_fast_attention *a, void *scratch) {
    const call c = call_of(a, scratch);
    if (goes_by_batches(a))
        forward_by_batches(&c);
    else
        forward_by_blocks(&c);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

static int64_t chunk_end(const ts_fast_attention *a, int64_t first) {
    return a->m - first < TS_FAST_CHUNK ? a->m : first + TS_FAST_CHUNK;
}

static bool finds_means(const ts_fast_attention *a) {
    return a->map == TS_FAST_SPARSEMAX && (a->dq != NULL || a->dk != NULL);
}

/* A batch is one thread's: the weights of its rows are computed once for dq, dk and dv. */
static void backward_by_batches(call *c) {
    const ts_fast_attention *a = c->a;
    if (finds_means(a) && a->m > TS_FAST_CHUNK) c->task.means = c->means;
#pragma omp parallel for schedule(dynamic) if (is_large(a))
    for (int64_t batch = 0; batch < a->batches; batch++) {
        const ts_fast_task task = prepared(c, ts_thread(), batch);
        for (int64_t block = 0; block < c->blocks && task.means != NULL; block++)
            c->kernels->find_means(&task, my_work(c), batch, block);
        for (int64_t first = 0; first < a->m; first += TS_FAST_CHUNK)
            c->kernels->backward_keys(&task, my_work(c), batch, first, chunk_end(a, first), a->dq != NULL);
    }
}

static void backward_means(const call *c) {
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < c->a->batches * c->blocks; item++) {
        const int64_t batch = item / c->blocks;
        const ts_fast_task task = task_in(c, batch, batch);
        c->kernels->find_means(&task, my_work(c), batch, item % c->blocks);
    }
}

/* What keys first .. end-1 add to dq: rows are shared out. */
static void backward_chunk_rows(const call *c, int64_t first, int64_t end) {
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < c->a->batches * c->blocks; item++) {
        const int64_t batch = item / c->blocks;
        const ts_fast_task task = task_in(c, batch, batch);
        c->kernels->backward_rows(&task, my_work(c), batch, item % c->blocks, first, end);
    }
}

/* dk and dv of keys first .. end-1, which are shared out. */
static void backward_chunk_keys(const call *c, int64_t first, int64_t end) {
    enum { PIECE = 128 };
    const int64_t pieces = (end - first + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < c->a->batches * pieces; item++) {
        const int64_t batch = item / pieces, from = first + item % pieces * PIECE;
        const ts_fast_task task = task_in(c, batch, batch);
        c->kernels->backward_keys(&task, my_work(c), batch, from, end - from < PIECE ? end : from + PIECE, false);
    }
}

/* With fewer batches than threads rows are shared out, then keys. Chunk by chunk, so that every gradient is added to in
 * the order of backward_by_batches, even if two of them are one array. */
static void backward_by_parts(call *c) {
    const ts_fast_attention *a = c->a;
#pragma omp parallel for schedule(dynamic)
    for (int64_t batch = 0; batch < a->batches; batch++) prepared(c, batch, batch);
    if (finds_means(a)) c->task.means = c->means, backward_means(c);
    for (int64_t first = 0; first < a->m; first += TS_FAST_CHUNK) {
        if (a->dq != NULL) backward_chunk_rows(c, first, chunk_end(a, first));
        if (a->dk != NULL || a->dv != NULL) backward_chunk_keys(c, first, chunk_end(a, first));
    }
}

void ts_fast_attention_backward(const ts_fast_attention *a, void *scratch) {
    ts_fast_attention own = *a;
    if (!rules[a->map].slopes) own.dq = own.dk = NULL;
    call c = call_of(&own, scratch);
    if (a->batches >= ts_max_threads() || !is_large(a))
        backward_by_batches(&c);
    else
        backward_by_parts(&c);
}
