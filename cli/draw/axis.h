/* axis.h: the scale of an axis: how far it goes, where its tics stand and how their numbers are written. */
#ifndef CLI_AXIS_H
#define CLI_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CLI_AXIS_TEXT = 40, CLI_AXIS_MOST_TICS = 12 };

/* A linear axis. Tics are whole multiples of a round step. Numbers that differ only behind their fifth digit are
 * written as differences from an offset, very large and very small ones in units of a power of ten; the label names
 * both. */
typedef struct cli_axis {
    double low, high; /* what is shown, as written: (value - offset) / 10^power */
    double offset;
    int power;
    int tics;
    double tic[CLI_AXIS_MOST_TICS]; /* as written */
    char text[CLI_AXIS_MOST_TICS][CLI_AXIS_TEXT];
    char offset_text[CLI_AXIS_TEXT]; /* "" if it is 0 */
} cli_axis;

/* An axis that shows low..high and a little more, with some `tics` tics; one of a single value has one. */
cli_axis cli_axis_of(double low, double high, int tics);

/* A logarithmic axis of 0 < low <= high: tics at powers of ten, or nearer to one another where there are few of those.
 */
cli_axis cli_axis_log(double low, double high, int tics);

/* A value as it is written in the data of the picture. */
double cli_axis_place(const cli_axis *axis, double value);

/* "time - 1700000000, in units of 10⁶"; name shortened to `most` characters in all. Returns text. */
const char *cli_axis_label(const cli_axis *axis, const char *name, int most, char *text, size_t size);

/* Characters of the widest tic. */
int cli_axis_width(const cli_axis *axis);

/* The range and tics of axis "x", "y" or "cb" as gnuplot commands. */
void cli_axis_write(const cli_axis *axis, const char *which, FILE *script);

#endif
