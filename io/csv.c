#include "csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BUFFER_SIZE = 1 << 20, SAMPLED_RECORDS = 20 };

typedef struct csv_reader {
    const ts_byte_source *source;
    ts_io_error *error;
    unsigned char *buffer; /* [BUFFER_SIZE] */
    int64_t position, end;
    bool at_end;     /* the source has no more */
    bool sampling;   /* looking at the first buffer only */
    bool cut;        /* and that ended inside a record */
    bool failed;     /* the error is written */
    bool in_data;    /* # starts no comment any more */
    char separator;  /* ' ' means runs of blanks and tabs */
    bool stops[256]; /* bytes that end a run of an unquoted cell */
    char mark;       /* the decimal mark met so far with semicolons, or 0 */
    int64_t row;     /* of the current record, from 1 */
    char *text;      /* the current record's cells, each terminated */
    int64_t text_size, text_capacity;
    int64_t *cells; /* [n_cells] offsets in text */
    int64_t n_cells, cell_capacity;
} csv_reader;

typedef enum number_kind { NUMBER_NONE, NUMBER_EMPTY, NUMBER_FINITE, NUMBER_NOT_FINITE } number_kind;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool refill(csv_reader *r) {
    if (r->sampling && !r->at_end) r->cut = true;
    if (r->sampling || r->at_end || r->failed) return false;
    const int64_t count = ts_source_fill(r->source, r->buffer, BUFFER_SIZE, r->error);
    r->position = 0;
    r->end = count < 0 ? 0 : count;
    r->failed = count < 0;
    r->at_end = count < BUFFER_SIZE;
    return count > 0;
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

static bool append(csv_reader *r, const void *bytes, int64_t count) {
    char *grown = ts_io_grow(r->text, &r->text_capacity, r->text_size + count + 1, 1);
    if (grown == NULL) {
        r->failed = true;
        return ts_io_fail_memory(r->error, r->source->name);
    }
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

/* Appends the bytes from the current position on up to the first that `stops` (or, when NULL, a quote or NUL). */
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
    if (grown == NULL) {
        r->failed = true;
        return ts_io_fail_memory(r->error, r->source->name);
    }
    r->cells = grown;
    const int64_t start = r->text_size;
    r->cells[r->n_cells++] = start;
    if (peek(r) == '"') {
        if (!read_quoted(r)) return false;
    } else {
        if (!append_run(r, r->stops)) return false;
        while (r->text_size > start && (r->text[r->text_size - 1] == ' ' || r->text[r->text_size - 1] == '\t')) {
            r->text_size--;
        }
    }
    return append(r, "", 1);
}

/* Reads the next record; false at the end or on failure. An empty line and a comment are records of no cells. */
static bool read_record(csv_reader *r) {
    r->text_size = r->n_cells = 0;
    const int first = peek(r);
    if (first < 0) return false;
    r->row++;
    if (first == '#' && !r->in_data) {
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

/* The end of the decimal number at p, or NULL; *mark: its decimal point or comma, or NULL. */
static char *scan_decimal(char *p, bool comma, char **mark) {
    int64_t digits = 0;
    *mark = NULL;
    if (*p == '+' || *p == '-') p++;
    for (;; p++) {
        if (is_digit(*p)) {
            digits++;
        } else if (*mark == NULL && (*p == '.' || (comma && *p == ','))) {
            *mark = p;
        } else {
            break;
        }
    }
    if (digits == 0) return NULL;
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!is_digit(*p)) return NULL;
        while (is_digit(*p)) p++;
    }
    return p;
}

static bool is_not_finite(const char *start, const char *end, double *value) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    const char *word = start + (*start == '+' || *start == '-');
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(end - word) != length || strncasecmp(word, words[i], length) != 0) continue;
        *value = i == 0 ? NAN : *start == '-' ? -INFINITY : INFINITY;
        return true;
    }
    return false;
}

/* *mark: the number's decimal mark ('.' or ','), or 0. The cell is the same afterwards. */
static number_kind parse_number(char *cell, bool comma, double *value, char *mark) {
    char *start = cell + strspn(cell, " \t"), *end = start + strlen(start), *at;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *mark = '\0';
    if (start == end) return NUMBER_EMPTY;
    if (scan_decimal(start, comma, &at) != end) {
        return is_not_finite(start, end, value) ? NUMBER_NOT_FINITE : NUMBER_NONE;
    }
    if (at != NULL) {
        *mark = *at;
        *at = '.';
    }
    *value = strtod(start, NULL);
    if (at != NULL) *at = *mark;
    return isfinite(*value) ? NUMBER_FINITE : NUMBER_NOT_FINITE;
}

