/* What attention drops of its weights: at the rate asked for, and independently. */
#include <math.h>

#include "../autograd/kernels/dropout_draws.h"
#include "test_main.h"

enum { ROWS = 300, COLUMNS = 700 };

/* |sum - mean| in standard deviations, for a count of `n` draws of probability p. */
static double deviations(int64_t count, int64_t n, double p) {
    return fabs((double)count - (double)n * p) / sqrt((double)n * p * (1 - p));
}

START_TEST(draws_have_their_rate) {
    static const double rates[] = {0.01, 0.1, 0.5, 0.9};
    for (int r = 0; r < 4; r++)
        for (uint32_t step = 0; step < 4; step++) {
            const ts_drop_key key = ts_drop_key_of((ts_rng){test_seed(), 1, step}, rates[r]);
            int64_t count = 0, in_row[ROWS] = {0}, in_column[COLUMNS] = {0};
            for (int64_t i = 0; i < ROWS; i++)
                for (int64_t j = 0; j < COLUMNS; j++)
                    if (ts_drop(key, i, j)) count++, in_row[i]++, in_column[j]++;
            ck_assert(deviations(count, ROWS * COLUMNS, rates[r]) < 5);
            for (int64_t i = 0; i < ROWS; i++) ck_assert(deviations(in_row[i], COLUMNS, rates[r]) < 7);
            for (int64_t j = 0; j < COLUMNS; j++) ck_assert(deviations(in_column[j], ROWS, rates[r]) < 7);
        }
    const ts_drop_key never = ts_drop_key_of((ts_rng){1, 1, 1}, 1e-12);
    const ts_drop_key nearly_always = ts_drop_key_of((ts_rng){1, 1, 1}, 1 - 1e-12);
    for (int64_t j = 0; j < 10000; j++) ck_assert(!ts_drop(never, 3, j) && ts_drop(nearly_always, 3, j));
}
END_TEST

/* Neighbours in a row, in a column, the same place at the next step, of another stream, of another batch (rows far
 * apart), and the four corners of rectangles, which an additive rule would tie together: each agrees half the time. */
START_TEST(draws_are_independent) {
    const ts_drop_key key = ts_drop_key_of((ts_rng){test_seed(), 1, 0}, 0.5);
    const ts_drop_key next = ts_drop_key_of((ts_rng){test_seed(), 1, 1}, 0.5);
    const ts_drop_key other = ts_drop_key_of((ts_rng){test_seed(), 2, 0}, 0.5);
    int64_t same[7] = {0};
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            const bool here = ts_drop(key, i, j), right = ts_drop(key, i, j + 1), below = ts_drop(key, i + 1, j);
            const bool across = ts_drop(key, i + 1, j + 1), far = ts_drop(key, i + ((int64_t)1 << 33), j);
            same[0] += here == right, same[1] += here == below, same[2] += here == across;
            same[3] += here == far, same[4] += (here ^ right) == (below ^ across);
            same[5] += here == ts_drop(next, i, j), same[6] += here == ts_drop(other, i, j);
        }
    for (int k = 0; k < 7; k++)
        ck_assert_msg(deviations(same[k], ROWS * COLUMNS, 0.5) < 5, "relation %d: %lld of %d", k, (long long)same[k],
                      ROWS * COLUMNS);
}
END_TEST

/* Any two rows have as many drops in common as chance gives: over all pairs the squared deviations average one. */
START_TEST(rows_are_independent_in_pairs) {
    const ts_drop_key key = ts_drop_key_of((ts_rng){test_seed(), 1, 0}, 0.5);
    static unsigned char drops[ROWS][COLUMNS];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) drops[i][j] = ts_drop(key, i, j);
    double squares = 0, largest = 0;
    for (int a = 0; a < ROWS; a++)
        for (int b = 0; b < a; b++) {
            int64_t same = 0;
            for (int j = 0; j < COLUMNS; j++) same += drops[a][j] == drops[b][j];
            const double d = deviations(same, COLUMNS, 0.5);
            squares += d * d, largest = fmax(largest, d);
        }
    ck_assert_double_eq_tol(squares / (ROWS * (ROWS - 1) / 2), 1, 0.05);
    ck_assert(largest < 6);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, draws_have_their_rate);
    tcase_add_test(tests, draws_are_independent);
    tcase_add_test(tests, rows_are_independent_in_pairs);
    return run_case("draws of dropout", tests);
}
