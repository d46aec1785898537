/* verification.h: holds every variant, in every construction, against its plain algorithm, step by step, on a grid of
 * problems made to be hard: k = 1, k = n, k no power of two, d = 1, duplicates, exact and near ties, data far from the
 * origin, empty clusters.
 *
 * Where the layer can be streamed (streamed_layer.h) it is held op by op, so, and so on problems stated in double
 * (clustering.h), in lines that say which.
 *
 * At every step the labels must be equal, the centres within a bound, and what the algorithm makes small must not rise
 * where the theory says so. The bounds are stated in units of the rounding of ts_real, so the same table holds for the
 * library in float and in double. */
#ifndef TS_VERIFICATION_H
#define TS_VERIFICATION_H

#include "../definition/variants.h"

enum { TS_VERIFY_TEXT = 160 };

typedef struct ts_verify_result {
    char name[TS_VERIFY_TEXT];    /* "trimmed, binary, trim 0.1" */
    int64_t problems, steps;      /* compared */
    int64_t mismatches;           /* labels that differ, and no rounding excuses it */
    int64_t ties;                 /* labels that differ within the rounding of the scores; the plain algorithm then
                                     follows the circuit */
    double center_difference;     /* in units of the largest coordinate, where it came nearest to its bound; */
    double center_bound;          /* the bound */
    int64_t rises;                /* steps at which the objective rose; -1: the theory promises nothing */
    char failure[TS_VERIFY_TEXT]; /* the first thing that went wrong, "" if nothing did */
} ts_verify_result;

/* How many lines there are. */
int ts_verify_count(void);

/* Runs line `i` on the grid, or on a few of its problems if quick. False when memory is short. Deterministic by `seed`.
 */
bool ts_verify_run(int i, bool quick, uint64_t seed, ts_verify_result *result);

#endif
