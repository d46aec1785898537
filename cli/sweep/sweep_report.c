#include "sweep_report.h"

#include "../common/json_writer.h"
#include "../common/number_text.h"
#include "sweep_grid.h"

static const cli_sweep_where ANYWHERE = {CLI_SWEEP_GAMMA, -1};

void cli_sweep_write_csv(const void *result, FILE *stream) {
    const cli_sweep_grid *grid = result;
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

bool cli_sweep_print_report(const void *result) {
    const cli_sweep_grid *grid = result;
    char name[CLI_NUMBER_TEXT];
    printf("%lld cell%s", CLI_COUNT(grid->valid));
    if (grid->valid < grid->cells)
        printf(" (and %lld with fewer points than clusters left out)", (long long)(grid->cells - grid->valid));
    printf(", %lld step%s, %lld task%s a cell\n", CLI_COUNT(grid->options->steps), CLI_COUNT(grid->options->tasks));
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
    return true;
}

static void put_axis(cli_json *json, const cli_sweep_grid *grid, const char *name, cli_sweep_axis axis) {
    for (size_t i = 0; i < grid->axis[axis].count; i++) {
        const cli_sweep_where here = {axis, (int)i};
        cli_json_put(json, name, grid->axis[axis].value[i]);
        cli_json_put(json, "mean_abs_difference:n mean_difference:n }", cli_sweep_mean(grid, true, here, ANYWHERE),
                     cli_sweep_mean(grid, false, here, ANYWHERE));
    }
}

bool cli_sweep_print_json(const void *result) {
    const cli_sweep_grid *grid = result;
    const cli_sweep_options *options = grid->options;
    cli_json json = {0};
    cli_json_put(&json, "{ cells:i skipped:i steps:i tasks:i seed:u mean_abs_difference:n mean_difference:n gammas:[",
                 grid->valid, grid->cells - grid->valid, options->steps, options->tasks, options->shared.seed,
                 cli_sweep_mean(grid, true, ANYWHERE, ANYWHERE), cli_sweep_mean(grid, false, ANYWHERE, ANYWHERE));
    put_axis(&json, grid, "{ gamma:n", CLI_SWEEP_GAMMA);
    cli_json_put(&json, "] scales:[");
    put_axis(&json, grid, "{ scale:n", CLI_SWEEP_SCALE);
    cli_json_put(&json, "] seconds:n }", grid->seconds);
    return cli_json_end(&json);
}
