/* Pictures of clusterings as gnuplot is told to draw them, and what all pictures are made of: axes, names that keep
 * apart, points that are left out, texts that fit. TESSERA is the path of the program. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../autograd/rng.h"
#include "../cli/common/short_text.h"
#include "../cli/draw/axis.h"
#include "../cli/draw/label_places.h"
#include "../cli/draw/thin_points.h"
#include "program.h"

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static void expect_label(double low, double high, const char *expected) {
    char text[200];
    const cli_axis axis = cli_axis_of(low, high, 5);
    ck_assert_str_eq(cli_axis_label(&axis, "t", 60, text, sizeof text), expected);
}

START_TEST(axes_name_offsets_and_units) {
    expect_label(0, 1, "t");
    expect_label(-3, 1e5, "t");
    expect_label(2019, 2025, "t");
    expect_label(1700000000, 1700000580, "t - 1700000000");
    expect_label(-1700000580, -1700000000, "t + 1700001000");
    expect_label(0.3, 0.3 + 1e-9, "t - 0.3, in units of 10⁻⁹");
    expect_label(0, 3e7, "t, in units of 10⁶");
    expect_label(-5e-8, 0, "t, in units of 10⁻⁹");
    expect_label(-2e300, 1e300, "t, in units of 10³⁰⁰");
    expect_label(1e-310, 9e-310, "t, in units of 10⁻³¹²");
    expect_label(7.25, 7.25, "t");
    expect_label(1700000000, 1700000000, "t - 1700000000");
}
END_TEST

START_TEST(ranges_follow_the_data) {
    const cli_axis unit = cli_axis_of(0, 1, 5);
    ck_assert_double_eq_tol(unit.low, -0.04, 1e-12);
    ck_assert_double_eq_tol(unit.high, 1.04, 1e-12);
    ck_assert_int_eq(unit.tics, 6);
    ck_assert_str_eq(unit.text[0], "0.0");
    ck_assert_str_eq(unit.text[5], "1.0");
    const cli_axis time = cli_axis_of(1700000000, 1700000580, 5);
    ck_assert_double_eq_tol(cli_axis_place(&time, 1700000020), 20, 1e-9);
    ck_assert_str_eq(time.text[1], "100");
    const cli_axis one = cli_axis_of(5, 5, 5);
    ck_assert_int_eq(one.tics, 1);
    ck_assert_str_eq(one.text[0], "5");
    ck_assert(one.low < 5 && one.high > 5);
}
END_TEST

/* Of an axis of low..high: tics inside, rising, all texts different, none long; both ends are shown. */
static void expect_sound(const cli_axis *axis, double low, double high, uint64_t seed) {
    ck_assert_msg(axis->tics >= 2, "seed %" PRIu64 ": %d tics on %.17g .. %.17g", seed, axis->tics, low, high);
    ck_assert_msg(cli_axis_width(axis) <= 8, "seed %" PRIu64 ": '%s' on %.17g .. %.17g", seed, axis->text[0], low,
                  high);
    ck_assert(axis->low <= cli_axis_place(axis, low) && cli_axis_place(axis, high) <= axis->high);
    for (int i = 0; i < axis->tics; i++) {
        const double slack = 1e-8 * (axis->high - axis->low);
        ck_assert(axis->tic[i] >= axis->low - slack && axis->tic[i] <= axis->high + slack);
        if (i == 0) continue;
        ck_assert_msg(strcmp(axis->text[i], axis->text[i - 1]) != 0, "seed %" PRIu64 ": two '%s' on %.17g .. %.17g",
                      seed, axis->text[i], low, high);
        ck_assert(axis->tic[i] > axis->tic[i - 1]);
    }
}

