#include "drawing.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "../common/message.h"
#include "../common/options.h"
#include "../common/short_text.h"
#include "gnuplot.h"

enum { LETTER = 56, DIGIT = 64 }; /* widths in hundredths of the size */
enum { BESIDE = 16 };             /* a name may be as much longer than its axis at either end */

static const char *ending_of(const char *path) {
    const size_t length = strlen(path);
    return length > 4 ? path + length - 4 : "";
}

int cli_drawing_check(const char *option, const char *path) {
    const char *ending = ending_of(path);
    if (strcasecmp(ending, ".svg") != 0 && strcasecmp(ending, ".png") != 0 && strcasecmp(ending, ".pdf") != 0)
        return cli_fail(CLI_WRONG_USE, "--%s: %s: the name must end in .svg, .png or .pdf", option, path);
    return cli_gnuplot_found() ? CLI_GO_ON : cli_fail(CLI_FAILED, "plot: gnuplot is not installed");
}

/* Terminals that look alike: a unit is a pixel (svg), three pixels (png), or 8.5 cm / 480 (pdf); point sizes differ. */
static void write_terminal(const cli_drawing *d) {
    static const double POINT = 8.5 / 2.54 * 72 / CLI_COLUMN; /* a unit in print */
    const char *ending = ending_of(d->path);
    fputs("set encoding utf8\nset terminal ", d->script);
    if (strcasecmp(ending, ".svg") == 0)
        fprintf(d->script, "svg size %d,%d fixed font 'sans,%d' background '#ffffff' name 'tessera'", d->width,
                d->height, CLI_PLAIN);
    else if (strcasecmp(ending, ".png") == 0)
        fprintf(d->script,
                "pngcairo size %d,%d font 'sans,%d' fontscale 2.25 linewidth 3 pointscale 3 background '#ffffff'",
                3 * d->width, 3 * d->height, CLI_PLAIN);
    else
        fprintf(d->script,
                "pdfcairo size %.4fin,%.4fin font 'sans,%d' fontscale %.4f linewidth %.4f pointscale %.4f background "
                "'#ffffff'",
                d->width * POINT / 72, d->height * POINT / 72, CLI_PLAIN, 0.75 * POINT, 2 * POINT, POINT);
    fprintf(d->script, " noenhanced\nunset output\n%s\n",
            strcasecmp(ending, ".svg") == 0 ? "dot = 0.2\nlift = 0.6" : "dot = 0.32\nlift = 0.3");
}

bool cli_drawing_begin(cli_drawing *d, const char *path, int width, int height, ts_io_error *error) {
    *d = (cli_drawing){.script = tmpfile(), .path = path, .width = width, .height = height};
    if (d->script == NULL) {
        snprintf(error->text, sizeof error->text, "plot: no room for temporary files");
        return false;
    }
    write_terminal(d);
    fprintf(d->script,
            "set border 3 lw 1 lc rgb '#666666'\n"
            "set tics out nomirror scale 0.5 textcolor rgb '" CLI_INK "' font ',%d'\n"
            "set grid back lw 0.7 lt 1 lc rgb '#e6e6e6'\nunset key\nunset colorbox\nset multiplot\n",
            CLI_SMALL);
    return true;
}

void cli_drawing_abandon(cli_drawing *d) {
    if (d->script != NULL) fclose(d->script);
    *d = (cli_drawing){0};
}

bool cli_drawing_end(cli_drawing *d, ts_io_error *error) {
    fputs("unset multiplot\n", d->script);
    const bool done = cli_gnuplot_run(d->script, d->path, error);
    cli_drawing_abandon(d);
    return done;
}

bool cli_drawing_fail_memory(ts_io_error *error) {
    snprintf(error->text, sizeof error->text, "plot: out of memory");
    return false;
}

