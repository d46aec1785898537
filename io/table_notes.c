/* table_notes.c: warns of columns that number the rows and of a first row that may be names. */
#include "table_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cell.h"

enum { FEWEST_ROWS = 3 }; /* fewer say nothing */

/* ---- columns that number the rows -------------------------------------------------------------------------------- */

/* "1-2,4": the chosen columns except number `out`; "" if the list is too long. */
static void list_others(const ts_table_builder *b, int64_t out, char *list, size_t size) {
    size_t used = 0;
    list[0] = '\0';
    for (int64_t k = 0; k < b->table->cols && used < size; k++) {
        if (k == out) continue;
        const int64_t first = b->columns[k] + 1;
        while (k + 1 < b->table->cols && k + 1 != out && b->columns[k + 1] == b->columns[k] + 1) k++;
        const char *comma = used == 0 ? "" : ",";
        used += (size_t)(b->columns[k] + 1 == first ? snprintf(list + used, size - used, "%s%" PRId64, comma, first)
                                                    : snprintf(list + used, size - used, "%s%" PRId64 "-%" PRId64,
                                                               comma, first, b->columns[k] + 1));
    }
    if (used >= size) list[0] = '\0';
}

static bool counts_rows(const ts_table *t, int64_t column) {
    const double start = t->values[column];
    if (t->rows < FEWEST_ROWS || (start != 0 && start != 1)) return false;
    for (int64_t i = 1; i < t->rows; i++)
        if (t->values[i * t->cols + column] != start + (double)i) return false;
    return true;
}

/* What is suspicious about a name, or NULL. */
static const char *odd_name(const char *name) {
    static const char *const names[] = {"id", "index", "rownames", "unnamed: 0"};
    if (name[strspn(name, " \t")] == '\0') return "has no name, as row numbers have none";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i]) == 0) return "is no feature, by its name";
    return NULL;
}

void ts_note_row_numbers(const ts_table_builder *b) {
    ts_table *t = b->table;
    if (b->options->columns != NULL || t->cols < 2) return;
    for (int64_t j = 0; j < t->cols; j++) {
        char others[80], quoted[TS_QUOTE_SIZE] = "";
        const char *what = t->names == NULL ? NULL : odd_name(t->names[j]);
        if (counts_rows(t, j)) what = t->values[j] == 0 ? "counts the rows from 0" : "counts the rows from 1";
        if (what == NULL) continue;
        if (t->names != NULL && t->names[j][0] != '\0') ts_io_quote(t->names[j], quoted);
        list_others(b, j, others, sizeof others);
        ts_note(t, "column %" PRId64 "%s%s%s %s%s%s%s", b->columns[j] + 1, quoted[0] == '\0' ? "" : " (", quoted,
                quoted[0] == '\0' ? "" : ")", what, others[0] == '\0' ? "" : ": --columns ", others,
                others[0] == '\0' ? "" : " leaves it out");
    }
}

/* ---- a first row that may be names ------------------------------------------------------------------------------- */

enum { EARLIEST_YEAR = 1500, LATEST_YEAR = 2200, FEWEST_STEPS = 3, SURE_COLUMNS = 4 };

static bool is_whole(const ts_table_builder *b, const char *text, const int64_t *cells) {
    for (int64_t k = 0; k < b->table->cols; k++)
        if (!ts_cell_is_whole(text + cells[b->columns[k]])) return false;
    return true;
}

/* The step from each of the file's columns to the next if it is constant and positive, else 0. */
static double step_of(const ts_table_builder *b, const double *row) {
    const double step = (row[1] - row[0]) / (double)(b->columns[1] - b->columns[0]);
    for (int64_t k = 1; k < b->table->cols; k++)
        if (fabs(row[k] - row[0] - step * (double)(b->columns[k] - b->columns[0])) > 0) return 0;
    return step > 0 ? step : 0;
}

static bool holds_years(const ts_table *t, const double *row) {
    for (int64_t k = 0; k < t->cols; k++)
        if (row[k] < EARLIEST_YEAR || row[k] > LATEST_YEAR || (k > 0 && row[k] <= row[k - 1])) return false;
    return true;
}

void ts_first_row_begin(ts_first_row *first, const ts_table_builder *b, const char *text, const int64_t *cells) {
    const double *row = b->table->values;
    if (b->table->cols < 2 || !is_whole(b, text, cells)) return;
    const double step = step_of(b, row);
    first->counts = fabs(step - 1) <= 0 && fabs(row[0] - (double)b->columns[0]) <= 1;
    first->years = holds_years(b->table, row);
    first->steps = step > 0 && b->table->cols >= FEWEST_STEPS;
    first->alone = first->counts || first->years || first->steps;
}

void ts_first_row_compare(ts_first_row *first, const ts_table_builder *b, const char *text, const int64_t *cells) {
    if (first->alone) first->alone = !is_whole(b, text, cells);
}

static bool no_other_steps(const ts_table_builder *b) {
    const ts_table *t = b->table;
    for (int64_t i = 1; i < t->rows; i++)
        if (step_of(b, t->values + i * t->cols) > 0) return false;
    return true;
}

static bool no_other_is_near(const ts_table *t) {
    const double least = t->values[0] / 2, most = t->values[t->cols - 1] * 2;
    for (int64_t i = t->cols; i < t->rows * t->cols; i++)
        if (t->values[i] >= least && t->values[i] <= most) return false;
    return true;
}

void ts_first_row_note(const ts_first_row *first, const ts_table_builder *b) {
    ts_table *t = b->table;
    if ((!first->counts && !first->years && !first->steps) || t->rows < FEWEST_ROWS) return;
    const bool far = no_other_is_near(t), alone_in_steps = no_other_steps(b);
    const bool unlike = ((first->years || first->counts) && first->alone) || (first->years && far) ||
                        (first->counts && t->cols >= SURE_COLUMNS && alone_in_steps) ||
                        (first->steps && far && alone_in_steps);
    if (!unlike) return;
    ts_note(t,
            "row %" PRId64 " (%.15g, %.15g%s) is read as data, but looks like names: --header yes takes it for names, "
            "--header no for data",
            first->number, t->values[0], t->values[1], t->cols > 2 ? ", ..." : "");
}
