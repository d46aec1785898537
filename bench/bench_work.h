/* bench_work.h: what `tessera bench` measures: a table of works, and how each is done.
 *
 * A work has one or more items, which are measured side by side. An item is a kind of computation and the four whole
 * numbers of its shape; it is done in a process of its own (bench_serve.h), so that its peak memory is its own. */
#ifndef CLI_BENCH_WORK_H
#define CLI_BENCH_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../autograd/status.h"

enum { CLI_BENCH_SHAPE = 4, CLI_BENCH_TEXT = 64 };

/* ---- doing ------------------------------------------------------------------------------------------------------- */

/* A kind of computation: "train" (N, D, K, B); "forward" and "backward" of attention (N, E, B, percent of dropout);
 * "exact" and "plain" (N, D, K). */
typedef struct cli_bench_kind {
    const char *name;
    void *(*prepare)(const int64_t shape[CLI_BENCH_SHAPE], ts_error *error); /* NULL with *error set */
    ts_status (*run)(void *work, double *milliseconds, ts_error *error);     /* one repetition */
    void (*release)(void *work);
} cli_bench_kind;

extern const cli_bench_kind cli_bench_train, cli_bench_forward, cli_bench_backward, cli_bench_exact, cli_bench_plain;

/* NULL when there is none of that name. */
const cli_bench_kind *cli_bench_kind_by_name(const char *name);

/* The operations that a repetition is useful for, however it computes; 0 where that is not defined:
 *
 *     train       B (14 E (N + K)^2 + 4 E^2 (7 N + 6 K) + 6 N K D),  E = D + K, the width of a token
 *     forward      4 B N^2 E
 *     backward    10 B N^2 E
 *
 * A product of attention of n rows over m is 2 n m E. There are two forward, scores and sums of values, and five
 * backward: the scores again, the gradients of weights, values, queries and keys. The four blocks of a layer attend N
 * over N, N over K, K over N and K over K, (N + K)^2 in all. A projection is 2 E^2 a row, the gradient of its matrix as
 * much, that of its input too where the input wants one. Of the points' six projections two read such an input (those
 * of x' to keys and values), 4 4 + 2 6 = 28; of the centres' six none, 6 4 = 24. The loss is 6 N K D. */
double cli_bench_flops(const cli_bench_kind *kind, const int64_t shape[CLI_BENCH_SHAPE]);

/* Bytes of the float data that a clustering step reads; 0 for other kinds. */
double cli_bench_data_bytes(const cli_bench_kind *kind, const int64_t shape[CLI_BENCH_SHAPE]);

/* What a process is asked to do one repetition: "run train 512 32 10 32". */
enum { CLI_BENCH_LINE = 160 };
const char *cli_bench_line(const char *name, const int64_t shape[CLI_BENCH_SHAPE], char line[CLI_BENCH_LINE]);

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct cli_bench_item {
    const char *work; /* "train-512"; items of a work stand together */
    const char *what; /* "backward"; NULL: "n = " and the first number of the shape */
    const cli_bench_kind *kind;
    int64_t shape[CLI_BENCH_SHAPE], quick[CLI_BENCH_SHAPE];
    bool has_peers; /* others do the same work (bench_peer.h), in memory that is there */
} cli_bench_item;

extern const cli_bench_item cli_bench_items[]; /* ending with a NULL work */
const char *cli_bench_what(const cli_bench_item *item, const int64_t *shape, char text[CLI_BENCH_TEXT]);

enum { CLI_BENCH_WORKS = 9, CLI_BENCH_TRAININGS = 4 };
extern const char *const cli_bench_works[CLI_BENCH_WORKS]; /* their names, in order; first the trainings */

#endif
