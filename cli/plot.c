#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cluster_job.h"
#include "gnuplot.h"
#include "message.h"
#include "principal_axes.h"

enum { MOST_POINTS = 20000, MOST_KEYS = 12, MOST_NUMBERED = 40 };

/* How rows of the job become positions in the picture. */
typedef struct view {
    const cli_cluster_job *job;
    int64_t shown; /* points drawn */
    int64_t *rows; /* [shown] */
    double *row;   /* [d] one of them */
    cli_axes axes; /* when d > 2 */
} view;

typedef enum format { FORMAT_SVG, FORMAT_PNG, FORMAT_PDF, FORMAT_NONE } format;

static format format_of(const char *path) {
    static const char *const ending[] = {".svg", ".png", ".pdf"};
    const size_t length = strlen(path);
    for (int f = 0; f < 3; f++)
        if (length > 4 && strcasecmp(path + length - 4, ending[f]) == 0) return (format)f;
    return FORMAT_NONE;
}

bool cli_plot_path_ok(const char *path) {
    return format_of(path) != FORMAT_NONE;
}

bool cli_plot_possible(void) {
    return cli_gnuplot_found();
}

static unsigned from_hue(double hue, double value) {
    unsigned color = 0;
    for (int channel = 0; channel < 3; channel++) {
        const double n = fmod(5 - 2 * channel + hue * 6, 6);
        const double part = value * (1 - 0.75 * fmax(0, fmin(fmin(n, 4 - n), 1)));
        color = color << 8 | (unsigned)lround(255 * part);
    }
    return color;
}

/* The colours of Okabe and Ito, which people of every colour vision tell apart; more by hue. */
static unsigned color_of(int64_t cluster) {
    static const unsigned okabe_ito[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                         0xE69F00, 0x56B4E9, 0xF0E442, 0x666666};
    if (cluster < 0) return 0xBBBBBB; /* trimmed */
    if (cluster < 8) return okabe_ito[cluster];
    return from_hue(fmod(0.618034 * (double)cluster, 1), cluster % 2 == 0 ? 0.85 : 0.6);
}

/* Black or white, whichever is read better on a colour. */
static unsigned text_color(unsigned color) {
    const double light = 0.299 * (color >> 16 & 255) + 0.587 * (color >> 8 & 255) + 0.114 * (color & 255);
    return light > 150 ? 0x000000 : 0xFFFFFF;
}

/* Where a point lies. `height` in (0,1) is its place across the strip when there is one feature only. */
static void position(const view *v, const double *x, double height, double xy[2]) {
    const cli_cluster_job *job = v->job;
    xy[0] = 0;
    xy[1] = height;
    for (int a = 0; a < 2 && a < job->d; a++)
        xy[a] =
            job->d > 2 ? cli_axes_project(&v->axes, a, x) : job->rescaling.shift[a] + job->rescaling.scale[a] * x[a];
}

static void write_points(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    const ts_points points = cli_cluster_job_points(job);
    fputs("$points << EOD\n", script);
    for (int64_t i = 0; i < v->shown; i++) {
        double xy[2];
        const int64_t row = v->rows[i];
        for (int64_t a = 0; a < job->d; a++) v->row[a] = ts_point_at(&points, row, a);
        position(v, v->row, 0.1 + 0.8 * fmod(0.6180339887 * (double)(i + 1), 1), xy);
        fprintf(script, "%.7g %.7g %u\n", xy[0], xy[1], 0x70000000u | color_of(job->run.labels[row]));
    }
    fputs("EOD\n", script);
}

