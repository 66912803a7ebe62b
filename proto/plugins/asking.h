/* asking: questions to plugins on the bus: in line, under way, answered well or not. Pure: time
 * comes in as an argument, messages leave through an outbox.
 *
 * A plugin is asked so many questions at a time as it can answer before their deadlines if it is
 * quick; others wait in line, and their time begins when they are asked. */
#ifndef PROTO_PLUGINS_ASKING_H
#define PROTO_PLUGINS_ASKING_H

#include "proto/bus/outbox.h"
#include "proto/plugins/processes.h"

#define ASKING_AT_ONCE 128 /* questions to one plugin */

/* One question; part of whatever asks. Zero-initialise but for the first three. */
struct plugin_question {
    const struct bus_plugin *plugin; /* borrowed until the question has ended */
    enum plugin_step step;
    void *owner;
    /* asking's own: */
    bool open; /* in line or under way */
    uint32_t slot;
    int64_t id; /* 0: in line */
    uint32_t peer;
    struct moment asked;
    struct plugin_question *next, *prev;
};

/* How one ended; borrowed during the call. */
struct plugin_end {
    const struct message *answer; /* NULL: it has failed: */
    struct str why;               /* a sentence that names the plugin */
    bool silent;                  /* it said nothing: it is not there, late, or left alone */
    struct span took;             /* 0: it was not asked at all */
};

struct asking_options {
    void *state;
    /* Sets the type of the message and all of it but its id and deadline; memory from the arena.
     * False: it is larger than a message may be. */
    bool (*fill)(void *state, const struct plugin_question *q, struct message *m, struct arena *a);
    /* What is wrong with an answer that is no error, as the end of a sentence that begins with the
     * plugin's name; empty: nothing. */
    struct str (*problem)(void *state, const struct plugin_question *q, const struct message *said,
                          struct arena *a);
    /* It is no more open; another one may be asked here. */
    void (*ended)(void *state, struct moment now, struct plugin_question *q,
                  const struct plugin_end *how);
    /* The plugin has come (came), or says something well after it failed; may be NULL. */
    void (*back)(void *state, struct moment now, const struct bus_plugin_slot *slot, bool came);
};

struct plugin_list {
    struct plugin_question *first, *last;
    uint32_t count;
};

/* Zero-initialise but for the options. */
struct asking {
    struct asking_options options;
    struct bus_plugins who;
    struct plugin_list line[CONFIG_BUS_PLUGINS_MAX], under_way[CONFIG_BUS_PLUGINS_MAX];
    int64_t last_id;
    uint64_t late; /* answers to what nobody asks any more */
};

/* The plugins that are asked from now on; nothing may be open. */
void asking_configure(struct asking *a, const struct str *names, uint32_t count);
/* Asked with the next tick. A plugin that was not configured is from now on; false, and the
 * question is not open: there is no room for one more of them. */
bool asking_add(struct asking *a, struct plugin_question *q);
/* It does not end any more; nothing happens to one that is not open. */
void asking_drop(struct asking *a, struct plugin_question *q);

/* What comes from a plugin, or of its link. */
void asking_up(struct asking *a, struct moment now, struct str name, uint32_t peer);
void asking_down(struct asking *a, uint32_t peer);
void asking_heard(struct asking *a, struct moment now, uint32_t peer);
/* An answer with that id; said: the whole message. error: what the plugin says went wrong. */
void asking_answered(struct asking *a, struct moment now, uint32_t peer, int64_t id,
                     const struct message *said);
/* Asks whom it may, and ends what is late or cannot be asked. Returns when it wants to be called
 * next. */
struct moment asking_tick(struct asking *a, struct moment now, struct outbox *out);
/* Why the plugin cannot be asked; NULL: it can, or nobody has asked it yet. */
const char *asking_unable(const struct asking *a, struct str name, struct moment now);

#endif
