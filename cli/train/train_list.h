/* train_list.h: `tessera train --seed 1,2,3 --lr .001,.01`: a run a combination, each in a folder of its own. */
#ifndef CLI_TRAIN_LIST_H
#define CLI_TRAIN_LIST_H

#include <stdbool.h>

/* Is one of the options that may be lists given as one? */
bool cli_train_is_list(int n_words, char *const *words);

/* Trains them one after the other by `one`, which takes the words of a single run and whether it reports; a folder that
 * holds a run already goes on. Then runs.csv, curves.svg and a table. CLI_DONE, or an exit code: that of the last run
 * that failed. `stopped` says that a signal asked the program to end. */
typedef int cli_train_one_fn(int n_words, char *const *words, bool reports);
int cli_train_list(int n_words, char *const *words, cli_train_one_fn *one, bool (*stopped)(void));

#endif
