/* The fast path of attention against attention written out, on problems of all sizes; its memory, its bits on any
 * number of threads, and where it does not apply. The gradients of the same sources in double are checked against
 * numeric ones by the generic op test (the cases named "fast"). */
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../autograd/kernels/fast_attention.h"
#include "attention_runs.h"

static const int NUMBERS[] = {1, 7, 16, 33, 42, 513, 1500}, WIDTHS[] = {1, 2, 7, 10, 16, 42, 48, 132};
enum { NUMBER_COUNT = 7, WIDTH_COUNT = 8 };

/* Every pair of numbers of queries and keys, with the rest in turn. */
START_TEST(numbers_of_queries_and_keys) {
    int turn = 0;
    for (int i = 0; i < NUMBER_COUNT; i++)
        for (int j = 0; j < NUMBER_COUNT; j++)
            for (int score = 0; score < 2; score++, turn++) {
                const bool large = NUMBERS[i] * NUMBERS[j] > 100000;
                problem p = {.b = large ? 1 : 1 + turn % 3, .n = NUMBERS[i], .m = NUMBERS[j]};
                p.e = large ? WIDTHS[turn % 4] : WIDTHS[turn % WIDTH_COUNT];
                p.f = large ? 3 : WIDTHS[turn * 3 % WIDTH_COUNT];
                p.spec = fast_spec((ts_score)score, turn % 5 == 0 ? 2 : 0.3, turn % 4 < 2 ? 0 : 0.1 * (turn % 4));
                check_problem(&p);
            }
}
END_TEST

START_TEST(widths) {
    for (int i = 0; i < WIDTH_COUNT; i++)
        for (int j = 0; j < WIDTH_COUNT; j++)
            for (int score = 0; score < 2; score++) {
                const problem p = {.b = 2,
                                   .n = 33 + j,
                                   .m = 16 + 9 * i,
                                   .e = WIDTHS[i],
                                   .f = WIDTHS[j],
                                   .spec = fast_spec((ts_score)score, 0.2, (i + j) % 3 == 0 ? 0.25 : 0)};
                check_problem(&p);
            }
}
END_TEST

/* Sharp and flat weights; and everything a thousand away from the origin, where the bound is the same. */
START_TEST(gammas_and_offsets) {
    static const double gammas[] = {1e-3, 0.1, 10, 1e3};
    for (int g = 0; g < 4; g++)
        for (int far = 0; far < 2; far++)
            for (int score = 0; score < 2; score++) {
                problem p = {.b = 2, .n = 42, .m = 133, .e = 10, .f = 7, .offset = far ? 1000 : 0};
                p.spec = fast_spec((ts_score)score, gammas[g], 0);
                if (far && score == TS_SCORE_DOT) continue;
                check_problem(&p);
            }
}
END_TEST

/* More keys than any tile, chunk or array of them. */
START_TEST(many_keys) {
    const problem p = {.b = 1, .n = 19, .m = 65536, .e = 3, .f = 2, .spec = fast_spec(TS_SCORE_EUCLIDEAN, 3, 0.01)};
    check_problem(&p);
}
END_TEST

/* ---- row maps and masks ------------------------------------------------------------------------------------------ */

START_TEST(maps_and_masks) {
    static const int numbers[] = {1, 7, 42, 513}, sizes[] = {1, 5, 33};
    int turn = 0;
    for (int map = 0; map < MAP_COUNT; map++)
        for (int score = 0; score < 2; score++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++, turn++) {
                    problem p = {.b = 1 + turn % 2, .n = numbers[i], .m = numbers[j]};
                    p.e = sizes[turn % 3], p.f = sizes[turn / 2 % 3];
                    p.spec = map_spec(map, score, turn % 5 == 0 ? 2 : 0.3, turn / 4 % 3 == 0 ? 0.2 : 0);
                    p.offset = offset_of(map, score);
                    for (int mask = 0; mask < MASK_KINDS; mask++) {
                        p.mask = (mask_kind)mask;
                        check_problem(&p);
                    }
                }
}
END_TEST

