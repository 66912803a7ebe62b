/* names: the names that `berth tap` takes, of messages, processes and pods, and what to say of one
 * that is none. */
#ifndef CTL_TAP_NAMES_H
#define CTL_TAP_NAMES_H

#include "proto/base/buffer.h"
#include "proto/base/map.h"

/* A line a message: its name, who sends it, and to whom; by name. */
void tap_names_list(struct buffer *out);
/* What is wrong with a list of names with commas, as one line without its end, and which name was
 * meant, if one is near; nothing if all are names. */
void tap_names_explain(const char *list, struct buffer *out);

/* Names that were met: of processes, of pods. Zero-initialise. */
struct tap_heard {
    struct map *names;
};

/* Takes the name in, unless it is empty or there are very many. */
void tap_heard_add(struct tap_heard *heard, struct str name);
void tap_heard_free(struct tap_heard *heard);

/* Whether a process of that kind or name may be meant. heard: those that are there; complete: no
 * others come. why: what is to be said, as one line without its end; with true, that it is not
 * there yet. */
bool tap_names_process(struct str name, const struct tap_heard *heard, bool complete,
                       struct buffer *why);
/* That no message speaks of that pod, and which one was meant if one that was met is near. */
void tap_names_pod(struct str name, const struct tap_heard *heard, struct buffer *why);

#endif