static void set_separator(csv_reader *r, char separator) {
    r->separator = separator;
    memset(r->stops, 0, sizeof r->stops);
    r->stops['\0'] = r->stops['\r'] = r->stops['\n'] = r->stops[(unsigned char)separator] = true;
    if (separator == ' ') r->stops['\t'] = true;
}

/* How well a separator explains the first records. */
typedef struct separator_fit {
    int64_t columns;        /* of the first record */
    int64_t records, alike; /* alike: with as many columns as the first */
    int64_t cells, numbers;
    bool numbers_first; /* the first record is numbers only */
} separator_fit;

static separator_fit fit_separator(csv_reader *r, char separator) {
    separator_fit fit = {0};
    ts_io_error ignored, *const error = r->error;
    const int64_t position = r->position;
    set_separator(r, separator);
    r->error = &ignored;
    r->sampling = true;
    r->cut = false;
    while (fit.records < SAMPLED_RECORDS && read_record(r) && (!r->cut || fit.records == 0)) {
        if (r->n_cells == 0) continue;
        if (fit.records == 0) fit.columns = r->n_cells;
        fit.records++;
        fit.alike += r->n_cells == fit.columns;
        fit.cells += r->n_cells;
        for (int64_t j = 0; j < r->n_cells; j++) {
            double value;
            char mark;
            const number_kind kind = parse_number(r->text + r->cells[j], separator == ';', &value, &mark);
            fit.numbers += kind == NUMBER_FINITE || kind == NUMBER_NOT_FINITE;
        }
        if (fit.records == 1) fit.numbers_first = fit.numbers == fit.cells;
    }
    r->position = position;
    r->row = 0;
    r->sampling = r->failed = false;
    r->error = error;
    return fit;
}

static bool fits_better(const separator_fit *a, const separator_fit *b) {
    const int64_t alike = a->alike * b->records - b->alike * a->records;
    return alike != 0 ? alike > 0 : a->numbers * b->cells > b->numbers * a->cells;
}

static void choose_separator(csv_reader *r, bool prefer_tab) {
    static const char candidates[] = {'\t', ';', ',', ' '};
    char best = ',';
    separator_fit best_fit = {.columns = 0};
    for (int i = 0; i < 4; i++) {
        const separator_fit fit = fit_separator(r, candidates[i]);
        if (fit.columns < 2) continue;
        /* A name or a text of several words is no sign of columns unless every record has as many. */
        if (candidates[i] == ' ' && fit.alike < fit.records && !fit.numbers_first) continue;
        if (best_fit.columns == 0 || fits_better(&fit, &best_fit)) {
            best = candidates[i];
            best_fit = fit;
        }
        if (prefer_tab && candidates[i] == '\t') break;
    }
    set_separator(r, best);
}

/* Fills the first buffer and takes a byte order mark away. */
static bool start_reading(csv_reader *r) {
    if (!refill(r)) return !r->failed && ts_io_fail(r->error, r->source->name, "the file is empty");
    const unsigned char *b = r->buffer;
    if (r->end >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff))) {
        return ts_io_fail(r->error, r->source->name, "UTF-16 text is not supported, save the file as UTF-8");
    }
    if (r->end >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf) r->position = 3;
    return true;
}

static bool next_row(csv_reader *r) {
    do {
        if (!read_record(r)) return false;
    } while (r->n_cells == 0);
    return true;
}

static bool fail_number(csv_reader *r, const ts_table_builder *b, int64_t column, number_kind kind, double value) {
    char *cell = r->text + r->cells[column];
    char quoted[TS_QUOTE_SIZE];
    ts_io_quote(cell, quoted);
    const char *advice = "", *reason = "empty";
    char text[TS_QUOTE_SIZE + 32];
    if (kind == NUMBER_NONE) {
        snprintf(text, sizeof text, "not a number (%s)", quoted);
        if (b->options->columns == NULL) {
            advice = "; choose the columns of numbers with --columns, or name one of classes with --labels-column";
        }
        reason = text;
    } else if (kind == NUMBER_NOT_FINITE) {
        char *mark;
        const bool overflow = scan_decimal(cell + strspn(cell, " \t"), r->separator == ';', &mark) != NULL;
        snprintf(text, sizeof text, "not finite (%s)",
                 overflow       ? quoted
                 : isnan(value) ? "nan"
                 : value > 0    ? "inf"
                                : "-inf");
        reason = text;
    }
    r->failed = true;
    return ts_io_fail(r->error, r->source->name, "row %" PRId64 ", column %" PRId64 ": %s%s", r->row, column + 1,
                      reason, advice);
}

