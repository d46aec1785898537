#include "cluster_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/data/row_distance.h"
#include "../cluster/cluster_job.h"
#include "../common/message.h"
#include "../common/short_text.h"
#include "drawing.h"
#include "gnuplot.h"
#include "label_places.h"
#include "principal_axes.h"
#include "thin_points.h"

enum {
    MOST_POINTS = 6000,   /* drawn; where they lie on one another no more can be told apart */
    MOST_SAMPLED = 20000, /* by which the principal axes are found */
    MOST_PATHS = 12,      /* clusters whose centres' paths are drawn, */
    MOST_NAMED = 60,      /* that have a number and an entry of the key, */
    MOST_CENTERS = 1000,  /* and whose centres are drawn */
    RIGHT = 16,
    KEY_LINE = 17
};

/* How rows of the job become places in the picture. */
typedef struct view {
    const cli_cluster_job *job;
    int64_t shown; /* points drawn */
    int64_t *rows; /* [shown] */
    double *unit;  /* [n,d] the directions of the points, where those are clustered; else NULL */
    cli_axes axes; /* when d > 2 */
    cli_axis axis[2];
    double left, top, width, height; /* of the plot, in units */
    int key_columns, key_lines;
} view;

/* ---- colours ----------------------------------------------------------------------------------------------------- */

/* The colours of Okabe and Ito, which people of every colour vision tell apart; each later one is as far as can be from
 * white, grey and those before it, in CIELAB as most people see it and as those without the red-green axis do. Eight at
 * a time share a shape. */
static const unsigned colors[MOST_NAMED] = {
    0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0xF0E442, 0x666666, 0x0000FF, 0xFF22FF,
    0x331199, 0x00BB22, 0x880022, 0x666600, 0x660055, 0xFFAA88, 0xFF0077, 0x0077FF, 0xAACC77, 0xDD11AA,
    0xBB88EE, 0x004411, 0x9933FF, 0x113355, 0xDD0033, 0x44CCCC, 0x996644, 0x9933BB, 0x443388, 0x552233,
    0x228822, 0x99AA11, 0x228899, 0x775588, 0x00CC77, 0xAA2266, 0xBB8833, 0x99CCAA, 0x443300, 0xFF7788,
    0xBBAADD, 0x2211CC, 0x5599FF, 0x004444, 0xFF0000, 0x883300, 0xFF99EE, 0x557744, 0x9966FF, 0xFF55AA,
    0xFF77FF, 0xFF7755, 0x3355FF, 0xBBAA88, 0xEEAABB, 0x333322, 0x995566, 0x991188, 0x6666CC, 0x117766};
enum { TRIMMED_COLOR = 0x777777, TRIMMED_SHAPE = 2 };

static unsigned color_of(int64_t cluster) {
    return cluster < 0 ? TRIMMED_COLOR : colors[cluster % MOST_NAMED];
}

