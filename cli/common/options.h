/* options.h: a command's options as a table, from which the command line is read and --help is printed.
 *
 * Long options take their value as --name=value or --name value, one-letter options as -k5 or -k 5; they may stand
 * anywhere, "--" ends them. Names are never abbreviated, so that a new option breaks no script. A repeated option
 * counts the last time. The locale plays no part in reading numbers. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_kind {
    CLI_HEADING,  /* a line of --help between groups of options; only `help` is set */
    CLI_FLAG,     /* no value; field: bool */
    CLI_TEXT,     /* field: const char * */
    CLI_WHOLE,    /* a whole number in least..most; field: int64_t */
    CLI_SEED,     /* 0 to 2^64 - 1; field: uint64_t */
    CLI_POSITIVE, /* a real number > 0, or inf; field: double */
    CLI_FINITE,   /* a real number > 0, not inf; field: double */
    CLI_SHARE,    /* a real number in [0,1); field: double */
    CLI_REAL,     /* any finite number; field: double */
    CLI_RANGE,    /* a whole number N, or FIRST:LAST, each in least..most; field: cli_range */
    CLI_SPAN,     /* the same of real numbers > 0, not inf; field: cli_span */
    CLI_CHOICE    /* one of the words of `argument`, "keep|random"; field: int, its place there */
} cli_kind;

typedef struct cli_range {
    int64_t first, last; /* last 0: a single number */
} cli_range;
typedef struct cli_span {
    double first, last; /* last 0: a single number */
} cli_span;

typedef struct cli_option {
    cli_kind kind;
    char letter; /* 0: none */
    const char *name, *argument, *help;
    size_t field;        /* offset of the field that the value goes to */
    int64_t least, most; /* most 0: any */
} cli_option;

/* The rows of a table. The file with the table defines FIELD(name), the offset of a field in the options of its
 * command. After the help of an option may come what else it sets: .letter = 'k', .least = 1. */
#define CLI_GROUP(text) \
    { .kind = CLI_HEADING, .help = text }
#define CLI_OPTION(k, n, a, to, ...) \
    { .kind = k, .name = n, .argument = a, .field = FIELD(to), .help = __VA_ARGS__ }

/* What most commands have, as the field `shared` of their options; and the rows of it. */
typedef struct cli_shared {
    uint64_t seed;
    int64_t threads; /* 0: as OpenMP chooses */
    bool json, quiet;
} cli_shared;
#define CLI_SHARED_SEED(of) CLI_OPTION(CLI_SEED, "seed", "S", shared.seed, of " (default 0)")
#define CLI_SHARED_THREADS(of) \
    CLI_OPTION(CLI_WHOLE, "threads", "N", shared.threads, of " (default: as OpenMP chooses)", .least = 1, .most = 1024)
#define CLI_SHARED_JSON(what) CLI_OPTION(CLI_FLAG, "json", NULL, shared.json, what " as one JSON object")
#define CLI_SHARED_QUIET CLI_OPTION(CLI_FLAG, "quiet", NULL, shared.quiet, "no progress line")

typedef struct cli_command {
    const char *name;     /* "cluster" */
    const char *operand;  /* what it takes beside options, "FILE"; NULL: nothing */
    bool many;            /* of the operand there may be several (cli_parse_many) */
    bool may_lack;        /* the operand may be absent; *operand is then NULL */
    const char *summary;  /* a sentence or more for --help */
    const char *examples; /* the end of --help */
    const cli_option *options;
    size_t n_options;
    bool *given; /* [n_options], where cli_parse notes which of them were given; NULL: nobody asks */
} cli_command;

enum { CLI_GO_ON = -1 };

/* Reads the words that follow the command's name into *target and *operand (NULL if there is none to take). Returns
 * CLI_GO_ON, or what the program shall exit with: after --help, or after saying what is wrong. */
int cli_parse(const cli_command *command, int n_words, char *const *words, void *target, const char **operand);

/* The same of a command that takes `many` operands: at most `most`, at least one. */
int cli_parse_many(const cli_command *command, int n_words, char *const *words, void *target, const char **operands,
                   int most, int *count);

/* Was the option of this name on the command line, be it with its default? */
bool cli_given(const cli_command *command, const char *name);

/* The place of a word in "keep|random|farthest", or among names; -1 when it is not there. */
int cli_choice(const char *choices, const char *word);
int cli_place_of(const char *const *names, int count, const char *word);

/* Reads "a,b", the value of --option, to places in names, each once, in the order given. CLI_GO_ON, or an exit code. */
int cli_read_words(const char *option, const char *text, const char *const *names, int count, int *places, int *found);

#endif
