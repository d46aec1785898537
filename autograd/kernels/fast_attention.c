/* fast_attention.c: the tasks of fast attention and their division among threads (fast_attention.h). */
#include "fast_attention.h"

#include <math.h>
#include <string.h>

#include "../isa.h"
#include "../parallel.h"
#include "fast_attention_kernels.h"

static const ts_fast_kernels *const tables[TS_ISAS] = TS_ISA_TABLE(ts_fast_kernels);

static const ts_fast_kernels *kernels_in_use(void) {
    return tables[ts_isa_in_use()];
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

bool ts_fast_attention_takes(double gamma, double dropout) {
    return gamma > 1e-18 && gamma < 1e18 && dropout >= 0 && dropout < 1;
}

/* For each map: the unit of its scores, whether gamma matters, and whether its weights have a gradient. */
static const struct {
    double unit;
    bool scaled, slopes;
} rules[] = {
    [TS_FAST_SOFTMAX] = {.unit = 1.4426950408889634074, .scaled = true, .slopes = true}, /* log2(e) */
    [TS_FAST_SPARSEMAX] = {.unit = 1, .scaled = true, .slopes = true},
    [TS_FAST_HARDMAX] = {.unit = 1},
    [TS_FAST_LINEAR] = {.unit = 1, .slopes = true},
};

/* Sizes in ts_reals, each a multiple of 64 bytes. A slot holds what is prepared for one batch: centre, centred and
 * bias. After `slots` of them follow task.nonfinite, task.columns and task.means. */
typedef struct layout {
    int64_t centre, centred, bias, slot, slots, nonfinite, columns, means;
} layout;

static int64_t padded(int64_t reals) {
    return (reals + 15) / 16 * 16;
}

/* How many threads share a call: one when there is little work, or when every thread has a call of its own. */
static int64_t threads_for(const ts_fast_attention *a) {
    const double steps = (double)a->batches * (double)a->n * (double)a->m * (double)(a->e + a->f) / TS_VECTOR_STEPS;
    return ts_worth_parallel((int64_t)fmin(steps, 0x1p62)) ? ts_max_threads() : 1;
}

/* Whether there are enough batches to give each to one thread, which prepares it when its turn comes. */
static bool goes_by_batches(const ts_fast_attention *a, int64_t threads) {
    return threads == 1 || a->batches >= 4 * threads;
}

static layout layout_of(const ts_fast_attention *a, int64_t threads) {
    layout l = {.nonfinite = padded(a->batches),
                .columns = a->dropout > 0 ? padded(a->m) : 0}; /* a word is no larger than a ts_real */
    if (a->map == TS_FAST_SPARSEMAX && a->wants_grad) l.means = padded(a->batches * a->n);
    if (!a->euclidean) return l;
    l.centre = padded(a->e);
    l.centred = a->m * padded(a->e);
    l.bias = padded(a->m);
    l.slot = l.centre + l.centred + l.bias;
    l.slots = threads == 1 ? 1 : a->batches < 4 * threads ? a->batches : 4 * threads;
    return l;
}

size_t ts_fast_attention_scratch(const ts_fast_attention *a) {
    const int64_t threads = threads_for(a), work = kernels_in_use()->work(a) * threads;
    const layout l = layout_of(a, threads);
    return (size_t)(l.slots * l.slot + l.nonfinite + l.columns + l.means + work) * sizeof(ts_real);
}

/* A call in progress. */
typedef struct call {
    const ts_fast_attention *a;
    const ts_fast_kernels *kernels;
    ts_fast_task task;
    layout layout;
    ts_real *slots, *means, *work;
    int64_t work_size, blocks, threads;
    int64_t first, end; /* in backward, the current chunk of keys */
} call;

static call call_of(const ts_fast_attention *a, bool backward, ts_real *scratch) {
    const double factor = (a->euclidean ? 2 : 1) * (rules[a->map].scaled ? a->gamma : 1);
    call c = {.a = a, .kernels = kernels_in_use(), .slots = scratch, .threads = threads_for(a)};
    c.layout = layout_of(a, c.threads);
    c.work_size = c.kernels->work(a);
    c.blocks = ts_fast_blocks(c.kernels, a->n);
    c.task = (ts_fast_task){.a = a,
                            .score_scale = (ts_real)(factor * rules[a->map].unit),
                            .grad_scale = (ts_real)factor,
                            .whole = a->euclidean && a->map == TS_FAST_LINEAR,
                            .key_step = a->euclidean ? padded(a->e) : a->e,
                            .drops = a->dropout > 0,
                            .kept_share = (ts_real)(1 / (1 - a->dropout))};
    ts_real *const nonfinite = scratch + c.layout.slots * c.layout.slot, *const columns =
                                                                             nonfinite + c.layout.nonfinite;
    if (backward) c.task.nonfinite = nonfinite;
    c.means = columns + c.layout.columns;
    c.work = c.means + c.layout.means;
    if (!c.task.drops) return c;
    c.task.key = ts_drop_key_of(a->rng, a->dropout);
    c.task.columns = (uint32_t *)(void *)columns;
    for (int64_t j = 0; j < a->m; j++) c.task.columns[j] = ts_drop_word(c.task.key.column, j);
    return c;
}

/* The task for a batch whose keys are, or will be, prepared in this slot. */
static ts_fast_task task_in(const call *c, int64_t slot, int64_t batch) {
    ts_fast_task task = c->task;
    if (c->a->euclidean) {
        task.centre = c->slots + slot * c->layout.slot;
        task.centred = task.centre + c->layout.centre;
        task.bias = task.centred + c->layout.centred;
    }
    task.keys = c->a->euclidean ? task.centred : c->a->k + batch * c->a->m * c->a->e;
    task.values = c->a->v + batch * c->a->m * c->a->f;
    return task;
}

static ts_fast_task prepared(const call *c, int64_t slot, int64_t batch) {
    const ts_fast_task task = task_in(c, slot, batch);
    c->kernels->prepare(&task, batch);
    return task;
}

static int64_t my_place(const call *c) {
    return c->threads == 1 ? 0 : ts_thread();
}

static ts_real *my_work(const call *c) {
    return c->work + my_place(c) * c->work_size;
}

/* run(c, 0) .. run(c, items - 1), divided among the threads of the call. */
static void share(const call *c, int64_t items, ts_item_fn *run) {
    ts_for_each(items, c->threads == 1 ? 0 : INT64_MAX, run, c);
}

static void prepare_batch(const void *context, int64_t batch) {
    prepared(context, batch, batch);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static void forward_batch(const void *context, int64_t batch) {
    const call *c = context;
    const ts_fast_task task = prepared(c, my_place(c), batch);
    for (int64_t block = 0; block < c->blocks; block++) c->kernels->forward(&task, my_work(c), batch, block);
}

static void forward_block(const void *context, int64_t item) {
    const call *c = context;
    const int64_t batch = item / c->blocks;
    const ts_fast_task task = task_in(c, batch, batch);
    c->kernels->forward(&task, my_work(c), batch, item % c->blocks);
}

void ts_fast_attention_forward(const ts_fast_attention *a, void *scratch) {
    const call c = call_of(a, false, scratch);
    if (goes_by_batches(a, c.threads)) {
        share(&c, a->batches, forward_batch);
        return;
    }
    share(&c, a->batches, prepare_batch);
    share(&c, a->batches * c.blocks, forward_block);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

static int64_t chunk_end(const ts_fast_attention *a, int64_t first) {
    return a->m - first < TS_FAST_CHUNK ? a->m : first + TS_FAST_CHUNK;
}

static bool finds_means(const ts_fast_attention *a) {
    return a->map == TS_FAST_SPARSEMAX && (a->dq != NULL || a->dk != NULL);
}

/* One thread does a whole batch and computes the weights of its rows once for dq, dk and dv. */
static void backward_batch(const void *context, int64_t batch) {
    const call *c = context;
    const ts_fast_attention *a = c->a;
    const ts_fast_task task = prepared(c, my_place(c), batch);
    for (int64_t block = 0; block < c->blocks && task.means != NULL; block++)
        c->kernels->find_means(&task, my_work(c), batch, block);
    for (int64_t first = 0; first < a->m; first += TS_FAST_CHUNK)
        c->kernels->backward_keys(&task, my_work(c), batch, first, chunk_end(a, first), a->dq != NULL);
}

static void means_block(const void *context, int64_t item) {
    const call *c = context;
    const int64_t batch = item / c->blocks;
    const ts_fast_task task = task_in(c, batch, batch);
    c->kernels->find_means(&task, my_work(c), batch, item % c->blocks);
}

/* What the current chunk of keys adds to dq of a block of rows. */
static void rows_block(const void *context, int64_t item) {
    const call *c = context;
    const int64_t batch = item / c->blocks;
    const ts_fast_task task = task_in(c, batch, batch);
    c->kernels->backward_rows(&task, my_work(c), batch, item % c->blocks, c->first, c->end);
}

enum { PIECE = 128 };

static int64_t pieces_of(const call *c) {
    return (c->end - c->first + PIECE - 1) / PIECE;
}

/* dk and dv of one piece of the current chunk of keys. */
static void keys_piece(const void *context, int64_t item) {
    const call *c = context;
    const int64_t batch = item / pieces_of(c), from = c->first + item % pieces_of(c) * PIECE;
    const ts_fast_task task = task_in(c, batch, batch);
    c->kernels->backward_keys(&task, my_work(c), batch, from, c->end - from < PIECE ? c->end : from + PIECE, false);
}

/* With fewer batches than threads, the threads divide the rows, then the keys. This is done chunk by chunk, so that
 * every gradient is accumulated in the order of backward_batch, even if two of them are one array. */
static void backward_by_parts(call *c) {
    const ts_fast_attention *a = c->a;
    share(c, a->batches, prepare_batch);
    if (finds_means(a)) {
        c->task.means = c->means;
        share(c, a->batches * c->blocks, means_block);
    }
    for (c->first = 0; c->first < a->m; c->first = c->end) {
        c->end = chunk_end(a, c->first);
        if (a->dq != NULL) share(c, a->batches * c->blocks, rows_block);
        if (a->dk != NULL || a->dv != NULL) share(c, a->batches * pieces_of(c), keys_piece);
    }
}

void ts_fast_attention_backward(const ts_fast_attention *a, void *scratch) {
    ts_fast_attention own = *a;
    if (!rules[a->map].slopes) {
        if (a->fresh[0] && a->dq != NULL) memset(a->dq, 0, (size_t)(a->batches * a->n * a->e) * sizeof *a->dq);
        if (a->fresh[1] && a->dk != NULL) memset(a->dk, 0, (size_t)(a->batches * a->m * a->e) * sizeof *a->dk);
        own.dq = own.dk = NULL;
    }
    call c = call_of(&own, true, scratch);
    if (a->batches < c.threads) {
        backward_by_parts(&c);
        return;
    }
    if (finds_means(&own) && a->m > TS_FAST_CHUNK) c.task.means = c.means;
    share(&c, a->batches, backward_batch);
}
