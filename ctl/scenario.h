/* scenario: reads a scenario document and plays it on a world, reporting each step. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "ctl/report.h"
#include "proto/kube/documents/json.h"
#include "proto/messages.h"

struct scenario_output {
    struct buffer *out;
    bool json, indented; /* json: the oracle's format; else a table */
    bool wide;           /* the table has every node's scores and reasons */
    uint32_t shards;
    int64_t release;                 /* the minor version that is decided as */
    struct cross_check *cross_check; /* NULL: none */
    struct plugin_doors *doors;      /* plugins on the bus come in there; NULL: none is asked */
    struct buffer *not_asked;        /* who has a say and was not; NULL: nobody wants to know */
    struct buffer *why;              /* what was wrong, if anything was; NULL: nobody asks */
    /* Says of which file an error speaks; NULL: it is told as it is. */
    struct str (*place)(void *context, struct str error);
    void *context;
};

/* Appends the result of the whole scenario. False when the scenario itself could not be read; that
 * is in the JSON as well. */
bool scenario_play(const struct kube_json *document, const struct scenario_output *o);
/* Reports what could not even be parsed. */
void scenario_fail(const struct scenario_output *o, struct str error);
/* Whether objects of that kind, of those that scenarios have, live in a namespace. */
bool scenario_is_namespaced(struct str kind);
/* Puts an object that does not say its namespace there, if it is of a kind that has one. */
void scenario_fill_in_namespace(struct message *m, struct str fallback);

#endif
