#include "train_options.h"

#include <stdio.h>
#include <string.h>

#include "../common/definition_file.h"
#include "../common/field_text.h"
#include "../common/message.h"

#define FIELD(name) offsetof(cli_train_options, name)

static const cli_option options_table[] = {
    CLI_GROUP("Tasks"),
    CLI_OPTION(CLI_RANGE, "n", "N[:M]", n, "points of a task, or drawn from N to M for each (default 512)", .least = 1),
    CLI_OPTION(CLI_RANGE, "d", "D[:E]", d, "their coordinates (default 32)", .least = 1),
    CLI_OPTION(CLI_RANGE, "k", "K[:L]", k, "clusters (default 10)", .least = 1),
    CLI_OPTION(CLI_TEXT, "family", "F,...", family,
               "normal, cauchy, gumbel, laplace, lognormal, moons, in turn (default\nnormal)"),
    CLI_OPTION(CLI_RANGE, "components", "C[:D]", components, "components, if not as many as clusters", .least = 1),
    CLI_OPTION(CLI_SPAN, "component-scale", "S[:T]", scale, "deviation of a component (default .1)"),
    CLI_OPTION(CLI_FLAG, "anisotropic", NULL, train.anisotropic, "components have a scale in every direction"),
    CLI_OPTION(CLI_FLAG, "unequal", NULL, train.unequal, "components have unequal weights"),
    CLI_OPTION(CLI_TEXT, "source", "NAME[:F=V,...]", source,
               "tasks of another kind than --family: nested, clusters of clusters\n(groups, spread, scale)"),
    CLI_OPTION(CLI_TEXT, "data", "FILE", data,
               "tasks are random rows of this file, and columns if it has more than --d"),
    CLI_OPTION(CLI_TEXT, "columns", "LIST", columns, "of --data, as tessera cluster has it"),
    CLI_OPTION(CLI_TEXT, "labels-column", "C", labels_column, "of --data, which is left out"),
    CLI_OPTION(CLI_FINITE, "data-share", "S", train.source.data_share,
               "the share of tasks from --data; the others are of --family\n(default 1: all)"),
    CLI_OPTION(CLI_WHOLE, "pool", "M", train.pool, "cycle through M fixed tasks (default 0: fresh ones for ever)"),
    CLI_GROUP("Model and loss"),
    CLI_OPTION(CLI_TEXT, "arch", "FILE.json", arch,
               "layers of one's own (docs/definitions.md), instead of the papers' model"),
    CLI_OPTION(CLI_FLAG, "list-layers", NULL, list_layers,
               "prints the types of layers and their fields, and trains nothing"),
    CLI_OPTION(CLI_TEXT, "start", "FILE", start,
               "a checkpoint whose parameters it begins with; or the word construction:\nthe papers' blocks begin as "
               "soft k-means"),
    CLI_OPTION(CLI_POSITIVE, "start-gamma", "G", start_gamma, "gamma of that construction (default 10)"),
    CLI_OPTION(CLI_TEXT, "freeze", "NAME,...", freeze, "parameters whose names begin like this are not trained"),
    CLI_OPTION(CLI_CHOICE, "scratch", "onehot|binary|none", scratch, "codes in the tokens (default onehot)"),
    CLI_OPTION(CLI_FINITE, "gamma", "G", train.gamma, "scores are -G |q - k|^2 / sqrt(width) (default 1)"),
    CLI_OPTION(CLI_REAL, "dropout", "P", train.dropout, "of attention weights, in training (default .01)"),
    CLI_OPTION(CLI_TEXT, "loss", "NAME[:F=V,...]", loss,
               "softmin or sparsemin, the soft k-means objectives; hardmin, the\nobjective itself; worst:share=.1, "
               "over the farthest points;\nmapmin:map=entmax-1.5, softmin with any map (default softmin)"),
    CLI_OPTION(CLI_FINITE, "tau", "T", train.loss.tau, "temperature of softmin, sparsemin and mapmin (default .1)"),
    CLI_OPTION(CLI_FLAG, "log-loss", NULL, train.loss.log, "the mean of its logarithm"),
    CLI_OPTION(CLI_REAL, "last-weight", "W", train.loss.last_weight,
               "of U steps trained through the last weighs 1 + W U, the others 1\n(default 0)"),
    CLI_OPTION(CLI_WHOLE, "unroll", "U", train.unroll, "train through U re-embedded steps (default 1)", .least = 1,
               .most = 1000),
    CLI_OPTION(CLI_REAL, "unroll-ramp", "F", train.unroll_ramp,
               "from 1 to U steps over the first part F of --steps, and of the\nnew --steps with --resume (default 0)"),
    CLI_GROUP("Training"),
    CLI_OPTION(CLI_WHOLE, "steps", "N", steps,
               "training steps (default 10000); with --resume the new end, which\na cosine schedule does not let be "
               "later than the first",
               .least = 1, .most = (int64_t)1 << 31),
    CLI_OPTION(CLI_WHOLE, "batch", "B", train.batch, "tasks a step (default 32)", .least = 1, .most = 1 << 16),
    CLI_OPTION(CLI_TEXT, "optimiser", "NAME[:F=V,...]", optimiser,
               "adam, adamw or sgd (default adam; sgd with momentum .9)"),
    CLI_OPTION(CLI_REAL, "momentum", "M", optimiser_number[0], "of sgd"),
    CLI_OPTION(CLI_REAL, "nesterov", "0|1", optimiser_number[1], "of sgd"),
    CLI_OPTION(CLI_REAL, "beta1", "B", optimiser_number[2], "of adam and adamw (default .9)"),
    CLI_OPTION(CLI_REAL, "beta2", "B", optimiser_number[3], "of adam and adamw (default .999)"),
    CLI_OPTION(CLI_REAL, "epsilon", "E", optimiser_number[4], "of adam and adamw (default 1e-8)"),
    CLI_OPTION(CLI_REAL, "decay", "D", optimiser_number[5], "of adamw (default .01)"),
    CLI_OPTION(CLI_FINITE, "lr", "R", rate, "learning rate (default .01)"),
    CLI_OPTION(CLI_CHOICE, "schedule", "plateau|cosine|constant", schedule, "of the learning rate (default plateau)"),
    CLI_OPTION(CLI_WHOLE, "warmup", "N", train.schedule.warmup, "steps over which it grows from 0 (default 0)"),
    CLI_OPTION(CLI_POSITIVE, "plateau-factor", "F", train.schedule.factor,
               "what plateau multiplies it by (default .5)"),
    CLI_OPTION(CLI_WHOLE, "patience", "N", train.schedule.patience,
               "evaluations without improvement before that (default 5)"),
    CLI_OPTION(CLI_REAL, "lr-floor", "R", train.schedule.floor, "below which no schedule goes (default 0)"),
    CLI_OPTION(CLI_WHOLE, "cooldown", "N", train.schedule.cooldown,
               "evaluations after a lower rate that do not count (default 0)"),
    CLI_OPTION(CLI_REAL, "threshold", "T", train.schedule.threshold,
               "the share by which plateau wants an improvement (default 1e-4)"),
    CLI_OPTION(CLI_REAL, "clip", "C", train.clip, "largest norm of a gradient (default 0: any)"),
    CLI_OPTION(CLI_WHOLE, "eval-every", "N", train.eval_every, "steps between evaluations (default 50)", .least = 1),
    CLI_OPTION(CLI_WHOLE, "eval-batches", "N", train.eval_batches,
               "batches of fixed tasks of an evaluation (default 10)", .least = 1, .most = 1 << 16),
    CLI_SHARED_SEED("of all random choices"),
    CLI_SHARED_THREADS("changes no result"),
    CLI_GROUP("Where to"),
    CLI_OPTION(CLI_TEXT, "out", "DIR", out,
               "a new folder: last.safetensors, best.safetensors, metrics.csv,\nrun.json, curve.svg"),
    CLI_OPTION(CLI_TEXT, "resume", "DIR", resume, "go on where the run in DIR stands, instead"),
    CLI_OPTION(CLI_WHOLE, "checkpoint-every", "N", checkpoint_every,
               "a checkpoint at the first evaluation after every N steps\n(default: ten evaluations)", .least = 1),
    CLI_SHARED_JSON("the report"),
    CLI_SHARED_QUIET,
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
               "a ramp that is a part of --steps, and an evaluation at the former end.\n"
               "Lists of --seed, --lr, --tau, --gamma, --batch, --unroll or --loss (--seed 1,2,3) train every\n"
               "combination, each in a folder of --out, with a table, runs.csv and curves.svg; the same command\n"
               "goes on with what was begun.",
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
    const char *names[TS_MOST_FAMILIES];
    int places[TS_MOST_FAMILIES];
    for (int f = 0; f < ts_families; f++) names[f] = ts_family_name(f);
    const int status = cli_read_words("family", list, names, ts_families, places, &t->families);
    for (int i = 0; i < t->families; i++) t->family[i] = places[i];
    return status;
}

