/* csv.c: reads text tables: records and cells, the guess of the separator, the header, the rows. */
#include "csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cell.h"
#include "table_notes.h"
#include "utf8.h"

enum { BUFFER_SIZE = 1 << 20, SAMPLED_RECORDS = 20 };

typedef struct csv_reader {
    const ts_byte_source *source;
    ts_io_error *error;
    unsigned char *buffer; /* [BUFFER_SIZE] */
    int64_t position, end;
    bool at_end;     /* the source has no more bytes */
    bool sampling;   /* only the first buffer is looked at, to guess the separator */
    bool cut;        /* while sampling: the buffer ended inside a record */
    bool failed;     /* the error has been written */
    bool in_data;    /* # no longer starts a comment */
    bool row_names;  /* records after the first begin with a row name, a column that the header does not name */
    bool guesses;    /* the first record was guessed to be data, not names */
    bool quoted;     /* the record's first cell is in quotes */
    char separator;  /* ' ' means runs of blanks and tabs */
    bool stops[256]; /* bytes that end an unquoted cell */
    char mark;       /* with semicolons: the decimal mark seen so far, or 0 */
    int64_t row;     /* number of the current record, from 1 */
    char *text;      /* the current record's cells, each ended by a NUL */
    int64_t text_size, text_capacity;
    int64_t *cells; /* [n_cells] their offsets in `text` */
    int64_t n_cells, cell_capacity;
} csv_reader;

/* Moves the unread bytes to the front of the buffer and fills the rest of it. */
static void load(csv_reader *r) {
    const int64_t unread = r->end - r->position, room = BUFFER_SIZE - unread;
    memmove(r->buffer, r->buffer + r->position, (size_t)unread);
    const int64_t count = ts_source_fill(r->source, r->buffer + unread, room, r->error);
    r->position = 0;
    r->end = count < 0 ? 0 : unread + count;
    r->failed = count < 0;
    r->at_end = count < room;
}

static bool refill(csv_reader *r) {
    if (r->sampling && !r->at_end) r->cut = true;
    if (r->sampling || r->at_end || r->failed) return false;
    load(r);
    return r->end > 0;
}

/* The next byte, or -1 at the end or after a failure. */
static int peek(csv_reader *r) {
    return r->position < r->end || refill(r) ? r->buffer[r->position] : -1;
}

static bool is_line_end(int c) {
    return c < 0 || c == '\n' || c == '\r';
}

static void skip_line_end(csv_reader *r) {
    const int c = peek(r);
    if (c == '\r') r->position++;
    if (c >= 0 && peek(r) == '\n') r->position++;
}

static void skip_blanks(csv_reader *r) {
    for (int c = peek(r); c == ' ' || (c == '\t' && r->separator != '\t'); c = peek(r)) r->position++;
}

static bool fail_memory(csv_reader *r) {
    r->failed = true;
    return ts_io_fail_memory(r->error, r->source->name);
}

static bool append(csv_reader *r, const void *bytes, int64_t count) {
    char *grown = ts_io_grow(r->text, &r->text_capacity, r->text_size + count + 1, 1);
    if (grown == NULL) return fail_memory(r);
    r->text = grown;
    memcpy(r->text + r->text_size, bytes, (size_t)count);
    r->text_size += count;
    return true;
}

static bool fail_record(csv_reader *r, const char *what) {
    if (r->failed) return false;
    r->failed = true;
    return ts_io_fail(r->error, r->source->name, "row %" PRId64 ", column %" PRId64 ": %s", r->row, r->n_cells, what);
}

/* Appends the bytes up to the first one in `stops`, or, if that is NULL, up to a quote or NUL. */
static bool append_run(csv_reader *r, const bool *stops) {
    do {
        int64_t p = r->position;
        if (stops != NULL) {
            while (p < r->end && !stops[r->buffer[p]]) p++;
        } else {
            while (p < r->end && r->buffer[p] != '"' && r->buffer[p] != '\0') p++;
        }
        if (!append(r, r->buffer + r->position, p - r->position)) return false;
        r->position = p;
    } while (r->position == r->end && refill(r));
    return !r->failed;
}

