/* distance.c: both passes of distances between rows, by panels and strips in double (distance.h). */
#include "distance.h"

#include <string.h>

#include "../../kernels/grid.h"
#include "../../kernels/real_math.h"
#include "../../parallel.h"
#include "broadcast.h"

/* Forward: rows of a per item, rows of b per panel. Both passes: coordinates at a time. Backward: rows of a gradient
 * per item, and coordinates that stay in registers. */
enum { ROWS = 32, PANEL = 16, DEPTH = 128, GRADIENT_ROWS = 8, STRIP = 16 };

typedef struct sizes {
    int64_t n, m, d;
    ts_grid full, grid[2];
} sizes;

static sizes sizes_of(const ts_node *node) {
    const ts_shape *a = &node->in[0]->shape, *b = &node->in[1]->shape;
    return (sizes){.n = a->dim[a->rank - 2],
                   .m = b->dim[b->rank - 2],
                   .d = ts_shape_cols(a),
                   .full = ts_grid_of(&node->out->shape),
                   .grid = {ts_grid_of(a), ts_grid_of(b)}};
}

ts_status ts_shape_distances(const ts_node *node, ts_shape *out) {
    const ts_shape *a = &node->in[0]->shape, *b = &node->in[1]->shape;
    if (a->rank < 2 || b->rank < 2) return ts_refuse(node, TS_ERROR_SHAPE, "both must have rank 2 or more");
    if (ts_shape_cols(a) != ts_shape_cols(b))
        return ts_refuse(node, TS_ERROR_SHAPE, "widths %lld and %lld differ", (long long)ts_shape_cols(a),
                         (long long)ts_shape_cols(b));
    return ts_shape_batched(node, a->dim[a->rank - 2], b->dim[b->rank - 2], out);
}

/* sum[r * PANEL + l] += the squared differences, in `depth` coordinates, of row a[r * step ..] and column l of panel.
 */
TS_CLONES static void add_squares(int64_t rows, int64_t depth, int64_t step, const ts_real *a, const double *panel,
                                  double *sum) {
    for (int64_t r = 0; r < rows; r++) {
        double s[PANEL];
        for (int l = 0; l < PANEL; l++) s[l] = sum[r * PANEL + l];
        for (int64_t c = 0; c < depth; c++) {
            const double x = (double)a[r * step + c];
#pragma omp simd
            for (int l = 0; l < PANEL; l++) s[l] += (x - panel[c * PANEL + l]) * (x - panel[c * PANEL + l]);
        }
        for (int l = 0; l < PANEL; l++) sum[r * PANEL + l] = s[l];
    }
}

/* Computes y[r * m + l] for `rows` rows of a and `width` rows of b. */
static void distance_tile(const sizes *z, bool root, int64_t rows, int64_t width, const ts_real *a, const ts_real *b,
                          ts_real *y) {
    double panel[DEPTH * PANEL], sum[ROWS * PANEL] = {0};
    for (int64_t first = 0; first < z->d; first += DEPTH) {
        const int64_t depth = z->d - first < DEPTH ? z->d - first : DEPTH;
        for (int64_t l = 0; l < PANEL; l++)
            for (int64_t c = 0; c < depth; c++) panel[c * PANEL + l] = l < width ? (double)b[l * z->d + first + c] : 0;
        add_squares(rows, depth, z->d, a + first, panel, sum);
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t l = 0; l < width; l++) {
            const double square = sum[r * PANEL + l];
            y[r * z->m + l] = (ts_real)(root ? sqrt(square) : square);
        }
}

typedef struct call {
    const ts_node *node;
    sizes z;
    bool root;
    int operand;            /* in backward: the operand whose gradient is computed */
    int64_t rows_of_matrix; /* number of items, of ROWS or GRADIENT_ROWS rows each, in one matrix */
} call;

static void forward_rows(const void *context, int64_t item) {
    const call *k = context;
    const sizes *z = &k->z;
    const int64_t s = item / k->rows_of_matrix, i = item % k->rows_of_matrix * ROWS;
    const int64_t s0 = s / z->full.dim[1], s1 = s % z->full.dim[1], rows = z->n - i < ROWS ? z->n - i : ROWS;
    const ts_real *a = k->node->in[0]->data + (ts_grid_at(z->grid[0], s0, s1) * z->n + i) * z->d;
    const ts_real *b = k->node->in[1]->data + ts_grid_at(z->grid[1], s0, s1) * z->m * z->d;
    ts_real *y = k->node->out->data + (s * z->n + i) * z->m;
    for (int64_t j = 0; j < z->m; j += PANEL)
        distance_tile(z, k->root, rows, z->m - j < PANEL ? z->m - j : PANEL, a, b + j * z->d, y + j);
}

void ts_distances_forward(const ts_node *node, bool root) {
    call k = {.node = node, .z = sizes_of(node), .root = root};
    const int64_t batches = ts_grid_count(k.z.full);
    k.rows_of_matrix = (k.z.n + ROWS - 1) / ROWS;
    ts_for_each(batches * k.rows_of_matrix, batches * k.z.n * k.z.m * (k.z.d + 1), forward_rows, &k);
}

/* ---- backward: dx_i += sum_j w_ij (x_i - o_j), where o is the other operand and w = 2 dy or dy / y --------------- */

typedef struct side {
    const ts_real *x, *other, *y, *dy; /* of one batch; x, y and dy from the item's first row on */
    int64_t others;
    int64_t row_step, other_step; /* steps in y and dy per row of x and per row of other */
    int64_t rows, d;
    bool root;
} side;

