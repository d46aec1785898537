#include "bench_statistics.h"

#include <math.h>
#include <stdlib.h>

#include "../models/data/compare_doubles.h"

cli_bench_summary cli_bench_summarise(const double *values, int count) {
    cli_bench_summary s = {0, NAN, NAN, NAN};
    double *sorted = malloc((size_t)(count > 0 ? count : 1) * sizeof *sorted);
    if (sorted == NULL) return s;
    for (int i = 0; i < count; i++)
        if (!isnan(values[i])) sorted[s.count++] = values[i];
    qsort(sorted, (size_t)s.count, sizeof *sorted, ts_compare_doubles);
    if (s.count > 0) {
        s.median = (sorted[(s.count - 1) / 2] + sorted[s.count / 2]) / 2;
        s.least = sorted[0];
        s.most = sorted[s.count - 1];
    }
    free(sorted);
    return s;
}

double cli_bench_exponent(const double *x, const double *y, int count) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = count - 1; i >= 0; i--) {
        if (x[i] < sqrt(x[0] * x[count - 1]) && n >= 2) break;
        if (!(y[i] > 0)) continue;
        const double u = log(x[i]), v = log(y[i]);
        n++, sx += u, sy += v, sxx += u * u, sxy += u * v;
    }
    const double spread = n * sxx - sx * sx;
    return n >= 2 && spread > 0 ? (n * sxy - sx * sy) / spread : NAN;
}