static bool read_quoted(csv_reader *r) {
    r->position++;
    for (;;) {
        if (!append_run(r, NULL)) return false;
        const int c = peek(r);
        if (c < 0) return fail_record(r, "a quote is opened and never closed");
        if (c != '"') return fail_record(r, "a NUL byte (no text file?)");
        r->position++;
        if (peek(r) != '"') return !r->failed;
        if (!append(r, "\"", 1)) return false;
        r->position++;
    }
}

static bool read_cell(csv_reader *r) {
    int64_t *grown = ts_io_grow(r->cells, &r->cell_capacity, r->n_cells + 1, sizeof *grown);
    if (grown == NULL) return fail_memory(r);
    r->cells = grown;
    const int64_t start = r->text_size;
    const bool quoted = peek(r) == '"';
    if (r->n_cells == 0) r->quoted = quoted;
    r->cells[r->n_cells++] = start;
    if (quoted) {
        if (!read_quoted(r)) return false;
        const int c = peek(r);
        if (r->separator == ' ' && c != ' ' && c != '\t' && !is_line_end(c))
            return fail_record(r, "text after a closing quote");
    } else {
        if (!append_run(r, r->stops)) return false;
        while (r->text_size > start && (r->text[r->text_size - 1] == ' ' || r->text[r->text_size - 1] == '\t')) {
            r->text_size--;
        }
    }
    return append(r, "", 1);
}

/* Before the first row of numbers a line that begins with # is a comment, unless its first cell is a mark like #N/A. */
static bool is_comment(csv_reader *r) {
    enum { LONGEST_MARK = 12 };
    char cell[LONGEST_MARK + 1] = "";
    if (peek(r) != '#' || r->in_data) return false;
    if (r->end - r->position < LONGEST_MARK && !r->sampling && !r->at_end && !r->failed) load(r);
    for (int i = 0; i < LONGEST_MARK && r->position + i < r->end; i++) {
        const unsigned char byte = r->buffer[r->position + i];
        if (r->stops[byte]) break;
        cell[i] = (char)byte;
    }
    return !ts_cell_is_mark(cell);
}

/* Reads the next record; false at the end or on failure. Empty lines and comments are records without cells. */
static bool read_record(csv_reader *r) {
    r->text_size = r->n_cells = 0;
    const int first = peek(r);
    if (first < 0) return false;
    r->row++;
    if (is_comment(r)) {
        for (int c = first; !is_line_end(c); c = peek(r)) r->position++;
        skip_line_end(r);
        return !r->failed;
    }
    for (bool more = true; more;) {
        skip_blanks(r);
        if (is_line_end(peek(r)) && (r->n_cells == 0 || r->separator == ' ')) break;
        if (!read_cell(r)) return false;
        skip_blanks(r);
        const int c = peek(r);
        if (c == '\0') return fail_record(r, "a NUL byte (no text file?)");
        if (r->separator == ' ') continue;
        more = c == r->separator;
        if (more) {
            r->position++;
        } else if (!is_line_end(c)) {
            return fail_record(r, "text after a closing quote");
        }
        if (r->failed) return false;
    }
    skip_line_end(r);
    return !r->failed;
}

static void set_separator(csv_reader *r, char separator) {
    r->separator = separator;
    memset(r->stops, 0, sizeof r->stops);
    r->stops['\0'] = r->stops['\r'] = r->stops['\n'] = r->stops[(unsigned char)separator] = true;
    if (separator == ' ') r->stops['\t'] = true;
}

static ts_cell_kind kind_of(const csv_reader *r, int64_t column) {
    double value;
    char mark;
    return ts_cell_number(r->text + r->cells[column], r->separator == ';', &value, &mark);
}

/* How well a separator explains the first records. */
typedef struct separator_fit {
    int64_t columns;        /* in the first record */
    int64_t records, alike; /* alike: those with as many columns as the first */
    int64_t longer;         /* records that begin with one more cell, a row name */
    int64_t cells, numbers;
    bool numbers_first; /* the first record is numbers only */
    bool row_names;     /* all but the first are longer */
} separator_fit;

/* Does the current record, the i-th after the first, begin with an extra cell that looks like a row name? That cell is
 * in quotes, is no number, or counts the rows. The last cell must not be empty: then lines merely end in a separator.
 */
