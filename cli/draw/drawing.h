/* drawing.h: what all pictures share: a page, its units, fonts, colours and texts, drawn by gnuplot.
 *
 * Lengths are units from the upper left corner; in an .svg pixels. */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include <stdbool.h>
#include <stdio.h>

#include "../../autograd/status.h"
#include "../../io/io_error.h"
#include "axis.h"

/* A column of a paper, 8.5 cm, is 480 units wide: text of 13 is then printed in 6.5 points. */
enum { CLI_COLUMN = 480, CLI_SMALL = 12, CLI_PLAIN = 13, CLI_LARGE = 15 };

/* One colour for Lloyd's algorithm and one for the transformer beside it in every picture, and some for others; all of
 * Okabe and Ito, which people of every colour vision tell apart. */
#define CLI_LLOYD_COLOR "#0072B2"
#define CLI_MODEL_COLOR "#D55E00"
#define CLI_GREEN "#009E73"
#define CLI_PURPLE "#CC79A7"
#define CLI_ORANGE "#E69F00"
#define CLI_SKY "#56B4E9"
#define CLI_INK "#222222"
#define CLI_GREY "#777777"

/* A picture being written. In the script `dot` is the size of a point with a radius of one unit: "ps 3*dot". */
typedef struct cli_drawing {
    FILE *script;
    const char *path;
    int width, height;
} cli_drawing;

/* Of --option: does the name end in .svg, .png or .pdf, and is gnuplot there? CLI_GO_ON, or an exit code. */
int cli_drawing_check(const char *option, const char *path);

bool cli_drawing_begin(cli_drawing *d, const char *path, int width, int height, ts_io_error *error);
/* Draws it. The same bytes for the same picture (.pdf: but for its date). */
bool cli_drawing_end(cli_drawing *d, ts_io_error *error);
/* Gives it up, or ends it, out of memory; false. */
void cli_drawing_abandon(cli_drawing *d);
bool cli_drawing_fail_memory(ts_io_error *error);

/* The next plot goes there. */
typedef struct cli_box {
    double x, y, width, height;
} cli_box;
void cli_drawing_place(const cli_drawing *d, const cli_box *box);

/* Texts, keys and arrows belong to the next plot; this ends it. */
void cli_drawing_next(const cli_drawing *d);

/* So many letters of a size fit into a width. */
int cli_drawing_letters(double width, int size);

typedef enum cli_align { CLI_LEFT, CLI_CENTER, CLI_RIGHT, CLI_UPWARD } cli_align;
/* A line of text, its middle at y, cut to `width` with "…". Upward text is centred at (x, y), and `width` is its
 * height. */
void cli_drawing_text(const cli_drawing *d, double x, double y, cli_align align, int size, double width,
                      const char *text);

/* The same as wide as the page has room right of x. */
void cli_drawing_line(const cli_drawing *d, double x, double y, int size, const char *format, ...) TS_PRINTF(5, 6);

/* The next plot goes there, with the tics, ranges and names of its axes: the name of x stands under the tics, that of y
 * at the left of the `room` left of the plot. y NULL: the plot has its own. */
void cli_drawing_plot(const cli_drawing *d, const cli_box *box, const cli_axis *x, const char *x_name,
                      const cli_axis *y, const char *y_name, double room);
/* What they need: left of the plot, and below. */
double cli_drawing_y_room(const cli_axis *axis);
enum { CLI_X_ROOM = 42 };

/* The colours of numbers from 0 on, or of those around 0; for tics and range axis "cb". */
void cli_drawing_palette(const cli_drawing *d, bool is_signed);

/* An entry of a key: a point of this type, or a line (0), in a colour, and its text right of it. */
void cli_drawing_key(const cli_drawing *d, double x, double y, int type, const char *color, const char *text);

#endif
