/* field_text.h: described numbers (layers/field.h) on the command line: NAME:FIELD=VALUE,FIELD=VALUE. */
#ifndef CLI_FIELD_TEXT_H
#define CLI_FIELD_TEXT_H

#include "../../layers/field.h"

/* The name before the colon, or all of the text; false if it does not fit. */
enum { CLI_FIELD_NAME = 64 };
bool cli_field_name(const char *text, char name[CLI_FIELD_NAME]);

/* Reads what follows the colon, if there is one, to the values, which hold defaults, and checks them. CLI_GO_ON, or an
 * exit code after saying what is wrong with --option. */
int cli_read_fields(const char *option, const char *text, const ts_field *fields, double *values);

#endif
