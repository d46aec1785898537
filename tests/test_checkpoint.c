/* Checkpoints that are refused, and what stands in one. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../io/safetensors.h"
#include "trained.h"

/* A checkpoint taken apart. */
enum { MOST_TENSORS = 80, NOTES = 4 };
typedef struct parts {
    ts_safetensors file;
    ts_safetensor tensors[MOST_TENSORS];
    ts_safetensors_note notes[NOTES];
    int count;
} parts;

static void open_parts(parts *p) {
    ts_io_error error;
    if (access("good.safetensors", F_OK) != 0) {
        const ts_train_options o = small();
        ts_trainer *t = make(&o);
        train_to(t, 20);
        save(t, "good.safetensors");
        ts_trainer_free(t);
    }
    ck_assert_msg(ts_safetensors_read("good.safetensors", &p->file, &error), "%s", error.text);
    ck_assert_int_le(p->file.count, MOST_TENSORS - 1);
    ck_assert_int_eq(p->file.n_metadata, NOTES);
    p->count = p->file.count;
    memcpy(p->tensors, p->file.tensors, (size_t)p->count * sizeof p->tensors[0]);
    memcpy(p->notes, p->file.metadata, sizeof p->notes);
}

static ts_safetensor *part(parts *p, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->tensors[i].name, name) == 0) return &p->tensors[i];
    ck_abort_msg("no tensor %s", name);
    return NULL;
}

static void expect_bad_file(const char *message) {
    ts_error error = {.status = TS_OK};
    ts_trainer *t = ts_checkpoint_resume("bad.safetensors", &error);
    ck_assert_msg(t == NULL, "not refused: %s", message);
    ck_assert_msg(strncmp(error.text, "bad.safetensors: ", 17) == 0, "%s", error.text);
    ck_assert_msg(strchr(error.text, '\n') == NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, message) != NULL, "'%s' is not in: %s", message, error.text);
}

/* Writes the parts together again, and expects that to be refused. */
static void expect_bad(parts *p, const char *message) {
    ts_io_error error;
    ck_assert_msg(ts_safetensors_write("bad.safetensors", p->tensors, p->count, p->notes, NOTES, &error), "%s",
                  error.text);
    expect_bad_file(message);
    ts_safetensors_free(&p->file);
}

#define WEIGHT "cross_points.query.weight"

START_TEST(tensors_of_another_model) {
    static const float numbers[25] = {1, 2, 3};
    static const double wide[25] = {1, 2, 3};
    static float odd[25];
    parts p;
    open_parts(&p);
    *part(&p, WEIGHT) = p.tensors[--p.count];
    expect_bad(&p, "tensor '" WEIGHT "' is missing");
    open_parts(&p);
    *part(&p, "optimiser.1." WEIGHT) = p.tensors[--p.count];
    expect_bad(&p, "tensor 'optimiser.1." WEIGHT "' is missing");
    open_parts(&p);
    p.tensors[p.count++] =
        (ts_safetensor){.name = "extra", .dtype = TS_SAFETENSORS_F32, .rank = 1, .dim = {3}, .data = numbers};
    expect_bad(&p, "1 of them unknown to the model");
    open_parts(&p);
    *part(&p, WEIGHT) =
        (ts_safetensor){.name = WEIGHT, .dtype = TS_SAFETENSORS_F32, .rank = 2, .dim = {1, 3}, .data = numbers};
    expect_bad(&p, "tensor '" WEIGHT "' has the shape [1,3], the model has [5,5]");
    open_parts(&p);
    *part(&p, WEIGHT) =
        (ts_safetensor){.name = WEIGHT, .dtype = TS_SAFETENSORS_F32, .rank = 1, .dim = {25}, .data = numbers};
    expect_bad(&p, "has the shape [25], the model has [5,5]");
    open_parts(&p);
    *part(&p, WEIGHT) = (ts_safetensor){
        .name = WEIGHT, .dtype = TS_SAFETENSORS_F32, .rank = 6, .dim = {1, 1, 5, 5, 1, 1}, .data = numbers};
    expect_bad(&p, "tensor '" WEIGHT "' has the shape");
    open_parts(&p);
    *part(&p, WEIGHT) =
        (ts_safetensor){.name = WEIGHT, .dtype = TS_SAFETENSORS_F64, .rank = 2, .dim = {5, 5}, .data = wide};
    expect_bad(&p, "tensor '" WEIGHT "' is of type F64, not F32");
    for (int i = 0; i < 2; i++) {
        odd[7] = i == 0 ? NAN : -INFINITY;
        open_parts(&p);
        part(&p, WEIGHT)->data = odd;
        expect_bad(&p, "tensor '" WEIGHT "' is not finite");
    }
}
END_TEST

