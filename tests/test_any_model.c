/* test_any_model.c: any architecture in the program's hands: trained on ranges of tasks and on a file, resumed, judged,
 * drawn, used; lists of runs; pictures of several; a checkpoint that an earlier version wrote. */
#include <math.h>

#include "program.h"

#define MODEL                                                                                                       \
    "{\"name\": \"m\", \"tokens\": {\"memory\": 8, \"point_marks\": 0.5}, \"keep\": \"tokens\", \"standardised\": " \
    "true,"                                                                                                         \
    " \"layers\": [{\"points\": [{\"soft_assignment\": {\"gamma\": [20, 2], \"hidden\": 8}}],"                      \
    " \"centers\": [{\"gated_move\": {\"gamma\": [4, 1], \"hidden\": 8}}]}]}"
#define DEEP                                                                                                  \
    "{\"name\": \"deep\", \"tokens\": \"onehot\", \"layers\": [{\"points\": [{\"residual\": [{\"attention\":" \
    " {\"over\": \"centers\", \"heads\": 2, \"width\": 8, \"out\": true}}]}], \"centers\": [{\"residual\":"   \
    " [{\"attention\": {\"over\": \"points\"}}, {\"feed_forward\": {\"hidden\": 6}}]}]}]}"
#define SMALL "--arch m.json --batch 4 --eval-every 5 --eval-batches 1 --steps 10 --unroll 2 --log-loss --quiet"

static void make_files(void) {
    write_file("m.json", MODEL);
    write_file("deep.json", DEEP);
    write_file("data.csv", "x,y,name\n1,2,a\n2,3,a\n9,8,b\n8,9,b\n5,1,c\n4,2,c\n7,7,b\n1,1,a\n");
}

START_TEST(trained_on_ranges_and_used_on_any_data) {
    make_files();
    ck_assert_int_eq(
        tessera("train " SMALL " --n 20:40 --d 2:5 --k 2:4 --components 1:5 --family normal,moons "
                "--component-scale .05:.2 --loss worst:share=.5 --last-weight .5 --optimiser adamw:decay=.1 "
                "--beta1 .8 --out r"),
        0);
    ck_assert_ptr_nonnull(strstr(out, "parameters"));
    json_t *report = tessera_json("cluster data.csv -k 3 --labels-column name --model r/last.safetensors --seed 4");
    ck_assert_str_eq(word(report, "algorithm"), "m");
    json_decref(report);
    report = tessera_json("eval r/last.safetensors --d 7 --k 6 --n 30 --tasks 3 --steps 4");
    ck_assert_uint_eq(json_array_size(json_object_get(report, "rows")), 2);
    json_decref(report);
    report = tessera_json("inspect r/last.safetensors");
    const json_t *options = json_object_get(report, "options");
    ck_assert_int_eq(json_integer_value(json_object_get(options, "n_most")), 40);
    ck_assert_str_eq(word(options, "loss"), "worst");
    ck_assert_double_eq(number(options, "loss_share"), 0.5);
    ck_assert_double_eq(number(options, "decay"), 0.1);
    json_decref(report);
    ck_assert_int_eq(tessera("inspect r/last.safetensors"), 0);
    ck_assert_ptr_nonnull(strstr(out, "for any d, any k"));
    char *script = script_of("inspect r/last.safetensors --plot w.svg");
    expect_drawn(script, "Weights of m");
    expect_drawn(script, "gated_move");
    expect_drawn(script, "feed.in");
    expect_readable(script);
    free(script);
    expect_failure(1, "attention: m: its layers are not the four blocks of a definition",
                   "inspect r/last.safetensors --attention a.svg");
    ck_assert_int_eq(tessera("graph --arch m.json --loss"), 0);
    ck_assert_ptr_nonnull(strstr(out, "layers.0.points.0.soft_assignment"));
    expect_failure(1, "--start construction: deep has not the four blocks of a construction",
                   "train --arch deep.json --d 2 --k 2 "
                   "--start construction --out c");
}
END_TEST