START_TEST(any_axis_can_be_read) {
    const uint64_t seed = (uint64_t)time(NULL);
    const ts_rng rng = {seed, ts_rng_stream("axes"), 0};
    for (uint64_t i = 0; i < 3000; i++) {
        const double size = pow(10, 200 * ts_rng_uniform(rng, 4 * i) - 100);
        const double span = size * pow(10, 14 * ts_rng_uniform(rng, 4 * i + 1) - 12);
        const double low = size * (ts_rng_uniform(rng, 4 * i + 2) - 0.5), high = low + span;
        const cli_axis linear = cli_axis_of(low, high, 5);
        if (high > low && span > 1e-12 * fabs(low)) expect_sound(&linear, low, high, seed);
        const double least = pow(10, 40 * ts_rng_uniform(rng, 4 * i + 3) - 20);
        const double most = least * pow(10, 12 * ts_rng_uniform(rng, 4 * i + 2));
        const cli_axis log = cli_axis_log(least, most, 5);
        ck_assert(log.tics >= 1 && log.tics <= CLI_AXIS_MOST_TICS);
        ck_assert(log.low <= least && most <= log.high);
        for (int t = 0; t < log.tics; t++) ck_assert(log.tic[t] >= log.low * 0.999 && log.tic[t] <= log.high * 1.001);
    }
}
END_TEST

START_TEST(logarithmic_tics) {
    const cli_axis rates = cli_axis_log(1e-8, 1e-2, 3);
    ck_assert_int_eq(rates.tics, 4);
    ck_assert_str_eq(rates.text[0], "10⁻⁸");
    ck_assert_str_eq(rates.text[3], "10⁻²");
    const cli_axis decades = cli_axis_log(0.05, 20000, 6);
    ck_assert_str_eq(decades.text[0], "0.1");
    ck_assert_str_eq(decades.text[5], "10000");
    const cli_axis near = cli_axis_log(0.88, 2.4, 5);
    ck_assert_str_eq(near.text[0], "0.9");
    ck_assert_str_eq(near.text[1], "1");
}
END_TEST

/* ---- texts, names, points ---------------------------------------------------------------------------------------- */

static void expect_short(const char *text, int most, const char *expected) {
    char result[64];
    ck_assert_str_eq(cli_short_text(text, most, result, sizeof result), expected);
}

START_TEST(texts_that_fit) {
    expect_short("iris", 4, "iris");
    expect_short("iris", 3, "ir…");
    expect_short("Köln", 4, "Köln");
    expect_short("Kölnisch", 4, "Köl…");
    expect_short("日本語", 6, "日本語");
    expect_short("日本語", 5, "日本…");
    expect_short("a\xFF b", 4, "a\xFF b");
    expect_short("", 3, "");
    ck_assert_int_eq(cli_text_width("e\xCC\x81"), 1); /* an accent of its own */
    char small[8];
    ck_assert_str_eq(cli_short_text("äöüäöüäöü", 30, small, sizeof small), "äö…");
}
END_TEST

/* Thirty names of points on one spot, and of points at random: none covers another. */
START_TEST(names_keep_apart) {
    enum { COUNT = 30 };
    const uint64_t seed = (uint64_t)time(NULL);
    const ts_rng rng = {seed, ts_rng_stream("names"), 0};
    cli_label_place labels[COUNT];
    for (int piled = 0; piled < 2; piled++) {
        for (int i = 0; i < COUNT; i++)
            labels[i] = (cli_label_place){.point = {piled ? 200 : 400 * ts_rng_uniform(rng, (uint64_t)(2 * i)),
                                                    piled ? 120 : 250 * ts_rng_uniform(rng, (uint64_t)(2 * i + 1))},
                                          .width = 16,
                                          .height = 10};
        cli_place_labels(COUNT, labels, 400, 250);
        for (int i = 0; i < COUNT; i++) {
            const double *a = labels[i].middle;
            ck_assert_msg(a[0] >= 8 && a[0] <= 392 && a[1] >= 5 && a[1] <= 245, "seed %" PRIu64, seed);
            for (int j = 0; j < i; j++)
                ck_assert_msg(fabs(a[0] - labels[j].middle[0]) >= 16 || fabs(a[1] - labels[j].middle[1]) >= 10,
                              "seed %" PRIu64 ": names %d and %d", seed, i, j);
        }
    }
}
END_TEST

static void place_of(const void *context, int64_t i, double xy[2]) {
    const double *places = context;
    xy[0] = places[2 * i];
    xy[1] = places[2 * i + 1];
}

