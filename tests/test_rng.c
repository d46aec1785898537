#include <math.h>
#include <stdio.h>

#include "../autograd/rng.h"
#include "instruction_sets.h"

/* The known-answer vectors published with the generator. */
START_TEST(philox_known_answers) {
    static const struct {
        uint32_t counter[4], key[2], random[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int v = 0; v < 3; v++) {
        uint32_t random[4];
        ts_philox(vectors[v].counter, vectors[v].key, random);
        for (int i = 0; i < 4; i++) ck_assert_uint_eq(random[i], vectors[v].random[i]);
    }
}
END_TEST

START_TEST(streams_are_independent) {
    const ts_rng a = {1, ts_rng_stream("a"), 0}, b = {1, ts_rng_stream("b"), 0}, later = {1, a.stream, 1},
                 other = {2, a.stream, 0};
    ck_assert_uint_eq(ts_rng_bits(a, 7), ts_rng_bits(a, 7));
    ck_assert_uint_ne(ts_rng_bits(a, 7), ts_rng_bits(a, 8));
    ck_assert_uint_ne(ts_rng_bits(a, 7), ts_rng_bits(b, 7));
    ck_assert_uint_ne(ts_rng_bits(a, 7), ts_rng_bits(later, 7));
    ck_assert_uint_ne(ts_rng_bits(a, 7), ts_rng_bits(other, 7));
    ck_assert_uint_ne(ts_rng_bits(a, 7), ts_rng_bits(a, 7 + ((uint64_t)1 << 40)));
}
END_TEST

enum { DRAWS = 1000000 };

START_TEST(moments_and_ranges) {
    const ts_rng rng = {5, ts_rng_stream("moments"), 0};
    double uniform = 0, square = 0, normal = 0, normal2 = 0, gumbel = 0, gumbel2 = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double u = ts_rng_uniform(rng, i), z = ts_rng_normal(rng, i), g = ts_rng_gumbel(rng, i);
        ck_assert(u > 0 && u < 1);
        ck_assert(isfinite(z) && isfinite(g));
        uniform += u, square += u * u;
        normal += z, normal2 += z * z;
        gumbel += g, gumbel2 += g * g;
    }
    ck_assert_double_eq_tol(uniform / DRAWS, 0.5, 0.0015);
    ck_assert_double_eq_tol(square / DRAWS, 1.0 / 3, 0.0015);
    ck_assert_double_eq_tol(normal / DRAWS, 0, 0.005);
    ck_assert_double_eq_tol(normal2 / DRAWS, 1, 0.007);
    ck_assert_double_eq_tol(gumbel / DRAWS, 0.57722, 0.006);
    ck_assert_double_eq_tol(gumbel2 / DRAWS - gumbel / DRAWS * gumbel / DRAWS, 1.64493, 0.02);
}
END_TEST

START_TEST(below_covers_its_range_evenly) {
    const ts_rng rng = {9, ts_rng_stream("below"), 0};
    int count[7] = {0};
    for (uint64_t i = 0; i < 70000; i++) {
        const int64_t r = ts_rng_below(rng, i, 7);
        ck_assert(r >= 0 && r < 7);
        count[r]++;
    }
    for (int i = 0; i < 7; i++) ck_assert(count[i] > 9600 && count[i] < 10400);
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_int_eq(ts_rng_below(rng, i, 1), 0);
        const int64_t large = ts_rng_below(rng, i, INT64_MAX);
        ck_assert(large >= 0 && large < INT64_MAX);
    }
}
END_TEST

/* The two uniforms of one element, from the bijection itself. */
static void expect_uniforms(ts_rng rng, uint64_t element, double u, double v) {
    const uint32_t counter[] = {(uint32_t)element, (uint32_t)(element >> 32), rng.step, rng.stream};
    const uint32_t key[] = {(uint32_t)rng.seed, (uint32_t)(rng.seed >> 32)};
    uint32_t r[4];
    ts_philox(counter, key, r);
    const uint64_t second = ((uint64_t)r[2] << 32 | r[3]) >> 12;
    ck_assert(u == ts_rng_uniform(rng, element));
    ck_assert(v == ((double)second + 0.5) * 0x1p-52);
}

START_TEST(many_uniforms_are_those_of_their_elements) {
    enum { MOST = 200 };
    static const int64_t counts[] = {0, 1, 2, 63, 64, 65, MOST};
    static const uint64_t firsts[] = {0, 0xFFFFFFF0u, UINT64_MAX - 5}, strides[] = {1, 2, 32, (uint64_t)1 << 33};
    static const char *const isas[] = {"base", "avx2", "avx512"};
    const ts_rng rng = {test_seed(), ts_rng_stream("many"), 4000000000u};
    printf("uniforms: seed %" PRIu64 "\n", rng.seed);
    for (int c = 0; c < 3 * 7 * 3 * 4; c++) {
        if (!ts_isa_use(isas[c % 3])) continue;
        const int64_t n = counts[c / 3 % 7];
        const uint64_t first = firsts[c / 21 % 3], stride = strides[c / 63];
        double u[MOST + 1], v[MOST + 1], alone[MOST + 1];
        u[n] = v[n] = alone[n] = -1; /* nothing is written behind the last */
        ts_rng_uniforms(rng, first, stride, n, u, v);
        ts_rng_uniforms(rng, first, stride, n, alone, NULL);
        for (int64_t i = 0; i < n; i++) expect_uniforms(rng, first + (uint64_t)i * stride, u[i], v[i]);
        for (int64_t i = 0; i < n; i++) ck_assert(alone[i] == u[i]);
        ck_assert(u[n] == -1 && v[n] == -1 && alone[n] == -1);
    }
    ts_isa_use(NULL);
}
END_TEST

int main(void) {
    say_missing_instruction_sets();
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, philox_known_answers);
    tcase_add_test(tests, streams_are_independent);
    tcase_add_test(tests, moments_and_ranges);
    tcase_add_test(tests, many_uniforms_are_those_of_their_elements);
    tcase_add_test(tests, below_covers_its_range_evenly);
    return run_case("random numbers", tests);
}