/* The same bytes for any threads, and for a run that went on. */
START_TEST(the_same_bytes_on_any_threads) {
    make_files();
    const char *of = "train " SMALL " --n 20:40 --d 2:3 --k 2:3";
    ck_assert_int_eq(tessera("%s --threads 1 --out one", of), 0);
    ck_assert_int_eq(tessera("%s --threads 8 --out eight", of), 0);
    expect_same_files("one/last.safetensors", "eight/last.safetensors");
    ck_assert_int_eq(tessera("train " SMALL " --steps 5 --n 20:40 --d 2:3 --k 2:3 --out part"), 0);
    ck_assert_int_eq(tessera("train --resume part --steps 10 --quiet"), 0);
    ck_assert_int_eq(
        shell("cmp -s one/metrics.csv part/metrics.csv; cut -d, -f1-5 one/metrics.csv >a.txt; cut -d, -f1-5 "
              "part/metrics.csv >b.txt; cmp a.txt b.txt >out.txt 2>err.txt"),
        0);
    for (int threads = 1; threads <= 8; threads *= 8)
        ck_assert_int_eq(tessera("cluster data.csv -k 2 --labels-column name --model one/last.safetensors --threads %d "
                                 "--labels l%d.csv",
                                 threads, threads),
                         0);
    expect_same_files("l1.csv", "l8.csv");
}
END_TEST

/* A run whose tasks are rows of a file needs that file to go on, and knows another. */
START_TEST(rows_of_a_file_are_tasks) {
    make_files();
    write_file("other.csv", "x,y,name\n1,2,a\n2,3,a\n9,8,b\n8,9,b\n5,1,c\n4,2,c\n7,7,b\n1,9,a\n");
    const char *data = "--data data.csv --labels-column name";
    ck_assert_int_eq(tessera("train " SMALL " %s --data-share .5 --n 6:8 --d 1:2 --k 2 --out d", data), 0);
    expect_failure(1, "d: its data, 8 rows of 2 columns, are needed to go on (--data)", "train --resume d --steps 15");
    expect_failure(1, "its data were 8 rows of 2 columns, and other numbers",
                   "train --resume d --steps 15 --data other.csv --labels-column name");
    ck_assert_int_eq(tessera("train --resume d --steps 15 %s --quiet", data), 0);
    ck_assert_int_eq(tessera("eval d/last.safetensors --tasks 2 --n 10 --quiet"), 0);
    ck_assert_int_eq(tessera("train " SMALL " --source nested:groups=2,scale=.1 --n 20 --d 2 --k 4 --out nested"), 0);
    ck_assert_int_eq(tessera("train --resume nested --steps 12 --quiet"), 0);
    json_t *report = tessera_json("inspect nested/last.safetensors");
    ck_assert_double_eq(number(json_object_get(report, "options"), "source_groups"), 2);
    json_decref(report);
    expect_failure(2, "--source: 'x' is none of nested", "train " SMALL " --source x --out e");
    expect_failure(2, "--data-share: of what? --data says it", "train " SMALL " --data-share .5 --out e");
}
END_TEST

