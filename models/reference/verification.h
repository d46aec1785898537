/* verification.h: compares every variant, in every construction, with its plain algorithm, step by step, on a grid of
 * deliberately hard problems: k = 1, k = n, k not a power of two, d = 1, duplicates, exact and near ties, data far from
 * the origin, empty clusters.
 *
 * A layer that can be streamed (streamed_layer.h) is compared op by op, streamed, and streamed on problems stated in
 * double (clustering.h), each in its own line.
 *
 * In every step the labels must be equal, the centres within a bound, and the objective must not rise where the theory
 * says so. The bounds are in units of the rounding of ts_real, so the same table holds for the library in float and in
 * double. */
#ifndef TS_VERIFICATION_H
#define TS_VERIFICATION_H

#include "../definition/variants.h"

enum { TS_VERIFY_TEXT = 160 };

typedef struct ts_verify_result {
    char name[TS_VERIFY_TEXT];    /* "trimmed, binary, trim 0.1" */
    int64_t problems, steps;      /* the numbers compared */
    int64_t mismatches;           /* labels that differ by more than rounding explains */
    int64_t ties;                 /* labels that differ within the rounding of the scores; the plain algorithm then
                                     adopts those of the runner */
    double center_difference;     /* in units of the largest coordinate, where it was nearest to its bound */
    double center_bound;          /* that bound */
    int64_t rises;                /* steps in which the objective rose; -1: the theory promises no descent */
    char failure[TS_VERIFY_TEXT]; /* the first thing that went wrong, "" if nothing did */
} ts_verify_result;

/* The number of lines. */
int ts_verify_count(void);

/* Runs line `i` on the grid, or on a few of its problems if quick. False if memory is short. The result depends on
 * `seed` alone. */
bool ts_verify_run(int i, bool quick, uint64_t seed, ts_verify_result *result);

#endif