/* As gammas_and_offsets, for every map. */
START_TEST(gammas_and_offsets_of_maps) {
    static const double gammas[] = {1e-3, 0.1, 10, 1e3};
    for (int map = 0; map < MAP_COUNT; map++)
        for (int g = 0; g < 4; g++)
            for (int far = 0; far < 2; far++)
                for (int score = 0; score < 2; score++) {
                    problem p = {.b = 2, .n = 42, .m = 133, .e = 10, .f = 7, .mask = g % 2 ? SOME_SEEN : NO_MASK};
                    p.spec = map_spec(map, score, gammas[g], 0);
                    p.offset = far ? 1e4 : offset_of(map, score);
                    if (far && score == TS_SCORE_DOT) continue;
                    check_problem(&p);
                }
}
END_TEST

/* More keys than scores or slopes are kept of. */
START_TEST(many_keys_of_maps) {
    for (int map = 0; map < MAP_COUNT; map++)
        for (int i = 0; i < 3; i++) {
            problem p = {.b = 1, .n = 19, .m = (int[]){1024, 1500, 9000}[i], .e = 3, .f = 2};
            p.spec = map_spec(map, TS_SCORE_EUCLIDEAN, 3, 0.01);
            p.mask = i == 1 ? SOME_SEEN : NO_MASK;
            check_problem(&p);
        }
}
END_TEST

START_TEST(memory_of_maps_is_linear) {
    for (int map = 0; map < MAP_COUNT; map++) {
        ts_fast_attention a = {.batches = 1, .n = 1 << 12, .m = 1 << 20, .e = 3, .f = 3, .euclidean = true, .gamma = 1};
        a.map = MAPS[map]->fast, a.wants_grad = true;
        const double whole = (double)ts_fast_attention_scratch(&a);
        ck_assert(whole < 30.0 * (1 << 20) * sizeof(ts_real));
    }
}
END_TEST

START_TEST(memory_is_linear) {
    ts_fast_attention a = {.batches = 1,
                           .n = 1 << 16,
                           .m = 1 << 16,
                           .e = 42,
                           .f = 42,
                           .euclidean = true,
                           .gamma = 1,
                           .map = TS_FAST_SOFTMAX};
    a.wants_grad = true, a.dropout = 0.1;
    const double whole = (double)ts_fast_attention_scratch(&a);
    ck_assert(whole < 20.0 * (1 << 16) * 42 * sizeof(ts_real));
    a.n = 1 << 15, a.m = 1 << 15;
    ck_assert(whole <= 2 * (double)ts_fast_attention_scratch(&a));
}
END_TEST

START_TEST(one_query_one_key) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!ts_isa_use(ISAS[isa])) continue;
        ts_tape_reset(tape);
        const ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 3, 0);
        ts_tensor *q = random_tensor(1, 1, 5, 10, "q"), *k = random_tensor(1, 1, 5, -4, "k");
        ts_tensor *v = random_tensor(1, 1, 3, 0, "v"), *dy = random_tensor(1, 1, 3, 0, "dy");
        ts_tensor *y = ts_attention(tape, q, k, v, NULL, &spec);
        ck_assert_int_eq(ts_backward_from(tape, y, dy->data), TS_OK);
        ck_assert_mem_eq(y->data, v->data, 3 * sizeof(ts_real));
        ck_assert_mem_eq(v->grad, dy->data, 3 * sizeof(ts_real));
        for (int c = 0; c < 5; c++) ck_assert(q->grad[c] == 0 && k->grad[c] == 0);
    }
}
END_TEST

/* ---- threads ----------------------------------------------------------------------------------------------------- */

#ifdef _OPENMP
enum { SOME = 6 * 1100 * 5 };

/* y and the gradients, with q, k, v three tensors, or one and the same under a mask. */
static void run_on(int threads, int map, int64_t b, int64_t n, int64_t m, bool one, ts_real results[4][SOME]) {
    omp_set_num_threads(threads);
    ts_tape_reset(tape);
    ts_tensor *q = random_tensor(b, n, 5, 0, "q");
    ts_tensor *k = one ? q : random_tensor(b, m, 5, 0, "k"), *v = one ? q : random_tensor(b, m, 5, 0, "v");
    const ts_attention_spec spec = map_spec(map, TS_SCORE_EUCLIDEAN, 2, 0.1);
    ts_tensor *y = ts_attention(tape, q, k, v, one ? random_mask(b, n, m, SOME_SEEN) : NULL, &spec);
    ck_assert_int_eq(ts_backward_from(tape, y, random_tensor(b, n, 5, 0, "dy")->data), TS_OK);
    memset(results, 0, 4 * sizeof results[0]);
    memcpy(results[0], y->data, (size_t)(b * n * 5) * sizeof(ts_real));
    memcpy(results[1], q->grad, (size_t)(b * n * 5) * sizeof(ts_real));
    memcpy(results[2], k->grad, (size_t)(b * m * 5) * sizeof(ts_real));
    memcpy(results[3], v->grad, (size_t)(b * m * 5) * sizeof(ts_real));
}

