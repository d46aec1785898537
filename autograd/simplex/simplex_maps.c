/* simplex_maps.c: the table of maps, and what is common to all of them (simplex.h). */
#include <string.h>

#include "../simplex.h"

#define ADDRESS(name) &ts_##name##_map,
const ts_simplex *const ts_simplex_maps[] = {TS_SIMPLEX_MAPS(ADDRESS) NULL};

const ts_simplex *ts_simplex_by_name(const char *name) {
    for (const ts_simplex *const *map = ts_simplex_maps; *map != NULL; map++)
        if (strcmp((*map)->name, name) == 0) return *map;
    return NULL;
}

void ts_simplex_backward(const ts_simplex *map, const ts_simplex_row *row, const double *s, const double *w, double z,
                         const double *dp, double *ds) {
    int64_t i = 0;
    while (i < row->n && dp[i] == 0) i++;
    if (i < row->n)
        map->backward(row, s, w, z, dp, ds);
    else
        memset(ds, 0, (size_t)row->n * sizeof *ds);
}

ts_status ts_simplex_check(const ts_simplex_spec *spec, ts_error *error) {
    const ts_simplex *map = spec->map;
    if (map == NULL) return ts_error_set(error, TS_ERROR_VALUE, "no simplex map is given");
    if (map->parameter_ok == NULL || map->parameter_ok(spec->parameter)) return TS_OK;
    return ts_error_set(error, TS_ERROR_VALUE, "%s: %s, not %g", map->name, map->parameter_rule, spec->parameter);
}
