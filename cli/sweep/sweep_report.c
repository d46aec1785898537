#include "sweep_report.h"

#include "../common/number_text.h"

static const cli_sweep_where ANYWHERE = {CLI_SWEEP_GAMMA, -1};

void cli_sweep_write_csv(const cli_sweep_grid *grid, FILE *stream) {
    char row[CLI_SWEEP_ROW];
    fputs(CLI_SWEEP_HEADER "\n", stream);
    for (int64_t c = 0; c < grid->cells; c++)
        if (cli_sweep_done(grid, c)) fputs(cli_sweep_row(grid, c, row), stream);
}

static void print_row(const cli_sweep_grid *grid, const char *name, cli_sweep_where scale) {
    const int gammas = (int)grid->axis[CLI_SWEEP_GAMMA].count;
    printf("  %10s", name);
    for (int g = 0; g < gammas; g++)
        printf("  %10.4g", cli_sweep_mean(grid, true, scale, (cli_sweep_where){CLI_SWEEP_GAMMA, g}));
    printf("  %10.4g\n", cli_sweep_mean(grid, true, scale, ANYWHERE));
}

void cli_sweep_print_report(const cli_sweep_options *options, const cli_sweep_grid *grid) {
    char name[CLI_NUMBER_TEXT];
    printf("%lld cell%s", (long long)grid->valid, grid->valid == 1 ? "" : "s");
    if (grid->valid < grid->cells)
        printf(" (and %lld with fewer points than clusters left out)", (long long)(grid->cells - grid->valid));
    printf(", %lld step%s, %lld task%s a cell\n", (long long)options->steps, options->steps == 1 ? "" : "s",
           (long long)options->tasks, options->tasks == 1 ? "" : "s");
    printf("mean |log(objective of the transformer) - log(objective of Lloyd)|\n\n  %10s", "scale");
    for (size_t g = 0; g < grid->axis[CLI_SWEEP_GAMMA].count; g++) {
        char label[CLI_NUMBER_TEXT + 8];
        snprintf(label, sizeof label, "gamma %s", cli_number_text(grid->axis[CLI_SWEEP_GAMMA].value[g], name));
        printf("  %10s", label);
    }
    printf("  %10s\n", "all");
    for (size_t s = 0; s < grid->axis[CLI_SWEEP_SCALE].count; s++)
        print_row(grid, cli_number_text(grid->axis[CLI_SWEEP_SCALE].value[s], name),
                  (cli_sweep_where){CLI_SWEEP_SCALE, (int)s});
    print_row(grid, "all", ANYWHERE);
}

/* A member of a JSON object; names and numbers need no escapes. */
static void print_number(const char *before, const char *name, double value) {
    char text[CLI_NUMBER_TEXT];
    printf("%s\"%s\": %s", before, name, cli_number_text(value, text));
}

static void print_means(const cli_sweep_grid *grid, const char *list, const char *name, cli_sweep_axis axis) {
    printf(", \"%s\": [", list);
    for (size_t i = 0; i < grid->axis[axis].count; i++) {
        const cli_sweep_where here = {axis, (int)i};
        print_number(i == 0 ? "{" : ", {", name, grid->axis[axis].value[i]);
        print_number(", ", "mean_abs_difference", cli_sweep_mean(grid, true, here, ANYWHERE));
        print_number(", ", "mean_difference", cli_sweep_mean(grid, false, here, ANYWHERE));
        printf("}");
    }
    printf("]");
}

void cli_sweep_print_json(const cli_sweep_options *options, const cli_sweep_grid *grid, double seconds) {
    printf("{\"cells\": %lld, \"skipped\": %lld, \"steps\": %lld, \"tasks\": %lld, \"seed\": %llu",
           (long long)grid->valid, (long long)(grid->cells - grid->valid), (long long)options->steps,
           (long long)options->tasks, (unsigned long long)options->shared.seed);
    print_number(", ", "mean_abs_difference", cli_sweep_mean(grid, true, ANYWHERE, ANYWHERE));
    print_number(", ", "mean_difference", cli_sweep_mean(grid, false, ANYWHERE, ANYWHERE));
    print_means(grid, "gammas", "gamma", CLI_SWEEP_GAMMA);
    print_means(grid, "scales", "scale", CLI_SWEEP_SCALE);
    print_number(", ", "seconds", seconds);
    printf("}\n");
}
