#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../io/utf8.h"
#include "message.h"

int cli_choice(const char *choices, const char *word) {
    const size_t length = strlen(word);
    int place = 0;
    for (const char *choice = choices;; place++) {
        const size_t width = strcspn(choice, "|");
        if (width == length && strncmp(choice, word, width) == 0) return place;
        if (choice[width] == '\0') return -1;
        choice += width + 1;
    }
}

/* The place of the word text[length] among names. */
static int place_of(const char *const *names, int count, const char *text, size_t length) {
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0) return i;
    return -1;
}

int cli_place_of(const char *const *names, int count, const char *word) {
    return place_of(names, count, word, strlen(word));
}

int cli_read_words(const char *option, const char *text, const char *const *names, int count, int *places, int *found) {
    *found = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const int place = place_of(names, count, at, length);
        bool is_new = true;
        if (place < 0 && strcspn(at, " \t") < length)
            return cli_fail(CLI_WRONG_USE, "--%s: '%.*s': commas without blanks between names", option,
                            (int)ts_utf8_fit(text, 40), text);
        if (place < 0) {
            char all[256] = "";
            for (int i = 0; i < count; i++)
                snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i == 0 ? "" : ", ", names[i]);
            return cli_fail(CLI_WRONG_USE, "--%s: '%.*s' is none of %s", option,
                            (int)ts_utf8_fit(at, length < 40 ? length : 40), at, all);
        }
        for (int i = 0; i < *found; i++) is_new = is_new && places[i] != place;
        if (is_new) places[(*found)++] = place;
        at += length;
        if (*at == '\0') return CLI_GO_ON;
    }
}

static bool digits_only(const char *text) {
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int read_whole(const cli_option *option, const char *text, int64_t *value) {
    const bool is_signed = *text == '-' || *text == '+';
    if (!digits_only(text + is_signed))
        return cli_fail(CLI_WRONG_USE, "--%s: '%s' is not a whole number", option->name, text);
    errno = 0;
    *value = strtoll(text, NULL, 10);
    const int64_t most = option->most > 0 ? option->most : INT64_MAX;
    if (errno == 0 && *value >= option->least && *value <= most) return CLI_GO_ON;
    if (most == INT64_MAX && (*text == '-' || errno == 0))
        return cli_fail(CLI_WRONG_USE, "--%s: %s is less than %lld", option->name, text, (long long)option->least);
    return cli_fail(CLI_WRONG_USE, "--%s: %s is not between %lld and %lld", option->name, text,
                    (long long)option->least, (long long)most);
}

/* Splits FIRST:LAST at the colon; false if there is none, or no room for a part. */
static bool split_range(const char *text, char first[32], const char **last) {
    const size_t length = strcspn(text, ":");
    if (text[length] == '\0' || length >= 32) return false;
    memcpy(first, text, length);
    first[length] = '\0';
    *last = text + length + 1;
    return true;
}

static int read_range(const cli_option *option, const char *text, cli_range *range) {
    char first[32];
    const char *last;
    *range = (cli_range){0, 0};
    if (!split_range(text, first, &last)) return read_whole(option, text, &range->first);
    int status = read_whole(option, first, &range->first);
    if (status == CLI_GO_ON) status = read_whole(option, last, &range->last);
    if (status == CLI_GO_ON && range->last < range->first)
        return cli_fail(CLI_WRONG_USE, "--%s: %s ends before it begins", option->name, text);
    return status;
}

static int read_seed(const cli_option *option, const char *text, uint64_t *value) {
    if (!digits_only(text))
        return cli_fail(CLI_WRONG_USE, "--%s: '%s' is not a whole number from 0 to 2^64 - 1", option->name, text);
    errno = 0;
    *value = strtoull(text, NULL, 10);
    if (errno == 0) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--%s: %s is more than 2^64 - 1", option->name, text);
}

/* A number of any of the kinds. */
static int read_real(const cli_option *option, const char *text, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    const bool is_number = end != text && *end == '\0' && *text != ' ', is_finite = is_number && isfinite(*value);
    const char *wanted = NULL;
    if (option->kind == CLI_REAL && !is_finite)
        return cli_fail(CLI_WRONG_USE, "--%s: '%s' is not a finite number", option->name, text);
    if (!is_number) return cli_fail(CLI_WRONG_USE, "--%s: '%s' is not a number", option->name, text);
    if (option->kind == CLI_REAL) return CLI_GO_ON;
    if (option->kind == CLI_SHARE)
        wanted = *value >= 0 && *value < 1 ? NULL : "a share: 0 or more, and less than 1";
    else if (errno != 0)
        wanted = "within the range of numbers";
    else if (!(*value > 0))
        wanted = "a number above 0";
    else if (option->kind == CLI_FINITE && !is_finite)
        wanted = "a finite number";
    return wanted == NULL ? CLI_GO_ON : cli_fail(CLI_WRONG_USE, "--%s: %s is not %s", option->name, text, wanted);
}

static int read_span(const cli_option *option, const char *text, cli_span *span) {
    const cli_option one = {.kind = CLI_FINITE, .name = option->name};
    char first[32];
    const char *last;
    *span = (cli_span){0, 0};
    if (!split_range(text, first, &last)) return read_real(&one, text, &span->first);
    int status = read_real(&one, first, &span->first);
    if (status == CLI_GO_ON) status = read_real(&one, last, &span->last);
    if (status == CLI_GO_ON && span->last < span->first)
        return cli_fail(CLI_WRONG_USE, "--%s: %s ends before it begins", option->name, text);
    return status;
}

static int read_choice(const cli_option *option, const char *text, int *value) {
    *value = cli_choice(option->argument, text);
    if (*value >= 0) return CLI_GO_ON;
    return cli_fail(CLI_WRONG_USE, "--%s: '%s' is none of %s", option->name, text, option->argument);
}

static int read_value(const cli_option *option, const char *text, void *target) {
    void *field = (char *)target + option->field;
    switch (option->kind) {
    case CLI_RANGE: return read_range(option, text, field);
    case CLI_SPAN: return read_span(option, text, field);
    case CLI_WHOLE: return read_whole(option, text, field);
    case CLI_SEED: return read_seed(option, text, field);
    case CLI_POSITIVE:
    case CLI_FINITE:
    case CLI_SHARE:
    case CLI_REAL: return read_real(option, text, field);
    case CLI_CHOICE: return read_choice(option, text, field);
    case CLI_TEXT:
        if (*text == '\0') return cli_fail(CLI_WRONG_USE, "--%s: needs a value, not an empty one", option->name);
        *(const char **)field = text;
        return CLI_GO_ON;
    default: return CLI_GO_ON;
    }
}

enum { HELP_WIDTH = 28 };

static void print_option(const cli_option *option) {
    char left[160];
    char letter[8] = "    ";
    if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
             option->argument != NULL ? option->argument : "");
    if (strlen(left) + 2 > HELP_WIDTH)
        printf("%s\n%*s", left, HELP_WIDTH, "");
    else
        printf("%-*s", HELP_WIDTH, left);
    for (const char *c = option->help; *c != '\0'; c++)
        if (*c == '\n')
            printf("\n%*s", HELP_WIDTH, "");
        else
            putchar(*c);
    putchar('\n');
}

