#include "cluster_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../train/checkpoint.h"
#include "../common/definition_file.h"
#include "../common/message.h"

/* What an architecture learns has no weights yet. */
static int refuse_learned(const char *path, ts_definition *d) {
    for (int i = 0; i < TS_BLOCKS; i++) {
        const ts_block_definition *b = ts_definition_block(d, i);
        if (b->value.learned || b->query.learned || b->key.learned)
            return cli_fail(CLI_FAILED, "%s: %s: learned projections need a trained model", path, ts_block_names[i]);
    }
    if (d->feed_forward.present && d->feed_forward.learned)
        return cli_fail(CLI_FAILED, "%s: feed_forward: learned weights need a trained model", path);
    return CLI_DONE;
}

/* Dot products of data depend on the origin, unless squared norms (construction dot) turn them into distances. */
static bool has_origin(ts_definition *d) {
    if (d->norm.present) return true;
    for (int i = 0; i < TS_BLOCKS && d->construction != TS_CONSTRUCTION_DOT; i++) {
        const ts_block_definition *b = ts_definition_block(d, i);
        for (int l = 0; l < b->query.n_copies && !b->identity; l++)
            if (b->score == TS_SCORE_DOT && b->query.copy[l].from.group == TS_GROUP_DATA) return true;
    }
    return false;
}

/* What reports tell of a model: its definition, or its name and its tokens. */
static void describe(const ts_architecture *a, cli_cluster_model *m) {
    m->definition = a->definition != NULL ? *a->definition : (ts_definition){.construction = a->tokens.construction};
    memcpy(m->definition.name, a->name, sizeof m->definition.name);
}

