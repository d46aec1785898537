/* zero_upstream.c: the test that zero upstream gradients add exactly 0 (gradcheck.h). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gradcheck.h"

#ifdef TS_DOUBLE
#define LARGEST DBL_MAX
#define SMALLEST DBL_TRUE_MIN
#else
#define LARGEST FLT_MAX
#define SMALLEST FLT_TRUE_MIN
#endif

/* Inputs at which local derivatives are infinite or undefined, or overflow. */
static const ts_real singular[] = {0, (ts_real)INFINITY, (ts_real)-INFINITY, (ts_real)NAN, LARGEST, -LARGEST, SMALLEST};
enum { SINGULAR = sizeof singular / sizeof singular[0], MIXTURES = 4, PROBES = 4 };

typedef struct check {
    const ts_op *op;
    const ts_op_case *test;
    ts_gradcheck_report *report;
    ts_tape *tape;
    ts_rng rng;
    uint64_t draws;
    ts_real *values[TS_CASE_INPUTS]; /* ordinary inputs */
    ts_real *grads[TS_CASE_INPUTS];  /* the gradients there */
    int64_t outputs;
    ts_real *out, *upstream;
    ts_tensor *in[TS_CASE_INPUTS], *result; /* of the last run */
} check;

static bool has_gradient(const check *c, int i) {
    return !(c->op->constant_in >> i & 1u);
}

static int64_t size_of(const check *c, int i) {
    return ts_shape_size(&c->test->in[i]);
}

static uint64_t draw(check *c, uint64_t below) {
    return (uint64_t)(ts_rng_uniform(c->rng, c->draws++) * (double)below);
}

static ts_status forward(check *c) {
    ts_tape_reset(c->tape);
    for (int i = 0; i < c->test->n_in; i++) c->in[i] = ts_variable(c->tape, c->test->in[i], c->values[i]);
    c->result = ts_apply(c->tape, c->op, c->test->attr, c->test->n_in, c->in);
    return ts_tape_status(c->tape);
}

static ts_status backward(check *c) {
    const ts_status status = forward(c);
    return status != TS_OK || !c->result->wants_grad ? status : ts_backward_from(c->tape, c->result, c->upstream);
}

static double gradient_at(const check *c, int i, int64_t e) {
    return c->in[i]->grad == NULL ? 0 : (double)c->in[i]->grad[e];
}

/* ---- the whole upstream gradient is 0 ---------------------------------------------------------------------------- */

/* All gradients at the current values must be 0. */
static ts_status expect_zeros(check *c) {
    memset(c->upstream, 0, (size_t)c->outputs * sizeof(ts_real));
    const ts_status status = backward(c);
    for (int i = 0; i < c->test->n_in && status == TS_OK; i++)
        for (int64_t e = 0; e < size_of(c, i); e++) {
            if (gradient_at(c, i, e) == 0) continue;
            snprintf(
                c->report->text, sizeof c->report->text,
                "upstream all 0; input %d, element %lld is %g: its gradient is %g, not 0 (TS_IF_NONZERO, upstream.h)",
                i, (long long)e, (double)c->in[i]->data[e], gradient_at(c, i, e));
            return TS_ERROR_VALUE;
        }
    return status;
}

/* Inputs that hold one singular number everywhere, then mixtures of all singular numbers with ordinary ones. */
static ts_status check_all_zero(check *c, uint64_t seed) {
    ts_status status = TS_OK;
    for (int round = 0; round < SINGULAR + MIXTURES && status == TS_OK; round++) {
        for (int i = 0; i < c->test->n_in; i++)
            for (int64_t e = 0; e < size_of(c, i) && has_gradient(c, i); e++)
                if (round < SINGULAR)
                    c->values[i][e] = singular[round];
                else if (draw(c, 2) == 0)
                    c->values[i][e] = singular[draw(c, SINGULAR)];
        status = expect_zeros(c);
        for (int i = 0; i < c->test->n_in; i++) ts_op_case_input(c->test, i, seed, c->values[i]);
    }
    return status;
}

/* ---- the upstream gradient is 0 for the outputs that depend on one element --------------------------------------- */