/* gnuplot's numbers of disc, square, diamond, pentagon; its small triangles are flat in a .pdf. */
static int shape_of(int64_t cluster) {
    static const int shapes[] = {7, 5, 13, 15};
    return cluster < 0 ? TRIMMED_SHAPE : shapes[cluster % MOST_NAMED / 8 % 4];
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Where a point lies. `height` in (0,1) is its place across the strip when there is one feature only. */
static void position(const view *v, const double *x, double height, double xy[2]) {
    const cli_cluster_job *job = v->job;
    xy[0] = 0;
    xy[1] = height;
    for (int a = 0; a < 2 && a < job->d; a++)
        xy[a] = job->d > 2        ? cli_axes_project(&v->axes, a, x)
                : v->unit != NULL ? x[a]
                                  : job->rescaling.shift[a] + job->rescaling.scale[a] * x[a];
}

/* The points as they are clustered: of directions, those. */
static ts_points points_of(const view *v) {
    ts_points points = cli_cluster_job_points(v->job);
    if (v->unit != NULL) points.exact = v->unit;
    return points;
}

static bool find_directions(view *v) {
    const int64_t n = v->job->n, d = v->job->d;
    const ts_points points = cli_cluster_job_points(v->job);
    v->unit = malloc((size_t)(n * d) * sizeof *v->unit);
    for (int64_t i = 0; v->unit != NULL && i < n; i++) {
        const double length = ts_point_length(&points, i);
        for (int64_t a = 0; a < d; a++) v->unit[i * d + a] = ts_point_at(&points, i, a) / length;
    }
    return v->unit != NULL;
}

static void position_of_row(const view *v, int64_t row, double xy[2]) {
    const ts_points points = points_of(v);
    double x[2] = {0};
    xy[0] = xy[1] = 0;
    for (int a = 0; a < 2 && a < v->job->d; a++) {
        x[a] = ts_point_at(&points, row, a);
        if (v->job->d > 2) xy[a] = cli_axes_project_point(&v->axes, a, &points, row);
    }
    if (v->job->d <= 2) position(v, x, 0.1 + 0.8 * fmod(0.6180339887 * (double)(row + 1), 1), xy);
}

/* The same in units of the picture, from the upper left corner of the plot. */
static void to_units(const view *v, const double xy[2], double at[2]) {
    const double size[2] = {v->width, v->height};
    for (int a = 0; a < 2; a++) {
        const cli_axis *axis = &v->axis[a];
        at[a] = size[a] * (cli_axis_place(axis, xy[a]) - axis->low) / (axis->high - axis->low);
    }
    at[1] = v->height - at[1];
}

static void place_of_row(const void *context, int64_t row, double at[2]) {
    double xy[2];
    position_of_row(context, row, xy);
    to_units(context, xy, at);
}

static bool has_paths(const cli_cluster_job *job) {
    return job->run.path_steps > 0 && job->k <= MOST_PATHS;
}

static void widen(double range[2][2], const double xy[2]) {
    for (int a = 0; a < 2; a++) {
        range[a][0] = fmin(range[a][0], xy[a]);
        range[a][1] = fmax(range[a][1], xy[a]);
    }
}

static void find_ranges(view *v) {
    const cli_cluster_job *job = v->job;
    double range[2][2] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}}, xy[2];
    for (int64_t i = 0; i < job->n; i++) {
        position_of_row(v, i, xy);
        widen(range, xy);
    }
    for (int64_t c = 0; c < job->k; c++) {
        position(v, job->run.centers + c * job->d, 0.5, xy);
        widen(range, xy);
    }
    for (int64_t i = 0; has_paths(job) && i < (job->run.path_steps + 1) * job->k; i++) {
        position(v, job->run.path + i * job->d, 0.5, xy);
        widen(range, xy);
    }
    v->axis[0] = cli_axis_of(range[0][0], range[0][1], 6);
    v->axis[1] = job->d > 1 ? cli_axis_of(range[1][0], range[1][1], 5) : (cli_axis){.high = 1};
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static void write_place(FILE *script, const view *v, const double xy[2]) {
    fprintf(script, "%.9g %.9g", cli_axis_place(&v->axis[0], xy[0]), cli_axis_place(&v->axis[1], xy[1]));
}

static void write_points(FILE *script, const view *v) {
    fputs("$points << EOD\n", script);
    for (int64_t i = 0; i < v->shown; i++) {
        double xy[2];
        const int64_t label = v->job->run.labels[v->rows[i]];
        position_of_row(v, v->rows[i], xy);
        write_place(script, v, xy);
        fprintf(script, " %d %u\n", shape_of(label), (label < 0 ? 0 : 0x40000000u) | color_of(label));
    }
    fputs("EOD\n", script);
}

static void write_center(FILE *script, const view *v, const double *x) {
    double xy[2];
    position(v, x, 0.5, xy);
    write_place(script, v, xy);
    fputc('\n', script);
}