/* "softmin, sparsemin, ..": what `name_of` knows, for a message. */
static int no_such(const char *option, const char *word, const char *(*name_of)(int), int count) {
    char known[300] = "";
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", name_of(i));
    }
    return cli_fail(CLI_WRONG_USE, "--%s: '%.40s' is none of %s", option, word, known);
}

static int read_loss(const cli_train_options *o, ts_loss_spec *loss) {
    char name[CLI_FIELD_NAME];
    ts_error error = {.status = TS_OK};
    if (o->loss != NULL && (!cli_field_name(o->loss, name) || !ts_loss_by_name(name, &loss->kind)))
        return no_such("loss", o->loss, ts_loss_name, ts_loss_kinds);
    ts_loss_set_defaults(loss);
    const ts_loss *type = ts_loss_of(loss);
    if (!type->has_tau && cli_given(&command, "tau"))
        return cli_fail(CLI_WRONG_USE, "--tau: %s has no temperature", type->name);
    const int status = o->loss == NULL ? CLI_GO_ON : cli_read_fields("loss", o->loss, type->fields, loss->field);
    if (status != CLI_GO_ON || ts_loss_check(loss, &error) == TS_OK) return status;
    return cli_fail(CLI_WRONG_USE, "train: %s", error.text);
}

static int read_optimiser(const cli_train_options *o, ts_optimiser_spec *spec) {
    static const char *const numbers[CLI_TRAIN_NUMBERS] = {"momentum", "nesterov", "beta1",
                                                           "beta2",    "epsilon",  "decay"};
    char name[CLI_FIELD_NAME];
    int kind = TS_ADAM;
    if (o->optimiser != NULL && (!cli_field_name(o->optimiser, name) || !ts_optimiser_by_name(name, &kind)))
        return no_such("optimiser", o->optimiser, ts_optimiser_name, ts_optimisers);
    *spec = ts_optimiser_defaults(kind);
    if (kind == TS_SGD) spec->momentum = 0.9;
    const ts_field *fields = ts_optimiser_type_of(kind)->fields;
    for (int i = 0; i < CLI_TRAIN_NUMBERS; i++) {
        const int place = ts_field_place(fields, numbers[i]);
        if (!cli_given(&command, numbers[i])) continue;
        if (place < 0)
            return cli_fail(CLI_WRONG_USE, "--%s: --optimiser %s has none", numbers[i], ts_optimiser_name(kind));
        spec->number[place] = o->optimiser_number[i];
    }
    return cli_read_fields("optimiser", o->optimiser == NULL ? "" : o->optimiser, fields, spec->number);
}

