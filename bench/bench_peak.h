/* bench_peak.h: what the processor and the memory could do at most, measured. */
#ifndef CLI_BENCH_PEAK_H
#define CLI_BENCH_PEAK_H

#include <stdint.h>

/* GFLOP/s of fused multiply-adds on so many threads, in the registers of the instruction set in use (isa.h). Takes a
 * few milliseconds. */
double cli_bench_peak(int threads);

/* GB/s of a triad x = y + 3 z over three arrays of so many megabytes each, which stay. They are written first, outside
 * of the time, by the threads that use them. 12 bytes an element count; that a processor may also read x before it
 * writes it does not. 0 when out of memory. */
double cli_bench_bandwidth(int threads, int64_t megabytes);

#endif
