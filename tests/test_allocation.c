/* After its first step training takes no memory: every allocation of the process is counted. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../train/trainer.h"
#include "test_main.h"

#ifdef __has_feature
#define IS_WATCHED \
    (__has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_WATCHED 1
#else
#define IS_WATCHED 0
#endif

#if defined(__GLIBC__) && !IS_WATCHED
#define CAN_COUNT 1
#else
#define CAN_COUNT 0
#endif

#if CAN_COUNT
/* The C library's own, which these stand in for in this program. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static _Atomic int64_t allocations;

/* LLVM's OpenMP takes memory for its own regions: there only what this program asks for itself is counted. */
#ifdef __clang__
extern char __executable_start, etext;
#define COUNT_ONE()                                                                             \
    (allocations += (uintptr_t)__builtin_return_address(0) >= (uintptr_t)&__executable_start && \
                    (uintptr_t)__builtin_return_address(0) < (uintptr_t)&etext)
#else
#define COUNT_ONE() (allocations++)
#endif

void *malloc(size_t bytes) {
    COUNT_ONE();
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    COUNT_ONE();
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
    COUNT_ONE();
    return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    COUNT_ONE();
    return __libc_memalign(alignment, bytes);
}

START_TEST(a_step_takes_no_memory_after_the_first) {
    ts_train_options o = ts_train_defaults();
    o.n = 70, o.d = 5, o.k = 3, o.batch = 9, o.unroll = _i == 0 ? 1 : 3;
    ts_error error = {.status = TS_OK};
    ts_train_step report;
#ifdef _OPENMP
    omp_set_num_threads(1); /* of several, one may meet its first task in any step */
#endif
    const int64_t before = allocations;
    ts_trainer *t = ts_trainer_create(&o, &error);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_gt(allocations, before); /* they are counted */
    ck_assert_int_eq(ts_trainer_step(t, &report, &error), TS_OK);
    const int64_t after = allocations; /* Check's assertions take memory themselves */
    for (int step = 0; step < 5; step++) ts_trainer_step(t, &report, &error);
    const int64_t taken = allocations - after;
    ck_assert_int_eq(error.status, TS_OK);
    ck_assert_int_eq(taken, 0);
    ts_trainer_free(t);
}
END_TEST
#endif

int main(void) {
    TCase *tests = tcase_create("allocation");
#if CAN_COUNT
    tcase_add_loop_test(tests, a_step_takes_no_memory_after_the_first, 0, 2);
#else
    say_skipped("a_step_takes_no_memory_after_the_first", "a sanitizer counts allocations itself, or no glibc");
#endif
    return run_case("allocation", tests);
}
