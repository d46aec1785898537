/* cluster_model.h: the transformer that `tessera cluster` runs, a variant or the user's definition, and its plain
 * algorithm. */
#ifndef CLI_CLUSTER_MODEL_H
#define CLI_CLUSTER_MODEL_H

#include "../../models/definition/variants.h"
#include "../../models/run/model_run.h"
#include "cluster_options.h"

typedef struct cli_cluster_model {
    const ts_variant *variant; /* NULL: a definition of one's own, or a learned model */
    ts_model *model;           /* of --model, or of an --arch of layers: it runs; NULL: a definition does */
    ts_architecture *layers;   /* of an --arch of layers, until the data say d and k */
    bool trained;              /* --model */
    int64_t trained_steps;
    ts_settings settings;     /* of the variant; its gamma in units of the points as scaled */
    ts_definition definition; /* complete after cli_cluster_model_complete */
    ts_cost cost;
    double unit;      /* the length of the file that is 1 in the points as scaled */
    bool directions;  /* only the directions of rows count, and centres are directions */
    bool has_origin;  /* the origin matters: nothing may be shifted */
    bool chose_gamma; /* by the data */
} cli_cluster_model;

/* Reads --arch, or looks up --algorithm. CLI_DONE, or an exit code after saying why. */
int cli_cluster_model_read(const cli_cluster_options *options, cli_cluster_model *model);

void cli_cluster_model_free(cli_cluster_model *model);

/* Builds the layers of --arch for data of d features and k clusters. */
int cli_cluster_model_build(const cli_cluster_options *options, int64_t d, int64_t k, cli_cluster_model *model);

/* Does gamma wait for the data? Then ts_variant_gamma says it. */
bool cli_cluster_model_waits(const cli_cluster_model *model);

/* Writes the definition for d and k of the problem (NULL: any), with `gamma` if the model waits for it; `unit` as
 * above. */
int cli_cluster_model_complete(const cli_cluster_options *options, const ts_problem *problem, double gamma, double unit,
                               cli_cluster_model *model);

/* gamma in the units of the file; 0 when the model has none to speak of. */
double cli_cluster_model_gamma(const cli_cluster_model *model);

/* "trimmed k-means", and "onehot, gamma 0.35 (chosen by the data)". */
enum { CLI_MODEL_TEXT = 160 };
const char *cli_cluster_model_title(const cli_cluster_model *model);
const char *cli_cluster_model_details(const cli_cluster_model *model, char text[CLI_MODEL_TEXT]);

#endif
