/* number_text.h: numbers as the shortest decimals that read back to the same value. */
#ifndef CLI_NUMBER_TEXT_H
#define CLI_NUMBER_TEXT_H

#include "../autograd/tensor.h"

enum { CLI_NUMBER_TEXT = 32 };

/* Writes a finite number and returns text. Never "-0". */
const char *cli_number_text(double value, char text[CLI_NUMBER_TEXT]);

/* The double that is written like the shortest decimal of a ts_real: .2f becomes .2, not .200000003. */
double cli_shortest_double(ts_real value);

#endif