static int print_help(const cli_command *command) {
    printf("usage: tessera %s%s%s [options]\n\n%s\n", command->name, command->operand != NULL ? " " : "",
           command->operand != NULL ? command->operand : "", command->summary);
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->kind == CLI_HEADING)
            printf("\n%s\n", option->help);
        else
            print_option(option);
    }
    printf("%*s--help%*sthis text\n\n%s", 6, "", HELP_WIDTH - 12, "", command->examples);
    return cli_flush_stdout();
}

static const cli_option *find_name(const cli_command *command, const char *name, size_t length) {
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->kind == CLI_HEADING) continue;
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) return option;
    }
    return NULL;
}

bool cli_given(const cli_command *command, const char *name) {
    const cli_option *option = find_name(command, name, strlen(name));
    return option != NULL && command->given[option - command->options];
}

static const cli_option *find_letter(const cli_command *command, char letter) {
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].letter == letter && letter != 0) return &command->options[i];
    return NULL;
}

/* Takes the option that words[*at] begins, and its value, which may be the next word. */
static int take_option(const cli_command *command, int n_words, char *const *words, int *at, void *target) {
    const char *word = words[*at], *value = NULL;
    const cli_option *option;
    if (word[1] == '-') {
        const size_t length = strcspn(word + 2, "=");
        option = find_name(command, word + 2, length);
        if (word[2 + length] == '=') value = word + 2 + length + 1;
    } else {
        option = find_letter(command, word[1]);
        if (word[2] != '\0') value = word + 2 + (word[2] == '=');
    }
    if (option == NULL)
        return cli_fail(CLI_WRONG_USE, "unknown option '%s' (see tessera %s --help)", word, command->name);
    if (command->given != NULL) command->given[option - command->options] = true;
    if (option->kind == CLI_FLAG) {
        if (value != NULL) return cli_fail(CLI_WRONG_USE, "--%s: takes no value", option->name);
        *(bool *)((char *)target + option->field) = true;
        return CLI_GO_ON;
    }
    if (value == NULL && *at + 1 >= n_words) return cli_fail(CLI_WRONG_USE, "--%s: needs a value", option->name);
    if (value == NULL) value = words[++*at];
    return read_value(option, value, target);
}

/* Operands go to operands[most], their number to *count. */
static int parse(const cli_command *command, int n_words, char *const *words, void *target, const char **operands,
                 int most, int *count) {
    bool options_ended = false;
    *count = 0;
    for (int i = 0; i < n_words; i++) {
        const char *word = words[i];
        if (!options_ended && strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (!options_ended && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            return print_help(command);
        } else if (!options_ended && word[0] == '-' && word[1] != '\0') {
            const int status = take_option(command, n_words, words, &i, target);
            if (status != CLI_GO_ON) return status;
        } else if (command->operand == NULL) {
            return cli_fail(CLI_WRONG_USE, "%s takes options only, not '%s'", command->name, word);
        } else if (*count == most && command->many) {
            return cli_fail(CLI_WRONG_USE, "more than %d files", most);
        } else if (*count == most) {
            return cli_fail(CLI_WRONG_USE, "one %s at a time, not '%s' and '%s'", command->operand, operands[0], word);
        } else {
            operands[(*count)++] = word;
        }
    }
    if (*count == 0 && command->operand != NULL && !command->may_lack)
        return cli_fail(CLI_WRONG_USE, "which %s? (see tessera %s --help)", command->operand, command->name);
    return CLI_GO_ON;
}

int cli_parse(const cli_command *command, int n_words, char *const *words, void *target, const char **operand) {
    const char *given[1] = {NULL};
    int count;
    const int status = parse(command, n_words, words, target, given, 1, &count);
    if (status == CLI_GO_ON && operand != NULL) *operand = given[0];
    return status;
}

int cli_parse_many(const cli_command *command, int n_words, char *const *words, void *target, const char **operands,
                   int most, int *count) {
    return parse(command, n_words, words, target, operands, most, count);
}
