#include "inspect_report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../io/utf8.h"
#include "../../models/definition/architecture_json.h"
#include "../../train/checkpoint.h"
#include "../common/json_writer.h"
#include "../common/number_text.h"
#include "inspect_file.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Parses and frees a JSON text. */
static json_t *parse(char *text) {
    json_t *object = text == NULL ? NULL : json_loads(text, 0, NULL);
    free(text);
    return object;
}

/* The options that differ from the defaults: name -> [value, default]. */
static json_t *changed_json(const ts_train_options *options) {
    const ts_train_options usual = ts_train_defaults();
    json_t *given = parse(ts_train_options_to_json(options)), *defaults = parse(ts_train_options_to_json(&usual)),
           *changed = json_object(), *value;
    const char *key;
    bool room = given != NULL && defaults != NULL && changed != NULL;
    json_object_foreach(given, key, value) {
        json_t *other = json_object_get(defaults, key);
        if (room && other == NULL) /* what most runs do not have */
            room = json_object_set_new(changed, key, json_pack("[O, s]", value, "none")) == 0;
        else if (room && !json_equal(value, other))
            room = json_object_set_new(changed, key, json_pack("[O, O]", value, other)) == 0;
    }
    json_decref(given);
    json_decref(defaults);
    if (room) return changed;
    json_decref(changed);
    return NULL;
}

/* ---- for a person ------------------------------------------------------------------------------------------------ */

static bool is_moment(const cli_inspect_file *file, const char *name) {
    return file->trainer != NULL && strncmp(name, "optimiser.", 10) == 0;
}

/* Prints a name without control codes, padded to the width. */
static void print_name(const char *name, int width) {
    char shown[5];
    int count = 0;
    for (size_t length; (length = ts_utf8_next(name, shown)) > 0; name += length, count++) fputs(shown, stdout);
    printf("%*s", count < width ? width - count : 0, "");
}

enum { SHAPE_TEXT = 24 * TS_SAFETENSORS_RANK };

static const char *shape_text(const ts_safetensor *tensor, char text[SHAPE_TEXT]) {
    size_t length = (size_t)snprintf(text, SHAPE_TEXT, "[");
    for (int a = 0; a < tensor->rank; a++)
        length += (size_t)snprintf(text + length, SHAPE_TEXT - length, "%s%lld", a == 0 ? "" : ",",
                                   (long long)tensor->dim[a]);
    snprintf(text + length, SHAPE_TEXT - length, "]");
    return text;
}

static void print_tensor(const ts_safetensor *tensor, int width) {
    const cli_inspect_numbers m = cli_inspect_measure(tensor);
    const double numbers[] = {m.mean, m.deviation, m.least, m.most, m.norm};
    char text[SHAPE_TEXT];
    fputs("  ", stdout);
    print_name(tensor->name, width);
    printf("  %-5s %-11s", ts_safetensors_dtype_name(tensor->dtype), shape_text(tensor, text));
    for (int i = 0; i < 5; i++)
        if (isnan(numbers[i]))
            printf(" %11s", "-");
        else
            printf(" %11.4g", numbers[i]);
    if (m.not_finite > 0) printf("  %lld not finite", (long long)m.not_finite);
    putchar('\n');
}

static void print_tensors(const cli_inspect_file *file) {
    enum { MOST_WIDTH = 40 };
    int width = 4, hidden = 0;
    for (int i = 0; i < file->file.count; i++) {
        const char *name = file->file.tensors[i].name;
        if (!file->all && is_moment(file, name)) continue;
        if ((int)strlen(name) > width) width = (int)strlen(name) < MOST_WIDTH ? (int)strlen(name) : MOST_WIDTH;
    }
    printf("\n  %-*s  %-5s %-11s %11s %11s %11s %11s %11s\n", width, "name", "type", "shape", "mean", "deviation",
           "smallest", "largest", "norm");
    for (int i = 0; i < file->file.count; i++) {
        const ts_safetensor *tensor = &file->file.tensors[i];
        const bool shown = file->all || !is_moment(file, tensor->name);
        if (shown) print_tensor(tensor, width);
        hidden += !shown;
    }
    if (hidden > 0) printf("  and %d of the optimiser's moments (--all lists them)\n", hidden);
}

static void print_blocks(const ts_definition *definition) {
    const ts_block_definition *block = &definition->cross_points;
    char gamma[CLI_NUMBER_TEXT], dropout[CLI_NUMBER_TEXT];
    printf("  %-14s", "blocks");
    for (int i = 0; i < TS_BLOCKS; i++) printf("%s%s", i == 0 ? "" : ", ", ts_block_names[i]);
    printf(":\n  %-14slearned Q, K, V with biases; euclidean softmax attention, gamma %s / sqrt(e), dropout %s\n", "",
           cli_number_text(block->gamma, gamma), cli_number_text(block->dropout, dropout));
}

