/* gradcheck.c: numeric derivatives, and the generic test of an op (gradcheck.h). */
#include "gradcheck.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_trial.h"

enum { MAX_INPUTS = 16 };

typedef struct check {
    ts_function function;
    void *context;
    int n;
    const ts_shape *shapes;
    ts_real *values[MAX_INPUTS]; /* copies, which are perturbed */
    ts_real *grads[MAX_INPUTS];
    const bool *wants;
    ts_rng upstream;
    ts_tape *record, *infer;
} check;

static double weight(const check *c, int64_t i) {
    return 2 * ts_rng_uniform(c->upstream, (uint64_t)i) - 1;
}

/* sum of upstream * output at the current values; NaN after a failure. */
static double evaluate(check *c) {
    ts_tensor *in[MAX_INPUTS];
    ts_tape_reset(c->infer);
    for (int i = 0; i < c->n; i++) in[i] = ts_borrow(c->infer, c->shapes[i], c->values[i]);
    const ts_tensor *out = c->function(c->infer, in, c->context);
    if (ts_tape_status(c->infer) != TS_OK) return NAN;
    double sum = 0;
    const int64_t size = ts_shape_size(&out->shape);
    for (int64_t i = 0; i < size; i++) sum += weight(c, i) * (double)out->data[i];
    return sum;
}

/* d evaluate / d *x by a five-point difference. */
static double difference(check *c, ts_real *x, double h) {
    static const double at[4] = {-2, -1, 1, 2}, factor[4] = {1, -8, 8, -1};
    const ts_real x0 = *x;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        *x = (ts_real)((double)x0 + at[i] * h);
        sum += factor[i] * evaluate(c);
    }
    *x = x0;
    return sum / (12 * h);
}

/* The derivative, or NaN where the step sizes disagree, as at a kink. */
static double numeric_derivative(check *c, ts_real *x, double tolerance) {
    const double start = sizeof(ts_real) == sizeof(double) ? 2e-3 : 5e-2;
    for (double h = start * fmax(1, fabs((double)*x)), shrink = 1; shrink < 1000; shrink *= 4, h /= 4) {
        const double coarse = difference(c, x, h), fine = difference(c, x, h / 2);
        if (fabs(coarse - fine) <= 0.5 * tolerance * fmax(fabs(fine), 1e-3)) return fine;
    }
    return NAN;
}

static void compare(ts_gradcheck_report *report, int input, const ts_real *analytic, const double *numeric, int64_t n) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(numeric[i])) squares += numeric[i] * numeric[i];
    const double rms = n > 0 ? sqrt(squares / (double)n) : 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(numeric[i])) {
            report->skipped++;
            continue;
        }
        report->checked++;
        const double a = (double)analytic[i], scale = fmax(fmax(fabs(a), fabs(numeric[i])), fmax(rms, 1e-3));
        const double error = fabs(a - numeric[i]) / scale;
        if (error <= report->worst) continue;
        report->worst = isnan(error) ? INFINITY : error;
        report->input = input;
        report->element = i;
        report->analytic = a;
        report->numeric = numeric[i];
    }
}

static ts_status analytic_gradients(check *c) {
    ts_tensor *in[MAX_INPUTS];
    ts_tape_reset(c->record);
    for (int i = 0; i < c->n; i++) {
        memset(c->grads[i], 0, (size_t)ts_shape_size(&c->shapes[i]) * sizeof(ts_real));
        in[i] = ts_leaf(c->record, c->shapes[i], c->values[i], c->wants == NULL || c->wants[i] ? c->grads[i] : NULL);
    }
    ts_tensor *out = c->function(c->record, in, c->context);
    const int64_t size = ts_shape_size(&out->shape);
    ts_real *upstream = ts_tape_take(c->record, (size_t)size * sizeof *upstream);
    if (upstream == NULL) return ts_tape_status(c->record);
    for (int64_t i = 0; i < size; i++) upstream[i] = (ts_real)weight(c, i);
    return ts_backward_from(c->record, out, upstream);
}

