#include "train_options.h"

#include <stdio.h>
#include <string.h>

#include "../../io/utf8.h"
#include "../common/message.h"
#include "../common/options.h"

#define FIELD(name) offsetof(cli_train_options, name)
#define TRAIN(name) offsetof(cli_train_options, train.name)

static const cli_option options_table[] = {
    {CLI_HEADING, 0, NULL, NULL, "Tasks", 0, 0, 0},
    {CLI_WHOLE, 0, "n", "N", "points of a task (default 512)", TRAIN(n), 1, INT64_MAX},
    {CLI_WHOLE, 0, "d", "D", "their coordinates (default 32)", TRAIN(d), 1, INT64_MAX},
    {CLI_WHOLE, 0, "k", "K", "clusters (default 10)", TRAIN(k), 1, INT64_MAX},
    {CLI_TEXT, 0, "family", "F,...", "normal, cauchy, gumbel, laplace, lognormal, in turn (default normal)",
     FIELD(family), 0, 0},
    {CLI_FINITE, 0, "component-scale", "S", "deviation of a component (default .1)", TRAIN(component_scale), 0, 0},
    {CLI_FLAG, 0, "anisotropic", NULL, "components have a scale in every direction", TRAIN(anisotropic), 0, 0},
    {CLI_FLAG, 0, "unequal", NULL, "components have unequal weights", TRAIN(unequal), 0, 0},
    {CLI_WHOLE, 0, "pool", "M", "cycle through M fixed tasks (default 0: fresh ones for ever)", TRAIN(pool), 0,
     INT64_MAX},
    {CLI_HEADING, 0, NULL, NULL, "Model and loss", 0, 0, 0},
    {CLI_CHOICE, 0, "scratch", "onehot|binary|none", "codes in the tokens (default onehot)", FIELD(scratch), 0, 0},
    {CLI_FINITE, 0, "gamma", "G", "scores are -G |q - k|^2 / sqrt(width) (default 1)", TRAIN(gamma), 0, 0},
    {CLI_REAL, 0, "dropout", "P", "of attention weights, in training (default .01)", TRAIN(dropout), 0, 0},
    {CLI_CHOICE, 0, "loss", "softmin|sparsemin", "the soft k-means objective (default softmin)", FIELD(loss), 0, 0},
    {CLI_FINITE, 0, "tau", "T", "its temperature (default .1)", TRAIN(loss.tau), 0, 0},
    {CLI_FLAG, 0, "log-loss", NULL, "the mean of its logarithm", TRAIN(loss.log), 0, 0},
    {CLI_WHOLE, 0, "unroll", "U", "train through U re-embedded steps (default 1)", TRAIN(unroll), 1, 1000},
    {CLI_REAL, 0, "unroll-ramp", "F",
     "from 1 to U steps over the first part F of --steps, and of the\nnew --steps with --resume (default 0)",
     TRAIN(unroll_ramp), 0, 0},
    {CLI_HEADING, 0, NULL, NULL, "Training", 0, 0, 0},
    {CLI_WHOLE, 0, "steps", "N",
     "training steps (default 10000); with --resume the new end, which\na cosine schedule does not let be later than "
     "the first",
     FIELD(steps), 1, (int64_t)1 << 31},
    {CLI_WHOLE, 0, "batch", "B", "tasks a step (default 32)", TRAIN(batch), 1, 1 << 16},
    {CLI_CHOICE, 0, "optimiser", "adam|adamw|sgd", "(default adam; sgd with momentum .9)", FIELD(optimiser), 0, 0},
    {CLI_FINITE, 0, "lr", "R", "learning rate (default .01)", FIELD(rate), 0, 0},
    {CLI_CHOICE, 0, "schedule", "plateau|cosine|constant", "of the learning rate (default plateau)", FIELD(schedule), 0,
     0},
    {CLI_WHOLE, 0, "warmup", "N", "steps over which it grows from 0 (default 0)", TRAIN(schedule.warmup), 0, INT64_MAX},
    {CLI_POSITIVE, 0, "plateau-factor", "F", "what plateau multiplies it by (default .5)", TRAIN(schedule.factor), 0,
     0},
    {CLI_WHOLE, 0, "patience", "N", "evaluations without improvement before that (default 5)", TRAIN(schedule.patience),
     0, INT64_MAX},
    {CLI_REAL, 0, "clip", "C", "largest norm of a gradient (default 0: any)", TRAIN(clip), 0, 0},
    {CLI_WHOLE, 0, "eval-every", "N", "steps between evaluations (default 50)", TRAIN(eval_every), 1, INT64_MAX},
    {CLI_WHOLE, 0, "eval-batches", "N", "batches of fixed tasks of an evaluation (default 10)", TRAIN(eval_batches), 1,
     1 << 16},
    {CLI_SEED, 0, "seed", "S", "of all random choices (default 0)", TRAIN(seed), 0, 0},
    {CLI_WHOLE, 0, "threads", "N", "changes no result (default: as OpenMP chooses)", FIELD(threads), 1, 1024},
    {CLI_HEADING, 0, NULL, NULL, "Where to", 0, 0, 0},
    {CLI_TEXT, 0, "out", "DIR", "a new folder: last.safetensors, best.safetensors, metrics.csv,\nrun.json, curve.svg",
     FIELD(out), 0, 0},
    {CLI_TEXT, 0, "resume", "DIR", "go on where the run in DIR stands, instead", FIELD(resume), 0, 0},
    {CLI_WHOLE, 0, "checkpoint-every", "N",
     "a checkpoint at the first evaluation after every N steps\n(default: ten evaluations)", FIELD(checkpoint_every), 1,
     INT64_MAX},
    {CLI_FLAG, 0, "json", NULL, "the report as one JSON object", FIELD(json), 0, 0},
    {CLI_FLAG, 0, "quiet", NULL, "no progress line", FIELD(quiet), 0, 0},
};

