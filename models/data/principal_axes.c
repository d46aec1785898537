/* principal_axes.c: principal component analysis of points, the first two components. */
#include "principal_axes.h"

#include <math.h>
#include <stdlib.h>

static void find_mean(int64_t m, const int64_t *rows, const ts_points *points, double *mean) {
    const int64_t d = points->d;
    for (int64_t j = 0; j < d; j++) mean[j] = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < d; j++) mean[j] += ts_point_at(points, rows[i], j);
    for (int64_t j = 0; j < d; j++) mean[j] /= (double)m;
}

/* Each thread computes rows of the matrix; every entry is summed in the order of the points. */
static void find_covariance(int64_t m, const int64_t *rows, const ts_points *points, const double *mean,
                            double *covariance) {
    const int64_t d = points->d;
#pragma omp parallel for schedule(dynamic)
    for (int64_t a = 0; a < d; a++) {
        double *row = covariance + a * d;
        for (int64_t b = 0; b < d; b++) row[b] = 0;
        for (int64_t i = 0; i < m; i++) {
            const double xa = ts_point_at(points, rows[i], a) - mean[a];
            for (int64_t b = 0; b < d; b++) row[b] += xa * (ts_point_at(points, rows[i], b) - mean[b]);
        }
    }
}

static double normalise(int64_t d, double *v) {
    double length = 0;
    for (int64_t j = 0; j < d; j++) length += v[j] * v[j];
    length = sqrt(length);
    for (int64_t j = 0; j < d && length > 0; j++) v[j] /= length;
    return length;
}

/* Makes v orthogonal to the unit vector u. */
static void remove_direction(int64_t d, const double *u, double *v) {
    double along = 0;
    for (int64_t j = 0; j < d; j++) along += u[j] * v[j];
    for (int64_t j = 0; j < d; j++) v[j] -= along * u[j];
}

/* Begins with the row of the covariance of largest norm, or a coordinate axis when all are 0. */
static void begin_axis(int64_t d, const double *covariance, const double *previous, double *v) {
    int64_t best = 0;
    double longest = -1;
    for (int64_t a = 0; a < d; a++) {
        double norm = 0;
        for (int64_t b = 0; b < d; b++) norm += covariance[a * d + b] * covariance[a * d + b];
        if (norm > longest) longest = norm, best = a;
    }
    for (int64_t j = 0; j < d; j++) v[j] = covariance[best * d + j];
    if (normalise(d, v) > 0) return;
    for (int64_t a = 0; a < 2; a++) {
        for (int64_t j = 0; j < d; j++) v[j] = j == a ? 1 : 0;
        if (previous != NULL) remove_direction(d, previous, v);
        if (normalise(d, v) > 0.5) return;
    }
}

/* The eigenvector of the largest eigenvalue, orthogonal to `previous`; returns the eigenvalue. */
static double find_axis(int64_t d, const double *covariance, const double *previous, double *v, double *next) {
    enum { ITERATIONS = 1000 };
    double eigenvalue = 0;
    begin_axis(d, covariance, previous, v);
    for (int t = 0; t < ITERATIONS; t++) {
        double change = 0;
        for (int64_t a = 0; a < d; a++) {
            next[a] = 0;
            for (int64_t b = 0; b < d; b++) next[a] += covariance[a * d + b] * v[b];
        }
        if (previous != NULL) remove_direction(d, previous, next);
        eigenvalue = normalise(d, next);
        if (!(eigenvalue > 0)) break;
        for (int64_t j = 0; j < d; j++) change += fabs(next[j] - v[j]), v[j] = next[j];
        if (change < 1e-13 * (double)d) break;
    }
    return eigenvalue;
}

/* covariance -= eigenvalue v v', which leaves the other eigenvectors. */
static void deflate(int64_t d, double eigenvalue, const double *v, double *covariance) {
    for (int64_t a = 0; a < d; a++)
        for (int64_t b = 0; b < d; b++) covariance[a * d + b] -= eigenvalue * v[a] * v[b];
}

static void fix_sign(int64_t d, double *v) {
    int64_t largest = 0;
    for (int64_t j = 1; j < d; j++)
        if (fabs(v[j]) > fabs(v[largest]) * (1 + 1e-9)) largest = j;
    if (v[largest] < 0)
        for (int64_t j = 0; j < d; j++) v[j] = -v[j];
}

static void find_both(int64_t d, double *covariance, double *work, ts_principal_axes *axes) {
    double total = 0;
    for (int64_t j = 0; j < d; j++) total += covariance[j * d + j];
    for (int p = 0; p < 2; p++) {
        const double eigenvalue = find_axis(d, covariance, p == 0 ? NULL : axes->axis[0], axes->axis[p], work);
        deflate(d, eigenvalue, axes->axis[p], covariance);
        fix_sign(d, axes->axis[p]);
        axes->share[p] = total > 0 ? eigenvalue / total : 0;
    }
}

bool ts_principal_axes_find(int64_t m, const int64_t *rows, const ts_points *points, ts_principal_axes *axes) {
    const int64_t d = points->d;
    const size_t size = (size_t)d * sizeof(double);
    double *covariance = calloc((size_t)d, size), *work = calloc(1, size);
    *axes = (ts_principal_axes){d, calloc(1, size), {calloc(1, size), calloc(1, size)}, {0, 0}};
    const bool room =
        covariance != NULL && work != NULL && axes->mean != NULL && axes->axis[0] != NULL && axes->axis[1] != NULL;
    if (room) {
        find_mean(m, rows, points, axes->mean);
        find_covariance(m, rows, points, axes->mean, covariance);
        find_both(d, covariance, work, axes);
    }
    free(covariance);
    free(work);
    return room;
}

void ts_principal_axes_free(ts_principal_axes *axes) {
    free(axes->mean);
    free(axes->axis[0]);
    free(axes->axis[1]);
    *axes = (ts_principal_axes){0};
}

double ts_principal_axes_project(const ts_principal_axes *axes, int which, const ts_points *points, int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < axes->d; j++) sum += (ts_point_at(points, i, j) - axes->mean[j]) * axes->axis[which][j];
    return sum;
}