static void print_model(const ts_trainer *t) {
    const ts_model *m = &t->model;
    const ts_layout *l = &m->layout;
    const ts_architecture *a = m->architecture;
    printf("  %-14s%s: tokens of d = %lld coordinates and %lld of code (%s), e = %lld; k = %lld clusters\n", "model",
           a->name, (long long)l->d, (long long)l->s, ts_construction_names[l->spec.construction], (long long)l->e,
           (long long)l->k);
    if (a->definition != NULL)
        print_blocks(a->definition);
    else
        printf("  %-14s%d; %s%s\n", "layers", m->n_applied, m->any_d ? "for any d, " : "for this d, ",
               m->any_k ? "any k" : "this k");
    printf("  %-14s%lld\n", "parameters", (long long)ts_model_trained(m));
}

static void print_state(const ts_trainer *t) {
    char best[CLI_NUMBER_TEXT];
    printf("  %-14sstep %lld of %lld; learning rate of the next %.4g", "training", (long long)t->step,
           (long long)t->options.steps, ts_schedule_rate(&t->schedule, t->step));
    if (t->skipped > 0)
        printf("; %lld step%s skipped, the gradient not being finite, or too large", CLI_COUNT(t->skipped));
    printf("\n  %-14s", "");
    if (isfinite(t->best))
        printf("best relative validation loss %s, after step %lld\n", cli_ratio_text(t->best, best),
               (long long)t->best_step);
    else
        puts("no validation loss yet");
}

static void print_value(const json_t *value) {
    char number[CLI_NUMBER_TEXT];
    if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i > 0) putchar(',');
            print_value(json_array_get(value, i));
        }
    else if (json_is_integer(value))
        printf("%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fputs(cli_number_text(json_real_value(value), number), stdout);
    else if (json_is_string(value))
        fputs(json_string_value(value), stdout);
    else
        fputs(json_is_boolean(value) ? json_is_true(value) ? "yes" : "no" : "inf", stdout);
}

static bool print_options(const ts_trainer *t) {
    json_t *changed = changed_json(&t->options), *pair;
    const char *key;
    bool first = true;
    json_object_foreach(changed, key, pair) {
        printf("  %-14s%s ", first ? "options" : "", key);
        print_value(json_array_get(pair, 0));
        fputs("  (default ", stdout);
        print_value(json_array_get(pair, 1));
        puts(")");
        first = false;
    }
    if (first && changed != NULL) printf("  %-14sthe defaults\n", "options");
    json_decref(changed);
    return changed != NULL;
}

static int64_t count_all(const ts_safetensors *file) {
    int64_t total = 0;
    for (int i = 0; i < file->count; i++) total += ts_safetensor_count(&file->tensors[i]);
    return total;
}

bool cli_inspect_print_report(const void *result) {
    const cli_inspect_file *file = result;
    const ts_trainer *t = file->trainer;
    bool room = true;
    printf("%s: ", file->path);
    if (t == NULL) {
        printf("%lld tensor%s, %lld numbers (not a checkpoint of tessera)\n", CLI_COUNT(file->file.count),
               (long long)count_all(&file->file));
    } else {
        puts("checkpoint of tessera");
        print_model(t);
        print_state(t);
        room = print_options(t);
    }
    if (file->file.count > 0) print_tensors(file);
    return room;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_tensor(cli_json *json, const ts_safetensor *tensor) {
    const cli_inspect_numbers m = cli_inspect_measure(tensor);
    cli_json_put(json, "{ name:s dtype:s shape:I", tensor->name, ts_safetensors_dtype_name(tensor->dtype),
                 (int64_t)tensor->rank, tensor->dim);
    cli_json_put(json, "count:i mean:f deviation:f smallest:f largest:f norm:f not_finite:i }", m.count, m.mean,
                 m.deviation, m.least, m.most, m.norm, m.not_finite);
}

/* Only the names; the values stand among the options. */
static json_t *names_json(json_t *changed) {
    json_t *names = changed == NULL ? NULL : json_array();
    const char *key;
    json_t *value;
    json_object_foreach(changed, key, value) json_array_append_new(names, json_string(key));
    json_decref(changed);
    return names;
}

bool cli_inspect_print_json(const void *result) {
    const cli_inspect_file *file = result;
    const ts_trainer *t = file->trainer;
    cli_json json = {.digits = 17};
    cli_json_put(&json, "{ file:s checkpoint:b tensors:[", file->path, t != NULL);
    for (int i = 0; i < file->file.count; i++) put_tensor(&json, &file->file.tensors[i]);
    cli_json_put(&json, "]");
    if (t != NULL) {
        const ts_layout *l = &t->model.layout;
        cli_json_put(&json, "model:{ scheme:s d:i k:i e:i parameters:i definition:j }",
                     ts_construction_names[l->spec.construction], l->d, l->k, l->e, ts_model_trained(&t->model),
                     parse(ts_architecture_to_json(t->model.architecture)));
        cli_json_put(&json, "training:{ step:i steps:i best_relative:f best_step:i lr:f skipped:i }", t->step,
                     t->options.steps, t->best, t->best_step, ts_schedule_rate(&t->schedule, t->step), t->skipped);
        cli_json_put(&json, "options:j changed:j", parse(ts_train_options_to_json(&t->options)),
                     names_json(changed_json(&t->options)));
    }
    cli_json_put(&json, "}");
    return cli_json_end(&json);
}
