/* bounds: in a calm each process says what it holds, and its memory is counted. What must stay
 * true: a process holds no more than so many blocks for itself, for each object that there is, and
 * for each entry of those stores that have a limit of their own; so nothing is kept for ever of
 * what has gone. */
#include "tests/simulation/bounds.h"

#include "binder/binder.h"
#include "queue/queue.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/own_worker.h"
#include "scheduler/worker/worker.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world.h"
#include "watcher/watcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES 4096

/* ---- reports ---- */

int64_t bounds_said(const char *lines, const char *key)
{
    size_t len = strlen(key);
    const char *at = lines;
    while (at != NULL && (strncmp(at, key, len) != 0 || at[len] != '=')) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? strtoll(at + len + 1, NULL, 10) : -1;
}

/* The number behind a word of that line. */
static int64_t said_in(const char *lines, const char *key, const char *word)
{
    char wanted[48];
    const char *at = lines;
    snprintf(wanted, sizeof(wanted), "%s=", key);
    while (at != NULL && strncmp(at, wanted, strlen(wanted)) != 0) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    snprintf(wanted, sizeof(wanted), "%s=", word);
    const char *end = at != NULL ? strchr(at, '\n') : NULL;
    const char *found = at != NULL ? strstr(at, wanted) : NULL;
    return found != NULL && (end == NULL || found < end) ? strtoll(found + strlen(wanted), NULL, 10)
                                                         : 0;
}

static void report(struct proc *p, struct buffer *lines)
{
    clock_at(p->host);
    if (p->kind == WATCHER)
        watcher_status(p->core, moment_now(), lines);
    else if (p->kind == QUEUE)
        queue_status(p->core, lines);
    else if (p->kind == SCHEDULER)
        coordinator_status(p->core, lines);
    else if (p->kind == WORKER)
        worker_status(p->core, lines);
    else
        binder_status(p->core, lines);
    clock_at(NULL);
    if (lines->at == NULL)
        buffer_add_text(lines, "");
}

/* ---- the binder's book ---- */

static const struct {
    const char *key, *word;
} books[] = {{"binds", "in_flight"},          {"preempts", "under_way"},
             {"claim_releases", "under_way"}, {"status", "pods"},
             {"groups", "waiting"},           {"lane_bind", "waiting"},
             {"lane_bind", "delayed"},        {"lane_bind", "in_flight"},
             {"lane_delete", "waiting"},      {"lane_delete", "delayed"},
             {"lane_delete", "in_flight"},    {"lane_status", "waiting"},
             {"lane_status", "delayed"},      {"lane_status", "in_flight"},
             {"lane_volume", "waiting"},      {"lane_volume", "delayed"},
             {"lane_volume", "in_flight"},    {"lane_nomination", "waiting"},
             {"lane_nomination", "delayed"},  {"lane_nomination", "in_flight"}};

static bool is_idle(struct proc *p, char *why, size_t room)
{
    struct buffer lines = {0};
    bool idle = true;
    report(p, &lines);
    for (size_t i = 0; idle && i < sizeof(books) / sizeof(books[0]); i++) {
        int64_t left = said_in(lines.at, books[i].key, books[i].word);
        idle = left == 0;
        if (!idle)
            snprintf(why, room, "%s has %s of %lld %s left in its book", p->door, books[i].key,
                     (long long)left, books[i].word);
    }
    buffer_free(&lines);
    return idle;
}

bool bounds_binders_idle(char *why, size_t room)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        struct proc *p = world_proc(i);
        if (p->kind == BINDER && p->alive && !is_idle(p, why, room))
            return false;
    }
    return true;
}

/* ---- memory ---- */

/* Blocks that a process may hold, found by looking at many calms: a little more than any had. The
 * stores with limits of their own are the binder's series of events and the workers' classes. The
 * queue has a name, a place and a key for each group, whether pods are of it or not. The
 * coordinator has an index, a pool and devices for each slice, which may outlive its node; and it
 * keeps the 64 places of a batch, two blocks each, once it has had one. */