/* Of 50,000 points in a cloud few are needed; of three that stand alone, and of one of another group, none is lost. */
START_TEST(lonely_points_are_drawn) {
    enum { COUNT = 50000, MOST = 3000 };
    const ts_rng rng = {1, ts_rng_stream("cloud"), 0};
    double *places = malloc(2 * COUNT * sizeof *places);
    int64_t *group = calloc(COUNT, sizeof *group), *rows = malloc(MOST * sizeof *rows);
    ck_assert(places != NULL && group != NULL && rows != NULL);
    for (int i = 0; i < 2 * COUNT; i++) places[i] = 100 + 100 * ts_rng_uniform(rng, (uint64_t)i);
    for (int i = 0; i < 3; i++) places[2 * (i * 10000 + 77)] = 300 + 30 * i;
    group[40000] = 1;
    const int64_t count = cli_thin_points(COUNT, group, place_of, places, MOST, rows);
    ck_assert(count > MOST / 3 && count <= MOST);
    bool found[4] = {false};
    for (int64_t i = 0; i < count; i++) {
        ck_assert(i == 0 || rows[i] > rows[i - 1]);
        for (int j = 0; j < 3; j++) found[j] |= rows[i] == j * 10000 + 77;
        found[3] |= rows[i] == 40000;
    }
    ck_assert(found[0] && found[1] && found[2] && found[3]);
    ck_assert_int_eq(cli_thin_points(MOST, group, place_of, places, MOST, rows), MOST); /* few enough: all */
    for (int i = 0; i < COUNT; i++) group[i] = i;
    ck_assert_int_eq(cli_thin_points(COUNT, group, place_of, places, MOST, rows), MOST); /* each a group of its own */
    free(places);
    free(group);
    free(rows);
}
END_TEST

/* ---- scripts ----------------------------------------------------------------------------------------------------- */

/* Where on the page, in 0..1, a text of the script stands. */
static void place_of_text(const char *script, const char *text, double at[2]) {
    char begin[256];
    snprintf(begin, sizeof begin, "set label '%s' at screen ", text);
    const char *label = strstr(script, begin);
    ck_assert_msg(label != NULL && sscanf(label + strlen(begin), "%lf,%lf", &at[0], &at[1]) == 2, "no label '%s'",
                  text);
}

/* The rows of a data block of the script, of so many columns; how many. */
enum { MOST_ROWS = 8000, MOST_COLUMNS = 4 };
static int read_block(const char *script, const char *name, double rows[][MOST_COLUMNS], int columns) {
    char begin[32];
    snprintf(begin, sizeof begin, "$%s << EOD\n", name);
    const char *at = strstr(script, begin);
    ck_assert_msg(at != NULL, "no block %s", name);
    at += strlen(begin);
    int count = 0;
    for (; strncmp(at, "EOD", 3) != 0; count++) {
        ck_assert_int_lt(count, MOST_ROWS);
        for (int c = 0; c < columns; c++) {
            char *end;
            rows[count][c] = strtod(at, &end);
            ck_assert(end != at);
            at = end;
        }
        at = strchr(at, '\n') + 1;
    }
    return count;
}

START_TEST(time_stamps_stand_apart) {
    static double rows[MOST_ROWS][MOST_COLUMNS];
    FILE *file = fopen("time.csv", "w");
    ck_assert_ptr_nonnull(file);
    fputs("time,rent_per_year\n", file);
    for (int i = 0; i < 30; i++) fprintf(file, "%d,%d\n", 1700000000 + 20 * i, 150000 + 100000 * (i / 10) + i);
    fclose(file);
    char *script = script_of("cluster time.csv -k 3 --plot p.svg");
    double range[2], at[2];
    ck_assert_int_eq(read_block(script, "points", rows, 4), 30);
    for (int i = 0; i < 30; i++) ck_assert_double_eq_tol(rows[i][0], 20 * i, 1e-6);
    read_range(script, "x", range);
    ck_assert(range[0] > -40 && range[1] < 620);
    expect_drawn(script, "'time - 1700000000'");
    expect_drawn(script, "set xtics ('0' 0, '100' 100,");
    expect_drawn(script, "'200000' 200000"); /* beside which the name has room */
    place_of_text(script, "rent_per_year", at);
    ck_assert(at[0] > 0.02 && at[0] < 0.06 && at[1] > 0.3 && at[1] < 0.7);
    free(script);
}
END_TEST

