#include "cluster_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/data/principal_axes.h"
#include "../../models/data/row_distance.h"
#include "../common/number_text.h"
#include "../common/short_text.h"
#include "drawing.h"
#include "gnuplot.h"
#include "label_places.h"
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

/* How points become places in the picture. */
typedef struct view {
    const cli_cluster_picture *p;
    int64_t n, d, k;
    int64_t shown;          /* points drawn */
    int64_t *rows;          /* [shown] */
    double *unit;           /* [n,d] the directions of the points, where those are clustered; else NULL */
    ts_principal_axes axes; /* when d > 2 */
    cli_axis axis[2];
    cli_box box; /* of the plot */
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

/* The place of point i; with one feature `height` in (0,1) is its place across the strip. */
static void position(const view *v, const ts_points *points, int64_t i, double height, double xy[2]) {
    xy[0] = 0;
    xy[1] = height;
    for (int a = 0; a < 2 && a < v->d; a++)
        if (v->d > 2)
            xy[a] = ts_principal_axes_project(&v->axes, a, points, i);
        else
            xy[a] = v->unit != NULL ? ts_point_at(points, i, a)
                                    : v->p->shift[a] + v->p->scale[a] * ts_point_at(points, i, a);
}

/* The points as they are clustered: their directions if those are. */
static ts_points points_of(const view *v) {
    ts_points points = v->p->points;
    if (v->unit != NULL) points.exact = v->unit;
    return points;
}

static ts_points centers_of(const view *v, const double *centers) {
    return (ts_points){v->k, v->d, NULL, centers};
}

static bool find_directions(view *v) {
    const ts_points *points = &v->p->points;
    v->unit = malloc((size_t)(v->n * v->d) * sizeof *v->unit);
    for (int64_t i = 0; v->unit != NULL && i < v->n; i++) {
        const double length = ts_point_length(points, i);
        for (int64_t a = 0; a < v->d; a++) v->unit[i * v->d + a] = ts_point_at(points, i, a) / length;
    }
    return v->unit != NULL;
}

static void position_of_row(const view *v, int64_t row, double xy[2]) {
    const ts_points points = points_of(v);
    position(v, &points, row, 0.1 + 0.8 * fmod(0.6180339887 * (double)(row + 1), 1), xy);
}

/* A place in units of the picture, from the upper left corner of the plot. */
static void to_units(const view *v, const double xy[2], double at[2]) {
    const double size[2] = {v->box.width, v->box.height};
    for (int a = 0; a < 2; a++) {
        const cli_axis *axis = &v->axis[a];
        at[a] = size[a] * (cli_axis_place(axis, xy[a]) - axis->low) / (axis->high - axis->low);
    }
    at[1] = v->box.height - at[1];
}

static void place_of_row(const void *context, int64_t row, double at[2]) {
    double xy[2];
    position_of_row(context, row, xy);
    to_units(context, xy, at);
}

static bool has_paths(const view *v) {
    return v->p->path_steps > 0 && v->k <= MOST_PATHS;
}

static void widen(const view *v, const ts_points *points, int64_t count, double range[2][2]) {
    for (int64_t i = 0; i < count; i++) {
        double xy[2];
        position(v, points, i, 0.5, xy);
        for (int a = 0; a < 2; a++) {
            range[a][0] = fmin(range[a][0], xy[a]);
            range[a][1] = fmax(range[a][1], xy[a]);
        }
    }
}

static void find_ranges(view *v) {
    const ts_points points = points_of(v), centers = centers_of(v, v->p->centers), path = centers_of(v, v->p->path);
    double range[2][2] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    widen(v, &points, v->n, range);
    widen(v, &centers, v->k, range);
    if (has_paths(v)) widen(v, &path, (v->p->path_steps + 1) * v->k, range);
    v->axis[0] = cli_axis_of(range[0][0], range[0][1], 6);
    v->axis[1] = v->d > 1 ? cli_axis_of(range[1][0], range[1][1], 5) : (cli_axis){.high = 1};
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

static void write_place(FILE *script, const view *v, const double xy[2]) {
    fprintf(script, "%.9g %.9g", cli_axis_place(&v->axis[0], xy[0]), cli_axis_place(&v->axis[1], xy[1]));
}

static void write_points(FILE *script, const view *v) {
    fputs("$points << EOD\n", script);
    for (int64_t i = 0; i < v->shown; i++) {
        double xy[2];
        const int64_t label = v->p->labels[v->rows[i]];
        position_of_row(v, v->rows[i], xy);
        write_place(script, v, xy);
        fprintf(script, " %d %u\n", shape_of(label), (label < 0 ? 0 : 0x40000000u) | color_of(label));
    }
    fputs("EOD\n", script);
}

static void write_center(FILE *script, const view *v, const double *centers, int64_t i) {
    const ts_points points = centers_of(v, centers);
    double xy[2];
    position(v, &points, i, 0.5, xy);
    write_place(script, v, xy);
    fputc('\n', script);
}

static void write_centers(FILE *script, const view *v, const char *block, const double *centers) {
    fprintf(script, "$%s << EOD\n", block);
    for (int64_t c = 0; c < v->k; c++) write_center(script, v, centers, c);
    fputs("EOD\n", script);
}

/* The paths of the centres, a block each. */
static void write_paths(FILE *script, const view *v) {
    write_centers(script, v, "starts", v->p->path);
    fputs("$paths << EOD\n", script);
    for (int64_t c = 0; c < v->k; c++) {
        for (int64_t t = 0; t <= v->p->path_steps; t++) write_center(script, v, v->p->path, t * v->k + c);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

/* The numbers beside the centres, with lines to those placed farther away. */
static void write_numbers(const cli_drawing *d, const view *v) {
    enum { DIGIT = 8, LETTERS = 10, NEAR = 22 };
    cli_label_place labels[MOST_NAMED];
    const ts_points centers = centers_of(v, v->p->centers);
    for (int64_t c = 0; c < v->k; c++) {
        double xy[2];
        position(v, &centers, c, 0.5, xy);
        to_units(v, xy, labels[c].point);
        labels[c].width = c < 10 ? DIGIT : 2 * DIGIT;
        labels[c].height = LETTERS;
    }
    fputs("set style textbox opaque noborder fillcolor rgb '#40ffffff' margins 0.2,0.2\n", d->script);
    cli_place_labels(v->k, labels, v->box.width, v->box.height);
    for (int64_t c = 0; c < v->k; c++) {
        const double x = v->box.x + labels[c].middle[0], y = v->box.y + labels[c].middle[1];
        const double along = labels[c].middle[0] - labels[c].point[0], up = labels[c].point[1] - labels[c].middle[1];
        fprintf(d->script, "set label '%lld' at screen %.5f,%.5f center front boxed font ',%d' textcolor rgb '%s'\n",
                (long long)c, x / d->width, 1 - y / d->height, CLI_SMALL, CLI_INK);
        if (hypot(along, up) > NEAR)
            fprintf(d->script, "set arrow from screen %.5f,%.5f rto screen %.5f,%.5f nohead lw 0.6 lc rgb '%s'\n",
                    (x - along) / d->width, 1 - (y + up) / d->height, 0.7 * along / d->width, 0.7 * up / d->height,
                    CLI_GREY);
    }
}

static void add_note(char *text, size_t size, const char *note) {
    snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] != '\0' ? "; " : "", note);
}

/* Notes: how the data were scaled, which points are drawn and where. */
static void write_notes(const view *v, char *text, size_t size) {
    char drawn[80];
    text[0] = '\0';
    if (v->p->scaling != NULL) add_note(text, size, v->p->scaling);
    snprintf(drawn, sizeof drawn, "%lld of %lld points drawn", (long long)v->shown, (long long)v->n);
    if (v->shown < v->n) add_note(text, size, drawn);
    if (v->unit != NULL) add_note(text, size, "directions: points on the unit sphere");
    if (v->d == 1) add_note(text, size, "vertical position means nothing");
}

/* "iris.csv: 3 clusters, objective 78.85"; a long name is shortened. */
static void write_titles(const cli_drawing *d, const view *v) {
    const cli_cluster_picture *p = v->p;
    const char *slash = strrchr(p->file, '/'), *name = slash != NULL && slash[1] != '\0' ? slash + 1 : p->file;
    const int digits = p->objective < 1e4 ? 4 : 7; /* 78.85 and 389565 rather than 3.896e+05 */
    char text[512], more[96];
    snprintf(more, sizeof more, ": %lld cluster%s, objective %.*g", CLI_COUNT(v->k), digits,
             p->objective < 1e4 || p->objective >= 1e7 ? p->objective : round(p->objective));
    const int room = cli_drawing_letters(d->width - v->box.x - RIGHT, CLI_LARGE) - (int)strlen(more);
    cli_drawing_line(d, v->box.x, 16, CLI_LARGE, "%s%s", cli_short_text(name, room, text, sizeof text), more);
    cli_drawing_line(d, v->box.x, 35, CLI_SMALL, "%s as a transformer, %lld step%s", p->algorithm, CLI_COUNT(p->steps));
    write_notes(v, text, sizeof text);
    if (text[0] != '\0') cli_drawing_line(d, v->box.x, 52, CLI_SMALL, "%s", text);
}

static void write_axes(const cli_drawing *d, const view *v) {
    char number[2][80];
    const char *name[2] = {number[0], number[1]};
    for (int a = 0; a < 2 && a < v->d; a++)
        if (v->d > 2)
            snprintf(number[a], sizeof number[a], "principal axis %d (%.0f %% of variance)", a + 1,
                     100 * v->axes.share[a]);
        else if (v->p->names != NULL)
            name[a] = v->p->names[a];
        else
            snprintf(number[a], sizeof number[a], "column %d", a + 1);
    cli_drawing_plot(d, &v->box, &v->axis[0], name[0], v->d > 1 ? &v->axis[1] : NULL, name[1], v->box.x);
    if (v->d == 1) fputs("unset ytics\nset border 1\nset yrange [0:1]\n", d->script);
}

/* ---- the key, below the plot ------------------------------------------------------------------------------------- */

static const char *rows_text(const view *v, int64_t cluster, char text[48]) {
    snprintf(text, 48, "%lld: %lld", (long long)cluster, (long long)v->p->sizes[cluster]);
    return text;
}

/* The key: one line for marks, then the clusters in columns. */
static void plan_key(view *v) {
    char text[48];
    size_t widest = 4;
    for (int64_t c = 0; c < v->k && v->k <= MOST_NAMED; c++) {
        const size_t length = strlen(rows_text(v, c, text));
        widest = length > widest ? length : widest;
    }
    v->key_columns = (int)(v->box.width / (26 + 7.5 * (double)widest));
    if (v->key_columns < 1) v->key_columns = 1;
    v->key_lines = v->k > MOST_NAMED ? 1 : 1 + ((int)v->k + v->key_columns - 1) / v->key_columns;
}

static void write_key(const cli_drawing *d, const view *v, double top) {
    enum { CENTER = 110, START = 70 };
    const bool named = v->k <= MOST_NAMED;
    double x = v->box.x;
    char text[48], color[16];
    if (named) cli_drawing_text(d, x, top, CLI_LEFT, CLI_SMALL, CENTER, "cluster: rows");
    if (named) x += CENTER;
    if (v->k <= MOST_CENTERS) cli_drawing_key(d, x, top, 6, CLI_INK, "centre");
    if (v->k <= MOST_CENTERS) x += START;
    if (has_paths(v)) cli_drawing_key(d, x, top, 1, CLI_INK, "its start");
    if (has_paths(v)) x += START + 14;
    snprintf(text, sizeof text, "trimmed: %lld", (long long)v->p->trimmed);
    snprintf(color, sizeof color, "#%06X", TRIMMED_COLOR);
    if (v->p->trimmed > 0) cli_drawing_key(d, x, top, TRIMMED_SHAPE, color, text);
    for (int c = 0; named && c < v->k; c++) {
        snprintf(color, sizeof color, "#%06X", color_of(c));
        cli_drawing_key(d, v->box.x + v->box.width / v->key_columns * (c % v->key_columns),
                        top + KEY_LINE * (1 + c / v->key_columns), shape_of(c), color, rows_text(v, c, text));
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void write_drawing(FILE *script, const view *v) {
    const double size = v->shown <= 500 ? 2.4 : v->shown <= 2000 ? 1.8 : 1.3;
    fprintf(script, "plot $points using 1:2:3:4 with points pt variable ps %g*dot lc rgb variable notitle", size);
    if (has_paths(v))
        fputs(", \\\n $paths with lines lw 0.8 lc rgb '#444444' notitle, \\\n"
              " $starts with points pt 1 ps 3.5*dot lw 1.2 lc rgb '" CLI_INK "' notitle",
              script);
    if (v->k <= MOST_CENTERS) { /* rings, which hide no point */
        const double radius = v->k <= MOST_NAMED ? 5 : 3;
        fprintf(script,
                ", \\\n $centers with points pt 6 ps %g*dot lw 3 lc rgb '#ffffff' notitle"
                ", \\\n $centers with points pt 6 ps %g*dot lw 1.3 lc rgb '" CLI_INK "' notitle",
                radius, radius);
    }
    fputc('\n', script);
}

static bool prepare(const cli_cluster_picture *p, view *v) {
    char notes[512];
    *v = (view){.p = p, .n = p->points.n, .d = p->points.d, .k = p->k, .rows = malloc(MOST_SAMPLED * sizeof *v->rows)};
    if (v->rows == NULL || (p->directions && !find_directions(v))) return false;
    const int64_t sampled = v->n < MOST_SAMPLED ? v->n : MOST_SAMPLED;
    const ts_points points = points_of(v);
    for (int64_t i = 0; i < sampled; i++) v->rows[i] = (int64_t)((double)i * ((double)v->n / (double)sampled));
    if (v->d > 2 && !ts_principal_axes_find(sampled, v->rows, &points, &v->axes)) return false;
    find_ranges(v);
    v->box =
        (cli_box){.x = v->d > 1 ? cli_drawing_y_room(&v->axis[1]) : RIGHT, .y = 64, .height = v->d > 1 ? 250 : 120};
    v->box.width = CLI_COLUMN - v->box.x - RIGHT;
    v->shown = cli_thin_points(v->n, p->labels, place_of_row, v, MOST_POINTS, v->rows);
    write_notes(v, notes, sizeof notes);
    if (notes[0] == '\0') v->box.y -= KEY_LINE;
    plan_key(v);
    return v->shown >= 0;
}

static bool draw(const view *v, const char *path, ts_io_error *error) {
    cli_drawing d;
    const double bottom = v->box.y + v->box.height + CLI_X_ROOM;
    if (!cli_drawing_begin(&d, path, CLI_COLUMN, (int)bottom + KEY_LINE * v->key_lines + 8, error)) return false;
    write_titles(&d, v);
    write_axes(&d, v);
    write_key(&d, v, bottom + 8);
    write_points(d.script, v);
    if (has_paths(v)) write_paths(d.script, v);
    write_centers(d.script, v, "centers", v->p->centers);
    if (v->k <= MOST_NAMED) write_numbers(&d, v);
    write_drawing(d.script, v);
    return cli_drawing_end(&d, error);
}

bool cli_plot_clusters(const cli_cluster_picture *picture, const char *path, ts_io_error *error) {
    view v;
    const bool done = prepare(picture, &v) ? draw(&v, path, error) : cli_drawing_fail_memory(error);
    ts_principal_axes_free(&v.axes);
    free(v.rows);
    free(v.unit);
    return done;
}
