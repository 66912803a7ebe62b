/* needs: an inverted index. Content leads to the need that several pods share; a row of plugins.def
 * and a token lead to the needs filed there.
 *
 * What must stay true: the need found for a pod holds all that its plugin's hints look at, so the
 * answer for the need is that for each of its pods; a need is filed under all tokens of each row of
 * its plugin, and lives exactly while somebody has it. */
#include "queue/needs.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/bus_plugins/wakes.h"
#include "queue/entry.h"
#include "queue/gate.h"

#include <string.h>

/* The needs filed under one token of one row. */
struct posting {
    uint64_t token;
    struct filed *first;
};

struct filed {
    struct posting *posting;
    struct need *need;
    struct filed *next, *prev;
};

/* One entry that has a need. */
struct waiting {
    struct need *need;
    struct entry *entry;
    struct waiting *next, *prev;
};

struct need {
    const struct surroundings *around;
    struct waiting *first;
    struct need *next, *prev; /* of the plugin */
    struct filed *filed;
    uint32_t filed_count;
    uint32_t hash, len;
    uint8_t plugin;
    bool apart;            /* of a pod whose resize is deferred: asked for itself in every row */
    size_t asked_row;      /* the last question, so that none is asked twice */
    uint64_t asked, found; /* numbers of the events that asked for it, and that it was found by */
    char bytes[];          /* the pod's fields, encoded */
};

/* ---- what a need consists of ---- */

static const struct field *field_named(struct str name)
{
    for (size_t i = 0; i < pod_record.field_count; i++)
        if (str_is(name, pod_record.fields[i].name))
            return &pod_record.fields[i];
    return NULL;
}

static void read_fields(struct needs *n, size_t plugin)
{
    struct str rest = str_of(wake_fields(plugin)), name;
    while (rest.len > 0 && str_split(&rest, " ", &name)) {
        uint32_t count = n->field_count[plugin]++;
        n->fields[plugin] = memory_resize(n->fields[plugin], (count + 1) * sizeof(struct field *));
        n->fields[plugin][count] = field_named(name);
        must(n->fields[plugin][count] != NULL);
    }
}

void needs_init(struct needs *n)
{
    *n = (struct needs){.tokens = memory_take(sizeof(struct tokens))};
    n->found_end = &n->found;
    for (size_t i = 0; i + 1 < plugins_count(); i++)
        read_fields(n, i);
}

void needs_free(struct needs *n)
{
    must(n->count == 0 && n->by_token.count == 0);
    for (size_t i = 0; i < NEEDS_PLUGINS; i++)
        memory_free(n->fields[i]);
    table_free(&n->by_content);
    table_free(&n->by_token);
    buffer_free(&n->bytes);
    arena_free(&n->scratch);
    memory_free(n->tokens);
    n->tokens = NULL;
}

/* What the plugin's hints see of the pod, encoded into bytes. */
static void encode(struct needs *n, size_t plugin, const struct pod *pod)
{
    struct pod seen = {0};
    for (uint32_t i = 0; i < n->field_count[plugin]; i++) {
        const struct field *f = n->fields[plugin][i];
        memcpy((char *)&seen + f->offset, (const char *)pod + f->offset, codec_field_size(f));
    }
    buffer_reset(&n->bytes);
    codec_encode(&pod_record, &seen, &n->bytes);
}

/* The pod as far as the hints look; borrowed until the next one is decoded. */
static const struct pod *decode(struct needs *n, const struct need *need)
{
    arena_reset(&n->scratch);
    struct pod *pod = arena_take(&n->scratch, sizeof(*pod));
    struct byte_cursor in = {(const uint8_t *)need->bytes,
                             (const uint8_t *)need->bytes + need->len};
    must(codec_decode(&pod_record, pod, &in, &n->scratch));
    return pod;
}

/* ---- filing ---- */

static uint64_t in_row(uint64_t token, size_t row)
{
    return token ^ (row + 1) * UINT64_C(0x94d049bb133111eb);
}

static bool is_posting(const void *thing, const void *key)
{
    return ((const struct posting *)thing)->token == *(const uint64_t *)key;
}

static struct posting *posting_of(const struct needs *n, uint64_t token)
{
    return table_get(&n->by_token, table_hash(token), is_posting, &token);
}

static void file_under(struct needs *n, struct need *need, uint64_t token)
{
    struct posting *p = posting_of(n, token);
    if (p == NULL) {
        p = memory_take(sizeof(*p));
        p->token = token;
        table_add(&n->by_token, table_hash(token), p);
    }
    struct filed *f = &need->filed[need->filed_count++];
    *f = (struct filed){.posting = p, .need = need, .next = p->first};
    if (p->first != NULL)
        p->first->prev = f;
    p->first = f;
}

