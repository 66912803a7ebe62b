/* node_facts: what nodes are, as columns: numbers for whole lists of taints and features, so that a
 * rule is asked about each distinct list once and not about each node; and what was asked of single
 * labels and images lately. */
#ifndef SCHEDULER_TABLE_NODE_FACTS_H
#define SCHEDULER_TABLE_NODE_FACTS_H

#include "proto/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct image_state;
struct node_entry;
struct nodes;
struct asked_columns;
struct fact_lists;

enum fact { FACT_unschedulable, FACT_taints, FACT_features, FACT_COUNT };

/* Part of struct nodes; rows are its rows. */
struct node_facts {
    uint32_t *at[FACT_COUNT];   /* by row; equal numbers, equal facts; 0: false, or an empty list */
    uint32_t limit[FACT_COUNT]; /* numbers are below it; 1 or less: all are 0 */
    uint64_t version;           /* grows when a number gets a meaning */
    struct fact_lists *lists;
    struct asked_columns *asked;
};

/* ---- for nodes.c ---- */

void node_facts_reserve(struct node_facts *f, uint32_t room);
/* The row is new: it has no facts yet. */
void node_facts_add(struct node_facts *f, uint32_t row);
/* The row's facts are gone; those of the row last, if another, come here. */
void node_facts_remove(struct node_facts *f, uint32_t row, uint32_t last);
void node_facts_free(struct node_facts *f);

/* ---- for who changes nodes ---- */

/* The row's entry has these facts from now on. Before the atoms and images that it had go. */
void node_facts_set(struct nodes *n, uint32_t row);

/* ---- for rules ---- */

/* What a rule found out about each number of a fact: 0 when it has not looked yet. Zero-initialise;
 * it may live longer than the facts it was made for, which then are forgotten. */
struct fact_memo {
    uint64_t version;
    uint32_t room;
    uint32_t *at;
};

/* By number of the fact. */
uint32_t *fact_memo(struct fact_memo *m, const struct nodes *n, enum fact fact, struct arena *a);

/* A column of one label's values as atoms, 0 where it is absent; of names as atoms; of ones where
 * the image is there. Each holds until the next one is asked for, or a node changes. */
const uint32_t *facts_of_label(const struct nodes *n, uint32_t key);
const uint32_t *facts_of_name(const struct nodes *n);
const uint32_t *facts_of_image(const struct nodes *n, const struct image_state *image);

/* True while asking for the image's column costs nothing. */
bool facts_have_image(const struct nodes *n, const struct image_state *image);

/* True when the node has the image. */
bool node_holds_image(const struct node_entry *node, const struct image_state *image);

#endif
