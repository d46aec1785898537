#include "train_data.h"

#include <math.h>
#include <stdlib.h>

#include "../../io/table.h"
#include "../../models/data/rescaling.h"
#include "../common/message.h"

/* Columns in a common scale, so that numbers far from 0 keep their digits; tasks scale every column anyway. */
static int convert(const char *path, ts_table *table, ts_real **rows) {
    ts_error error = {.status = TS_OK};
    ts_rescaling rescaling;
    double *exact = NULL;
    if (ts_rescaling_fit(TS_SCALING_MINMAX, table->rows, table->cols, table->values, &rescaling, &error) != TS_OK)
        return cli_fail(CLI_FAILED, "%s: %s", path, error.text);
    const bool room = ts_rescaling_convert(&rescaling, table->rows, table->values, rows, &exact);
    table->values = NULL;
    ts_rescaling_free(&rescaling);
    free(exact);
    return room ? CLI_DONE : cli_fail_memory(path);
}

int cli_train_read_data(const char *path, const char *columns, const char *labels_column, ts_train_source *source,
                        ts_real **rows) {
    const ts_table_options how = {TS_HEADER_AUTO, columns, labels_column};
    ts_table table = {0};
    ts_io_error error;
    *rows = NULL;
    if (!ts_table_read(path, &how, &table, &error)) return cli_fail(CLI_FAILED, "%s", error.text);
    const int64_t count = table.rows, width = table.cols;
    int status = count < 1 || width < 1 ? cli_fail(CLI_FAILED, "%s: no rows", path) : convert(path, &table, rows);
    ts_table_free(&table);
    if (status != CLI_DONE) return status;
    source->data = *rows;
    source->rows = count;
    source->columns = width;
    source->data_mark = ts_train_data_mark(*rows, count, width);
    return CLI_DONE;
}
