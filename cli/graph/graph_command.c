/* graph_command.c: `tessera graph`: the tape of one layer of a transformer, run on a few example points. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../io/output_file.h"
#include "../../models/definition/learner.h"
#include "../../models/definition/variants.h"
#include "../common/commands.h"
#include "../common/definition_file.h"
#include "../common/message.h"
#include "../common/options.h"
#include "graph_writer.h"

typedef struct graph_options {
    const char *algorithm, *construction, *arch, *out; /* NULL: not given */
    bool learned, loss;
    int64_t n, d, k;
    double gamma, trim; /* below 0: not given */
} graph_options;

#define FIELD(name) offsetof(graph_options, name)

/* Small enough for matrices [d+k,d+k] and scores of all pairs of points. */
enum { MOST_POINTS = 1000, MOST_COORDINATES = 100 };

static const cli_option options_table[] = {
    CLI_GROUP("Which model"),
    CLI_OPTION(CLI_TEXT, "algorithm", "NAME", algorithm,
               "one of those that tessera cluster --help tells (default lloyd)"),
    CLI_OPTION(CLI_TEXT, "arch", "FILE.json", arch, "a transformer of one's own, instead"),
    CLI_OPTION(CLI_TEXT, "construction", "onehot|binary|dot", construction,
               "how assignments are written into tokens (default onehot)"),
    CLI_OPTION(CLI_POSITIVE, "gamma", "G", gamma,
               "the factor of squared distances in softmax attention (default:\nas the algorithm and the example "
               "points have it)"),
    CLI_OPTION(CLI_SHARE, "trim", "F", trim, "of trimmed: the share of each cluster that is trimmed"),
    CLI_OPTION(CLI_FLAG, "learned", NULL, learned, "instead, a layer whose twelve projections are trained"),
    CLI_OPTION(CLI_FLAG, "loss", NULL, loss, "with the mean squared distance of points to their nearest new\ncentre"),
    CLI_GROUP("On what"),
    CLI_OPTION(CLI_WHOLE, "n", "N", n, "number of example points (default 6)", .letter = 'n', .least = 1,
               .most = MOST_POINTS),
    CLI_OPTION(CLI_WHOLE, "d", "D", d, "their coordinates (default 2)", .letter = 'd', .least = 1,
               .most = MOST_COORDINATES),
    CLI_OPTION(CLI_WHOLE, "k", "K", k, "number of clusters (default 2)", .letter = 'k', .least = 1,
               .most = MOST_COORDINATES),
    CLI_GROUP("What to write"),
    CLI_OPTION(CLI_TEXT, "out", "FILE.dot", out, "a file instead of standard output"),
};

static const cli_command command = {
    .name = "graph",
    .operand = NULL,
    .summary = "Writes the tape of one layer of a clustering transformer in the language of Graphviz: a box for\n"
               "each op, an ellipse for each tensor it starts from, and shapes along the edges.",
    .examples = "Examples\n"
                "  tessera graph | dot -Tsvg > lloyd.svg\n"
                "  tessera graph --learned --loss --out learned.dot\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
};

/* ---- the command line ------------------------------------------------------------------------------------------ */

