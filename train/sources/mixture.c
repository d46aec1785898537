/* mixture.c: tasks of several sources, drawn with shares. */
#include <math.h>
#include <stdlib.h>

#include "../source.h"

typedef struct mixture {
    ts_source source;
    int count;
    ts_source *part[TS_MOST_PARTS];
    double end[TS_MOST_PARTS]; /* cumulative shares, of sum 1 */
} mixture;

static ts_status draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                      ts_task *out, ts_error *error) {
    const mixture *m = (const mixture *)(const void *)source;
    const double u = ts_rng_uniform((ts_rng){seed, ts_rng_stream("task source"), step}, task);
    int i = 0;
    while (i + 1 < m->count && u >= m->end[i]) i++;
    return ts_source_draw(m->part[i], seed, step, task, buffer, out, error);
}

static void release(ts_source *source) {
    mixture *m = (mixture *)(void *)source;
    for (int i = 0; i < m->count; i++) ts_source_free(m->part[i]);
    free(m);
}

static ts_bounds both(ts_bounds a, ts_bounds b) {
    return (ts_bounds){a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

static ts_status fill(mixture *m, int count, ts_source *const part[], const double share[], ts_error *error) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        if (part[i] == NULL) return ts_error_set(error, TS_ERROR_USAGE, "mixture: a part is NULL");
        if (!(share[i] > 0 && isfinite(share[i])))
            return ts_error_set(error, TS_ERROR_VALUE, "mixture: shares must be above 0 and finite, not %g", share[i]);
        sum += share[i];
    }
    for (int i = 0; i < count; i++) {
        const ts_source *p = part[i];
        m->end[i] = share[i] / sum + (i > 0 ? m->end[i - 1] : 0);
        m->source.n = i == 0 ? p->n : both(m->source.n, p->n);
        m->source.d = i == 0 ? p->d : both(m->source.d, p->d);
        m->source.k = i == 0 ? p->k : both(m->source.k, p->k);
    }
    return TS_OK;
}

ts_source *ts_source_mixture(int count, ts_source *const part[], const double share[], ts_error *error) {
    mixture *m = count >= 1 && count <= TS_MOST_PARTS ? calloc(1, sizeof *m) : NULL;
    if (m == NULL) {
        ts_error_set(error, TS_ERROR_VALUE, "mixture: %d parts; 1 to %d are possible", count, TS_MOST_PARTS);
        for (int i = 0; i < count; i++) ts_source_free(part[i]);
        return NULL;
    }
    m->source = (ts_source){.name = "mixture", .draw = draw, .free = release};
    m->count = count;
    for (int i = 0; i < count; i++) m->part[i] = part[i];
    if (fill(m, count, part, share, error) == TS_OK) return &m->source;
    release(&m->source);
    return NULL;
}