/* The paths of the centres, a block each. */
static void write_paths(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    fputs("$starts << EOD\n", script);
    for (int64_t c = 0; c < job->k; c++) write_center(script, v, job->run.path + c * job->d);
    fputs("EOD\n$paths << EOD\n", script);
    for (int64_t c = 0; c < job->k; c++) {
        for (int64_t t = 0; t <= job->run.path_steps; t++)
            write_center(script, v, job->run.path + (t * job->k + c) * job->d);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void write_centers(FILE *script, const view *v) {
    fputs("$centers << EOD\n", script);
    for (int64_t c = 0; c < v->job->k; c++) write_center(script, v, v->job->run.centers + c * v->job->d);
    fputs("EOD\n", script);
}

/* The numbers of the centres, beside them, and lines to those that stand away. */
static void write_numbers(const cli_drawing *d, const view *v) {
    enum { DIGIT = 8, LETTERS = 10, NEAR = 22 };
    cli_label_place labels[MOST_NAMED];
    char number[24];
    for (int64_t c = 0; c < v->job->k; c++) {
        double xy[2];
        position(v, v->job->run.centers + c * v->job->d, 0.5, xy);
        to_units(v, xy, labels[c].point);
        labels[c].width = c < 10 ? DIGIT : 2 * DIGIT;
        labels[c].height = LETTERS;
    }
    fputs("set style textbox opaque noborder fillcolor rgb '#40ffffff' margins 0.2,0.2\n", d->script);
    cli_place_labels(v->job->k, labels, v->width, v->height);
    for (int64_t c = 0; c < v->job->k; c++) {
        const double x = v->left + labels[c].middle[0], y = v->top + labels[c].middle[1];
        const double along = labels[c].middle[0] - labels[c].point[0], up = labels[c].point[1] - labels[c].middle[1];
        snprintf(number, sizeof number, "%lld", (long long)c);
        fprintf(d->script, "set label '%s' at screen %.5f,%.5f center front boxed font ',%d' textcolor rgb '%s'\n",
                number, x / d->width, 1 - y / d->height, CLI_SMALL, CLI_INK);
        if (hypot(along, up) > NEAR)
            fprintf(d->script, "set arrow from screen %.5f,%.5f rto screen %.5f,%.5f nohead lw 0.6 lc rgb '%s'\n",
                    (x - along) / d->width, 1 - (y + up) / d->height, 0.7 * along / d->width, 0.7 * up / d->height,
                    CLI_GREY);
    }
}

static void add_note(char *text, size_t size, const char *note) {
    snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] != '\0' ? "; " : "", note);
}

/* How the data were scaled, which points are drawn and where, if there is anything to say. */
static void write_notes(const view *v, char *text, size_t size) {
    const cli_cluster_job *job = v->job;
    char drawn[80];
    text[0] = '\0';
    if (job->options->scaling == TS_SCALING_MINMAX) add_note(text, size, "features scaled to [0,1]");
    if (job->options->scaling == TS_SCALING_STANDARD) add_note(text, size, "features standardised");
    snprintf(drawn, sizeof drawn, "%lld of %lld points drawn", (long long)v->shown, (long long)job->n);
    if (v->shown < job->n) add_note(text, size, drawn);
    if (v->unit != NULL) add_note(text, size, "directions: points on the unit sphere");
    if (job->d == 1) add_note(text, size, "vertical position means nothing");
}

