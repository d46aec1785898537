/* checkpoint.c: options and state as JSON, parameters and moments as tensors, both ways. */
#include "checkpoint.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../io/safetensors.h"
#include "../models/definition/architecture_json.h"
#include "../models/definition/definition_json.h"

static const char FORMAT[] = "tessera checkpoint 1";

static bool refuse(ts_error *error, const char *format, ...) TS_PRINTF(2, 3);

static bool refuse(ts_error *error, const char *format, ...) {
    char text[300];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    ts_error_set(error, TS_ERROR_VALUE, "%s", text);
    return false;
}

/* ---- options and state as JSON ----------------------------------------------------------------------------------- */

/* Describes one number of a struct. */
typedef enum field_kind { FIELD_WHOLE, FIELD_REAL, FIELD_ANY_REAL, FIELD_FLAG, FIELD_SEED } field_kind;
typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset;
} field;

#define OPTION(key, kind, member) \
    { key, FIELD_##kind, offsetof(ts_train_options, member) }
static const field option_fields[] = {OPTION("n", WHOLE, n),
                                      OPTION("d", WHOLE, d),
                                      OPTION("k", WHOLE, k),
                                      OPTION("component_scale", REAL, component_scale),
                                      OPTION("anisotropic", FLAG, anisotropic),
                                      OPTION("unequal", FLAG, unequal),
                                      OPTION("pool", WHOLE, pool),
                                      OPTION("gamma", REAL, gamma),
                                      OPTION("dropout", REAL, dropout),
                                      OPTION("tau", REAL, loss.tau),
                                      OPTION("log_loss", FLAG, loss.log),
                                      OPTION("unroll", WHOLE, unroll),
                                      OPTION("unroll_ramp", REAL, unroll_ramp),
                                      OPTION("lr", REAL, schedule.rate),
                                      OPTION("warmup", WHOLE, schedule.warmup),
                                      OPTION("schedule_steps", WHOLE, schedule.total),
                                      OPTION("lr_floor", REAL, schedule.floor),
                                      OPTION("plateau_factor", REAL, schedule.factor),
                                      OPTION("patience", WHOLE, schedule.patience),
                                      OPTION("cooldown", WHOLE, schedule.cooldown),
                                      OPTION("threshold", REAL, schedule.threshold),
                                      OPTION("clip", REAL, clip),
                                      OPTION("batch", WHOLE, batch),
                                      OPTION("steps", WHOLE, steps),
                                      OPTION("eval_every", WHOLE, eval_every),
                                      OPTION("eval_batches", WHOLE, eval_batches),
                                      OPTION("seed", SEED, seed)};

#define STATE(key, kind, member) \
    { key, FIELD_##kind, offsetof(ts_trainer, member) }
static const field state_fields[] = {STATE("step", WHOLE, step),
                                     STATE("skipped", WHOLE, skipped),
                                     STATE("best", REAL, best),
                                     STATE("best_step", WHOLE, best_step),
                                     STATE("schedule_rate", REAL, schedule.rate),
                                     STATE("schedule_best", REAL, schedule.best),
                                     STATE("schedule_waited", WHOLE, schedule.waited),
                                     STATE("schedule_cooling", WHOLE, schedule.cooling)};
/* After an observation these are 0 and left out. */
static const field between_fields[] = {STATE("loss_sum", ANY_REAL, loss_sum), STATE("loss_count", WHOLE, loss_count)};
/* Written only where they are not 0. */
static const field more_fields[] = {OPTION("last_weight", REAL, loss.last_weight),
                                    OPTION("n_most", WHOLE, source.n_most),
                                    OPTION("d_most", WHOLE, source.d_most),
                                    OPTION("k_most", WHOLE, source.k_most),
                                    OPTION("component_scale_most", REAL, source.scale_most),
                                    OPTION("components", WHOLE, source.components),
                                    OPTION("components_most", WHOLE, source.components_most),
                                    OPTION("data_rows", WHOLE, source.rows),
                                    OPTION("data_columns", WHOLE, source.columns),
                                    OPTION("data_share", REAL, source.data_share),
                                    OPTION("data_mark", SEED, source.data_mark)};
enum { MORE_FIELDS = sizeof more_fields / sizeof *more_fields };
enum { OPTION_FIELDS = sizeof option_fields / sizeof *option_fields };
enum { STATE_FIELDS = sizeof state_fields / sizeof *state_fields };
enum { BETWEEN_FIELDS = sizeof between_fields / sizeof *between_fields };

/* JSON has no infinity: it is written as null, NaN and -inf as strings. A seed may need all 64 bits and is a string. */
static json_t *field_json(const field *f, const void *base) {
    const void *at = (const char *)base + f->offset;
    char text[24];
    switch (f->kind) {
    case FIELD_WHOLE: return json_integer((json_int_t) * (const int64_t *)at);
    case FIELD_FLAG: return json_boolean(*(const bool *)at);
    case FIELD_SEED:
        snprintf(text, sizeof text, "%llu", (unsigned long long)*(const uint64_t *)at);
        return json_string(text);
    case FIELD_REAL:
    case FIELD_ANY_REAL: break;
    }
    const double value = *(const double *)at;
    if (isfinite(value)) return json_real(value);
    return isnan(value) ? json_string("nan") : value > 0 ? json_null() : json_string("-inf");
}

static bool is_zero(const field *f, const void *base) {
    const void *at = (const char *)base + f->offset;
    switch (f->kind) {
    case FIELD_FLAG: return !*(const bool *)at;
    case FIELD_WHOLE: return *(const int64_t *)at == 0;
    case FIELD_SEED: return *(const uint64_t *)at == 0;
    case FIELD_REAL:
    case FIELD_ANY_REAL: break;
    }
    return *(const double *)at == 0;
}

/* NaN and -inf are accepted only if `any`. */
static bool read_real(const json_t *value, bool any, double *real) {
    const char *text = any && json_is_string(value) ? json_string_value(value) : "";
    const bool is_nan = strcmp(text, "nan") == 0, is_low = strcmp(text, "-inf") == 0;
    *real = json_is_null(value) ? INFINITY : is_nan ? NAN : is_low ? -INFINITY : json_number_value(value);
    return json_is_number(value) || json_is_null(value) || is_nan || is_low;
}

static bool read_seed(const json_t *value, uint64_t *seed) {
    const char *text = json_string_value(value);
    if (text == NULL || *text == '\0' || strlen(text) > 20 || text[strspn(text, "0123456789")] != '\0') return false;
    *seed = strtoull(text, NULL, 10);
    return true;
}

static bool read_field(const field *f, const json_t *object, void *base, const char *what, ts_error *error) {
    const json_t *value = json_object_get(object, f->key);
    void *at = (char *)base + f->offset;
    bool fits = false;
    switch (f->kind) {
    case FIELD_WHOLE:
        fits = json_is_integer(value);
        if (fits) *(int64_t *)at = json_integer_value(value);
        break;
    case FIELD_FLAG:
        fits = json_is_boolean(value);
        if (fits) *(bool *)at = json_is_true(value);
        break;
    case FIELD_SEED: fits = read_seed(value, at); break;
    case FIELD_ANY_REAL:
    case FIELD_REAL: fits = read_real(value, f->kind == FIELD_ANY_REAL, at); break;
    }
    return fits || refuse(error, "%s.%s is %s", what, f->key, value == NULL ? "missing" : "of another type");
}

static json_t *families_json(const ts_train_options *o) {
    json_t *list = json_array();
    for (int f = 0; f < o->families; f++) json_array_append_new(list, json_string(ts_family_name(o->family[f])));
    return list;
}

/* ---- described numbers ------------------------------------------------------------------------------------------- */

static json_t *number_json(const ts_field *f, double value) {
    if (f->kind == TS_FIELD_FLAG) return json_boolean(value != 0);
    if (f->kind == TS_FIELD_WHOLE) return json_integer((json_int_t)value);
    if (f->kind == TS_FIELD_REAL) return json_real(value);
    return json_string(ts_field_word(f, (int)value));
}

static void put_numbers(json_t *object, const char *prefix, const ts_field *fields, const double *values) {
    char key[64];
    for (const ts_field *f = fields; f->name != NULL; f++, values++) {
        snprintf(key, sizeof key, "%s%s", prefix, f->name);
        json_object_set_new(object, key, number_json(f, *values));
    }
}

static bool read_numbers(const json_t *object, const char *prefix, const ts_field *fields, double *values,
                         ts_error *error) {
    char key[64];
    for (const ts_field *f = fields; f->name != NULL; f++, values++) {
        snprintf(key, sizeof key, "%s%s", prefix, f->name);
        const json_t *value = json_object_get(object, key);
        const bool is_word = f->kind == TS_FIELD_CHOICE || f->kind == TS_FIELD_MAP;
        if (f->kind == TS_FIELD_FLAG && json_is_boolean(value))
            *values = json_is_true(value);
        else if (f->kind != TS_FIELD_FLAG && !is_word && json_is_number(value))
            *values = json_number_value(value);
        else if (is_word && json_is_string(value))
            *values = ts_field_number(f, json_string_value(value));
        else
            return refuse(error, "options.%s is %s", key, value == NULL ? "missing" : "of another type");
    }
    return true;
}

/* The numbers of the first three optimisers stand there whichever is used: 0 where it has none. */
static void put_optimiser(json_t *object, const ts_optimiser_spec *spec) {
    static const char *const real[] = {"momentum", "beta1", "beta2", "epsilon", "decay"};
    json_object_set_new(object, "momentum", json_real(0));
    json_object_set_new(object, "nesterov", json_false());
    for (int i = 1; i < 5; i++) json_object_set_new(object, real[i], json_real(0));
    put_numbers(object, "", ts_optimiser_type_of(spec->kind)->fields, spec->number);
}

static json_t *options_json(const ts_train_options *o) {
    json_t *object = json_object();
    for (int i = 0; i < OPTION_FIELDS; i++) {
        json_object_set_new(object, option_fields[i].key, field_json(&option_fields[i], o));
        if (strcmp(option_fields[i].key, "unroll_ramp") == 0) put_optimiser(object, &o->optimiser);
    }
    for (int i = 0; i < MORE_FIELDS; i++)
        if (!is_zero(&more_fields[i], o))
            json_object_set_new(object, more_fields[i].key, field_json(&more_fields[i], o));
    if (o->source.type != NULL) {
        json_object_set_new(object, "source", json_string(o->source.type->name));
        put_numbers(object, "source_", o->source.type->fields, o->source.field);
    }
    put_numbers(object, "loss_", ts_loss_of(&o->loss)->fields, o->loss.field);
    json_object_set_new(object, "family", families_json(o));
    if (o->freeze[0] != '\0') json_object_set_new(object, "freeze", json_string(o->freeze));
    json_object_set_new(object, "scratch", json_string(ts_construction_names[o->construction]));
    json_object_set_new(object, "loss", json_string(ts_loss_of(&o->loss)->name));
    json_object_set_new(object, "optimiser", json_string(ts_optimiser_name(o->optimiser.kind)));
    json_object_set_new(object, "schedule", json_string(ts_schedule_name(o->schedule.kind)));
    return object;
}

static json_t *state_json(const ts_trainer *t) {
    json_t *object = json_object();
    for (int i = 0; i < STATE_FIELDS; i++)
        json_object_set_new(object, state_fields[i].key, field_json(&state_fields[i], t));
    for (int i = 0; t->loss_count > 0 && i < BETWEEN_FIELDS; i++)
        json_object_set_new(object, between_fields[i].key, field_json(&between_fields[i], t));
    json_object_set_new(object, "optimiser_steps", json_integer((json_int_t)t->optimiser->steps));
    return object;
}

char *ts_train_options_to_json(const ts_train_options *options) {
    json_t *object = options_json(options);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    return text;
}

/* ---- reading options --------------------------------------------------------------------------------------------- */

static bool read_families(const json_t *object, ts_train_options *o, ts_error *error) {
    const json_t *list = json_object_get(object, "family");
    const size_t count = json_array_size(list);
    if (count < 1 || count > (size_t)ts_families)
        return refuse(error, "options.family is no list of 1 to %d", ts_families);
    o->families = (int)count;
    for (size_t f = 0; f < count; f++) {
        const char *name = json_string_value(json_array_get(list, f));
        if (name == NULL || !ts_family_by_name(name, &o->family[f])) return refuse(error, "options.family is unknown");
    }
    return true;
}

static bool construction_by_name(const char *name, ts_construction *construction) {
    for (int i = 0; ts_construction_names[i] != NULL; i++)
        if (strcmp(ts_construction_names[i], name) == 0) {
            *construction = (ts_construction)i;
            return true;
        }
    return false;
}

static bool read_names(const json_t *object, ts_train_options *o, ts_error *error) {
    static const char *const keys[] = {"scratch", "loss", "optimiser", "schedule"};
    const char *name[4];
    for (int i = 0; i < 4; i++) {
        name[i] = json_string_value(json_object_get(object, keys[i]));
        if (name[i] == NULL) return refuse(error, "options.%s is missing", keys[i]);
    }
    const bool known[] = {construction_by_name(name[0], &o->construction), ts_loss_by_name(name[1], &o->loss.kind),
                          ts_optimiser_by_name(name[2], &o->optimiser.kind),
                          ts_schedule_by_name(name[3], &o->schedule.kind)};
    for (int i = 0; i < 4; i++)
        if (!known[i]) return refuse(error, "options.%s is unknown", keys[i]);
    return true;
}

static json_t *metadata_json(const ts_safetensors *file, const char *key, ts_error *error) {
    json_error_t where;
    const char *text = ts_safetensors_metadata(file, key);
    json_t *object = text == NULL ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (text == NULL) refuse(error, "no metadata '%s': not a checkpoint of tessera", key);
    if (text != NULL && !json_is_object(object)) refuse(error, "metadata '%s' is no JSON object", key);
    if (json_is_object(object)) return object;
    json_decref(object);
    return NULL;
}

static bool read_source(const json_t *object, ts_train_source *source, ts_error *error) {
    const json_t *name = json_object_get(object, "source");
    if (name == NULL) return true;
    source->type = json_is_string(name) ? ts_source_type_by_name(json_string_value(name)) : NULL;
    if (source->type == NULL) return refuse(error, "options.source is unknown");
    return read_numbers(object, "source_", source->type->fields, source->field, error);
}

static bool read_options(const ts_safetensors *file, ts_train_options *o, ts_error *error) {
    json_t *object = metadata_json(file, "options", error);
    *o = (ts_train_options){0};
    if (object == NULL) return false;
    const char *freeze = json_string_value(json_object_get(object, "freeze"));
    if (freeze != NULL) snprintf(o->freeze, sizeof o->freeze, "%s", freeze);
    bool ok = read_families(object, o, error) && read_names(object, o, error) &&
              read_numbers(object, "", ts_optimiser_type_of(o->optimiser.kind)->fields, o->optimiser.number, error) &&
              read_numbers(object, "loss_", ts_loss_of(&o->loss)->fields, o->loss.field, error);
    ok = ok && read_source(object, &o->source, error);
    for (int i = 0; ok && i < MORE_FIELDS; i++)
        if (json_object_get(object, more_fields[i].key) != NULL)
            ok = read_field(&more_fields[i], object, o, "options", error);
    for (int i = 0; ok && i < OPTION_FIELDS; i++) ok = read_field(&option_fields[i], object, o, "options", error);
    json_decref(object);
    return ok;
}

static bool read_state(const ts_safetensors *file, ts_trainer *t, ts_error *error) {
    json_t *object = metadata_json(file, "state", error);
    if (object == NULL) return false;
    bool ok = true;
    for (int i = 0; ok && i < STATE_FIELDS; i++) ok = read_field(&state_fields[i], object, t, "state", error);
    const bool between = json_object_get(object, "loss_count") != NULL;
    for (int i = 0; ok && between && i < BETWEEN_FIELDS; i++)
        ok = read_field(&between_fields[i], object, t, "state", error);
    const json_t *steps = json_object_get(object, "optimiser_steps");
    if (ok && !json_is_integer(steps)) ok = refuse(error, "state.optimiser_steps is missing");
    if (ok) t->optimiser->steps = json_integer_value(steps);
    json_decref(object);
    ok = ok && (t->step >= 0 && t->step <= t->options.steps && t->optimiser->steps >= 0 && t->skipped >= 0 &&
                t->skipped <= t->step && t->best_step >= 0 && t->best_step <= t->step && t->schedule.rate >= 0 &&
                t->schedule.waited >= 0 && t->schedule.cooling >= 0 && t->loss_count >= 0 && t->loss_count <= t->step);
    return ok || refuse(error, "state: a number is out of range");
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

enum { TENSOR_NAME = TS_PARAM_NAME + 16 };

/* The name of parameter i, or of one of its moments. */
static const char *tensor_name(const ts_trainer *t, int moment, int i, char name[TENSOR_NAME]) {
    if (moment < 0)
        snprintf(name, TENSOR_NAME, "%s", ts_params_name(t->model.params, i));
    else
        snprintf(name, TENSOR_NAME, "optimiser.%d.%s", moment, ts_params_name(t->model.params, i));
    return name;
}

/* The numbers of parameter i, or of its moment. */
static ts_real *tensor_values(const ts_trainer *t, int moment, int i) {
    ts_real *value = ts_params_value(t->model.params, i);
    return moment < 0 ? value : t->optimiser->moment[moment] + (value - ts_params_values(t->model.params));
}

/* Reads a tensor of that name and shape. */
static bool read_values(const ts_safetensors *file, const char *name, const ts_shape *shape, ts_real *values,
                        ts_error *error) {
    char expected[TS_SHAPE_TEXT], found[TS_SHAPE_TEXT];
    const ts_safetensor *tensor = ts_safetensors_find(file, name);
    if (tensor == NULL) return refuse(error, "tensor '%s' is missing", name);
    bool same = tensor->rank == shape->rank;
    for (int a = 0; same && a < shape->rank; a++) same = tensor->dim[a] == shape->dim[a];
    if (!same) {
        ts_shape other = {.rank = tensor->rank <= TS_MAX_RANK ? tensor->rank : TS_MAX_RANK};
        for (int a = 0; a < other.rank; a++) other.dim[a] = tensor->dim[a];
        return refuse(error, "tensor '%s' has the shape %s, the model has %s", name, ts_shape_text(&other, found),
                      ts_shape_text(shape, expected));
    }
    if (!ts_safetensor_copy_f32(tensor, ts_shape_size(shape), values))
        return refuse(error, "tensor '%s' is of type %s, not F32", name, ts_safetensors_dtype_name(tensor->dtype));
    for (int64_t l = 0; l < ts_shape_size(shape); l++)
        if (!isfinite(values[l])) return refuse(error, "tensor '%s' is not finite", name);
    return true;
}

static bool read_tensor(const ts_safetensors *file, const ts_trainer *t, int moment, int i, ts_error *error) {
    char name[TENSOR_NAME];
    return read_values(file, tensor_name(t, moment, i, name), ts_params_shape(t->model.params, i),
                       tensor_values(t, moment, i), error);
}

static bool read_tensors(const ts_safetensors *file, const ts_trainer *t, ts_error *error) {
    const int count = ts_params_count(t->model.params), expected = count * (1 + t->optimiser->moments);
    for (int moment = -1; moment < t->optimiser->moments; moment++)
        for (int i = 0; i < count; i++)
            if (!read_tensor(file, t, moment, i, error)) return false;
    return file->count == expected ||
           refuse(error, "%d tensors, %d of them unknown to the model", file->count, file->count - expected);
}

/* ---- both ways --------------------------------------------------------------------------------------------------- */

/* Checks that the file holds a matrix of the width that the options claim, before memory is allocated for the model. */
static bool width_fits(const ts_safetensors *file, const ts_train_options *o, ts_error *error) {
    const ts_safetensor *matrix = ts_safetensors_find(file, "cross_points.value.weight");
    if (ts_train_check(o, error) != TS_OK) return false;
    const int64_t width = o->d + ts_construction_width(o->construction, o->k);
    if (matrix == NULL) return refuse(error, "tensor 'cross_points.value.weight' is missing");
    if (matrix->rank == 2 && matrix->dim[0] == width && matrix->dim[1] == width) return true;
    char found[TS_SHAPE_TEXT];
    ts_shape shape = {.rank = matrix->rank <= TS_MAX_RANK ? matrix->rank : TS_MAX_RANK};
    for (int a = 0; a < shape.rank; a++) shape.dim[a] = matrix->dim[a];
    return refuse(error, "tensor 'cross_points.value.weight' has the shape %s, the model has [%lld,%lld]",
                  ts_shape_text(&shape, found), (long long)width, (long long)width);
}

/* The model of the file, unless it is that of the papers with the options' numbers: then NULL. */
static bool read_architecture(const ts_safetensors *file, const ts_train_options *o, ts_architecture **architecture,
                              ts_error *error) {
    const char *given = ts_safetensors_metadata(file, "definition");
    ts_error reason = {.status = TS_OK};
    *architecture = NULL;
    if (given == NULL) return refuse(error, "no metadata 'definition': not a checkpoint of tessera");
    const ts_definition papers = ts_learner(o->construction, o->gamma, o->dropout);
    char *own = ts_definition_to_json(&papers);
    const bool same = own != NULL && strcmp(own, given) == 0;
    free(own);
    if (same) return true;
    *architecture = ts_architecture_from_json(given, strlen(given), &reason);
    if (*architecture == NULL) return refuse(error, "metadata 'definition': %s", reason.text);
    const ts_definition *definition = (*architecture)->definition;
    if (definition == NULL || strcmp(definition->name, papers.name) != 0) return true;
    ts_architecture_free(*architecture);
    *architecture = NULL;
    if (ts_train_check(o, error) != TS_OK) return false;
    return refuse(error, "metadata 'definition' is not the model of its options");
}

/* Before memory is allocated for the model that the file claims to hold: has it as many numbers? */
static bool size_fits(const ts_safetensors *file, const ts_architecture *a, int64_t d, int64_t k, ts_error *error) {
    int64_t numbers = 0;
    const int64_t size = ts_model_size(a, d, k, error);
    for (int i = 0; i < file->count; i++) numbers += ts_safetensor_count(&file->tensors[i]);
    if (size < 0) return false;
    return numbers >= size ||
           refuse(error, "%lld numbers, but the model has %lld", (long long)numbers, (long long)size);
}

/* The rows of data that a run needs to go on. */
static bool take_data(ts_train_options *o, const ts_train_source *data, ts_error *error) {
    if (data == NULL || data->data == NULL) return true;
    if (data->rows != o->source.rows || data->columns != o->source.columns || data->data_mark != o->source.data_mark)
        return refuse(error, "its data were %lld rows of %lld columns, and other numbers", (long long)o->source.rows,
                      (long long)o->source.columns);
    o->source.data = data->data;
    return true;
}

static ts_trainer *trainer_of(const ts_safetensors *file, const ts_train_source *data, ts_error *error) {
    const char *format = ts_safetensors_metadata(file, "format");
    ts_train_options options;
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        refuse(error, "not a checkpoint of tessera (metadata 'format' is not '%s')", FORMAT);
        return NULL;
    }
    ts_architecture *architecture;
    if (!read_options(file, &options, error) || !take_data(&options, data, error) ||
        !read_architecture(file, &options, &architecture, error))
        return NULL;
    options.architecture = architecture;
    const bool fits = architecture == NULL ? width_fits(file, &options, error)
                                           : size_fits(file, architecture, options.d, options.k, error);
    ts_trainer *t = fits ? ts_trainer_create(&options, error) : NULL;
    ts_architecture_free(architecture);
    if (t == NULL) return NULL;
    if (read_tensors(file, t, error) && read_state(file, t, error)) return t;
    ts_trainer_free(t);
    return NULL;
}

ts_trainer *ts_checkpoint_resume(const char *path, ts_error *error) {
    return ts_checkpoint_resume_with(path, NULL, error);
}

ts_trainer *ts_checkpoint_resume_with(const char *path, const ts_train_source *data, ts_error *error) {
    ts_safetensors file;
    ts_io_error io_error;
    ts_error reason = {.status = TS_OK};
    if (!ts_safetensors_read(path, &file, &io_error)) {
        ts_error_set(error, TS_ERROR_VALUE, "%s", io_error.text);
        return NULL;
    }
    ts_trainer *t = trainer_of(&file, data, &reason);
    if (t == NULL) ts_error_set(error, reason.status, "%s: %s", path, reason.text);
    ts_safetensors_free(&file);
    return t;
}

/* d and k of the options, which is all of them that the model needs. */
static bool read_sizes(const ts_safetensors *file, int64_t *d, int64_t *k, ts_error *error) {
    json_t *options = metadata_json(file, "options", error);
    if (options == NULL) return false;
    *d = json_integer_value(json_object_get(options, "d"));
    *k = json_integer_value(json_object_get(options, "k"));
    json_decref(options);
    return (*d >= 1 && *k >= 1) || refuse(error, "options: d and k are needed");
}

static ts_status load_model(const ts_safetensors *file, ts_model *model, ts_error *error) {
    const char *format = ts_safetensors_metadata(file, "format"), *text = ts_safetensors_metadata(file, "definition");
    int64_t d = 0, k = 0;
    if (format == NULL || strcmp(format, FORMAT) != 0 || text == NULL) {
        refuse(error, "not a checkpoint of tessera (metadata 'format' is not '%s')", FORMAT);
        return error->status;
    }
    if (!read_sizes(file, &d, &k, error)) return error->status;
    ts_architecture *a = ts_architecture_from_json(text, strlen(text), error);
    if (a == NULL) return error->status;
    if (!size_fits(file, a, d, k, error)) {
        ts_architecture_free(a);
        return error->status;
    }
    if (ts_model_build(model, a, d, k, 0, error) != TS_OK) return error->status;
    for (int i = 0; i < ts_params_count(model->params); i++)
        if (!read_values(file, ts_params_name(model->params, i), ts_params_shape(model->params, i),
                         ts_params_value(model->params, i), error)) {
            ts_model_clear(model);
            return error->status;
        }
    return TS_OK;
}

static int64_t steps_of(const ts_safetensors *file) {
    ts_error none = {.status = TS_OK};
    json_t *state = metadata_json(file, "state", &none);
    const int64_t steps = json_integer_value(json_object_get(state, "step"));
    json_decref(state);
    return steps;
}

ts_status ts_model_load(const char *path, ts_model *model, int64_t *steps, ts_error *error) {
    ts_safetensors file;
    ts_io_error io_error;
    ts_error reason = {.status = TS_OK};
    *model = (ts_model){0};
    if (!ts_safetensors_read(path, &file, &io_error)) return ts_error_set(error, TS_ERROR_VALUE, "%s", io_error.text);
    if (load_model(&file, model, &reason) != TS_OK) ts_error_set(error, reason.status, "%s: %s", path, reason.text);
    if (steps != NULL) *steps = steps_of(&file);
    ts_safetensors_free(&file);
    return reason.status;
}

/* Lists all tensors of a checkpoint; both arrays have room for them. */
static void list_tensors(const ts_trainer *t, ts_safetensor *tensors, char (*names)[TENSOR_NAME]) {
    int at = 0;
    for (int moment = -1; moment < t->optimiser->moments; moment++)
        for (int i = 0; i < ts_params_count(t->model.params); i++, at++) {
            const ts_shape *shape = ts_params_shape(t->model.params, i);
            tensors[at] = (ts_safetensor){.name = tensor_name(t, moment, i, names[at]),
                                          .dtype = TS_SAFETENSORS_F32,
                                          .rank = shape->rank,
                                          .data = tensor_values(t, moment, i)};
            for (int a = 0; a < shape->rank; a++) tensors[at].dim[a] = shape->dim[a];
        }
}

ts_status ts_checkpoint_write(const ts_trainer *t, const char *path, ts_error *error) {
    const int count = ts_params_count(t->model.params) * (1 + t->optimiser->moments);
    json_t *options = options_json(&t->options), *state = state_json(t);
    char *text[3] = {ts_architecture_to_json(t->model.architecture),
                     json_dumps(options, JSON_COMPACT | JSON_REAL_PRECISION(17)),
                     json_dumps(state, JSON_COMPACT | JSON_REAL_PRECISION(17))};
    ts_safetensor *tensors = malloc((size_t)count * sizeof *tensors);
    char(*names)[TENSOR_NAME] = malloc((size_t)count * sizeof *names);
    ts_status status = TS_OK;
    if (text[0] == NULL || text[1] == NULL || text[2] == NULL || tensors == NULL || names == NULL) {
        status = ts_error_set(error, TS_ERROR_MEMORY, "%s: out of memory", path);
    } else {
        const ts_safetensors_note notes[] = {
            {"format", FORMAT}, {"definition", text[0]}, {"options", text[1]}, {"state", text[2]}};
        ts_io_error io_error;
        list_tensors(t, tensors, names);
        if (!ts_safetensors_write(path, tensors, count, notes, 4, &io_error))
            status = ts_error_set(error, TS_ERROR_VALUE, "%s", io_error.text);
    }
    json_decref(options);
    json_decref(state);
    for (int i = 0; i < 3; i++) free(text[i]);
    free(tensors);
    free(names);
    return status;
}