/* With semicolons 1.234 and 5,6 in one file mean that the first is 1234. */
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
        return ts_io_fail(r->error, r->source->name,
                          "row %" PRId64 ": %" PRId64 " column%s where the first row has %" PRId64, r->row, r->n_cells,
                          r->n_cells == 1 ? "" : "s", b->n_columns);
    }
    if (!ts_builder_reserve(b, rows + 1, r->error)) return false;
    double *values = b->table->values + rows * b->table->cols;
    for (int64_t k = 0; k < b->table->cols; k++) {
        const int64_t column = b->columns[k];
        char mark;
        double value = 0;
        const number_kind kind = parse_number(r->text + r->cells[column], r->separator == ';', &value, &mark);
        if (kind != NUMBER_FINITE) return fail_number(r, b, column, kind, value);
        if (!check_mark(r, column, mark)) return false;
        values[k] = value;
    }
    if (b->label < 0) return true;
    const char *class_text = r->text + r->cells[b->label];
    if (class_text[strspn(class_text, " \t")] == '\0') return fail_number(r, b, b->label, NUMBER_EMPTY, 0);
    return ts_builder_add_label(b, class_text, r->error);
}

/* An empty cell says nothing: a first row with one and numbers is data, to be refused, and not swallowed as names. */
static bool any_is_text(const csv_reader *r, const ts_table_builder *b) {
    for (int64_t k = 0; k < b->table->cols; k++) {
        double value;
        char mark;
        char *cell = r->text + r->cells[b->columns[k]];
        if (parse_number(cell, r->separator == ';', &value, &mark) == NUMBER_NONE) return true;
    }
    return false;
}

/* Chooses the columns by the first row, the current record, and tells whether it is a header. */
static bool read_header(csv_reader *r, ts_table_builder *b, bool *is_header) {
    const ts_header_mode mode = b->options->header;
    char **names = malloc((size_t)r->n_cells * sizeof *names);
    if (names == NULL) return ts_io_fail_memory(r->error, r->source->name);
    for (int64_t j = 0; j < r->n_cells; j++) names[j] = r->text + r->cells[j];
    bool by_name;
    bool ok = ts_builder_choose(b, r->n_cells, mode == TS_HEADER_NO ? NULL : names, &by_name, r->error);
    if (ok) {
        *is_header = mode == TS_HEADER_YES || (mode == TS_HEADER_AUTO && (by_name || any_is_text(r, b)));
        if (*is_header) ok = ts_builder_set_names(b, names, r->error);
    }
    free(names);
    return ok;
}

static bool read_rows(csv_reader *r, ts_table_builder *b) {
    if (!next_row(r)) return !r->failed && ts_io_fail(r->error, r->source->name, "the file has no rows");
    bool is_header = false;
    if (!read_header(r, b, &is_header)) return false;
    int64_t rows = 0;
    for (bool more = !is_header || next_row(r); more; more = next_row(r)) {
        r->in_data = true;
        if (!store_row(r, b, rows)) return false;
        rows++;
    }
    if (r->failed) return false;
    if (rows == 0) return ts_io_fail(r->error, r->source->name, "a header row and no rows of numbers");
    ts_builder_finish(b, rows);
    return true;
}

bool ts_csv_read(const ts_byte_source *source, bool prefer_tab, ts_table_builder *builder, ts_io_error *error) {
    csv_reader r = {.source = source, .error = error, .buffer = malloc(BUFFER_SIZE)};
    bool ok = r.buffer != NULL ? start_reading(&r) : ts_io_fail_memory(error, source->name);
    if (ok) {
        choose_separator(&r, prefer_tab);
        ok = read_rows(&r, builder);
    }
    free(r.buffer);
    free(r.text);
    free(r.cells);
    return ok;
}
