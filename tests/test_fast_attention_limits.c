/* The fast path of attention where numbers end: NaN and infinities, excluded keys, ties, scores that are large, and its
 * exponential. */
#include <string.h>

#define SIMD_BYTES 16
#include "../autograd/kernels/simd.h"
#include "attention_runs.h"

static void check_not_a_number(int map, int score, int which) {
    ts_tape_reset(tape);
    const ts_attention_spec spec = map_spec(map, score, 1, 0);
    ts_tensor *in[3] = {random_tensor(2, 70, 5, 0, "q"), random_tensor(2, 150, 5, 0, "k"),
                        random_tensor(2, 150, 3, 0, "v")};
    in[which]->data[66 * 5] = (ts_real)NAN; /* row 66, or for values 110 */
    ts_tensor *y = ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
    ck_assert_int_eq(ts_backward(tape, ts_sum(tape, y, TS_ALL_AXES, false)), TS_OK);
    for (int64_t i = 0; i < 140; i++)
        for (int64_t c = 0; c < 3; c++) {
            const bool nonfinite = which == 0 ? i == 66 : i < 70 && (which == 1 || c == 0);
            ck_assert_msg(isnan((double)y->data[i * 3 + c]) == nonfinite, "%s, score %d, input %d, row %d",
                          MAPS[map]->name, score, which, (int)i);
        }
    if (which == 0) ck_assert(all_nan(in[2]->grad, 150 * 3));
    if (which == 0 && MAPS[map]->backward != NULL) ck_assert(all_nan(in[0]->grad + 66 * 5, 5));
    if (which == 1 && MAPS[map]->backward != NULL) ck_assert(all_nan(in[0]->grad, 70 * 5));
    if (which > 0 && MAPS[map] == &ts_softmax_map)
        ck_assert(all_nan(in[0]->grad, 70 * 5) && all_nan(in[1]->grad, 150 * 5));
    ck_assert(!isnan((double)in[0]->grad[70 * 5]) && !isnan((double)in[2]->grad[150 * 3]));
}

/* NaN in a query spoils its row, in a key or value all rows of the batch; other rows and batches stay as they were. */
START_TEST(not_a_number_is_not_lost) {
    for (int isa = 0; isa < ISA_COUNT; isa++)
        for (int map = 0; map < MAP_COUNT && ts_isa_use(ISAS[isa]); map++)
            for (int score = 0; score < 2; score++)
                for (int which = 0; which < 3; which++) check_not_a_number(map, score, which);
}
END_TEST

/* Attention of 40 rows to 100 keys, of which `excluded` is seen by rows from `seen_from` on and has coordinates and
 * values of `junk`, as row 7 has, which sees nothing, and its dy. */
typedef struct masked_run {
    ts_tensor *q, *k, *v, *y;
} masked_run;

static masked_run run_masked(int map, int score, int64_t excluded, int64_t seen_from, double junk) {
    ts_tape_reset(tape);
    const ts_attention_spec spec = map_spec(map, score, 1, 0.1);
    const double offset = offset_of(map, score);
    masked_run r = {random_tensor(1, 40, 5, offset, "q"), random_tensor(1, 100, 5, offset, "k"),
                    random_tensor(1, 100, 3, 0, "v"), NULL};
    ts_tensor *mask = random_mask(1, 40, 100, ALL_SEEN), *dy = random_tensor(1, 40, 3, 0, "dy");
    for (int64_t i = 0; i < seen_from; i++) mask->data[i * 100 + excluded] = 0;
    memset(mask->data + 7 * 100, 0, 100 * sizeof(ts_real));
    for (int64_t c = 0; c < 5; c++) r.q->data[7 * 5 + c] = r.k->data[excluded * 5 + c] = (ts_real)junk;
    for (int64_t c = 0; c < 3; c++) dy->data[7 * 3 + c] = r.v->data[excluded * 3 + c] = (ts_real)junk;
    r.y = ts_attention(tape, r.q, r.k, r.v, mask, &spec);
    ck_assert_int_eq(ts_backward_from(tape, r.y, dy->data), TS_OK);
    return r;
}