/* A model needs no state of an optimiser: a file of parameters alone is one, but no run. */
START_TEST(models_without_optimiser) {
    parts p;
    ts_io_error io;
    ts_error error = {.status = TS_OK};
    ts_model model;
    int64_t steps = 0;
    open_parts(&p);
    int kept = 0;
    for (int i = 0; i < p.count; i++)
        if (strncmp(p.tensors[i].name, "optimiser.", 10) != 0) p.tensors[kept++] = p.tensors[i];
    ck_assert(kept > 0 && kept == p.count / 3);
    ck_assert_msg(ts_safetensors_write("bare.safetensors", p.tensors, kept, p.notes, NOTES, &io), "%s", io.text);
    ck_assert_msg(ts_model_load("bare.safetensors", &model, &steps, &error) == TS_OK, "%s", error.text);
    ck_assert_int_gt(steps, 0);
    for (int i = 0; i < ts_params_count(model.params); i++) {
        const ts_safetensor *tensor = part(&p, ts_params_name(model.params, i));
        ck_assert_mem_eq(ts_params_value(model.params, i), tensor->data,
                         (size_t)ts_shape_size(ts_params_shape(model.params, i)) * sizeof(float));
    }
    ts_model_clear(&model);
    ck_assert_ptr_null(ts_checkpoint_resume("bare.safetensors", &error));
    ck_assert_msg(strstr(error.text, "tensor 'optimiser.0.") != NULL, "%s", error.text);
    error = (ts_error){.status = TS_OK};
    *part(&p, WEIGHT) = p.tensors[--kept];
    ck_assert(ts_safetensors_write("bare.safetensors", p.tensors, kept, p.notes, NOTES, &io));
    ck_assert_int_ne(ts_model_load("bare.safetensors", &model, NULL, &error), TS_OK);
    ck_assert_ptr_null(model.params);
    ts_safetensors_free(&p.file);
}
END_TEST

static ts_safetensors_note *note(parts *p, const char *key) {
    for (int i = 0; i < NOTES; i++)
        if (strcmp(p->notes[i].key, key) == 0) return &p->notes[i];
    ck_abort_msg("no metadata %s", key);
    return NULL;
}

/* In metadata `key`, `from` becomes `to`. */
static void expect_bad_text(const char *key, const char *from, const char *to, const char *message) {
    char text[4096];
    parts p;
    open_parts(&p);
    ts_safetensors_note *changed = note(&p, key);
    const char *at = strstr(changed->value, from);
    ck_assert_msg(at != NULL, "'%s' is not in %s", from, changed->value);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - changed->value), changed->value, to, at + strlen(from));
    changed->value = text;
    expect_bad(&p, message);
}

/* In the metadata of this key this text becomes that one; the message. */
static const char *const damages[][4] = {
    {"format", "tessera checkpoint 1", "tessera checkpoint 2", "not a checkpoint of tessera"},
    {"options", "{", "", "metadata 'options' is no JSON object"},
    {"options", "}", "", "metadata 'options' is no JSON object"},
    {"options", "{", "{\"n\":32,", "metadata 'options' is no JSON object"}, /* n twice */
    {"options", "\"n\":32", "\"m\":32", "options.n is missing"},
    {"options", "\"n\":32", "\"n\":\"32\"", "options.n is of another type"},
    {"options", "\"n\":32", "\"n\":2", "k = 3"},
    {"options", "\"n\":32", "\"n\":99999999999999999999", "metadata 'options' is no JSON object"},
    {"options", "\"k\":3", "\"k\":0", "k = 0"},
    {"options", "\"k\":3", "\"k\":4", "has the shape [5,5], the model has [6,6]"},
    {"options", "\"d\":2", "\"d\":3", "has the shape [5,5], the model has [6,6]"},
    {"options", "\"batch\":4", "\"batch\":0", "batch must be"},
    {"options", "\"steps\":20", "\"steps\":-1", "steps must be"},
    {"options", "\"steps\":20", "\"steps\":19", "state: a number is out of range"},
    {"options", "\"lr\":", "\"lr\":-", "rate"},
    {"options", "\"dropout\":", "\"dropout\":-", "dropout"},
    {"options", "\"log_loss\":false", "\"log_loss\":0", "options.log_loss is of another type"},
    {"options", "\"seed\":\"", "\"seed\":\"x", "options.seed is of another type"},
    {"options", "[\"normal\"]", "[]", "options.family"},
    {"options", "[\"normal\"]", "\"normal\"", "options.family"},
    {"options", "[\"normal\"]", "[\"student\"]", "options.family is unknown"},
    {"options", "\"adam\"", "\"eve\"", "options.optimiser is unknown"},
    {"options", "\"adam\"", "\"sgd\"", "unknown to the model"},
    {"options", "\"softmin\"", "3", "options.loss is missing"},
    {"options", "\"onehot\"", "\"dot\"", "onehot, binary or none"},
    {"state", "{", "[", "metadata 'state' is no JSON object"},
    {"state", "\"step\":20", "\"step\":21", "state: a number is out of range"},
    {"state", "\"step\":20", "\"step\":-1", "state: a number is out of range"},
    {"state", "\"step\":20", "\"step\":2.5", "state.step is of another type"},
    {"state", "\"skipped\":0", "\"skipped\":21", "state: a number is out of range"},
    {"state", "\"skipped\":0", "\"skipped\":-1", "state: a number is out of range"},
    {"state", "\"best_step\":", "\"best_step\":-", "state: a number is out of range"},
    {"state", "\"optimiser_steps\":20", "\"optimiser_steps\":-1", "state: a number is out of range"},
    {"state", "\"optimiser_steps\":20", "\"other\":20", "state.optimiser_steps is missing"},
    {"state", "\"loss_count\":2", "\"loss_count\":21", "state: a number is out of range"},
    {"state", "\"loss_count\":2", "\"loss_count\":-2", "state: a number is out of range"},
    {"state", "\"loss_sum\":", "\"other\":", "state.loss_sum is missing"},
    {"state", "\"loss_sum\":", "\"loss_sum\":\"x\",\"other\":", "state.loss_sum is of another type"},
    {"state", "\"best\":", "\"best\":\"nan\",\"other\":", "state.best is of another type"},
    {"state", "\"schedule_rate\":", "\"schedule_rate\":-", "state: a number is out of range"},
};

