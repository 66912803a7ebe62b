/* life: the entries of a journal, each with its texts. What must stay true: an answer that came in
 * pieces is read as a whole, since names lie across its pieces; an entry that is left out of
 * neither walk; and what was said has the hash that a core will have of it. */
#include "ctl/redact/life.h"

#include "ctl/redact/documents.h"
#include "ctl/redact/messages.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/journal/entry.h"
#include "proto/journal/journal.h"

#include <string.h>

#define PIECE (1u << 20) /* bytes that are put at once */

/* An answer that comes in pieces. */
struct stream {
    struct buffer bytes;
    struct str *pieces;
    size_t count, room;
};

struct walk {
    struct names *names;
    struct map *streams; /* "request's number" to its answer so far */
};

/* ---- answers in pieces ---- */

static void end_stream(struct walk *w, struct stream *s)
{
    size_t at = 0;
    documents_any(w->names, buffer_str(&s->bytes), true);
    for (size_t i = 0; i < s->count && names_change(w->names); at += s->pieces[i++].len)
        memcpy((char *)s->pieces[i].at, s->bytes.at + at, s->pieces[i].len);
    buffer_free(&s->bytes);
    memory_free(s->pieces);
    memory_free(s);
}

static void number_key(const struct journal_entry *e, struct buffer *key)
{
    buffer_print(key, "%lld", (long long)e->number);
}

/* The answer to the request is complete, or will not be. */
static void end_answer(struct walk *w, const struct journal_entry *e)
{
    struct buffer key = {0};
    number_key(e, &key);
    struct stream *s = map_remove(w->streams, buffer_str(&key));
    if (s != NULL)
        end_stream(w, s);
    buffer_free(&key);
}

static void take_piece(struct walk *w, const struct journal_entry *e)
{
    struct buffer key = {0};
    number_key(e, &key);
    struct stream *s = map_get(w->streams, buffer_str(&key));
    if (s == NULL) {
        s = memory_take(sizeof(*s));
        map_set(w->streams, buffer_str(&key), s);
    }
    if (s->count == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 8;
        s->pieces = memory_resize(s->pieces, s->room * sizeof(*s->pieces));
    }
    s->pieces[s->count++] = e->body;
    buffer_add_str(&s->bytes, e->body);
    buffer_free(&key);
}

static void end_all(struct walk *w)
{
    size_t at = 0;
    void *value;
    while (map_next(w->streams, &at, NULL, &value))
        end_stream(w, value);
    map_free(&w->streams);
}

/* ---- requests ---- */

/* /api/VERSION/… and /apis/GROUP/VERSION/…: a kind's name, then an object's, which may be that of a
 * namespace, behind which come both once more. Whatever else stands there berth says itself. */
static void take_path(struct names *n, struct str path)
{
    struct str segment, rest = path;
    int place = 0, kind = INT32_MAX; /* the place of the first kind */
    bool inside = false;             /* a namespace */
    while (str_split(&rest, "/", &segment)) {
        if (place == 1 && (str_is(segment, "api") || str_is(segment, "apis")))
            kind = str_is(segment, "api") ? 3 : 4;
        inside = inside || (place == kind && str_is(segment, "namespaces"));
        if (place - 1 == kind || (inside && place - 3 == kind))
            names_take(n, segment, TEXT_derived, false);
        else if (place == 2 && kind == 4)
            names_take(n, segment, TEXT_option, false);
        place++;
    }
    if (kind == INT32_MAX)
        names_take(n, path, TEXT_derived, false);
}

/* "GET /api/v1/pods?limit=500 - application/json" */
static void take_request(struct names *n, struct str name)
{
    struct str rest = name, word;
    for (int i = 0; str_split(&rest, " ", &word); i++) {
        if (i != 1)
            continue;
        int64_t question = str_find(word, '?');
        struct str path = {word.at, question >= 0 ? (uint32_t)question : word.len};
        take_path(n, path);
        if (question >= 0)
            names_take(n, (struct str){word.at + question, word.len - (uint32_t)question},
                       TEXT_derived, false);
    }
}

