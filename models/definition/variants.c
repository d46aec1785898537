/* variants.c: the table of variants, their definitions and settings. */
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/parallel.h"
#include "../data/compare_doubles.h"
#include "../data/nearest.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

const ts_variant ts_variants[] = {{.name = "lloyd",
                                   .title = "Lloyd",
                                   .summary = "the mean of the nearest points, exactly",
                                   .constructions = "onehot|binary|dot",
                                   .gamma = TS_GAMMA_ASSIGN,
                                   .assign = &ts_argmax_map,
                                   .codes = &ts_linear_map,
                                   .plain = &ts_plain_lloyd},
                                  {.name = "soft",
                                   .title = "soft k-means",
                                   .summary = "points are shared by a softmax",
                                   .constructions = "onehot|dot",
                                   .gamma = TS_GAMMA_SOFT,
                                   .codes = &ts_linear_map,
                                   .plain = &ts_plain_soft},
                                  {.name = "spherical",
                                   .title = "spherical k-means",
                                   .summary = "by direction: dot products, and RMSNorm on the centres",
                                   .constructions = "onehot|binary",
                                   .gamma = TS_GAMMA_ASSIGN,
                                   .assign = &ts_argmax_map,
                                   .codes = &ts_linear_map,
                                   .unit_length = true,
                                   .cost = TS_COST_COSINE,
                                   .plain = &ts_plain_spherical},
                                  {.name = "trimmed",
                                   .title = "trimmed k-means",
                                   .summary = "centres ignore their far points (norm-max)",
                                   .constructions = "onehot|binary",
                                   .gamma = TS_GAMMA_UPDATE,
                                   .assign = &ts_argmax_map,
                                   .update = &ts_normmax_inf_map,
                                   .trims = true,
                                   .plain = &ts_plain_trimmed},
                                  {.name = "robust",
                                   .title = "robust k-means",
                                   .summary = "centres weigh near points more (sparsemax)",
                                   .constructions = "onehot|binary",
                                   .gamma = TS_GAMMA_UPDATE,
                                   .assign = &ts_argmax_map,
                                   .update = &ts_sparsemax_map,
                                   .plain = &ts_plain_robust},
                                  {.name = "entmax",
                                   .title = "robust k-means (entmax-1.5)",
                                   .summary = "the same, between sparsemax and softmax",
                                   .constructions = "onehot|binary",
                                   .gamma = TS_GAMMA_UPDATE,
                                   .assign = &ts_argmax_map,
                                   .update = &ts_entmax15_map,
                                   .plain = &ts_plain_entmax},
                                  {.name = "normmax",
                                   .title = "robust k-means (norm-max)",
                                   .summary = "the same, towards trimmed as alpha grows",
                                   .constructions = "onehot|binary",
                                   .gamma = TS_GAMMA_UPDATE,
                                   .assign = &ts_argmax_map,
                                   .update = &ts_normmax_map,
                                   .plain = &ts_plain_normmax},
                                  {.name = "kmedoids",
                                   .title = "randomised k-medoids",
                                   .summary = "centres jump between rows (Gumbel-hardmax)",
                                   .constructions = "onehot|binary",
                                   .gamma = TS_GAMMA_UPDATE,
                                   .assign = &ts_argmax_map,
                                   .update = &ts_gumbel_hardmax_map,
                                   .medoids = true,
                                   .cost = TS_COST_DISTANCE,
                                   .plain = &ts_plain_medoids},
                                  {.name = "fuzzy",
                                   .title = "fuzzy c-means",
                                   .summary = "points are shared by a power of their distances",
                                   .constructions = "onehot",
                                   .gamma = TS_GAMMA_NONE,
                                   .assign = &ts_fuzzy_map,
                                   .codes = &ts_power_map,
                                   .plain = &ts_plain_fuzzy},
                                  {.name = NULL}};

const ts_variant *ts_variant_by_name(const char *name) {
    for (const ts_variant *v = ts_variants; v->name != NULL; v++)
        if (strcmp(v->name, name) == 0) return v;
    return NULL;
}

/* ---- definitions ----------------------------------------------------------------------------------------------- */

static ts_projection copy_group(ts_group group, double scale) {
    const ts_range range = {.group = group};
    return (ts_projection){.n_copies = 1, .copy = {{.from = range, .to = range, .scale = scale}}};
}

static void add_copy(ts_projection *p, ts_group from, ts_group to, double scale) {
    p->copy[p->n_copies++] = (ts_copy){.from = {.group = from}, .to = {.group = to}, .scale = scale};
}

/* Self-attention that erases a group from the residual stream. With Q = K each token attends to itself and its
 * duplicates, which have equal values; so P = I is exact, and needs no n x n scores. */
static ts_block_definition erase_group(ts_group group) {
    return (ts_block_definition){
        .identity = true, .query = copy_group(group, 1), .key = copy_group(group, 1), .value = copy_group(group, -1)};
}