static int check_options(const graph_options *o) {
    const struct {
        bool given;
        const char *name;
    } of_constructions[] = {{o->algorithm != NULL, "algorithm"},
                            {o->construction != NULL, "construction"},
                            {o->gamma >= 0, "gamma"},
                            {o->trim >= 0, "trim"}};
    for (size_t i = 0; o->learned && i < sizeof of_constructions / sizeof of_constructions[0]; i++)
        if (of_constructions[i].given)
            return cli_fail(CLI_WRONG_USE, "--%s: not with --learned, whose model learns instead",
                            of_constructions[i].name);
    for (size_t i = 0; o->arch != NULL && i < sizeof of_constructions / sizeof of_constructions[0]; i++)
        if (of_constructions[i].given || o->learned)
            return cli_fail(CLI_WRONG_USE, "--%s: the file given by --arch says it all",
                            o->learned ? "learned" : of_constructions[i].name);
    if (o->arch != NULL && o->out != NULL && ts_output_same(o->arch, o->out))
        return cli_fail(CLI_WRONG_USE, "--out: %s is read by this command", o->out);
    if (o->k > o->n)
        return cli_fail(CLI_WRONG_USE, "--k: %lld clusters of only %lld points", (long long)o->k, (long long)o->n);
    if (o->algorithm != NULL && ts_variant_by_name(o->algorithm) == NULL)
        return cli_fail(CLI_WRONG_USE, "--algorithm: '%s' is none of those in tessera cluster --help", o->algorithm);
    return CLI_GO_ON;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* Points of k groups in turn, so the first k serve as initial centres. */
static void make_points(const graph_options *o, ts_real *points) {
    const ts_rng noise = {0, ts_rng_stream("tessera graph"), 0};
    for (int64_t i = 0; i < o->n; i++)
        for (int64_t a = 0; a < o->d; a++) {
            const double place = 1 + (double)(i % o->k) * (a % 2 == 0 ? 4 : -3);
            points[i * o->d + a] = (ts_real)(place + 0.5 * ts_rng_normal(noise, (uint64_t)(i * o->d + a)));
        }
}

/* The definition that the options name. */
static ts_status define(const graph_options *o, const ts_real *points, ts_definition *definition, ts_error *error) {
    if (o->learned) {
        *definition = ts_learner(TS_CONSTRUCTION_ONEHOT, 1, 0.01);
        return TS_OK;
    }
    const ts_variant *variant = ts_variant_by_name(o->algorithm != NULL ? o->algorithm : "lloyd");
    const ts_problem problem = {.n = o->n, .d = o->d, .k = o->k, .points = points, .centers = points};
    ts_settings settings = ts_variant_settings(variant);
    if (o->construction != NULL) settings.construction = o->construction;
    if (o->gamma >= 0) settings.gamma = o->gamma;
    if (o->trim >= 0) settings.trim = o->trim;
    if (ts_variant_chooses_gamma(variant, &settings)) settings.gamma = ts_variant_gamma(variant, &problem);
    return ts_variant_define(variant, &settings, definition, error);
}

/* ---- the tape -------------------------------------------------------------------------------------------------- */

static void name(cli_tape_graph *graph, const ts_tensor *tensor, const char *text) {
    graph->name[graph->n_names++] = (cli_graph_name){tensor, text};
}

static void end_stage(cli_tape_graph *graph, const char *text, const ts_tape *tape) {
    graph->stage[graph->n_stages++] = (cli_graph_stage){text, ts_tape_last(tape)};
}

/* Tokens [rows,e] of the first rows of points. */
static ts_tensor *embed(const ts_transformer *model, ts_tape *tape, int64_t rows, const ts_real *points,
                        const ts_real *code) {
    ts_tensor *tokens = ts_constant(tape, TS_SHAPE(rows, model->e), NULL);
    if (ts_tape_status(tape) == TS_OK) ts_transformer_embed(model, rows, points, code, tokens->data);
    return tokens;
}

/* mean_i min_j ||x_i - c_j||^2: the k-means objective of the new centres, by the point. */
static ts_tensor *loss_of(const ts_transformer *model, ts_tape *tape, ts_tensor *points, ts_tensor *centers) {
    ts_tensor *x = ts_slice(tape, points, -1, 0, model->d), *c = ts_slice(tape, centers, -1, 0, model->d);
    return ts_mean(tape, ts_min(tape, ts_squared_distances(tape, x, c), -1, false), TS_ALL_AXES, false);
}

/* One layer, as a runner applies it: a model with a norm sends fresh tokens through that first. */
static void record(const graph_options *o, const ts_real *values, ts_tape *tape, cli_tape_graph *graph) {
    const ts_transformer *model = graph->model;
    ts_tensor *points = embed(model, tape, o->n, values, NULL);
    ts_tensor *centers = embed(model, tape, o->k, values, model->book);
    name(graph, points, "points");
    name(graph, centers, "centres");
    points = ts_transformer_norm_input(model, tape, points);
    centers = ts_transformer_norm_input(model, tape, centers);
    if (model->has_norm) {
        name(graph, points, "points of length 1");
        name(graph, centers, "centres of length 1");
        end_stage(graph, "enter", tape);
    }
    ts_tensor *assigned = ts_transformer_assign(model, tape, points, centers, 0);
    name(graph, assigned, "points with codes");
    end_stage(graph, "assign", tape);
    centers = ts_transformer_update(model, tape, assigned, centers, 0);
    name(graph, centers, "new centres");
    end_stage(graph, "update", tape);
    if (!o->loss) return;
    name(graph, loss_of(model, tape, points, centers), "loss");
    end_stage(graph, "loss", tape);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static int write_graph(const graph_options *o, const cli_tape_graph *graph) {
    ts_output_file file;
    ts_io_error error;
    if (o->out == NULL) {
        if (!cli_graph_write(graph, stdout)) return cli_fail(CLI_FAILED, "out of memory for a graph");
        return cli_flush_stdout();
    }
    if (!ts_output_open(o->out, &file, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    if (!cli_graph_write(graph, file.stream)) {
        ts_output_abandon(&file);
        return cli_fail_memory(o->out);
    }
    return ts_output_commit(&file, &error) ? CLI_DONE : cli_fail(CLI_FAILED, "%s", error.text);
}

static bool learns(ts_params *params) {
    for (int i = 0; i < ts_params_count(params); i++)
        if (ts_params_grad(params, i) != NULL) return true;
    return false;
}

static void write_title(const graph_options *o, const char *model_name, const char *what, ts_params *params,
                        char *title, size_t size) {
    snprintf(title, size, "%s: one %s on %lld points, %lld coordinates, %lld clusters%s", model_name, what,
             (long long)o->n, (long long)o->d, (long long)o->k, learns(params) ? "\nblue: gradients flow back" : "");
}

static int finish(const graph_options *o, const cli_tape_graph *graph, ts_tape *tape) {
    const char *failure = ts_tape_error(tape);
    const int status = failure != NULL ? cli_fail(CLI_FAILED, "%s", failure) : write_graph(o, graph);
    ts_tape_free(tape);
    return status;
}

static int draw(const graph_options *o, const char *model_name, const ts_transformer *model, const ts_real *points) {
    char title[256];
    write_title(o, model_name, "layer", model->params, title, sizeof title);
    cli_tape_graph graph = {.title = title, .params = model->params, .model = model};
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return cli_fail(CLI_FAILED, "out of memory for a tape");
    record(o, points, tape, &graph);
    return finish(o, &graph, tape);
}

/* A step of layers that are not four blocks: the points of each layer, then its centres. */
static void record_layers(const graph_options *o, const ts_model *model, const ts_real *values, ts_tape *tape,
                          cli_tape_graph *graph) {
    const ts_model_task task = {.n = o->n, .d = o->d, .k = o->k, .points = values, .centers = values};
    ts_tensor *after = NULL;
    ts_model_unroll(model, model->params, tape, &task, 1, 0, &after);
    if (ts_tape_status(tape) != TS_OK) return;
    name(graph, after, "new centres");
    end_stage(graph, "a step", tape);
    if (!o->loss) return;
    ts_tensor *x = ts_borrow(tape, TS_SHAPE(o->n, o->d), values);
    name(graph, x, "points");
    name(graph, ts_mean(tape, ts_min(tape, ts_squared_distances(tape, x, after), -1, false), TS_ALL_AXES, false),
         "loss");
    end_stage(graph, "loss", tape);
}

static int draw_layers(const graph_options *o, const ts_model *model, const ts_real *points) {
    char title[256];
    write_title(o, model->architecture->name, "step", model->params, title, sizeof title);
    cli_tape_graph graph = {.title = title, .params = model->params};
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return cli_fail(CLI_FAILED, "out of memory for a tape");
    record_layers(o, model, points, tape, &graph);
    return finish(o, &graph, tape);
}

/* Builds the model of a definition, and draws it. */
static int build_blocks(const graph_options *o, const ts_definition *definition, const ts_real *points) {
    ts_transformer model;
    ts_error error = {.status = TS_OK};
    if (ts_transformer_build(&model, definition, o->d, o->k, 0, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s%s%s", o->arch != NULL ? o->arch : "", o->arch != NULL ? ": " : "", error.text);
    const int status = draw(o, definition->name, &model, points);
    ts_transformer_clear(&model);
    return status;
}

static int build_file(const graph_options *o, const ts_real *points) {
    ts_architecture *architecture;
    ts_model model;
    ts_error error = {.status = TS_OK};
    if (cli_read_architecture(o->arch, &architecture) != CLI_DONE) return CLI_FAILED;
    if (architecture->definition != NULL) {
        const int status = build_blocks(o, architecture->definition, points);
        ts_architecture_free(architecture);
        return status;
    }
    if (ts_model_build(&model, architecture, o->d, o->k, 0, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s: %s", o->arch, error.text);
    const int status = draw_layers(o, &model, points);
    ts_model_clear(&model);
    return status;
}

/* Builds the model that the options name, and draws it. */
static int build(const graph_options *o, const ts_real *points) {
    ts_definition definition;
    ts_error error = {.status = TS_OK};
    if (o->arch != NULL) return build_file(o, points);
    if (define(o, points, &definition, &error) != TS_OK) return cli_fail(CLI_WRONG_USE, "%s", error.text);
    return build_blocks(o, &definition, points);
}

int cli_graph(int n_words, char *const *words) {
    graph_options o = {.n = 6, .d = 2, .k = 2, .gamma = -1, .trim = -1};
    int status = cli_parse(&command, n_words, words, &o, NULL);
    if (status == CLI_GO_ON) status = check_options(&o);
    if (status != CLI_GO_ON) return status;
    ts_real *points = malloc((size_t)(o.n * o.d) * sizeof *points);
    if (points == NULL) return cli_fail(CLI_FAILED, "out of memory for the example points");
    make_points(&o, points);
    status = build(&o, points);
    free(points);
    return status;
}
