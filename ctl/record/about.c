/* about: the question before the answer. What must stay true: a journal is a stranger's, and what
 * cannot be read names nobody. */
#include "ctl/record/about.h"
#include "proto/base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool decode(const struct journal_entry *e, struct message *m, struct arena *a)
{
    if (e->type <= MSG_none || e->type >= MSG_COUNT || message_info[e->type].record == NULL ||
        e->body.len == 0)
        return false;
    const uint8_t *at = (const uint8_t *)e->body.at;
    struct byte_cursor in = {at, at + e->body.len};
    *m = (struct message){.type = (enum message_type)e->type};
    a->limit = 64 * (size_t)e->body.len + 65536;
    return codec_decode(message_info[m->type].record, message_body(m), &in, a);
}

/* ---- where they went ---- */

static bool note_bind(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct arena memory = {0};
    struct message m;
    (void)wall_us;
    if (e->kind == JOURNAL_message && e->type == MSG_bind && decode(e, &m, &memory))
        memory_free(map_set(context, m.bind.uid, str_copy(m.bind.node_name)));
    arena_free(&memory);
    return true;
}

void about_note(const struct member *m, struct map *nodes)
{
    member_each(m, note_bind, nodes);
}

/* ---- what was asked ---- */

struct search {
    uint64_t entry, at;
    uint32_t place; /* of the answer in a batch */
    struct buffer uid, name;
};

static void keep(struct search *s, const struct pod *pod)
{
    buffer_reset(&s->uid);
    buffer_reset(&s->name);
    buffer_add_str(&s->uid, pod->uid);
    buffer_print(&s->name, "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
}

static void keep_asked(struct search *s, const struct message *m)
{
    const struct map_batch *batch = &m->map_batch;
    uint32_t last = batch->requests.count > 0 ? batch->requests.count - 1 : 0;
    if (m->type == MSG_map_request)
        keep(s, &m->map_request.pod);
    else if (m->type == MSG_map_run)
        keep(s, &m->map_run.request.pod);
    else if (m->type == MSG_attempt)
        keep(s, &m->attempt.pod);
    else if (m->type == MSG_map_picks && s->place < m->map_picks.requests.count)
        keep(s, &m->map_picks.requests.at[s->place].pod);
    else if (m->type == MSG_map_batch && batch->requests.count > 0)
        keep(s, &batch->requests.at[s->place < last ? s->place : last].pod);
}

static bool look(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct search *s = context;
    struct arena memory = {0};
    struct message m;
    (void)wall_us;
    if (s->at++ >= s->entry)
        return false;
    if (e->kind == JOURNAL_delivery &&
        (e->type == MSG_map_request || e->type == MSG_map_run || e->type == MSG_map_batch ||
         e->type == MSG_map_picks || e->type == MSG_attempt) &&
        decode(e, &m, &memory))
        keep_asked(s, &m);
    arena_free(&memory);
    return true;
}

void about_say(const struct member *m, uint64_t entry, const struct map *nodes, struct buffer *out)
{
    static const char *const lists[] = {"results[", "picks["};
    struct search s = {.entry = entry};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const char *place = m->said.len > 0 ? strstr(m->said.at, lists[i]) : NULL;
        if (place != NULL)
            s.place = (uint32_t)strtoul(place + strlen(lists[i]), NULL, 10);
    }
    if (m->process == WORKER)
        member_each(m, look, &s);
    if (s.name.len > 0) {
        const char *node = map_get(nodes, buffer_str(&s.uid));
        buffer_print(out, " about pod %.*s, which went to %s", STR_ARG(buffer_str(&s.name)),
                     node != NULL ? node : "no node");
    }
    buffer_free(&s.uid);
    buffer_free(&s.name);
}
