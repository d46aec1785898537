#include "definition_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../models/definition/architecture_json.h"
#include "message.h"

/* Definitions are a page of text; larger files are refused. */
enum { LARGEST_DEFINITION = 1 << 20 };

static int read_text(const char *path, char **text, size_t *length) {
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    if (file == NULL)
        return cli_fail(CLI_FAILED, "%s: %s", path,
                        strcmp(path, "-") == 0 ? "a definition is read from a file" : strerror(errno));
    char *buffer = malloc(LARGEST_DEFINITION + 1);
    const size_t count = buffer == NULL ? 0 : fread(buffer, 1, LARGEST_DEFINITION + 1, file);
    const int reason = ferror(file) ? errno : 0;
    fclose(file);
    *text = buffer;
    *length = count;
    if (buffer == NULL) return cli_fail_memory(path);
    if (reason != 0) return cli_fail(CLI_FAILED, "%s: %s", path, strerror(reason));
    if (count > LARGEST_DEFINITION) return cli_fail(CLI_FAILED, "%s: too long for a definition", path);
    return CLI_DONE;
}

int cli_read_architecture(const char *path, ts_architecture **architecture) {
    char *text = NULL;
    size_t length = 0;
    ts_error error = {.status = TS_OK};
    *architecture = NULL;
    int status = read_text(path, &text, &length);
    if (status == CLI_DONE) *architecture = ts_architecture_from_json(text, length, &error);
    if (status == CLI_DONE && *architecture == NULL) status = cli_fail(CLI_FAILED, "%s: %s", path, error.text);
    free(text);
    return status;
}
