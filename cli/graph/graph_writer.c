#include "graph_writer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is drawn ------------------------------------------------------------------------------------------- */

typedef struct op_box {
    const ts_node *node;
    int stage;
    char part[TS_PARAM_NAME]; /* "cross_points", ...; "" outside all of them */
} op_box;

typedef struct leaf {
    const ts_tensor *tensor;
    int param; /* its number; -1: none */
    bool is_mask;
    const char *name; /* of an input; NULL */
    int reader;       /* the first op that reads it */
} leaf;

typedef struct drawing {
    const cli_tape_graph *graph;
    FILE *out;
    op_box *op; /* in the order in which they ran */
    int n_ops;
    leaf *leaf;
    int n_leaves;
} drawing;

static const char *name_of(const drawing *g, const ts_tensor *tensor) {
    for (int i = 0; i < g->graph->n_names; i++)
        if (g->graph->name[i].tensor == tensor) return g->graph->name[i].name;
    return NULL;
}

/* The op that computed a tensor, -1 for a leaf. */
static int producer_of(const drawing *g, const ts_tensor *tensor) {
    for (int i = 0; i < g->n_ops; i++)
        if (g->op[i].node->out == tensor) return i;
    return -1;
}

static int leaf_of(const drawing *g, const ts_tensor *tensor) {
    for (int i = 0; i < g->n_leaves; i++)
        if (g->leaf[i].tensor == tensor) return i;
    return -1;
}

/* The first op that reads a tensor, -1 when none does. */
static int reader_of(const drawing *g, const ts_tensor *tensor) {
    for (int i = 0; i < g->n_ops; i++)
        for (int a = 0; a < g->op[i].node->n_in; a++)
            if (g->op[i].node->in[a] == tensor) return i;
    return -1;
}

/* The stage whose frame a tensor stands in. */
static int home_of(const drawing *g, const ts_tensor *tensor) {
    const int producer = producer_of(g, tensor);
    return g->op[producer >= 0 ? producer : reader_of(g, tensor)].stage;
}

static bool stage_reads(const drawing *g, int stage, const ts_tensor *tensor) {
    for (int i = 0; i < g->n_ops; i++)
        for (int a = 0; a < g->op[i].node->n_in; a++)
            if (g->op[i].stage == stage && g->op[i].node->in[a] == tensor) return true;
    return false;
}

/* A tensor from an earlier stage is drawn again where it enters a stage, so that a single line leads there. */
static bool comes_in(const drawing *g, int stage, const ts_tensor *tensor) {
    return stage_reads(g, stage, tensor) && home_of(g, tensor) != stage;
}

static int param_of(const drawing *g, const ts_tensor *tensor) {
    ts_params *params = g->graph->params;
    for (int i = 0; i < ts_params_count(params); i++)
        if (ts_params_value(params, i) == tensor->data) return i;
    return -1;
}

static bool is_attention(const ts_node *node) {
    return node->op == &ts_op_attention || node->op == &ts_op_attention_weights;
}

/* What attention calls its inputs; "" for those of other ops. */
static const char *role_of(const ts_node *node, int input) {
    static const char *const whole[] = {"query", "key", "value", "mask"}, *const weights[] = {"query", "key", "mask"};
    if (node->op == &ts_op_attention) return whole[input];
    return node->op == &ts_op_attention_weights ? weights[input] : "";
}

/* ---- collecting ---------------------------------------------------------------------------------------------- */

static bool take_ops(drawing *g) {
    const ts_node *const last = g->graph->stage[g->graph->n_stages - 1].last;
    int edges = 0, stage = g->graph->n_stages - 1;
    for (const ts_node *node = last; node != NULL; node = node->previous) g->n_ops++, edges += node->n_in;
    g->op = calloc((size_t)g->n_ops + 1, sizeof *g->op);
    g->leaf = calloc((size_t)edges + 1, sizeof *g->leaf); /* as many at most */
    if (g->op == NULL || g->leaf == NULL) return false;
    int at = g->n_ops;
    for (const ts_node *node = last; node != NULL; node = node->previous) {
        while (stage > 0 && g->graph->stage[stage - 1].last == node) stage--;
        g->op[--at] = (op_box){.node = node, .stage = stage};
    }
    return true;
}

