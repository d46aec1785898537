#include "definition_texts.h"

#include <string.h>

ts_error error;

static void setup(void) {
    error = (ts_error){.status = TS_OK};
}

const char everything[] =
    "{\n"
    "  \"name\": \"all \\\"of\\\" it \xc3\xa9\",\n"
    "  \"tokens\": \"dot\",\n"
    "  \"medoids\": true,\n"
    "  \"trims\": true,\n"
    "  \"cross_points\": {\n"
    "    \"score\": \"dot\", \"simplex\": \"gumbel-softmax\", \"parameter\": 0.30000000000000004, \"gamma\": 1e-12,"
    " \"dropout\": 0.01, \"scaled\": true,\n"
    "    \"query\": \"learned\",\n"
    "    \"key\": [{\"from\": \"data[0:2]\", \"scale\": 2}, {\"from\": \"one\", \"to\": \"norm\", \"scale\": -1}],\n"
    "    \"value\": \"-code[1:3]\"\n"
    "  },\n"
    "  \"self_points\": {\n"
    "    \"score\": \"euclidean\", \"simplex\": \"softmax\", \"gamma\": 1,\n"
    "    \"query\": \"data\",\n"
    "    \"key\": \"-data[1:2]\",\n"
    "    \"value\": \"learned\"\n"
    "  },\n"
    "  \"cross_centers\": {\n"
    "    \"score\": \"euclidean\", \"simplex\": \"power\", \"parameter\": 2, \"gamma\": 1e+100, \"own_code\": true,\n"
    "    \"query\": \"code\",\n"
    "    \"key\": \"code\",\n"
    "    \"value\": [{\"from\": \"data\", \"scale\": 0.1}]\n"
    "  },\n"
    "  \"self_centers\": {\n"
    "    \"identity\": true,\n"
    "    \"value\": [{\"from\": \"data\", \"scale\": 0}, {\"from\": \"norm\", \"to\": \"one\", \"scale\": 1},"
    " {\"from\": \"data\", \"to\": \"norm\", \"scale\": 1}, {\"from\": \"code\", \"scale\": -1}]\n"
    "  },\n"
    "  \"norm\": {\"range\": \"data[1:3]\", \"length\": 0.1, \"eps\": 1e-12},\n"
    "  \"feed_forward\": {\n"
    "    \"activation\": \"tanh\",\n"
    "    \"units\": [{\"from\": \"data\", \"to\": \"norm\", \"scale\": 1, \"weight\": 0.10000000000000001},\n"
    "              {\"from\": \"one\", \"to\": \"one\", \"scale\": -1, \"weight\": 5e-324}]\n"
    "  }\n"
    "}\n";

char *write_text(const ts_definition *definition) {
    char *text = ts_definition_to_json(definition);
    ck_assert_ptr_nonnull(text);
    return text;
}

ts_definition read_text(const char *text) {
    ts_definition definition;
    ck_assert_msg(ts_definition_from_json(text, strlen(text), &definition, &error) == TS_OK, "%s in\n%s", error.text,
                  text);
    return definition;
}

/* One line that a terminal prints as it stands. */
static void expect_printable(const char *text) {
    for (const char *c = text; *c != '\0'; c++) ck_assert((unsigned char)*c >= ' ' && *c != 127);
}

ts_status read_exactly(const char *text, size_t length, ts_definition *definition) {
    char *copy = malloc(length > 0 ? length : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, length);
    error = (ts_error){.status = TS_OK};
    const ts_status status = ts_definition_from_json(copy, length, definition, &error);
    ck_assert((status == TS_OK) == (error.status == TS_OK));
    if (status != TS_OK) expect_printable(error.text);
    free(copy);
    return status;
}

void expect_refusal(const char *text, size_t length, const char *message) {
    ts_definition definition;
    ck_assert_msg(read_exactly(text, length, &definition) == TS_ERROR_VALUE, "accepted: %.*s", (int)length, text);
    if (message != NULL) ck_assert_str_eq(error.text, message);
    error = (ts_error){.status = TS_OK};
}

int run_definition_case(const char *name, TCase *tests) {
    one_thread();
    tcase_add_checked_fixture(tests, setup, NULL);
    return run_case(name, tests);
}