static inline double weight_of(const side *s, int64_t r, int64_t j) {
    const int64_t at = r * s->row_step + j * s->other_step;
    const double dy = (double)s->dy[at], y = (double)s->y[at];
    if (!s->root) return 2 * dy;
    return y == 0 ? 0 : TS_IF_NONZERO(dy, dy / y);
}

/* sum[q * DEPTH + c] += the gradient of `rows` rows from r on in `width` coordinates from `first` on. `rows`, 1 or 2,
 * is a compile-time constant, and so is `width` if it is STRIP. */
static inline __attribute__((always_inline)) void add_strip(const side *s, int64_t r, const int rows, int64_t first,
                                                            const int64_t width, double *sum) {
    double x[2][STRIP], gradient[2][STRIP];
    for (int q = 0; q < rows; q++)
        for (int64_t c = 0; c < width; c++) {
            x[q][c] = (double)s->x[(r + q) * s->d + first + c];
            gradient[q][c] = sum[q * DEPTH + c];
        }
    for (int64_t j = 0; j < s->others; j++) {
        const ts_real *o = s->other + j * s->d + first;
        for (int q = 0; q < rows; q++) {
            const double w = weight_of(s, r + q, j);
            if (w == 0) continue;
#pragma omp simd
            for (int64_t c = 0; c < width; c++) gradient[q][c] += w * (x[q][c] - (double)o[c]);
        }
    }
    for (int q = 0; q < rows; q++)
        for (int64_t c = 0; c < width; c++) sum[q * DEPTH + c] = gradient[q][c];
}

/* sum[r * DEPTH + c] += the gradient of the item's rows in `depth` coordinates from `first` on. */
TS_CLONES static void add_gradients(const side *s, int64_t first, int64_t depth, double *sum) {
    for (int64_t c = 0; c < depth; c += STRIP) {
        const int64_t width = depth - c < STRIP ? depth - c : STRIP;
        int64_t r = 0;
        for (; r + 2 <= s->rows && width == STRIP; r += 2) add_strip(s, r, 2, first + c, STRIP, sum + r * DEPTH + c);
        for (; r < s->rows; r++)
            if (width == STRIP)
                add_strip(s, r, 1, first + c, STRIP, sum + r * DEPTH + c);
            else
                add_strip(s, r, 1, first + c, width, sum + r * DEPTH + c);
    }
}

/* The view of batch (s0, s1) from the rows of operand k that begin with row i. */
static side side_of(const ts_node *node, const sizes *z, bool root, int k, int64_t i, int64_t s0, int64_t s1) {
    const int64_t count[2] = {z->n, z->m}, steps[2] = {z->m, 1}, s = s0 * z->full.dim[1] + s1;
    const int64_t rows = count[k] - i < GRADIENT_ROWS ? count[k] - i : GRADIENT_ROWS;
    const int64_t at = s * z->n * z->m + i * steps[k];
    return (side){.x = node->in[k]->data + (ts_grid_at(z->grid[k], s0, s1) * count[k] + i) * z->d,
                  .other = node->in[1 - k]->data + ts_grid_at(z->grid[1 - k], s0, s1) * count[1 - k] * z->d,
                  .y = node->out->data + at,
                  .dy = node->out->grad + at,
                  .others = count[1 - k],
                  .row_step = steps[k],
                  .other_step = steps[1 - k],
                  .rows = rows,
                  .d = z->d,
                  .root = root};
}

/* Computes the gradient of some rows of an operand's matrix, from every batch that uses the matrix, in order. */
static void backward_rows(const void *context, int64_t item) {
    const call *k = context;
    const sizes *z = &k->z;
    const int64_t t = item / k->rows_of_matrix, i = item % k->rows_of_matrix * GRADIENT_ROWS;
    const ts_batch_range range = ts_batches_of(z->full, z->grid[k->operand], t);
    const int64_t count = k->operand == 0 ? z->n : z->m, rows = count - i < GRADIENT_ROWS ? count - i : GRADIENT_ROWS;
    const bool fresh = k->node->fresh >> k->operand & 1u;
    ts_real *dx = k->node->in[k->operand]->grad + (t * count + i) * z->d;
    double sum[GRADIENT_ROWS * DEPTH];
    for (int64_t first = 0; first < z->d; first += DEPTH) {
        const int64_t depth = z->d - first < DEPTH ? z->d - first : DEPTH;
        for (int64_t r = 0; r < rows; r++) memset(sum + r * DEPTH, 0, (size_t)depth * sizeof *sum);
        for (int64_t s0 = range.from[0]; s0 < range.to[0]; s0++)
            for (int64_t s1 = range.from[1]; s1 < range.to[1]; s1++) {
                const side one = side_of(k->node, z, k->root, k->operand, i, s0, s1);
                add_gradients(&one, first, depth, sum);
            }
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < depth; c++)
                dx[r * z->d + first + c] = (fresh ? 0 : dx[r * z->d + first + c]) + (ts_real)sum[r * DEPTH + c];
    }
}

void ts_distances_backward(const ts_node *node, bool root) {
    call k = {.node = node, .z = sizes_of(node), .root = root};
    const int64_t work = ts_grid_count(k.z.full) * k.z.n * k.z.m * k.z.d;
    for (k.operand = 0; k.operand < 2; k.operand++) {
        if (node->in[k.operand]->grad == NULL) continue;
        const int64_t count = k.operand == 0 ? k.z.n : k.z.m;
        k.rows_of_matrix = (count + GRADIENT_ROWS - 1) / GRADIENT_ROWS;
        ts_for_each(ts_grid_count(k.z.grid[k.operand]) * k.rows_of_matrix, work, backward_rows, &k);
    }
}
