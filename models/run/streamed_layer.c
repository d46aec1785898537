/* streamed_layer.c: recognises definitions that are k-means steps, and runs them on rows of data. */
#include "streamed_layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../autograd/nearest_key.h"
#include "../../autograd/parallel.h"

/* ---- which definitions ------------------------------------------------------------------------------------------- */

typedef struct fitting {
    const ts_definition *definition;
    int64_t d, k;
} fitting;

static bool is_whole(const fitting *f, const ts_range *range, ts_group group) {
    const ts_range all = {.group = group};
    const ts_place place = ts_range_place(range, f->definition->construction, f->d, f->k),
                   whole = ts_range_place(&all, f->definition->construction, f->d, f->k);
    return range->group == group && place.first == whole.first && place.count == whole.count;
}

/* Is the projection `scale` times one whole group, copied onto itself? */
static bool copies(const fitting *f, const ts_projection *p, ts_group group, double scale) {
    return !p->learned && p->n_copies == 1 && !(fabs(p->copy[0].scale - scale) > 0) &&
           is_whole(f, &p->copy[0].from, group) && is_whole(f, &p->copy[0].to, group);
}

static bool erases(const fitting *f, const ts_block_definition *b, ts_group group) {
    return b->identity && copies(f, &b->value, group, -1);
}

/* The factor of the scores. */
static double factor_of(const fitting *f, const ts_block_definition *b) {
    const double e = (double)(f->d + ts_construction_width(f->definition->construction, f->k));
    return b->scaled ? b->gamma / sqrt(e) : b->gamma;
}

static bool looks(const fitting *f, const ts_block_definition *b, ts_group at, ts_group write) {
    return !b->identity && !(b->dropout > 0) && copies(f, &b->query, at, 1) && copies(f, &b->key, at, 1) &&
           copies(f, &b->value, write, 1);
}

/* Is the map the mean of the points with its own code, none trimmed? */
static bool trims_nothing(const fitting *f, const ts_block_definition *b) {
    return b->own_code && b->simplex.map == &ts_top_m_map && !(b->simplex.parameter > 0) &&
           looks(f, b, TS_GROUP_DATA, TS_GROUP_DATA);
}

static bool chooses_the_nearest(const fitting *f) {
    const ts_block_definition *b = &f->definition->cross_points;
    const double gamma = factor_of(f, b);
    const bool shares =
        b->simplex.map->argmax == TS_EVERY_ARGMAX && f->definition->construction == TS_CONSTRUCTION_ONEHOT;
    return looks(f, b, TS_GROUP_DATA, TS_GROUP_CODE) && !b->own_code && gamma >= 1e-12 && gamma <= 1e12 &&
           (b->simplex.map->argmax == TS_FIRST_ARGMAX || shares);
}

/* With the linear map the scores are the shares. Hardmax needs whole codes, and then selects all of them. */
static bool averages_its_own(const fitting *f) {
    const ts_block_definition *b = &f->definition->cross_centers;
    const bool onehot = f->definition->construction == TS_CONSTRUCTION_ONEHOT, dot = b->score == TS_SCORE_DOT;
    const bool whole = f->definition->cross_points.simplex.map->argmax == TS_FIRST_ARGMAX;
    if (trims_nothing(f, b)) return whole;
    if (b->own_code || !looks(f, b, TS_GROUP_CODE, TS_GROUP_DATA)) return false;
    if (b->simplex.map->argmax == TS_EVERY_ARGMAX) return whole && (onehot || !dot);
    return b->simplex.map == &ts_linear_map && onehot && dot && !(fabs(factor_of(f, b) - 1) > 0);
}

