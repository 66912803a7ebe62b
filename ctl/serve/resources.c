/* resources: a snapshot of pods, and of each pod its lines. A page is built as the pods come,
 * limits and requests apart because a family's lines must stand together, and only the last one is
 * kept, for as long as somebody may still ask for it.
 *
 * What must stay true: a page is whole or there is none, since a pod that is missing would look as
 * if it asked for nothing; and no more is on its way than was granted. */
#include "ctl/serve/resources.h"

#include "ctl/serve/totals.h"
#include "proto/base/memory.h"

#include <string.h>

#define LIMIT   "kube_pod_resource_limit"
#define REQUEST "kube_pod_resource_request"

#define WINDOW    2000  /* messages that may be on their way */
#define SILENT_MS 5000  /* so long without a message, and the page has failed */
#define KEEP_MS   10000 /* a page that was not fetched */

struct resources {
    struct address watcher; /* peer 0: not there */
    int64_t asked, done;    /* numbers of pages; done: the last that is there, or has failed */
    bool failed;            /* the one that is done */
    bool begun;             /* the snapshot of the one that is asked for */
    int64_t epoch, sequence, part;
    uint32_t used; /* since the last grant */
    struct moment heard, done_at;
    struct buffer limits, requests, labels;
    struct buffer page;
};

struct resources *resources_new(void)
{
    return memory_take(sizeof(struct resources));
}

static void clear(struct resources *r)
{
    buffer_free(&r->limits);
    buffer_free(&r->requests);
}

void resources_free(struct resources **resources)
{
    struct resources *r = *resources;
    if (r == NULL)
        return;
    clear(r);
    buffer_free(&r->labels);
    buffer_free(&r->page);
    memory_free(r);
    *resources = NULL;
}

/* ---- lines ---- */

static void add_label(struct buffer *out, const char *name, struct str value)
{
    buffer_print(out, "%s=\"", name);
    totals_print_label(out, value);
    buffer_add_text(out, "\",");
}

/* Upstream's units: none for what it does not know. */
static const char *unit_of(struct str resource)
{
    if (str_is(resource, "cpu"))
        return "cores";
    if (str_is(resource, "memory") || str_is(resource, "storage") ||
        str_is(resource, "ephemeral-storage") || str_starts_with(resource, "hugepages-"))
        return "bytes";
    return str_starts_with(resource, "attachable-volumes-") ? "integer" : "";
}

/* Millicores as upstream multiplies them, to the last digit. */
static double shown(const struct quantity *q)
{
    if (!str_is(q->name, "cpu"))
        return (double)q->amount;
    int64_t whole = q->amount / 1000;
    return q->amount % 1000 == 0 ? (double)whole : (double)q->amount * 1e-3;
}

static void add_lines(struct resources *r, const struct pod *pod, bool limits)
{
    struct buffer *out = limits ? &r->limits : &r->requests;
    const struct quantity *list = limits ? pod->limits.at : pod->request.at;
    uint32_t count = limits ? pod->limits.count : pod->request.count;
    for (uint32_t i = 0; i < count; i++) {
        buffer_add_text(out, limits ? LIMIT "{" : REQUEST "{");
        buffer_add_str(out, buffer_str(&r->labels));
        add_label(out, "resource", list[i].name);
        add_label(out, "scheduler", pod->scheduler_name);
        buffer_print(out, "unit=\"%s\"} ", unit_of(list[i].name));
        totals_print_number(out, shown(&list[i]));
        buffer_add_text(out, "\n");
    }
}

static void add_pod(struct resources *r, const struct pod *pod)
{
    buffer_reset(&r->labels);
    add_label(&r->labels, "namespace", pod->namespace_name);
    add_label(&r->labels, "node", pod->node_name);
    add_label(&r->labels, "pod", pod->name);
    if (pod->has_priority)
        buffer_print(&r->labels, "priority=\"%lld\",", (long long)pod->priority);
    else
        buffer_add_text(&r->labels, "priority=\"\",");
    add_lines(r, pod, true);
    add_lines(r, pod, false);
}

