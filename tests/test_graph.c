/* `tessera graph`: its output read as a reader of Graphviz would, and the writer on text that must be escaped. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../cli/graph/graph_writer.h"
#include "../models/definition/variants.h"
#include "program.h"

/* The exit code of `tessera graph WORDS`. */
static int graph(const char *format, ...) {
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return tessera("graph %s", words);
}

static int count(const char *text, const char *word) {
    int found = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) found++;
    return found;
}

static void expect(const char *word) {
    ck_assert_msg(strstr(out, word) != NULL, "%s is not in %s", word, out);
}

/* ---- reading dot ------------------------------------------------------------------------------------------------- */

enum { MOST_NODES = 400, ID = 32 };
typedef struct nodes {
    char id[MOST_NODES][ID];
    bool joined[MOST_NODES]; /* an edge begins or ends there */
    int count;
} nodes;

static int find(const nodes *n, const char *id) {
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->id[i], id) == 0) return i;
    return -1;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end == NULL ? NULL : end + 1;
}

static void expect_balance(const char *text) {
    int depth = 0, quotes = 0;
    for (const char *c = text; *c != '\0'; c++) {
        const bool quoted = quotes % 2 == 1;
        ck_assert_msg(!quoted || *c != '\n', "a string does not end: %.40s", c);
        if (quoted && *c == '\\')
            c++;
        else if (*c == '"')
            quotes++;
        else if (!quoted && (*c == '{' || *c == '}'))
            depth += *c == '{' ? 1 : -1;
        ck_assert_int_ge(depth, 0);
    }
    ck_assert_int_eq(depth, 0);
    ck_assert_int_eq(quotes % 2, 0);
}

/* Statements are lines: a node "op1 [...];", an edge "op1 -> op2 [...];". */
static void read_nodes(const char *text, nodes *n) {
    *n = (nodes){.count = 0};
    for (const char *line = text; line != NULL; line = next_line(line)) {
        char id[ID], rest[3];
        if (sscanf(line, " %31[a-z0-9_] %2s", id, rest) != 2 || rest[0] != '[') continue;
        if (strcmp(id, "node") == 0 || strcmp(id, "edge") == 0) continue;
        ck_assert_msg(find(n, id) < 0, "%s is declared twice", id);
        ck_assert_int_lt(n->count, MOST_NODES);
        strcpy(n->id[n->count++], id);
    }
}

static void expect_graph(const char *text) {
    static nodes n;
    ck_assert_int_eq(strncmp(text, "digraph tessera {\n", 18), 0);
    expect_balance(text);
    read_nodes(text, &n);
    for (const char *line = text; line != NULL; line = next_line(line)) {
        char from[ID], to[ID];
        if (sscanf(line, " %31[a-z0-9_] -> %31[a-z0-9_] [", from, to) != 2) continue;
        ck_assert_msg(find(&n, from) >= 0 && find(&n, to) >= 0, "%s -> %s", from, to);
        n.joined[find(&n, from)] = n.joined[find(&n, to)] = true;
    }
    ck_assert_int_gt(n.count, 0);
    for (int i = 0; i < n.count; i++) ck_assert_msg(n.joined[i], "%s stands alone", n.id[i]);
}

/* ---- tests ---------------------------------------------------------------------------------------------------- */

START_TEST(the_layer_of_lloyd) {
    ck_assert_int_eq(graph(" "), 0);
    ck_assert_str_eq(err, "");
    expect_graph(out);
    static const char *const words[] = {"points [6,4]",
                                        "centres [2,4]",
                                        "new centres [2,4]",
                                        "cluster_assign\"",
                                        "cluster_update\"",
                                        "cluster_assign_cross_points\"",
                                        "cluster_update_self_centers\"",
                                        "self_points.value.weight [4]",
                                        "cross_centers.value.weight [4]",
                                        "argmax of −‖query − key‖²",
                                        "linear of query · key",
                                        "coordinates 0 to 1",
                                        "coordinates 2 to 3",
                                        " 6×4 ",
                                        " query 6×2 ",
                                        " key 2×2 ",
                                        " value 2×4 "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) expect(words[i]);
    ck_assert_int_eq(count(out, "label=\"attention"), 2);
    ck_assert_int_eq(count(out, "label=\"slice"), 4);
    ck_assert_int_eq(count(out, "label=\"mul\""), 4);
    ck_assert_int_eq(count(out, "label=\"add\""), 4);
    ck_assert_int_eq(graph("-n 20 -d 5 -k 3"), 0);
    expect_graph(out);
    expect("points [20,8]");
    expect("centres [3,8]");
    expect(" query 20×5 ");
}
END_TEST

