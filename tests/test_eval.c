/* `tessera eval` as its users meet it; its numbers against ts_evaluate, called here. TESSERA is the path of the
 * program. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../train/checkpoint.h"
#include "../train/evaluation.h"
#include "program.h"

enum { TASKS = 10, STEPS = 6, WIDTH = STEPS + 1 };
#define SHORT "--tasks 10 --steps 6 "

/* A trained model of two families, d = 2, k = 3, and the same one gone wild. */
static ts_trainer *trained(void) {
    ts_train_options o = ts_train_defaults();
    ts_error error = {.status = TS_OK};
    ts_train_step report;
    o.n = 32;
    o.d = 2;
    o.k = 3;
    o.families = 2;
    o.family[1] = TS_FAMILY_LAPLACE;
    o.component_scale = 0.2;
    o.unequal = o.anisotropic = true;
    o.batch = 4;
    o.steps = 150;
    o.seed = 7;
    ts_trainer *t = ts_trainer_create(&o, &error);
    ck_assert_msg(t != NULL, "%s", error.text);
    while (t->step < o.steps) ck_assert_int_eq(ts_trainer_step(t, &report, &error), TS_OK);
    return t;
}

static void make_checkpoints(void) {
    ts_error error = {.status = TS_OK};
    if (file_exists("model.safetensors")) return;
    ts_trainer *t = trained();
    ck_assert_msg(ts_checkpoint_write(t, "model.safetensors", &error) == TS_OK, "%s", error.text);
    ts_real *weight = ts_params_value(t->model.params, ts_params_find(t->model.params, "cross_centers.value.weight"));
    for (int i = 0; i < 25; i++) weight[i] = 3e38f;
    ck_assert_int_eq(ts_checkpoint_write(t, "wild.safetensors", &error), TS_OK);
    ts_trainer_free(t);
}

static ts_task_spec as_trained(int64_t n, ts_family family) {
    return (ts_task_spec){.n = n, .d = 2, .k = 3, .family = family, .scale = 0.2, .anisotropic = true, .unequal = true};
}

typedef struct curves {
    double lloyd[TASKS * WIDTH], model[TASKS * WIDTH];
} curves;

static void evaluate(ts_task_spec task, ts_start start, ts_run_mode mode, uint64_t seed, curves *c) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_checkpoint_resume("model.safetensors", &error);
    ck_assert_msg(t != NULL, "%s", error.text);
    const ts_evaluation e = {.task = task, .tasks = TASKS, .steps = STEPS, .mode = mode, .start = start, .seed = seed};
    ck_assert_int_eq(ts_evaluate(&t->model, &e, c->lloyd, c->model, &error), TS_OK);
    ts_trainer_free(t);
}

static double mean(const double *of_tasks, int step) {
    double sum = 0;
    for (int task = 0; task < TASKS; task++) sum += of_tasks[task * WIDTH + step];
    return sum / TASKS;
}

static const json_t *row_of(const json_t *report, size_t i) {
    return json_array_get(json_object_get(report, "rows"), i);
}

static double value(const json_t *row, const char *curve, size_t step) {
    const json_t *number = json_array_get(json_object_get(row, curve), step);
    ck_assert_msg(json_is_number(number), "no number %s %zu", curve, step);
    return json_number_value(number);
}

