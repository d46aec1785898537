#include "threads.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
#endif

void cli_set_threads(int64_t threads) {
#ifdef _OPENMP
    if (threads > 0) omp_set_num_threads((int)threads);
#else
    (void)threads;
#endif
}

#if defined(_OPENMP) && defined(__linux__)
/* How long waiting threads spin: GCC's OpenMP counts iterations (some tenths of a millisecond), LLVM's milliseconds. */
static const char *const waiting[][2] = {{"GOMP_SPINCOUNT", "10000"}, {"KMP_BLOCKTIME", "0"}};
enum { WAITING = sizeof waiting / sizeof *waiting };

static void forget_waiting(void) {
    for (int i = 0; i < WAITING; i++) unsetenv(waiting[i][0]);
}

/* Would exec run another program? It would if the loader was named as the program, and valgrind loses track of exec. */
static bool starts_anew_elsewhere(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    return getauxval(AT_BASE) == 0 || (preloaded != NULL && strstr(preloaded, "vgpreload") != NULL);
}

/* Redirects standard error to /dev/null and returns a descriptor of its old target, or -1 on failure. */
static int silence_errors(void) {
    const int kept = fcntl(STDERR_FILENO, F_DUPFD, STDERR_FILENO + 1);
    const int nothing = kept < 0 ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0) return kept;
    dup2(nothing, STDERR_FILENO);
    close(nothing);
    return kept;
}

static void restore_errors(int kept) {
    if (kept > STDERR_FILENO && dup2(kept, STDERR_FILENO) >= 0) close(kept);
}

/* The environment variable that marks the exec: the process id, which stays the same, and the saved descriptor. */
static const char mark[] = "TESSERA_WAITS_BRIEFLY";

static bool is_started_anew(int *errors) {
    const char *marked = getenv(mark);
    long process = 0;
    const bool anew = marked != NULL && sscanf(marked, "%ld %d", &process, errors) == 2 && process == (long)getpid();
    unsetenv(mark);
    return anew;
}

/* Libraries that complain about the environment when loaded have done so once already. */
static void start_anew(const char *path, char **words) {
    char marked[64];
    const int errors = silence_errors();
    snprintf(marked, sizeof marked, "%ld %d", (long)getpid(), errors);
    bool set = setenv(mark, marked, 1) == 0;
    for (int i = 0; i < WAITING; i++) set = set && setenv(waiting[i][0], waiting[i][1], 1) == 0;
    if (set) execv(path, words);
    restore_errors(errors);
    unsetenv(mark);
    forget_waiting();
}

void cli_wait_briefly(char **words) {
    char path[4096];
    int errors;
    if (is_started_anew(&errors)) {
        restore_errors(errors);
        forget_waiting(); /* what it starts itself finds the environment as it was */
        return;
    }
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    bool told = getenv("OMP_WAIT_POLICY") != NULL;
    for (int i = 0; i < WAITING; i++) told = told || getenv(waiting[i][0]) != NULL;
    if (length <= 0 || told || starts_anew_elsewhere()) return;
    path[length] = '\0';
    start_anew(path, words);
}
#else
void cli_wait_briefly(char **words) {
    (void)words;
}
#endif

int cli_threads_used(void) {
    int threads = 1;
#pragma omp parallel
    {
#pragma omp single
        {
#ifdef _OPENMP
            threads = omp_get_num_threads();
#endif
        }
    }
    return threads;
}

int cli_processors(void) {
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

int cli_threads(void) {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