START_TEST(models_of_fixed_sizes_say_so) {
    make_files();
    expect_failure(1, "tasks of d = 2 to 3: the parameters of deep depend on d, and are for 2",
                   "train --arch deep.json --n 20 --d 2:3 --k 2 --out f");
    expect_failure(1, "deep.json: has learned weights: tessera train --arch deep.json trains them, for --model",
                   "cluster data.csv -k 2 --labels-column name --arch deep.json");
    write_file("bad.json",
               "{\"name\": \"b\", \"tokens\": \"none\", \"layers\": [{\"centers\": [{\"attention\": {\"over\": "
               "\"points\", \"heads\": 3}}]}]}");
    expect_failure(1, "layers[0].centers[0].attention: 3 heads do not divide 32", "train --arch bad.json --out b");
    expect_failure(1, "bad.json: layers[0].centers[0].attention: 3 heads do not divide 2", "graph --arch bad.json");
    expect_failure(2, "--gamma: the file given by --arch says it all", "train --arch m.json --gamma 2 --out b");
    expect_failure(2, "--loss: 'best' is none of softmin, sparsemin, hardmin, worst, mapmin",
                   "train --loss best --out b");
    expect_failure(2, "--loss: 'part' is none of share", "train --loss worst:part=1 --out b");
    expect_failure(2, "--loss: share must be in (0,1], not 2", "train --loss worst:share=2 --out b");
    expect_failure(2, "--tau: hardmin has no temperature", "train --loss hardmin --tau 1 --out b");
    expect_failure(2, "--beta1: --optimiser sgd has none", "train --optimiser sgd --beta1 .5 --out b");
    expect_failure(2, "--optimiser: beta1 must be in [0,1), not 1", "train --beta1 1 --out b");
    expect_failure(2, "--n: 40:20 ends before it begins", "train --n 40:20 --out b");
    expect_failure(2, "--freeze: at most 255 bytes", "train --freeze %0300d --out b", 7);
    expect_failure(1, "freeze: no parameter's name begins with 'nothing'", "train --freeze nothing --out b");
}
END_TEST

/* Layers without weights cluster as they are. */
START_TEST(layers_without_weights_cluster) {
    make_files();
    write_file(
        "soft.json",
        "{\"name\": \"soft by layers\", \"tokens\": \"none\", \"layers\": [{\"centers\": [{\"attention\": {\"over\": "
        "\"points\", \"normalise\": \"queries\", \"gamma\": 4, \"query\": \"data\", \"key\": \"data\", \"value\": "
        "\"data\"}}]}]}");
    json_t *report = tessera_json("cluster data.csv -k 2 --labels-column name --arch soft.json");
    ck_assert_str_eq(word(report, "algorithm"), "soft by layers");
    json_t *lloyd = tessera_json("cluster data.csv -k 2 --labels-column name");
    ck_assert_double_eq_tol(number(report, "objective"), number(lloyd, "objective"), 0.2 * number(lloyd, "objective"));
    json_decref(lloyd);
    json_decref(report);
    ck_assert_int_eq(tessera("cluster --print-arch --arch soft.json"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"normalise\": \"queries\""));
    write_file("printed.json", out);
    ck_assert_int_eq(tessera("cluster data.csv -k 2 --labels-column name --arch printed.json"), 0);
}
END_TEST

/* ---- initial values ---------------------------------------------------------------------------------------------- */

/* From another run's checkpoint, and from the construction: one step of a soft k-means is close to Lloyd's. */
START_TEST(starts) {
    make_files();
    const char *of = "--n 40 --d 2 --k 3 --batch 4 --eval-every 1 --eval-batches 4 --quiet";
    ck_assert_int_eq(tessera("train %s --steps 1 --lr 1e-30 --out plain", of), 0);
    ck_assert_int_eq(tessera("train %s --steps 1 --lr 1e-30 --start construction --start-gamma 200 --out circuit", of),
                     0);
    ck_assert_int_eq(tessera("train %s --steps 1 --lr 1e-30 --start circuit/last.safetensors --out again", of), 0);
    json_t *plain = tessera_json("inspect plain/last.safetensors"),
           *circuit = tessera_json("inspect circuit/last.safetensors"),
           *again = tessera_json("inspect again/last.safetensors");
    const double of_plain = number(json_object_get(plain, "training"), "best_relative"),
                 of_circuit = number(json_object_get(circuit, "training"), "best_relative"),
                 of_again = number(json_object_get(again, "training"), "best_relative");
    ck_assert_msg(fabs(of_circuit - 1) < 0.05 && of_plain > 1.2, "%g and %g", of_circuit, of_plain);
    ck_assert_double_eq(of_again, of_circuit);
    json_decref(plain), json_decref(circuit), json_decref(again);
    expect_failure(1, "no parameter of the model has a name of the start's",
                   "train " SMALL " --start plain/last.safetensors --out none");
    expect_failure(1, "cross_points.value.weight has the shape [8,8], that of the start [5,5]",
                   "train --n 40 --d 5 --k 3 --steps 1 --start plain/last.safetensors --out none");
    /* frozen parameters stay as they are */
    ck_assert_int_eq(
        tessera("train %s --steps 5 --freeze cross_points,self_ --start circuit/last.safetensors --out frozen", of), 0);
    json_t *frozen = tessera_json("inspect frozen/last.safetensors");
    circuit = tessera_json("inspect circuit/last.safetensors");
    int same = 0, others = 0;
    for (size_t i = 0; i < 24; i++) {
        const json_t *a = json_array_get(json_object_get(frozen, "tensors"), i),
                     *b = json_array_get(json_object_get(circuit, "tensors"), i);
        ck_assert_str_eq(word(a, "name"), word(b, "name"));
        const bool cold =
            strncmp(word(a, "name"), "cross_points", 12) == 0 || strncmp(word(a, "name"), "self_", 5) == 0;
        if (cold) ck_assert_double_eq(number(a, "norm"), number(b, "norm"));
        same += cold;
        others += !cold && number(a, "norm") != number(b, "norm");
    }
    ck_assert(same == 18 && others == 6);
    json_decref(frozen), json_decref(circuit);
}
END_TEST

