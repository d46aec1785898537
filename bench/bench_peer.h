/* bench_peer.h: other people's programs for the same work, in Python: PyTorch, scikit-learn, faiss. Their scripts are
 * bench/peer_*.py, and within the program. */
#ifndef CLI_BENCH_PEER_H
#define CLI_BENCH_PEER_H

#include "bench_child.h"
#include "bench_work.h"

typedef struct cli_bench_peer {
    const char *name; /* "PyTorch, tuned" */
    const char *work; /* what it is asked to run, whatever the item's kind is called: "train", "lloyd" */
    const char *script, *form;
} cli_bench_peer;

/* Those of a kind, at most CLI_BENCH_PEERS; returns how many. */
enum { CLI_BENCH_PEERS = 4 };
int cli_bench_peers_of(const cli_bench_kind *kind, const cli_bench_peer **first);

/* Starts it in the first interpreter that can: the environment's TESSERA_PYTHON, or python3 in the path, then
 * /usr/bin/python3. false: child->failed tells whether it failed, for the reason in child->text, or is not installed.
 */
bool cli_bench_start_peer(cli_bench_child *child, const cli_bench_peer *peer, double patience, cli_progress *progress);

/* The environment's TESSERA_PYTHON, if set and not empty, can be started and does a line of Python. CLI_GO_ON,
 * or an exit code after saying why. */
int cli_bench_check_python(cli_progress *progress);

#endif