static ts_status run(check *c, double tolerance, ts_gradcheck_report *report) {
    const ts_status status = analytic_gradients(c);
    if (status != TS_OK) {
        snprintf(report->text, sizeof report->text, "%s", ts_tape_error(c->record));
        return status;
    }
    for (int i = 0; i < c->n; i++) {
        if (c->wants != NULL && !c->wants[i]) continue;
        const int64_t size = ts_shape_size(&c->shapes[i]);
        double *numeric = malloc((size_t)(size + 1) * sizeof *numeric);
        if (numeric == NULL) return TS_ERROR_MEMORY;
        for (int64_t e = 0; e < size; e++) numeric[e] = numeric_derivative(c, c->values[i] + e, tolerance);
        compare(report, i, c->grads[i], numeric, size);
        free(numeric);
    }
    if (report->skipped * 10 > report->checked + report->skipped) {
        snprintf(report->text, sizeof report->text, "%lld of %lld derivatives have no numeric value",
                 (long long)report->skipped, (long long)(report->checked + report->skipped));
        return TS_ERROR_VALUE;
    }
    if (report->worst <= tolerance) return TS_OK;
    snprintf(report->text, sizeof report->text, "input %d, element %lld: gradient %.10g, numeric %.10g, error %.2g",
             report->input, (long long)report->element, report->analytic, report->numeric, report->worst);
    return TS_ERROR_VALUE;
}

ts_status ts_gradcheck(ts_function function, void *context, int n, const ts_shape *shapes, const ts_real *const *values,
                       const bool *wants, uint64_t seed, double tolerance, ts_gradcheck_report *report) {
    *report = (ts_gradcheck_report){.input = -1};
    if (n < 1 || n > MAX_INPUTS) {
        snprintf(report->text, sizeof report->text, "%d inputs, not 1 to %d", n, MAX_INPUTS);
        return TS_ERROR_USAGE;
    }
    check c = {.function = function,
               .context = context,
               .n = n,
               .shapes = shapes,
               .wants = wants,
               .upstream = {seed, ts_rng_stream("gradcheck upstream"), 0},
               .record = ts_tape_create(TS_RECORD),
               .infer = ts_tape_create(TS_INFER)};
    bool ok = c.record != NULL && c.infer != NULL;
    for (int i = 0; i < n && ok; i++) {
        const size_t bytes = (size_t)ts_shape_size(&shapes[i]) * sizeof(ts_real);
        c.values[i] = malloc(bytes + 1);
        c.grads[i] = malloc(bytes + 1);
        ok = c.values[i] != NULL && c.grads[i] != NULL;
        if (ok) memcpy(c.values[i], values[i], bytes);
    }
    const ts_status status = ok ? run(&c, tolerance, report) : TS_ERROR_MEMORY;
    for (int i = 0; i < n; i++) free(c.values[i]), free(c.grads[i]);
    ts_tape_free(c.record);
    ts_tape_free(c.infer);
    return status;
}

/* ---- the generic test of an op ----------------------------------------------------------------------------------- */

void ts_op_case_input(const ts_op_case *test, int input, uint64_t seed, ts_real *values) {
    const bool standard = test->low == 0 && test->high == 0;
    const double low = standard ? -2 : test->low, high = standard ? 2 : test->high;
    const ts_rng rng = {seed, ts_rng_stream(test->label), (uint32_t)input};
    const int64_t size = ts_shape_size(&test->in[input]);
    for (int64_t i = 0; i < size; i++)
        values[i] = (ts_real)(float)(low + (high - low) * ts_rng_uniform(rng, (uint64_t)i));
}

/* An op as a ts_function; aliased inputs of the op are one input of the function. */
typedef struct op_call {
    const ts_op *op;
    const ts_op_case *test;
    int source[TS_CASE_INPUTS]; /* input i of the op is input source[i] of the function */
} op_call;