static void unfile(struct needs *n, struct filed *f)
{
    if (f->next != NULL)
        f->next->prev = f->prev;
    if (f->prev != NULL)
        f->prev->next = f->next;
    else
        f->posting->first = f->next;
    if (f->posting->first != NULL)
        return;
    table_remove(&n->by_token, table_hash(f->posting->token), f->posting);
    memory_free(f->posting);
}

/* 0 is nobody's token: those who are looked at whatever happens. */
static size_t tokens_for(struct needs *n, const struct wake *wake, const struct pod *pod)
{
    n->tokens->all = false;
    n->tokens->count = 0;
    if (wake->filing->file != NULL)
        wake->filing->file(pod, n->tokens);
    if (n->tokens->all) {
        n->tokens->count = 1;
        n->tokens->at[0] = 0;
    }
    return n->tokens->count;
}

/* Once to count, once to file: rows are few and most have one token. */
static void file(struct needs *n, struct need *need, const struct pod *pod)
{
    const struct wake *wake;
    uint32_t room = 0;
    for (size_t row = 0; (wake = wake_row(row)) != NULL; row++)
        if (wake->plugin == need->plugin)
            room += (uint32_t)tokens_for(n, wake, pod);
    if (room > 0)
        need->filed = memory_take_array(room, sizeof(*need->filed));
    for (size_t row = 0; (wake = wake_row(row)) != NULL; row++) {
        size_t count = wake->plugin == need->plugin ? tokens_for(n, wake, pod) : 0;
        for (size_t i = 0; i < count; i++)
            file_under(n, need, in_row(n->tokens->at[i], row));
    }
}

/* ---- needs ---- */

struct content {
    const struct surroundings *around;
    size_t plugin;
    struct str bytes;
};

static bool has_content(const void *thing, const void *key)
{
    const struct need *need = thing;
    const struct content *c = key;
    return need->plugin == c->plugin && need->around == c->around && need->len == c->bytes.len &&
           memcmp(need->bytes, c->bytes.at, need->len) == 0;
}

static struct need *need_new(struct needs *n, const struct content *c, uint32_t hash)
{
    struct need *need = memory_take(sizeof(*need) + c->bytes.len);
    need->around = c->around;
    need->plugin = (uint8_t)c->plugin;
    need->hash = hash;
    need->len = c->bytes.len;
    memcpy(need->bytes, c->bytes.at, c->bytes.len);
    need->next = n->of_plugin[c->plugin];
    if (need->next != NULL)
        need->next->prev = need;
    n->of_plugin[c->plugin] = need;
    table_add(&n->by_content, hash, need);
    n->count++;
    return need;
}

static void need_free(struct needs *n, struct need *need)
{
    for (uint32_t i = 0; i < need->filed_count; i++)
        unfile(n, &need->filed[i]);
    if (need->next != NULL)
        need->next->prev = need->prev;
    if (need->prev != NULL)
        need->prev->next = need->next;
    else
        n->of_plugin[need->plugin] = need->next;
    table_remove(&n->by_content, need->hash, need);
    memory_free(need->filed);
    memory_free(need);
    n->count--;
}

static struct need *need_of(struct needs *n, struct entry *e, size_t plugin)
{
    encode(n, plugin, entry_pod(e));
    struct content c = {e->around, plugin, buffer_str(&n->bytes)};
    uint32_t hash = table_hash(str_hash(c.bytes) + plugin);
    struct need *need = table_get(&n->by_content, hash, has_content, &c);
    if (need == NULL) {
        need = need_new(n, &c, hash);
        need->apart = entry_pod(e)->resize_deferred;
        file(n, need, entry_pod(e));
    }
    return need;
}

static void join(struct waiting *w, struct need *need, struct entry *e)
{
    *w = (struct waiting){.need = need, .entry = e, .next = need->first};
    if (w->next != NULL)
        w->next->prev = w;
    need->first = w;
}

static void leave(struct needs *n, struct waiting *w)
{
    if (w->next != NULL)
        w->next->prev = w->prev;
    if (w->prev != NULL)
        w->prev->next = w->next;
    else
        w->need->first = w->next;
    if (w->need->first == NULL)
        need_free(n, w->need);
}