static const char *source_name(int i) {
    return ts_source_types[i]->name;
}

static int read_source(const cli_train_options *o, ts_train_source *source) {
    char name[CLI_FIELD_NAME];
    int count = 0;
    if (o->source == NULL) return CLI_GO_ON;
    while (ts_source_types[count] != NULL) count++;
    source->type = cli_field_name(o->source, name) ? ts_source_type_by_name(name) : NULL;
    if (source->type == NULL) return no_such("source", o->source, source_name, count);
    ts_fields_set_defaults(source->type->fields, source->field);
    return cli_read_fields("source", o->source, source->type->fields, source->field);
}

/* Sizes and scales of tasks: single numbers, or ranges. */
static void read_ranges(const cli_train_options *o, ts_train_options *t) {
    t->n = o->n.first, t->source.n_most = o->n.last;
    t->d = o->d.first, t->source.d_most = o->d.last;
    t->k = o->k.first, t->source.k_most = o->k.last;
    t->source.components = o->components.first, t->source.components_most = o->components.last;
    t->component_scale = o->scale.first, t->source.scale_most = o->scale.last;
}

/* Translates words of options. */
static int complete(cli_train_options *o) {
    static const ts_construction constructions[] = {TS_CONSTRUCTION_ONEHOT, TS_CONSTRUCTION_BINARY,
                                                    TS_CONSTRUCTION_NONE};
    static const ts_schedule_kind schedules[] = {TS_SCHEDULE_PLATEAU, TS_SCHEDULE_COSINE, TS_SCHEDULE_CONSTANT};
    ts_train_options *t = &o->train;
    t->construction = constructions[o->scratch];
    int status = read_loss(o, &t->loss);
    if (status == CLI_GO_ON) status = read_optimiser(o, &t->optimiser);
    if (status == CLI_GO_ON) status = read_source(o, &t->source);
    if (status != CLI_GO_ON) return status;
    read_ranges(o, t);
    t->seed = o->shared.seed;
    if (o->freeze != NULL && strlen(o->freeze) >= sizeof t->freeze)
        return cli_fail(CLI_WRONG_USE, "--freeze: at most %zu bytes of names", sizeof t->freeze - 1);
    if (o->freeze != NULL) snprintf(t->freeze, sizeof t->freeze, "%s", o->freeze);
    if (o->arch != NULL && cli_read_architecture(o->arch, &o->architecture) != CLI_DONE) return CLI_FAILED;
    t->architecture = o->architecture;
    if (o->steps > 0) t->steps = o->steps;
    t->schedule.kind = schedules[o->schedule];
    t->schedule.rate = o->rate;
    t->schedule.total = t->schedule.kind == TS_SCHEDULE_COSINE ? t->steps : 0;
    return o->family == NULL ? CLI_GO_ON : read_families(o->family, t);
}