static void take_leaves(drawing *g) {
    for (int i = 0; i < g->n_ops; i++) {
        const ts_node *node = g->op[i].node;
        for (int a = 0; a < node->n_in; a++) {
            const ts_tensor *in = node->in[a];
            if (producer_of(g, in) >= 0 || leaf_of(g, in) >= 0) continue;
            g->leaf[g->n_leaves++] = (leaf){.tensor = in,
                                            .param = param_of(g, in),
                                            .is_mask = strcmp(role_of(node, a), "mask") == 0,
                                            .name = name_of(g, in),
                                            .reader = i};
        }
    }
}

/* "cross_points" of "cross_points.value.weight"; "layers.0.points.0.attention" of
 * "layers.0.points.0.attention.query.weight": up to what a layer of a list is called. */
static int part_length(const char *name) {
    size_t length = strcspn(name, ".");
    if (strncmp(name, "layers.", 7) != 0) return (int)length;
    for (size_t at = 0; name[at] != '\0'; at++) /* the word after the last number */
        if (name[at] == '.' && name[at + 1] >= '0' && name[at + 1] <= '9') {
            const size_t word = at + 1 + strcspn(name + at + 1, ".");
            length = name[word] == '\0' ? word : word + 1 + strcspn(name + word + 1, ".");
        }
    return (int)length;
}

/* An op belongs to the part whose parameter it uses, "cross_points" of "cross_points.value.weight"; without one, an
 * attention to that of its values, and an op of a single input to where that comes from. */
static void find_part(drawing *g, op_box *op) {
    const ts_node *node = op->node;
    for (int a = 0; a < node->n_in; a++) {
        const int param = param_of(g, node->in[a]);
        if (param < 0) continue;
        const char *name = ts_params_name(g->graph->params, param);
        snprintf(op->part, sizeof op->part, "%.*s", part_length(name), name);
        return;
    }
    if (!is_attention(node) && node->n_in != 1) return;
    const int from = producer_of(g, node->in[node->op == &ts_op_attention ? 2 : 0]);
    if (from >= 0 && g->op[from].stage == op->stage) memcpy(op->part, g->op[from].part, sizeof op->part);
}

/* Queries and keys that are slices use no parameter: they belong to the attention that reads them. */
static void find_parts(drawing *g) {
    for (int i = 0; i < g->n_ops; i++)
        if (g->op[i].node->op != &ts_op_slice) find_part(g, &g->op[i]);
    for (int i = 0; i < g->n_ops; i++) {
        const int reader = reader_of(g, g->op[i].node->out);
        if (g->op[i].node->op == &ts_op_slice && reader >= 0 && is_attention(g->op[reader].node))
            memcpy(g->op[i].part, g->op[reader].part, sizeof g->op[i].part);
    }
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* Between quotes: a newline of `text` begins a new line of the label, whatever else would end the string is escaped. */
static void put_text(FILE *out, const char *text) {
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*c < ' ' || *c == 127)
            putc('?', out);
        else
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
}

enum { LABEL = 512 };
typedef struct label {
    char text[LABEL];
    size_t length;
} label;

static void add(label *l, const char *format, ...) TS_PRINTF(2, 3);
static void add(label *l, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(l->text + l->length, LABEL - l->length, format, arguments);
    va_end(arguments);
    if (written > 0) l->length += (size_t)written < LABEL - l->length ? (size_t)written : LABEL - 1 - l->length;
}

static void put_label(FILE *out, const char *text) {
    fputs("label=\"", out);
    put_text(out, text);
    putc('"', out);
}

/* "6×4"; "scalar". */
static void add_lengths(label *l, const ts_shape *shape) {
    if (shape->rank == 0) add(l, "scalar");
    for (int a = 0; a < shape->rank; a++) add(l, "%s%lld", a > 0 ? "×" : "", (long long)shape->dim[a]);
}

/* "softmax of −0.5 ‖query − key‖²": the map and its scores; a picture has room for four digits of a number. */
static void add_attention(label *l, const ts_attention_spec *spec) {
    const ts_simplex *map = spec->simplex.map;
    const bool euclidean = spec->score == TS_SCORE_EUCLIDEAN;
    add(l, "\n%s of %s", map->name, euclidean ? "−" : "");
    if (spec->gamma < 1 || spec->gamma > 1) add(l, "%.4g ", spec->gamma);
    add(l, "%s", euclidean ? "‖query − key‖²" : "query · key");
    if (map->parameter_rule != NULL) add(l, "\nparameter %.4g", spec->simplex.parameter);
    if (spec->dropout > 0) add(l, "\ndropout %.4g", spec->dropout);
}