bool ts_streamed_layer_fits(const ts_definition *definition, int64_t d, int64_t k) {
    const fitting f = {definition, d, k};
    const bool codes =
        definition->construction == TS_CONSTRUCTION_ONEHOT || definition->construction == TS_CONSTRUCTION_BINARY;
    if (!codes || definition->medoids || definition->feed_forward.present ||
        k > 1000000) /* a share of 1/k could be less than the least change of weights that counts */
        return false;
    if (definition->trims && !trims_nothing(&f, &definition->cross_centers)) return false;
    return chooses_the_nearest(&f) && averages_its_own(&f) && erases(&f, &definition->self_points, TS_GROUP_CODE) &&
           erases(&f, &definition->self_centers, TS_GROUP_DATA);
}

bool ts_streamed_layer_reaches(double reach) {
    return reach <= (sizeof(ts_real) == sizeof(float) ? 3.5e38 : 1e140);
}

/* ---- the layer --------------------------------------------------------------------------------------------------- */

/* Rows treated at a time: they stay in the cache until they are summed. */
enum { STRIP = 40 * TS_NEAREST_ROWS };

/* The points that several centres share, in order; each entry: the row, the number of centres, and these in ascending
 * order. */
typedef struct tie_list {
    int64_t *item;
    int64_t count, room, rows;
} tie_list;

struct ts_streamed_layer {
    int64_t n, d, k;
    ts_streamed_rows rows;
    bool dot; /* nearest means the greatest dot product */
    double gamma;
    bool shares;    /* ties are shared; else the first centre takes all */
    int64_t parts;  /* parts of the rows; part p begins at row n p / parts */
    ts_real *keys;  /* the centres as prepared by ts_nearest_keys_prepare */
    double *sums;   /* [parts,k,d] sums of the rows of each cluster */
    double *rests;  /* [parts,k,d] their rounding errors, for rows in double; else NULL */
    double *masses; /* [parts,k] their weights */
    tie_list *ties; /* [2 parts] those of the current assignment, then of the previous one */
    size_t work_bytes;
};

static bool take_memory(ts_streamed_layer *l) {
    const size_t parts = (size_t)l->parts, k = (size_t)l->k, d = (size_t)l->d;
    l->keys = malloc((size_t)ts_nearest_keys_size(l->d, l->k) * sizeof *l->keys);
    l->sums = malloc(parts * k * d * sizeof *l->sums);
    if (l->rows.points.exact != NULL) l->rests = malloc(parts * k * d * sizeof *l->rests);
    l->masses = malloc(parts * k * sizeof *l->masses);
    l->ties = calloc(2 * parts, sizeof *l->ties);
    return l->keys != NULL && l->sums != NULL && (l->rests != NULL || l->rows.points.exact == NULL) &&
           l->masses != NULL && l->ties != NULL;
}

/* Enough parts for threads to share evenly, but few enough that their sums take a quarter of the rows' size in double.
 */
static int64_t count_parts(int64_t n, int64_t k) {
    enum { MOST = 64, LEAST_ROWS = 4096 };
    const int64_t rows = 4 * k > LEAST_ROWS ? 4 * k : LEAST_ROWS, parts = (n + rows - 1) / rows;
    return parts < MOST ? parts : MOST;
}

ts_streamed_layer *ts_streamed_layer_create(const ts_definition *definition, const ts_streamed_rows *rows, int64_t k,
                                            ts_error *error) {
    const int64_t n = rows->points.n, d = rows->points.d;
    const fitting f = {definition, d, k};
    ts_streamed_layer *l = calloc(1, sizeof *l);
    if (l != NULL) {
        *l = (ts_streamed_layer){.n = n, .d = d, .k = k, .rows = *rows, .parts = count_parts(n, k)};
        l->gamma = factor_of(&f, &definition->cross_points);
        l->dot = definition->cross_points.score == TS_SCORE_DOT;
        l->shares = definition->cross_points.simplex.map->argmax == TS_EVERY_ARGMAX;
        if (take_memory(l)) return l;
    }
    ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a layer");
    ts_streamed_layer_free(l);
    return NULL;
}