static cli_train_options defaults(void) {
    cli_train_options o = {.train = ts_train_defaults()};
    o.n.first = o.train.n, o.d.first = o.train.d, o.k.first = o.train.k;
    o.scale.first = o.train.component_scale;
    o.rate = o.train.schedule.rate;
    o.start_gamma = 10;
    return o;
}

/* A resumed run keeps its options; only its length may change. */
static int check_resume(const cli_train_options *o) {
    static const char allowed[] = "resume|steps|threads|checkpoint-every|json|quiet|data|columns|labels-column";
    if (o->out != NULL) return cli_fail(CLI_WRONG_USE, "--out: --resume says already where the run is");
    for (int i = 0; i < OPTIONS; i++)
        if (given[i] && cli_choice(allowed, options_table[i].name) < 0)
            return cli_fail(CLI_WRONG_USE,
                            "--%s: a run that goes on keeps its options; with --resume only --steps, --threads, "
                            "--checkpoint-every, --json and --quiet can be given, and --data again",
                            options_table[i].name);
    return CLI_GO_ON;
}

/* Options that need another one, and values that the library would refuse in its own terms. */
static int check_together(const cli_train_options *o) {
    const ts_train_options *t = &o->train;
    const char *const of_plateau[] = {"patience", "plateau-factor"}, *const of_papers[] = {"scratch", "gamma",
                                                                                           "dropout"};
    for (int i = 0; o->arch != NULL && i < 3; i++)
        if (cli_given(&command, of_papers[i]))
            return cli_fail(CLI_WRONG_USE, "--%s: the file given by --arch says it all", of_papers[i]);
    for (int i = 0; i < 2; i++)
        if (t->schedule.kind != TS_SCHEDULE_PLATEAU && cli_given(&command, of_plateau[i]))
            return cli_fail(CLI_WRONG_USE, "--%s: is for --schedule plateau, not %s", of_plateau[i],
                            ts_schedule_name(t->schedule.kind));
    if (t->unroll_ramp > 0 && t->unroll == 1)
        return cli_fail(CLI_WRONG_USE, "--unroll-ramp: there is nothing to grow to without --unroll of 2 or more");
    if (o->data == NULL && cli_given(&command, "data-share"))
        return cli_fail(CLI_WRONG_USE, "--data-share: of what? --data says it");
    if (o->data == NULL && t->n < t->k)
        return cli_fail(CLI_WRONG_USE, "--n: %lld points are fewer than the %lld clusters of --k", (long long)t->n,
                        (long long)t->k);
    if (t->schedule.kind == TS_SCHEDULE_COSINE && t->schedule.warmup >= t->steps)
        return cli_fail(CLI_WRONG_USE, "--warmup: %lld steps leave none of the %lld of --steps to a cosine schedule",
                        (long long)t->schedule.warmup, (long long)t->steps);
    return CLI_GO_ON;
}

static void print_default(const ts_field *f) {
    if (f->kind == TS_FIELD_FLAG) {
        printf("true or false, %s", f->initial != 0 ? "true" : "false");
    } else if (f->kind == TS_FIELD_CHOICE || f->kind == TS_FIELD_MAP) {
        const char *word;
        for (int i = 0; (word = ts_field_word(f, i)) != NULL; i++) printf("%s%s", i == 0 ? "" : "|", word);
        if (f->initial >= 0) printf(", %s", ts_field_word(f, (int)f->initial));
    } else {
        printf("%s%s, %g", f->kind == TS_FIELD_WHOLE ? "whole number" : "number", f->numbers > 1 ? " or list" : "",
               f->initial);
    }
}

/* From the descriptors, so that it cannot drift. */
static int list_layers(void) {
    enum { WIDTH = 14 };
    for (int t = 0; ts_layer_types[t] != NULL; t++) {
        const ts_layer_type *type = ts_layer_types[t];
        printf("%s%s%s: %s\n", t == 0 ? "" : "\n", type->name, type->list ? " [layers]" : "", type->summary);
        for (int p = 0; type->parts != NULL && type->parts[p] != NULL; p++)
            printf("  %-*s (trained) or a group, copies, fields of linear\n", WIDTH, type->parts[p]);
        for (const ts_field *f = type->fields; f->name != NULL; f++) {
            printf("  %-*s (", WIDTH, f->name);
            print_default(f);
            printf(")%s%s\n", f->help != NULL ? " " : "", f->help != NULL ? f->help : "");
        }
    }
    return CLI_DONE;
}

int cli_train_read_options(int n_words, char *const *words, cli_train_options *options) {
    ts_error error = {.status = TS_OK};
    *options = defaults();
    int status = cli_parse(&command, n_words, words, options, NULL);
    if (status == CLI_GO_ON && options->list_layers) return list_layers();
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