/* The attributes of a slice are its own; those of a query or a key are known to the model. */
static void add_slice(const drawing *g, label *l, const op_box *op) {
    const ts_transformer *m = g->graph->model;
    const int reader = reader_of(g, op->node->out);
    if (m == NULL || reader < 0 || !is_attention(g->op[reader].node)) return;
    const ts_attention_block *const blocks[TS_BLOCKS] = {&m->cross_points, &m->self_points, &m->cross_centers,
                                                         &m->self_centers};
    for (int i = 0; i < TS_BLOCKS; i++) {
        if (strcmp(op->part, ts_block_names[i]) != 0) continue;
        const bool is_query = g->op[reader].node->in[0] == op->node->out;
        const ts_linear *linear = is_query ? &blocks[i]->query : &blocks[i]->key;
        add(l, "\ncoordinates %lld", (long long)linear->first);
        if (linear->count > 1) add(l, " to %lld", (long long)(linear->first + linear->count - 1));
    }
}

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

/* The colours of Okabe & Ito, which all can tell apart, for lines; fills are the same on much white. */
#define NAMED_ELLIPSE "color=\"#D55E00\", fillcolor=\"#F6DBC7\", penwidth=1.6"
#define TRAINED_ELLIPSE "color=\"#0072B2\", fillcolor=\"#DAEEFA\""
#define FIXED_ELLIPSE "color=\"#56B4E9\", fillcolor=\"#FFFFFF\""
#define GREY_ELLIPSE "color=\"#7F7F7F\", fillcolor=\"#E3E3E3\""
#define ATTENTION_BOX "color=\"#E69F00\", fillcolor=\"#F9EAC7\""
#define LINEAR_BOX "color=\"#009E73\", fillcolor=\"#C7E9E0\""
#define OTHER_BOX "color=\"#A59A00\", fillcolor=\"#FBF8D1\"" /* a darker yellow, which is too pale for a line */
#define GRADIENT ", color=\"#0072B2\""
#define SAME_TENSOR ", style=dashed, arrowhead=none, color=\"#999999\""

static const char *look_of(const ts_node *node) {
    if (is_attention(node)) return ATTENTION_BOX;
    const bool linear = node->op == &ts_op_matmul || node->op == &ts_op_mul || node->op == &ts_op_slice;
    return linear ? LINEAR_BOX : OTHER_BOX;
}

static void put_node(const drawing *g, int depth, const char *id, const char *shape, const char *text,
                     const char *look) {
    fprintf(g->out, "%*s%s [%s", depth, "", id, shape);
    put_label(g->out, text);
    fprintf(g->out, ", %s];\n", look);
}

static void put_ellipse(const drawing *g, int depth, const char *id, const char *name, const ts_tensor *tensor,
                        const char *look) {
    char shape[TS_SHAPE_TEXT];
    label l = {.length = 0};
    add(&l, "%s %s", name, ts_shape_text(&tensor->shape, shape));
    put_node(g, depth, id, "shape=ellipse, ", l.text, look);
}

/* "op3", "leaf2", or as it comes into a stage, "in1_op3". */
enum { ID = 48 };
static const char *id_of(const drawing *g, const ts_tensor *tensor, int stage, char text[ID]) {
    const int producer = producer_of(g, tensor);
    char before[24] = "";
    if (home_of(g, tensor) != stage) snprintf(before, sizeof before, "in%d_", stage);
    snprintf(text, ID, "%s%s%d", before, producer >= 0 ? "op" : "leaf", producer >= 0 ? producer : leaf_of(g, tensor));
    return text;
}

static void put_op(const drawing *g, const op_box *op, int depth) {
    char id[ID];
    label l = {.length = 0};
    add(&l, "%s", op->node->op->name);
    if (is_attention(op->node)) add_attention(&l, op->node->attr);
    if (op->node->op == &ts_op_slice) add_slice(g, &l, op);
    put_node(g, depth, id_of(g, op->node->out, op->stage, id), "", l.text, look_of(op->node));
}