START_TEST(every_algorithm_in_every_construction) {
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        for (int construction = 0; ts_construction_names[construction] != NULL; construction++) {
            const bool has = strstr(v->constructions, ts_construction_names[construction]) != NULL;
            const int code =
                graph("--algorithm %s --construction %s -k 3 --loss", v->name, ts_construction_names[construction]);
            ck_assert_msg(code == (has ? 0 : 2), "%s, %s: exit %d: %s", v->name, ts_construction_names[construction],
                          code, err);
            if (has) expect_graph(out);
        }
    ck_assert_int_eq(graph("--construction dot"), 0);
    expect("relu_squared");
    expect("feed_forward.in.weight [6,4]");
    ck_assert_int_eq(graph("--algorithm spherical"), 0);
    expect("rms_norm");
    expect("cluster_enter\"");
    ck_assert_int_eq(graph("--algorithm trimmed --gamma 0.25"), 0);
    expect("mask of own codes [2,6]");
    expect("normmax-inf of −0.25 ‖query − key‖²");
    ck_assert_int_eq(graph("--algorithm trimmed --trim 0.25"), 0);
    expect("parameter 0.25");
    ck_assert_int_eq(graph("--algorithm soft --gamma 2"), 0);
    expect("softmax of −2 ‖query − key‖²");
}
END_TEST

START_TEST(a_learned_layer) {
    static const char *const parts[] = {"query", "key", "value"};
    ck_assert_int_eq(graph("--learned"), 0);
    expect_graph(out);
    for (int i = 0; i < TS_BLOCKS; i++)
        for (int p = 0; p < 3; p++) {
            char name[TS_PARAM_NAME];
            snprintf(name, sizeof name, "%s.%s.weight [4,4]", ts_block_names[i], parts[p]);
            expect(name);
            snprintf(name, sizeof name, "%s.%s.bias [4]", ts_block_names[i], parts[p]);
            expect(name);
        }
    ck_assert_int_eq(count(out, "label=\"matmul\""), 12);
    ck_assert_int_eq(count(out, "softmax of −0.5 ‖query − key‖²\\ndropout 0.01"), 4);
    ck_assert_ptr_null(strstr(out, "loss"));
    ck_assert_int_eq(graph("--learned --loss"), 0);
    expect_graph(out);
    expect("cluster_loss\"");
    expect("squared_distances");
    expect("loss []");
    expect(" scalar ");
}
END_TEST

START_TEST(the_same_bytes_twice_and_in_a_file) {
    static const char *const words[] = {"--algorithm lloyd", "--learned --loss", "--algorithm kmedoids -k 4"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        ck_assert_int_eq(graph("%s", words[i]), 0);
        char *first = out;
        out = NULL;
        ck_assert_int_eq(graph("%s", words[i]), 0);
        ck_assert_str_eq(out, first);
        ck_assert_int_eq(graph("%s --out graph.dot", words[i]), 0);
        ck_assert_str_eq(out, "");
        char *file = read_file("graph.dot", NULL);
        ck_assert_str_eq(file, first);
        free(first);
        free(file);
    }
}
END_TEST

