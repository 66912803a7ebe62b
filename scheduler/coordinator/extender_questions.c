/* extender_questions: what the process that calls HTTP extenders is asked, and what extenders say
 * about victims. What must stay true: extenders are asked about victims one after the other, each
 * on what the former left; whatever they say, victims are pods as we know them. */
#include "scheduler/coordinator/extender_questions.h"

#include "scheduler/coordinator/gang_try.h"
#include "scheduler/merge/consultation.h"

#define LATE_MS 30000

static const struct extender_config *config_of(const struct coordinator *c, uint32_t extender)
{
    return &c->options.extenders[extender];
}

static struct span patience(const struct coordinator *c, const struct flight *f)
{
    struct span all = span_of_ms(LATE_MS);
    for (uint32_t i = 0; i < c->options.extender_count; i++)
        if (f->holds >> i & 1)
            all.ns += 2 * config_of(c, i)->http_timeout.ns; /* filter, prioritize */
    return all;
}

static void add_extender(const struct coordinator *c, struct extend *m, uint32_t extender)
{
    m->extenders.at[m->extenders.count++] =
        (struct extender_ref){extender, config_of(c, extender)->url_prefix};
}

/* Whose turn it is to say something about victims: the place in the order. */
static uint32_t next_about_victims(const struct coordinator *c, const struct flight *f,
                                   uint32_t place)
{
    while (place < c->options.extender_count &&
           (f->extension->asked.victims >> c->asking.order[place] & 1) == 0)
        place++;
    return place;
}

static void add_candidates(struct extend *m, const struct candidates_list *list, struct arena *a)
{
    m->candidates.at = arena_take(a, list->count * sizeof(*list->at));
    for (; m->candidates.count < list->count; m->candidates.count++) {
        m->candidates.at[m->candidates.count] = list->at[m->candidates.count];
        m->candidates.at[m->candidates.count].others.count = 0; /* nobody there needs them */
    }
}

static void send_question(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    enum extension_about about = e->about;
    struct extender_ref refs[EXTENDERS_MAX];
    struct message m = {.type = MSG_extend,
                        .extend = {.id = flights_question(&c->flights),
                                   .uid = f->pod.uid,
                                   .namespace_name = f->pod.namespace_name,
                                   .name = f->pod.name}};
    m.extend.extenders_hash = c->options.extenders_hash;
    m.extend.step = about == ABOUT_victims ? EXTEND_STEP_victims : EXTEND_STEP_nodes;
    m.extend.extenders.at = refs;
    if (about == ABOUT_victims) {
        add_extender(c, &m.extend, c->asking.order[e->victims.turn]);
        add_candidates(&m.extend, &e->victims.chosen, &c->cycle_memory);
    } else {
        for (uint32_t i = 0; i < c->options.extender_count; i++)
            if (e->asked.nodes >> c->asking.order[i] & 1)
                add_extender(c, &m.extend, c->asking.order[i]);
        m.extend.nodes = e->round.left;
    }
    f->question = m.extend.id;
    flights_due(&c->flights, f, moment_after(now, patience(c, f)));
    outbox_put(c->out, c->extender, &m);
}

void extender_questions_about_victims(const struct coordinator *c, struct flight *f)
{
    f->extension->victims.turn = next_about_victims(c, f, 0);
}

bool extender_questions_send(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    bool victims = e->about == ABOUT_victims;
    uint64_t whom = (victims ? e->asked.victims : e->asked.nodes) & EXTENDER_BITS;
    if (victims)
        consultation_narrow_candidates(e);
    if (whom == 0 || e->round.left.count == 0)
        return false;
    if (c->extender.peer == 0 && f->gang != NULL) {
        flights_return(&c->flights, f);
        f->gang->lost = true;
    } else if (c->extender.peer == 0) {
        flights_queue(&c->flights, f, true);
    } else {
        send_question(c, now, f);
    }
    return true;
}

static bool find_among(const struct victim *at, uint32_t count, struct victim *v)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(at[i].uid, v->uid)) {
            *v = at[i];
            return true;
        }
    return false;
}

/* A victim as we know it: one of those that were asked about, or another pod on that node. */
static bool find_victim(const struct extension *e, struct str node, struct victim *v)
{
    for (uint32_t i = 0; i < e->victims.candidates.count; i++) {
        const struct candidate *asked = &e->victims.candidates.at[i];
        if (str_equal(asked->node, node))
            return find_among(asked->victims.at, asked->victims.count, v) ||
                   find_among(asked->others.at, asked->others.count, v);
    }
    return false;
}

/* What an extender left, with victims as we know them. Empty, or why that is no good. */
static struct str resolve(const struct coordinator *c, struct extension *e,
                          const struct extender_config *from, const struct extended *said,
                          struct candidates_list *out)
{
    *out = (struct candidates_list){
        0, arena_take(&e->arena, said->candidates.count * sizeof(*out->at))};
    for (uint32_t i = 0; i < said->candidates.count; i++) {
        struct candidate *to = &out->at[out->count];
        codec_copy(&candidate_record, to, &said->candidates.at[i], &e->arena);
        if (!cache_has_node(c->cache, to->node))
            return arena_print(&e->arena, "nodeinfo not found for node name \"%.*s\"",
                               STR_ARG(to->node));
        for (uint32_t k = 0; k < to->victims.count; k++)
            if (!find_victim(e, to->node, &to->victims.at[k]))
                return arena_print(&e->arena,
                                   "extender: %.*s claims to preempt pod (UID: &{%.*s}) on node: "
                                   "%.*s, but the pod is not found on that node",
                                   STR_ARG(from->url_prefix), STR_ARG(to->victims.at[k].uid),
                                   STR_ARG(to->node));
        if (to->victims.count == 0 && !from->ignorable)
            return arena_print(&e->arena, "expected at least one victim pod on node \"%.*s\"",
                               STR_ARG(to->node));
        out->count += to->victims.count > 0;
    }
    return (struct str){0};
}

/* One extender after another, on what the former left. */
bool extender_questions_victims(struct coordinator *c, struct moment now, struct flight *f,
                                const struct extended *said)
{
    struct extension *e = f->extension;
    const struct extender_config *from = config_of(c, c->asking.order[e->victims.turn]);
    struct candidates_list left;
    struct str error = arena_copy(&e->arena, said->error);
    if (error.len == 0 && !said->ignored)
        error = resolve(c, e, from, said, &left);
    if (error.len == 0 && !said->ignored)
        e->victims.chosen = left;
    else if (error.len > 0 && !from->ignorable)
        e->victims.error = error;
    e->victims.turn = next_about_victims(c, f, e->victims.turn + 1);
    bool more = e->victims.error.len == 0 && e->victims.chosen.count > 0 &&
                e->victims.turn < c->options.extender_count;
    if (more)
        send_question(c, now, f);
    return more;
}
