#include "number_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *cli_number_text(double value, char text[CLI_NUMBER_TEXT]) {
    const double number = value + 0.0; /* -0 becomes 0 */
    for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, CLI_NUMBER_TEXT, "%.*g", digits, number);
        const double back = strtod(text, NULL);
        if (!(back < number) && !(back > number)) break;
    }
    return text;
}

const char *cli_any_number(double value, char text[CLI_NUMBER_TEXT]) {
    if (isfinite(value)) return cli_number_text(value, text);
    snprintf(text, CLI_NUMBER_TEXT, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"); /* never -nan */
    return text;
}

const char *cli_ratio_text(double value, char text[CLI_NUMBER_TEXT]) {
    if (isnan(value))
        snprintf(text, CLI_NUMBER_TEXT, "nan"); /* not -nan */
    else
        snprintf(text, CLI_NUMBER_TEXT, fabs(value) < 1e4 ? "%.4f" : "%.4g", value);
    return text;
}
