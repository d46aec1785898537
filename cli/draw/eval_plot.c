#include "eval_plot.h"

#include <math.h>
#include <stdio.h>

#include "../common/number_text.h"
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

/* The range of a panel: the quartiles, those of a model up to where it diverges. */
static cli_axis axis_of(const cli_eval_picture *p, const cli_eval_panel *panel, int tics) {
    const double ceiling = panel->curve[CLI_EVAL_MODEL_Q75][0] + 0.5;
    double low = INFINITY, high = -INFINITY;
    for (int c = 0; c < CLI_EVAL_CURVES; c++)
        for (int64_t s = 0; s <= p->steps; s++) {
            const double value = panel->curve[c][s];
            if (!isfinite(value)) continue;
            low = fmin(low, value);
            high = fmax(high, isfinite(ceiling) ? fmin(value, ceiling) : value);
        }
    if (!(low <= high)) low = high = 0;
    return cli_axis_of(low, high, tics);
}

/* The block $NAMEi: step, mean, quartiles; without the steps at which the mean is not finite. */
static void write_block(FILE *script, int64_t steps, int i, const char *name, const double *const curve[3],
                        const cli_axis *axis) {
    const double span = axis->high - axis->low;
    fprintf(script, "$%s%d << EOD\n", name, i);
    for (int64_t s = 0; s <= steps; s++) {
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

static void write_panel(const cli_drawing *d, const layout *l, const cli_eval_picture *p, int i) {
    const cli_eval_panel *panel = &p->panel[i];
    double *const *curve = panel->curve;
    const double *const lloyd[3] = {curve[CLI_EVAL_LLOYD], curve[CLI_EVAL_LLOYD_Q25], curve[CLI_EVAL_LLOYD_Q75]};
    const double *const model[3] = {curve[CLI_EVAL_MODEL], curve[CLI_EVAL_MODEL_Q25], curve[CLI_EVAL_MODEL_Q75]};
    const cli_box box = {.x = l->left + (i % l->columns) * (l->panel_width + GAP + l->inner),
                         .y = TOP + (i / l->columns) * (TITLE + l->panel_height + CLI_X_ROOM) + TITLE,
                         .width = l->panel_width,
                         .height = l->panel_height};
    const bool low = i + l->columns >= p->panels; /* nothing below it */
    const cli_axis time =
        cli_axis_of(0, p->steps > 0 ? (double)p->steps : 1, p->steps > 0 && p->steps < 5 ? (int)p->steps : 5);
    const cli_axis axis = axis_of(p, panel, l->lines > 1 ? 4 : 5);
    write_block(d->script, p->steps, i, "lloyd", lloyd, &axis);
    write_block(d->script, p->steps, i, "model", model, &axis);
    cli_drawing_text(d, box.x, box.y - 12, CLI_LEFT, CLI_PLAIN, box.width + l->inner, panel->title);
    if (panel->diverges)
        cli_drawing_text(d, box.x + box.width - 4, box.y + 10, CLI_RIGHT, CLI_SMALL, box.width, "the model diverges");
    cli_drawing_plot(d, &box, &time, low ? "steps" : "", &axis, i % l->columns == 0 ? "log objective" : "", l->left);
    write_curves(d->script, i, p->steps);
    cli_drawing_next(d);
}

/* All panels are equally wide. */
static void plan(const cli_eval_picture *p, layout *l) {
    for (int i = 0; i < p->panels; i++) {
        const cli_axis axis = axis_of(p, &p->panel[i], l->lines > 1 ? 4 : 5);
        l->left = fmax(l->left, cli_drawing_y_room(&axis));
    }
    l->inner = l->left - CLI_PLAIN - 8;
    l->panel_width = (l->width - l->left - (l->columns - 1) * l->inner) / l->columns - GAP;
}

bool cli_eval_plot(const cli_eval_picture *p, const char *path, ts_io_error *error) {
    layout l = layout_of(p->panels);
    cli_drawing d;
    plan(p, &l);
    const int height = TOP + l.lines * (TITLE + (int)l.panel_height + CLI_X_ROOM) + 4;
    if (!cli_drawing_begin(&d, path, l.width, height, error)) return false;
    cli_drawing_line(&d, l.left, 16, CLI_LARGE, "Log objective after each step, %lld task%s", CLI_COUNT(p->tasks));
    cli_drawing_key(&d, l.left, 40, 0, CLI_LLOYD_COLOR, "Lloyd");
    cli_drawing_key(&d, l.left + 70, 40, 0, CLI_MODEL_COLOR, "model");
    cli_drawing_line(&d, l.left + 150, 40, CLI_SMALL, "lines: means; bands: the middle half");
    for (int i = 0; i < p->panels; i++) write_panel(&d, &l, p, i);
    return cli_drawing_end(&d, error);
}