static const struct allowance {
    enum process kind;
    int64_t itself, pod, node, object; /* blocks; object: any other one */
    int64_t slice, group;              /* as many more for each ResourceSlice, each PodGroup */
    const char *store, *word;          /* of the status report; NULL: none */
    int64_t entry;
    int64_t bytes, entry_bytes; /* where no pod of a thousand containers was seen */
} allowances[] = {{WATCHER, 300, 8, 6, 6, 0, 0, "log", NULL, 2, 2 << 20, 1 << 10},
                  {QUEUE, 180, 7, 2, 2, 0, 2, NULL, NULL, 0, 512 << 10, 0},
                  {SCHEDULER, 430, 7, 5, 6, 15, 0, "group_claims", NULL, 3, 3 << 19, 0},
                  {WORKER, 100, 7, 8, 2, 0, 0, "classes", NULL, 40, 512 << 10, 128 << 10},
                  {BINDER, 70, 0, 0, 0, 0, 0, "events", "keys", 3, 300 << 10, 3 << 9}};

/* All that a process may mirror, but pods and nodes. */
static const char *const other_kinds[] = {"services",
                                          "namespaces",
                                          "resourceclaims",
                                          "resourceslices",
                                          "poddisruptionbudgets",
                                          "persistentvolumes",
                                          "persistentvolumeclaims",
                                          "storageclasses",
                                          "csinodes",
                                          "csidrivers",
                                          "csistoragecapacities",
                                          "volumeattachments"};
#define OTHER_KINDS (sizeof(other_kinds) / sizeof(other_kinds[0]))

static int64_t other_objects(void)
{
    int64_t count = (int64_t)facts_set_count();
    for (size_t i = 0; i < OTHER_KINDS; i++)
        count += (int64_t)model_count(world_model(), other_kinds[i]);
    return count;
}

#define CUSTOM_GROUPS "podgroups.scheduling.x-k8s.io"

/* Those of an API that a cluster need not have: its watch may be over, and then there are none. */
static int64_t custom_groups_there(void)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < SETS_MAX; i++)
        count += facts_sets[i].there && !facts_sets[i].tree;
    return count;
}

/* A watch that fell silent is noticed late, and that of one kind alone later than the others. */
static bool has_heard(struct proc *p, char *why, size_t room)
{
    struct buffer lines = {0};
    bool heard = true;
    report(p, &lines);
    for (size_t i = 0; heard && i < OTHER_KINDS; i++) {
        int64_t has = said_in(lines.at, other_kinds[i], "objects");
        int64_t there = (int64_t)model_count(world_model(), other_kinds[i]);
        heard = has == there;
        if (!heard)
            snprintf(why, room, "%s has %lld %s, there are %lld", p->door, (long long)has,
                     other_kinds[i], (long long)there);
    }
    int64_t groups = said_in(lines.at, CUSTOM_GROUPS, "objects");
    if (heard && groups > custom_groups_there()) {
        heard = false;
        snprintf(why, room, "%s has %lld PodGroups, there are %lld", p->door, (long long)groups,
                 (long long)custom_groups_there());
    }
    buffer_free(&lines);
    return heard;
}

bool bounds_watchers_heard(char *why, size_t room)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        struct proc *p = world_proc(i);
        if (p->kind == WATCHER && p->alive && p->core != NULL && !has_heard(p, why, room))
            return false;
    }
    return true;
}

/* A request that waits or is on the wire, and what it is about. */
#define REQUEST_BLOCKS 4
/* A bind that is under way, if only in the line for a claim, and what it reserves. */
#define BIND_BLOCKS 10

static int64_t requests_under_way(const char *lines)
{
    static const char *const lanes[] = {"lane_lease",      "lane_bind",    "lane_delete",
                                        "lane_nomination", "lane_volume",  "lane_status",
                                        "lane_event",      "lane_extender"};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
        count += said_in(lines, lanes[i], "waiting") + said_in(lines, lanes[i], "delayed") +
                 said_in(lines, lanes[i], "in_flight");
    return count;
}

/* A pod that ends after the calm became quiet may let others in, so there may be some. */
static int64_t under_way(const char *lines)
{
    return requests_under_way(lines) * REQUEST_BLOCKS +
           said_in(lines, "binds", "in_flight") * BIND_BLOCKS;
}

