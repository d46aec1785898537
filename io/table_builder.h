/* table_builder.h: what the readers of all formats share while they fill a table: the choice of columns, memory for the
 * values, the classes and the notes. Internal to io/. */
#ifndef TS_TABLE_BUILDER_H
#define TS_TABLE_BUILDER_H

#include "io_base.h"
#include "table_types.h"

typedef struct ts_table_builder {
    const char *source_name;
    const ts_table_options *options;
    ts_table *table;     /* its `cols` is the number of chosen columns */
    int64_t n_columns;   /* in the file */
    int64_t *columns;    /* [table->cols] the file's column, from 0, of each feature, in the order requested */
    int64_t label;       /* the file's column of class labels, or -1 */
    bool row_names;      /* the file's first column names the rows; it is a feature only on request */
    char *const *wanted; /* [n_wanted] names of the columns that must be the features; NULL: the options choose */
    int64_t n_wanted;
    bool found; /* the columns in `wanted` were found */
    bool fixed; /* the options are not the user's, so no message suggests one */
    int64_t n_labels;
    int64_t column_capacity, value_capacity, label_capacity, class_capacity;
    int64_t *slots; /* [n_slots] hash table: class + 1, or 0; n_slots is a power of two */
    int64_t n_slots;
} ts_table_builder;

/* Implements ts_table_options_check. ts_builder_choose calls it first. */
bool ts_builder_check_options(const char *path, const ts_table_options *options, ts_io_error *error);

/* Chooses among the n_columns >= 1 columns of a file; names may be NULL. *by_name: was one chosen by its name? */
bool ts_builder_choose(ts_table_builder *builder, int64_t n_columns, char *const *names, bool *by_name,
                       ts_io_error *error);

/* Copies the chosen columns' names; fails if they are not the wanted ones. */
bool ts_builder_set_names(ts_table_builder *builder, char *const *names, ts_io_error *error);

/* Reserves memory for `rows` > 0 rows of values. */
bool ts_builder_reserve(ts_table_builder *builder, int64_t rows, ts_io_error *error);

/* Appends the class of the next row. */
bool ts_builder_add_label(ts_table_builder *builder, const char *text, ts_io_error *error);

/* Adds a note, one line of UTF-8; does nothing after TS_TABLE_NOTES notes. */
void ts_note(ts_table *table, const char *format, ...) TS_IO_PRINTF(2, 3);

/* Sets the number of rows and frees memory that they do not need. */
void ts_builder_finish(ts_table_builder *builder, int64_t rows);

/* Frees the builder's own memory, not the table's. */
void ts_builder_free(ts_table_builder *builder);

#endif
