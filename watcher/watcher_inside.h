/* watcher_inside: the state of the watcher's core, for watcher.c and report.c; nobody else includes
 * it. */
#ifndef WATCHER_WATCHER_INSIDE_H
#define WATCHER_WATCHER_INSIDE_H

#include "proto/base/log.h"
#include "proto/bus/stream.h"
#include "proto/kube/watch/reflector.h"
#include "watcher/barriers.h"
#include "watcher/probe.h"
#include "watcher/version.h"
#include "watcher/watcher.h"

#define HELD_MAX 64 /* subscribers that wait for the first snapshot */

struct source {
    struct watcher *w;
    const struct kube_resource *kind;
    struct reflector *reflector;
    struct mirror *mirror; /* NULL: finished pods, which members counts */
    size_t list;           /* of finished pods */
    bool idle;             /* such a list that is not needed */
    const char *path;      /* where the last list began; NULL: nowhere yet */
};

struct watcher {
    struct publisher *publisher;
    struct source *sources; /* the kinds, then lists of finished pods */
    size_t count;
    struct strs annotations; /* of these beginnings of keys; borrowed */
    struct members *members;
    struct published group_kinds; /* which groups of PodGroups are served */
    struct moment now;            /* of the last call with news */
    struct probe probe;
    struct version version; /* as the probe is answered */
    bool distrust;          /* the next request is to say so */
    struct moment started;
    struct span barrier_wait;
    bool barrier_seen; /* one was asked for, at any time */
    bool synced;
    struct {
        struct address from;
        struct message message;
    } held[HELD_MAX]; /* subscribes, until synced */
    size_t held_count;
    struct barriers barriers;
    uint64_t barrier_behind; /* snapshots behind which the last one was told */
    struct mirror *pods;     /* NULL: they are not mirrored */
    struct mirror *nodes;    /* likewise */
    struct closed *closed;
    int64_t told;                     /* sequence */
    uint64_t told_calm;               /* of pods, by then */
    bool asked;                       /* a subscriber has said something since */
    struct moment calm_at, gather_by; /* when such a change was told; when it has to be */
    struct moment view_at;
    uint64_t viewed; /* snapshots behind which a view stands */
    bool view_stale;
    struct log_limit limit;
};

/* ---- report.c ---- */

size_t source_objects(const struct source *s);
/* How old what the watcher knows is, and whether it is whole. */
void watcher_fill_view(const struct watcher *w, struct moment now, struct view *view);

#endif
