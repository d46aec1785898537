/* commands.h: the commands of the program. Each takes the words after its name and returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int cli_cluster(int n_words, char *const *words);
int cli_train(int n_words, char *const *words);
int cli_eval(int n_words, char *const *words);
int cli_inspect(int n_words, char *const *words);
int cli_verify(int n_words, char *const *words);
int cli_graph(int n_words, char *const *words);
int cli_plot(int n_words, char *const *words);
int cli_sweep(int n_words, char *const *words);
int cli_bench(int n_words, char *const *words);

#endif
