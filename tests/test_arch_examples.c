/* The definitions in examples/arch, run on the bundled data; what the outliers example claims; and definitions that are
 * refused. TESSERA_DATA is examples/data, beside which the definitions lie. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program.h"

static void expect_finite(const json_t *report, const char *name) {
    const size_t k = (size_t)number(report, "k"), d = (size_t)number(report, "d");
    ck_assert_uint_eq(json_array_size(json_object_get(report, "centers")), k);
    for (size_t i = 0; i < k * d; i++)
        ck_assert_msg(isfinite(center(report, i / d, i % d)), "%s: centre %zu", name, i / d);
    ck_assert_msg(isfinite(number(report, "objective")), "%s: objective", name);
}

/* ---- the definitions --------------------------------------------------------------------------------------------- */

/* The program on one definition: all that it writes, but for the time, is the same with 1 and with 8 threads. */
static void run_definition(const char *data, const char *name) {
    static const int threads[] = {1, 8};
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        json_t *report = tessera_json("cluster --quiet \"$TESSERA_DATA\"/%s --restarts 3 --arch "
                                      "\"$TESSERA_DATA\"/../arch/%s --threads %d --trajectory %d.npy",
                                      data, name, threads[i], threads[i]);
        char *seconds = strstr(out, ", \"seconds\"");
        expect_finite(report, name);
        ck_assert_ptr_nonnull(seconds);
        *seconds = '\0';
        bytes[i] = strdup(out);
        ck_assert_ptr_nonnull(bytes[i]);
        json_decref(report);
    }
    ck_assert_str_eq(bytes[0], bytes[1]);
    for (int i = 0; i < 2; i++) free(bytes[i]);
    ck_assert_msg(shell("cmp 1.npy 8.npy >out.txt 2>err.txt") == 0, "%s: %s", name, out);
}

/* Learned layers are trained for a few steps, on one thread and on eight, and cluster. */
static void train_layers(const char *name) {
    static const char options[] =
        "--n 30 --d 4 --k 3 --steps 4 --batch 2 --eval-every 4 --eval-batches 1 --lr 1e-4 --quiet";
    for (int threads = 1; threads <= 8; threads *= 8)
        ck_assert_msg(tessera("train --arch \"$TESSERA_DATA\"/../arch/%s %s --threads %d --out '%s.%d'", name, options,
                              threads, name, threads) == 0,
                      "%s: %s", name, err);
    char one[300], eight[300];
    snprintf(one, sizeof one, "%s.1/last.safetensors", name);
    snprintf(eight, sizeof eight, "%s.8/last.safetensors", name);
    expect_same_files(one, eight);
    ck_assert_msg(tessera("cluster \"$TESSERA_DATA\"/iris.csv -k 3 --labels-column species --model '%s'", one) == 0,
                  "%s: %s", name, err);
    ck_assert_msg(tessera("inspect '%s'", one) == 0 && tessera("eval '%s' --tasks 2 --n 30 --steps 2", one) == 0,
                  "%s: %s", name, err);
}

START_TEST(every_definition) {
    char path[1024], file[1400];
    int count = 0, learned = 0;
    snprintf(path, sizeof path, "%s/../arch", getenv("TESSERA_DATA"));
    DIR *folder = opendir(path);
    ck_assert_msg(folder != NULL, "%s", path);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (end == NULL || strcmp(end, ".json") != 0) continue;
        snprintf(file, sizeof file, "%s/%s", path, name);
        char *text = read_file(file, NULL);
        ck_assert_ptr_nonnull(text);
        const bool layers = strstr(text, "\"layers\"") != NULL;
        free(text);
        learned += layers;
        if (layers) train_layers(name);
        if (layers) continue;
        run_definition("iris.csv -k 3 --labels-column species", name);
        if (strcmp(name, "subspace.json") != 0) run_definition("outliers.csv -k 5 --labels-column cluster", name);
        count++;
    }
    closedir(folder);
    ck_assert_int_ge(count, 5);
    ck_assert_int_ge(learned, 6);
}
END_TEST

