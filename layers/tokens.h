/* tokens.h: what the rows of points and of centres hold beside their data, and how groups of coordinates are named.
 *
 * A token is a row of e = d + s numbers: first the d data coordinates, then s others,
 *
 *     code     of a centre: its row of the code book M [k,c]; of a point: that of its cluster, 0 at first
 *     norm     construction dot only: the sum of the squared data coordinates, at first
 *     one      construction dot only: 1
 *     memory   as many numbers as a model wants; at first zeros, or random marks, by which points that are alike, or
 *              centres, can be told apart
 */
#ifndef TS_TOKENS_H
#define TS_TOKENS_H

#include "../autograd/ops.h"

/* What follows the data coordinates. */
typedef enum ts_construction {
    TS_CONSTRUCTION_ONEHOT, /* c = k, M = identity */
    TS_CONSTRUCTION_BINARY, /* c = ceil(log2 k), or 1 if k = 1; row j = the bits of j, least significant first */
    TS_CONSTRUCTION_NONE,   /* nothing */
    TS_CONSTRUCTION_DOT     /* a one-hot code, then the squared norm of the data coordinates, then a 1 */
} ts_construction;

extern const char *const ts_construction_names[]; /* "onehot", "binary", "none", "dot", NULL */
int64_t ts_construction_code_width(ts_construction construction, int64_t k);
int64_t ts_construction_width(ts_construction construction, int64_t k); /* of all that follows the data but memory */
void ts_construction_code_book(ts_construction construction, int64_t k, ts_real *book); /* [k,c] */

/* Groups of a token's coordinates, in their order in the token. */
typedef enum ts_group { TS_GROUP_DATA, TS_GROUP_CODE, TS_GROUP_NORM, TS_GROUP_ONE, TS_GROUP_MEMORY } ts_group;
enum { TS_GROUPS = TS_GROUP_MEMORY + 1 };
extern const char *const ts_group_names[]; /* "data", "code", "norm", "one", "memory", NULL */

/* Coordinates first .. first+count-1 of a group; count = 0: from `first` to the end of the group. */
typedef struct ts_range {
    ts_group group;
    int64_t first, count;
} ts_range;

/* The place of a range in a token: its first coordinate and its width. */
typedef struct ts_place {
    int64_t first, count;
} ts_place;

/* Tokens of a model, for any d and k. */
typedef struct ts_token_spec {
    ts_construction construction;
    int64_t memory;      /* its width; 0: none */
    double point_marks;  /* the memory of points begins as random numbers of this deviation (0: zeros) .. */
    double center_marks; /* .. and that of centres as numbers of this one */
} ts_token_spec;

/* The same for some d and k. */
typedef struct ts_layout {
    ts_token_spec spec;
    int64_t d, k;
    int64_t c; /* width of the code */
    int64_t s; /* of all that follows the data */
    int64_t e; /* of the token, d + s */
} ts_layout;

ts_layout ts_layout_of(const ts_token_spec *spec, int64_t d, int64_t k);

/* count = -1 if the range exceeds its group, or tokens do not have the group. */
ts_place ts_layout_place(const ts_layout *layout, const ts_range *range);
/* The same for tokens without memory. */
ts_place ts_range_place(const ts_range *range, ts_construction construction, int64_t d, int64_t k);

/* The cluster whose code is nearest to a token's code; the lowest number among equals. Tokens must have a code. */
int64_t ts_layout_decode(const ts_layout *layout, const ts_real *token);

/* One term of a fixed projection: scale * (the coordinates `from`) is written to the coordinates `to`, which are as
 * many, or one, which then receives their sum. */
typedef struct ts_copy {
    ts_range from, to;
    double scale;
} ts_copy;
enum { TS_MAX_COPIES = 4 };

#endif
