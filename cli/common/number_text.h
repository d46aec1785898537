/* number_text.h: numbers as the shortest decimals that read back to the same value, and ratios for people. */
#ifndef CLI_NUMBER_TEXT_H
#define CLI_NUMBER_TEXT_H

#include "../../autograd/tensor.h"

/* The arguments of "%lld row%s": the number, and the ending of the plural. */
#define CLI_COUNT(n) (long long)(n), (n) == 1 ? "" : "s"

enum { CLI_NUMBER_TEXT = 32 };

/* Writes a finite number and returns text. Never "-0". */
const char *cli_number_text(double value, char text[CLI_NUMBER_TEXT]);

/* The same of any number: "nan", "inf", "-inf". */
const char *cli_any_number(double value, char text[CLI_NUMBER_TEXT]);

/* A ratio with four decimals, "0.9431", or where it is huge with four digits, "1.235e+08"; nan, inf. */
const char *cli_ratio_text(double value, char text[CLI_NUMBER_TEXT]);

#endif