static void expect_curves(const json_t *row, const curves *c) {
    ck_assert_uint_eq(json_array_size(json_object_get(row, "lloyd")), WIDTH);
    ck_assert_uint_eq(json_array_size(json_object_get(row, "model")), WIDTH);
    for (int s = 0; s < WIDTH; s++) {
        ck_assert_double_eq_tol(value(row, "lloyd", (size_t)s), mean(c->lloyd, s), 1e-12);
        ck_assert_double_eq_tol(value(row, "model", (size_t)s), mean(c->model, s), 1e-12);
    }
    ck_assert_double_eq(value(row, "lloyd", 0), value(row, "model", 0));
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

START_TEST(by_itself_it_evaluates_as_trained) {
    curves c;
    char seed[32];
    make_checkpoints();
    json_t *report = tessera_json("eval model.safetensors " SHORT);
    snprintf(seed, sizeof seed, "%" PRIu64, ts_evaluation_seed(7));
    ck_assert_str_eq(word(report, "seed"), seed);
    ck_assert_str_eq(word(report, "checkpoint"), "model.safetensors");
    ck_assert_str_eq(word(report, "mode"), "reembed");
    ck_assert_double_eq(number(report, "tasks"), TASKS);
    ck_assert_double_eq(number(report, "steps"), STEPS);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "rows")), 2);
    for (int f = 0; f < 2; f++) {
        const ts_family family = f == 0 ? TS_FAMILY_NORMAL : TS_FAMILY_LAPLACE;
        const json_t *row = row_of(report, (size_t)f);
        ck_assert_double_eq(number(row, "n"), 32);
        ck_assert_str_eq(word(row, "family"), ts_family_name(family));
        ck_assert_str_eq(word(row, "init"), "random");
        evaluate(as_trained(32, family), TS_START_RANDOM, TS_RUN_AS_MODEL, ts_evaluation_seed(7), &c);
        expect_curves(row, &c);
    }
    json_decref(report);
    ck_assert_int_eq(tessera("eval model.safetensors --json --steps 1"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"tasks\": 320, \"steps\": 1, "));
}
END_TEST

/* Every combination, by n, then family, then initial centres. */
START_TEST(lists_are_crossed) {
    static const int64_t n[] = {3, 20};
    static const ts_family family[] = {TS_FAMILY_CAUCHY, TS_FAMILY_GUMBEL};
    static const ts_start start[] = {TS_START_GONZALEZ, TS_START_RANDOM, TS_START_KMEANS_PP};
    curves c;
    make_checkpoints();
    json_t *report = tessera_json("eval model.safetensors " SHORT
                                  "--n 20,3 --family cauchy,gumbel,cauchy --init gonzalez,random,kmeans++ --seed 5");
    ck_assert_uint_eq(json_array_size(json_object_get(report, "rows")), 12);
    for (size_t i = 0; i < 12; i++) {
        const json_t *row = row_of(report, i);
        ck_assert_double_eq(number(row, "n"), (double)n[i / 6]);
        ck_assert_str_eq(word(row, "family"), ts_family_name(family[i / 3 % 2]));
        ck_assert_str_eq(word(row, "init"), ts_start_names[start[i % 3]]);
        if (i < 6) continue;
        evaluate(as_trained(20, family[i / 3 % 2]), start[i % 3], TS_RUN_AS_MODEL, 5, &c);
        expect_curves(row, &c);
    }
    json_decref(report);
}
END_TEST

START_TEST(tasks_and_modes_of_other_kinds) {
    curves c;
    make_checkpoints();
    ts_task_spec task = as_trained(32, TS_FAMILY_NORMAL);
    json_t *report =
        tessera_json("eval model.safetensors " SHORT "--mode raw --family normal --seed 18446744073709551615");
    ck_assert_str_eq(word(report, "mode"), "raw");
    ck_assert_str_eq(word(report, "seed"), "18446744073709551615");
    evaluate(task, TS_START_RANDOM, TS_RUN_RAW, UINT64_MAX, &c);
    expect_curves(row_of(report, 0), &c);
    json_decref(report);
    report = tessera_json("eval model.safetensors " SHORT
                          "--family normal --equal --isotropic --component-scale .05 --seed 0");
    task.anisotropic = task.unequal = false;
    task.scale = 0.05;
    evaluate(task, TS_START_RANDOM, TS_RUN_AS_MODEL, 0, &c);
    expect_curves(row_of(report, 0), &c);
    json_decref(report);
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--json --unequal --anisotropic --csv same.csv"), 0);
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--json --csv default.csv"), 0);
    expect_same_files("same.csv", "default.csv");
}
END_TEST

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quartile(const double *of_tasks, int step, double q) {
    double column[TASKS];
    for (int task = 0; task < TASKS; task++) column[task] = of_tasks[task * WIDTH + step];
    qsort(column, TASKS, sizeof column[0], compare);
    const double place = q * (TASKS - 1);
    const int below = (int)place;
    return column[below] + (place - below) * (column[below + 1] - column[below]);
}

