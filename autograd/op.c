/* op.c: the refusal of a call, with the shapes of its inputs. */
#include "op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ts_status ts_refuse(const ts_node *node, ts_status status, const char *format, ...) {
    char reason[240], shapes[160] = "", one[TS_SHAPE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    for (int i = 0; i < node->n_in; i++) {
        const size_t used = strlen(shapes);
        snprintf(shapes + used, sizeof shapes - used, " %s", ts_shape_text(&node->in[i]->shape, one));
    }
    return ts_error_set(node->error, status, "%s%s: %s", node->op->name, shapes, reason);
}
