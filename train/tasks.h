/* tasks.h: synthetic clustering tasks, on which transformers are trained and tested [Clarkson et al., "Transformer
 * Circuits Can Realize Clustering Algorithms", ICML 2026, section 4].
 *
 * A task is a sample of n points in d dimensions from a mixture of k components:
 *
 *     location of component c      l_c ~ U(0,1)^d
 *     scale of component c         s_c = scale * (1, ..., 1), or scale * U(0,1)^d if anisotropic
 *     weight of component c        1/k, or if unequal U(0,1) divided by their sum
 *     component of row i           c_i, drawn with these weights
 *     row i, before scaling        l_c + s_c * z, or exp(l_c + s_c * z) if lognormal;
 *                                  z is drawn from the family, independently in each dimension
 *     row i                        scaled so that every dimension of the sample runs from 0 to 1
 *
 * A component may have no row. A dimension in which all rows are equal (for example if n = 1) becomes 0. The initial
 * centres are the first k rows: the rows are independent, so these are as random as any others.
 *
 * A task depends on (spec, seed, step, task) alone, not on the number of tasks or threads, so any part of a batch can
 * be drawn by itself. Draws are made in double and rounded to ts_real once, at the end. */
#ifndef TS_TASKS_H
#define TS_TASKS_H

#include "../autograd/rng.h"
#include "../autograd/status.h"
#include "../autograd/tensor.h"

/* Families of noise and shape (family.h), by number in the order of train/meson.build. */
typedef int ts_family;
enum { TS_FAMILY_NORMAL, TS_FAMILY_CAUCHY, TS_FAMILY_GUMBEL, TS_FAMILY_LAPLACE, TS_FAMILY_LOGNORMAL, TS_FAMILY_MOONS };
enum { TS_MOST_FAMILIES = 32 };
extern const int ts_families; /* how many there are */

/* "normal", "cauchy" etc.; false for any other name. */
bool ts_family_by_name(const char *name, ts_family *family);
/* The name, or NULL if there is no such family. */
const char *ts_family_name(ts_family family);

/* A draw with location 0 and scale 1; finite for every element. Elements 2i and 2i+1 are independent and come from the
 * 128 bits of element i of rng. */
double ts_family_draw(ts_family family, ts_rng rng, uint64_t element);

/* Replaces 2 * pairs uniforms by draws z of the family: normals by Box-Muller, with values[i] giving the radius and
 * values[pairs + i] the angle of a pair; the others by their quantile functions. Finite for all uniforms in
 * [2^-53, 1 - 2^-53]. Lognormal: the normals, not yet their exponentials. */
void ts_family_noise(ts_family family, int64_t pairs, double *values);

typedef struct ts_task_spec {
    int64_t n, d, k; /* rows, dimensions, components: 1 <= k <= n, 1 <= d, n * d <= 2^40 */
    ts_family family;
    double scale;     /* usually TS_TASK_SCALE; above 0 and at most 1e100, or 64 if lognormal */
    bool anisotropic; /* each component and dimension has its own scale */
    bool unequal;     /* each component has its own weight */
} ts_task_spec;

#define TS_TASK_SCALE 0.1
#define TS_TASK_LIMIT ((uint64_t)1 << 24) /* task numbers are below this */

/* TS_OK, or TS_ERROR_VALUE naming the wrong field. */
ts_status ts_task_check(const ts_task_spec *spec, ts_error *error);

/* Writes task number `task` of training step `step` to points [n,d] and, unless NULL, the component of each row to
 * component [n]. Fails if the spec or the number is wrong or ts_task_room bytes of memory are not available.
 * O(n (d + k)). */
ts_status ts_task_draw(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t task, ts_real *points,
                       int64_t *component, ts_error *error);

/* The same in `room`, ts_task_room(spec) bytes of the caller's memory, for drawing many tasks. */
ts_status ts_task_draw_in(void *room, const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t task,
                          ts_real *points, int64_t *component, ts_error *error);
size_t ts_task_room(const ts_task_spec *spec);

/* Writes tasks first .. first + tasks - 1 to points [tasks,n,d] and, unless NULL, their initial centres to centers
 * [tasks,k,d]. Threads share the tasks; each task has the same bytes as from ts_task_draw. */
ts_status ts_task_batch(const ts_task_spec *spec, uint64_t seed, uint32_t step, uint64_t first, int64_t tasks,
                        ts_real *points, ts_real *centers, ts_error *error);

#endif
