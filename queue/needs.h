/* needs: the pods that wait for an event, by what they wait for, so that an event costs what it may
 * wake and not what waits.
 *
 * A need is what one plugin's hints look at of a pod (plugins.def): pods of one profile that are
 * alike in that share it, and are asked for once. It is filed under the tokens of filing.h. */
#ifndef QUEUE_NEEDS_H
#define QUEUE_NEEDS_H

#include "proto/base/table.h"
#include "queue/hint.h"

struct entry;
struct waiting;
struct need;

#define NEEDS_PLUGINS 64 /* as many as a set of plugins has bits */

struct needs {
    struct table by_content, by_token;
    struct need *of_plugin[NEEDS_PLUGINS]; /* all needs of each, through their next */
    const struct field **fields[NEEDS_PLUGINS];
    uint32_t field_count[NEEDS_PLUGINS];
    uint64_t asked;       /* number of the last event */
    struct buffer bytes;  /* of the need that is looked for */
    struct arena scratch; /* of the need that is asked for */
    struct tokens *tokens;
    struct entry *found, **found_end;
    size_t count;
};

void needs_init(struct needs *n);
/* Nobody may wait any more. */
void needs_free(struct needs *n);

/* The entry waits for what can help the plugins that rejected it, or open its gate; its pod is
 * looked at. */
void needs_add(struct needs *n, struct entry *e);
void needs_remove(struct needs *n, struct entry *e);
/* Its pod was replaced. */
void needs_follow(struct needs *n, struct entry *e);

/* Whom the event, no wildcard, may help: each entry's helped says by which plugins, the next one is
 * in found_next. The caller takes the list and zeroes both in each of its entries before anything
 * else is done with the needs. */
struct entry *needs_helped(struct needs *n, const struct event *event);

#endif
