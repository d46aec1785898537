/* definition_file.h: the option --arch. */
#ifndef CLI_DEFINITION_FILE_H
#define CLI_DEFINITION_FILE_H

#include "../../models/definition/architecture.h"

/* Reads an architecture, or a definition as one, from a JSON file. CLI_DONE, or CLI_FAILED after saying what is wrong,
 * and where; free the architecture. */
int cli_read_architecture(const char *path, ts_architecture **architecture);

#endif