static bool has_row_name(csv_reader *r, int64_t columns, int64_t i) {
    double value;
    char mark;
    if (r->n_cells != columns + 1 || r->text[r->cells[columns]] == '\0') return false;
    const ts_cell_kind kind = ts_cell_number(r->text + r->cells[0], false, &value, &mark);
    return r->quoted || kind == TS_CELL_TEXT || (kind == TS_CELL_FINITE && value == (double)i);
}

static separator_fit fit_separator(csv_reader *r, char separator) {
    separator_fit fit = {0};
    ts_io_error ignored, *const error = r->error;
    const int64_t position = r->position, row = r->row;
    set_separator(r, separator);
    r->error = &ignored;
    r->sampling = true;
    r->cut = false;
    while (fit.records < SAMPLED_RECORDS && read_record(r) && (!r->cut || fit.records == 0)) {
        if (r->n_cells == 0) continue;
        if (fit.records == 0) fit.columns = r->n_cells;
        fit.records++;
        fit.alike += r->n_cells == fit.columns;
        fit.longer += fit.records > 1 && has_row_name(r, fit.columns, fit.records - 1);
        fit.cells += r->n_cells;
        for (int64_t j = 0; j < r->n_cells; j++) {
            const ts_cell_kind kind = kind_of(r, j);
            fit.numbers += kind == TS_CELL_FINITE || kind == TS_CELL_NOT_FINITE;
        }
        if (fit.records == 1) fit.numbers_first = fit.numbers == fit.cells;
    }
    fit.row_names = fit.records > 1 && fit.longer == fit.records - 1;
    if (fit.row_names) fit.alike = fit.records;
    r->position = position;
    r->row = row;
    r->sampling = r->failed = false;
    r->error = error;
    return fit;
}

static bool fits_better(const separator_fit *a, const separator_fit *b) {
    const int64_t alike = a->alike * b->records - b->alike * a->records;
    if (alike == 0 && a->row_names != b->row_names) return b->row_names;
    return alike != 0 ? alike > 0 : a->numbers * b->cells > b->numbers * a->cells;
}

static void choose_separator(csv_reader *r, bool prefer_tab) {
    static const char candidates[] = {'\t', ';', ',', ' '};
    char best = ',';
    separator_fit best_fit = {.columns = 0};
    for (int i = 0; i < 4; i++) {
        const separator_fit fit = fit_separator(r, candidates[i]);
        if (fit.columns + fit.row_names < 2) continue;
        /* Blanks inside names or text do not separate columns, unless every record has equally many. */
        if (candidates[i] == ' ' && fit.alike < fit.records && !fit.numbers_first) continue;
        if (best_fit.columns == 0 || fits_better(&fit, &best_fit)) {
            best = candidates[i];
            best_fit = fit;
        }
        if (prefer_tab && candidates[i] == '\t') break;
    }
    set_separator(r, best);
    r->row_names = best_fit.row_names;
}

/* The separator named by a first line such as "sep=;", which spreadsheets write; skips that line. 0: there is none. */
static char given_separator(csv_reader *r) {
    const char *line = (const char *)r->buffer + r->position;
    const char separator = r->end - r->position > 5 ? line[4] : '\0';
    if (separator == '\0' || strncasecmp(line, "sep=", 4) != 0 || strchr(",;\t |:", separator) == NULL) return '\0';
    if (!is_line_end((unsigned char)line[5])) return '\0';
    r->position += 5;
    r->row = 1;
    skip_line_end(r);
    return separator;
}

/* UTF-16 is recognised by a byte order mark, or by two ASCII characters. */
static bool is_utf16(const unsigned char *b, int64_t size) {
    if (size < 2) return false;
    if ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff)) return true;
    return size >= 4 && (b[0] == 0) == (b[2] == 0) && (b[1] == 0) == (b[3] == 0) && (b[0] == 0) != (b[1] == 0);
}

/* Fills the first buffer and skips a UTF-8 byte order mark. */
static bool start_reading(csv_reader *r) {
    if (!refill(r)) return !r->failed && ts_io_fail(r->error, r->source->name, "the file is empty");
    const unsigned char *b = r->buffer;
    if (is_utf16(b, r->end))
        return ts_io_fail(r->error, r->source->name, "UTF-16 text is not supported, save the file as UTF-8");
    if (r->end >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf) r->position = 3;
    return true;
}