static void put_leaf(const drawing *g, const leaf *t, int depth) {
    const char *name = t->name, *look = t->name != NULL ? NAMED_ELLIPSE : GREY_ELLIPSE;
    char id[ID];
    if (t->param >= 0) look = t->tensor->wants_grad ? TRAINED_ELLIPSE : FIXED_ELLIPSE;
    if (name == NULL && t->param >= 0) name = ts_params_name(g->graph->params, t->param);
    if (name == NULL) name = t->is_mask ? "mask of own codes" : "constant";
    put_ellipse(g, depth, id_of(g, t->tensor, home_of(g, t->tensor), id), name, t->tensor, look);
}

static void put_incoming(const drawing *g, const ts_tensor *tensor, int stage) {
    const char *name = name_of(g, tensor);
    char id[ID];
    if (comes_in(g, stage, tensor))
        put_ellipse(g, 4, id_of(g, tensor, stage, id), name != NULL ? name : "tensor", tensor, NAMED_ELLIPSE);
}

/* ---- frames ---------------------------------------------------------------------------------------------------- */

static bool is_in(const op_box *op, int stage, const char *part) {
    return op->stage == stage && strcmp(op->part, part) == 0;
}

/* The ops of a part and the leaves first read there. Inputs stand outside all parts. */
static void put_members(const drawing *g, int stage, const char *part, int depth) {
    for (int i = 0; i < g->n_leaves; i++)
        if (g->leaf[i].name == NULL && is_in(&g->op[g->leaf[i].reader], stage, part)) put_leaf(g, &g->leaf[i], depth);
    for (int i = 0; i < g->n_ops; i++)
        if (is_in(&g->op[i], stage, part)) put_op(g, &g->op[i], depth);
}

/* The title of a part. Where attention is the identity there is no attention to be seen. */
static void put_part_label(const drawing *g, const char *part) {
    const ts_transformer *m = g->graph->model;
    const bool itself = m != NULL && ((m->self_points.identity && strcmp(part, "self_points") == 0) ||
                                      (m->self_centers.identity && strcmp(part, "self_centers") == 0));
    label l = {.length = 0};
    add(&l, "%s%s", part, itself ? ": each sees itself" : "");
    put_label(g->out, l.text);
}

/* "subgraph "cluster_assign_self_points" {", its label, and how it looks; `part` NULL: of a stage. */
static void begin_frame(const drawing *g, int depth, const char *stage, const char *part, const char *look) {
    fprintf(g->out, "%*ssubgraph \"cluster_", depth, "");
    put_text(g->out, stage);
    if (part != NULL) fputs("_", g->out);
    if (part != NULL) put_text(g->out, part);
    fprintf(g->out, "\" {\n%*s", depth + 2, "");
    if (part != NULL)
        put_part_label(g, part);
    else
        put_label(g->out, stage);
    fprintf(g->out, ";\n%*sstyle=\"rounded,filled\"; %s;\n", depth + 2, "", look);
}

static void put_part(const drawing *g, int stage, const char *part) {
    begin_frame(g, 4, g->graph->stage[stage].name, part, "color=\"#D0D0D0\"; fillcolor=\"white\"; fontsize=12");
    put_members(g, stage, part, 6);
    fprintf(g->out, "    }\n");
}