void ts_streamed_layer_free(ts_streamed_layer *l) {
    if (l == NULL) return;
    for (int64_t p = 0; l->ties != NULL && p < 2 * l->parts; p++) free(l->ties[p].item);
    free(l->keys);
    free(l->sums);
    free(l->rests);
    free(l->masses);
    free(l->ties);
    free(l);
}

size_t ts_streamed_layer_bytes(const ts_streamed_layer *l) {
    const int64_t numbers = l->rests != NULL ? 2 * l->d + 1 : l->d + 1;
    const size_t sums = (size_t)(l->parts * l->k * numbers) * sizeof(double);
    size_t ties = 0;
    for (int64_t p = 0; p < 2 * l->parts; p++) ties += (size_t)l->ties[p].room * sizeof(int64_t);
    return sums + ties + (size_t)ts_nearest_keys_size(l->d, l->k) * sizeof(ts_real) + l->work_bytes;
}

/* ---- ties -------------------------------------------------------------------------------------------------------- */

static bool note_tie(tie_list *list, int64_t row, int64_t count, const int32_t *centers) {
    if (list->count + count + 2 > list->room) {
        const int64_t room = 2 * list->room + count + 2;
        int64_t *item = realloc(list->item, (size_t)room * sizeof *item);
        if (item == NULL) return false;
        list->item = item;
        list->room = room;
    }
    list->item[list->count++] = row;
    list->item[list->count++] = count;
    for (int64_t l = 0; l < count; l++) list->item[list->count++] = centers[l];
    list->rows++;
    return true;
}

static bool same_ties(const tie_list *a, const tie_list *b) {
    if (a->count != b->count) return false;
    return a->count == 0 || memcmp(a->item, b->item, (size_t)a->count * sizeof *a->item) == 0;
}