static bool next_row(csv_reader *r) {
    do {
        if (!read_record(r)) return false;
    } while (r->n_cells == 0);
    return true;
}

static bool fail_number(csv_reader *r, const ts_table_builder *b, int64_t column, int64_t rows) {
    char reason[TS_REASON_SIZE];
    const ts_cell_kind kind = kind_of(r, column);
    ts_cell_reason(r->text + r->cells[column], r->separator == ';', reason);
    const bool is_text = strncmp(reason, "not a", 5) == 0 && kind == TS_CELL_TEXT;
    const bool may_be_names = rows == 0 && r->guesses && kind != TS_CELL_NOT_FINITE;
    r->failed = true;
    return ts_io_fail(
        r->error, r->source->name, "row %" PRId64 ", column %" PRId64 ": %s%s%s", r->row, column + 1, reason,
        is_text && b->options->columns == NULL && !b->fixed ? "; choose the columns of numbers with --columns, or name "
                                                              "one of classes with --labels-column"
                                                            : "",
        may_be_names ? "; if this row holds names, say --header yes" : "");
}

/* With semicolons, 1.234 and 5,6 in one file mean that the first is 1234: refused. */
static bool check_mark(csv_reader *r, int64_t column, char mark) {
    if (mark == '\0' || r->separator != ';' || mark == r->mark) return true;
    if (r->mark == '\0') {
        r->mark = mark;
        return true;
    }
    r->failed = true;
    return ts_io_fail(r->error, r->source->name,
                      "row %" PRId64 ", column %" PRId64 ": a decimal %s where numbers before have a decimal %s",
                      r->row, column + 1, mark == ',' ? "comma" : "point", mark == ',' ? "point" : "comma");
}

static bool store_row(csv_reader *r, ts_table_builder *b, int64_t rows) {
    if (r->n_cells != b->n_columns) {
        return ts_io_fail(r->error, r->source->name, "row %" PRId64 ": %" PRId64 " column%s where the %s %" PRId64,
                          r->row, r->n_cells, r->n_cells == 1 ? "" : "s",
                          r->row_names ? "rows before have" : "first row has", b->n_columns);
    }
    if (!ts_builder_reserve(b, rows + 1, r->error)) return false;
    double *values = b->table->values + rows * b->table->cols;
    for (int64_t k = 0; k < b->table->cols; k++) {
        const int64_t column = b->columns[k];
        char mark;
        double value = 0;
        const ts_cell_kind kind = ts_cell_number(r->text + r->cells[column], r->separator == ';', &value, &mark);
        if (kind != TS_CELL_FINITE) return fail_number(r, b, column, rows);
        if (!check_mark(r, column, mark)) return false;
        values[k] = value;
    }
    if (b->label < 0) return true;
    const char *class_text = r->text + r->cells[b->label];
    if (class_text[strspn(class_text, " \t")] == '\0') return fail_number(r, b, b->label, rows);
    return ts_builder_add_label(b, class_text, r->error);
}

/* Are these cells of the record (all, if `columns` is NULL) names? At least one must look like a name, and any numbers
 * must be whole, as years are; empty cells and marks of missing values do not count. *mixed: are there numbers? */
static bool holds_names(csv_reader *r, const int64_t *columns, int64_t count, bool *mixed) {
    bool any = false;
    *mixed = false;
    for (int64_t k = 0; k < count; k++) {
        const int64_t column = columns == NULL ? k : columns[k];
        const char *cell = r->text + r->cells[column];
        const ts_cell_kind kind = kind_of(r, column);
        const bool is_number = kind == TS_CELL_FINITE || kind == TS_CELL_NOT_FINITE;
        if (is_number && !ts_cell_is_whole(cell)) return false;
        *mixed = *mixed || is_number;
        any = any || (kind == TS_CELL_TEXT && ts_cell_is_name(cell));
    }
    return any;
}

static void free_names(char **names, int64_t count) {
    for (int64_t j = 0; names != NULL && j < count; j++) free(names[j]);
    free(names);
}

