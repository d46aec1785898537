#include "outputs.h"

#include <string.h>
#include <sys/stat.h>

#include "../../io/array_writer.h"
#include "../../io/output_file.h"
#include "message.h"
#include "options.h"

/* The next output that was asked for, from *i on; NULL when there is none. */
static const cli_output *next_output(const cli_outputs *o, int *i) {
    for (; *i < CLI_MOST_OUTPUTS; (*i)++)
        if (o->list[*i].path != NULL) return &o->list[(*i)++];
    return NULL;
}

/* Pipes are compared by name; a device may be written twice. */
static bool is_same(const char *a, const char *b) {
    return ts_output_same(a, b) || (strcmp(a, b) == 0 && strncmp(a, "/dev/", 5) != 0);
}

static int check_name(const cli_output *output) {
    ts_io_error error;
    if (output->rank > 0 && !ts_array_path_ok(output->path, output->rank, &error))
        return cli_fail(CLI_WRONG_USE, "--%s: %s", output->option, error.text);
    const int status = output->check != NULL ? output->check(output->option, output->path) : CLI_GO_ON;
    if (status != CLI_GO_ON || strcmp(output->path, "-") != 0) return status;
    return cli_fail(CLI_WRONG_USE, "--%s: - is no name of a file (/dev/stdout is standard output)", output->option);
}

static int check_others(const cli_outputs *o, const cli_output *output) {
    const cli_output *other;
    for (int i = 0; (other = next_output(o, &i)) != output;)
        if (is_same(other->path, output->path))
            return cli_fail(CLI_WRONG_USE, "--%s and --%s: both would write %s", other->option, output->option,
                            o->tells_first ? other->path : output->path);
    for (int i = 0; i < CLI_MOST_INPUTS; i++)
        if (o->inputs[i] != NULL && is_same(o->inputs[i], output->path))
            return o->tells_path
                       ? cli_fail(CLI_WRONG_USE, "--%s: %s is read by this command", output->option, output->path)
                       : cli_fail(CLI_WRONG_USE, "--%s: would write over %s", output->option, o->inputs[i]);
    return CLI_GO_ON;
}

static int try_file(const cli_outputs *o, const char *path) {
    struct stat target;
    ts_output_file file;
    ts_io_error error;
    const bool is_new = stat(path, &target) != 0, is_folder = !is_new && S_ISDIR(target.st_mode);
    if (!is_new && !is_folder && !S_ISREG(target.st_mode)) return CLI_GO_ON;
    if (o->tells_folder && is_folder) return cli_fail(CLI_FAILED, "%s: is a folder", path);
    if (ts_output_open(path, &file, &error)) {
        ts_output_abandon(&file);
        return CLI_GO_ON;
    }
    const char *reason = strrchr(error.text, ':');
    if (o->tells_folder && is_new && reason != NULL)
        return cli_fail(CLI_FAILED, "%s: cannot be written in that folder%s", path, reason);
    return cli_fail(CLI_FAILED, "%s", error.text);
}

int cli_outputs_check(const cli_outputs *o) {
    const cli_output *output;
    int status = CLI_GO_ON;
    for (int i = 0; status == CLI_GO_ON && (output = next_output(o, &i)) != NULL;) {
        status = check_name(output);
        if (status == CLI_GO_ON) status = check_others(o, output);
    }
    for (int i = 0; status == CLI_GO_ON && (output = next_output(o, &i)) != NULL;) status = try_file(o, output->path);
    return status;
}

static bool write_one(const cli_output *output, const void *result, ts_io_error *error) {
    ts_output_file file;
    if (output->write != NULL) return output->write(result, output->path, error);
    if (!ts_output_open(output->path, &file, error)) return false;
    output->put(result, file.stream);
    return ts_output_commit(&file, error);
}

int cli_outputs_write(const cli_outputs *o, const void *result) {
    const cli_output *output;
    ts_io_error error;
    int status = CLI_DONE;
    for (int round = 0; round < 2; round++)
        for (int i = 0; (status == CLI_DONE || o->writes_on) && (output = next_output(o, &i)) != NULL;)
            if (output->goes_first == (round == 0) && !write_one(output, result, &error))
                status = cli_fail(CLI_FAILED, "%s", error.text);
    return status;
}

static void print_paths(const cli_outputs *o) {
    const cli_output *output;
    const char *before = "\n";
    for (int i = 0; (output = next_output(o, &i)) != NULL; before = "")
        printf("%s  %-*s%s\n", before, o->title_width > 0 ? o->title_width : 12, output->title, output->path);
}

int cli_outputs_tell(const cli_outputs *o, const char *file, cli_tell *json, cli_tell *text, const void *result) {
    if (!(o->as_json ? json : text)(result)) return cli_fail_memory(file);
    if (!o->as_json) print_paths(o);
    return cli_flush_stdout();
}