/* What no row sees leaves no trace, and a row that sees nothing is zeros without gradient, whatever stands there. */
START_TEST(excluded_exactly) {
    static const double junk[] = {1, 1e30, INFINITY, NAN};
    for (int c = 0; c < ISA_COUNT * MAP_COUNT * 2 * 4; c++) {
        const int isa = c / (MAP_COUNT * 2 * 4), map = c / 8 % MAP_COUNT, score = c / 4 % 2;
        ts_real right[4][500];
        if (!ts_isa_use(ISAS[isa])) continue;
        masked_run r = run_masked(map, score, 63, 40, 0);
        memcpy(right[0], r.y->data, 40 * 3 * sizeof(ts_real));
        memcpy(right[1], r.q->grad, 40 * 5 * sizeof(ts_real));
        memcpy(right[2], r.k->grad, 100 * 5 * sizeof(ts_real));
        memcpy(right[3], r.v->grad, 100 * 3 * sizeof(ts_real));
        r = run_masked(map, score, 63, 40, junk[c % 4]);
        ck_assert_mem_eq(right[0], r.y->data, 40 * 3 * sizeof(ts_real));
        ck_assert_mem_eq(right[1], r.q->grad, 40 * 5 * sizeof(ts_real));
        ck_assert_mem_eq(right[2], r.k->grad, 100 * 5 * sizeof(ts_real));
        ck_assert_mem_eq(right[3], r.v->grad, 100 * 3 * sizeof(ts_real));
        ck_assert(all_zero(r.y->data + 7 * 3, 3) && all_zero(r.q->grad + 7 * 5, 5));
        ck_assert(all_zero(r.k->grad + 63 * 5, 5) && all_zero(r.v->grad + 63 * 3, 3));
    }
}
END_TEST

/* Rows that see a key of NaN are NaN, the others are not. */
START_TEST(not_excluded_by_all) {
    for (int c = 0; c < ISA_COUNT * MAP_COUNT * 2; c++) {
        if (!ts_isa_use(ISAS[c / (MAP_COUNT * 2)])) continue;
        const masked_run r = run_masked(c / 2 % MAP_COUNT, c % 2, 3, 20, NAN);
        for (int64_t i = 0; i < 40 * 3; i++) ck_assert(isnan((double)r.y->data[i]) == (i / 3 >= 20));
        for (int64_t i = 0; i < 20 * 5; i++) ck_assert(isfinite((double)r.q->grad[i]));
        ck_assert(all_nan(r.v->grad, 100 * 3));
    }
}
END_TEST

/* Excluded keys far away do not move the point that distances are taken about. */
START_TEST(padding_costs_no_precision) {
    ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0);
    ts_tensor *q = random_tensor(1, 30, 5, 1e4, "q"), *k = random_tensor(1, 90, 5, 1e4, "k");
    ts_tensor *v = random_tensor(1, 90, 3, 0, "v"), *mask = random_mask(1, 30, 90, ALL_SEEN);
    for (int64_t i = 0; i < 30 * 90; i++) mask->data[i] = i % 90 % 3 == 0;
    for (int64_t i = 0; i < 90 * 5; i++)
        if (i / 5 % 3 != 0) k->data[i] = 0;
    const ts_tensor *fast = ts_attention(tape, q, k, v, mask, &spec);
    spec.fast = false;
    const ts_tensor *exact = ts_attention(tape, q, k, v, mask, &spec);
    for (int64_t i = 0; i < 30 * 3; i++)
        ck_assert_double_eq_tol((double)fast->data[i], (double)exact->data[i], 8 * EPS);
}
END_TEST

/* So large that its square overflows. */
static const ts_real BIG = (ts_real)(sizeof(ts_real) == sizeof(double) ? 1e200 : 1e30);

/* y of n queries of one number, m keys and values, all of which it gives to `in`. */
static ts_tensor *attend(int map, int64_t n, const ts_real *q, int64_t m, const ts_real *k, const ts_real *v,
                         ts_tensor *in[3]) {
    const ts_attention_spec spec = map_spec(map, TS_SCORE_DOT, 1, 0);
    in[0] = ts_variable(tape, TS_SHAPE(n, 1), q);
    in[1] = ts_variable(tape, TS_SHAPE(m, 1), k);
    in[2] = ts_variable(tape, TS_SHAPE(m, 1), v);
    return ts_attention(tape, in[0], in[1], in[2], NULL, &spec);
}

START_TEST(scores_of_minus_infinity) {
    for (int c = 0; c < ISA_COUNT * MAP_COUNT; c++) {
        const int map = c % MAP_COUNT;
        const bool linear = MAPS[map] == &ts_linear_map;
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[c / MAP_COUNT])) continue;
        ts_tape_reset(tape);
        ts_tensor *y = attend(map, 2, (ts_real[]){BIG, 0}, 3, (ts_real[]){-BIG, -BIG, -BIG}, (ts_real[]){1, 2, 6}, in);
        ck_assert(y->data[0] == 0);                                           /* all are -inf: zeros, no gradient */
        ck_assert_double_eq_tol((double)y->data[1], linear ? 0 : 3, 8 * EPS); /* a linear row of zeros has no weights */
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1, 0}), TS_OK);
        for (int i = 0; i < 3; i++) ck_assert(all_zero(in[i]->grad, i == 0 ? 2 : 3));
        const ts_real keys[] = {-BIG, linear ? 1 / BIG : 0, -BIG}; /* one is not: it has all the weight */
        y = attend(map, 1, (ts_real[]){BIG}, 3, keys, (ts_real[]){1, 2, 6}, in);
        ck_assert_double_eq_tol((double)y->data[0], 2, 8 * EPS);
    }
}
END_TEST

