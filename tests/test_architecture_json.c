/* test_architecture_json.c: architectures as text: round trips, and refusals that name the part. */
#include "../models/definition/architecture_json.h"
#include "../models/run/model.h"
#include "test_main.h"

static ts_error error;

static ts_architecture *read(const char *text) {
    error = (ts_error){.status = TS_OK};
    return ts_architecture_from_json(text, strlen(text), &error);
}

static char *file_text(const char *name) {
    char path[1000];
    const char *data = getenv("TESSERA_DATA");
    ck_assert_ptr_nonnull(data);
    snprintf(path, sizeof path, "%s/../arch/%s", data, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

/* The learned definitions among the examples, and what they train for d = 32, k = 10. */
static const struct {
    const char *name;
    int64_t numbers;
    bool any_d, any_k;
} examples[] = {{"papers.json", 21672, false, false},
                {"two-layers.json", 57754, false, false},
                {"looped.json", 29500, false, false},
                {"slots.json", 10902, false, false},
                {"spherical-learned.json", 11989, false, false},
                {"equivariant.json", 19856, true, true}};
enum { EXAMPLES = sizeof examples / sizeof *examples };

START_TEST(examples_are_read_printed_and_built) {
    char *text = file_text(examples[_i].name);
    ts_architecture *a = read(text);
    ck_assert_msg(a != NULL, "%s: %s", examples[_i].name, error.text);
    char *printed = ts_architecture_to_json(a);
    ts_architecture *again = read(printed);
    ck_assert_msg(again != NULL, "%s: %s\n%s", examples[_i].name, error.text, printed);
    char *twice = ts_architecture_to_json(again);
    ck_assert_str_eq(printed, twice);
    if (strcmp(examples[_i].name, "papers.json") == 0) ck_assert_str_eq(printed, text); /* written as it is printed */
    ts_architecture *copy = ts_architecture_copy(again);
    char *of_copy = ts_architecture_to_json(copy);
    ck_assert_str_eq(printed, of_copy);
    ts_model model;
    ck_assert_msg(ts_model_build(&model, copy, 32, 10, 1, &error) == TS_OK, "%s: %s", examples[_i].name, error.text);
    ck_assert_int_eq(ts_model_trained(&model), examples[_i].numbers);
    ck_assert(model.any_d == examples[_i].any_d && model.any_k == examples[_i].any_k);
    ck_assert_int_eq(ts_model_size(again, 32, 10, &error) >= examples[_i].numbers, 1);
    ts_model_clear(&model);
    ts_architecture_free(again);
    ts_architecture_free(a);
    free(of_copy);
    free(twice);
    free(printed);
    free(text);
}
END_TEST

/* Every field, part and list that a text can have survives. */
START_TEST(all_that_can_be_said_is_printed) {
    static const char text[] =
        "{\n"
        "  \"name\": \"all \\\"of it\\\"\",\n"
        "  \"tokens\": {\"code\": \"dot\", \"memory\": 3, \"point_marks\": 0.5, \"center_marks\": 0.25},\n"
        "  \"keep\": \"tokens\",\n"
        "  \"standardised\": true,\n"
        "  \"labels\": \"code\",\n"
        "  \"layers\": [{\n"
        "    \"times\": 3,\n"
        "    \"shared\": false,\n"
        "    \"points\": [\n"
        "      {\"residual\": [\n"
        "        {\"attention\": {\"name\": \"cross\", \"over\": \"centers\", \"score\": \"dot\", \"simplex\": "
        "\"top-m\", "
        "\"parameter\": 0.1, \"heads\": 2, \"width\": 8, \"out\": true, \"gamma\": [1, 0.5], \"query\": \"data\", "
        "\"key\": "
        "\"-data\"}}]},\n"
        "      {\"linear\": {\"weights\": \"diagonal\"}}],\n"
        "    \"centers\": [\n"
        "      {\"gate\": {\"bias\": -2, \"layers\": [\n"
        "        {\"dropout\": {\"p\": 0.2}}]}},\n"
        "      {\"repeat\": {\"times\": 4, \"layers\": [\n"
        "        {\"code\": {}}]}},\n"
        "      {\"linear\": {\"scales\": \"learned\", \"copies\": [{\"from\": \"data[0:1]\", \"to\": \"memory[1:2]\", "
        "\"scale\": 2}]}},\n"
        "      {\"feed_forward\": {\"units\": [{\"from\": \"data\", \"to\": \"one\", \"scale\": 3, \"weight\": "
        "-1}]}}]\n"
        "  }]\n"
        "}\n";
    ts_architecture *a = read(text);
    ck_assert_msg(a != NULL, "%s", error.text);
    char *printed = ts_architecture_to_json(a);
    ck_assert_str_eq(printed, text);
    free(printed);
    ts_architecture_free(a);
}
END_TEST

/* A text without layers is a definition of four blocks, and stays one. */
START_TEST(definitions_are_architectures) {
    char *text = file_text("relaxed.json");
    ts_architecture *a = read(text);
    ck_assert_msg(a != NULL && a->definition != NULL && a->n_layers == 1, "%s", error.text);
    char *printed = ts_architecture_to_json(a);
    ck_assert_str_eq(printed, text);
    free(printed);
    free(text);
    ts_architecture_free(a);
}
END_TEST

#define HEAD "{\"name\": \"x\", \"tokens\": \"onehot\", \"layers\": "
START_TEST(refusals_name_the_place) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {HEAD "[]}", "layers: a list of layers is needed"},
        {HEAD "[{}]}", "layers[0]: points or centers are needed"},
        {HEAD "[{\"point\": []}]}", "layers[0]: unknown key 'point' (points|centers|times|shared)"},
        {HEAD "[{\"points\": {}}]}", "layers[0].points: a list of layers [...] is needed"},
        {HEAD "[{\"points\": [], \"times\": 0}]}", "layers[0]: times must be a whole number from 1 to 64"},
        {HEAD "[{\"points\": [3]}]}", "layers[0].points[0]: {\"TYPE\": {...}} with one type is needed"},
        {HEAD "[{\"points\": []}, {\"centers\": [\"code\", {\"gate\": {}}]}]}",
         "layers[1].centers[1].gate.layers: is missing"},
        {HEAD "[{\"points\": [{\"attention\": {}}]}]}", "layers[0].points[0].attention.over: is missing"},
        {HEAD "[{\"points\": [{\"attention\": {\"over\": \"rows\"}}]}]}",
         "layers[0].points[0].attention.over: unknown 'rows' (points, centers)"},
        {HEAD "[{\"points\": [{\"attention\": {\"over\": \"points\", \"heads\": \"two\"}}]}]}",
         "layers[0].points[0].attention.heads: a number is needed"},
        {HEAD "[{\"points\": [{\"attention\": {\"over\": \"points\", \"scaled\": 1}}]}]}",
         "layers[0].points[0].attention.scaled: true or false is needed"},
        {HEAD "[{\"points\": [{\"attention\": {\"over\": \"points\", \"heads\": [1, 2]}}]}]}",
         "layers[0].points[0].attention.heads: one number is needed"},
        {HEAD "[{\"points\": [{\"attention\": {\"over\": \"points\", \"query\": \"dat\"}}]}]}",
         "layers[0].points[0].attention.query: unknown 'dat' (data, code, norm, one, memory)"},
        {HEAD "[{\"points\": [{\"residual\": [{\"dropout\": {\"q\": 1}}]}]}]}",
         "layers[0].points[0].residual[0].dropout: unknown key 'q' (name|p)"},
        {"{\"name\": \"x\", \"tokens\": {\"memory\": 1.5}, \"layers\": []}",
         "tokens: memory must be a whole number from 0 to 65536"},
        {"{\"name\": \"x\", \"tokens\": \"none\", \"keep\": \"all\", \"layers\": []}",
         "keep: unknown 'all' (places, tokens)"},
        {"{\"name\": \"\", \"tokens\": \"none\", \"layers\": []}", "name: 1 to 63 bytes are needed"},
        {"{\"name\": \"x\", \"layers\": []}", "tokens: is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_ptr_null(read(cases[i].text));
        ck_assert_str_eq(error.text, cases[i].message);
    }
    ck_assert_ptr_null(read(HEAD "[{\"points\": [{\"conv\": {}}]}]}"));
    ck_assert_msg(strstr(error.text, "layers[0].points[0]: unknown layer 'conv' (attention, code, ") != NULL, "%s",
                  error.text);
}
END_TEST

static ts_tensor *twice(const ts_layer *layer, ts_streams *streams, ts_tensor *x) {
    (void)layer;
    return ts_scale(streams->tape, x, 2);
}
static const ts_layer_type twice_layer = {"twice", "y = 2 x", ts_no_fields, .forward = twice};
static const ts_layer_type other_layer = {"twice", "another", ts_no_fields, .forward = twice};

START_TEST(a_type_of_the_callers_stands_beside_the_others) {
    error = (ts_error){.status = TS_OK};
    ck_assert_ptr_null(ts_layer_type_by_name("twice"));
    ck_assert_int_eq(ts_layer_register(&twice_layer, &error), TS_OK);
    ck_assert_int_eq(ts_layer_register(&twice_layer, &error), TS_OK); /* again is the same */
    ck_assert_int_eq(ts_layer_register(&other_layer, &error), TS_ERROR_USAGE);
    ts_architecture *a = read(HEAD "[{\"centers\": [\"twice\", {\"twice\": {\"name\": \"t\"}}]}]}");
    ck_assert_msg(a != NULL, "%s", error.text);
    ck_assert_ptr_eq(a->layer[0].centers->part[1]->type, &twice_layer);
    ts_architecture_free(a);
}
END_TEST

/* Every type and every field stands in docs/definitions.md. */
START_TEST(the_docs_name_every_field) {
    char path[1000], name[100];
    snprintf(path, sizeof path, "%s/../../docs/definitions.md", getenv("TESSERA_DATA"));
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 18);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, file), 0);
    fclose(file);
    for (int t = 0; ts_layer_types[t] != NULL; t++) {
        snprintf(name, sizeof name, "\n`%s`", ts_layer_types[t]->name);
        const char *section = strstr(text, name);
        ck_assert_msg(section != NULL, "%s", name);
        for (const ts_field *f = ts_layer_types[t]->fields; f->name != NULL; f++) {
            snprintf(name, sizeof name, "| `%s` |", f->name);
            ck_assert_msg(strstr(section, name) != NULL, "%s of %s", f->name, ts_layer_types[t]->name);
        }
    }
    free(text);
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("architectures as text");
    tcase_add_loop_test(cases, examples_are_read_printed_and_built, 0, EXAMPLES);
    tcase_add_test(cases, all_that_can_be_said_is_printed);
    tcase_add_test(cases, definitions_are_architectures);
    tcase_add_test(cases, refusals_name_the_place);
    tcase_add_test(cases, the_docs_name_every_field);
    tcase_add_test(cases, a_type_of_the_callers_stands_beside_the_others);
    return run_case("architectures as text", cases);
}
