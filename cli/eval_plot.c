#include "eval_plot.h"

#include <math.h>
#include <stdio.h>

#include "gnuplot.h"

enum { MOST_COLUMNS = 3, MOST_MARKS = 40, PANEL_WIDTH = 400, PANEL_HEIGHT = 300, TOP = 100 };

/* The picture, in pixels of the svg. */
typedef struct layout {
    int columns, lines, width, height;
} layout;

static layout layout_of(int panels) {
    layout l = {.columns = panels < MOST_COLUMNS ? panels : MOST_COLUMNS};
    if (panels == 4) l.columns = 2;
    l.lines = (panels + l.columns - 1) / l.columns;
    l.width = panels == 1 ? 720 : 40 + PANEL_WIDTH * l.columns;
    l.height = panels == 1 ? 480 : TOP + 20 + PANEL_HEIGHT * l.lines;
    return l;
}

/* What a panel shows: the quartiles, of a model only as far as it does not diverge. */
static void range_of(const cli_eval_job *job, const cli_eval_row *row, double range[2]) {
    const double ceiling = row->curve[CLI_EVAL_MODEL_Q75][0] + 0.5;
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int c = 0; c < CLI_EVAL_CURVES; c++)
        for (int64_t s = 0; s <= job->options->steps; s++) {
            const double value = row->curve[c][s];
            if (!isfinite(value)) continue;
            range[0] = fmin(range[0], value);
            range[1] = fmax(range[1], isfinite(ceiling) ? fmin(value, ceiling) : value);
        }
    if (!(range[0] <= range[1])) range[0] = range[1] = 0;
    const double margin = range[1] > range[0] ? 0.05 * (range[1] - range[0]) : 0.5;
    range[0] -= margin;
    range[1] += margin;
}

/* The block $NAMEi: step, mean, quartiles; without the steps at which the mean is not finite. */
static void write_block(FILE *script, const cli_eval_job *job, int i, const char *name, const double *const curve[3],
                        const double range[2]) {
    const double low = range[0] - (range[1] - range[0]), high = range[1] + (range[1] - range[0]);
    fprintf(script, "$%s%d << EOD\n", name, i);
    for (int64_t s = 0; s <= job->options->steps; s++) {
        if (!isfinite(curve[0][s])) continue;
        fprintf(script, "%lld", (long long)s);
        for (int c = 0; c < 3; c++) fprintf(script, " %.7g", fmin(fmax(curve[c][s], low), high));
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void write_panel(FILE *script, const cli_eval_job *job, int i) {
    const cli_eval_row *row = &job->rows[i];
    double *const *curve = row->curve;
    const double *const lloyd[3] = {curve[CLI_EVAL_LLOYD], curve[CLI_EVAL_LLOYD_Q25], curve[CLI_EVAL_LLOYD_Q75]};
    const double *const model[3] = {curve[CLI_EVAL_MODEL], curve[CLI_EVAL_MODEL_Q25], curve[CLI_EVAL_MODEL_Q75]};
    const int64_t steps = job->options->steps;
    const bool diverges = cli_eval_diverges(model[0][0], model[0][steps]);
    double range[2];
    range_of(job, row, range);
    write_block(script, job, i, "lloyd", lloyd, range);
    write_block(script, job, i, "model", model, range);
    fprintf(script, "set title 'n = %lld, %s, %s%s' offset 0,-0.4 textcolor rgb '#111111'\n", (long long)row->task.n,
            ts_family_name(row->task.family), ts_start_names[row->start], diverges ? ": the model diverges" : "");
    fprintf(script, "set xrange [0:%lld]\nset yrange [%.7g:%.7g]\n", steps > 0 ? (long long)steps : 1, range[0],
            range[1]);
    if (steps < 8) fputs("set xtics 1\n", script);
    const char *const style = steps <= MOST_MARKS ? "linespoints pt 7 ps 0.4" : "lines";
    fprintf(script,
            "plot $lloyd%d using 1:3:4 with filledcurves fc rgb '#0072B2' fs transparent solid 0.15 noborder notitle, "
            "$model%d using 1:3:4 with filledcurves fc rgb '#D55E00' fs transparent solid 0.15 noborder notitle, "
            "$lloyd%d using 1:2 with %s lw 2 lc rgb '#0072B2' notitle, "
            "$model%d using 1:2 with %s lw 2 lc rgb '#D55E00' notitle, "
            "NaN with lines lw 2 lc rgb '#0072B2' title 'Lloyd', NaN with lines lw 2 lc rgb '#D55E00' title 'model'\n",
            i, i, i, style, i, style);
    if (i == 0) fputs("unset key\nunset label 1\n", script);
}

bool cli_eval_plot(const cli_eval_job *job, ts_io_error *error) {
    const layout l = layout_of(job->n_rows);
    const double width = l.width, height = l.height;
    FILE *script = tmpfile();
    if (script == NULL) {
        snprintf(error->text, sizeof error->text, "plot: no room for temporary files");
        return false;
    }
    cli_gnuplot_begin(script, job->options->plot, l.width, l.height);
    fputs("unset key\nset xlabel 'steps' offset 0,0.5 textcolor rgb '#222222'\n", script);
    fprintf(script, "set multiplot layout %d,%d margins %.4f,%.4f,%.4f,%.4f spacing %.4f,%.4f\n", l.lines, l.columns,
            64 / width, 1 - 20 / width, 54 / height, 1 - TOP / height, 64 / width, 90 / height);
    fprintf(script,
            "set label 1 'Log objective after each step: mean of %lld task%s, and the middle half of them' at screen "
            "0.5, %.4f center font ',15' textcolor rgb '#111111'\n"
            "set key at screen 0.5, %.4f center horizontal samplen 3 textcolor rgb '#222222'\n",
            (long long)job->options->tasks, job->options->tasks == 1 ? "" : "s", 1 - 24 / height, 1 - 50 / height);
    for (int i = 0; i < job->n_rows; i++) write_panel(script, job, i);
    fputs("unset multiplot\n", script);
    const bool done = cli_gnuplot_run(script, job->options->plot, error);
    fclose(script);
    return done;
}
