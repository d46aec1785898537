/* 03_own_op: an operation of one's own, y = x^3. Its descriptor is cube_op.c, thirty lines that touch nothing of the
 * library; this program uses it and lets the generic test check it. */
#include <stdio.h>

#include "../autograd/gradcheck.h"
#include "../autograd/ops.h"
#include "cube_op.h"

int main(void) {
    ts_tape *tape = ts_tape_create(TS_RECORD);
    if (tape == NULL) return 1;
    ts_tensor *x = ts_variable(tape, TS_SHAPE(3), (ts_real[]){1, 2, 3});
    ts_tensor *loss = ts_sum(tape, cube(tape, x), TS_ALL_AXES, false);
    if (ts_backward(tape, loss) != TS_OK) {
        fprintf(stderr, "%s\n", ts_tape_error(tape));
        return 1;
    }
    printf("sum x^3 = %g, gradient 3 x^2 = %g %g %g\n", (double)loss->data[0], (double)x->grad[0], (double)x->grad[1],
           (double)x->grad[2]);
    ts_tape_free(tape);

    ts_gradcheck_report report;
    const double tolerance = sizeof(ts_real) == sizeof(double) ? 1e-7 : 1e-2;
    for (const ts_op_case *test = cube_op.cases; test->label != NULL; test++) {
        const ts_status status = ts_op_check(&cube_op, test, 1, tolerance, &report);
        printf("checked on case '%s': %s\n", test->label, status == TS_OK ? "right" : report.text);
        if (status != TS_OK) return 1;
    }
    return 0;
}