START_TEST(cluster_ranges) {
    static double rows[MOST_ROWS][MOST_COLUMNS];
    double range[2];
    write_file("unit.csv", "0,0\n1,1\n.1,.9\n.9,.2\n.5,.5\n");
    char *script = script_of("cluster unit.csv -k 2 --plot p.svg");
    for (int a = 0; a < 2; a++) {
        read_range(script, a == 0 ? "x" : "y", range);
        ck_assert(range[0] > -0.06 && range[0] < 0 && range[1] > 1 && range[1] < 1.06);
    }
    free(script);
    write_file("same.csv", "a,b\n7.25,1700000000\n7.25,1700000000\n");
    script = script_of("cluster same.csv -k 1 --plot p.svg");
    expect_drawn(script, "set xtics ('7.25' 7.25)");
    expect_drawn(script, "'b - 1700000000'");
    free(script);
    script = script_of("cluster unit.csv -k 2 --columns 1 --plot p.svg"); /* along a line */
    expect_drawn(script, "unset ytics");
    ck_assert_int_eq(read_block(script, "points", rows, 4), 5);
    free(script);
}
END_TEST

/* k rings of nine points on a grid, so that there are as many clusters. */
static void write_clusters(const char *name, int k) {
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    for (int c = 0; c < k; c++)
        for (int i = 0; i < 9; i++) fprintf(file, "%g,%g\n", c % 8 + 0.1 * cos(i * 0.7), c / 8 + 0.1 * sin(i * 0.7));
    fclose(file);
}

/* Clusters have colours of their own, an entry of the key each, and a number beside the centre. */
static void expect_named(int k) {
    static double rows[MOST_ROWS][MOST_COLUMNS];
    char name[64];
    int colors = 0;
    write_clusters("grid.csv", k);
    char *script = script_of("cluster grid.csv -k %d --init gonzalez --plot p.svg", k);
    const int count = read_block(script, "points", rows, 4);
    ck_assert_int_eq(count, 9 * k);
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) seen = rows[j][3] >= rows[i][3] && rows[j][3] <= rows[i][3];
        colors += !seen;
    }
    ck_assert_int_eq(colors, k);
    for (int c = 0; c < k; c++) {
        double at[2];
        snprintf(name, sizeof name, "%d: 9", c);
        place_of_text(script, name, at);
        ck_assert(at[0] > 0 && at[0] < 0.95 && at[1] > 0 && at[1] < 0.5);
        snprintf(name, sizeof name, "%d", c);
        place_of_text(script, name, at);
    }
    /* centres are rings, so that they hide no point */
    expect_drawn(script, "$centers with points pt 6");
    expect_not_drawn(script, "$centers with points pt 7");
    expect_readable(script);
    free(script);
}

START_TEST(many_clusters) {
    expect_named(2);
    expect_named(30);
    expect_named(60);
    write_clusters("grid.csv", 70);
    char *script = script_of("cluster grid.csv -k 70 --init gonzalez --plot p.svg"); /* more than there are colours */
    expect_not_drawn(script, "'0: 9'");
    free(script);
}
END_TEST

