/* graph_writer.h: a recorded tape in the language of Graphviz, one box per op and one ellipse per leaf.
 *
 * Stages are frames, and inside them the parts of the model (cross_points, feed_forward, ...), which are told apart by
 * the names of the parameters that their ops use. The same tape gives the same bytes. */
#ifndef CLI_GRAPH_WRITER_H
#define CLI_GRAPH_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "../../models/run/transformer.h"

/* What a tensor is called: an input of the graph, or the result of an op. */
typedef struct cli_graph_name {
    const ts_tensor *tensor;
    const char *name;
} cli_graph_name;

/* The ops recorded after those of the stage before, up to `last`. */
typedef struct cli_graph_stage {
    const char *name;
    const ts_node *last;
} cli_graph_stage;

enum { CLI_GRAPH_STAGES = 4, CLI_GRAPH_NAMES = 8 };
typedef struct cli_tape_graph {
    const char *title;
    ts_params *params;           /* give leaves their names */
    const ts_transformer *model; /* knows slices and blocks; NULL: other layers */
    int n_stages, n_names;
    cli_graph_stage stage[CLI_GRAPH_STAGES]; /* the last one ends with the tape */
    cli_graph_name name[CLI_GRAPH_NAMES];
} cli_tape_graph;

/* false when out of memory; whether the stream took it all is the caller's to ask. */
bool cli_graph_write(const cli_tape_graph *graph, FILE *out);

#endif
