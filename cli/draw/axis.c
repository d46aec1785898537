#include "axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/number_text.h"
#include "../common/short_text.h"

/* v 10^power, even if 10^power overflows or underflows. */
static double times_power(double v, int power) {
    const int half = power / 2;
    return power < 0 ? v / pow(10, -half) / pow(10, half - power) : v * pow(10, half) * pow(10, power - half);
}

double cli_axis_place(const cli_axis *axis, double value) {
    return times_power(value - axis->offset, -axis->power);
}

/* floor(log10(x)) for x > 0: 1 for 10 to 99. */
static int power_of(double x) {
    return (int)floor(log10(x) + 1e-9);
}

/* The number 1, 2 or 5 times a power of ten whose ratio to x is nearest to 1. */
static double round_step(double wanted) {
    const double unit = pow(10, power_of(wanted)), times = wanted / unit;
    return unit * (times < sqrt(2) ? 1 : times < sqrt(10) ? 2 : times < sqrt(50) ? 5 : 10);
}

/* A multiple of 10^power in digits, if they are few. */
static void write_multiple(double value, int power, char text[CLI_AXIS_TEXT]) {
    if (power >= 0 && fabs(value) < 1e15)
        snprintf(text, CLI_AXIS_TEXT, "%.0f", value);
    else if (power < 0 && power >= -15 && fabs(value) < 1e15)
        snprintf(text, CLI_AXIS_TEXT, "%.*f", -power, value);
    else
        snprintf(text, CLI_AXIS_TEXT, "%.*g", power_of(fabs(value)) - power + 1, value);
    if (strchr(text, '.') == NULL || strchr(text, 'e') != NULL) return;
    char *end = text + strlen(text);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') end[-1] = '\0';
}

/* If tics differ only from the fifth digit on, they are labelled by differences from a rounded number. */
static void choose_offset(cli_axis *axis, double low, double high) {
    const double span = high - low;
    if (fmax(fabs(low), fabs(high)) < 1e4 * span) return;
    const int power = (int)ceil(log10(span) - 1e-9);
    write_multiple(times_power(floor(times_power(low, -power)), power), power, axis->offset_text);
    axis->offset = strtod(axis->offset_text, NULL);
}

static void choose_power(cli_axis *axis, double low, double high) {
    const double largest = fmax(fabs(low - axis->offset), fabs(high - axis->offset));
    if (largest >= 1e6 || high - low < 1e-3) axis->power = (int)floor(power_of(largest) / 3.0) * 3;
}

static void add_tic(cli_axis *axis, double at, const char *text) {
    if (axis->tics == CLI_AXIS_MOST_TICS) return;
    axis->tic[axis->tics] = at;
    cli_short_text(text, CLI_AXIS_TEXT - 1, axis->text[axis->tics++], CLI_AXIS_TEXT);
}

static void add_number(cli_axis *axis, double at, int decimals) {
    char text[CLI_AXIS_TEXT];
    snprintf(text, sizeof text, "%.*f", decimals, at);
    add_tic(axis, at, text);
}

/* A single value is written in full, or in the label. */
static void choose_single(cli_axis *axis, double value) {
    char text[CLI_AXIS_TEXT];
    cli_number_text(value, text);
    if (strlen(text) > 6) {
        axis->offset = value;
        snprintf(axis->offset_text, sizeof axis->offset_text, "%s", text);
        snprintf(text, sizeof text, "0");
    }
    const double at = value - axis->offset, half = fabs(at) > 0 ? fabs(at) / 2 : 1;
    axis->low = at - half;
    axis->high = at + half;
    add_tic(axis, at, text);
}

/* Tics at whole multiples of a round step. */
static void add_even(cli_axis *axis, int tics) {
    const double step = round_step((axis->high - axis->low) / tics);
    const int power = power_of(step);
    axis->tics = 0;
    for (double i = ceil(axis->low / step - 1e-9); i * step <= axis->high + 1e-9 * step; i++)
        add_number(axis, i * step + 0.0, power < 0 ? -power : 0);
}

cli_axis cli_axis_of(double low, double high, int tics) {
    cli_axis axis = {0};
    if (!(high > low)) {
        choose_single(&axis, low);
        return axis;
    }
    choose_offset(&axis, low, high);
    choose_power(&axis, low, high);
    low = cli_axis_place(&axis, low);
    high = cli_axis_place(&axis, high);
    axis.low = low - 0.04 * (high - low);
    axis.high = high + 0.04 * (high - low);
    add_even(&axis, tics);
    return axis;
}

