/* schedule.h: the learning rate of each step.
 *
 * Steps count from 0. With w = warmup and T = total,
 *
 *     rate(step) = min(1, (step + 1) / w) * base(step)            base(step) if w = 0; step w - 1 is the first that
 *                                                                 warm-up does not reduce
 *     constant   base = rate
 *     cosine     base = floor + (rate - floor) (1 + cos(pi s)) / 2,  s = (step - w) / (T - w) clamped to [0,1]
 *                [Loshchilov & Hutter 2017, without restarts]; from step T on base = floor
 *     plateau    base = the current rate, which ts_schedule_observe lowers (ReduceLROnPlateau, smaller is better):
 *                a metric improves if metric < best - threshold |best|, or if it is the first below infinity; after
 * more than `patience` consecutive observations without improvement the rate becomes max(floor, factor rate), and the
 * next `cooldown` observations do not count
 *
 * With |best| instead of best the threshold demands an improvement for negative metrics, too. */
#ifndef TS_SCHEDULE_H
#define TS_SCHEDULE_H

#include "../autograd/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ts_schedule_kind { TS_SCHEDULE_CONSTANT, TS_SCHEDULE_COSINE, TS_SCHEDULE_PLATEAU } ts_schedule_kind;

enum { TS_SCHEDULES = 3 };

typedef struct ts_schedule_spec {
    ts_schedule_kind kind;
    double rate;      /* the largest rate: above 0 and finite */
    int64_t warmup;   /* steps: at least 0; cosine: below total */
    int64_t total;    /* cosine: total number of steps */
    double floor;     /* cosine, plateau: the smallest base, in [0, rate] */
    double factor;    /* plateau: in (0,1) */
    int64_t patience; /* plateau: observations, at least 0 */
    int64_t cooldown; /* plateau: observations, at least 0 */
    double threshold; /* plateau: in [0,1) */
} ts_schedule_spec;

/* Plain numbers that can be copied and stored. Only observations of plateau change the four below `spec`. */
typedef struct ts_schedule {
    ts_schedule_spec spec;
    double rate;     /* the current base of plateau; initially spec.rate */
    double best;     /* the last metric that was an improvement; initially INFINITY */
    int64_t waited;  /* consecutive observations without improvement, cooldown excluded */
    int64_t cooling; /* remaining observations of the cooldown */
} ts_schedule;

/* "constant", "cosine" or "plateau"; false for any other name. */
bool ts_schedule_by_name(const char *name, ts_schedule_kind *kind);
/* The name, or NULL if there is no such schedule. */
const char *ts_schedule_name(ts_schedule_kind kind);

/* No warm-up, floor 0. cosine: over `total` steps, which the others ignore. plateau: factor 0.1, patience 10, cooldown
 * 0, threshold 1e-4. */
ts_schedule_spec ts_schedule_defaults(ts_schedule_kind kind, double rate, int64_t total);

/* The schedule before its first step; TS_ERROR_VALUE names a wrong field. Fields of other kinds are ignored. */
ts_status ts_schedule_start(ts_schedule *schedule, const ts_schedule_spec *spec, ts_error *error);

/* The learning rate of a step, counted from 0. */
double ts_schedule_rate(const ts_schedule *schedule, int64_t step);

/* Reports a metric to plateau; NaN is no improvement. Returns whether the rate was lowered. Other kinds ignore it. */
bool ts_schedule_observe(ts_schedule *schedule, double metric);

#endif
