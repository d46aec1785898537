/* plain_rules.c: the rules in which the plain algorithms differ, each in its textbook form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/rng.h"
#include "plain.h"
#include "plain_parts.h"

/* ---- how a point is shared ----------------------------------------------------------------------------------- */

static double least_of(int64_t k, const double *distance) {
    double least = distance[0];
    for (int64_t j = 1; j < k; j++) least = distance[j] < least ? distance[j] : least;
    return least;
}

static void divide_by_sum(int64_t n, double *w) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += w[i];
    for (int64_t i = 0; i < n; i++) w[i] /= sum;
}

static void respond_by_softmax(const ts_settings *s, int64_t k, double *r) {
    const double least = least_of(k, r);
    for (int64_t j = 0; j < k; j++) r[j] = isinf(s->gamma) ? r[j] <= least : exp(-s->gamma * (r[j] - least));
    divide_by_sum(k, r);
}

static void respond_by_power(const ts_settings *s, int64_t k, double *r) {
    const double least = least_of(k, r);
    for (int64_t j = 0; j < k; j++) r[j] = least <= 0 ? r[j] <= 0 : pow(least / r[j], 1 / (s->fuzziness - 1));
    divide_by_sum(k, r);
}

/* ---- what a point weighs in a soft centre ---------------------------------------------------------------------- */

/* Powers of r_ij / max_i r_ij, which give the same mean: those of r_ij itself may underflow. */
static void share_by_power(const ts_plain *p, int64_t j, double *w) {
    double greatest = 0;
    for (int64_t i = 0; i < p->problem.n; i++) greatest = fmax(greatest, w[i]);
    for (int64_t i = 0; i < p->problem.n; i++) w[i] = pow(w[i] / greatest, p->settings.fuzziness);
    (void)j;
}

/* The codes are the binary digits of the clusters' numbers. */
double ts_plain_code_distance(const ts_plain *p, int64_t i, int64_t j) {
    const int64_t k = p->problem.k;
    double distance = 0;
    for (int64_t bit = 1; bit < k || bit == 1; bit *= 2) {
        double digit = 0;
        for (int64_t l = 0; l < k; l++) digit += l & bit ? p->r[i * k + l] : 0;
        digit -= j & bit ? 1 : 0;
        distance += digit * digit;
    }
    return distance;
}

static void share_by_code(const ts_plain *p, int64_t j, double *w) {
    const int64_t n = p->problem.n;
    double greatest = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        w[i] = -p->settings.gamma * ts_plain_code_distance(p, i, j);
        greatest = fmax(greatest, w[i]);
    }
    for (int64_t i = 0; i < n; i++) w[i] = exp(w[i] - greatest);
}

/* ---- what a member weighs in a hard centre ----------------------------------------------------------------------- */