START_TEST(the_csv_has_quartiles) {
    static const char header[] = "n,family,init,step,lloyd,model,lloyd_q25,lloyd_q75,model_q25,model_q75\n";
    curves c;
    make_checkpoints();
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--family laplace --init kmeans++ --csv q.csv"), 0);
    ck_assert_ptr_nonnull(strstr(out, "csv         q.csv"));
    evaluate(as_trained(32, TS_FAMILY_LAPLACE), TS_START_KMEANS_PP, TS_RUN_AS_MODEL, ts_evaluation_seed(7), &c);
    char *text = read_file("q.csv", NULL), *at = text + strlen(header);
    ck_assert_msg(strncmp(text, header, strlen(header)) == 0, "%s", text);
    for (int s = 0; s < WIDTH; s++) {
        const double expected[] = {mean(c.lloyd, s),           mean(c.model, s),           quartile(c.lloyd, s, 0.25),
                                   quartile(c.lloyd, s, 0.75), quartile(c.model, s, 0.25), quartile(c.model, s, 0.75)};
        char beginning[40];
        snprintf(beginning, sizeof beginning, "32,laplace,kmeans++,%d", s);
        ck_assert_msg(strncmp(at, beginning, strlen(beginning)) == 0, "%s", at);
        at += strlen(beginning);
        for (int i = 0; i < 6; i++) {
            ck_assert_int_eq(*at, ',');
            ck_assert_double_eq_tol(strtod(at + 1, &at), expected[i], 1e-12);
        }
        ck_assert_int_eq(*at++, '\n');
    }
    ck_assert_int_eq(*at, '\0');
    free(text);
}
END_TEST

START_TEST(threads_change_nothing) {
    make_checkpoints();
    static const int threads[] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        char name[32];
        ck_assert_int_eq(tessera("eval model.safetensors --tasks 5 --steps 4 --n 20,200 --threads %d --csv t%d.csv "
                                 "--json",
                                 threads[i], threads[i]),
                         0);
        snprintf(name, sizeof name, "json%d.txt", threads[i]);
        ck_assert_int_eq(rename("out.txt", name), 0);
    }
    expect_same_files("t1.csv", "t2.csv");
    expect_same_files("t1.csv", "t8.csv");
    expect_same_files("json1.txt", "json2.txt");
    expect_same_files("json1.txt", "json8.txt");
}
END_TEST

/* ---- the table --------------------------------------------------------------------------------------------------- */

START_TEST(the_table) {
    curves c;
    char numbers[200], verdict[64];
    make_checkpoints();
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--family normal"), 0);
    ck_assert_str_eq(err, "");
    evaluate(as_trained(32, TS_FAMILY_NORMAL), TS_START_RANDOM, TS_RUN_AS_MODEL, ts_evaluation_seed(7), &c);
    snprintf(numbers, sizeof numbers, "     32  normal     random  %8.4f  %8.4f%8.4f%8.4f  %8.4f%8.4f%8.4f  ",
             mean(c.lloyd, 0), mean(c.lloyd, 1), mean(c.lloyd, 5), mean(c.lloyd, 6), mean(c.model, 1), mean(c.model, 5),
             mean(c.model, 6));
    const double model = mean(c.model, 6), lloyd = mean(c.lloyd, 6);
    snprintf(verdict, sizeof verdict, "%s by %.4f\n", model < lloyd ? "model" : "Lloyd", fabs(model - lloyd));
    const char *line = strstr(out, numbers);
    ck_assert_msg(line != NULL, "'%s' is not in\n%s", numbers, out);
    ck_assert_str_eq(line + strlen(numbers), verdict);
    ck_assert_ptr_nonnull(strstr(out, "onehot, d = 2, k = 3, e = 5, trained for 150 of 150 steps\n"));
    ck_assert_ptr_nonnull(strstr(out, "components of scale 0.2 at most, anisotropic, of unequal weights\n"));
    ck_assert_ptr_nonnull(
        strstr(out, "   start   Lloyd 1       5       6   model 1       5       6  lower at the end\n"));
    ck_assert_int_eq(tessera("eval model.safetensors --tasks 1 --steps 0 --family normal"), 0);
    ck_assert_ptr_nonnull(strstr(out, "1 task of each kind"));
    ck_assert_ptr_nonnull(strstr(out, "  equal\n"));
}
END_TEST

