#include "train_plot.h"

#include <math.h>
#include <stdio.h>

#include "../common/number_text.h"
#include "drawing.h"

enum { TOP = 78, LOSS_HEIGHT = 190, GAP = 18, RATE_HEIGHT = 80, RIGHT = 16 };

/* An axis of the positive values, from `least` on and up to `most`. */
static cli_axis log_axis(const double *first, int64_t count, double low, double high, double least, double most,
                         int tics) {
    for (int64_t i = 0; i < count; i++) {
        const double value = *(const double *)((const char *)first + (size_t)i * sizeof(cli_metrics));
        if (!isfinite(value) || value <= 0) continue;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    return cli_axis_log(fmax(low, least), fmin(high, most), tics);
}

/* All of the run, its first steps too; of one that diverges what is below a hundred times Lloyd's objective. */
static cli_axis loss_axis(const cli_metrics *rows, int64_t count) {
    return log_axis(&rows[0].val_relative, count, 1, 1, 1e-6, 100, 5);
}

/* Six decades, of rates that are halved until nothing moves. */
static cli_axis rate_axis(const cli_metrics *rows, int64_t count) {
    double highest = 0;
    for (int64_t i = 0; i < count; i++) highest = fmax(highest, rows[i].rate);
    if (!(highest > 0)) highest = 1;
    return log_axis(&rows[0].rate, count, highest, highest, 1e-6 * highest, highest, 3);
}

static void write_titles(const cli_drawing *d, const ts_trainer *t, double left) {
    const ts_train_options *o = &t->options;
    char text[200];
    const bool papers = o->architecture == NULL;
    cli_drawing_line(d, left, 16, CLI_LARGE, "%s%s%s, N %lld, D %lld, K %lld", papers ? "one " : "",
                     papers ? ts_construction_names[o->construction] : o->architecture->name, papers ? " layer" : "",
                     (long long)o->n, (long long)o->d, (long long)o->k);
    cli_drawing_line(d, left, 36, CLI_SMALL, "best %s after step %lld; below 1 is better than Lloyd",
                     cli_ratio_text(t->best, text), (long long)t->best_step);
    snprintf(text, sizeof text, "model, after %lld step%s", CLI_COUNT(o->unroll));
    cli_drawing_key(d, left, 57, 0, CLI_MODEL_COLOR, text);
    cli_drawing_key(d, left + 180, 57, 0, CLI_LLOYD_COLOR, "Lloyd");
}

static void write_data(const cli_metrics *rows, int64_t count, FILE *script) {
    fputs("$m << EOD\n", script);
    for (int64_t i = 0; i < count; i++) {
        const cli_metrics *r = &rows[i];
        fprintf(script, "%lld %.9g %.9g\n", (long long)r->step, r->val_relative > 0 ? r->val_relative : NAN,
                r->rate > 0 ? r->rate : NAN);
    }
    fputs("EOD\n", script);
}

bool cli_train_plot(const cli_metrics *rows, int64_t count, const ts_trainer *trainer, const char *path,
                    ts_io_error *error) {
    const cli_axis steps = cli_axis_of(0, (double)rows[count - 1].step, 5);
    const cli_axis loss = loss_axis(rows, count), rate = rate_axis(rows, count);
    cli_axis nameless = steps; /* its numbers stand below the other panel */
    for (int i = 0; i < steps.tics; i++) nameless.text[i][0] = '\0';
    const double left = fmax(cli_drawing_y_room(&loss), cli_drawing_y_room(&rate)), width = CLI_COLUMN - left - RIGHT;
    const cli_box upper = {left, TOP, width, LOSS_HEIGHT}, lower = {left, TOP + LOSS_HEIGHT + GAP, width, RATE_HEIGHT};
    cli_drawing d;
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, (int)lower.y + RATE_HEIGHT + CLI_X_ROOM + 4, error)) return false;
    write_data(rows, count, d.script);
    write_titles(&d, trainer, left);
    cli_drawing_plot(&d, &upper, &nameless, "", &loss, "objective relative to Lloyd", left);
    fputs("set logscale y\nplot 1 with lines lw 1.4 lc rgb '" CLI_LLOYD_COLOR "' notitle, \\\n"
          " $m using 1:2 with lines lw 1.4 lc rgb '" CLI_MODEL_COLOR "' notitle\n",
          d.script);
    cli_drawing_next(&d);
    cli_drawing_plot(&d, &lower, &steps, "training step", &rate, "learning rate", left);
    fputs("plot $m using 1:3 with steps lw 1.4 lc rgb '" CLI_GREY "' notitle\n", d.script);
    return cli_drawing_end(&d, error);
}