/* ---- entries ---- */

static const struct record *record_of(const struct journal_entry *e)
{
    return e->type > MSG_none && e->type < MSG_COUNT ? message_info[e->type].record : NULL;
}

static void take_text(struct names *n, const struct journal_entry *e)
{
    names_take(n, e->name, TEXT_option, false);
    if (e->kind == JOURNAL_text && str_find(e->name, '/') < 0 && str_find(e->body, '\n') < 0)
        names_take(n, e->body, TEXT_name, false); /* such as this host's name */
    else
        documents_yaml(n, e->body);
}

static void take_entry(struct walk *w, const struct journal_entry *e)
{
    struct names *n = w->names;
    names_take(n, e->error, TEXT_hosts, false);
    switch (e->kind) {
    case JOURNAL_delivery: names_take(n, e->name, TEXT_name, false); /* fallthrough */
    case JOURNAL_message: messages_take(n, record_of(e), e->body); break;
    case JOURNAL_text:
    case JOURNAL_change: take_text(n, e); break;
    case JOURNAL_data: take_piece(w, e); break;
    case JOURNAL_answer:
        end_answer(w, e);
        documents_any(n, e->body, false);
        break;
    case JOURNAL_cancel: end_answer(w, e); break;
    case JOURNAL_request:
        end_answer(w, e);
        take_request(n, e->name);
        documents_any(n, e->body, false);
        break;
    default: break;
    }
}

/* --name=VALUE, or a value by itself. */
static void take_argument(struct names *n, struct str argument)
{
    int64_t equal = str_find(argument, '=');
    uint32_t name = equal >= 0 ? (uint32_t)equal + 1 : argument.len;
    if (argument.len > 0 && *argument.at != '-')
        name = 0; /* the value of the one before */
    names_take(n, (struct str){argument.at + name, argument.len - name}, TEXT_option, false);
}

static void take_head(struct names *n, const struct journal_head *head)
{
    names_take(n, head->instance, TEXT_name, false);
    for (uint32_t i = 0; i < head->arguments.count; i++)
        take_argument(n, head->arguments.at[i]);
}

bool life_take(struct names *n, struct str bytes)
{
    struct journal_cursor c = {bytes.at, bytes.at + bytes.len};
    struct arena memory = {.limit = 64 * (size_t)bytes.len + 65536};
    struct walk w = {n, map_new()};
    struct journal_head head;
    struct journal_entry e;
    bool good = journal_start(&c, &head, &memory) == NULL;
    if (good)
        take_head(n, &head);
    while (good && journal_read(&c, &e) == JOURNAL_STEP_entry)
        take_entry(&w, &e);
    end_all(&w);
    arena_free(&memory);
    return good;
}

/* ---- writing ---- */

/* A message whose body was that of the one before is hashed with that. */
static void hash_again(struct journal_entry *e, struct str *said)
{
    struct str body = e->body;
    if (e->kind == JOURNAL_message && body.len > 0)
        *said = body;
    if (e->kind == JOURNAL_message)
        body = *said;
    if (e->hash != 0)
        e->hash = journal_hash(e, body);
}

bool life_write(struct str bytes, bool (*put)(void *context, struct str piece), void *context)
{
    struct journal_cursor c = {bytes.at, bytes.at + bytes.len};
    struct arena memory = {.limit = 64 * (size_t)bytes.len + 65536};
    struct journal_head head;
    struct journal_entry e;
    struct buffer out = {0};
    struct str said = {0};
    enum journal_step step = JOURNAL_STEP_entry;
    bool good = journal_start(&c, &head, &memory) == NULL;
    if (good)
        journal_put_head(&out, &head);
    while (good && (step = journal_read(&c, &e)) == JOURNAL_STEP_entry) {
        hash_again(&e, &said);
        journal_put(&out, &e);
        if (out.len >= PIECE) {
            good = put(context, buffer_str(&out));
            buffer_reset(&out);
        }
    }
    good = good && step != JOURNAL_STEP_broken && put(context, buffer_str(&out));
    buffer_free(&out);
    arena_free(&memory);
    return good;
}
