/* holdings: the mirrors as sets. The one idea: kinds are named by where they are listed, so that
 * whoever compares can list them there, too. What must stay true: telling changes nothing; and
 * reading anew is the list that follows a watch that is too old: what it does not show is gone,
 * what it shows is there, and until it has ended nothing is forgotten.
 */
#include "watcher/holdings.h"

#include "proto/bus/holdings.h"
#include "watcher/mirror.h"
#include "watcher/watcher_inside.h"

static bool is_served(const struct source *s)
{
    struct reflector_status status = reflector_status(s->reflector);
    return s->mirror != NULL && status.listed && status.state != REFLECTOR_absent &&
           status.state != REFLECTOR_degraded;
}

static void take(void *context, const struct mirrored *m)
{
    struct holder *h = context;
    holder_add(h, &(struct held_thing){.name = m->id, .uid = m->uid, .version = m->version});
}

static void take_node(void *context, const struct mirrored *m)
{
    struct holder *h = context;
    if (m->told != NULL)
        holder_add(h, &(struct held_thing){.name = m->id, .version = m->version});
}

static void take_assigned(void *context, const struct mirrored *m)
{
    struct holder *h = context;
    struct str node = m->told != NULL ? store_str(m->told, TAG_pod_node_name) : (struct str){0};
    if (node.len > 0)
        holder_add(h, &(struct held_thing){m->id, m->uid, m->version, node});
}

static void take_pending(void *context, const struct mirrored *m)
{
    struct holder *h = context;
    if (m->told != NULL && store_str(m->told, TAG_pod_node_name).len == 0 &&
        holder_wants(h, store_str(m->told, TAG_pod_scheduler_name)))
        holder_add(h, &(struct held_thing){m->id, m->uid, m->version, {NULL, 0}});
}

void holdings_tell(const struct watcher *w, const struct delivery *in, struct outbox *out)
{
    struct holder h;
    holder_begin(&h, in, out);
    h.said.whole = w->synced;
    h.said.epoch = w->synced ? publisher_epoch(w->publisher) : 0;
    h.said.sequence = publisher_sequence(w->publisher);
    for (size_t i = 0; i < w->count && h.said.sets.count < HELD_SETS_MAX - 3; i++) {
        if (!is_served(&w->sources[i]))
            continue;
        holder_set(&h, str_of(reflector_status(w->sources[i].reflector).path));
        mirror_visit(w->sources[i].mirror, take, &h);
    }
    holder_set(&h, STR_LITERAL("nodes"));
    if (w->nodes != NULL)
        mirror_visit(w->nodes, take_node, &h);
    holder_set(&h, STR_LITERAL("assigned"));
    if (w->pods != NULL)
        mirror_visit(w->pods, take_assigned, &h);
    holder_set(&h, STR_LITERAL("pending"));
    if (w->pods != NULL)
        mirror_visit(w->pods, take_pending, &h);
    holder_end(&h);
}

static bool is_named(const struct reread *r, const char *path)
{
    for (uint32_t i = 0; i < r->paths.count; i++)
        if (str_is(r->paths.at[i], path))
            return true;
    return r->paths.count == 0;
}

void holdings_reread(struct watcher *w, const struct delivery *in)
{
    for (size_t i = 0; i < w->count; i++) {
        struct source *s = &w->sources[i];
        if (!is_served(s) || !is_named(&in->message->reread, reflector_status(s->reflector).path))
            continue;
        log_info("listed anew, as somebody asked|resource=%s", s->kind->name);
        reflector_relist(s->reflector);
    }
}
