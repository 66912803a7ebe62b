/* query_eval: whether a message fulfils a query. The one idea: a comparison visits the values of
 * its field wherever the message has it, through the tables that the codec uses. What must stay
 * true: nothing is changed, and no memory is taken, so that a live tap keeps up. */
#include "ctl/tap/query_inside.h"
#include "proto/bus/frame.h"

#include <string.h>

/* What was seen of a field's values. */
struct seen {
    const struct query_node *node;
    bool any;       /* there was one */
    bool fulfilled; /* one was as asked; for != : one was equal */
};

/* ---- values ---- */

static bool is_like(const struct query_node *node, struct str text)
{
    regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)text.len};
    return regexec(&node->regex, text.len > 0 ? text.at : "", 1, &part, REG_STARTEND) == 0;
}

static void see_text(struct seen *s, struct str text)
{
    s->any = true;
    switch (s->node->op) {
    case QUERY_is_set: s->fulfilled |= text.len > 0; break;
    case QUERY_equal:
    case QUERY_unequal: s->fulfilled |= str_equal(text, s->node->text); break;
    case QUERY_like: s->fulfilled |= is_like(s->node, text); break;
    default: break;
    }
}

static void see_number(struct seen *s, int64_t number)
{
    int64_t wanted = s->node->number;
    if (s->node->op != QUERY_is_set && !s->node->is_number)
        return;
    s->any = true;
    switch (s->node->op) {
    case QUERY_is_set: s->fulfilled |= number != 0; break;
    case QUERY_equal:
    case QUERY_unequal: s->fulfilled |= number == wanted; break;
    case QUERY_less: s->fulfilled |= number < wanted; break;
    case QUERY_at_most: s->fulfilled |= number <= wanted; break;
    case QUERY_greater: s->fulfilled |= number > wanted; break;
    case QUERY_at_least: s->fulfilled |= number >= wanted; break;
    case QUERY_like: break;
    }
}

static void see_bool(struct seen *s, bool value)
{
    if (s->node->op != QUERY_is_set && !s->node->is_bool)
        return;
    s->any = true;
    s->fulfilled |= s->node->op == QUERY_is_set ? value : value == (s->node->number != 0);
}

static void see_strs(struct seen *s, const struct strs *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        see_text(s, list->at[i]);
}

static void see(struct seen *s, const struct field *f, const void *at)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: see_bool(s, *(const bool *)at); break;
    case KIND_i64: see_number(s, *(const int64_t *)at); break;
    case KIND_str: see_text(s, *(const struct str *)at); break;
    case KIND_strs: see_strs(s, at); break;
    case KIND_word: see_text(s, words_text(f->words, *(const uint32_t *)at)); break;
    case KIND_list:
    case KIND_one:
        s->any = true;
        s->fulfilled |= s->node->op == QUERY_is_set && !codec_value_is_zero(f, at);
        break;
    }
}

/* ---- fields of the message ---- */

/* What a field holds, as so many records one behind the other. */
static uint32_t held(const struct field *f, const char *at, const char **first)
{
    const struct list *list = (const struct list *)(const void *)at;
    *first = f->kind == KIND_list ? list->at : at;
    return f->kind == KIND_list ? list->count : f->kind == KIND_one ? 1 : 0;
}

/* NOLINTBEGIN(misc-no-recursion): records nest as messages.def declares, a few levels deep */

/* The values at the path from this part on, of this record. */
static void follow(struct seen *s, const struct record *r, const char *object, uint32_t part)
{
    for (size_t i = 0; i < r->field_count && !s->fulfilled; i++) {
        const struct field *f = &r->fields[i];
        const char *first;
        if (!str_is(s->node->parts[part], f->name))
            continue;
        if (part + 1u == s->node->part_count) {
            see(s, f, object + f->offset);
            continue;
        }
        uint32_t count = held(f, object + f->offset, &first);
        for (uint32_t k = 0; k < count; k++)
            follow(s, f->of, first + k * f->of->size, part + 1);
    }
}

typedef void look(struct seen *s, const struct record *r, const char *object);

static void walk(struct seen *s, const struct record *r, const char *object, look *each)
{
    each(s, r, object);
    for (size_t i = 0; i < r->field_count && !s->fulfilled; i++) {
        const struct field *f = &r->fields[i];
        const char *first;
        uint32_t count = held(f, object + f->offset, &first);
        for (uint32_t k = 0; k < count && !s->fulfilled; k++)
            walk(s, f->of, first + k * f->of->size, each);
    }
}

/* NOLINTEND(misc-no-recursion) */

static void look_path(struct seen *s, const struct record *r, const char *object)
{
    follow(s, r, object, 0);
}

/* ---- pods and nodes ---- */