START_TEST(damaged_metadata) {
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++)
        expect_bad_text(damages[i][0], damages[i][1], damages[i][2], damages[i][3]);
    for (int i = 0; i < 3; i++) {
        static const char *const keys[] = {"format", "options", "state"};
        char message[64];
        parts p;
        open_parts(&p);
        note(&p, keys[i])->key = "another";
        snprintf(message, sizeof message, i == 0 ? "not a checkpoint of tessera" : "no metadata '%s'", keys[i]);
        expect_bad(&p, message);
    }
}
END_TEST

START_TEST(files_that_are_no_checkpoint) {
    ts_error error = {.status = TS_OK};
    size_t size;
    parts p;
    open_parts(&p);
    ts_safetensors_free(&p.file);
    char *bytes = read_file("good.safetensors", &size);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 4) {
        write_bytes("bad.safetensors", bytes, cut);
        expect_bad_file("");
    }
    write_bytes("bad.safetensors", bytes, size - 1);
    expect_bad_file("");
    free(bytes);
    write_bytes("bad.safetensors", "x,y\n1,2\n3,4\n", 12);
    expect_bad_file("");
    ck_assert_ptr_null(ts_checkpoint_resume("absent.safetensors", &error));
    ck_assert_ptr_nonnull(strstr(error.text, "absent.safetensors: No such file"));
    const ts_train_options o = small();
    ts_trainer *t = make(&o);
    ts_error unwritten = {.status = TS_OK};
    ck_assert_int_ne(ts_checkpoint_write(t, "nowhere/x.safetensors", &unwritten), TS_OK);
    ck_assert_ptr_nonnull(strstr(unwritten.text, "nowhere/x.safetensors: No such file"));
    ts_trainer_free(t);
}
END_TEST

/* The mean loss since the last observation goes on, whatever it is; after one nothing of it is written. */
START_TEST(between_two_observations) {
    const ts_train_options o = small();
    ts_trainer *t = make(&o);
    const double least = step(t).loss + step(t).loss, sums[] = {least, NAN, INFINITY, -INFINITY};
    ck_assert(t->loss_count == 2 && t->loss_sum == least);
    for (int i = 0; i < 4; i++) {
        t->loss_sum = sums[i];
        save(t, "between.safetensors");
        ts_trainer *again = resume("between.safetensors");
        ck_assert_int_eq(again->loss_count, 2);
        ck_assert(isnan(sums[i]) ? isnan(again->loss_sum) : again->loss_sum == sums[i]);
        ts_trainer_free(again);
    }
    const ts_train_test result = test(t);
    ts_trainer_observe(t, &result);
    ck_assert(t->loss_count == 0 && t->loss_sum == 0);
    save(t, "between.safetensors");
    ts_trainer_free(t);
    ts_safetensors file;
    ts_io_error error;
    ck_assert_msg(ts_safetensors_read("between.safetensors", &file, &error), "%s", error.text);
    ck_assert_ptr_null(strstr(ts_safetensors_metadata(&file, "state"), "loss"));
    ts_safetensors_free(&file);
}
END_TEST

START_TEST(options_as_json) {
    const ts_train_options o = kind(2);
    char *text = ts_train_options_to_json(&o);
    static const char *const parts_of[] = {"\"seed\": \"18446744073709551615\"",
                                           "\"unroll_ramp\": 0.69999999999999996",
                                           "\"optimiser\": \"adamw\"",
                                           "\"scratch\": \"binary\"",
                                           "\"gumbel\"",
                                           "\"loss\": \"sparsemin\""};
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < sizeof parts_of / sizeof parts_of[0]; i++)
        ck_assert_msg(strstr(text, parts_of[i]) != NULL, "%s is not in %s", parts_of[i], text);
    free(text);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("checkpoint");
    tcase_add_test(tests, tensors_of_another_model);
    tcase_add_test(tests, models_without_optimiser);
    tcase_add_test(tests, damaged_metadata);
    tcase_add_test(tests, files_that_are_no_checkpoint);
    tcase_add_test(tests, between_two_observations);
    tcase_add_test(tests, options_as_json);
    return run_case_in_folder("checkpoints", tests);
}