/* A definition is printed as it was read. */
START_TEST(printed_as_read) {
    static const char *const names[] = {"spherical-trimmed", "subspace", "sparse-shares", "mean-shift", "relaxed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/../arch/%s.json", getenv("TESSERA_DATA"), names[i]);
        char *text = read_file(path, NULL);
        ck_assert_msg(text != NULL, "%s", path);
        ck_assert_int_eq(tessera("cluster --print-arch --arch '%s'", path), 0);
        ck_assert_str_eq(out, text);
        free(text);
    }
}
END_TEST

/* ---- what they are ----------------------------------------------------------------------------------------------- */

static size_t read_rows(const char *name, size_t d, double *rows, size_t most) {
    char path[1024], line[256];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", getenv("TESSERA_DATA"), name);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file)); /* the names */
    for (; n < most && fgets(line, sizeof line, file) != NULL; n++) {
        char *at = line;
        for (size_t j = 0; j < d; j++, at++) rows[n * d + j] = strtod(at, &at);
    }
    fclose(file);
    return n;
}

static double squared_distance(size_t d, const double *a, const double *b) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static void to_unit_length(size_t n, size_t d, double *rows) {
    const double origin[4] = {0};
    for (size_t i = 0; i < n; i++) {
        const double length = sqrt(squared_distance(d, rows + i * d, origin));
        for (size_t j = 0; j < d; j++) rows[i * d + j] /= length;
    }
}

/* One cluster of the fixed point: the tenth that is trimmed is no nearer than the rest, whose mean has the direction of
 * the centre. */
static void expect_trimmed_cluster(const json_t *report, int cluster_number, const double *rows, const int *nearest) {
    const size_t n = 150, d = 4;
    double mean[4] = {0}, c[4], farthest = 0, nearest_trimmed = INFINITY;
    int members = 0, kept = 0;
    for (size_t j = 0; j < d; j++) c[j] = center(report, (size_t)cluster_number, j);
    for (size_t i = 0; i < n; i++) {
        const double distance = squared_distance(d, rows + i * d, c);
        if (nearest[i] != cluster_number) continue;
        members++;
        if (label(report, i) < 0) {
            nearest_trimmed = fmin(nearest_trimmed, distance);
            continue;
        }
        kept++;
        farthest = fmax(farthest, distance);
        for (size_t j = 0; j < d; j++) mean[j] += rows[i * d + j];
    }
    to_unit_length(1, d, mean);
    ck_assert_int_eq(kept, members - members / 10);
    ck_assert_double_le(farthest, nearest_trimmed + 1e-7);
    ck_assert_double_le(squared_distance(d, mean, c), 1e-12);
}

START_TEST(spherical_trimmed) {
    static double rows[150 * 4];
    int nearest[150];
    json_t *report =
        tessera_json("cluster --quiet \"$TESSERA_DATA\"/iris.csv -k 3 --labels-column species --restarts 20 --arch "
                     "\"$TESSERA_DATA\"/../arch/spherical-trimmed.json");
    ck_assert_uint_eq(read_rows("iris.csv", 4, rows, 150), 150);
    to_unit_length(150, 4, rows);
    for (size_t i = 0; i < 150; i++) {
        double most = -2;
        for (int c = 0; c < 3; c++) {
            double cosine = 0;
            for (size_t j = 0; j < 4; j++) cosine += rows[i * 4 + j] * center(report, (size_t)c, j);
            if (cosine > most) most = cosine, nearest[i] = c;
        }
        ck_assert(label(report, i) == nearest[i] || label(report, i) == -1);
    }
    ck_assert(json_is_true(json_object_get(report, "converged")));
    ck_assert_double_eq(number(report, "trimmed"), 14);
    for (int c = 0; c < 3; c++) expect_trimmed_cluster(report, c, rows, nearest);
    json_decref(report);
}
END_TEST

