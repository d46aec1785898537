/* schedule.h: the learning rate of each step.
 *
 * Steps count from 0. With w = warmup and T = total,
 *
 *     rate(step) = min(1, (step + 1) / w) * base(step)            1 * base(step) when w is 0: step w - 1 is the first
 *                                                                 that is not slowed down
 *     constant   base = rate
 *     cosine     base = floor + (rate - floor) (1 + cos(pi s)) / 2,  s = (step - w) / (T - w) kept within [0,1]
 *                [Loshchilov & Hutter 2017, without restarts]; from step T on it is floor
 *     plateau    base = the current rate, which ts_schedule_observe lowers (ReduceLROnPlateau, smaller is better):
 *                a metric improves when metric < best - threshold |best|, or is the first that is below infinity; after
 *                more than `patience` observations in a row without improvement the rate becomes
 *                max(floor, factor rate), and the next `cooldown` observations are not counted against it
 *
 * |best|, not best: the threshold asks for something better, not something worse, when metrics are negative too. */
#ifndef TS_SCHEDULE_H
#define TS_SCHEDULE_H

#include "../autograd/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ts_schedule_kind { TS_SCHEDULE_CONSTANT, TS_SCHEDULE_COSINE, TS_SCHEDULE_PLATEAU } ts_schedule_kind;

enum { TS_SCHEDULES = 3 };

typedef struct ts_schedule_spec {
    ts_schedule_kind kind;
    double rate;      /* the largest: above 0 and finite */
    int64_t warmup;   /* steps: at least 0; cosine: below total */
    int64_t total;    /* cosine: steps in all */
    double floor;     /* cosine, plateau: the smallest base, in [0, rate] */
    double factor;    /* plateau: in (0,1) */
    int64_t patience; /* plateau: observations, at least 0 */
    int64_t cooldown; /* plateau: observations, at least 0 */
    double threshold; /* plateau: in [0,1) */
} ts_schedule_spec;

/* Plain numbers: copy it, store it. The four below `spec` change with plateau's observations only. */
typedef struct ts_schedule {
    ts_schedule_spec spec;
    double rate;     /* the current base of plateau; spec.rate at first */
    double best;     /* the smallest metric that counted as improvement; INFINITY at first */
    int64_t waited;  /* observations without improvement in a row, those of the cooldown left out */
    int64_t cooling; /* observations of the cooldown still to come */
} ts_schedule;

/* "constant", "cosine", "plateau"; false when it is none of them. */
bool ts_schedule_by_name(const char *name, ts_schedule_kind *kind);
/* The name, or NULL when there is no such schedule. */
const char *ts_schedule_name(ts_schedule_kind kind);

/* No warm-up, floor 0. cosine: over `total` steps, which the others ignore. plateau: factor 0.1, patience 10, cooldown
 * 0, threshold 1e-4. */
ts_schedule_spec ts_schedule_defaults(ts_schedule_kind kind, double rate, int64_t total);

/* The schedule before its first step; TS_ERROR_VALUE with the field that is wrong. Fields of other kinds are ignored.
 */
ts_status ts_schedule_start(ts_schedule *schedule, const ts_schedule_spec *spec, ts_error *error);

double ts_schedule_rate(const ts_schedule *schedule, int64_t step);

/* Tells plateau about a metric; NaN is no improvement. Returns whether the rate went down. The others ignore it. */
bool ts_schedule_observe(ts_schedule *schedule, double metric);

#endif