START_TEST(wrong_command_lines) {
    expect_failure(2, "'median' is none of", "graph --algorithm median");
    expect_failure(2, "no construction dot", "graph --algorithm fuzzy --construction dot");
    expect_failure(2, "no construction decimal", "graph --construction decimal");
    expect_failure(2, "soft needs a gamma above 0 and finite", "graph --algorithm soft --gamma inf");
    expect_failure(2, "fuzzy has no gamma", "graph --algorithm fuzzy --gamma 1");
    expect_failure(2, "lloyd trims nothing", "graph --trim 0.1");
    expect_failure(2, "--trim: 1 is not a share", "graph --algorithm trimmed --trim 1");
    expect_failure(2, "--n: 0 is not between", "graph -n 0");
    expect_failure(2, "--k: 7 clusters of only 6 points", "graph -k 7");
    expect_failure(2, "--algorithm: not with --learned", "graph --learned --algorithm lloyd");
    expect_failure(2, "--construction: not with --learned", "graph --learned --construction onehot");
    expect_failure(2, "--gamma: not with --learned", "graph --learned --gamma 1");
    expect_failure(2, "unknown option '--seed'", "graph --seed 1");
    expect_failure(2, "takes options only", "graph lloyd");
    ck_assert_int_eq(graph("--help"), 0);
    expect("--learned");
    ck_assert_int_eq(tessera("cluster --print-arch"), 0);
    write_file("own.json", out);
    expect_failure(2, "own.json is read by this command", "graph --arch own.json --out own.json");
    expect_failure(2, "the file given by --arch says it all", "graph --arch own.json --learned");
    ck_assert_int_eq(graph("--arch own.json"), 0);
}
END_TEST

START_TEST(outputs_that_cannot_be_written) {
    expect_failure(1, "nowhere/graph.dot", "graph --out nowhere/graph.dot");
    expect_failure(1, ": Is a directory", "graph --out .");
    if (access("/dev/full", W_OK) != 0) {
        skip_part("no /dev/full");
        return;
    }
    ck_assert_int_eq(symlink("/dev/full", "full.dot"), 0);
    expect_failure(1, "full.dot: No space", "graph --out full.dot");
    const int status = system("\"$TESSERA\" graph >/dev/full 2>err.txt");
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}
END_TEST

START_TEST(quotes_in_names_are_escaped) {
    ts_error error = {.status = TS_OK};
    ts_definition definition;
    ts_transformer model;
    const ts_variant *lloyd = ts_variant_by_name("lloyd");
    const ts_settings settings = ts_variant_settings(lloyd);
    ck_assert_int_eq(ts_variant_define(lloyd, &settings, &definition, &error), TS_OK);
    ck_assert_int_eq(ts_transformer_build(&model, &definition, 2, 2, 0, &error), TS_OK);
    ts_tape *tape = ts_tape_create(TS_RECORD);
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3), NULL), *y = ts_square(tape, x);
    const cli_tape_graph graph_of_x = {.title = "a \"b\" \\c\n\td{",
                                       .params = model.params,
                                       .model = &model,
                                       .n_stages = 1,
                                       .n_names = 2,
                                       .stage = {{"the \"stage\"", ts_tape_last(tape)}},
                                       .name = {{x, "x\""}, {y, "y\\"}}};
    FILE *file = fopen("quoted.dot", "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert(cli_graph_write(&graph_of_x, file));
    fclose(file);
    free(out);
    out = read_file("quoted.dot", NULL);
    expect_graph(out);
    expect("label=\"a \\\"b\\\" \\\\c\\n?d{\"");
    expect("subgraph \"cluster_the \\\"stage\\\"\"");
    expect("label=\"x\\\" [3]\"");
    expect("label=\"y\\\\ [3]\"");
    ts_tape_free(tape);
    ts_transformer_clear(&model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("graph");
    tcase_add_test(tests, the_layer_of_lloyd);
    tcase_add_test(tests, every_algorithm_in_every_construction);
    tcase_add_test(tests, a_learned_layer);
    tcase_add_test(tests, the_same_bytes_twice_and_in_a_file);
    tcase_add_test(tests, wrong_command_lines);
    tcase_add_test(tests, outputs_that_cannot_be_written);
    tcase_add_test(tests, quotes_in_names_are_escaped);
    return run_program_case("graphs of tapes", tests);
}
