/* 01_scalars: what a tape is. f(x, y) = (x y + 1)^2 and its derivatives, by hand and by tape. */
#include <stdio.h>

#include "../autograd/ops.h"

int main(void) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return 1;
    ts_tensor *x = ts_variable(tape, TS_SCALAR, (ts_real[]){3});
    ts_tensor *y = ts_variable(tape, TS_SCALAR, (ts_real[]){2});
    ts_tensor *one = ts_constant(tape, TS_SCALAR, (ts_real[]){1});

    /* Each call computes its value at once and appends itself to the tape. */
    ts_tensor *f = ts_square(tape, ts_add(tape, ts_mul(tape, x, y), one));

    printf("The tape, last operation first:\n");
    for (const ts_node *node = ts_tape_last(tape); node != NULL; node = node->previous)
        printf("    %-7s = %g\n", node->op->name, (double)node->out->data[0]);

    /* The backward pass walks that list and adds to each input's gradient. */
    if (ts_backward(tape, f) != TS_OK) {
        fprintf(stderr, "%s\n", ts_tape_error(tape));
        return 1;
    }
    printf("f(3, 2)  = %g\n", (double)f->data[0]);
    printf("df/dx    = %g    by hand 2 (x y + 1) y = %g\n", (double)x->grad[0], 2.0 * (3 * 2 + 1) * 2);
    printf("df/dy    = %g    by hand 2 (x y + 1) x = %g\n", (double)y->grad[0], 2.0 * (3 * 2 + 1) * 3);

    /* A wrong call does not stop the program: the tape keeps the first failure and says what it was. */
    ts_add(tape, ts_constant(tape, TS_SHAPE(2, 3), NULL), ts_constant(tape, TS_SHAPE(4), NULL));
    printf("a mistake: %s\n", ts_tape_error(tape));
    ts_tape_free(tape);
    return 0;
}