static ts_block_definition attend(ts_score score, ts_group at, const ts_simplex *map, ts_group write) {
    return (ts_block_definition){.score = score,
                                 .simplex = {.map = map},
                                 .gamma = 1,
                                 .query = copy_group(at, 1),
                                 .key = copy_group(at, 1),
                                 .value = copy_group(write, 1)};
}

/* The settings that are parameters of simplex maps, by the maps' letters. A temperature stays 1: gamma is in the
 * scores.
 */
static const struct {
    const char *parameter;
    size_t setting;
} parameters[] = {{"alpha", offsetof(ts_settings, alpha)},
                  {"m", offsetof(ts_settings, fuzziness)},
                  {"a", offsetof(ts_settings, fuzziness)},
                  {"F", offsetof(ts_settings, trim)}};

static bool has_parameter(const ts_simplex *map, const char *parameter) {
    return map != NULL && map->parameter != NULL && strcmp(map->parameter, parameter) == 0;
}

static double parameter_of(const ts_simplex *map, const ts_settings *s) {
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++)
        if (has_parameter(map, parameters[i].parameter))
            return *(const double *)((const char *)s + parameters[i].setting);
    return 1;
}

bool ts_variant_has(const ts_variant *v, const char *parameter) {
    return has_parameter(v->assign, parameter) || has_parameter(v->update, parameter);
}

/* Trimming a share needs no gamma, because only the order of the distances matters. */
static bool trims_a_share(const ts_variant *v, const ts_settings *s) {
    return v->trims && s->trim >= 0;
}

/* A point takes the code of the centre it prefers. */
static ts_block_definition assign_block(const ts_variant *v, const ts_settings *s) {
    const bool soft = v->gamma != TS_GAMMA_UPDATE && v->gamma != TS_GAMMA_NONE && isfinite(s->gamma);
    const ts_simplex *map = soft ? &ts_softmax_map : s->share_ties ? &ts_hardmax_map : v->assign;
    ts_block_definition b =
        attend(v->unit_length ? TS_SCORE_DOT : TS_SCORE_EUCLIDEAN, TS_GROUP_DATA, map, TS_GROUP_CODE);
    b.simplex.parameter = parameter_of(map, s);
    if (soft) b.gamma = s->gamma;
    return b;
}

/* A centre averages the points in proportion to how much of its code they carry; with binary codes it matches whole
 * codes, which gives the same mean. Or it weighs its own points by their distance. */
static ts_block_definition update_block(const ts_variant *v, const ts_settings *s, ts_construction construction) {
    const bool soft_codes = construction == TS_CONSTRUCTION_BINARY && v->gamma != TS_GAMMA_UPDATE && isfinite(s->gamma);
    ts_block_definition b;
    if (v->update != NULL)
        b = attend(TS_SCORE_EUCLIDEAN, TS_GROUP_DATA, trims_a_share(v, s) ? &ts_top_m_map : v->update, TS_GROUP_DATA);
    else if (construction == TS_CONSTRUCTION_BINARY)
        b = attend(TS_SCORE_EUCLIDEAN, TS_GROUP_CODE, soft_codes ? &ts_softmax_map : &ts_hardmax_map, TS_GROUP_DATA);
    else
        b = attend(TS_SCORE_DOT, TS_GROUP_CODE, v->codes, TS_GROUP_DATA);
    b.own_code = v->update != NULL;
    b.simplex.parameter = parameter_of(b.simplex.map, s);
    if ((v->gamma == TS_GAMMA_UPDATE && !trims_a_share(v, s)) || soft_codes) b.gamma = s->gamma;
    return b;
}

/* Theorem 2.2 of [C26]: -||x - c||^2 = 2 x.c - ||c||^2 - ||x||^2, where the last term has no effect. The squared
 * norms of new centres come from the feed-forward block: c^2 = relu(c)^2 + relu(-c)^2. */
static void use_dot_products(ts_definition *d) {
    const ts_range data = {.group = TS_GROUP_DATA}, norm = {.group = TS_GROUP_NORM};
    d->cross_points.score = TS_SCORE_DOT;
    d->cross_points.query = copy_group(TS_GROUP_DATA, 2);
    add_copy(&d->cross_points.query, TS_GROUP_ONE, TS_GROUP_NORM, -1);
    add_copy(&d->cross_points.key, TS_GROUP_NORM, TS_GROUP_NORM, 1);
    add_copy(&d->self_centers.value, TS_GROUP_NORM, TS_GROUP_NORM, -1);
    d->feed_forward = (ts_feed_forward_definition){.present = true,
                                                   .activation = ts_relu_squared,
                                                   .n_units = 2,
                                                   .unit = {{data, norm, 1, 1}, {data, norm, -1, 1}}};
}

static int construction_by_name(const char *constructions, const char *name) {
    for (int i = 0; ts_construction_names[i] != NULL; i++) {
        const char *at = strstr(constructions, ts_construction_names[i]);
        if (at != NULL && strcmp(ts_construction_names[i], name) == 0) return i;
    }
    return -1;
}