/* Lloyd's fixed point, reached by longer steps. */
START_TEST(relaxed_rests_where_lloyd_does) {
    static const char words[] = "iris.csv -k 3 --labels-column species --restarts 20";
    json_t *lloyd = tessera_json("cluster --quiet \"$TESSERA_DATA\"/%s", words);
    json_t *relaxed = tessera_json(
        "cluster --quiet \"$TESSERA_DATA\"/%s --steps-exact --arch \"$TESSERA_DATA\"/../arch/relaxed.json", words);
    ck_assert_double_eq_tol(number(relaxed, "objective"), number(lloyd, "objective"), 1e-8);
    json_decref(lloyd);
    json_decref(relaxed);
}
END_TEST

/* Four climbers, two hills. */
START_TEST(mean_shift_finds_two_modes) {
    json_t *report = tessera_json(
        "cluster --quiet \"$TESSERA_DATA\"/faithful.csv -k 4 --scaling standard --steps 200 --steps-exact --arch "
        "\"$TESSERA_DATA\"/../arch/mean-shift.json");
    int low = 0, high = 0;
    for (size_t c = 0; c < 4; c++) {
        low += fabs(center(report, c, 0) - 1.97419) < 1e-3 && fabs(center(report, c, 1) - 53.4532) < 1e-2;
        high += fabs(center(report, c, 0) - 4.37008) < 1e-3 && fabs(center(report, c, 1) - 80.0018) < 1e-2;
    }
    ck_assert(low > 0 && high > 0 && low + high == 4);
    json_decref(report);
}
END_TEST

/* ---- outliers ---------------------------------------------------------------------------------------------------- */

/* The largest distance of a planted centre to the nearest one found. */
static double missed_by(const char *options) {
    static const double planted[3][2] = {{.15, .15}, {.85, .25}, {.45, .85}};
    json_t *report = tessera_json(
        "cluster --quiet \"$TESSERA_DATA\"/outliers.csv -k 3 --labels-column cluster --restarts 20 %s", options);
    double worst = 0;
    for (size_t p = 0; p < 3; p++) {
        double near = INFINITY;
        for (size_t c = 0; c < 3; c++)
            near = fmin(near, hypot(center(report, c, 0) - planted[p][0], center(report, c, 1) - planted[p][1]));
        worst = fmax(worst, near);
    }
    json_decref(report);
    return worst;
}

START_TEST(outliers) {
    ck_assert_double_gt(missed_by(""), 0.2);
    ck_assert_double_lt(missed_by("--algorithm trimmed"), 0.05);
    ck_assert_double_lt(missed_by("--algorithm trimmed --construction binary"), 0.05);
    ck_assert_double_lt(missed_by("--algorithm trimmed --trim .15"), 0.05);
    ck_assert_double_lt(missed_by("--algorithm robust"), 0.05);
}
END_TEST

START_TEST(outliers_script) {
    static const char *const names[] = {"lloyd ", "trimmed ", "trimmed-share ", "robust "};
    ck_assert_int_eq(shell("sh \"$TESSERA_DATA\"/../outliers.sh \"$TESSERA\" >out.txt 2>err.txt"), 0);
    for (int i = 0; i < 4; i++) {
        double distance = NAN;
        const char *line = strstr(out, names[i]);
        ck_assert_msg(line != NULL, "no %s in %s", names[i], out);
        ck_assert_int_eq(sscanf(line, "%*s the farthest planted centre is %lf", &distance), 1);
        ck_assert_msg(i == 0 ? distance > 0.2 : distance < 0.05, "%s", out);
    }
}
END_TEST

