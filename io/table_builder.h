/* table_builder.h: what the formats' readers share while they fill a table: which columns were asked for, room for
 * the values, and the classes. Internal to io/. */
#ifndef TS_TABLE_BUILDER_H
#define TS_TABLE_BUILDER_H

#include "io_base.h"
#include "table_types.h"

typedef struct ts_table_builder {
    const char *source_name;
    const ts_table_options *options;
    ts_table *table;     /* its cols is the number of chosen columns */
    int64_t n_columns;   /* of the file */
    int64_t *columns;    /* [table->cols] the file's column, from 0, of each feature in the order asked for */
    int64_t label;       /* the file's column with the classes, or -1 */
    bool row_names;      /* the file's first column names the rows, and is no feature unless asked for */
    char *const *wanted; /* [n_wanted] the features are to be the columns of these names; NULL: as the options say */
    int64_t n_wanted;
    bool found; /* and they are */
    bool fixed; /* the options are not the user's: no message advises one */
    int64_t n_labels;
    int64_t column_capacity, value_capacity, label_capacity, class_capacity;
    int64_t *slots; /* [n_slots] hash table: class + 1, or 0; n_slots is a power of two */
    int64_t n_slots;
} ts_table_builder;

/* Refuses options that are wrong whatever the file (ts_table_options_check); ts_builder_choose does this first. */
bool ts_builder_check_options(const char *path, const ts_table_options *options, ts_io_error *error);

/* Decides the columns of a file that has n_columns of them (1 or more); names may be NULL. *by_name: whether one was
 * chosen by its name. */
bool ts_builder_choose(ts_table_builder *builder, int64_t n_columns, char *const *names, bool *by_name,
                       ts_io_error *error);

/* Keeps copies of the chosen columns' names; refuses names that are not those wanted. */
bool ts_builder_set_names(ts_table_builder *builder, char *const *names, ts_io_error *error);

/* Room for `rows` (> 0) rows of values. */
bool ts_builder_reserve(ts_table_builder *builder, int64_t rows, ts_io_error *error);

/* The class of the next row. */
bool ts_builder_add_label(ts_table_builder *builder, const char *text, ts_io_error *error);

/* Adds a note, one line of UTF-8, if there is room for one more. */
void ts_note(ts_table *table, const char *format, ...) TS_IO_PRINTF(2, 3);

/* Gives back memory that `rows` rows do not need. */
void ts_builder_finish(ts_table_builder *builder, int64_t rows);

/* Frees what the builder itself holds; the table keeps its own. */
void ts_builder_free(ts_table_builder *builder);

#endif
