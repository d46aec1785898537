/* schedule.c: learning rates: warm-up, cosine, plateau. */
#include "schedule.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793238462643;

static const char *const NAMES[TS_SCHEDULES] = {
    [TS_SCHEDULE_CONSTANT] = "constant", [TS_SCHEDULE_COSINE] = "cosine", [TS_SCHEDULE_PLATEAU] = "plateau"};

bool ts_schedule_by_name(const char *name, ts_schedule_kind *kind) {
    for (int i = 0; i < TS_SCHEDULES; i++)
        if (strcmp(name, NAMES[i]) == 0) {
            *kind = (ts_schedule_kind)i;
            return true;
        }
    return false;
}

const char *ts_schedule_name(ts_schedule_kind kind) {
    return (unsigned)kind < TS_SCHEDULES ? NAMES[kind] : NULL;
}

ts_schedule_spec ts_schedule_defaults(ts_schedule_kind kind, double rate, int64_t total) {
    ts_schedule_spec spec = {.kind = kind, .rate = rate};
    if (kind == TS_SCHEDULE_COSINE) spec.total = total;
    if (kind == TS_SCHEDULE_PLATEAU) spec.factor = 0.1, spec.patience = 10, spec.threshold = 1e-4;
    return spec;
}

static ts_status check_plateau(const ts_schedule_spec *spec, ts_error *error) {
    if (!(spec->factor > 0 && spec->factor < 1))
        return ts_error_set(error, TS_ERROR_VALUE, "plateau: factor is %g; it must be between 0 and 1", spec->factor);
    if (spec->patience < 0 || spec->cooldown < 0)
        return ts_error_set(error, TS_ERROR_VALUE, "plateau: patience and cooldown are %lld and %lld; at least 0",
                            (long long)spec->patience, (long long)spec->cooldown);
    if (!(spec->threshold >= 0 && spec->threshold < 1))
        return ts_error_set(error, TS_ERROR_VALUE, "plateau: threshold is %g; it must be in [0,1)", spec->threshold);
    return TS_OK;
}

static ts_status check(const ts_schedule_spec *spec, ts_error *error) {
    const char *name = ts_schedule_name(spec->kind);
    if (name == NULL) return ts_error_set(error, TS_ERROR_VALUE, "there is no schedule %d", (int)spec->kind);
    if (!(spec->rate > 0 && isfinite(spec->rate)))
        return ts_error_set(error, TS_ERROR_VALUE, "%s: rate is %g; it must be above 0 and finite", name, spec->rate);
    if (spec->warmup < 0)
        return ts_error_set(error, TS_ERROR_VALUE, "%s: warmup is %lld; at least 0", name, (long long)spec->warmup);
    if (spec->kind == TS_SCHEDULE_CONSTANT) return TS_OK;
    if (!(spec->floor >= 0 && spec->floor <= spec->rate))
        return ts_error_set(error, TS_ERROR_VALUE, "%s: floor is %g; it must be between 0 and the rate, %g", name,
                            spec->floor, spec->rate);
    if (spec->kind == TS_SCHEDULE_PLATEAU) return check_plateau(spec, error);
    if (spec->warmup >= spec->total)
        return ts_error_set(error, TS_ERROR_VALUE, "%s: total is %lld; it must be above warmup, %lld", name,
                            (long long)spec->total, (long long)spec->warmup);
    return TS_OK;
}

ts_status ts_schedule_start(ts_schedule *schedule, const ts_schedule_spec *spec, ts_error *error) {
    const ts_status status = check(spec, error);
    if (status == TS_OK) *schedule = (ts_schedule){.spec = *spec, .rate = spec->rate, .best = INFINITY};
    return status;
}

static double cosine(const ts_schedule_spec *spec, int64_t step) {
    if (step >= spec->total) return spec->floor;
    if (step <= spec->warmup) return spec->rate;
    const double s = (double)(step - spec->warmup) / (double)(spec->total - spec->warmup);
    return spec->floor + (spec->rate - spec->floor) * (1 + cos(PI * s)) / 2;
}

double ts_schedule_rate(const ts_schedule *schedule, int64_t step) {
    const ts_schedule_spec *spec = &schedule->spec;
    const double base = spec->kind == TS_SCHEDULE_COSINE ? cosine(spec, step) : schedule->rate;
    return step < spec->warmup ? base * ((double)step + 1) / (double)spec->warmup : base;
}

static bool improves(const ts_schedule *s, double metric) {
    if (isinf(s->best)) return metric < s->best; /* threshold |best| would be infinite or NaN */
    return metric < s->best - s->spec.threshold * fabs(s->best);
}

bool ts_schedule_observe(ts_schedule *s, double metric) {
    if (s->spec.kind != TS_SCHEDULE_PLATEAU) return false;
    s->waited++;
    if (improves(s, metric)) {
        s->best = metric;
        s->waited = 0;
    }
    if (s->cooling > 0) {
        s->cooling--;
        s->waited = 0;
    }
    if (s->waited <= s->spec.patience) return false;
    const double old = s->rate;
    s->rate = fmax(s->spec.floor, s->spec.factor * old);
    s->cooling = s->spec.cooldown;
    s->waited = 0;
    return s->rate < old;
}