static ts_tensor *call_op(ts_tape *tape, ts_tensor *const in[], void *context) {
    const op_call *call = context;
    ts_tensor *inputs[TS_CASE_INPUTS];
    for (int i = 0; i < call->test->n_in; i++) inputs[i] = in[call->source[i]];
    return ts_apply(tape, call->op, call->test->attr, call->test->n_in, inputs);
}

typedef struct op_check {
    const ts_op *op;
    const ts_op_case *test;
    ts_real *values[TS_CASE_INPUTS];
    uint64_t seed;
    double tolerance;
    ts_gradcheck_report *report;
} op_check;

static ts_status check_refusal(const op_check *c) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return TS_ERROR_MEMORY;
    ts_tensor *in[TS_CASE_INPUTS];
    for (int i = 0; i < c->test->n_in; i++) in[i] = ts_variable(tape, c->test->in[i], c->values[i]);
    const ts_tensor *out = ts_apply(tape, c->op, c->test->attr, c->test->n_in, in);
    const char *error = ts_tape_error(tape);
    const bool refused = error != NULL && strncmp(error, c->op->name, strlen(c->op->name)) == 0 && out->data != NULL &&
                         isnan((double)out->data[0]);
    if (!refused)
        snprintf(c->report->text, sizeof c->report->text, "should have been refused: %s", error ? error : "no error");
    ts_tape_free(tape);
    return refused ? TS_OK : TS_ERROR_VALUE;
}

void ts_poison_fresh(void *context, const ts_node *node, ts_pass *pass) {
    (void)context;
    for (int i = 0; i < node->n_in; i++)
        for (int64_t e = 0; node->fresh >> i & 1u && e < ts_shape_size(&node->in[i]->shape); e++)
            node->in[i]->grad[e] = 1000;
    pass(node);
}

/* The first input that is the same tensor as input i. */
static int source_of(const op_check *c, int i, bool alias) {
    for (int j = 0; alias && j < i && !(c->op->constant_in >> i & 1u); j++)
        if (ts_shape_equal(&c->test->in[i], &c->test->in[j])) return source_of(c, j, alias);
    return i;
}

/* Two backward passes over one graph must give leaves twice the gradients of one pass. */
static ts_status check_repeat(const op_check *c, bool alias) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return TS_ERROR_MEMORY;
    ts_tape_observe(tape, ts_poison_fresh, NULL);
    ts_tensor *in[TS_CASE_INPUTS];
    for (int i = 0; i < c->test->n_in; i++)
        in[i] =
            source_of(c, i, alias) < i ? in[source_of(c, i, alias)] : ts_variable(tape, c->test->in[i], c->values[i]);
    ts_tensor *out = ts_apply(tape, c->op, c->test->attr, c->test->n_in, in);
    const int64_t size = ts_shape_size(&out->shape);
    ts_real *upstream = ts_tape_take(tape, (size_t)size * sizeof *upstream), *once[TS_CASE_INPUTS] = {NULL};
    for (int64_t i = 0; i < size && upstream != NULL; i++) upstream[i] = (ts_real)(1 + i % 3);
    ts_status status = upstream == NULL ? ts_tape_status(tape) : ts_backward_from(tape, out, upstream);
    for (int i = 0; i < c->test->n_in && status == TS_OK; i++) {
        const size_t bytes = (size_t)ts_shape_size(&c->test->in[i]) * sizeof(ts_real);
        once[i] = ts_tape_take(tape, bytes);
        if (once[i] != NULL && in[i]->grad != NULL) memcpy(once[i], in[i]->grad, bytes);
    }
    if (status == TS_OK) status = ts_backward_from(tape, out, upstream);
    for (int i = 0; i < c->test->n_in && status == TS_OK; i++)
        for (int64_t e = 0; in[i]->grad != NULL && e < ts_shape_size(&c->test->in[i]); e++) {
            const double sum = (double)in[i]->grad[e], one = (double)once[i][e];
            if (fabs(sum - 2 * one) <= 1e-5 * fmax(1, fabs(one)) || (isnan(sum) && isnan(one))) continue;
            snprintf(c->report->text, sizeof c->report->text, "second backward: input %d, element %lld: %g after %g", i,
                     (long long)e, sum, one);
            status = TS_ERROR_VALUE;
        }
    if (ts_tape_error(tape) != NULL) snprintf(c->report->text, sizeof c->report->text, "%s", ts_tape_error(tape));
    ts_tape_free(tape);
    return status;
}

