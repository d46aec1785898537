#include "definition.h"

#include <math.h>

int64_t ts_scheme_width(ts_scheme scheme, int64_t k) {
    int64_t bits = 1;
    switch (scheme) {
    case TS_SCHEME_ONEHOT: return k;
    case TS_SCHEME_BINARY:
        while (((int64_t)1 << bits) < k) bits++;
        return bits;
    case TS_SCHEME_NONE: break;
    }
    return 0;
}

void ts_scheme_code_book(ts_scheme scheme, int64_t k, ts_real *book) {
    const int64_t s = ts_scheme_width(scheme, k);
    for (int64_t j = 0; j < k; j++)
        for (int64_t c = 0; c < s; c++) book[j * s + c] = scheme == TS_SCHEME_ONEHOT ? j == c : (ts_real)(j >> c & 1);
}

static ts_status check_projection(const char *block, const char *part, const ts_projection *p, ts_error *error) {
    if (p->learned) return TS_OK;
    if (p->n_copies < 0 || p->n_copies > TS_MAX_COPIES)
        return ts_error_set(error, TS_ERROR_VALUE, "%s.%s: %d copies; 0 to %d fit", block, part, p->n_copies,
                            TS_MAX_COPIES);
    for (int i = 0; i < p->n_copies; i++) {
        if (p->copy[i].from != p->copy[i].to)
            return ts_error_set(error, TS_ERROR_VALUE, "%s.%s: copy %d joins groups of different widths", block, part,
                                i);
        if (!isfinite(p->copy[i].scale))
            return ts_error_set(error, TS_ERROR_VALUE, "%s.%s: the scale of copy %d is not finite", block, part, i);
    }
    return TS_OK;
}

static ts_status check_block(const char *name, const ts_block *b, bool self, ts_error *error) {
    if (b->identity && !self)
        return ts_error_set(error, TS_ERROR_VALUE, "%s: identity weights need self-attention", name);
    if (!b->identity) {
        ts_error reason = {.status = TS_OK};
        if (b->simplex.map == NULL) return ts_error_set(error, TS_ERROR_VALUE, "%s: no simplex map", name);
        if (ts_simplex_check(&b->simplex, &reason) != TS_OK)
            return ts_error_set(error, reason.status, "%s: %s", name, reason.text);
        if (!(b->gamma > 0) || !isfinite(b->gamma))
            return ts_error_set(error, TS_ERROR_VALUE, "%s: gamma must be positive and finite, not %g", name, b->gamma);
        if (!(b->dropout >= 0 && b->dropout <= 1))
            return ts_error_set(error, TS_ERROR_VALUE, "%s: dropout must be in [0,1], not %g", name, b->dropout);
    }
    if (check_projection(name, "query", &b->query, error) != TS_OK) return error->status;
    if (check_projection(name, "key", &b->key, error) != TS_OK) return error->status;
    return check_projection(name, "value", &b->value, error);
}

ts_status ts_definition_check(const ts_definition *definition, int64_t d, int64_t k, ts_error *error) {
    if (d < 1 || k < 1) return ts_error_set(error, TS_ERROR_VALUE, "d and k must be at least 1");
    if (check_block("cross_points", &definition->cross_points, false, error) != TS_OK) return error->status;
    if (check_block("self_points", &definition->self_points, true, error) != TS_OK) return error->status;
    if (check_block("cross_centers", &definition->cross_centers, false, error) != TS_OK) return error->status;
    return check_block("self_centers", &definition->self_centers, true, error);
}