/* Fewer steps than a user would take: the two are already the same clusters but for a few rows. */
START_TEST(learned_script) {
    int same = 0, rows = 0;
    ck_assert_int_eq(shell("sh \"$TESSERA_DATA\"/../faithful.sh \"$TESSERA\" \"\" 200 >out.txt 2>err.txt"), 0);
    const char *line = strstr(out, "learned and Lloyd agree");
    ck_assert_msg(line != NULL, "%s", out);
    ck_assert_int_eq(sscanf(line, "learned and Lloyd agree on %d of %d rows", &same, &rows), 2);
    ck_assert_int_eq(rows, 272);
    ck_assert_msg(same >= 250, "%s", out);
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

/* lloyd-onehot with one place of its text changed. */
static void expect_refusal(const char *from, const char *to, const char *message) {
    char text[4096], full[300];
    ck_assert_int_eq(tessera("cluster --print-arch"), 0);
    const char *place = strstr(out, from);
    ck_assert_msg(place != NULL, "no '%s' in %s", from, out);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - out), out, to, place + strlen(from));
    write_file("wrong.json", text);
    snprintf(full, sizeof full, "wrong.json: %s", message);
    expect_failure(1, full, "cluster \"$TESSERA_DATA\"/iris.csv -k 3 --columns 1-4 --arch wrong.json");
}

START_TEST(wrong_definitions) {
    expect_refusal("argmax", "argmx", "cross_points.simplex: unknown 'argmx'");
    expect_refusal("\"score\": \"euclidean\", \"simplex\": \"argmax\", \"gamma\": 1,\n    \"query\": \"data\",\n    "
                   "\"key\": \"data\"",
                   "\"identity\": true", "cross_points: identity weights need self-attention");
    expect_refusal("\"data\"", "\"data[2:9]\"", "cross_points.query: data[2:9] is out of range: there are 4");
    expect_refusal("\"data\"", "\"data[2:2]\"", "cross_points.query: 'data[2:2]' is no range");
    expect_refusal("\"data\"", "\"norm\"", "cross_points.query: tokens of scheme onehot have no norm");
    expect_refusal("\"tokens\"", "\"name\": \"again\",\n  \"tokens\"", "line 3, column 8: duplicate object key");
    expect_refusal("\"tokens\"", "\"token\"", "unknown key 'token'");
    expect_refusal("\"gamma\": 1", "\"gamma\": 0", "cross_points: gamma must be positive and finite");
    expect_refusal("argmax", "top-m", "cross_points.simplex: top-m needs a parameter");
    expect_refusal("\"tokens\"", "\"trims\": true, \"tokens\"", "cross_centers: trimmed points need");
    expect_refusal("\"data\"", "\"learned\"", "cross_points: learned projections need a trained model");
}
END_TEST

START_TEST(together_with_other_options) {
    static const char *const others[] = {
        "algorithm lloyd", "construction binary", "gamma 2", "trim .1", "fuzziness 2", "alpha 2", "compare"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        expect_failure(2, "--", "cluster \"$TESSERA_DATA\"/iris.csv -k 3 --%s --arch x.json", others[i]);
    expect_failure(2, "--algorithm: the file given by --arch says it all",
                   "cluster \"$TESSERA_DATA\"/iris.csv -k 3 --arch x.json --algorithm lloyd");
    expect_failure(1, "x.json: No such file", "cluster \"$TESSERA_DATA\"/iris.csv -k 3 --columns 1-4 --arch x.json");
    expect_failure(1, "data[2:4] is out of range: there are 2",
                   "cluster \"$TESSERA_DATA\"/faithful.csv -k 2 --arch \"$TESSERA_DATA\"/../arch/subspace.json");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, every_definition);
    tcase_add_test(tests, printed_as_read);
    tcase_add_test(tests, spherical_trimmed);
    tcase_add_test(tests, relaxed_rests_where_lloyd_does);
    tcase_add_test(tests, mean_shift_finds_two_modes);
    tcase_add_test(tests, outliers);
    tcase_add_test(tests, outliers_script);
    tcase_add_test(tests, learned_script);
    tcase_add_test(tests, wrong_definitions);
    tcase_add_test(tests, together_with_other_options);
    return run_program_case("arch examples", tests);
}