static int64_t entries_of(const struct allowance *a, const char *lines)
{
    int64_t count = a->word != NULL    ? said_in(lines, a->store, a->word)
                    : a->store != NULL ? bounds_said(lines, a->store)
                                       : 0;
    return count > 0 ? count : 0;
}

/* Decisions that are told later: a block each, with a message. */
#define DECISION_BYTES 1024

static int64_t decisions_of(const char *lines)
{
    int64_t kept = bounds_said(lines, "decisions_kept");
    return kept > 0 ? kept : 0;
}

/* What the coordinator remembers of looking for devices on a node: a block, and its name. */
#define ANSWER_BLOCKS 2

static int64_t answers_of(const char *lines)
{
    int64_t answers = bounds_said(lines, "device_answers");
    return answers > 0 ? answers : 0;
}

struct most {
    int64_t blocks, bytes, entries;
};

static int64_t pods_there(void)
{
    return (int64_t)model_count(world_model(), "pods");
}

static int64_t nodes_there(void)
{
    return (int64_t)model_count(world_model(), "nodes");
}

static void allow(struct most *most, const struct allowance *a, const char *lines)
{
    int64_t slices = (int64_t)model_count(world_model(), "resourceslices");
    int64_t kept = decisions_of(lines), entries = entries_of(a, lines);
    most->blocks += a->itself + kept + answers_of(lines) * ANSWER_BLOCKS + pods_there() * a->pod +
                    nodes_there() * a->node + other_objects() * a->object + slices * a->slice +
                    (int64_t)facts_set_count() * a->group + entries * a->entry +
                    (a->kind == BINDER ? under_way(lines) : 0);
    most->bytes += a->bytes + kept * DECISION_BYTES +
                   (pods_there() + nodes_there()) * OBJECT_BYTES + entries * a->entry_bytes;
    most->entries += entries;
}

/* A scheduler may have a worker inside. */
static void allow_own_worker(struct most *most, const struct proc *p)
{
    for (size_t a = 0; p->own != NULL && a < sizeof(allowances) / sizeof(allowances[0]); a++) {
        struct buffer lines = {0};
        if (allowances[a].kind != WORKER)
            continue;
        worker_status(p->own->worker, &lines);
        allow(most, &allowances[a], lines.at);
        most->blocks += 4; /* its outboxes */
        buffer_free(&lines);
    }
}

static void check_process(struct proc *p, const struct allowance *a)
{
    struct buffer lines = {0};
    struct most most = {0};
    report(p, &lines);
    allow(&most, a, lines.at);
    allow_own_worker(&most, p);
    long long pods = pods_there(), nodes = nodes_there(), others = other_objects();
    trace(2,
          "%s holds %lld blocks of %lld, %lld bytes of %lld; pods %lld, nodes %lld, others %lld, "
          "entries %lld, decisions %lld",
          p->door, (long long)p->account.blocks, (long long)most.blocks,
          (long long)p->account.bytes, (long long)most.bytes, pods, nodes, others,
          (long long)most.entries, (long long)decisions_of(lines.at));
    buffer_free(&lines);
    if (p->account.blocks > most.blocks)
        violated("no more than there is",
                 "%s holds %lld blocks of memory, %lld at most belong to %lld pods, %lld nodes, "
                 "%lld other objects and %lld entries",
                 p->door, (long long)p->account.blocks, (long long)most.blocks, pods, nodes, others,
                 (long long)most.entries);
    if (p->account.bytes > most.bytes && !facts_saw_long())
        violated("no more than there is",
                 "%s holds %lld bytes of memory, %lld at most belong to "
                 "%lld pods and %lld entries",
                 p->door, (long long)p->account.bytes, (long long)most.bytes, pods,
                 (long long)most.entries);
}

void bounds_check(void)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        struct proc *p = world_proc(i);
        for (size_t a = 0; a < sizeof(allowances) / sizeof(allowances[0]); a++)
            if (p->alive && p->core != NULL && p->journal == NULL && allowances[a].kind == p->kind)
                check_process(p, &allowances[a]);
    }
}
