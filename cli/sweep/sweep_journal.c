#include "sweep_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/message.h"
#include "../common/options.h"

/* The header of the journal: what all cells depend on besides their own five numbers. */
enum { SIGNATURE = 160 };
static void write_signature(const cli_sweep_options *o, char text[SIGNATURE]) {
    snprintf(text, SIGNATURE, "# tessera sweep %s seed=%llu steps=%lld tasks=%lld\n", TS_VERSION,
             (unsigned long long)o->shared.seed, (long long)o->steps, (long long)o->tasks);
}

/* Reads a row of the CSV; false if it is malformed. Cells of another grid are skipped. */
static bool take_row(cli_sweep_grid *grid, const char *line) {
    double value[CLI_SWEEP_AXES + 1];
    for (int i = 0; i <= CLI_SWEEP_AXES; i++) {
        char *end;
        value[i] = strtod(line, &end);
        if (end == line || *end != (i < CLI_SWEEP_AXES ? ',' : '\n') || !isfinite(value[i])) return false;
        line = end + 1;
    }
    if (*line != '\0') return false;
    const int64_t cell = cli_sweep_cell(grid, value);
    if (cell >= 0 && cli_sweep_valid(grid, cell)) grid->difference[cell] = value[CLI_SWEEP_AXES];
    return true;
}

static int fail(const cli_sweep_journal *journal, int reason) {
    return cli_fail(CLI_FAILED, "%s: %s", journal->path, strerror(reason));
}

static int refuse_line(const cli_sweep_journal *journal, const char *signature, long number) {
    if (number == 1)
        return cli_fail(CLI_FAILED, "%s: is of another sweep, not of '%.*s': remove it to begin anew", journal->path,
                        (int)strlen(signature) - 3, signature + 2);
    return cli_fail(CLI_FAILED, "%s: row %ld: not a row of a sweep: remove the file to begin anew", journal->path,
                    number);
}

/* Reads the whole lines into the grid; *end becomes where they end. */
static int read_lines(const cli_sweep_journal *journal, const char *signature, cli_sweep_grid *grid, off_t *end) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int status = CLI_GO_ON;
    *end = 0;
    for (long number = 1; status == CLI_GO_ON && (length = getline(&line, &room, journal->stream)) > 0; number++) {
        const bool whole = line[length - 1] == '\n';
        const bool good = number == 1 ? strncmp(line, signature, (size_t)length) == 0 : !whole || take_row(grid, line);
        if (!good) status = refuse_line(journal, signature, number);
        if (!whole) break;
        *end += (off_t)length;
    }
    if (status == CLI_GO_ON && !feof(journal->stream)) status = fail(journal, errno); /* nothing is cut off then */
    free(line);
    return status;
}

/* Opens the file for one process at a time: the lock goes with the process, however it ends. */
static int open_locked(cli_sweep_journal *journal) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int descriptor = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return fail(journal, errno);
    if (fcntl(descriptor, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
        close(descriptor);
        return cli_fail(CLI_FAILED, "%s: another sweep is writing it", journal->path);
    }
    journal->stream = fdopen(descriptor, "r+");
    if (journal->stream != NULL) return CLI_GO_ON;
    const int reason = errno;
    close(descriptor);
    return fail(journal, reason);
}

int cli_sweep_journal_open(cli_sweep_grid *grid, cli_sweep_journal *journal) {
    static const char ending[] = ".partial";
    char signature[SIGNATURE];
    off_t end;
    *journal = (cli_sweep_journal){.path = malloc(strlen(grid->options->out) + sizeof ending)};
    if (journal->path == NULL) return cli_fail_memory(grid->options->out);
    strcpy(journal->path, grid->options->out);
    strcat(journal->path, ending);
    write_signature(grid->options, signature);
    int status = open_locked(journal);
    if (status == CLI_GO_ON) status = read_lines(journal, signature, grid, &end);
    if (status != CLI_GO_ON) return status;
    /* A partial last line is cut off, so that the next row begins a line. */
    if (fseeko(journal->stream, end, SEEK_SET) != 0 || ftruncate(fileno(journal->stream), end) != 0)
        return fail(journal, errno);
    if (end == 0 && (fputs(signature, journal->stream) == EOF || fflush(journal->stream) != 0))
        return fail(journal, errno);
    return CLI_GO_ON;
}

bool cli_sweep_journal_add(cli_sweep_journal *journal, const cli_sweep_grid *grid, int64_t cell) {
    char row[CLI_SWEEP_ROW];
    return fputs(cli_sweep_row(grid, cell, row), journal->stream) != EOF && fflush(journal->stream) == 0;
}

void cli_sweep_journal_close(cli_sweep_journal *journal, bool finished) {
    if (finished) unlink(journal->path);
    if (journal->stream != NULL) fclose(journal->stream);
    free(journal->path);
    *journal = (cli_sweep_journal){0};
}