static int falling(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The scores minus the greatest, in descending order. */
static const double *sorted_scores(const ts_plain *p, int64_t count, const double *s, double *greatest) {
    *greatest = s[0];
    for (int64_t i = 1; i < count; i++) *greatest = fmax(*greatest, s[i]);
    for (int64_t i = 0; i < count; i++) p->work[i] = s[i] - *greatest;
    qsort(p->work, (size_t)count, sizeof *p->work, falling);
    return p->work;
}

static void weigh_trimmed(const ts_plain *p, int64_t j, int64_t count, const double *s, double *w) {
    double greatest, sum = 0, best = -INFINITY;
    const double *sorted = sorted_scores(p, count, s, &greatest);
    (void)j;
    for (int64_t m = 1; m <= count; m++) {
        sum += sorted[m - 1];
        best = fmax(best, (sum - 1) / (double)m);
    }
    for (int64_t i = 0; i < count; i++) w[i] = s[i] - greatest > best;
}

static void weigh_sparsemax(const ts_plain *p, int64_t j, int64_t count, const double *s, double *w) {
    double greatest, sum = 0, threshold = 0;
    const double *sorted = sorted_scores(p, count, s, &greatest);
    (void)j;
    for (int64_t m = 1; m <= count; m++) {
        sum += sorted[m - 1];
        if (1 + (double)m * sorted[m - 1] > sum) threshold = (sum - 1) / (double)m;
    }
    for (int64_t i = 0; i < count; i++) w[i] = fmax(s[i] - greatest - threshold, 0);
}

static double greatest_of(int64_t count, const double *s) {
    double greatest = s[0];
    for (int64_t i = 1; i < count; i++) greatest = fmax(greatest, s[i]);
    return greatest;
}

/* t in [-1, 0] with sum [(s - greatest)/scale - t]_+^power = 1, by bisection. */
static double find_threshold(int64_t count, const double *s, double greatest, double scale, double power) {
    double low = -1, high = 0;
    for (int halving = 0; halving < 200 && low < high; halving++) {
        const double middle = (low + high) / 2;
        double sum = 0;
        if (middle <= low || middle >= high) break;
        for (int64_t i = 0; i < count; i++) sum += pow(fmax((s[i] - greatest) / scale - middle, 0), power);
        *(sum > 1 ? &low : &high) = middle;
    }
    return low;
}

static void weigh_entmax(const ts_plain *p, int64_t j, int64_t count, const double *s, double *w) {
    const double greatest = greatest_of(count, s), threshold = find_threshold(count, s, greatest, 2, 2);
    (void)p, (void)j;
    for (int64_t i = 0; i < count; i++) w[i] = pow(fmax((s[i] - greatest) / 2 - threshold, 0), 2);
}

static void weigh_normmax(const ts_plain *p, int64_t j, int64_t count, const double *s, double *w) {
    const double alpha = p->settings.alpha, greatest = greatest_of(count, s);
    const double threshold = find_threshold(count, s, greatest, 1, alpha / (alpha - 1));
    (void)j;
    for (int64_t i = 0; i < count; i++) w[i] = pow(fmax(s[i] - greatest - threshold, 0), 1 / (alpha - 1));
}

/* How many points of a cluster remain when a share is trimmed: .29 of 100 means 29, whatever the rounding of .29. */
static int64_t kept_of(int64_t count, double share) {
    const double exact = share * (double)count, whole = round(exact);
    const double trimmed = fabs(exact - whole) <= 1e-9 * fmax(1, (double)count) ? whole : floor(exact);
    const int64_t kept = count - (int64_t)trimmed;
    return kept > 1 ? kept : 1;
}

static void weigh_trimmed_share(const ts_plain *p, int64_t j, int64_t count, const double *s, double *w) {
    const int64_t kept = kept_of(count, p->settings.trim);
    memcpy(p->work, s, (size_t)count * sizeof *s);
    qsort(p->work, (size_t)count, sizeof *p->work, falling);
    const double border = p->work[kept - 1];
    int64_t room = kept;
    (void)j;
    for (int64_t i = 0; i < count; i++) room -= s[i] > border;
    for (int64_t i = 0; i < count; i++) {
        const bool at_border = s[i] >= border && !(s[i] > border);
        w[i] = s[i] > border || (at_border && room-- > 0);
    }
}

static void weigh_medoid(const ts_plain *p, int64_t j, int64_t count, const double *s, double *w) {
    const ts_rng rng = {p->problem.seed, ts_rng_stream("cross_centers.simplex"), (uint32_t)p->state.steps};
    double greatest = -INFINITY, most = -INFINITY;
    int64_t chosen = 0;
    for (int64_t i = 0; i < count; i++) greatest = fmax(greatest, s[i]);
    for (int64_t i = 0; i < count; i++) {
        const double drawn = s[i] - greatest + ts_rng_gumbel(rng, (uint64_t)(j * p->problem.n + i));
        if (drawn > most) most = drawn, chosen = i;
        w[i] = 0;
    }
    w[chosen] = 1;
}

/* ---- the algorithms ---------------------------------------------------------------------------------------------- */

const ts_plain_algorithm ts_plain_lloyd = {.respond = respond_by_softmax};
const ts_plain_algorithm ts_plain_soft = {.respond = respond_by_softmax, .responds_always = true};
const ts_plain_algorithm ts_plain_soft_codes = {
    .respond = respond_by_softmax, .responds_always = true, .share = share_by_code, .by_code = true};
const ts_plain_algorithm ts_plain_spherical_codes = {
    .respond = respond_by_softmax, .responds_always = true, .share = share_by_code, .by_code = true, .unit = true};
const ts_plain_algorithm ts_plain_spherical = {.respond = respond_by_softmax, .unit = true};
const ts_plain_algorithm ts_plain_trimmed = {.weigh = weigh_trimmed, .trims = true};
const ts_plain_algorithm ts_plain_trimmed_share = {.weigh = weigh_trimmed_share, .trims = true};
const ts_plain_algorithm ts_plain_robust = {.weigh = weigh_sparsemax};
const ts_plain_algorithm ts_plain_entmax = {.weigh = weigh_entmax};
const ts_plain_algorithm ts_plain_normmax = {.weigh = weigh_normmax};
const ts_plain_algorithm ts_plain_medoids = {.weigh = weigh_medoid, .medoids = true};
const ts_plain_algorithm ts_plain_fuzzy = {
    .respond = respond_by_power, .responds_always = true, .share = share_by_power};
