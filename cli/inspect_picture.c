#include "inspect_picture.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "gnuplot.h"

static void write_terminal(const cli_picture *p) {
    const char *ending = p->path + strlen(p->path) - 4;
    fputs("set encoding utf8\nset terminal ", p->script);
    if (strcasecmp(ending, ".svg") == 0)
        fprintf(p->script, "svg size %d,%d fixed font 'sans,12' background '#ffffff' name 'tessera'", p->width,
                p->height);
    else if (strcasecmp(ending, ".png") == 0)
        fprintf(p->script, "pngcairo size %d,%d font 'sans,12' fontscale 1.1 linewidth 1.5 background '#ffffff'",
                p->width * 3 / 2, p->height * 3 / 2);
    else
        fprintf(p->script, "pdfcairo size %.2fin,%.2fin font 'sans,12' background '#ffffff'", p->width / 100.0,
                p->height / 100.0);
    fputs(" noenhanced\nunset output\n"
          "set border 15 lw 0.7 lc rgb '#888888'\nunset tics\nunset key\nunset colorbox\nset multiplot\n",
          p->script);
}

bool cli_picture_begin(cli_picture *p, const char *path, int width, int height, ts_io_error *error) {
    *p = (cli_picture){.script = tmpfile(), .path = path, .width = width, .height = height};
    if (p->script != NULL) {
        write_terminal(p);
        return true;
    }
    snprintf(error->text, sizeof error->text, "plot: no room for temporary files");
    return false;
}

/* Blue, white, red by C. Brewer; viridis by S. van der Walt and N. Smith, which is even to the eye. */
static void use_palette(const cli_picture *p, bool is_signed) {
    fputs(is_signed ? "set palette defined (0 '#053061', 1 '#2166ac', 2 '#4393c3', 3 '#92c5de', 4 '#d1e5f0', 5 "
                      "'#f7f7f7', 6 '#fddbc7', 7 '#f4a582', 8 '#d6604d', 9 '#b2182b', 10 '#67001f')\n"
                    : "set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', 5 "
                      "'#27ad81', 6 '#5cc863', 7 '#aadc32', 8 '#fde725')\n",
          p->script);
    fprintf(p->script, "set cbrange [%d:1]\n", is_signed ? -1 : 0);
}

static void place(const cli_picture *p, int x, int y, int width, int height) {
    fprintf(p->script,
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\nset tmargin at screen %.5f\n"
            "set bmargin at screen %.5f\n",
            (double)x / p->width, (double)(x + width) / p->width, 1 - (double)y / p->height,
            1 - (double)(y + height) / p->height);
}

static void write_text(const cli_picture *p, const char *what, const char *text, const char *more) {
    if (text == NULL) {
        fprintf(p->script, "unset %s\n", what);
        return;
    }
    fprintf(p->script, "set %s ", what);
    cli_gnuplot_string(p->script, text);
    fprintf(p->script, " %s textcolor rgb '#222222'\n", more);
}

static void write_lines(const cli_picture *p, const cli_picture_map *map, int64_t down, int64_t across) {
    static const char *const style = "nohead front lw 0.7 lc rgb '#777777'";
    for (int64_t i = 0; i < map->n_lines_x; i++) {
        const double x = (double)(map->lines_x[i] * across) - 0.5;
        fprintf(p->script, "set arrow from %.1f,graph 0 to %.1f,graph 1 %s\n", x, x, style);
    }
    for (int64_t i = 0; i < map->n_lines_y; i++) {
        const double y = (double)(map->lines_y[i] * down) - 0.5;
        fprintf(p->script, "set arrow from graph 0,first %.1f to graph 1,first %.1f %s\n", y, y, style);
    }
}

/* Viewers blur images between the centres of their pixels, so that each element becomes many. */
static int64_t fineness(int64_t cells, int length) {
    return cells >= length ? 1 : (length + cells - 1) / cells;
}

static void write_values(const cli_picture *p, const cli_picture_map *map, int64_t down, int64_t across) {
    fprintf(p->script, "$map%d << EOD\n", p->maps);
    for (int64_t r = 0; r < map->rows * down; r++) {
        for (int64_t c = 0; c < map->columns; c++) {
            const double value = fmax(-1, fmin(1, map->values[r / down * map->columns + c]));
            for (int64_t i = 0; i < across; i++) fprintf(p->script, "%.3g ", value);
        }
        fputc('\n', p->script);
    }
    fputs("EOD\n", p->script);
}

void cli_picture_add(cli_picture *p, const cli_picture_map *map) {
    const int64_t down = fineness(map->rows, map->height), across = fineness(map->columns, map->width);
    write_values(p, map, down, across);
    use_palette(p, map->is_signed);
    place(p, map->x, map->y, map->width, map->height);
    write_text(p, "title", map->title, "offset 0,-0.6");
    write_text(p, "xlabel", map->x_label, "offset 0,0.3 font ',10'");
    write_text(p, "ylabel", map->y_label, "offset 1.2,0 font ',10'");
    write_lines(p, map, down, across);
    fprintf(p->script,
            "set xrange [-0.5:%lld.5]\nset yrange [%lld.5:-0.5]\nplot $map%d matrix with image\n"
            "unset arrow\nunset label\nundefine $map%d\n",
            (long long)(map->columns * across - 1), (long long)(map->rows * down - 1), p->maps, p->maps);
    p->maps++;
}

void cli_picture_text(cli_picture *p, int x, int y, cli_align align, int size, const char *text) {
    static const char *const names[] = {"left", "center", "right"};
    fputs("set label ", p->script);
    cli_gnuplot_string(p->script, text);
    fprintf(p->script, " at screen %.5f,%.5f %s front font ',%d' textcolor rgb '#222222'\n", (double)x / p->width,
            1 - (double)y / p->height, names[align], size);
}

void cli_picture_key(cli_picture *p, int x, int y, bool is_signed, const char *low, const char *high) {
    enum { SHADES = 101, WIDTH = 160, HEIGHT = 10 };
    double shade[SHADES];
    for (int i = 0; i < SHADES; i++) shade[i] = (double)i / (SHADES - 1) * (is_signed ? 2 : 1) - is_signed;
    cli_picture_text(p, x - 6, y + HEIGHT / 2, CLI_RIGHT, 10, low);
    cli_picture_text(p, x + WIDTH + 6, y + HEIGHT / 2, CLI_LEFT, 10, high);
    cli_picture_add(p, &(cli_picture_map){.x = x,
                                          .y = y,
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .rows = 1,
                                          .columns = SHADES,
                                          .values = shade,
                                          .is_signed = is_signed});
}

bool cli_picture_end(cli_picture *p, ts_io_error *error) {
    fputs("unset multiplot\n", p->script);
    const bool done = cli_gnuplot_run(p->script, p->path, error);
    fclose(p->script);
    return done;
}
