/* weights.h: the field "weights" that several layer types have. */
#ifndef TS_LAYER_WEIGHTS_H
#define TS_LAYER_WEIGHTS_H

enum { TS_WEIGHTS_DENSE, TS_WEIGHTS_EQUIVARIANT };
static const char *const ts_weights_words[] = {"dense", "equivariant", NULL};
#define TS_WEIGHTS_FIELD                                                              \
    {                                                                                 \
        .name = "weights", .kind = TS_FIELD_CHOICE, .choices = ts_weights_words,      \
        .help = "matrices, or scalars on data coordinates and matrices on the others" \
    }

#endif
