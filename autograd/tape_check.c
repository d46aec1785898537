/* tape_check.c: the checking mode of a tape (tape.h), which examines the numbers before and after every pass. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tape.h"
#include "tape_parts.h"

/* ---- what an array of numbers holds -------------------------------------------------------------------------- */

/* In ascending order of severity. */
typedef enum kind { FINITE, INFINITE, NOT_A_NUMBER } kind;

static kind kind_of(ts_real x) {
    return isnan(x) ? NOT_A_NUMBER : isinf(x) ? INFINITE : FINITE;
}

/* The worst kind among x[0..n-1]; *at becomes the index of its first element unless all are finite. */
static kind worst(const ts_real *x, int64_t n, int64_t *at) {
    kind found = FINITE;
    for (int64_t i = 0; i < n && found < NOT_A_NUMBER; i++)
        if (kind_of(x[i]) > found) {
            found = kind_of(x[i]);
            *at = i;
        }
    return found;
}

/* The place of element `at` as " at [1,0]", or "" in a scalar. */
enum { PLACE_TEXT = 112 };
static const char *place(const ts_shape *shape, int64_t at, char text[PLACE_TEXT]) {
    ts_shape index = {.rank = shape->rank};
    for (int a = shape->rank - 1; a >= 0; a--) {
        index.dim[a] = at % shape->dim[a];
        at /= shape->dim[a];
    }
    char numbers[TS_SHAPE_TEXT];
    snprintf(text, PLACE_TEXT, "%s%s", shape->rank == 0 ? "" : " at ",
             shape->rank == 0 ? "" : ts_shape_text(&index, numbers));
    return text;
}

/* Appends "; NAME there is 3", element `at` of x, when x has the shape `where`; "; NAME is 3" when x has one element;
 * otherwise its range, "; NAME is from -1 to 3". */
static void describe(char *text, size_t room, const char *name, const ts_shape *shape, const ts_real *x,
                     const ts_shape *where, int64_t at) {
    const size_t used = strlen(text);
    const int64_t n = ts_shape_size(shape);
    if (n == 0) return;
    if (n == 1 || ts_shape_equal(shape, where)) {
        snprintf(text + used, room - used, "; %s%s is %g", name, n == 1 ? "" : " there", (double)x[n == 1 ? 0 : at]);
        return;
    }
    double low = (double)x[0], high = low;
    for (int64_t i = 1; i < n; i++) low = fmin(low, (double)x[i]), high = fmax(high, (double)x[i]);
    snprintf(text + used, room - used, "; %s is from %g to %g", name, low, high);
}

/* All inputs as describe puts them: "; input 0 there is 0; input 1 is from 1 to 3". */
enum { INPUTS_TEXT = 160 };
static const char *inputs(const ts_node *node, const ts_shape *where, int64_t at, char text[INPUTS_TEXT]) {
    char name[32];
    *text = '\0';
    for (int i = 0; i < node->n_in; i++) {
        snprintf(name, sizeof name, "input %d", i);
        describe(text, INPUTS_TEXT, name, &node->in[i]->shape, node->in[i]->data, where, at);
    }
    return text;
}

/* ---- data that must not change ------------------------------------------------------------------------------- */

static const ts_real *copy_of(ts_tape *tape, const ts_tensor *t) {
    const size_t bytes = (size_t)ts_shape_size(&t->shape) * sizeof *t->data;
    ts_real *copy = ts_tape_take(tape, bytes);
    return copy == NULL ? NULL : memcpy(copy, t->data, bytes);
}

static void remember(ts_tape *tape, ts_node *node) {
    const size_t n = (size_t)node->n_in;
    const ts_real **seen = ts_tape_take(tape, (n + 1) * sizeof *seen);
    for (size_t i = 0; i <= n && seen != NULL; i++) seen[i] = copy_of(tape, i < n ? node->in[i] : node->out);
    node->seen = seen;
}