/* Of linear scores those of +inf share the weight, wherever they are, and the row has no gradient; under other maps,
 * which take differences, they are NaN. */
START_TEST(scores_of_plus_infinity) {
    enum { KEYS = 200 };
    ts_real k[KEYS], v[KEYS];
    for (int j = 0; j < KEYS; j++) {
        v[j] = (ts_real)j, k[j] = (ts_real)(j % 7 == 0 ? -BIG : 1);
        if (j == 100 || j == 170) k[j] = BIG; /* after finite ones, and again after that */
    }
    for (int c = 0; c < ISA_COUNT * MAP_COUNT; c++) {
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[c / MAP_COUNT])) continue;
        ts_tape_reset(tape);
        ts_tensor *y = attend(c % MAP_COUNT, 1, (ts_real[]){BIG}, KEYS, k, v, in);
        ck_assert_int_eq(ts_backward_from(tape, y, (ts_real[]){1}), TS_OK);
        if (MAPS[c % MAP_COUNT] != &ts_linear_map) {
            ck_assert(isnan((double)y->data[0]));
            continue;
        }
        ck_assert(y->data[0] == 135 && all_zero(in[0]->grad, 1) && all_zero(in[1]->grad, KEYS));
        for (int j = 0; j < KEYS; j++) ck_assert(in[2]->grad[j] == (ts_real)(j == 100 || j == 170 ? 0.5 : 0));
    }
}
END_TEST

/* Equal keys have equal scores: they tie. */
START_TEST(ties_share) {
    for (int c = 0; c < ISA_COUNT * 2; c++) {
        if (!ts_isa_use(ISAS[c / 2])) continue;
        ts_tape_reset(tape);
        ts_attention_spec spec = fast_spec((ts_score)(c % 2), 0.7, 0);
        spec.simplex.map = &ts_hardmax_map;
        ts_tensor *q = random_tensor(1, 50, 7, 3, "q"), *k = random_tensor(1, 200, 7, 3, "k");
        ts_tensor *v = random_tensor(1, 200, 1, 0, "v");
        memcpy(k->data + 700, k->data, 700 * sizeof(ts_real));
        const ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        for (int64_t i = 0; i < 50; i++) {
            bool found = false;
            for (int64_t j = 0; j < 100; j++) found = found || y->data[i] == (v->data[j] + v->data[j + 100]) / 2;
            ck_assert_msg(found, "row %d", (int)i);
        }
    }
}
END_TEST

/* Scores so large that neighbouring numbers are more than 1 apart: the largest share the weight, which adds up to 1. */
START_TEST(sparsemax_of_large_scores) {
    static const double sizes[] = {1e7, 3e8, 1e20, 1e30};
    for (int c = 0; c < ISA_COUNT * 4; c++) {
        const ts_real x = (ts_real)(sizes[c % 4] * (sizeof(ts_real) == sizeof(double) ? 1e10 : 1)), one = 1;
        const ts_real up[] = {x, 0, x, -x}, down[] = {-x, -x, -x * 2, -x * 4};
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[c / 4])) continue;
        ts_tape_reset(tape);
        ck_assert(MAPS[1] == &ts_sparsemax_map);
        ck_assert(attend(1, 1, &one, 4, up, (ts_real[]){1, 9, 2, 9}, in)->data[0] == (ts_real)1.5);
        ck_assert(attend(1, 1, &one, 4, down, (ts_real[]){1, 2, 9, 9}, in)->data[0] == (ts_real)1.5);
    }
}
END_TEST

/* The gradient of sparsemax has no sum of weights in it, which is far from 1 where scores are large. */
START_TEST(sparsemax_gradient_of_large_scores) {
    const ts_real size = (ts_real)(sizeof(ts_real) == sizeof(double) ? 1e14 : 1e5), one = 1; /* t is between numbers */
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        ts_tensor *in[3];
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        const ts_real keys[] = {size, size + (ts_real)0.25, size + (ts_real)0.3125, size - 1};
        ts_tensor *y = attend(1, 1, &one, 4, keys, (ts_real[]){1, 2, 6, 50}, in);
        ck_assert_int_eq(ts_backward_from(tape, y, &one), TS_OK);
        const ts_real right[] = {-2, -1, 3, 0};
        ck_assert_mem_eq(in[1]->grad, right, sizeof right);
    }
}
END_TEST

