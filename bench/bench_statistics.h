/* bench_statistics.h: what is said of repeated measurements. */
#ifndef CLI_BENCH_STATISTICS_H
#define CLI_BENCH_STATISTICS_H

typedef struct cli_bench_summary {
    int count;
    double median, least, most; /* NAN when there are none */
} cli_bench_summary;

/* Of the numbers among them: NAN stands for a measurement that was not made. */
cli_bench_summary cli_bench_summarise(const double *values, int count);

/* p of y = c x^p, by least squares on the logarithms, over the upper half of the range of x: the points not below
 * sqrt(least * greatest x), two at least. x rises; y above 0, others are left out. NAN when two are not left. */
double cli_bench_exponent(const double *x, const double *y, int count);

#endif