/* 10^power as text: 1, 10, .01 as 0.01, beyond as 10⁻⁷. */
static void write_power(int power, char text[CLI_AXIS_TEXT]) {
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(power));
    snprintf(text, CLI_AXIS_TEXT, "10%s", power < 0 ? "⁻" : "");
    for (const char *c = digits; *c != '\0'; c++) strcat(text, raised[*c - '0']);
}

/* Adds a tic at times * 10^power, in digits if `plain`. */
static void add_round(cli_axis *axis, int power, int times, bool plain) {
    char text[CLI_AXIS_TEXT], number[2 * CLI_AXIS_TEXT];
    write_power(power, text);
    if (plain)
        snprintf(number, sizeof number, "%.*f", power < 0 ? -power : 0, times * pow(10, power));
    else if (times > 1)
        snprintf(number, sizeof number, "%d·%s", times, text);
    else
        snprintf(number, sizeof number, "%s", text);
    add_tic(axis, times * pow(10, power), number);
}

/* Tics for about a decade or less, without those too close to the one before. */
static void add_near(cli_axis *axis, double least) {
    static const double times[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
    double before = 0;
    for (int power = power_of(axis->low); power <= power_of(axis->high); power++)
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            char text[CLI_AXIS_TEXT];
            const double at = times[i] * pow(10, power);
            if (at < axis->low || at > axis->high || at < before * least) continue;
            snprintf(text, sizeof text, "%.6g", at);
            add_tic(axis, at, text);
            before = at;
        }
}

/* Powers of ten: every second, third, ... if there are many; also 2 and 5 times them if there are at most two. */
static void add_decades(cli_axis *axis, int tics) {
    static const int times[] = {1, 2, 5};
    const int first = (int)ceil(log10(axis->low) - 1e-9), last = power_of(axis->high), few = last - first < 2;
    const int stride = last - first > tics ? (last - first + tics - 1) / tics : 1;
    const bool plain = first >= -4 && last <= 5;
    for (int power = few ? first - 1 : first; power <= last; power += stride)
        for (int i = 0; i < (few ? 3 : 1); i++) {
            const double at = times[i] * pow(10, power);
            if (at >= axis->low && at <= axis->high) add_round(axis, power, times[i], plain);
        }
}

cli_axis cli_axis_log(double low, double high, int tics) {
    cli_axis axis = {0};
    const double margin = high > low ? pow(high / low, 0.05) : 2;
    axis.low = low / margin;
    axis.high = high * margin;
    const double ratio = axis.high / axis.low;
    if (ratio > 20)
        add_decades(&axis, tics);
    else
        add_near(&axis, pow(ratio, 0.45 / tics));
    if (axis.tics < 2) add_even(&axis, tics);
    return axis;
}

const char *cli_axis_label(const cli_axis *axis, const char *name, int most, char *text, size_t size) {
    char more[3 * CLI_AXIS_TEXT] = "", power[CLI_AXIS_TEXT], shortened[512];
    if (axis->offset_text[0] != '\0')
        snprintf(more, sizeof more, " %c %s", axis->offset < 0 ? '+' : '-',
                 axis->offset_text + (axis->offset_text[0] == '-'));
    if (axis->power != 0) {
        write_power(axis->power, power);
        snprintf(more + strlen(more), sizeof more - strlen(more), ", in units of %s", power);
    }
    cli_short_text(name, most - cli_text_width(more), shortened, sizeof shortened);
    snprintf(text, size, "%s%s", shortened, more);
    return text;
}

int cli_axis_width(const cli_axis *axis) {
    int width = 0;
    for (int i = 0; i < axis->tics; i++) {
        const int own = cli_text_width(axis->text[i]);
        width = own > width ? own : width;
    }
    return width;
}

void cli_axis_write(const cli_axis *axis, const char *which, FILE *script) {
    fprintf(script, "set %srange [%.9g:%.9g]\nset %stics (", which, axis->low, axis->high, which);
    for (int i = 0; i < axis->tics; i++) fprintf(script, "%s'%s' %.9g", i > 0 ? ", " : "", axis->text[i], axis->tic[i]);
    fputs(")\n", script);
}