/* Sets c->upstream to 0 for the outputs that change when `element` becomes one of the singular numbers. */
static ts_status ask_for_others(check *c, ts_real *element) {
    const ts_real ordinary = *element;
    ts_status status = forward(c);
    if (status == TS_OK) memcpy(c->out, c->result->data, (size_t)c->outputs * sizeof(ts_real));
    for (int64_t k = 0; k < c->outputs; k++) c->upstream[k] = (ts_real)(k % 2 == 0 ? 1 + k % 3 : -1);
    for (int s = 0; s < SINGULAR && status == TS_OK; s++) {
        *element = singular[s];
        status = forward(c);
        for (int64_t k = 0; k < c->outputs && status == TS_OK; k++)
            if (c->result->data[k] != c->out[k]) c->upstream[k] = 0;
    }
    *element = ordinary;
    return status;
}

/* The gradient of the last run must be 0 at the element, and elsewhere what it is when the element is ordinary. */
static ts_status compare(const check *c, int input, int64_t element) {
    for (int i = 0; i < c->test->n_in; i++)
        for (int64_t e = 0; e < size_of(c, i); e++) {
            const double g = gradient_at(c, i, e), right = (double)c->grads[i][e];
            const bool own = i == input && e == element;
            if (own ? g == 0 : fabs(g - right) <= 1e-5 * fmax(1, fabs(right))) continue;
            snprintf(c->report->text, sizeof c->report->text,
                     "upstream 0 of all that depends on input %d, element %lld, which is %g: the gradient of input %d, "
                     "element %lld is %g, not %g (TS_IF_NONZERO, upstream.h)",
                     input, (long long)element, (double)c->in[input]->data[element], i, (long long)e, g,
                     own ? 0 : right);
            return TS_ERROR_VALUE;
        }
    return TS_OK;
}

static ts_status check_element(check *c, int input, int64_t element) {
    ts_real *const at = c->values[input] + element, ordinary = *at;
    ts_status status = ask_for_others(c, at);
    if (status == TS_OK) status = backward(c);
    for (int i = 0; i < c->test->n_in && status == TS_OK; i++)
        for (int64_t e = 0; e < size_of(c, i); e++) c->grads[i][e] = (ts_real)gradient_at(c, i, e);
    for (int s = 0; s < SINGULAR && status == TS_OK; s++) {
        *at = singular[s];
        status = backward(c);
        if (status == TS_OK) status = compare(c, input, element);
    }
    *at = ordinary;
    return status;
}

static ts_status check_elements(check *c) {
    ts_status status = TS_OK;
    for (int i = 0; i < c->test->n_in; i++)
        for (int probe = 0; probe < PROBES && has_gradient(c, i) && size_of(c, i) > 0 && status == TS_OK; probe++)
            status = check_element(c, i, (int64_t)draw(c, (uint64_t)size_of(c, i)));
    return status;
}

/* ---- one case ---------------------------------------------------------------------------------------------------- */

static ts_status run(check *c, uint64_t seed) {
    ts_status status = forward(c);
    if (status != TS_OK) return status;
    c->outputs = ts_shape_size(&c->result->shape);
    c->out = malloc((size_t)c->outputs * sizeof(ts_real) + 1);
    c->upstream = malloc((size_t)c->outputs * sizeof(ts_real) + 1);
    if (c->out == NULL || c->upstream == NULL) return TS_ERROR_MEMORY;
    status = check_all_zero(c, seed);
    return status != TS_OK || c->test->kind == TS_CASE_SURROGATE ? status : check_elements(c);
}

ts_status ts_zero_upstream_check(const ts_op *op, const ts_op_case *test, uint64_t seed, ts_gradcheck_report *report) {
    check c = {.op = op, .test = test, .report = report, .tape = ts_tape_create(TS_RECORD)};
    bool ok = c.tape != NULL;
    c.rng = (ts_rng){seed, ts_rng_stream("zero upstream"), 0};
    if (ok) ts_tape_observe(c.tape, ts_poison_fresh, NULL);
    for (int i = 0; i < test->n_in && ok; i++) {
        c.values[i] = malloc((size_t)size_of(&c, i) * sizeof(ts_real) + 1);
        c.grads[i] = malloc((size_t)size_of(&c, i) * sizeof(ts_real) + 1);
        ok = c.values[i] != NULL && c.grads[i] != NULL;
        if (ok) ts_op_case_input(test, i, seed, c.values[i]);
    }
    const ts_status status = ok ? run(&c, seed) : TS_ERROR_MEMORY;
    if (ok && status != TS_OK && ts_tape_error(c.tape) != NULL)
        snprintf(report->text, sizeof report->text, "%s", ts_tape_error(c.tape));
    for (int i = 0; i < test->n_in; i++) free(c.values[i]), free(c.grads[i]);
    free(c.out), free(c.upstream);
    ts_tape_free(c.tape);
    return status;
}