static bool str_field(const struct record *r, const char *object, const char *name,
                      struct str *value)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == KIND_str && strcmp(r->fields[i].name, name) == 0) {
            *value = *(const struct str *)(const void *)(object + r->fields[i].offset);
            return true;
        }
    return false;
}

/* A pod, or a message that is about one: NAMESPACE/NAME and the UID are its values. */
static void look_pod(struct seen *s, const struct record *r, const char *object)
{
    char room[512];
    struct str space, name, uid;
    if (!str_field(r, object, "uid", &uid) || !str_field(r, object, "name", &name) ||
        !str_field(r, object, "namespace_name", &space) || uid.len == 0)
        return;
    if (r != &pod_record && r != &victim_record && message_type_of(str_of(r->name)) == MSG_none)
        return; /* a claim, a group, … */
    see_text(s, uid);
    if (space.len == 0 || name.len == 0 || space.len + name.len + 1 > sizeof(room))
        return;
    memcpy(room, space.at, space.len);
    room[space.len] = '/';
    memcpy(room + space.len + 1, name.at, name.len);
    see_text(s, (struct str){room, space.len + 1 + name.len});
}

static void look_node(struct seen *s, const struct record *r, const char *object)
{
    static const char *const fields[] = {"node", "node_name", "best_node", "nominated_node", NULL};
    struct str name;
    for (size_t i = 0; fields[i] != NULL; i++)
        if (str_field(r, object, fields[i], &name) && name.len > 0)
            see_text(s, name);
    if ((r == &node_record || r == &plugin_node_record) && str_field(r, object, "name", &name))
        see_text(s, name);
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == KIND_strs &&
            (strcmp(r->fields[i].name, "nodes") == 0 || strcmp(r->fields[i].name, "only") == 0))
            see_strs(s, (const void *)(object + r->fields[i].offset));
}

/* ---- what stands beside the body ---- */

static void see_process(struct seen *s, struct str kind, struct str name)
{
    if (kind.len > 0)
        see_text(s, kind);
    if (name.len > 0)
        see_text(s, name);
}

static int64_t own_number(enum query_own own, const struct query_subject *subject)
{
    const struct envelope *e = subject->envelope;
    switch (own) {
    case QUERY_term: return e->term;
    case QUERY_generation: return e->generation;
    case QUERY_epoch: return e->epoch;
    case QUERY_sequence: return e->sequence;
    case QUERY_link: return e->link;
    case QUERY_sent_us: return e->sent_us;
    default: return subject->tapped->frame.len;
    }
}

static void see_own(struct seen *s, const struct query_subject *subject, const struct record *r)
{
    const struct tapped *t = subject->tapped;
    const char *body = r == NULL ? NULL : message_body_const(subject->message);
    switch (s->node->own) {
    case QUERY_message: see_text(s, str_of(frame_type_name(subject->envelope->type))); break;
    case QUERY_from:
    case QUERY_to:
        if (t->sent == (s->node->own == QUERY_from))
            see_process(s, t->process, t->instance);
        else
            see_process(s, t->peer_process, t->peer_instance);
        break;
    case QUERY_tap: see_process(s, t->process, t->instance); break;
    case QUERY_pod:
    case QUERY_node:
        if (body != NULL)
            walk(s, r, body, s->node->own == QUERY_pod ? look_pod : look_node);
        break;
    case QUERY_attempt:
        for (size_t i = 0; i < subject->attempt_count; i++)
            see_number(s, subject->attempts[i]);
        break;
    default: see_number(s, own_number(s->node->own, subject)); break;
    }
}

static bool compares(const struct query_node *node, const struct query_subject *subject)
{
    struct seen s = {.node = node};
    enum message_type type = subject->message == NULL ? MSG_none : subject->message->type;
    const struct record *r = message_info[type].record;
    if (node->own != QUERY_field)
        see_own(&s, subject, r);
    else if (r != NULL && node->from_root)
        follow(&s, r, message_body_const(subject->message), 0);
    else if (r != NULL)
        walk(&s, r, message_body_const(subject->message), look_path);
    return node->op == QUERY_unequal ? s.any && !s.fulfilled : s.fulfilled;
}

/* NOLINTNEXTLINE(misc-no-recursion): a query is QUERY_NODES_MAX long at most */
static bool holds(const struct query *query, uint16_t at, const struct query_subject *subject)
{
    const struct query_node *node = &query->nodes[at];
    switch (node->kind) {
    case QUERY_and: return holds(query, node->left, subject) && holds(query, node->right, subject);
    case QUERY_or: return holds(query, node->left, subject) || holds(query, node->right, subject);
    case QUERY_not: return !holds(query, node->left, subject);
    case QUERY_compare: return compares(node, subject);
    }
    return false;
}

bool query_holds(const struct query *query, const struct query_subject *subject)
{
    return holds(query, query->root, subject);
}