/* The record's cells as UTF-8, after an empty name for a column of row names; NULL: out of memory. */
static char **copy_names(const csv_reader *r) {
    const int64_t count = r->n_cells + r->row_names;
    char **names = calloc((size_t)count, sizeof *names);
    bool room = names != NULL;
    for (int64_t j = 0; room && j < count; j++) {
        names[j] = ts_utf8_from_latin1(j < r->row_names ? "" : r->text + r->cells[j - r->row_names]);
        room = names[j] != NULL;
    }
    if (room) return names;
    free_names(names, count);
    return NULL;
}

static void note_names(const csv_reader *r, bool mixed, ts_table *table) {
    if (mixed)
        ts_note(table, "row %" PRId64 " is taken for names, some of them numbers: --header no takes it for data",
                r->row);
    if (r->row_names) ts_note(table, "column 1 has no name in the header and is left out, as names of the rows");
    for (int64_t j = 0; j < r->n_cells; j++) {
        const char *fault = ts_utf8_fault(r->text + r->cells[j]);
        if (fault == NULL) continue;
        ts_note(table, "the name of column %" PRId64 " is not UTF-8 (byte 0x%02X): names are read as Latin-1",
                j + 1 + r->row_names, (unsigned)(unsigned char)*fault);
        return;
    }
}

/* Chooses the columns by the first row, which is the current record, and decides whether it is a header. */
static bool read_header(csv_reader *r, ts_table_builder *b, bool *is_header) {
    const ts_header_mode mode = b->options->header;
    bool mixed = false;
    r->row_names =
        r->row_names && (mode == TS_HEADER_YES || (mode == TS_HEADER_AUTO && holds_names(r, NULL, r->n_cells, &mixed)));
    b->row_names = r->row_names;
    char **names = copy_names(r);
    if (names == NULL) return ts_io_fail_memory(r->error, r->source->name);
    bool by_name;
    bool ok = ts_builder_choose(b, r->n_cells + r->row_names, mode == TS_HEADER_NO ? NULL : names, &by_name, r->error);
    if (ok) {
        const bool guessed = mode == TS_HEADER_AUTO && !r->row_names && !by_name;
        *is_header = mode == TS_HEADER_YES || (mode == TS_HEADER_AUTO && !guessed) ||
                     (guessed && holds_names(r, b->columns, b->table->cols, &mixed));
        r->guesses = mode == TS_HEADER_AUTO && !*is_header && !b->fixed;
        if (*is_header) ok = ts_builder_set_names(b, names, r->error);
        if (*is_header) note_names(r, guessed && mixed, b->table);
    }
    free_names(names, r->n_cells + r->row_names);
    return ok;
}

static bool read_rows(csv_reader *r, ts_table_builder *b) {
    if (!next_row(r)) return !r->failed && ts_io_fail(r->error, r->source->name, "the file has no rows");
    bool is_header = false;
    if (!read_header(r, b, &is_header)) return false;
    ts_first_row first = {.number = r->row};
    int64_t rows = 0;
    for (bool more = !is_header || next_row(r); more; more = next_row(r)) {
        r->in_data = true;
        if (!store_row(r, b, rows)) return false;
        if (rows == 0 && r->guesses) ts_first_row_begin(&first, b, r->text, r->cells);
        if (rows > 0) ts_first_row_compare(&first, b, r->text, r->cells);
        rows++;
    }
    if (r->failed) return false;
    if (rows == 0) return ts_io_fail(r->error, r->source->name, "a header row and no rows of numbers");
    ts_builder_finish(b, rows);
    ts_first_row_note(&first, b);
    return true;
}

bool ts_csv_read(const ts_byte_source *source, bool prefer_tab, ts_table_builder *builder, ts_io_error *error) {
    csv_reader r = {.source = source, .error = error, .buffer = malloc(BUFFER_SIZE)};
    bool ok = r.buffer != NULL ? start_reading(&r) : ts_io_fail_memory(error, source->name);
    if (ok) {
        const char given = given_separator(&r);
        if (given != '\0')
            r.row_names = fit_separator(&r, given).row_names;
        else
            choose_separator(&r, prefer_tab);
        ok = read_rows(&r, builder);
    }
    free(r.buffer);
    free(r.text);
    free(r.cells);
    return ok;
}