/* The share of a point that each of `count` centres has. */
static double share_of(const ts_streamed_layer *l, int64_t count) {
    const double share = 1 / (double)count;
    return l->rows.whole_shares ? share : (double)(ts_real)share;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* The work of one thread on one part of the rows. */
typedef struct part {
    const ts_streamed_layer *layer;
    const ts_nearest_keys *keys;
    int64_t *labels;
    double *sums, *rests, *masses; /* [k,d], [k,d], [k]; NULL: not wanted */
    tie_list *ties;
    ts_real *work;
    int32_t *tied; /* [k] */
    bool same, room;
} part;

/* Returns sum + x, and adds its rounding error to *rest [Knuth's TwoSum]. */
static inline double add_whole(double sum, double x, double *rest) {
    const double now = sum + x, added = now - sum;
    *rest += (sum - (now - added)) + (x - added);
    return now;
}

/* Adds rows x [rows,d], multiplied by their weights (NULL: 1), to the sums of their clusters. In double, sums of floats
 * need no correction. */
TS_CLONES static void add_real_rows(int64_t rows, int64_t d, const ts_real *x, const double *weight,
                                    const int32_t *nearest, double *sums, double *masses) {
    for (int64_t i = 0; i < rows; i++) {
        double *sum = sums + nearest[i] * d;
        masses[nearest[i]] += 1;
        if (weight == NULL)
            for (int64_t c = 0; c < d; c++) sum[c] += (double)x[i * d + c];
        else
            for (int64_t c = 0; c < d; c++) sum[c] += weight[i] * (double)x[i * d + c];
    }
}

/* The same for doubles, whose rounding errors are kept. */
TS_CLONES static void add_exact_rows(int64_t rows, int64_t d, const double *x, const double *weight,
                                     const int32_t *nearest, double *sums, double *rests, double *masses) {
    for (int64_t i = 0; i < rows; i++) {
        double *sum = sums + nearest[i] * d, *rest = rests + nearest[i] * d;
        const double factor = weight == NULL ? 1 : weight[i];
        masses[nearest[i]] += 1;
        for (int64_t c = 0; c < d; c++) sum[c] = add_whole(sum[c], factor * x[i * d + c], &rest[c]);
    }
}

static void add_rows(const part *p, int64_t first, int64_t rows, const int32_t *nearest) {
    const ts_streamed_rows *r = &p->layer->rows;
    const int64_t d = p->layer->d;
    const double *weight = r->weights != NULL ? r->weights + first : NULL;
    if (p->sums == NULL) return;
    if (r->points.exact != NULL)
        add_exact_rows(rows, d, r->points.exact + first * d, weight, nearest, p->sums, p->rests, p->masses);
    else
        add_real_rows(rows, d, r->points.real + first * d, weight, nearest, p->sums, p->masses);
}

static void add_shared(const part *p, int64_t row, int64_t count) {
    const ts_streamed_layer *layer = p->layer;
    const double share = share_of(layer, count), weight = layer->rows.weights != NULL ? layer->rows.weights[row] : 1;
    if (p->sums == NULL) return;
    for (int64_t l = 0; l < count; l++) {
        const int64_t at = p->tied[l] * layer->d;
        p->masses[p->tied[l]] += share;
        for (int64_t c = 0; c < layer->d; c++) {
            const double x = share * (weight * ts_point_at(&layer->rows.points, row, c));
            double lost = 0;
            p->sums[at + c] = add_whole(p->sums[at + c], x, &lost);
            if (p->rests != NULL) p->rests[at + c] += lost;
        }
    }
}

static ts_key_rows rows_from(const ts_streamed_layer *l, int64_t first) {
    return ts_key_row((ts_key_rows){l->rows.points.real, l->rows.points.exact}, first, l->d);
}

/* Adds the rows of a strip, including those that are shared. */
static void add_strip(part *p, int64_t first, int64_t rows, int32_t *nearest) {
    for (int64_t i = 0, end = 0; i < rows; i = end) {
        while (end < rows && nearest[end] >= 0) end++;
        add_rows(p, first + i, end - i, nearest + i);
        if (end == rows) break;
        const int64_t count = ts_nearest_keys_ties(p->keys, rows_from(p->layer, first + end), p->tied);
        p->room = p->room && note_tie(p->ties, first + end, count, p->tied);
        add_shared(p, first + end, count);
        nearest[end] = -1 - nearest[end];
        end++;
    }
}

static void run_strip(part *p, int64_t first, int64_t rows) {
    const ts_streamed_layer *l = p->layer;
    int64_t *labels = p->labels + first;
    int32_t nearest[STRIP];
    bool same = true;
    ts_nearest_keys_find(p->keys, rows, rows_from(l, first), p->work, nearest);
    for (int64_t i = 0; i < rows && !l->shares; i++) nearest[i] = nearest[i] < 0 ? -1 - nearest[i] : nearest[i];
    add_strip(p, first, rows, nearest);
    for (int64_t i = 0; i < rows; i++) {
        same = same & (labels[i] == nearest[i]);
        labels[i] = nearest[i];
    }
    p->same = p->same && same;
}

static void run_part(part *p, int64_t index) {
    ts_streamed_layer const *l = p->layer;
    const int64_t begin = l->n * index / l->parts, end = l->n * (index + 1) / l->parts;
    tie_list *const before = l->ties + l->parts + index, old = *before;
    p->ties = l->ties + index;
    *before = *p->ties;
    *p->ties = (tie_list){.item = old.item, .room = old.room};
    if (p->sums != NULL) {
        p->sums = l->sums + index * l->k * l->d;
        p->masses = l->masses + index * l->k;
        memset(p->sums, 0, (size_t)(l->k * l->d) * sizeof *p->sums);
        if (l->rests != NULL) {
            p->rests = l->rests + index * l->k * l->d;
            memset(p->rests, 0, (size_t)(l->k * l->d) * sizeof *p->rests);
        }
        memset(p->masses, 0, (size_t)l->k * sizeof *p->masses);
    }
    for (int64_t first = begin; first < end; first += STRIP)
        run_strip(p, first, end - first < STRIP ? end - first : STRIP);
    p->same = p->same && same_ties(p->ties, before);
}

/* The sum over all parts of element `at`, divided by the mass. */
static double mean_of(const ts_streamed_layer *l, int64_t at, double mass) {
    const int64_t size = l->k * l->d;
    double sum = 0, rest = 0;
    for (int64_t p = 0; p < l->parts && l->rests == NULL; p++) sum += l->sums[p * size + at];
    if (l->rests == NULL) return sum / mass;
    for (int64_t p = 0; p < l->parts; p++) {
        sum = add_whole(sum, l->sums[p * size + at], &rest);
        rest += l->rests[p * size + at];
    }
    const double mean = sum / mass;
    return mean + (fma(-mean, mass, sum) + rest) / mass;
}

static void find_means(const ts_streamed_layer *l, ts_streamed_step *step) {
#pragma omp parallel for if (ts_worth_parallel(l->parts * l->k * l->d))
    for (int64_t j = 0; j < l->k; j++) {
        double mass = 0;
        for (int64_t p = 0; p < l->parts; p++) mass += l->masses[p * l->k + j];
        step->occupied[j] = mass > 0;
        for (int64_t i = j * l->d; i < (j + 1) * l->d; i++)
            /* + 0, as in the ops, where self-attention leaves a zero: no mean is -0 */
            step->means[i] = mass > 0 ? mean_of(l, i, mass) + 0 : 0;
    }
}

ts_status ts_streamed_layer_step(ts_streamed_layer *l, const double *centers, int64_t *labels, ts_streamed_step *step,
                                 ts_error *error) {
    const size_t size = (size_t)(ts_nearest_keys_work(l->d, l->k) + l->k), line = 64 / sizeof(ts_real);
    const size_t each = (size + line - 1) / line * line, threads = (size_t)ts_max_threads();
    ts_real *work = aligned_alloc(64, threads * each * sizeof *work);
    bool same = true, room = true;
    if (work == NULL) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for a layer");
    l->work_bytes = threads * each * sizeof *work;
    const ts_nearest_keys keys =
        ts_nearest_keys_prepare(l->d, l->k, l->dot, l->gamma, l->rows.points.exact != NULL, centers, l->keys);
#pragma omp parallel for schedule(dynamic) reduction(&& : same, room) if (ts_worth_parallel(l->n * (l->k * l->d / TS_VECTOR_STEPS + l->d)))
    for (int64_t index = 0; index < l->parts; index++) {
        part p = {.layer = l, .keys = &keys, .labels = labels, .same = true, .room = true};
        p.work = work + (size_t)ts_thread() * each;
        p.tied = (int32_t *)(void *)(p.work + ts_nearest_keys_work(l->d, l->k));
        p.sums = step->means == NULL ? NULL : l->sums;
        run_part(&p, index);
        same = same && p.same;
        room = room && p.room;
    }
    free(work);
    if (!room) return ts_error_set(error, TS_ERROR_MEMORY, "out of memory for shared points");
    step->same = same;
    if (step->means != NULL) find_means(l, step);
    return TS_OK;
}

/* ---- the last assignment ----------------------------------------------------------------------------------------- */

void ts_streamed_layer_weights(const ts_streamed_layer *l, const int64_t *labels, ts_real *weights) {
    memset(weights, 0, (size_t)(l->n * l->k) * sizeof *weights);
    for (int64_t i = 0; i < l->n; i++) weights[i * l->k + labels[i]] = 1;
    for (int64_t p = 0; p < l->parts; p++)
        for (int64_t at = 0; at < l->ties[p].count; at += 2 + l->ties[p].item[at + 1]) {
            const int64_t *tie = l->ties[p].item + at;
            for (int64_t m = 0; m < tie[1]; m++) weights[tie[0] * l->k + tie[2 + m]] = (ts_real)share_of(l, tie[1]);
        }
}

int64_t ts_streamed_layer_shared(const ts_streamed_layer *l) {
    int64_t rows = 0;
    for (int64_t p = 0; p < l->parts; p++) rows += l->ties[p].rows;
    return rows;
}
