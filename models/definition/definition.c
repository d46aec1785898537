/* definition.c: the blocks of a definition by number, and its checks. */
#include "definition.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const ts_block_names[TS_BLOCKS] = {"cross_points", "self_points", "cross_centers", "self_centers"};

ts_block_definition *ts_definition_block(ts_definition *definition, int i) {
    ts_block_definition *const blocks[TS_BLOCKS] = {&definition->cross_points, &definition->self_points,
                                                    &definition->cross_centers, &definition->self_centers};
    return blocks[i];
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

typedef struct checker {
    const ts_definition *definition;
    int64_t d, k;
    ts_error *error;
} checker;

static bool wrong(const checker *c, const char *part, const char *format, ...) TS_PRINTF(3, 4);

static bool wrong(const checker *c, const char *part, const char *format, ...) {
    char reason[300];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    ts_error_set(c->error, TS_ERROR_VALUE, "%s: %s", part, reason);
    return false;
}

static bool range_ok(const checker *c, const char *part, const ts_range *range, ts_place *place) {
    *place = ts_range_place(range, c->definition->construction, c->d, c->k);
    if (place->count > 0) return true;
    const bool known = (int)range->group >= TS_GROUP_DATA && (int)range->group <= TS_GROUP_MEMORY;
    const char *name = known ? ts_group_names[range->group] : "?";
    const ts_range all = {.group = range->group};
    const ts_place whole = ts_range_place(&all, c->definition->construction, c->d, c->k);
    if (whole.count < 0)
        return wrong(c, part, "tokens of scheme %s have no %s", ts_construction_names[c->definition->construction],
                     name);
    return wrong(c, part, "%s[%lld:%lld] is out of range: there are %lld", name, (long long)range->first,
                 (long long)(range->first + range->count), (long long)whole.count);
}

static bool joins(const checker *c, const char *part, const ts_range *from, const ts_range *to) {
    ts_place source, target;
    if (!range_ok(c, part, from, &source) || !range_ok(c, part, to, &target)) return false;
    if (source.count == target.count || target.count == 1) return true;
    return wrong(c, part, "%lld coordinates of %s do not fit into %lld of %s", (long long)source.count,
                 ts_group_names[from->group], (long long)target.count, ts_group_names[to->group]);
}

static bool projection_ok(const checker *c, const char *block, const char *which, const ts_projection *p) {
    char part[64];
    snprintf(part, sizeof part, "%s.%s", block, which);
    if (p->learned) return true;
    if (p->n_copies < 1 || p->n_copies > TS_MAX_COPIES)
        return wrong(c, part, "%d copies; 1 to %d fit", p->n_copies, TS_MAX_COPIES);
    for (int i = 0; i < p->n_copies; i++) {
        if (!joins(c, part, &p->copy[i].from, &p->copy[i].to)) return false;
        if (!isfinite(p->copy[i].scale)) return wrong(c, part, "the scale of copy %d is not finite", i);
    }
    return true;
}

static bool overlap(const checker *c, const ts_projection *a, const ts_projection *b) {
    for (int i = 0; i < a->n_copies; i++)
        for (int l = 0; l < b->n_copies; l++) {
            const ts_place x = ts_range_place(&a->copy[i].to, c->definition->construction, c->d, c->k),
                           y = ts_range_place(&b->copy[l].to, c->definition->construction, c->d, c->k);
            if (x.first < y.first + y.count && y.first < x.first + x.count) return true;
        }
    return false;
}

/* Refuses queries and keys without a common coordinate: all scores would be equal. */
static bool query_meets_key(const checker *c, const char *name, const ts_block_definition *b) {
    if (b->query.learned || b->key.learned || overlap(c, &b->query, &b->key)) return true;
    return wrong(c, name, "query and key have no coordinate in common");
}

static bool weights_ok(const checker *c, const char *name, const ts_block_definition *b) {
    ts_error reason = {.status = TS_OK};
    if (b->simplex.map == NULL) return wrong(c, name, "no simplex map");
    if (ts_simplex_check(&b->simplex, &reason) != TS_OK) return wrong(c, name, "%s", reason.text);
    if (!(b->gamma > 0) || !isfinite(b->gamma))
        return wrong(c, name, "gamma must be positive and finite, not %g", b->gamma);
    if (b->gamma > 1e300) return wrong(c, name, "gamma must be at most 1e300, not %g", b->gamma);
    if (b->score == TS_SCORE_EUCLIDEAN && b->simplex.map->domain == TS_SCORES_NONNEGATIVE)
        return wrong(c, name, "%s needs scores of 0 or more: dot, not euclidean", b->simplex.map->name);
    if (!(b->dropout >= 0 && b->dropout <= 1)) return wrong(c, name, "dropout must be in [0,1], not %g", b->dropout);
    return projection_ok(c, name, "query", &b->query) && projection_ok(c, name, "key", &b->key) &&
           query_meets_key(c, name, b);
}

/* Refuses values that write no code: no label could be read from the points. */
static bool writes_code(const checker *c, const ts_projection *value) {
    bool writes = value->learned || ts_construction_code_width(c->definition->construction, c->k) == 0;
    for (int i = 0; i < value->n_copies; i++) writes = writes || value->copy[i].to.group == TS_GROUP_CODE;
    return writes || wrong(c, "cross_points.value", "writes no code, from which clusters are read");
}

static bool block_ok(const checker *c, int i) {
    const ts_block_definition *b = ts_definition_block((ts_definition *)c->definition, i);
    const char *name = ts_block_names[i];
    if (b->identity && i % 2 == 0) return wrong(c, name, "identity weights need self-attention");
    if (b->own_code && b != &c->definition->cross_centers)
        return wrong(c, name, "only centres that look at points (cross_centers) can be held to their own code");
    if (b->own_code && ts_construction_code_width(c->definition->construction, c->k) == 0)
        return wrong(c, name, "tokens of scheme %s have no code", ts_construction_names[c->definition->construction]);
    return (b->identity || weights_ok(c, name, b)) && projection_ok(c, name, "value", &b->value);
}

static bool norm_ok(const checker *c, const ts_norm_definition *norm) {
    ts_place place;
    if (!norm->present) return true;
    if (!range_ok(c, "norm", &norm->range, &place)) return false;
    if (norm->range.group != TS_GROUP_DATA)
        return wrong(c, "norm", "only data have a direction, not %s, which points enter without",
                     ts_group_names[norm->range.group]);
    if (!(norm->length > 0) || !isfinite(norm->length))
        return wrong(c, "norm", "the length must be positive and finite, not %g", norm->length);
    if (norm->length < 1e-15 || norm->length > 1e15)
        return wrong(c, "norm", "the length must be from 1e-15 to 1e15, not %g", norm->length);
    if (norm->eps >= 0 && isfinite(norm->eps)) return true;
    return wrong(c, "norm", "eps must be finite and not negative, not %g", norm->eps);
}

static bool feed_forward_ok(const checker *c, const ts_feed_forward_definition *f) {
    static const char name[] = "feed_forward";
    if (!f->present) return true;
    if (ts_activation_place(f->activation) < 0) return wrong(c, name, "unknown activation");
    if (f->learned) return f->hidden >= 1 || wrong(c, name, "hidden must be at least 1");
    if (f->n_units < 1 || f->n_units > TS_MAX_UNITS)
        return wrong(c, name, "%d units; 1 to %d fit", f->n_units, TS_MAX_UNITS);
    for (int i = 0; i < f->n_units; i++) {
        if (!joins(c, name, &f->unit[i].from, &f->unit[i].to)) return false;
        if (!isfinite(f->unit[i].scale) || !isfinite(f->unit[i].weight))
            return wrong(c, name, "a number of unit %d is not finite", i);
    }
    return true;
}

ts_status ts_definition_check(const ts_definition *definition, int64_t d, int64_t k, ts_error *error) {
    const checker c = {definition, d, k, error};
    if (d < 1 || k < 1) return ts_error_set(error, TS_ERROR_VALUE, "d and k must be at least 1");
    if (definition->name[0] == '\0' || memchr(definition->name, '\0', sizeof definition->name) == NULL)
        return ts_error_set(error, TS_ERROR_VALUE, "a definition needs a name of at most %d bytes",
                            TS_DEFINITION_NAME - 1);
    if ((int)definition->construction < TS_CONSTRUCTION_ONEHOT || (int)definition->construction > TS_CONSTRUCTION_DOT)
        return ts_error_set(error, TS_ERROR_VALUE, "unknown scheme");
    bool ok = true;
    for (int i = 0; ok && i < TS_BLOCKS; i++) ok = block_ok(&c, i);
    ok = ok && writes_code(&c, &definition->cross_points.value);
    ok = ok && norm_ok(&c, &definition->norm) && feed_forward_ok(&c, &definition->feed_forward);
    if (ok && (definition->trims || definition->medoids) && !definition->cross_centers.own_code)
        ok = wrong(&c, "cross_centers", "%s need centres that see only the points of their own code",
                   definition->trims ? "trimmed points" : "medoids");
    return ok ? TS_OK : error->status;
}

void ts_definition_change_unit(ts_definition *definition, double factor) {
    if (definition->norm.present) return; /* normalised data do not depend on the unit */
    for (int i = 0; i < TS_BLOCKS; i++) {
        ts_block_definition *b = ts_definition_block(definition, i);
        if (b->identity || b->simplex.map->scale_invariant) continue;
        for (int l = 0; l < b->query.n_copies; l++)
            if (b->query.copy[l].from.group == TS_GROUP_DATA) {
                b->gamma *= factor * factor;
                break;
            }
    }
}
