/* device_memo: what a search for devices came to on a node, remembered for pods whose claims ask
 * for the same, as those of one template do. For such pods only nodes of which something was given
 * since are searched again.
 *
 * A verdict is as old as what the store says has changed for its node (devices_changed). */
#ifndef SCHEDULER_CLUSTER_DEVICE_MEMO_H
#define SCHEDULER_CLUSTER_DEVICE_MEMO_H

#include "proto/messages.h"

/* So many questions are remembered at once, those that were asked last. */
#define DEVICE_MEMO_QUESTIONS 8

struct device_memo;
struct memo_question;

struct device_memo *device_memo_new(void);
/* Frees it and nulls the caller's pointer. */
void device_memo_free(struct device_memo **memo);

/* The question by what decides about its answers: the features, and what the claims ask for,
 * whatever they and their pod are called. It is one of the memo's until the next call. nodes: how
 * many there are; it remembers not many more. */
struct memo_question *device_memo_ask(struct device_memo *memo, const struct features *features,
                                      const struct resource_claim *const *claims, uint32_t count,
                                      uint32_t nodes);

/* What a search found on that node. Only answers in which no name stands are remembered. */
struct memo_answer {
    bool fits;
    int64_t score; /* of what was found */
};

/* False when nothing is known of the node, or not since that change. */
bool device_memo_get(const struct memo_question *question, struct str node, uint64_t changed,
                     struct memo_answer *answer);
void device_memo_set(struct memo_question *question, struct str node, uint64_t changed,
                     struct memo_answer answer);
/* How many answers are remembered, of all questions. */
uint32_t device_memo_count(const struct device_memo *memo);

#endif