static void put_stage(const drawing *g, int stage) {
    begin_frame(g, 2, g->graph->stage[stage].name, NULL,
                "color=\"#B0B0B0\"; fillcolor=\"#F6F6F6\"; fontsize=16; labeljust=l");
    for (int i = 0; i < g->n_leaves; i++) {
        const leaf *t = &g->leaf[i];
        if (t->name != NULL && g->op[t->reader].stage == stage) put_leaf(g, t, 4);
        put_incoming(g, t->tensor, stage);
    }
    for (int i = 0; i < g->n_ops; i++) put_incoming(g, g->op[i].node->out, stage);
    for (int i = 0; i < g->n_ops; i++) {
        bool is_first = g->op[i].stage == stage && g->op[i].part[0] != '\0';
        for (int j = 0; j < i && is_first; j++) is_first = !is_in(&g->op[j], stage, g->op[i].part);
        if (is_first) put_part(g, stage, g->op[i].part);
    }
    put_members(g, stage, "", 4);
    fprintf(g->out, "  }\n");
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

/* The edge's label is the shape, with blanks around it; its colour says whether gradients flow. */
static void put_edge(const drawing *g, const char *from, const char *to, const char *role, const ts_tensor *tensor,
                     const char *style) {
    label l = {.length = 0};
    add(&l, " %s%s", role, role[0] != '\0' ? " " : "");
    add_lengths(&l, &tensor->shape);
    add(&l, " ");
    fprintf(g->out, "  %s -> %s [", from, to);
    put_label(g->out, l.text);
    fprintf(g->out, "%s%s];\n", tensor->wants_grad ? GRADIENT : "", style);
}

/* What nothing reads is what the graph computes: its ellipse, or the edge to it. */
static void put_result(const drawing *g, int i, bool edge) {
    const ts_tensor *out = g->op[i].node->out;
    const char *name = name_of(g, out);
    char from[ID], to[ID];
    if (reader_of(g, out) >= 0) return;
    snprintf(to, sizeof to, "result%d", i);
    if (edge)
        put_edge(g, id_of(g, out, g->op[i].stage, from), to, "", out, "");
    else
        put_ellipse(g, 2, to, name != NULL ? name : "result", out, NAMED_ELLIPSE);
}

/* An edge from a tensor to its copy in a later stage; a leaf is only drawn again. */
static void put_edge_in(const drawing *g, const ts_tensor *tensor, int stage) {
    char from[ID], to[ID];
    if (comes_in(g, stage, tensor))
        put_edge(g, id_of(g, tensor, home_of(g, tensor), from), id_of(g, tensor, stage, to), "", tensor,
                 producer_of(g, tensor) < 0 ? SAME_TENSOR : "");
}

static void put_edges(const drawing *g) {
    char from[ID], to[ID];
    for (int i = 0; i < g->n_ops; i++) {
        const ts_node *node = g->op[i].node;
        for (int a = 0; a < node->n_in; a++)
            put_edge(g, id_of(g, node->in[a], g->op[i].stage, from), id_of(g, node->out, g->op[i].stage, to),
                     role_of(node, a), node->in[a], "");
        put_result(g, i, true);
    }
    for (int stage = 1; stage < g->graph->n_stages; stage++) {
        for (int i = 0; i < g->n_leaves; i++) put_edge_in(g, g->leaf[i].tensor, stage);
        for (int i = 0; i < g->n_ops; i++) put_edge_in(g, g->op[i].node->out, stage);
    }
}

static void put_order_of(const drawing *g, int last, const ts_tensor *tensor, int stage) {
    char id[ID];
    if (comes_in(g, stage, tensor) && tensor != g->op[last].node->out)
        fprintf(g->out, "  op%d -> %s [style=invis];\n", last, id_of(g, tensor, stage, id));
}

/* Graphviz would draw stages side by side; inputs of a stage are placed below the last op of the stage before. */
static void put_order(const drawing *g) {
    for (int i = 1; i < g->n_ops; i++) {
        const int last = i - 1, stage = g->op[i].stage;
        if (g->op[last].stage == stage) continue;
        for (int l = 0; l < g->n_leaves; l++) put_order_of(g, last, g->leaf[l].tensor, stage);
        for (int l = 0; l < last; l++) put_order_of(g, last, g->op[l].node->out, stage);
    }
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static void put_graph(const drawing *g) {
    fputs("digraph tessera {\n  ", g->out);
    put_label(g->out, g->graph->title);
    fputs(";\n  labelloc=t; fontname=\"Helvetica,Arial,sans-serif\"; fontsize=15;\n"
          "  rankdir=TB; outputorder=edgesfirst; nodesep=0.3; ranksep=0.35; pad=0.2;\n"
          "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, "
          "margin=\"0.12,0.06\", height=0.3];\n"
          "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, color=\"#4D4D4D\", fontcolor=\"#333333\", "
          "arrowsize=0.6];\n",
          g->out);
    for (int stage = 0; stage < g->graph->n_stages; stage++) put_stage(g, stage);
    for (int i = 0; i < g->n_ops; i++) put_result(g, i, false);
    put_edges(g);
    put_order(g);
    fputs("}\n", g->out);
}

bool cli_graph_write(const cli_tape_graph *graph, FILE *out) {
    drawing g = {.graph = graph, .out = out};
    const bool ready = take_ops(&g);
    if (ready) {
        take_leaves(&g);
        find_parts(&g);
        put_graph(&g);
    }
    free(g.op);
    free(g.leaf);
    return ready;
}
