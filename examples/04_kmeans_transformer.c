/* 04_kmeans_transformer: Lloyd's algorithm as a transformer layer, written out with public calls.
 *
 * Tokens of points are [x | y], of centres [c | e_j]: a coordinate row and a scratch row. One layer is
 *     points  += erase old codes (self-attention, negated values) + codes of the nearest centres (cross-attention)
 *     centres += erase old places (self-attention)                + mean of the points that carry the code
 * and there is nothing else to it. models/definition/variants.c says the same as data. */
#include <stdio.h>

#include "../autograd/ops.h"

enum { N = 6, D = 2, K = 2, E = D + K };

/* Tokens with all but coordinates first .. first+count-1 multiplied by 0, and those by `scale`. */
static ts_tensor *project(ts_tape *tape, ts_tensor *tokens, int first, int count, ts_real scale) {
    ts_real diagonal[E] = {0};
    for (int c = first; c < first + count; c++) diagonal[c] = scale;
    return ts_mul(tape, tokens, ts_constant(tape, TS_SHAPE(E), diagonal));
}

int main(void) {
    const ts_real x[N][D] = {{0, 0}, {0, 1}, {1, 0}, {9, 9}, {9, 8}, {8, 9}};
    const ts_attention_spec nearest = {.score = TS_SCORE_EUCLIDEAN, .simplex = {.map = &ts_hardmax_map}, .gamma = 1};
    const ts_attention_spec average = {.score = TS_SCORE_DOT, .simplex = {.map = &ts_linear_map}, .gamma = 1};
    ts_real point_tokens[N][E] = {{0}}, center_tokens[K][E] = {{0}};
    for (int i = 0; i < N; i++)
        for (int c = 0; c < D; c++) point_tokens[i][c] = x[i][c];
    for (int j = 0; j < K; j++) {
        for (int c = 0; c < D; c++) center_tokens[j][c] = x[j][c]; /* the first two points: a poor start */
        center_tokens[j][D + j] = 1;
    }

    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return 1;
    ts_tensor *points = ts_constant(tape, TS_SHAPE(N, E), &point_tokens[0][0]);
    ts_tensor *centers = ts_variable(tape, TS_SHAPE(K, E), &center_tokens[0][0]);
    for (int step = 1; step <= 4; step++) {
        ts_tensor *stream = ts_add(tape, points, project(tape, points, D, K, -1));
        ts_tensor *codes = ts_attention(tape, project(tape, points, 0, D, 1), project(tape, centers, 0, D, 1),
                                        project(tape, centers, D, K, 1), NULL, &nearest);
        points = ts_add(tape, stream, codes);

        stream = ts_add(tape, centers, project(tape, centers, 0, D, -1));
        ts_tensor *means = ts_attention(tape, project(tape, centers, D, K, 1), project(tape, points, D, K, 1),
                                        project(tape, points, 0, D, 1), NULL, &average);
        centers = ts_add(tape, stream, means);
        if (ts_tape_error(tape) != NULL) break;
        printf("step %d: centres (%.3f, %.3f) and (%.3f, %.3f); codes", step, (double)centers->data[0],
               (double)centers->data[1], (double)centers->data[E], (double)centers->data[E + 1]);
        for (int i = 0; i < N; i++)
            printf(" %g%g", (double)points->data[i * E + D], (double)points->data[i * E + D + 1]);
        printf("\n");
    }
    if (ts_tape_error(tape) != NULL) fprintf(stderr, "%s\n", ts_tape_error(tape));
    const int failed = ts_tape_error(tape) != NULL;
    ts_tape_free(tape);
    return failed;
}
