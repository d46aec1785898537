#include "bench_peer.h"

#include <stdlib.h>
#include <string.h>

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

static bool start(cli_bench_child *child, const cli_bench_peer *peer, const char *interpreter) {
    char option[] = "-c", *words[] = {strdup(interpreter), option, strdup(peer->script), strdup(peer->form), NULL};
    const bool room = words[0] != NULL && words[2] != NULL && words[3] != NULL;
    const bool started = room && cli_bench_start(child, words, true);
    free(words[0]);
    free(words[2]);
    free(words[3]);
    return started;
}

bool cli_bench_start_peer(cli_bench_child *child, const cli_bench_peer *peer) {
    const char *named = getenv("TESSERA_PYTHON");
    if (named != NULL) return start(child, peer, named);
    return start(child, peer, "python3") || start(child, peer, "/usr/bin/python3");
}