/* ---- an earlier version's file ----------------------------------------------------------------------------------- */

START_TEST(checkpoints_of_earlier_versions_load) {
    char path[1000], command[2200];
    snprintf(path, sizeof path, "%s/../../tests/data/checkpoint-of-0.1.0.safetensors", getenv("TESSERA_DATA"));
    snprintf(command, sizeof command, "mkdir old && cp '%s' old/last.safetensors >out.txt 2>err.txt", path);
    ck_assert_int_eq(shell(command), 0);
    ck_assert_int_eq(tessera("eval old/last.safetensors --tasks 2 --n 16 --quiet"), 0);
    ck_assert_int_eq(tessera("inspect old/last.safetensors"), 0);
    write_file("two.csv", "0,0\n0,1\n5,5\n5,6\n");
    ck_assert_int_eq(tessera("cluster two.csv -k 2 --model old/last.safetensors"), 0);
    /* read and written again it has the same bytes; and it goes on (to other last digits than where it was begun, since
     * those depend on processor and compiler) */
    ck_assert_int_eq(tessera("train --resume old --steps 4 --quiet"), 0);
    snprintf(command, sizeof command, "cmp old/last.safetensors '%s' >out.txt 2>err.txt", path);
    ck_assert_int_eq(shell(command), 0);
    ck_assert_int_eq(tessera("train --resume old --steps 8 --quiet"), 0);
    ck_assert_ptr_nonnull(strstr(out, "old: 8 steps"));
}
END_TEST

/* ---- lists and pictures ------------------------------------------------------------------------------------------ */

START_TEST(lists_of_runs) {
    make_files();
    const char *list = "train " SMALL " --n 20 --d 2 --k 2 --seed 1,2 --lr .001,.01 --out list";
    ck_assert_int_eq(tessera("%s", list), 0);
    ck_assert_ptr_nonnull(strstr(out, "list: 4 runs"));
    ck_assert_ptr_nonnull(strstr(out, "lr .01"));
    ck_assert_int_eq(tessera("train " SMALL " --n 20 --d 2 --k 2 --seed 2 --lr .01 --out alone"), 0);
    expect_same_files("list/lr-.01-seed-2/last.safetensors", "alone/last.safetensors");
    char *csv = read_file("list/runs.csv", NULL);
    ck_assert_ptr_nonnull(csv);
    ck_assert_int_eq(count_of(csv, "\n"), 5);
    ck_assert_ptr_nonnull(strstr(csv, "lr,seed,steps,best_relative,"));
    /* the same command goes on: with one folder gone and one begun, to the same bytes */
    ck_assert_int_eq(
        shell("rm -r list/lr-.01-seed-2 && mv list/runs.csv before.csv && cut -d, -f1-6 before.csv >a.txt"), 0);
    json_t *report = tessera_json("%s", list);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "runs")), 4);
    json_decref(report);
    ck_assert_int_eq(shell("cut -d, -f1-6 list/runs.csv >b.txt && cmp a.txt b.txt >out.txt 2>err.txt"), 0);
    expect_same_files("list/lr-.01-seed-2/last.safetensors", "alone/last.safetensors");
    expect_failure(2, "--seed: 1 stands there twice", "train " SMALL " --seed 1,1 --out l");
    expect_failure(2, "where to? --out DIR", "train " SMALL " --seed 1,2");
    expect_failure(2, "--resume: a list of runs goes on by itself", "train --seed 1,2 --resume list --out l");
    free(csv);
}
END_TEST