static int read_trained(const char *path, cli_cluster_model *m) {
    ts_error error = {.status = TS_OK};
    m->model = calloc(1, sizeof *m->model);
    if (m->model == NULL) return cli_fail_memory(path);
    m->trained = true;
    if (ts_model_load(path, m->model, &m->trained_steps, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s", error.text);
    describe(m->model->architecture, m);
    return CLI_DONE;
}

void cli_cluster_model_free(cli_cluster_model *m) {
    if (m->model != NULL) ts_model_clear(m->model);
    free(m->model);
    ts_architecture_free(m->layers);
    m->model = NULL;
    m->layers = NULL;
}

int cli_cluster_model_build(const cli_cluster_options *o, int64_t d, int64_t k, cli_cluster_model *m) {
    ts_error error = {.status = TS_OK};
    m->model = calloc(1, sizeof *m->model);
    if (m->model == NULL) return cli_fail_memory(o->arch);
    ts_architecture *layers = m->layers;
    m->layers = NULL;
    if (ts_model_build(m->model, layers, d, k, o->shared.seed, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s: %s", o->arch, error.text);
    if (ts_model_trained(m->model) == 0) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: has learned weights: tessera train --arch %s trains them, for --model", o->arch,
                    o->arch);
}

/* Four blocks are a definition, which is run with all that runners know; other layers are a model. */
static int read_arch(const char *path, cli_cluster_model *m) {
    int status = cli_read_architecture(path, &m->layers);
    if (status != CLI_DONE) return status;
    describe(m->layers, m);
    if (m->layers->definition == NULL) return CLI_DONE;
    ts_architecture_free(m->layers);
    m->layers = NULL;
    return refuse_learned(path, &m->definition);
}

int cli_cluster_model_read(const cli_cluster_options *o, cli_cluster_model *m) {
    *m = (cli_cluster_model){.unit = 1};
    if (o->model != NULL) return read_trained(o->model, m);
    if (o->arch == NULL) {
        m->variant = cli_cluster_variant(o);
        m->settings = cli_cluster_settings(o);
        m->cost = m->variant->cost;
        m->directions = m->has_origin = m->variant->unit_length;
        return CLI_DONE;
    }
    const int status = read_arch(o->arch, m);
    if (status != CLI_DONE || m->layers != NULL) return status;
    m->directions = m->definition.norm.present;
    m->has_origin = has_origin(&m->definition);
    m->cost = m->directions ? TS_COST_COSINE : m->definition.medoids ? TS_COST_DISTANCE : TS_COST_SQUARED;
    return status;
}

static int complete_arch(const cli_cluster_options *o, const ts_problem *problem, cli_cluster_model *m) {
    ts_error error = {.status = TS_OK};
    const int64_t d = problem == NULL ? 1 : problem->d, k = problem == NULL ? 2 : problem->k;
    ts_definition_change_unit(&m->definition, m->unit);
    if (ts_definition_check(&m->definition, d, k, &error) == TS_OK || problem == NULL) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: %s", o->arch, error.text);
}

bool cli_cluster_model_waits(const cli_cluster_model *m) {
    return m->variant != NULL && ts_variant_chooses_gamma(m->variant, &m->settings);
}

int cli_cluster_model_complete(const cli_cluster_options *o, const ts_problem *problem, double gamma, double unit,
                               cli_cluster_model *m) {
    ts_error error = {.status = TS_OK};
    m->unit = unit;
    if (m->model != NULL || m->layers != NULL) return CLI_DONE;
    if (m->variant == NULL) return complete_arch(o, problem, m);
    m->chose_gamma = cli_cluster_model_waits(m);
    if (m->chose_gamma)
        m->settings.gamma = gamma;
    else if (!m->directions && isfinite(m->settings.gamma))
        m->settings.gamma *= unit * unit;
    if (isnan(m->settings.gamma)) return cli_fail_memory(o->file);
    if (o->gamma > 0 && (!(m->settings.gamma > 0) || (isfinite(o->gamma) && !(m->settings.gamma < 1e300))))
        return cli_fail(CLI_FAILED, "%s: --gamma %g is out of range for values of this size", cli_source_name(o->file),
                        o->gamma);
    if (ts_variant_define(m->variant, &m->settings, &m->definition, &error) == TS_OK) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: %s", cli_source_name(o->file), error.text);
}

double cli_cluster_model_gamma(const cli_cluster_model *m) {
    if (m->variant == NULL || m->variant->gamma == TS_GAMMA_NONE || !(m->settings.gamma > 0) ||
        isinf(m->settings.gamma) || (m->variant->trims && m->settings.trim >= 0))
        return 0;
    const double gamma = m->directions ? m->settings.gamma : m->settings.gamma / (m->unit * m->unit);
    return isfinite(gamma) ? gamma : 0; /* beyond the range of numbers for values of this size */
}

const char *cli_cluster_model_title(const cli_cluster_model *m) {
    if (m->model != NULL) {
        const bool papers = m->model->architecture->definition != NULL;
        return m->trained && papers ? "learned clustering" : m->model->architecture->name;
    }
    return m->variant != NULL ? m->variant->title : m->definition.name;
}

const char *cli_cluster_model_details(const cli_cluster_model *m, char text[CLI_MODEL_TEXT]) {
    const double gamma = cli_cluster_model_gamma(m);
    int used = snprintf(text, CLI_MODEL_TEXT, "%s", ts_construction_names[m->definition.construction]);
    if (m->trained)
        snprintf(text + used, CLI_MODEL_TEXT - (size_t)used, ", trained for %lld steps", (long long)m->trained_steps);
    if (m->variant == NULL) return text;
    const size_t room = CLI_MODEL_TEXT - (size_t)used;
    char *end = text + used;
    if (m->variant->trims && m->settings.trim >= 0)
        snprintf(end, room, ", trim %g", m->settings.trim);
    else if (m->variant->gamma == TS_GAMMA_NONE)
        snprintf(end, room, ", exponent %g", m->settings.fuzziness);
    else if (gamma > 0)
        snprintf(end, room, "%s, gamma %.6g%s", m->variant->gamma == TS_GAMMA_UPDATE ? "" : ", softmax attention",
                 gamma, m->chose_gamma ? ", chosen by the data" : "");
    else
        snprintf(end, room, ", exact attention");
    return text;
}
