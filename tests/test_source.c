/* test_source.c: tasks of families with ranges, of rows of data, and of mixtures. */
#include <math.h>

#include "../train/source.h"
#include "test_main.h"

static ts_error error;

static ts_families_spec some(void) {
    return (ts_families_spec){.n = {8, 64},
                              .d = {2, 5},
                              .k = {2, 7},
                              .scale = 0.1,
                              .families = 2,
                              .family = {TS_FAMILY_NORMAL, TS_FAMILY_MOONS}};
}

static ts_task drawn(const ts_source *source, uint32_t step, uint64_t task, ts_task_buffer *buffer) {
    ts_task out;
    error = (ts_error){.status = TS_OK};
    ck_assert_msg(ts_source_draw(source, 5, step, task, buffer, &out, &error) == TS_OK, "%s", error.text);
    return out;
}

/* Both ends of every range are reached, and nothing beyond; points lie in [0,1]. */
START_TEST(ranges_are_drawn_to_their_ends) {
    ts_families_spec spec = some();
    spec.components = (ts_bounds){1, 9};
    spec.scale_most = 0.4;
    ts_source *source = ts_source_of_families(&spec, &error);
    ts_task_buffer buffer = {0};
    int64_t least[3] = {1000, 1000, 1000}, most[3] = {0};
    ck_assert_ptr_nonnull(source);
    for (uint64_t t = 0; t < 600; t++) {
        const ts_task task = drawn(source, 1, t, &buffer);
        const int64_t size[] = {task.n, task.d, task.k};
        for (int i = 0; i < 3; i++) {
            least[i] = size[i] < least[i] ? size[i] : least[i];
            most[i] = size[i] > most[i] ? size[i] : most[i];
        }
        for (int64_t i = 0; i < task.n * task.d; i++) ck_assert(task.points[i] >= 0 && task.points[i] <= 1);
    }
    ck_assert(least[0] <= 9 && most[0] >= 62 && least[1] == 2 && most[1] == 5 && least[2] == 2 && most[2] == 7);
    ts_task_buffer_clear(&buffer);
    ts_source_free(source);
}
END_TEST

/* Single numbers are the tasks that there always were; a task depends on its number and step alone. */
START_TEST(single_sizes_are_plain_tasks) {
    ts_families_spec spec = some();
    spec.n = (ts_bounds){20, 20}, spec.d = (ts_bounds){3, 3}, spec.k = (ts_bounds){4, 4};
    ts_source *source = ts_source_of_families(&spec, &error);
    ts_task_buffer buffer = {0}, other = {0};
    ts_real points[60];
    for (uint64_t t = 0; t < 6; t++) {
        const ts_task_spec plain = {.n = 20, .d = 3, .k = 4, .family = spec.family[t % 2], .scale = 0.1};
        const ts_task task = drawn(source, 3, t, &buffer);
        ck_assert_int_eq(ts_task_draw(&plain, 5, 3, t, points, NULL, &error), TS_OK);
        ck_assert_mem_eq(task.points, points, sizeof points);
        drawn(source, 4, t + 1, &other);
        ck_assert_mem_eq(drawn(source, 3, t, &other).points, points, sizeof points);
    }
    ts_task_buffer_clear(&buffer);
    ts_task_buffer_clear(&other);
    ts_source_free(source);
}
END_TEST

/* Rows of data are chosen without replacement, columns too, and every column is scaled to [0,1]. */
START_TEST(rows_are_subsets_of_the_data) {
    enum { ROWS = 12, COLUMNS = 3 };
    ts_real data[ROWS * COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int a = 0; a < COLUMNS; a++) data[i * COLUMNS + a] = (ts_real)(100 * a + i); /* affine in the row */
    ts_source *source =
        ts_source_of_rows(data, ROWS, COLUMNS, (ts_bounds){4, 50}, (ts_bounds){2, 9}, (ts_bounds){2, 3}, &error);
    ts_task_buffer buffer = {0};
    ck_assert_ptr_nonnull(source);
    ck_assert(source->n.most == ROWS && source->d.most == COLUMNS && source->k.most == 3);
    bool whole = false, all = false;
    for (uint64_t t = 0; t < 300; t++) {
        const ts_task task = drawn(source, 0, t, &buffer);
        whole = whole || task.n == ROWS;
        all = all || task.d == COLUMNS;
        for (int64_t a = 0; a < task.d; a++) {
            bool zero = false, one = false;
            for (int64_t i = 0; i < task.n; i++) {
                const ts_real x = task.points[i * task.d + a];
                ck_assert(fabs((double)x - (double)task.points[i * task.d]) < 1e-6); /* the same row in every column */
                zero = zero || x == 0;
                one = one || x == 1;
                for (int64_t j = 0; j < i; j++) ck_assert(x != task.points[j * task.d + a]); /* no row twice */
            }
            ck_assert(zero && one);
        }
    }
    ck_assert(whole && all);
    ts_task_buffer_clear(&buffer);
    ts_source_free(source);
}
END_TEST

