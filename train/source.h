/* source.h: where the tasks of training come from.
 *
 *     families    mixtures of components (tasks.h), of any number of points, dimensions and clusters in given ranges;
 *                 task t is of family[t mod families]
 *     rows        random rows of the caller's data, without replacement and in random order, and random columns where
 *                 ranges want fewer; every column of a task is scaled to [0,1]
 *     nested      clusters of clusters (sources/nested.c), and others by name
 *     mixture     the one or the other of several, drawn with given shares
 *
 * and any of the caller's: a source is a struct of two functions. A task depends on (seed, step, task) alone, so
 * threads do not matter. The initial centres of a task are its first k rows. */
#ifndef TS_SOURCE_H
#define TS_SOURCE_H

#include "../layers/field.h"
#include "tasks.h"

typedef struct ts_task {
    int64_t n, d, k;
    const ts_real *points; /* [n,d], in the buffer */
} ts_task;

/* The memory of one thread. */
typedef struct ts_task_buffer {
    ts_real *points;
    void *room;
    size_t points_size, room_size; /* bytes */
} ts_task_buffer;
void ts_task_buffer_clear(ts_task_buffer *buffer);
/* Makes room for n rows of d numbers, and for so many bytes of workspace; false when out of memory. */
bool ts_task_buffer_fit(ts_task_buffer *buffer, int64_t n, int64_t d, size_t room);

typedef struct ts_bounds {
    int64_t least, most;
} ts_bounds;

typedef struct ts_source ts_source;
struct ts_source {
    const char *name;
    ts_bounds n, d, k; /* of all tasks */
    ts_status (*draw)(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                      ts_task *out, ts_error *error);
    void (*free)(ts_source *source); /* NULL: it is not on the heap */
    const void *context;             /* the caller's */
};

/* A task of the source, checked: 1 <= k <= n, d >= 1 and within its bounds. */
ts_status ts_source_draw(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                         ts_task *out, ts_error *error);
void ts_source_free(ts_source *source); /* NULL is fine */

typedef struct ts_families_spec {
    ts_bounds n, d, k;        /* uniform in whole numbers, n in its logarithm; k at most n */
    ts_bounds components;     /* 0: as many as clusters */
    double scale, scale_most; /* of components, uniform in its logarithm; scale_most 0: always `scale` */
    int families;
    ts_family family[TS_MOST_FAMILIES];
    bool anisotropic, unequal;
} ts_families_spec;
ts_source *ts_source_of_families(const ts_families_spec *spec, ts_error *error);

/* points [rows,columns] must outlive the source. n, d and k are cut to what the data have. */
ts_source *ts_source_of_rows(const ts_real *points, int64_t rows, int64_t columns, ts_bounds n, ts_bounds d,
                             ts_bounds k, ts_error *error);

/* Sources by name: a descriptor in a file of sources/. */
typedef struct ts_source_type {
    const char *name, *summary;
    const ts_field *fields;
    /* With tasks of these sizes; NULL with *error set. */
    ts_source *(*create)(ts_bounds n, ts_bounds d, ts_bounds k, const double *fields, ts_error *error);
} ts_source_type;
extern const ts_source_type *const ts_source_types[];           /* ending with NULL */
const ts_source_type *ts_source_type_by_name(const char *name); /* NULL: there is none */

/* Scales every column of points [n,d] to run from 0 to 1; one whose numbers are all equal becomes 0. */
void ts_scale_columns(int64_t n, int64_t d, ts_real *points);

/* A whole number of the range by a uniform u in (0,1), each as likely. */
int64_t ts_bounds_draw(ts_bounds range, double u);

/* Takes the parts, also if it fails. Shares are positive; they need not have the sum 1. */
enum { TS_MOST_PARTS = 8 };
ts_source *ts_source_mixture(int count, ts_source *const part[], const double share[], ts_error *error);

#endif
