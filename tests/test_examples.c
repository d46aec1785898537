/* Runs the examples and reads what they print. TESSERA_EXAMPLES is the folder of the programs. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "test_main.h"

static char output[20000];

static void run(const char *name) {
    char command[2000];
    const char *folder = getenv("TESSERA_EXAMPLES");
    ck_assert_msg(folder != NULL, "TESSERA_EXAMPLES is not set");
    snprintf(command, sizeof command, "'%s/%s'", folder, name);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %d, printed %s", name, status, output);
}

static void expect(const char *text) {
    ck_assert_msg(strstr(output, text) != NULL, "no '%s' in: %s", text, output);
}

START_TEST(scalars) {
    run("01_scalars");
    expect("f(3, 2)  = 49");
    expect("df/dx    = 28");
    expect("df/dy    = 42");
    expect("a mistake: add [2,3] [4]: the shapes do not broadcast");
}
END_TEST

START_TEST(fit) {
    run("02_fit");
    expect("y = 2.000 x + -1.000");
    double loss = 1;
    const char *last = strstr(output, "step 4000, mean squared error ");
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(sscanf(last, "step 4000, mean squared error %lf", &loss), 1);
    ck_assert_double_lt(loss, 0.01);
}
END_TEST

START_TEST(own_op) {
    run("03_own_op");
    expect("sum x^3 = 36, gradient 3 x^2 = 3 12 27");
    expect("checked on case 'matrix': right");
}
END_TEST

START_TEST(kmeans_transformer) {
    run("04_kmeans_transformer");
    expect("step 4: centres (0.333, 0.333) and (8.667, 8.667); codes 10 10 10 01 01 01");
}
END_TEST

START_TEST(train) {
    run("05_train");
    expect("240 parameters");
    double first = 0, last = 0;
    const char *a = strstr(output, "step 200: "), *b = strstr(output, "step 800: ");
    ck_assert(a != NULL && b != NULL);
    ck_assert_int_eq(sscanf(a, "step 200: loss %*f, objective relative to a step of Lloyd's %lf", &first), 1);
    ck_assert_int_eq(sscanf(b, "step 800: loss %*f, objective relative to a step of Lloyd's %lf", &last), 1);
    ck_assert(last < first && last < 1); /* better than a step of Lloyd's */
}
END_TEST

/* A layer, a loss and tasks of one's own. It writes where it runs. */
START_TEST(new_architecture) {
    char command[2000];
    const char *folder = getenv("TESSERA_EXAMPLES"), *data = getenv("TESSERA_DATA");
    double relative = 0, objective = 0;
    ck_assert(folder != NULL && data != NULL);
    snprintf(command, sizeof command,
             "cd \"$(mktemp -d)\" && '%s/06_new_architecture' '%s/faithful.csv' && rm mine.safetensors", folder, data);
    snprintf(output, sizeof output, "%s/06_new_architecture", folder);
    FILE *program = fopen(output, "rb");
    if (program == NULL) {
        skip_test("no jansson");
        return;
    }
    fclose(program);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    ck_assert_int_eq(pclose(pipe), 0);
    const char *line = strstr(output, "log objective ");
    ck_assert_int_eq(sscanf(output, "%*d numbers, objective relative to Lloyd's %lf", &relative), 1);
    ck_assert_msg(line != NULL && sscanf(line, "log objective %lf", &objective) == 1, "%s", output);
    ck_assert_msg(relative > 0 && relative < 1, "%s", output); /* trained a few seconds, it is better than Lloyd's */
    ck_assert_msg(objective < 9.3, "%s", output);              /* k-means on these rows ends at 9.085 */
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, scalars);
    tcase_add_test(tests, fit);
    tcase_add_test(tests, own_op);
    tcase_add_test(tests, kmeans_transformer);
    tcase_add_test(tests, train);
    tcase_add_test(tests, new_architecture);
    tcase_set_timeout(tests, 60);
    return run_case("examples", tests);
}