START_TEST(mixtures_have_their_shares) {
    ts_families_spec small = some(), large = some();
    small.n = (ts_bounds){10, 10}, large.n = (ts_bounds){30, 30};
    ts_source *parts[] = {ts_source_of_families(&small, &error), ts_source_of_families(&large, &error)};
    ts_source *source = ts_source_mixture(2, parts, (double[]){3, 1}, &error);
    ts_task_buffer buffer = {0};
    int first = 0;
    ck_assert_ptr_nonnull(source);
    ck_assert(source->n.least == 10 && source->n.most == 30);
    for (uint64_t t = 0; t < 1000; t++) first += drawn(source, 0, t, &buffer).n == 10;
    ck_assert(first > 700 && first < 800);
    ts_task_buffer_clear(&buffer);
    ts_source_free(source);
}
END_TEST

/* Every named source draws tasks in its bounds, reproducibly. */
START_TEST(sources_by_name) {
    double field[TS_MAX_FIELDS];
    ts_task_buffer buffer = {0}, other = {0};
    ck_assert_ptr_null(ts_source_type_by_name("none"));
    for (int s = 0; ts_source_types[s] != NULL; s++) {
        ck_assert_ptr_eq(ts_source_type_by_name(ts_source_types[s]->name), ts_source_types[s]);
        ts_fields_set_defaults(ts_source_types[s]->fields, field);
        ts_source *source =
            ts_source_types[s]->create((ts_bounds){8, 20}, (ts_bounds){1, 4}, (ts_bounds){2, 5}, field, &error);
        ck_assert_msg(source != NULL, "%s", error.text);
        bool differ = false;
        for (uint64_t t = 0; t < 50; t++) {
            const ts_task task = drawn(source, 2, t, &buffer), again = drawn(source, 2, t, &other);
            ck_assert_mem_eq(task.points, again.points, (size_t)(task.n * task.d) * sizeof(ts_real));
            for (int64_t i = 0; i < task.n * task.d; i++) ck_assert(task.points[i] >= 0 && task.points[i] <= 1);
            const ts_task next = drawn(source, 3, t, &other);
            differ = differ || next.n != task.n || memcmp(next.points, task.points, sizeof(ts_real)) != 0;
        }
        ck_assert(differ);
        ts_source_free(source);
    }
    ts_task_buffer_clear(&buffer);
    ts_task_buffer_clear(&other);
}
END_TEST

static ts_status lie(const ts_source *source, uint64_t seed, uint32_t step, uint64_t task, ts_task_buffer *buffer,
                     ts_task *out, ts_error *reason) {
    (void)source, (void)seed, (void)step, (void)task, (void)reason;
    ck_assert(ts_task_buffer_fit(buffer, 4, 2, 0));
    *out = (ts_task){4, 2, 5, buffer->points};
    return TS_OK;
}

static void expect_refused(const ts_families_spec *spec, const char *text) {
    error = (ts_error){.status = TS_OK};
    ck_assert_ptr_null(ts_source_of_families(spec, &error));
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
}

START_TEST(wrong_sources_are_refused) {
    ts_families_spec spec = some();
    spec.n = (ts_bounds){9, 8};
    expect_refused(&spec, "n: 9 to 8 is no range from 1 on");
    spec = some(), spec.k = (ts_bounds){9, 9}, spec.n = (ts_bounds){8, 20};
    expect_refused(&spec, "k = 9 clusters of n = 8 rows");
    spec = some(), spec.scale = -1;
    expect_refused(&spec, "scale = -1");
    spec = some(), spec.families = 0;
    expect_refused(&spec, "families: 1 to");
    error = (ts_error){.status = TS_OK};
    const ts_real bad[] = {1, NAN};
    ck_assert_ptr_null(ts_source_of_rows(bad, 2, 1, (ts_bounds){1, 2}, (ts_bounds){1, 1}, (ts_bounds){1, 1}, &error));
    ck_assert_str_eq(error.text, "data: row 2 holds what is no finite number");
    error = (ts_error){.status = TS_OK};
    spec = some();
    ck_assert_ptr_null(
        ts_source_mixture(1, (ts_source *[]){ts_source_of_families(&spec, &error)}, (double[]){0}, &error));
    ck_assert_msg(strstr(error.text, "shares must be above 0") != NULL, "%s", error.text);
    error = (ts_error){.status = TS_OK};
    const ts_source liar = {.name = "liar", .n = {4, 4}, .d = {2, 2}, .k = {2, 2}, .draw = lie};
    ts_task_buffer buffer = {0};
    ts_task out;
    ck_assert_int_eq(ts_source_draw(&liar, 0, 0, 0, &buffer, &out, &error), TS_ERROR_VALUE);
    ck_assert_msg(strstr(error.text, "task of liar: ") != NULL, "%s", error.text);
    ts_task_buffer_clear(&buffer);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("sources");
    tcase_add_test(cases, ranges_are_drawn_to_their_ends);
    tcase_add_test(cases, single_sizes_are_plain_tasks);
    tcase_add_test(cases, rows_are_subsets_of_the_data);
    tcase_add_test(cases, mixtures_have_their_shares);
    tcase_add_test(cases, sources_by_name);
    tcase_add_test(cases, wrong_sources_are_refused);
    return run_case("sources of tasks", cases);
}