/* The paths of the centres, a block each. */
static void write_paths(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    fputs("$starts << EOD\n", script);
    for (int64_t c = 0; c < job->k; c++) {
        double xy[2];
        position(v, job->run.path + c * job->d, 0.5, xy);
        fprintf(script, "%.9g %.9g\n", xy[0], xy[1]);
    }
    fputs("EOD\n$paths << EOD\n", script);
    for (int64_t c = 0; c < job->k; c++) {
        for (int64_t t = 0; t <= job->run.path_steps; t++) {
            double xy[2];
            position(v, job->run.path + (t * job->k + c) * job->d, 0.5, xy);
            fprintf(script, "%.9g %.9g\n", xy[0], xy[1]);
        }
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

static void write_centers(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    fputs("$centers << EOD\n", script);
    for (int64_t c = 0; c < job->k; c++) {
        double xy[2];
        position(v, job->run.centers + c * job->d, 0.5, xy);
        fprintf(script, "%.9g %.9g %u %lld %u\n", xy[0], xy[1], color_of(c), (long long)c, text_color(color_of(c)));
    }
    fputs("EOD\n", script);
}

static void write_terminal(FILE *script, format f) {
    static const char *const terminal[] = {
        "svg size 960,640 fixed font 'sans,15' background '#ffffff' name 'tessera'",
        "pngcairo size 1440,960 font 'sans,16' fontscale 1.1 linewidth 1.5 pointscale 1.5 background '#ffffff'",
        "pdfcairo size 9.6in,6.4in font 'sans,14' background '#ffffff'",
    };
    fprintf(script, "set encoding utf8\nset terminal %s noenhanced\n", terminal[f]);
    fputs("unset output\n"
          "set lmargin 9\nset tmargin 5\nset bmargin 4\n"
          "set border 3 lw 1 lc rgb '#666666'\n"
          "set tics nomirror out scale 0.6 textcolor rgb '#444444'\n"
          "set grid back lw 0.7 lt 1 lc rgb '#e6e6e6'\n"
          "set offsets graph 0.03, graph 0.03, graph 0.04, graph 0.04\n",
          script);
}

static void write_titles(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    const char *file = job->options->file, *slash = strrchr(file, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : cli_source_name(file);
    char text[512];
    const int digits = job->objective < 1e4 ? 4 : 7; /* 78.85 and 389565 rather than 3.896e+05 */
    snprintf(text, sizeof text, "%.300s: %lld cluster%s, objective %.*g", name, (long long)job->k,
             job->k == 1 ? "" : "s", digits,
             job->objective < 1e4 || job->objective >= 1e7 ? job->objective : round(job->objective));
    fputs("set label 1 ", script);
    cli_gnuplot_string(script, text);
    fputs(" at graph 0, graph 1 offset 0, 2.9 left font ',20' textcolor rgb '#111111'\n", script);
    snprintf(text, sizeof text, "%s as a transformer, %lld step%s",
             job->model.variant == ts_variants ? "Lloyd's algorithm" : cli_cluster_model_title(&job->model),
             (long long)job->run.steps, job->run.steps == 1 ? "" : "s");
    if (job->options->scaling != TS_SCALING_NONE)
        strcat(text,
               job->options->scaling == TS_SCALING_MINMAX ? "; features scaled to [0,1]" : "; features standardised");
    if (v->shown < job->n)
        snprintf(text + strlen(text), sizeof text - strlen(text), "; %lld of %lld points drawn", (long long)v->shown,
                 (long long)job->n);
    fputs("set label 2 ", script);
    cli_gnuplot_string(script, text);
    fputs(" at graph 0, graph 1 offset 0, 1.3 left font ',13' textcolor rgb '#555555'\n", script);
}

static void write_axes(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    for (int a = 0; a < 2; a++) {
        char number[80];
        const char *name = number;
        if (a == 1 && job->d == 1) break;
        if (job->d > 2)
            snprintf(number, sizeof number, "principal axis %d (%.0f %% of variance)", a + 1, 100 * v->axes.share[a]);
        else if (job->table.names != NULL)
            name = job->table.names[a];
        else
            snprintf(number, sizeof number, "column %d", a + 1);
        fprintf(script, "set %clabel ", a == 0 ? 'x' : 'y');
        cli_gnuplot_string(script, name);
        fputs(" textcolor rgb '#222222'\n", script);
    }
    if (job->d == 1)
        fputs("unset ytics\nset border 1\nset yrange [0:1]\nset offsets graph 0.03, graph 0.03, 0, 0\n", script);
}

static void write_key(FILE *script, const cli_cluster_job *job) {
    if (job->k > MOST_KEYS) {
        fputs("unset key\n", script);
        return;
    }
    fputs("set key outside right top vertical Left reverse samplen 1 spacing 1.25 textcolor rgb '#222222'\n", script);
    fputs("set key title 'cluster: rows' left\n", script);
}

static void write_drawing(FILE *script, const view *v) {
    const cli_cluster_job *job = v->job;
    const double size = v->shown <= 500 ? 0.8 : v->shown <= 5000 ? 0.5 : 0.3;
    fprintf(script, "plot $points using 1:2:3 with points pt 7 ps %g lc rgb variable notitle", size);
    if (job->run.path_steps > 0)
        fputs(", \\\n $paths with lines lw 1.4 lc rgb '#333333' notitle, \\\n"
              " $starts with points pt 7 ps 0.9 lc rgb '#ffffff' notitle, \\\n"
              " $starts with points pt 6 ps 0.9 lw 1.4 lc rgb '#333333' notitle",
              script);
    fprintf(script, ", \\\n $centers with points pt 7 ps %g lc rgb '#ffffff' notitle",
            job->k <= MOST_NUMBERED ? 2.7 : 1.9);
    fprintf(script, ", \\\n $centers with points pt 7 ps %g lc rgb '#222222' notitle",
            job->k <= MOST_NUMBERED ? 2.4 : 1.6);
    fprintf(script, ", \\\n $centers using 1:2:3 with points pt 7 ps %g lc rgb variable notitle",
            job->k <= MOST_NUMBERED ? 2.1 : 1.3);
    if (job->k <= MOST_NUMBERED)
        fputs(", \\\n $centers using 1:2:4:5 with labels font ',12' textcolor rgb variable notitle", script);
    for (int64_t c = 0; job->k <= MOST_KEYS && c < job->k; c++)
        fprintf(script, ", \\\n NaN with points pt 7 ps 1.6 lc rgb '#%06X' title '%lld: %lld'", color_of(c),
                (long long)c, (long long)job->sizes[c]);
    if (job->k <= MOST_KEYS && job->run.trimmed > 0)
        fprintf(script, ", \\\n NaN with points pt 7 ps 1.6 lc rgb '#BBBBBB' title 'trimmed: %lld'",
                (long long)job->run.trimmed);
    if (job->k <= MOST_KEYS && job->run.path_steps > 0)
        fputs(", \\\n NaN with points pt 6 ps 1.1 lw 1.4 lc rgb '#333333' title 'start of a centre'", script);
    fputs("\n", script);
}

static bool prepare(const cli_cluster_job *job, view *v) {
    *v = (view){.job = job, .shown = job->n < MOST_POINTS ? job->n : MOST_POINTS};
    v->rows = malloc((size_t)v->shown * sizeof *v->rows);
    v->row = malloc((size_t)job->d * sizeof *v->row);
    if (v->rows == NULL || v->row == NULL) return false;
    for (int64_t i = 0; i < v->shown; i++) v->rows[i] = (int64_t)((double)i * ((double)job->n / (double)v->shown));
    const ts_points points = cli_cluster_job_points(job);
    return job->d <= 2 || cli_axes_find(v->shown, v->rows, &points, &v->axes);
}

bool cli_plot_clusters(const cli_cluster_job *job, const char *path, ts_io_error *error) {
    view v;
    FILE *script = tmpfile();
    bool done = false;
    const bool room = prepare(job, &v);
    if (script != NULL && room) {
        write_terminal(script, format_of(path));
        write_titles(script, &v);
        write_axes(script, &v);
        write_key(script, job);
        write_points(script, &v);
        write_paths(script, &v);
        write_centers(script, &v);
        write_drawing(script, &v);
        done = cli_gnuplot_run(script, path, error);
    } else {
        snprintf(error->text, sizeof error->text, "plot: %s", room ? "no room for temporary files" : "out of memory");
    }
    if (script != NULL) fclose(script);
    cli_axes_free(&v.axes);
    free(v.rows);
    free(v.row);
    return done;
}