/* "iris.csv: 3 clusters, objective 78.85"; a long name is shortened. */
static void write_title(const cli_drawing *d, const view *v) {
    const cli_cluster_job *job = v->job;
    const char *file = job->options->file, *slash = strrchr(file, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : cli_source_name(file);
    const int digits = job->objective < 1e4 ? 4 : 7; /* 78.85 and 389565 rather than 3.896e+05 */
    char text[512], more[96], shortened[256];
    snprintf(more, sizeof more, ": %lld cluster%s, objective %.*g", (long long)job->k, job->k == 1 ? "" : "s", digits,
             job->objective < 1e4 || job->objective >= 1e7 ? job->objective : round(job->objective));
    const int room = cli_drawing_letters(d->width - v->left - RIGHT, CLI_LARGE) - (int)strlen(more);
    snprintf(text, sizeof text, "%s%s", cli_short_text(name, room, shortened, sizeof shortened), more);
    cli_drawing_text(d, v->left, 16, CLI_LEFT, CLI_LARGE, d->width, text);
}

static void write_titles(const cli_drawing *d, const view *v) {
    const cli_cluster_job *job = v->job;
    char text[512];
    write_title(d, v);
    snprintf(text, sizeof text, "%s as a transformer, %lld step%s",
             job->model.variant == ts_variants ? "Lloyd's algorithm" : cli_cluster_model_title(&job->model),
             (long long)job->run.steps, job->run.steps == 1 ? "" : "s");
    cli_drawing_text(d, v->left, 35, CLI_LEFT, CLI_SMALL, d->width - v->left, text);
    write_notes(v, text, sizeof text);
    if (text[0] != '\0') cli_drawing_text(d, v->left, 52, CLI_LEFT, CLI_SMALL, d->width - v->left, text);
}

static void write_axes(const cli_drawing *d, const view *v) {
    const cli_cluster_job *job = v->job;
    for (int a = 0; a < 2 && a < job->d; a++) {
        char number[80];
        const char *name = number;
        if (job->d > 2)
            snprintf(number, sizeof number, "principal axis %d (%.0f %% of variance)", a + 1, 100 * v->axes.share[a]);
        else if (job->table.names != NULL)
            name = job->table.names[a];
        else
            snprintf(number, sizeof number, "column %d", a + 1);
        if (a == 0)
            cli_drawing_x_axis(d, &v->axis[a], name, v->left, v->top, v->width, v->height);
        else
            cli_drawing_y_axis(d, &v->axis[a], name, v->left, v->top, v->height, v->left);
    }
    if (job->d == 1) fputs("unset ytics\nset border 1\nset yrange [0:1]\n", d->script);
}

/* ---- the key, below the plot ------------------------------------------------------------------------------------- */

static const char *rows_text(const cli_cluster_job *job, int64_t cluster, char text[48]) {
    snprintf(text, 48, "%lld: %lld", (long long)cluster, (long long)job->sizes[cluster]);
    return text;
}

/* A line for what is not a cluster, then the clusters in columns. */
static void plan_key(const cli_cluster_job *job, view *v) {
    char text[48];
    size_t widest = 4;
    for (int64_t c = 0; c < job->k && job->k <= MOST_NAMED; c++) {
        const size_t length = strlen(rows_text(job, c, text));
        widest = length > widest ? length : widest;
    }
    v->key_columns = (int)(v->width / (26 + 7.5 * (double)widest));
    if (v->key_columns < 1) v->key_columns = 1;
    v->key_lines = job->k > MOST_NAMED ? 1 : 1 + ((int)job->k + v->key_columns - 1) / v->key_columns;
}

static void write_key(const cli_drawing *d, const view *v, double top) {
    enum { CENTER = 110, START = 70 };
    const cli_cluster_job *job = v->job;
    const bool named = job->k <= MOST_NAMED;
    double x = v->left;
    char text[48], color[16];
    if (named) cli_drawing_text(d, x, top, CLI_LEFT, CLI_SMALL, CENTER, "cluster: rows");
    if (named) x += CENTER;
    if (job->k <= MOST_CENTERS) cli_drawing_key(d, x, top, 6, CLI_INK, "centre");
    if (job->k <= MOST_CENTERS) x += START;
    if (has_paths(job)) cli_drawing_key(d, x, top, 1, CLI_INK, "its start");
    if (has_paths(job)) x += START + 14;
    snprintf(text, sizeof text, "trimmed: %lld", (long long)job->run.trimmed);
    snprintf(color, sizeof color, "#%06X", TRIMMED_COLOR);
    if (job->run.trimmed > 0) cli_drawing_key(d, x, top, TRIMMED_SHAPE, color, text);
    for (int c = 0; named && c < job->k; c++) {
        snprintf(color, sizeof color, "#%06X", color_of(c));
        cli_drawing_key(d, v->left + v->width / v->key_columns * (c % v->key_columns),
                        top + KEY_LINE * (1 + c / v->key_columns), shape_of(c), color, rows_text(job, c, text));
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void write_drawing(FILE *script, const view *v) {
    const double size = v->shown <= 500 ? 2.4 : v->shown <= 2000 ? 1.8 : 1.3;
    fprintf(script, "plot $points using 1:2:3:4 with points pt variable ps %g*dot lc rgb variable notitle", size);
    if (has_paths(v->job))
        fputs(", \\\n $paths with lines lw 0.8 lc rgb '#444444' notitle, \\\n"
              " $starts with points pt 1 ps 3.5*dot lw 1.2 lc rgb '" CLI_INK "' notitle",
              script);
    if (v->job->k <= MOST_CENTERS) { /* rings, which hide no point */
        const double radius = v->job->k <= MOST_NAMED ? 5 : 3;
        fprintf(script,
                ", \\\n $centers with points pt 6 ps %g*dot lw 3 lc rgb '#ffffff' notitle"
                ", \\\n $centers with points pt 6 ps %g*dot lw 1.3 lc rgb '" CLI_INK "' notitle",
                radius, radius);
    }
    fputc('\n', script);
}

static bool prepare(const cli_cluster_job *job, view *v) {
    enum { ROOM = MOST_SAMPLED };
    char notes[512];
    const int64_t sampled = job->n < MOST_SAMPLED ? job->n : MOST_SAMPLED;
    *v = (view){.job = job, .rows = malloc(ROOM * sizeof *v->rows), .top = 64, .height = job->d > 1 ? 250 : 120};
    if (v->rows == NULL || (job->model.directions && !find_directions(v))) return false;
    const ts_points points = points_of(v);
    for (int64_t i = 0; i < sampled; i++) v->rows[i] = (int64_t)((double)i * ((double)job->n / (double)sampled));
    if (job->d > 2 && !cli_axes_find(sampled, v->rows, &points, &v->axes)) return false;
    find_ranges(v);
    v->left = job->d > 1 ? cli_drawing_y_room(&v->axis[1]) : RIGHT;
    v->width = CLI_COLUMN - v->left - RIGHT;
    v->shown = cli_thin_points(job->n, job->run.labels, place_of_row, v, MOST_POINTS, v->rows);
    write_notes(v, notes, sizeof notes);
    if (notes[0] == '\0') v->top -= KEY_LINE;
    plan_key(job, v);
    return v->shown >= 0;
}

static bool draw(const view *v, const char *path, ts_io_error *error) {
    cli_drawing d;
    const double bottom = v->top + v->height + CLI_X_ROOM;
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, (int)bottom + KEY_LINE * v->key_lines + 8, error)) return false;
    cli_drawing_place(&d, v->left, v->top, v->width, v->height);
    write_titles(&d, v);
    write_axes(&d, v);
    write_key(&d, v, bottom + 8);
    write_points(d.script, v);
    if (has_paths(v->job)) write_paths(d.script, v);
    write_centers(d.script, v);
    if (v->job->k <= MOST_NAMED) write_numbers(&d, v);
    write_drawing(d.script, v);
    return cli_drawing_end(&d, error);
}

bool cli_plot_clusters(const cli_cluster_job *job, const char *path, ts_io_error *error) {
    view v;
    bool done = prepare(job, &v);
    if (done)
        done = draw(&v, path, error);
    else
        snprintf(error->text, sizeof error->text, "plot: out of memory");
    cli_axes_free(&v.axes);
    free(v.rows);
    free(v.unit);
    return done;
}