/* A model whose centres leave for infinity; and tasks that cost nothing, whose logarithm is -inf. */
START_TEST(what_is_not_finite) {
    make_checkpoints();
    ck_assert_int_eq(tessera("eval wild.safetensors " SHORT "--family normal --csv wild.csv"), 0);
    ck_assert_ptr_nonnull(strstr(out, "the model diverges (10 of 10 tasks)\n"));
    char *text = read_file("wild.csv", NULL);
    ck_assert_msg(strstr(text, ",inf") != NULL || strstr(text, ",nan") != NULL, "%s", text);
    ck_assert(strstr(text, "-nan") == NULL);
    free(text);
    json_t *report = tessera_json("eval wild.safetensors " SHORT "--family normal");
    const json_t *curve = json_object_get(row_of(report, 0), "model");
    ck_assert(json_is_number(json_array_get(curve, 0)));
    for (size_t s = 1; s < WIDTH; s++) ck_assert(json_is_null(json_array_get(curve, s)));
    for (size_t s = 0; s < WIDTH; s++) ck_assert(isfinite(value(row_of(report, 0), "lloyd", s)));
    json_decref(report);
    ck_assert_int_eq(tessera("eval wild.safetensors " SHORT "--mode raw --init gonzalez"), 0);
    report = tessera_json("eval model.safetensors " SHORT "--n 3 --family normal");
    ck_assert(json_is_null(json_array_get(json_object_get(row_of(report, 0), "lloyd"), STEPS)));
    ck_assert(isfinite(value(row_of(report, 0), "model", STEPS)));
    json_decref(report);
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--n 3 --family normal"), 0);
    ck_assert_ptr_nonnull(strstr(out, "    -inf"));
    ck_assert_ptr_nonnull(strstr(out, "  Lloyd\n"));
}
END_TEST

START_TEST(pictures) {
    make_checkpoints();
    if (!have_program("gnuplot")) {
        skip_test("no gnuplot");
        return;
    }
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--init random,gonzalez --plot a.svg"), 0);
    ck_assert_ptr_nonnull(strstr(out, "plot        a.svg"));
    ck_assert_int_eq(tessera("eval model.safetensors " SHORT "--init random,gonzalez --plot b.svg --threads 1"), 0);
    expect_same_files("a.svg", "b.svg");
    char *svg = read_file("a.svg", NULL);
    ck_assert_ptr_nonnull(strstr(svg, "</svg>"));
    ck_assert_ptr_nonnull(strstr(svg, "n = 32, laplace, gonzalez"));
    free(svg);
    ck_assert_int_eq(tessera("eval wild.safetensors " SHORT "--plot wild.svg"), 0);
    svg = read_file("wild.svg", NULL);
    ck_assert_ptr_nonnull(strstr(svg, "n = 32, normal, random"));
    ck_assert_ptr_nonnull(strstr(svg, "the model diverges"));
    free(svg);
    ck_assert_int_eq(tessera("eval model.safetensors --tasks 1 --steps 0 --n 3 --plot c.png"), 0);
    ck_assert_int_eq(tessera("eval model.safetensors --tasks 2 --steps 50 --n 3,4 --plot c.pdf --json"), 0);
    ck_assert(file_exists("c.png") && file_exists("c.pdf"));
    ck_assert_int_eq(shell("PATH=/nowhere \"$TESSERA\" eval model.safetensors --plot n.svg >out.txt 2>err.txt"), 1);
    expect_failure_line("gnuplot is not installed");
}
END_TEST

/* One colour for Lloyd and one for the model; the axes have names, beside numbers of any length. */
START_TEST(what_is_drawn) {
    make_checkpoints();
    char *script = script_of("eval model.safetensors " SHORT "--n 32,70 --init random,gonzalez --plot a.svg");
    expect_readable(script);
    expect_drawn(script, "'log objective' at screen 0.0");
    expect_drawn(script, "'steps' at screen");
    expect_drawn(script, "'Lloyd'");
    expect_drawn(script, "$lloyd3 using 1:2 with linespoints pt 7 ps 1.8*dot lw 1.6 lc rgb '#0072B2'");
    expect_drawn(script, "$model3 using 1:2 with linespoints pt 7 ps 1.8*dot lw 1.6 lc rgb '#D55E00'");
    expect_drawn(script, "'n = 70, normal, gonzalez'");
    expect_not_drawn(script, "diverges");
    free(script);
}
END_TEST

/* ---- the command line -------------------------------------------------------------------------------------------- */

