#include "eval_plot.h"

#include <math.h>
#include <stdio.h>

#include "drawing.h"

enum { MOST_MARKS = 40, GAP = 14, TITLE = 26, TOP = 62 };

/* The picture, in units: a column of a paper wide, or two where there are many panels. */
typedef struct layout {
    int columns, lines, width;
    double left, inner; /* room left of the first panel of a line, and of the others, which have tics only */
    double panel_width, panel_height;
} layout;

static layout layout_of(int panels) {
    layout l = {.columns = panels == 1 ? 1 : panels <= 8 ? 2 : 4, .panel_height = panels == 1 ? 220 : 120};
    l.lines = (panels + l.columns - 1) / l.columns;
    l.width = l.columns > 2 ? 2 * CLI_COLUMN : CLI_COLUMN;
    return l;
}

/* What a panel shows: the quartiles, of a model only as far as it does not diverge. */
static cli_axis axis_of(const cli_eval_job *job, const cli_eval_row *row, int tics) {
    const double ceiling = row->curve[CLI_EVAL_MODEL_Q75][0] + 0.5;
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < CLI_EVAL_CURVES; c++)
        for (int64_t s = 0; s <= job->options->steps; s++) {
            const double value = row->curve[c][s];
            if (!isfinite(value)) continue;
            low = fmin(low, value);
            high = fmax(high, isfinite(ceiling) ? fmin(value, ceiling) : value);
        }
    if (!(low <= high)) low = high = 0;
    return cli_axis_of(low, high, tics);
}

/* The block $NAMEi: step, mean, quartiles; without the steps at which the mean is not finite. */
static void write_block(FILE *script, const cli_eval_job *job, int i, const char *name, const double *const curve[3],
                        const cli_axis *axis) {
    const double span = axis->high - axis->low;
    fprintf(script, "$%s%d << EOD\n", name, i);
    for (int64_t s = 0; s <= job->options->steps; s++) {
        if (!isfinite(curve[0][s])) continue;
        fprintf(script, "%lld", (long long)s);
        for (int c = 0; c < 3; c++)
            fprintf(script, " %.9g",
                    fmin(fmax(cli_axis_place(axis, curve[c][s]), axis->low - span), axis->high + span));
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void write_curves(FILE *script, int i, int64_t steps) {
    const char *const style = steps <= MOST_MARKS ? "linespoints pt 7 ps 1.8*dot" : "lines";
    fprintf(script,
            "plot $lloyd%d using 1:3:4 with filledcurves fc rgb '" CLI_LLOYD_COLOR
            "' fs transparent solid 0.15 noborder notitle, "
            "$model%d using 1:3:4 with filledcurves fc rgb '" CLI_MODEL_COLOR
            "' fs transparent solid 0.15 noborder notitle, "
            "$lloyd%d using 1:2 with %s lw 1.6 lc rgb '" CLI_LLOYD_COLOR "' notitle, "
            "$model%d using 1:2 with %s lw 1.6 lc rgb '" CLI_MODEL_COLOR "' notitle\n",
            i, i, i, style, i, style);
}

static void write_panel(const cli_drawing *d, const layout *l, const cli_eval_job *job, int i) {
    const cli_eval_row *row = &job->rows[i];
    double *const *curve = row->curve;
    const double *const lloyd[3] = {curve[CLI_EVAL_LLOYD], curve[CLI_EVAL_LLOYD_Q25], curve[CLI_EVAL_LLOYD_Q75]};
    const double *const model[3] = {curve[CLI_EVAL_MODEL], curve[CLI_EVAL_MODEL_Q25], curve[CLI_EVAL_MODEL_Q75]};
    const int64_t steps = job->options->steps;
    const double x = l->left + (i % l->columns) * (l->panel_width + GAP + l->inner);
    const double y = TOP + (i / l->columns) * (TITLE + l->panel_height + CLI_X_ROOM) + TITLE;
    const bool low = i + l->columns >= job->n_rows; /* nothing below it */
    const cli_axis time = cli_axis_of(0, steps > 0 ? (double)steps : 1, steps > 0 && steps < 5 ? (int)steps : 5);
    const cli_axis axis = axis_of(job, row, l->lines > 1 ? 4 : 5);
    char title[128];
    write_block(d->script, job, i, "lloyd", lloyd, &axis);
    write_block(d->script, job, i, "model", model, &axis);
    snprintf(title, sizeof title, "n = %lld, %s, %s", (long long)row->task.n, ts_family_name(row->task.family),
             ts_start_names[row->start]);
    cli_drawing_place(d, x, y, l->panel_width, l->panel_height);
    cli_drawing_text(d, x, y - 12, CLI_LEFT, CLI_PLAIN, l->panel_width + l->inner, title);
    if (cli_eval_diverges(model[0][0], model[0][steps]))
        cli_drawing_text(d, x + l->panel_width - 4, y + 10, CLI_RIGHT, CLI_SMALL, l->panel_width, "the model diverges");
    cli_drawing_x_axis(d, &time, low ? "steps" : "", x, y, l->panel_width, l->panel_height);
    cli_drawing_y_axis(d, &axis, i % l->columns == 0 ? "log objective" : "", x, y, l->panel_height, l->left);
    write_curves(d->script, i, steps);
    cli_drawing_next(d);
}

/* All panels are equally wide. */
static void plan(const cli_eval_job *job, layout *l) {
    for (int i = 0; i < job->n_rows; i++) {
        const cli_axis axis = axis_of(job, &job->rows[i], l->lines > 1 ? 4 : 5);
        l->left = fmax(l->left, cli_drawing_y_room(&axis));
    }
    l->inner = l->left - CLI_PLAIN - 8;
    l->panel_width = (l->width - l->left - (l->columns - 1) * l->inner) / l->columns - GAP;
}

bool cli_eval_plot(const cli_eval_job *job, const char *path, ts_io_error *error) {
    layout l = layout_of(job->n_rows);
    const char *tasks = job->options->tasks == 1 ? "" : "s";
    char text[128];
    cli_drawing d;
    plan(job, &l);
    const int height = TOP + l.lines * (TITLE + (int)l.panel_height + CLI_X_ROOM) + 4;
    if (!cli_drawing_begin(&d, path, l.width, height, error)) return false;
    snprintf(text, sizeof text, "Log objective after each step, %lld task%s", (long long)job->options->tasks, tasks);
    cli_drawing_text(&d, l.left, 16, CLI_LEFT, CLI_LARGE, l.width - l.left, text);
    cli_drawing_key(&d, l.left, 40, 0, CLI_LLOYD_COLOR, "Lloyd");
    cli_drawing_key(&d, l.left + 70, 40, 0, CLI_MODEL_COLOR, "model");
    cli_drawing_text(&d, l.left + 150, 40, CLI_LEFT, CLI_SMALL, l.width - l.left - 150,
                     "lines: means; bands: the middle half");
    for (int i = 0; i < job->n_rows; i++) write_panel(&d, &l, job, i);
    return cli_drawing_end(&d, error);
}