void cli_drawing_place(const cli_drawing *d, const cli_box *b) {
    fprintf(d->script,
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\nset tmargin at screen %.5f\n"
            "set bmargin at screen %.5f\n",
            b->x / d->width, (b->x + b->width) / d->width, 1 - b->y / d->height, 1 - (b->y + b->height) / d->height);
}

void cli_drawing_next(const cli_drawing *d) {
    fputs("unset label\nunset arrow\n", d->script);
}

int cli_drawing_letters(double width, int size) {
    return (int)(width * 100 / (LETTER * size));
}

void cli_drawing_text(const cli_drawing *d, double x, double y, cli_align align, int size, double width,
                      const char *text) {
    static const char *const names[] = {"left", "center", "right", "center rotate by 90"};
    char shortened[1024];
    fputs("set label ", d->script);
    cli_gnuplot_string(d->script, cli_short_text(text, cli_drawing_letters(width, size), shortened, sizeof shortened));
    fprintf(d->script, " at screen %.5f,%.5f %s front font ',%d' textcolor rgb '" CLI_INK "'\n", x / d->width,
            1 - y / d->height, names[align], size);
}

void cli_drawing_line(const cli_drawing *d, double x, double y, int size, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    cli_drawing_text(d, x, y, CLI_LEFT, size, d->width - x, text);
}

double cli_drawing_y_room(const cli_axis *axis) {
    return 8 + CLI_PLAIN + 6 + cli_axis_width(axis) * CLI_SMALL * DIGIT / 100.0 + 12;
}

void cli_drawing_plot(const cli_drawing *d, const cli_box *b, const cli_axis *x, const char *x_name, const cli_axis *y,
                      const char *y_name, double room) {
    char label[1024];
    cli_drawing_place(d, b);
    cli_axis_write(x, "x", d->script);
    fputs("set xtics offset 0,lift\n", d->script);
    cli_axis_label(x, x_name, cli_drawing_letters(b->width, CLI_PLAIN), label, sizeof label);
    cli_drawing_text(d, b->x + b->width / 2, b->y + b->height + CLI_X_ROOM - 11, CLI_CENTER, CLI_PLAIN, d->width,
                     label);
    if (y == NULL) return;
    cli_axis_write(y, "y", d->script);
    cli_axis_label(y, y_name, cli_drawing_letters(b->height + 2 * BESIDE, CLI_PLAIN), label, sizeof label);
    cli_drawing_text(d, b->x - room + 8 + CLI_PLAIN / 2.0, b->y + b->height / 2, CLI_UPWARD, CLI_PLAIN, d->height,
                     label);
}

/* Blue, white, red by C. Brewer; viridis by S. van der Walt and N. Smith, which is even to the eye, in grey too. */
void cli_drawing_palette(const cli_drawing *d, bool is_signed) {
    fputs(is_signed ? "set palette defined (0 '#053061', 1 '#2166ac', 2 '#4393c3', 3 '#92c5de', 4 '#d1e5f0', 5 "
                      "'#f7f7f7', 6 '#fddbc7', 7 '#f4a582', 8 '#d6604d', 9 '#b2182b', 10 '#67001f')\n"
                    : "set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', 5 "
                      "'#27ad81', 6 '#5cc863', 7 '#aadc32', 8 '#fde725')\n",
          d->script);
}

void cli_drawing_key(const cli_drawing *d, double x, double y, int type, const char *color, const char *text) {
    if (type > 0)
        fprintf(d->script, "set label '' at screen %.5f,%.5f point pt %d ps %s*dot lw 1.4 lc rgb '%s'\n",
                (x + 6) / d->width, 1 - y / d->height, type, type == 7 ? "4" : "4.5", color);
    else
        fprintf(d->script, "set arrow from screen %.5f,%.5f rto screen %.5f,0 nohead lw 2 lc rgb '%s'\n", x / d->width,
                1 - y / d->height, 14.0 / d->width, color);
    cli_drawing_text(d, x + 18, y, CLI_LEFT, CLI_SMALL, d->width - x - 18, text);
}