/* In a plane of 200 dimensions all centres lie near the middle: their numbers stand apart all the same. */
START_TEST(two_hundred_columns) {
    enum { K = 30 };
    const ts_rng rng = {3, ts_rng_stream("columns"), 0};
    FILE *file = fopen("wide.csv", "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 200 * 300; i++)
        fprintf(file, "%.4f%c", ts_rng_normal(rng, (uint64_t)i), i % 200 == 199 ? '\n' : ',');
    fclose(file);
    char *script = script_of("cluster wide.csv -k %d --plot p.svg", K);
    double at[K][2], height;
    ck_assert_int_eq(sscanf(strstr(script, "svg size 480,"), "svg size 480,%lf", &height), 1);
    for (int c = 0; c < K; c++) {
        char name[16];
        snprintf(name, sizeof name, "%d", c);
        place_of_text(script, name, at[c]);
        for (int b = 0; b < c; b++)
            ck_assert_msg(480 * fabs(at[c][0] - at[b][0]) > 7.9 || height * fabs(at[c][1] - at[b][1]) > 9.9,
                          "numbers %d and %d", b, c);
    }
    expect_drawn(script, "'principal axis 2 (");
    free(script);
}
END_TEST

START_TEST(a_hundred_thousand_points) {
    static double rows[MOST_ROWS][MOST_COLUMNS];
    const ts_rng rng = {4, ts_rng_stream("points"), 0};
    FILE *file = fopen("many.csv", "w");
    ck_assert_ptr_nonnull(file);
    for (uint64_t i = 0; i < 100000; i++)
        fprintf(file, "%.5f,%.5f\n", ts_rng_normal(rng, 2 * i), ts_rng_normal(rng, 2 * i + 1));
    fputs("30,30\n", file);
    fclose(file);
    char *script = script_of("cluster many.csv -k 3 --steps 2 --plot p.svg"), text[80];
    const int count = read_block(script, "points", rows, 4);
    ck_assert(count > 500 && count <= 6000);
    ck_assert_double_eq(rows[count - 1][0], 30); /* it stands alone */
    snprintf(text, sizeof text, "'%d of 100001 points drawn", count);
    expect_drawn(script, text);
    free(script);
}
END_TEST

START_TEST(trimmed_points_and_long_names) {
    char *script = script_of("cluster \"$TESSERA_DATA/outliers.csv\" -k 3 --labels-column cluster --restarts 20 "
                             "--algorithm trimmed --plot p.svg");
    static double rows[MOST_ROWS][MOST_COLUMNS];
    const int count = read_block(script, "points", rows, 4);
    int crosses = 0;
    for (int i = 0; i < count; i++) crosses += rows[i][2] < 3; /* gnuplot's points 1 and 2 */
    char text[40];
    snprintf(text, sizeof text, "'trimmed: %d'", crosses);
    ck_assert_int_gt(crosses, 0);
    expect_drawn(script, text);
    free(script);
    write_file("names.csv", "it's_a_very_long_name_of_a_column_that_nobody_would_ever_want_to_print_in_full,"
                            "Höhe_über_Köln_and_all_that_which_is_too_long_as_well_for_its_axis\n1,2\n3,4\n5,7\n");
    script = script_of("cluster names.csv -k 2 --plot p.svg");
    expect_drawn(script, "'it''s_a_very_long_name_");
    expect_drawn(script, "'Höhe_über_Köln_and_all_that_w");
    expect_drawn(script, "…' at screen");
    expect_not_drawn(script, "print_in_full");
    expect_readable(script);
    free(script);
}
END_TEST

/* One page for all formats: 480 units are 8.5 cm. */
START_TEST(formats) {
    write_file("six.csv", "1,2\n1,4\n1,0\n4,2\n4,4\n4,0\n");
    char *script = script_of("cluster six.csv -k 2 --plot p.svg");
    expect_drawn(script, "set terminal svg size 480,");
    free(script);
    script = script_of("cluster six.csv -k 2 --plot p.PNG");
    expect_drawn(script, "set terminal pngcairo size 1440,");
    free(script);
    script = script_of("cluster six.csv -k 2 --plot p.pdf");
    expect_drawn(script, "set terminal pdfcairo size 3.3465in,");
    free(script);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, axes_name_offsets_and_units);
    tcase_add_test(tests, ranges_follow_the_data);
    tcase_add_test(tests, any_axis_can_be_read);
    tcase_add_test(tests, logarithmic_tics);
    tcase_add_test(tests, texts_that_fit);
    tcase_add_test(tests, names_keep_apart);
    tcase_add_test(tests, lonely_points_are_drawn);
    tcase_add_test(tests, time_stamps_stand_apart);
    tcase_add_test(tests, cluster_ranges);
    tcase_add_test(tests, many_clusters);
    tcase_add_test(tests, two_hundred_columns);
    tcase_add_test(tests, a_hundred_thousand_points);
    tcase_add_test(tests, trimmed_points_and_long_names);
    tcase_add_test(tests, formats);
    return run_program_case("pictures", tests);
}
