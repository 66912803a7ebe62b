/* completion: what shells offer when berth is typed. */
#ifndef CTL_COMPLETION_H
#define CTL_COMPLETION_H

/* berth __complete: before a command is run with options_list_only's tables, the words that were
 * typed behind its name, the last of which is to be completed; may be empty. The name stands before
 * them, and they stay. */
void completion_begin(int count, char **words);
/* One thing that the last word may become, if it begins so; doc may be NULL. */
void completion_offer(const char *text, const char *doc);
/* berth completion bash|zsh: prints what the shell is to read. */
int command_completion(int argc, char **argv);

#endif