/* Adds the report of one check to the report of all. */
static void add_report(ts_gradcheck_report *all, const ts_gradcheck_report *one) {
    const int64_t checked = all->checked + one->checked, skipped = all->skipped + one->skipped;
    if (one->worst > all->worst || one->text[0] != '\0') *all = *one;
    all->checked = checked;
    all->skipped = skipped;
}

/* Checks the gradients for one subset of inputs; with `alias`, inputs of equal shape are one tensor. */
static ts_status check_subset(const op_check *c, unsigned subset, bool alias) {
    op_call call = {.op = c->op, .test = c->test};
    const int n = c->test->n_in;
    bool wants[TS_CASE_INPUTS];
    for (int i = 0; i < n; i++) {
        call.source[i] = source_of(c, i, alias);
        wants[i] = subset >> i & 1u && call.source[i] == i;
    }
    const ts_real *const *values = (const ts_real *const *)c->values;
    ts_gradcheck_report one;
    const ts_status status = ts_gradcheck(call_op, &call, n, c->test->in, values, wants, c->seed, c->tolerance, &one);
    add_report(c->report, &one);
    return status;
}

static bool has_alias(const ts_op_case *test) {
    for (int i = 1; i < test->n_in; i++)
        for (int j = 0; j < i; j++)
            if (ts_shape_equal(&test->in[i], &test->in[j])) return true;
    return false;
}

static ts_status check_case(const op_check *c) {
    if (c->test->kind == TS_CASE_REFUSED) return check_refusal(c);
    ts_status status = ts_op_try(c->op, c->test, c->values, c->report->text, sizeof c->report->text);
    if (status == TS_OK) status = check_repeat(c, false);
    if (status == TS_OK && has_alias(c->test)) status = check_repeat(c, true);
    if (status == TS_OK) status = ts_zero_upstream_check(c->op, c->test, c->seed, c->report);
    if (status != TS_OK || c->test->kind == TS_CASE_SURROGATE) return status;
    for (unsigned subset = 1; subset < 1u << c->test->n_in; subset++) {
        if (subset & c->op->constant_in) continue;
        const ts_status one = check_subset(c, subset, false);
        if (one != TS_OK) return one;
    }
    const unsigned all = ((1u << c->test->n_in) - 1) & ~c->op->constant_in;
    return has_alias(c->test) ? check_subset(c, all, true) : TS_OK;
}

ts_status ts_op_check(const ts_op *op, const ts_op_case *test, uint64_t seed, double tolerance,
                      ts_gradcheck_report *report) {
    *report = (ts_gradcheck_report){.input = -1};
    if (op == NULL || test == NULL || test->label == NULL || test->n_in < 1 || test->n_in > TS_CASE_INPUTS) {
        snprintf(report->text, sizeof report->text,
                 "the op or its case is NULL, or the case has no label, or not 1 to %d inputs", TS_CASE_INPUTS);
        return TS_ERROR_USAGE;
    }
    op_check c = {.op = op, .test = test, .seed = seed, .tolerance = tolerance, .report = report};
    bool ok = true;
    for (int i = 0; i < test->n_in; i++) {
        c.values[i] = malloc((size_t)ts_shape_size(&test->in[i]) * sizeof(ts_real) + 1);
        ok = ok && c.values[i] != NULL;
        if (c.values[i] != NULL) ts_op_case_input(test, i, seed, c.values[i]);
    }
    const ts_status status = ok ? check_case(&c) : TS_ERROR_MEMORY;
    for (int i = 0; i < test->n_in; i++) free(c.values[i]);
    if (status != TS_OK && report->text[0] == '\0')
        snprintf(report->text, sizeof report->text, "status %d", (int)status);
    return status;
}