START_TEST(wrong_command_lines) {
    static const char *const list[][2] = {
        {"--n 2", "--n: 2 points are fewer than the 3 clusters"},
        {"--n 100,2", "--n: 2 points are fewer"},
        {"--n 0", "--n: 0 is not between 1 and 1000000"},
        {"--n 10,", "--n: '10,' is not a list of numbers"},
        {"--n 2.5", "--n: 2.5 is not a whole number"},
        {"--family student", "--family: 'student' is none of normal, cauchy, gumbel, laplace, lognormal"},
        {"--family normal,", "--family: '' is none of normal"},
        {"--family norm", "--family: 'norm' is none of"},
        {"--init first", "--init: 'first' is none of random, kmeans++, gonzalez"},
        {"--mode fast", "--mode: 'fast' is none of model|reembed|raw"},
        {"--tasks 0", "--tasks: 0 is not between"},
        {"--steps -1", "--steps: -1 is not between"},
        {"--seed -1", "--seed: '-1' is not a whole number"},
        {"--seed 18446744073709551616", "--seed: 18446744073709551616 is more than 2^64 - 1"},
        {"--component-scale 0", "--component-scale: 0 is not a number above 0"},
        {"--component-scale 1e200", "scale = 1e+200"},
        {"--component-scale 65 --family lognormal", "lognormal"},
        {"--equal --unequal", "--equal and --unequal: one of them"},
        {"--isotropic --anisotropic", "--isotropic and --anisotropic: one of them"},
        {"--plot p.gif", "--plot: p.gif: the name must end in .svg, .png or .pdf"},
        {"--plot model.svg --csv model.svg", "--csv and --plot: both would write model.svg"},
        {"--csv -", "--csv: - is no name of a file"},
        {"--csv ./model.safetensors", "--csv: would write over model.safetensors"},
        {"more.safetensors", "one CHECKPOINT at a time"},
        {"--k 4", "data of d = 2, k = 4 for a model of d = 2, k = 3"},
    };
    make_checkpoints();
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        expect_failure(2, list[i][1], "eval model.safetensors %s", list[i][0]);
    if (have_program("gnuplot"))
        expect_failure(2, "--plot: 136 panels are more than 60", "eval model.safetensors --n 3-70 --plot many.svg");
    else
        skip_part("no gnuplot");
    expect_failure(2, "which CHECKPOINT?", "eval");
    ck_assert(!file_exists("many.svg") && !file_exists("model.svg"));
}
END_TEST

START_TEST(wrong_files) {
    make_checkpoints();
    write_file("text.safetensors", "this is no checkpoint");
    write_file("short", "x");
    expect_failure(1, "absent: No such file", "eval absent");
    expect_failure(1, "text.safetensors: not a safetensors file (", "eval text.safetensors");
    expect_failure(1, "short: not a safetensors file (", "eval short");
    expect_failure(1, ".: Is a directory", "eval .");
    expect_failure(1, "nowhere/x.csv: No such file", "eval model.safetensors --csv nowhere/x.csv");
    if (have_program("gnuplot"))
        expect_failure(1, "nowhere/x.svg: No such file", "eval model.safetensors --plot nowhere/x.svg");
    else
        skip_part("no gnuplot");
    ck_assert_int_eq(shell("head -c 3000 model.safetensors >cut.safetensors; touch out.txt err.txt"), 0);
    expect_failure(1, "cut.safetensors: ", "eval cut.safetensors");
    if (!file_exists("/dev/full")) {
        skip_part("no /dev/full");
        return;
    }
    ck_assert_int_eq(shell("\"$TESSERA\" eval model.safetensors --tasks 2 >/dev/full 2>err.txt"), 1);
    ck_assert_int_eq(tessera("eval model.safetensors --tasks 2 --csv /dev/full"), 1);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("eval");
    tcase_add_test(tests, by_itself_it_evaluates_as_trained);
    tcase_add_test(tests, lists_are_crossed);
    tcase_add_test(tests, tasks_and_modes_of_other_kinds);
    tcase_add_test(tests, the_csv_has_quartiles);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, the_table);
    tcase_add_test(tests, what_is_not_finite);
    tcase_add_test(tests, pictures);
    tcase_add_test(tests, what_is_drawn);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, wrong_files);
    return run_program_case("eval", tests);
}