static void add_family(struct buffer *page, const char *name, const char *what,
                       const struct buffer *lines)
{
    if (lines->len == 0)
        return; /* as upstream */
    buffer_print(page,
                 "# HELP %s [STABLE] Resources %s on the cluster, broken down by pod. This shows "
                 "the resource usage the scheduler and kubelet expect per pod for resources along "
                 "with the unit for the resource if any.\n# TYPE %s gauge\n",
                 name, what, name);
    buffer_add_str(page, buffer_str(lines));
}

/* ---- a page ---- */

static void end(struct resources *r, struct moment now, bool failed)
{
    buffer_free(&r->page);
    if (!failed) {
        add_family(&r->page, LIMIT, "limit for workloads", &r->limits);
        add_family(&r->page, REQUEST, "requested by workloads", &r->requests);
    }
    clear(r);
    r->done = r->asked;
    r->done_at = now;
    r->failed = failed;
    r->begun = false;
}

static void begin(struct resources *r, struct moment now, struct outbox *out)
{
    struct message m = {.type = MSG_subscribe, .subscribe = {.credit = WINDOW, .pods_once = true}};
    r->heard = now;
    r->used = 0;
    r->asked++;
    if (r->watcher.peer == 0)
        end(r, now, true);
    else
        outbox_put(out, r->watcher, &m);
}

int64_t resources_ask(struct resources *r, struct moment now, struct outbox *out)
{
    if (r->asked == r->done)
        begin(r, now, out);
    return r->asked;
}

enum resources_state resources_take(struct resources *r, int64_t page, struct buffer *out)
{
    if (r->done < page)
        return RESOURCES_wait;
    if (r->failed) {
        buffer_add_text(out, "the watcher, which knows the pods, does not answer\n");
        return RESOURCES_failed;
    }
    buffer_add_str(out, buffer_str(&r->page));
    return RESOURCES_ready;
}

static void grant(struct resources *r, struct outbox *out)
{
    struct message m = {.type = MSG_credit, .credit = {.count = ++r->used}};
    if (r->used < WINDOW / 2)
        return;
    r->used = 0;
    outbox_put(out, r->watcher, &m);
}

/* Is it the very next of the snapshot? */
static bool follows(struct resources *r, const struct delivery *in)
{
    if (in->message->type == MSG_snapshot_begin && !r->begun) {
        r->begun = true;
        r->epoch = in->epoch;
        r->sequence = in->sequence;
        r->part = 1;
        return true;
    }
    return r->begun && in->epoch == r->epoch && in->sequence == r->sequence &&
           in->part == ++r->part;
}

void resources_handle(struct resources *r, struct moment now, const struct delivery *in,
                      struct outbox *out)
{
    enum message_type type = in->message->type;
    if (type == MSG_peer_up)
        r->watcher = in->from;
    if (type == MSG_peer_down && in->from.peer == r->watcher.peer)
        r->watcher.peer = 0;
    if ((type == MSG_peer_up || type == MSG_peer_down) && r->asked > r->done)
        end(r, now, true); /* another life, or none */
    if (in->epoch == 0 || r->asked == r->done)
        return;
    r->heard = now;
    if (!follows(r, in)) {
        end(r, now, true);
        return;
    }
    grant(r, out);
    if (type == MSG_pod_set)
        add_pod(r, &in->message->pod_set.pod);
    else if (type == MSG_snapshot_end)
        end(r, now, false);
}

struct moment resources_tick(struct resources *r, struct moment now)
{
    if (r->asked > r->done) {
        struct moment late = moment_after(r->heard, span_of_ms(SILENT_MS));
        if (!moment_reached(now, late))
            return late;
        end(r, now, true);
    }
    if (r->page.at == NULL)
        return MOMENT_NEVER;
    struct moment old = moment_after(r->done_at, span_of_ms(KEEP_MS));
    if (!moment_reached(now, old))
        return old;
    buffer_free(&r->page);
    return MOMENT_NEVER;
}