START_TEST(the_same_bits_on_any_number_of_threads) {
    static ts_real results[2][4][SOME];
    static const int64_t shapes[][3] = {{1, 97, 1100}, {1, 1100, 1100}, {2, 200, 130}, {3, 101, 64}, {6, 50, 70}};
    const int usual = omp_get_max_threads();
    for (int c = 0; c < 5 * 2 * MAP_COUNT; c++) {
        const int s = c % 5, one = c / 5 % 2, map = c / 10;
        const int64_t b = shapes[s][0], n = shapes[s][1], m = one ? n : shapes[s][2];
        run_on(1, map, b, n, m, one, results[0]);
        for (int t = 0; t < 3; t++) {
            run_on((int[]){2, 3, 8}[t], map, b, n, m, one, results[1]);
            ck_assert_msg(memcmp(results[0], results[1], sizeof results[0]) == 0, "%s, shape %d", MAPS[map]->name, s);
        }
    }
    omp_set_num_threads(usual);
}
END_TEST
#endif

/* ---- where it does not apply ------------------------------------------------------------------------------------- */

static void check_exact(ts_attention_spec spec, bool masked) {
    ts_tape_reset(tape);
    ts_tensor *q = random_tensor(2, 9, 4, 0, "q"), *k = random_tensor(2, 11, 4, 0, "k");
    ts_tensor *v = random_tensor(2, 11, 3, 0, "v"), *mask = masked ? random_tensor(2, 9, 11, 0, "mask") : NULL;
    const ts_tensor *fast = ts_attention(tape, q, k, v, mask, &spec);
    spec.fast = false;
    const ts_tensor *exact = ts_attention(tape, q, k, v, mask, &spec);
    ck_assert_msg(ts_tape_error(tape) == NULL, "%s", ts_tape_error(tape));
    ck_assert_mem_eq(fast->data, exact->data, 2 * 9 * 3 * sizeof(ts_real));
}

START_TEST(other_maps_are_exact) {
    ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0.1);
    spec.simplex.map = &ts_entmax15_map;
    check_exact(spec, true);
    spec.simplex.map = &ts_argmax_map;
    check_exact(spec, false);
    spec = fast_spec(TS_SCORE_DOT, 1e20, 0);
    check_exact(spec, false);
    spec = fast_spec(TS_SCORE_DOT, 1, 1);
    check_exact(spec, false);
}
END_TEST

START_TEST(without_gradients) {
    const ts_attention_spec spec = fast_spec(TS_SCORE_EUCLIDEAN, 1, 0);
    ts_tensor *q = random_tensor(2, 50, 4, 0, "q"), *k = random_tensor(2, 70, 4, 0, "k");
    ts_tensor *y = ts_attention(tape, q, k, k, NULL, &spec);
    ts_tape *infer = ts_tape_create(TS_INFER);
    ts_tensor *x = ts_borrow(infer, q->shape, q->data), *z = ts_borrow(infer, k->shape, k->data);
    const ts_tensor *same = ts_attention(infer, x, z, z, NULL, &spec);
    ck_assert_mem_eq(y->data, same->data, 2 * 50 * 4 * sizeof(ts_real));
    ts_tape_free(infer);
}
END_TEST

int main(void) {
    TCase *tests = attention_case();
    tcase_add_test(tests, numbers_of_queries_and_keys);
    tcase_add_test(tests, widths);
    tcase_add_test(tests, gammas_and_offsets);
    tcase_add_test(tests, many_keys);
    tcase_add_test(tests, maps_and_masks);
    tcase_add_test(tests, gammas_and_offsets_of_maps);
    tcase_add_test(tests, many_keys_of_maps);
    tcase_add_test(tests, memory_is_linear);
    tcase_add_test(tests, memory_of_maps_is_linear);
    tcase_add_test(tests, one_query_one_key);
#ifdef _OPENMP
    tcase_add_test(tests, the_same_bits_on_any_number_of_threads);
#else
    say_skipped("the_same_bits_on_any_number_of_threads", "no OpenMP");
#endif
    tcase_add_test(tests, other_maps_are_exact);
    tcase_add_test(tests, without_gradients);
    return run_case("fast attention", tests);
}
