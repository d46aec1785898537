#include "bench_axis.h"

const char *const cli_bench_axes[CLI_BENCH_AXES] = {"train-n",       "train-d",       "train-k",      "train-b",
                                                    "train-threads", "cluster-exact", "cluster-plain"};

#define OCTAVES                        \
    {2, 4, 8, 16, 32, 64, 128, 256}, { \
        2, 4, 8, 16                    \
    }
#define SAMPLES                                                               \
    {1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000, 10000000}, { \
        100, 200, 400, 800                                                    \
    }
static const cli_bench_axis axes[CLI_BENCH_AXES] = {
    {&cli_bench_train,
     "n",
     0,
     {"d = 32, k = 10, one task", "d = 4, k = 3, one task"},
     {{0, 32, 10, 1}, {0, 4, 3, 1}},
     {{128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}, {16, 32, 64, 128}}},
    {&cli_bench_train,
     "d",
     1,
     {"n = 512, k = 10, 8 tasks", "n = 24, k = 3, 2 tasks"},
     {{512, 0, 10, 8}, {24, 0, 3, 2}},
     {OCTAVES}},
    {&cli_bench_train,
     "k",
     2,
     {"n = 512, d = 32, 8 tasks", "n = 24, d = 4, 2 tasks"},
     {{512, 32, 0, 8}, {24, 4, 0, 2}},
     {OCTAVES}},
    {&cli_bench_train,
     "b",
     3,
     {"n = 512, d = 32, k = 10", "n = 24, d = 4, k = 3"},
     {{512, 32, 10, 0}, {24, 4, 3, 0}},
     {{1, 2, 4, 8, 16, 32, 64, 128}, {1, 2, 4, 8}}},
    {&cli_bench_train,
     "threads",
     CLI_BENCH_SHAPE,
     {"n = 512, d = 32, k = 10, 32 tasks", "n = 24, d = 4, k = 3, 4 tasks"},
     {{512, 32, 10, 32}, {24, 4, 3, 4}},
     {{0}, {0}}},
    {&cli_bench_exact, "n", 0, {"d = 32, k = 10", "d = 4, k = 3"}, {{0, 32, 10, 0}, {0, 4, 3, 0}}, {SAMPLES}},
    {&cli_bench_plain, "n", 0, {"d = 32, k = 10", "d = 4, k = 3"}, {{0, 32, 10, 0}, {0, 4, 3, 0}}, {SAMPLES}},
};

const cli_bench_axis *cli_bench_axis_of(int axis) {
    return &axes[axis];
}
