/* rescaling.h: converts a table in the units of its file to the points that are clustered, and back.
 *
 *     x' = (x - shift) / scale,   with a shift and a scale for each column, in double
 *
 * Points are ts_real; centres and objectives are reported in the units of the file, whatever the scaling. */
#ifndef TS_RESCALING_H
#define TS_RESCALING_H

#include "clustering.h"

typedef enum ts_scaling {
    TS_SCALING_NONE, /* x' is x, except for changes that keep the clustering and save digits: a column farther from the
                        origin than 16 times its range (a constant one always) is shifted by its first value, and if the
                        squares of the data would leave the range of ts_real, ALL columns are divided by the same
                        power of two */
    TS_SCALING_MINMAX,   /* every column to [0,1]; a constant column to 0 */
    TS_SCALING_STANDARD, /* every column to mean 0 and population standard deviation 1; a constant column to 0 */
    TS_SCALING_COMMON,   /* every column shifted by its minimum, and all divided by the greatest range: within [0,1],
                            shapes kept [Park et al. 2026, appendix D] */
    TS_SCALING_UNSHIFTED /* as NONE, but no column is shifted: for algorithms that depend on the origin, such as
                            spherical k-means */
} ts_scaling;

typedef struct ts_rescaling {
    int64_t d;
    double *shift, *scale; /* [d], scale > 0 */
} ts_rescaling;

/* Chooses shift and scale for table [n,d], finite numbers, n >= 1. Refuses a column with magnitudes beyond 1e100, whose
 * objective would overflow. On failure *rescaling is zeroed. O(nd). */
ts_status ts_rescaling_fit(ts_scaling scaling, int64_t n, int64_t d, const double *table, ts_rescaling *rescaling,
                           ts_error *error);
void ts_rescaling_free(ts_rescaling *rescaling); /* harmless on a zeroed struct */

/* Converts an allocated table [n,d] into its points, also allocated: *points in ts_real and, if any of them is rounded,
 * *exact in double, else NULL. The table's memory is reused for one of them. False, with both NULL and the table freed,
 * if memory is short. */
bool ts_rescaling_convert(const ts_rescaling *rescaling, int64_t n, double *table, ts_real **points, double **exact);

/* What a column loses by rounding to ts_real: `lost` of its `distinct` different numbers become equal to another. */
typedef struct ts_column_loss {
    int64_t distinct, lost;
} ts_column_loss;

/* Writes losses[d]. False if memory is short. O(d n log n). */
bool ts_rescaling_losses(const ts_points *points, ts_column_loss *losses);

/* points [n,d] from table [n,d], in ts_real or in double (then both may be the same array); and back. */
void ts_rescaling_apply(const ts_rescaling *rescaling, int64_t n, const double *table, ts_real *points);
void ts_rescaling_apply_exactly(const ts_rescaling *rescaling, int64_t n, const double *table, double *points);
void ts_rescaling_invert(const ts_rescaling *rescaling, int64_t n, const double *points, double *table);

#endif
