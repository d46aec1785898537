#include "report.h"

#include <math.h>
#include <string.h>

enum { CELL = 3 * CLI_NUMBER_TEXT };

static const char *all_digits(double value, char text[CLI_NUMBER_TEXT]) {
    return isnan(value) ? "" : cli_number_text(value, text);
}

/* The column's name in a form; NULL when it is not there. */
static const char *name_of(const cli_column *c, cli_form form) {
    return form == CLI_CSV ? c->csv : form == CLI_MARKDOWN ? c->md : c->head;
}

static void put_quoted(FILE *stream, const char *text) {
    if (*text == '\0') return;
    fputc('"', stream);
    for (; *text != '\0'; text++) fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', stream);
}

/* A cell, preceded by its separator. */
static void put_cell(FILE *stream, cli_form form, const cli_column *c, bool first, bool quoted, const char *text) {
    if (form == CLI_TEXT_TABLE) {
        fprintf(stream, "%*s%*s", c->gap + !first, "", c->width, text);
    } else if (form == CLI_MARKDOWN) {
        fprintf(stream, "%s %s |", first ? "|" : "", text);
    } else {
        if (!first) fputc(',', stream);
        if (quoted)
            put_quoted(stream, text);
        else
            fputs(text, stream);
    }
}

static const char *text_of(const cli_column *c, cli_form form, const void *row, char text[CELL]) {
    const void *field = (const char *)row + c->field;
    cli_show *const wanted = form == CLI_CSV ? c->show_in_csv : c->show;
    cli_show *const show = wanted != NULL ? wanted : all_digits;
    char ends[2][CLI_NUMBER_TEXT];
    switch (c->cell) {
    case CLI_CELL_REAL: return show(*(const double *)field, text);
    case CLI_CELL_RANGE:
        snprintf(text, CELL, "%s to %s", show(((const double *)field)[0], ends[0]),
                 show(((const double *)field)[1], ends[1]));
        return text;
    case CLI_CELL_WHOLE: snprintf(text, CELL, "%lld", (long long)*(const int64_t *)field); return text;
    default: return *(const char *const *)field;
    }
}

void cli_report_head(FILE *stream, cli_form form, const cli_column *columns, size_t count) {
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        const char *name = name_of(&columns[i], form);
        if (name != NULL && form == CLI_MARKDOWN && *name == '\0')
            fputs(first ? "| |" : " |", stream);
        else if (name != NULL)
            put_cell(stream, form, &columns[i], first, false, name);
        first = first && name == NULL;
    }
    fputs(form == CLI_MARKDOWN ? "\n|" : "\n", stream);
    for (size_t i = 0; form == CLI_MARKDOWN && i < count; i++)
        if (columns[i].md != NULL) fputs(columns[i].width < 0 ? "---|" : "---:|", stream);
    if (form == CLI_MARKDOWN) fputc('\n', stream);
}

void cli_report_row(FILE *stream, cli_form form, const cli_column *columns, size_t count, const void *row) {
    char text[CELL];
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        const cli_column *c = &columns[i];
        if (name_of(c, form) == NULL) continue;
        put_cell(stream, form, c, first, c->cell == CLI_CELL_QUOTED, text_of(c, form, row, text));
        first = false;
    }
    fputc('\n', stream);
}
