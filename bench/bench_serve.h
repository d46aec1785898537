/* bench_serve.h: a process that does one thing and is timed: `tessera bench serve [THREADS]`, started by `tessera
 * bench` for each item, and not for people.
 *
 * It writes "ready", then answers each line of standard input with a line of one number, above 0, or with "error" and a
 * reason, or with "memory" and a reason when that is what it lacks:
 *
 *     run NAME A B C D     milliseconds of one repetition (bench_work.h); the first one prepares it, untimed
 *     memory               the most megabytes the process has held so far
 *     threads              how many there really are
 *     peak T               GFLOP/s of fused multiply-adds on T threads, of all for 0
 *     bandwidth T MB       GB/s of a triad over arrays of MB megabytes
 *
 * Peers in Python (peer_base.py) speak the same, but for the last three; one that ends says why on standard error. */
#ifndef CLI_BENCH_SERVE_H
#define CLI_BENCH_SERVE_H

int cli_bench_serve(int n_words, char *const *words);

#endif
