#include "bench_peer.h"

#include <stdlib.h>
#include <string.h>

#include "../cli/common/message.h"
#include "../cli/common/options.h"

enum { PROBE_SECONDS = 60 }; /* that an interpreter has for a line */

extern const char cli_peer_torch[], cli_peer_sklearn[]; /* bench/embed.py makes them */

static const cli_bench_peer of_training[] = {
    {"PyTorch, as it comes", "train", cli_peer_torch, "default"},
    {"PyTorch, tuned", "train", cli_peer_torch, "tuned"},
    {"PyTorch, distances by products", "train", cli_peer_torch, "matmul"},
    {"PyTorch, best, no dropout", "train", cli_peer_torch, "best"},
};
static const cli_bench_peer of_clustering[] = {
    {"scikit-learn", "lloyd", cli_peer_sklearn, "scikit-learn"},
    {"faiss", "lloyd", cli_peer_sklearn, "faiss"},
};

int cli_bench_peers_of(const cli_bench_kind *kind, const cli_bench_peer **first) {
    const bool clusters = kind == &cli_bench_exact || kind == &cli_bench_plain;
    *first = clusters ? of_clustering : of_training;
    if (clusters) return sizeof of_clustering / sizeof of_clustering[0];
    return kind == &cli_bench_train ? sizeof of_training / sizeof of_training[0] : 0;
}

static bool start(cli_bench_child *child, const char *interpreter, const char *script, const char *form,
                  double patience, cli_progress *progress) {
    char option[] = "-c", *words[] = {strdup(interpreter), option, strdup(script), strdup(form), NULL};
    const bool room = words[0] != NULL && words[2] != NULL && words[3] != NULL;
    *child = (cli_bench_child){.failed = true, .text = "out of memory"};
    const bool started = room && cli_bench_start(child, words, patience, progress);
    free(words[0]);
    free(words[2]);
    free(words[3]);
    return started;
}

/* NULL when it is not set; empty is as good as that. */
static const char *named_python(void) {
    const char *named = getenv("TESSERA_PYTHON");
    return named != NULL && named[0] != '\0' ? named : NULL;
}

/* The interpreter is there, a module is not. */
static bool lacks_module(const cli_bench_child *child) {
    return child->started && strncmp(child->text, "ModuleNotFoundError", 19) == 0;
}

bool cli_bench_start_peer(cli_bench_child *child, const cli_bench_peer *peer, double patience, cli_progress *progress) {
    const char *named = named_python(), *const places[] = {named != NULL ? named : "python3", "/usr/bin/python3"};
    cli_bench_child broken = {.failed = false};
    for (int i = 0; i < (named != NULL ? 1 : 2); i++) {
        if (start(child, places[i], peer->script, peer->form, patience, progress)) return true;
        const bool absent = lacks_module(child) || (named == NULL && !child->started);
        if (!absent && !broken.failed) broken = *child;
    }
    *child = broken;
    return false;
}

int cli_bench_check_python(cli_progress *progress) {
    const char *named = named_python();
    cli_bench_child child;
    if (named == NULL) return CLI_GO_ON;
    const bool done = start(&child, named, "print('ready')", "", PROBE_SECONDS, progress);
    cli_bench_stop(&child);
    return done ? CLI_GO_ON : cli_fail(CLI_WRONG_USE, "TESSERA_PYTHON: %s: %s", named, child.text);
}