enum { OPTIONS = sizeof options_table / sizeof options_table[0] };
static bool given[OPTIONS];

static const cli_command command = {
    .name = "train",
    .summary = "Trains one layer of attention to cluster: random tasks, a soft k-means objective, steps that are\n"
               "judged against Lloyd's on tasks of their own. A run that was stopped, or killed at any moment,\n"
               "goes on with --resume to the same bytes as one that was not. SIGINT and SIGTERM let it finish its\n"
               "step and write a checkpoint, and it exits with 1; a second one ends it at once.\n"
               "A run made longer by --resume --steps is as one that had these steps from its beginning, but for\n"
               "a ramp that is a part of --steps, and an evaluation at the former end.",
    .examples = "Examples\n"
                "  tessera train --out run                         the papers' protocol: N 512, D 32, K 10\n"
                "  tessera train --n 128 --unroll 5 --unroll-ramp .5 --log-loss --schedule cosine --lr .005\n"
                "                --clip 1 --steps 4000 --out unrolled\n"
                "  tessera train --resume run --steps 20000\n",
    .options = options_table,
    .n_options = OPTIONS,
    .given = given,
};

static int read_families(const char *list, ts_train_options *t) {
    char name[32];
    t->families = 0;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)ts_utf8_fit(at, length < sizeof name ? length : sizeof name - 1), at);
        if (t->families >= TS_FAMILIES) return cli_fail(CLI_WRONG_USE, "--family: at most %d of them", TS_FAMILIES);
        if (!ts_family_by_name(name, &t->family[t->families++]))
            return cli_fail(CLI_WRONG_USE, "--family: '%s' is none of normal, cauchy, gumbel, laplace, lognormal",
                            name);
        at += length;
        if (*at == '\0') return CLI_GO_ON;
    }
}