/* Whether input i, or the output when i = n_in, still holds what it held after forward. */
static bool is_unchanged(const ts_node *node, int i) {
    const ts_tensor *t = i < node->n_in ? node->in[i] : node->out;
    const ts_real *now = t->data, *then = node->seen[i];
    const int64_t n = ts_shape_size(&t->shape);
    char where[PLACE_TEXT], which[32] = "the output";
    if (memcmp(now, then, (size_t)n * sizeof *now) == 0) return true;
    int64_t at = 0;
    while (memcmp(&now[at], &then[at], sizeof *now) == 0) at++;
    if (i < node->n_in) snprintf(which, sizeof which, "input %d", i);
    ts_refuse(node, TS_ERROR_USAGE, "%s was changed between forward and backward: %.9g%s became %.9g", which,
              (double)then[at], place(&t->shape, at, where), (double)now[at]);
    return false;
}

/* ---- passes -------------------------------------------------------------------------------------------------- */

static const char *name_of(ts_real x) {
    return isnan(x) ? "a NaN" : x > 0 ? "inf" : "-inf";
}

/* The worst kind among the inputs. Refuses a NaN as the caller's: one made by an op would have been refused before. */
static kind worst_input(const ts_node *node) {
    char where[PLACE_TEXT];
    int64_t at = 0;
    kind found = FINITE;
    for (int i = 0; i < node->n_in && found < NOT_A_NUMBER; i++) {
        const ts_tensor *t = node->in[i];
        const kind one = worst(t->data, ts_shape_size(&t->shape), &at);
        if (one > found) found = one;
        if (one == NOT_A_NUMBER)
            ts_refuse(node, TS_ERROR_VALUE, "input %d holds a NaN%s; no op made it, it was given so", i,
                      place(&t->shape, at, where));
    }
    return found;
}

void ts_tape_check_forward(ts_tape *tape, ts_node *node) {
    char where[PLACE_TEXT], text[INPUTS_TEXT];
    int64_t at = 0;
    const kind before = worst_input(node);
    if (before == NOT_A_NUMBER) return;
    ts_tape_run(tape, node, node->op->forward);
    const ts_tensor *out = node->out;
    if (worst(out->data, ts_shape_size(&out->shape), &at) > before)
        ts_refuse(node, TS_ERROR_VALUE, "makes %s%s%s", name_of(out->data[at]), place(&out->shape, at, where),
                  inputs(node, &out->shape, at, text));
    else if (out->wants_grad)
        remember(tape, node);
}

/* The worst kind in the gradient of input i, or FINITE if this backward pass does not compute that gradient. */
static kind worst_gradient(const ts_node *node, int i, int64_t *at) {
    const ts_tensor *t = node->in[i];
    const bool wanted = t->grad != NULL && t->reached && !(node->op->constant_in >> i & 1u);
    return wanted ? worst(t->grad, ts_shape_size(&t->shape), at) : FINITE;
}

void ts_tape_check_backward(ts_tape *tape, const ts_node *node) {
    enum { MOST = 32 }; /* inputs; ts_apply refuses more */
    kind before[MOST] = {FINITE};
    char where[PLACE_TEXT], text[INPUTS_TEXT];
    const ts_tensor *out = node->out;
    int64_t at = 0;
    for (int i = 0; i <= node->n_in; i++)
        if (!is_unchanged(node, i)) return;
    const kind upstream = worst(out->grad, ts_shape_size(&out->shape), &at);
    if (upstream == NOT_A_NUMBER) {
        ts_refuse(node, TS_ERROR_VALUE, "the gradient of its output holds a NaN%s; no op made it, it was given so",
                  place(&out->shape, at, where));
        return;
    }
    for (int i = 0; i < node->n_in; i++) before[i] = node->fresh >> i & 1u ? FINITE : worst_gradient(node, i, &at);
    ts_tape_run(tape, node, node->op->backward);
    for (int i = 0; i < node->n_in; i++) {
        const kind after = worst_gradient(node, i, &at);
        if (after <= upstream || after <= before[i]) continue;
        const ts_tensor *t = node->in[i];
        inputs(node, &t->shape, at, text);
        describe(text, sizeof text, "the upstream gradient", &out->shape, out->grad, &t->shape, at);
        ts_refuse(node, TS_ERROR_VALUE, "its backward pass makes %s in the gradient of input %d%s%s",
                  name_of(t->grad[at]), i, place(&t->shape, at, where), text);
        return;
    }
}