START_TEST(pictures_of_several) {
    write_file("a.csv", "step,train_loss,val_objective,val_relative,lr,seconds\n10,3,3,2,.1,1\n20,2,2,1.5,.1,2\n");
    ck_assert_int_eq(shell("mkdir -p r-seed-1 r-seed-2 && cp a.csv r-seed-1/metrics.csv && sed s/1.5/0.5/ a.csv "
                           ">r-seed-2/metrics.csv 2>err.txt"),
                     0);
    char *script = script_of("plot r-seed-1/metrics.csv r-seed-2/metrics.csv --out p.svg");
    expect_drawn(script, "r-seed-1");
    expect_drawn(script, "r-seed-2");
    expect_not_drawn(script, "filledcurves");
    expect_readable(script);
    free(script);
    script = script_of("plot r-seed-1/metrics.csv r-seed-2/metrics.csv --group --out p.svg");
    expect_drawn(script, "r (median of 2)");
    expect_drawn(script, "20 1 0.75 1.25"); /* of .5 and 1.5 */
    expect_drawn(script, "filledcurves");
    free(script);
    write_file("e.csv",
               "n,family,init,step,lloyd,model,lloyd_q25,lloyd_q75,model_q25,model_q75\n9,normal,random,0,3,3,3,3,3,3\n"
               "9,normal,random,1,2,1,2,2,1,1\n");
    script = script_of("plot e.csv --out p.svg");
    expect_drawn(script, "Lloyd");
    expect_drawn(script, "1 2 2 2");
    free(script);
    write_file("empty.csv", "");
    write_file("head.csv", "step,val_relative\n");
    write_file("other.csv", "a,b\n1,2\n");
    write_file("short.csv", "step,val_relative\n1,2\n3\n");
    expect_failure(1, "empty.csv: is empty", "plot empty.csv --out p.svg");
    expect_failure(1, "head.csv: has no rows yet", "plot head.csv --out p.svg");
    expect_failure(1, "other.csv: neither metrics.csv of a training run nor the CSV of tessera eval",
                   "plot other.csv --out p.svg");
    expect_failure(1, "short.csv: line 3 has not the 2 columns of the header", "plot short.csv --out p.svg");
    expect_failure(1, "a.csv and e.csv: curves of training and of eval do not go into one picture",
                   "plot a.csv e.csv --out p.svg");
    expect_failure(1, "a.csv: has no column speed", "plot a.csv --column speed --out p.svg");
    expect_failure(1, "none.csv: No such file", "plot none.csv --out p.svg");
    expect_failure(2, "where to? --out FILE.svg", "plot a.csv");
    expect_failure(2, "which FILE...?", "plot --out p.svg");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("any model");
    tcase_add_test(tests, trained_on_ranges_and_used_on_any_data);
    tcase_add_test(tests, the_same_bytes_on_any_threads);
    tcase_add_test(tests, rows_of_a_file_are_tasks);
    tcase_add_test(tests, models_of_fixed_sizes_say_so);
    tcase_add_test(tests, layers_without_weights_cluster);
    tcase_add_test(tests, starts);
    tcase_add_test(tests, checkpoints_of_earlier_versions_load);
    tcase_add_test(tests, lists_of_runs);
    tcase_add_test(tests, pictures_of_several);
    return run_program_case("any model", tests);
}