/* Words to what they stand for. */
static int complete(cli_train_options *o) {
    static const ts_scheme schemes[] = {TS_SCHEME_ONEHOT, TS_SCHEME_BINARY, TS_SCHEME_NONE};
    static const ts_schedule_kind schedules[] = {TS_SCHEDULE_PLATEAU, TS_SCHEDULE_COSINE, TS_SCHEDULE_CONSTANT};
    static const ts_optimiser_kind optimisers[] = {TS_ADAM, TS_ADAMW, TS_SGD};
    ts_train_options *t = &o->train;
    t->scheme = schemes[o->scratch];
    t->loss.kind = o->loss == 0 ? TS_LOSS_SOFTMIN : TS_LOSS_SPARSEMIN;
    t->optimiser = ts_optimiser_defaults(optimisers[o->optimiser]);
    if (t->optimiser.kind == TS_SGD) t->optimiser.momentum = 0.9;
    if (o->steps > 0) t->steps = o->steps;
    t->schedule.kind = schedules[o->schedule];
    t->schedule.rate = o->rate;
    t->schedule.total = t->schedule.kind == TS_SCHEDULE_COSINE ? t->steps : 0;
    return o->family == NULL ? CLI_GO_ON : read_families(o->family, t);
}

static cli_train_options defaults(void) {
    cli_train_options o = {.train = ts_train_defaults()};
    o.rate = o.train.schedule.rate;
    return o;
}

/* A run that goes on is what it was: only its length may change. */
static int check_resume(const cli_train_options *o) {
    static const char allowed[] = "resume|steps|threads|checkpoint-every|json|quiet";
    if (o->out != NULL) return cli_fail(CLI_WRONG_USE, "--out: --resume says already where the run is");
    for (int i = 0; i < OPTIONS; i++)
        if (given[i] && cli_choice(allowed, options_table[i].name) < 0)
            return cli_fail(CLI_WRONG_USE,
                            "--%s: a run that goes on keeps its options; with --resume only --steps, --threads, "
                            "--checkpoint-every, --json and --quiet can be given",
                            options_table[i].name);
    return CLI_GO_ON;
}

/* Options that need another, and what the library would say in its own terms. */
static int check_together(const cli_train_options *o) {
    const ts_train_options *t = &o->train;
    const char *const of_plateau[] = {"patience", "plateau-factor"};
    for (int i = 0; i < 2; i++)
        if (t->schedule.kind != TS_SCHEDULE_PLATEAU && cli_given(&command, of_plateau[i]))
            return cli_fail(CLI_WRONG_USE, "--%s: is for --schedule plateau, not %s", of_plateau[i],
                            ts_schedule_name(t->schedule.kind));
    if (t->unroll_ramp > 0 && t->unroll == 1)
        return cli_fail(CLI_WRONG_USE, "--unroll-ramp: there is nothing to grow to without --unroll of 2 or more");
    if (t->n < t->k)
        return cli_fail(CLI_WRONG_USE, "--n: %lld points are fewer than the %lld clusters of --k", (long long)t->n,
                        (long long)t->k);
    if (t->schedule.kind == TS_SCHEDULE_COSINE && t->schedule.warmup >= t->steps)
        return cli_fail(CLI_WRONG_USE, "--warmup: %lld steps leave none of the %lld of --steps to a cosine schedule",
                        (long long)t->schedule.warmup, (long long)t->steps);
    return CLI_GO_ON;
}

int cli_train_read_options(int n_words, char *const *words, cli_train_options *options) {
    ts_error error = {.status = TS_OK};
    *options = defaults();
    int status = cli_parse(&command, n_words, words, options, NULL);
    if (status == CLI_GO_ON) status = complete(options);
    if (status != CLI_GO_ON) return status;
    if (options->resume != NULL) return check_resume(options);
    if (options->out == NULL)
        return cli_fail(CLI_WRONG_USE, "where to? --out DIR, or --resume DIR (see tessera train --help)");
    status = check_together(options);
    if (status != CLI_GO_ON) return status;
    if (ts_train_check(&options->train, &error) != TS_OK) return cli_fail(CLI_WRONG_USE, "train: %s", error.text);
    ts_schedule schedule;
    if (ts_schedule_start(&schedule, &options->train.schedule, &error) != TS_OK)
        return cli_fail(CLI_WRONG_USE, "train: %s", error.text);
    return CLI_GO_ON;
}