void needs_add(struct needs *n, struct entry *e)
{
    uint64_t set = gate_listens(e);
    must(e->waits == NULL);
    if (set != 0)
        e->waits = memory_take_array((size_t)__builtin_popcountll(set), sizeof(*e->waits));
    for (; set != 0; set &= set - 1) {
        struct need *need = need_of(n, e, (size_t)__builtin_ctzll(set));
        join(&e->waits[e->wait_count++], need, e);
    }
    entry_fold(e);
}

void needs_remove(struct needs *n, struct entry *e)
{
    for (uint32_t i = 0; i < e->wait_count; i++)
        leave(n, &e->waits[i]);
    memory_free(e->waits);
    e->waits = NULL;
    e->wait_count = 0;
}

void needs_follow(struct needs *n, struct entry *e)
{
    struct waiting *before = e->waits;
    uint32_t count = e->wait_count;
    e->waits = NULL;
    e->wait_count = 0;
    if (before == NULL)
        return;      /* a gate holds it */
    needs_add(n, e); /* first, so that what it needs as before stays filed */
    for (uint32_t i = 0; i < count; i++)
        leave(n, &before[i]);
    memory_free(before);
}

/* ---- events ---- */

static void found(struct needs *n, struct need *need)
{
    if (need->found == n->asked)
        return;
    need->found = n->asked;
    for (struct waiting *w = need->first; w != NULL; w = w->next) {
        struct entry *e = w->entry;
        if (e->helped == 0) {
            *n->found_end = e;
            n->found_end = &e->found_next;
        }
        e->helped |= (uint64_t)1 << need->plugin;
    }
}

static void found_all(struct needs *n, size_t plugin)
{
    for (struct need *need = n->of_plugin[plugin]; need != NULL; need = need->next)
        found(n, need);
}

/* One row of the table, for one event. */
struct asking {
    size_t row;
    const struct wake *wake;
    const struct event *event;
};

static void ask(struct needs *n, struct need *need, const struct asking *a)
{
    if (need->found == n->asked || (need->asked == n->asked && need->asked_row == a->row))
        return;
    need->asked = n->asked;
    need->asked_row = a->row;
    const struct question q = {decode(n, need), a->event, need->around};
    if (wake_worth(a->wake, &q))
        found(n, need);
}

static void ask_filed(struct needs *n, uint64_t token, const struct asking *a)
{
    const struct posting *p = posting_of(n, in_row(token, a->row));
    for (struct filed *f = p != NULL ? p->first : NULL; f != NULL; f = f->next)
        ask(n, f->need, a);
}

static void ask_together(struct needs *n, const struct asking *a)
{
    static const struct pod any;
    static const struct surroundings anywhere;
    const struct question q = {&any, a->event, &anywhere};
    bool worth = wake_worth(a->wake, &q);
    for (struct need *need = n->of_plugin[a->wake->plugin]; need != NULL; need = need->next)
        if (need->apart)
            ask(n, need, a);
        else if (worth)
            found(n, need);
}

static void ask_row(struct needs *n, const struct asking *a)
{
    if (a->wake->filing->file == NULL) {
        ask_together(n, a);
        return;
    }
    n->tokens->all = false;
    n->tokens->count = 0;
    a->wake->filing->seek(a->event, n->tokens);
    if (n->tokens->all) {
        for (struct need *need = n->of_plugin[a->wake->plugin]; need != NULL; need = need->next)
            ask(n, need, a);
        return;
    }
    ask_filed(n, 0, a);
    for (uint32_t i = 0; i < n->tokens->count; i++)
        ask_filed(n, n->tokens->at[i], a);
}

/* Pods that a plugin on the bus turned away are alike to it if they are of one profile. */
static void find_by_bus(struct needs *n, size_t plugin, const struct event *event)
{
    for (struct need *need = n->of_plugin[plugin]; need != NULL; need = need->next)
        if (bus_wakes_helped(need->around->bus, event, (uint64_t)1 << plugin) != 0)
            found(n, need);
}

struct entry *needs_helped(struct needs *n, const struct event *event)
{
    struct asking a = {.event = event};
    must(!event->wildcard && event->resource != EVENT_OF_unschedulable_pod);
    n->asked++;
    n->found = NULL;
    n->found_end = &n->found;
    for (; (a.wake = wake_row(a.row)) != NULL; a.row++)
        if (n->of_plugin[a.wake->plugin] != NULL && wake_matches(a.wake, event))
            ask_row(n, &a);
    if (!event->unseen)
        found_all(n, NEEDS_PLUGINS - 1); /* plugins that nobody knows hear of every change */
    for (size_t i = 0; i < CONFIG_BUS_PLUGINS_MAX; i++)
        find_by_bus(n, PLUGINS_BUS_FIRST + i, event);
    return n->found;
}
