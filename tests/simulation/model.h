/* model: the API server of the simulation: the small API server's verbs, store and watches
 * (tests/apiserver) without HTTP, one request at a time, at once. What is late or lost is done
 * around it (calls.h). */
#ifndef TESTS_SIMULATION_MODEL_H
#define TESTS_SIMULATION_MODEL_H

#include "proto/base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct model;
struct model_stream;

/* A change of an object; text is borrowed until the callback returns. */
struct model_change {
    char kind; /* 'A'dded, 'M'odified, 'D'eleted */
    const char *plural, *key, *uid;
    const char *node, *phase; /* of pods; "" */
    bool deleting;
    struct str json; /* the object */
    uint64_t version;
};

struct model_hooks {
    void (*changed)(const struct model_change *change);
    /* A stream that had nothing may have something now. */
    void (*woken)(void *stream_owner);
};

struct model_answer {
    int code;
    int retry_after; /* seconds; 0: none */
    struct buffer body;
    struct model_stream *stream; /* a watch that has begun, instead of a body */
};

/* history: how many changes of a kind a watch may be behind. */
struct model *model_new(uint32_t history, const struct model_hooks *hooks);
void model_free(struct model **model);

struct model_request {
    const char *method, *path; /* with query, escaped */
    const char *content_type;  /* NULL: none */
    struct str body;
    void *stream_owner; /* whom woken is told of */
};

/* The answer's body is the caller's to free. */
void model_ask(struct model *model, const struct model_request *request,
               struct model_answer *answer);
/* The next bytes of a stream: how many, 0 for none now, -1 at its end. */
int64_t model_stream_read(struct model_stream *stream, char *out, size_t room);
void model_stream_free(struct model_stream *stream);
/* Forgets the history of a kind: whoever resumes from before now gets 410. */
void model_compact(struct model *model, const char *plural);
/* The newest, of all kinds. */
uint64_t model_version(const struct model *model);
/* From now on this verb on this kind is forbidden; there is no way back but model_allow. */
void model_deny(struct model *model, const char *rule);
void model_allow(struct model *model);
/* "1.37": which version it says it is from now on; its minor. */
void model_set_version(struct model *model, const char *version);
int64_t model_minor(const struct model *model);
/* Timers that are due (kubelets), and once in a while bookmarks and ends of watches. Returns the
 * milliseconds until it wants to be called again. */
int64_t model_tick(struct model *model, bool sweep);
/* Whether PodGroups of the API in the tree are served; they are not at first. */
void model_serve_tree(struct model *model, bool served);
bool model_serves_tree(const struct model *model);
/* The object as JSON; a resource may be named with its group, as podgroups.scheduling.k8s.io; false
 * when there is none. */
bool model_read(struct model *model, const char *plural, const char *space, const char *name,
                struct buffer *json);
/* Sets what a pod's first container asks of cpu, as its subresource resize does. */
bool model_resize(struct model *model, const char *pod, int64_t thousandths);
uint64_t model_count(struct model *model, const char *plural);
/* Of the kind of which there are most, of those that a watcher lists. */
uint64_t model_longest_list(struct model *model);
/* Each object of a kind, as JSON. */
void model_each(struct model *model, const char *plural,
                void (*visit)(void *context, const char *key, struct str json), void *context);

#endif
