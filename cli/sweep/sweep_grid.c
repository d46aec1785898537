#include "sweep_grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/number_text.h"

bool cli_sweep_grid_create(const cli_sweep_options *options, cli_sweep_grid *grid) {
    *grid = (cli_sweep_grid){.options = options, .axis = options->axis, .cells = 1};
    for (int a = 0; a < CLI_SWEEP_AXES; a++) grid->cells *= (int64_t)grid->axis[a].count; /* below 2^41 */
    grid->difference = malloc((size_t)grid->cells * sizeof *grid->difference);
    if (grid->difference == NULL) return false;
    for (int64_t c = 0; c < grid->cells; c++) {
        grid->difference[c] = NAN;
        grid->valid += cli_sweep_valid(grid, c);
    }
    return true;
}

void cli_sweep_grid_free(cli_sweep_grid *grid) {
    free(grid->difference);
    *grid = (cli_sweep_grid){0};
}

size_t cli_sweep_place(const cli_sweep_grid *grid, int64_t cell, cli_sweep_axis axis) {
    for (int a = CLI_SWEEP_AXES - 1; a > (int)axis; a--) cell /= (int64_t)grid->axis[a].count;
    return (size_t)cell % grid->axis[axis].count;
}

double cli_sweep_value(const cli_sweep_grid *grid, int64_t cell, cli_sweep_axis axis) {
    return grid->axis[axis].value[cli_sweep_place(grid, cell, axis)];
}

int64_t cli_sweep_cell(const cli_sweep_grid *grid, const double value[CLI_SWEEP_AXES]) {
    int64_t cell = 0;
    for (int a = 0; a < CLI_SWEEP_AXES; a++) {
        const int place = cli_number_place(&grid->axis[a], value[a]);
        if (place < 0) return -1;
        cell = cell * (int64_t)grid->axis[a].count + place;
    }
    return cell;
}

bool cli_sweep_valid(const cli_sweep_grid *grid, int64_t cell) {
    return cli_sweep_value(grid, cell, CLI_SWEEP_POINTS) >= cli_sweep_value(grid, cell, CLI_SWEEP_CLUSTERS);
}

bool cli_sweep_done(const cli_sweep_grid *grid, int64_t cell) {
    return !isnan(grid->difference[cell]);
}

const char *cli_sweep_row(const cli_sweep_grid *grid, int64_t cell, char text[CLI_SWEEP_ROW]) {
    char number[CLI_NUMBER_TEXT];
    int length = 0;
    for (int a = 0; a < CLI_SWEEP_AXES; a++)
        length += snprintf(text + length, CLI_SWEEP_ROW - (size_t)length, "%s,",
                           cli_number_text(cli_sweep_value(grid, cell, (cli_sweep_axis)a), number));
    snprintf(text + length, CLI_SWEEP_ROW - (size_t)length, "%s\n", cli_number_text(grid->difference[cell], number));
    return text;
}

static bool meets(const cli_sweep_grid *grid, int64_t cell, cli_sweep_where where) {
    return where.at < 0 || cli_sweep_place(grid, cell, where.axis) == (size_t)where.at;
}

double cli_sweep_mean(const cli_sweep_grid *grid, bool absolute, cli_sweep_where first, cli_sweep_where second) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t c = 0; c < grid->cells; c++) {
        if (!cli_sweep_done(grid, c) || !meets(grid, c, first) || !meets(grid, c, second)) continue;
        sum += absolute ? fabs(grid->difference[c]) : grid->difference[c];
        count++;
    }
    return count == 0 ? NAN : sum / (double)count;
}