/* A query that is a key is at distance 0 from it, not at a square below that. */
START_TEST(linear_weights_are_not_negative) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0);
        spec.simplex.map = &ts_linear_map;
        ts_tensor *x = random_tensor(1, 60, 7, 0, "q"), *v = ts_constant(tape, TS_SHAPE(1, 60, 60), NULL);
        for (int64_t i = 0; i < 60; i++) v->data[i * 61] = 1;
        const ts_tensor *weights = ts_attention(tape, x, x, v, NULL, &spec);
        for (int64_t i = 0; i < 60 * 60; i++) ck_assert(weights->data[i] >= 0);
    }
}
END_TEST

/* ---- the exponential --------------------------------------------------------------------------------------------- */

START_TEST(powers_of_two) {
    const bool is_double = sizeof(ts_real) == sizeof(double);
    const double lowest = is_double ? -1021 : -125, smallest = is_double ? DBL_MIN : (double)FLT_MIN;
    double worst = 0;
    for (int i = 0; i <= 400000; i++) {
        const ts_real x = (ts_real)(lowest * i / 400000);
        const double y = (double)vec_exp2(vec_all(x))[0];
        worst = fmax(worst, fabs(y / exp2((double)x) - 1));
    }
    ck_assert_msg(worst <= (is_double ? 5e-16 : 1.5e-7), "%g", worst);
    for (int i = 0; i < 4000; i++) { /* where normal numbers end */
        const double y = (double)vec_exp2(vec_all((ts_real)(lowest - i * 1e-3)))[0];
        ck_assert(y == 0 || y >= smallest);
        ck_assert(i < 1010 || y == 0);
    }
    ck_assert(vec_exp2(vec_all(0))[0] == 1 && vec_exp2(vec_all((ts_real)-INFINITY))[0] == 0);
    ck_assert(isnan((double)vec_exp2(vec_all((ts_real)NAN))[0]) && vec_exp2(vec_all(3))[0] == 8);
}
END_TEST

/* The same on every instruction set, from weights: y of values 0 and 1 is 2^x / (1 + 2^x) of scores 0 and x. */
START_TEST(powers_of_two_in_weights) {
    enum { COUNT = 100000 };
    const bool is_double = sizeof(ts_real) == sizeof(double);
    const ts_attention_spec spec = fast_spec(TS_SCORE_DOT, log(2), 0); /* scores are in units of ln 2 */
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        ts_tensor *q = ts_constant(tape, TS_SHAPE(COUNT, 1, 1), NULL),
                  *k = ts_constant(tape, TS_SHAPE(COUNT, 2, 1), NULL);
        ts_tensor *v = ts_constant(tape, TS_SHAPE(COUNT, 2, 1), NULL);
        for (int64_t i = 0; i < COUNT; i++)
            q->data[i] = 1, v->data[2 * i + 1] = 1, k->data[2 * i + 1] = (ts_real)-130 * (ts_real)i / COUNT;
        const ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        double worst = 0;
        for (int64_t i = 0; i < COUNT; i++) {
            const double right = exp2((double)k->data[2 * i + 1]) / (1 + exp2((double)k->data[2 * i + 1]));
            if (is_double || k->data[2 * i + 1] > -125) worst = fmax(worst, fabs((double)y->data[i] / right - 1));
            if (!is_double && k->data[2 * i + 1] < -126) ck_assert(y->data[i] == 0);
        }
        ck_assert_msg(worst <= (is_double ? 5e-16 : 1.5e-7) + 2 * EPS, "%s: %g", ISAS[isa], worst);
    }
}
END_TEST

int main(void) {
    TCase *tests = attention_case();
    tcase_add_test(tests, not_a_number_is_not_lost);
    tcase_add_test(tests, excluded_exactly);
    tcase_add_test(tests, not_excluded_by_all);
    tcase_add_test(tests, padding_costs_no_precision);
    tcase_add_test(tests, scores_of_minus_infinity);
    tcase_add_test(tests, scores_of_plus_infinity);
    tcase_add_test(tests, ties_share);
    tcase_add_test(tests, sparsemax_of_large_scores);
    tcase_add_test(tests, sparsemax_gradient_of_large_scores);
    tcase_add_test(tests, linear_weights_are_not_negative);
    tcase_add_test(tests, powers_of_two);
    tcase_add_test(tests, powers_of_two_in_weights);
    return run_case("limits of fast attention", tests);
}
