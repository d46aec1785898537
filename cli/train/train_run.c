#include "train_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../io/output_file.h"
#include "../../io/utf8.h"
#include "../../train/checkpoint.h"
#include "../common/message.h"
#include "../common/report.h"
#include "../draw/gnuplot.h"

static const char *tenths(double value, char text[CLI_NUMBER_TEXT]) {
    snprintf(text, CLI_NUMBER_TEXT, "%.1f", value);
    return text;
}

#define FIELD(name) offsetof(cli_metrics, name)
enum { COLUMNS = 6 };
static const char header[] = "step,train_loss,val_objective,val_relative,lr,seconds"; /* of these: */
static const cli_column columns[COLUMNS] = {
    {.field = FIELD(step), .cell = CLI_CELL_WHOLE, .csv = "step"},
    {.field = FIELD(train_loss), .csv = "train_loss", .show_in_csv = cli_any_number},
    {.field = FIELD(val_objective), .csv = "val_objective", .show_in_csv = cli_any_number},
    {.field = FIELD(val_relative), .csv = "val_relative", .show_in_csv = cli_any_number},
    {.field = FIELD(rate), .csv = "lr", .show_in_csv = cli_any_number},
    {.field = FIELD(seconds), .csv = "seconds", .show_in_csv = tenths},
};

const char *cli_training_path(const cli_training *run, const char *file, char path[CLI_TRAINING_PATH]) {
    snprintf(path, CLI_TRAINING_PATH, "%s/%s", run->folder, file);
    return path;
}

int cli_training_open(cli_training *run, const char *folder) {
    *run = (cli_training){.folder = folder};
    if (strlen(folder) + 32 >= CLI_TRAINING_PATH)
        return cli_fail(CLI_FAILED, "%.*s...: the name is too long", (int)ts_utf8_fit(folder, 40), folder);
    run->descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run->descriptor < 0)
        return cli_fail(CLI_FAILED, "%s: %s", folder, errno == ENOTDIR ? "is not a folder" : strerror(errno));
    /* where the file system knows no locks there is none */
    if (flock(run->descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s: another training is at work in it", folder);
}

int cli_training_create(cli_training *run, const char *folder) {
    static const char *const files[] = {"last.safetensors", "best.safetensors", "metrics.csv", "run.json"};
    char path[CLI_TRAINING_PATH];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cli_fail(CLI_FAILED, "%s: %s", folder, strerror(errno));
    if (cli_training_open(run, folder) != CLI_DONE) return CLI_FAILED;
    for (int i = 0; i < 4; i++)
        if (access(cli_training_path(run, files[i], path), F_OK) == 0)
            return cli_fail(CLI_FAILED, "%s: there is a run in it already (%s): --resume %s, or another --out", folder,
                            files[i], folder);
    return CLI_DONE;
}

void cli_training_free(cli_training *run) {
    if (run->descriptor > 0) close(run->descriptor);
    free(run->rows);
    *run = (cli_training){0};
}

static bool keep_row(cli_training *run, const cli_metrics *row) {
    if (run->count == run->room) {
        const int64_t room = run->room == 0 ? 256 : 2 * run->room;
        cli_metrics *rows = realloc(run->rows, (size_t)room * sizeof *rows);
        if (rows == NULL) return false;
        run->rows = rows;
        run->room = room;
    }
    run->rows[run->count++] = *row;
    return true;
}

int cli_training_read(cli_training *run, int64_t step) {
    char path[CLI_TRAINING_PATH], line[512];
    FILE *file = fopen(cli_training_path(run, "metrics.csv", path), "r");
    if (file == NULL && errno == ENOENT) return CLI_DONE; /* stopped before the first row */
    if (file == NULL) return cli_fail(CLI_FAILED, "%s: %s", path, strerror(errno));
    int status = CLI_DONE;
    for (int64_t number = 1; status == CLI_DONE && fgets(line, sizeof line, file) != NULL; number++) {
        cli_metrics r;
        long long at;
        if (number == 1 && strncmp(line, header, strlen(header)) == 0) continue;
        if (number == 1 || sscanf(line, "%lld,%lf,%lf,%lf,%lf,%lf", &at, &r.train_loss, &r.val_objective,
                                  &r.val_relative, &r.rate, &r.seconds) != COLUMNS)
            status = cli_fail(CLI_FAILED, "%s: line %lld is not one of a training run", path, (long long)number);
        if (status != CLI_DONE || at > step) break;
        r.step = at;
        if (!keep_row(run, &r)) status = cli_fail_memory(path);
    }
    fclose(file);
    return status;
}

static bool write_metrics(const cli_training *run, ts_io_error *error) {
    char path[CLI_TRAINING_PATH];
    ts_output_file file;
    if (!ts_output_open(cli_training_path(run, "metrics.csv", path), &file, error)) return false;
    cli_report_head(file.stream, CLI_CSV, columns, COLUMNS);
    for (int64_t i = 0; i < run->count; i++) cli_report_row(file.stream, CLI_CSV, columns, COLUMNS, &run->rows[i]);
    return ts_output_commit(&file, error);
}

int cli_training_add(cli_training *run, const cli_metrics *row) {
    ts_io_error error;
    if (!keep_row(run, row)) return cli_fail_memory(run->folder);
    return write_metrics(run, &error) ? CLI_DONE : cli_fail(CLI_FAILED, "%s", error.text);
}

int cli_training_describe(const cli_training *run, const ts_train_options *options) {
    char path[CLI_TRAINING_PATH], host[256] = "unknown";
    char *text = ts_train_options_to_json(options);
    ts_output_file file;
    ts_io_error error;
    if (text == NULL) return cli_fail_memory(run->folder);
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || (unsigned char)*c > 126) *c = '?';
    bool done = ts_output_open(cli_training_path(run, "run.json", path), &file, &error);
    if (done) {
        fprintf(file.stream, "{\n  \"version\": \"%s\",\n  \"host\": \"%s\",\n%s\n", TS_VERSION, host, text + 2);
        done = ts_output_commit(&file, &error);
    }
    free(text);
    return done ? CLI_DONE : cli_fail(CLI_FAILED, "%s", error.text);
}

/* ---- the curve ------------------------------------------------------------------------------------------------- */

int cli_training_draw(const cli_training *run, const ts_trainer *trainer) {
    char path[CLI_TRAINING_PATH];
    ts_io_error error;
    if (run->count == 0 || !cli_gnuplot_found()) return CLI_DONE;
    if (cli_train_plot(run->rows, run->count, trainer, cli_training_path(run, "curve.svg", path), &error))
        return CLI_DONE;
    return cli_fail(CLI_FAILED, "%s", error.text);
}
