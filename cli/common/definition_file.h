/* definition_file.h: the option --arch. */
#ifndef CLI_DEFINITION_FILE_H
#define CLI_DEFINITION_FILE_H

#include "../../models/definition/definition.h"

/* Reads a definition from a JSON file. CLI_DONE, or CLI_FAILED after saying what is wrong, and where. */
int cli_read_definition(const char *path, ts_definition *definition);

#endif