static ts_status check_settings(const ts_variant *v, const ts_settings *s, ts_error *error) {
    if (construction_by_name(v->constructions, s->construction) < 0)
        return ts_error_set(error, TS_ERROR_VALUE, "%s has no construction %s, only %s", v->name, s->construction,
                            v->constructions);
    const bool may_be_exact = v->gamma == TS_GAMMA_ASSIGN || v->gamma == TS_GAMMA_NONE;
    if (!trims_a_share(v, s) && (!(s->gamma > 0) || (!may_be_exact && !isfinite(s->gamma))))
        return ts_error_set(error, TS_ERROR_VALUE, "%s needs a gamma above 0%s, not %g", v->name,
                            may_be_exact ? "" : " and finite", s->gamma);
    if (v->gamma == TS_GAMMA_NONE && isfinite(s->gamma))
        return ts_error_set(error, TS_ERROR_VALUE, "%s has no gamma", v->name);
    if (s->trim >= 0 && !v->trims) return ts_error_set(error, TS_ERROR_VALUE, "%s trims nothing", v->name);
    const bool nearest = v->assign != NULL && v->assign->argmax == TS_FIRST_ARGMAX;
    const bool shares = nearest && v->update == NULL && strcmp(s->construction, "binary") != 0 && !v->unit_length &&
                        !isfinite(s->gamma);
    if (s->share_ties && !shares)
        return ts_error_set(error, TS_ERROR_VALUE, "ties are shared only by exact lloyd with one-hot codes");
    return TS_OK;
}

ts_status ts_variant_define(const ts_variant *v, const ts_settings *s, ts_definition *definition, ts_error *error) {
    if (check_settings(v, s, error) != TS_OK) return error->status;
    const ts_construction construction = (ts_construction)construction_by_name(v->constructions, s->construction);
    *definition = (ts_definition){.construction = construction,
                                  .medoids = v->medoids,
                                  .trims = v->trims,
                                  .cross_points = assign_block(v, s),
                                  .self_points = erase_group(TS_GROUP_CODE),
                                  .cross_centers = update_block(v, s, construction),
                                  .self_centers = erase_group(TS_GROUP_DATA)};
    snprintf(definition->name, sizeof definition->name, "%s-%s", v->name, s->construction);
    if (v->unit_length)
        definition->norm = (ts_norm_definition){.present = true, .range = {.group = TS_GROUP_DATA}, .length = 1};
    if (construction == TS_CONSTRUCTION_DOT) use_dot_products(definition);
    return TS_OK;
}

const ts_plain_algorithm *ts_variant_plain(const ts_variant *v, const ts_settings *s) {
    if (trims_a_share(v, s)) return &ts_plain_trimmed_share;
    if (v->gamma == TS_GAMMA_UPDATE || !isfinite(s->gamma) || strcmp(s->construction, "binary") != 0) return v->plain;
    return v->unit_length ? &ts_plain_spherical_codes : &ts_plain_soft_codes;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

ts_settings ts_variant_settings(const ts_variant *v) {
    const bool by_data = v->gamma == TS_GAMMA_SOFT || v->gamma == TS_GAMMA_UPDATE;
    return (ts_settings){
        .construction = "onehot", .gamma = by_data ? 0 : INFINITY, .trim = -1, .fuzziness = 2, .alpha = 2};
}

bool ts_variant_chooses_gamma(const ts_variant *v, const ts_settings *s) {
    if (s->gamma > 0 || trims_a_share(v, s)) return false;
    return v->gamma == TS_GAMMA_SOFT || v->gamma == TS_GAMMA_UPDATE;
}

/* The median; of an even number of values the mean of the middle two. Sorts the values. */
static double median(int64_t n, double *values) {
    qsort(values, (size_t)n, sizeof *values, ts_compare_doubles);
    return n % 2 == 1 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2;
}

/* Writes nearest[n], the squared distances to the nearest initial centre. */
static void find_nearest(const ts_problem *p, double *nearest) {
    const ts_points points = ts_problem_points(p);
#pragma omp parallel for if (ts_worth_parallel(p->n * p->k * p->d))
    for (int64_t i = 0; i < p->n; i++)
        nearest[i] = p->exact_centers != NULL ? ts_point_nearest(&points, i, p->k, p->exact_centers, NULL)
                                              : ts_nearest(p->d, p->k, p->points + i * p->d, p->centers, NULL);
}

double ts_variant_gamma(const ts_variant *v, const ts_problem *p) {
    double *nearest = malloc((size_t)p->n * sizeof *nearest), mean = 0;
    if (nearest == NULL) return NAN;
    find_nearest(p, nearest);
    for (int64_t i = 0; i < p->n; i++) mean += nearest[i] / (double)p->n;
    double typical = median(p->n, nearest);
    free(nearest);
    if (!(typical > 0)) typical = mean > 0 ? mean : 1;
    if (v->gamma == TS_GAMMA_UPDATE && !v->medoids) return (double)p->k / (16 * (double)p->n * typical);
    return (double)p->d / (2 * typical);
}
