/* view: what a mirrored frame looks like to a person. The one idea: filters look at decoded
 * records through the same tables that the codec uses, so a new message needs nothing here. What
 * must stay true: a message between two tapped processes is shown once, by its sender's tap, and
 * one whose sender is not tapped, or was not yet, by its receiver's. */
#include "ctl/tap/view.h"

#include "ctl/tap/answers.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/bus/frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST_US 253402300799999999 /* the last microsecond of the year 9999 */

void tap_view_init(struct tap_view *view)
{
    *view = (struct tap_view){.sources = map_new(),
                              .lives = map_new(),
                              .arrived = map_new(),
                              .answers = tap_answers_new(),
                              .attempts = tap_attempts_new()};
}

static void free_map(struct map **map)
{
    struct str key;
    void *value;
    for (size_t at = 0; map_next(*map, &at, &key, &value);)
        memory_free(value);
    map_free(map);
}

void tap_view_free(struct tap_view *view)
{
    free_map(&view->sources);
    free_map(&view->lives);
    free_map(&view->arrived);
    tap_answers_free(&view->answers);
    tap_attempts_free(&view->attempts);
    for (size_t i = 0; i < TAP_UIDS_MAX; i++)
        str_drop(&view->filter.learned[i]);
    arena_free(&view->arena);
    arena_free(&view->body_arena);
}

/* ---- filters ---- */

bool tap_filter_process(struct tap_filter *filter, const char *text)
{
    if (*text == 0 || filter->process_count == TAP_PROCESSES_MAX)
        return false;
    filter->processes[filter->process_count++] = str_of(text);
    return true;
}

bool tap_filter_message(struct tap_filter *filter, const char *text)
{
    struct str rest = str_of(text);
    do {
        int64_t comma = str_find(rest, ',');
        struct str name = {rest.at, comma < 0 ? rest.len : (uint32_t)comma};
        enum message_type type = message_type_of(name);
        if (type == MSG_none)
            return false;
        filter->types[type] = filter->any_type = true;
        uint32_t used = name.len + (comma >= 0);
        rest = (struct str){rest.at + used, rest.len - used};
    } while (rest.len > 0);
    return true;
}

/* As the API server makes them: 0f1e2d3c-…, 36 characters. */
static bool is_uid(struct str text)
{
    static const char form[] = "00000000-0000-0000-0000-000000000000";
    for (uint32_t i = 0; i < text.len && i < sizeof(form) - 1; i++)
        if (form[i] == '-' ? text.at[i] != '-' : strchr("0123456789abcdef", text.at[i]) == NULL)
            return false;
    return text.len == sizeof(form) - 1;
}

bool tap_filter_pod(struct tap_filter *filter, const char *text)
{
    struct str all = str_of(text);
    int64_t slash = str_find(all, '/');
    if (slash < 0) {
        filter->pod_uid = all;
        return is_uid(all);
    }
    filter->pod_namespace = (struct str){all.at, (uint32_t)slash};
    filter->pod_name = (struct str){all.at + slash + 1, all.len - (uint32_t)slash - 1};
    return filter->pod_namespace.len > 0 && filter->pod_name.len > 0;
}

static bool wants_pod(const struct tap_filter *filter)
{
    return filter->pod_uid.len > 0 || filter->pod_name.len > 0;
}

/* The record's own string field of that name; empty when it has none. */
static struct str field_text(const struct record *r, const void *object, const char *name)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].kind == KIND_str && strcmp(r->fields[i].name, name) == 0)
            return *(const struct str *)(const void *)((const char *)object + r->fields[i].offset);
    return (struct str){NULL, 0};
}

static bool has_learned(const struct tap_filter *filter, struct str uid)
{
    size_t i = 0;
    while (i < TAP_UIDS_MAX && (uid.len == 0 || !str_equal(filter->learned[i], uid)))
        i++;
    return i < TAP_UIDS_MAX;
}

static void learn(struct tap_filter *filter, struct str uid)
{
    struct str *oldest = &filter->learned[filter->learned_count % TAP_UIDS_MAX];
    if (uid.len == 0 || has_learned(filter, uid))
        return;
    str_drop(oldest);
    *oldest = str_keep(uid);
    filter->learned_count++;
}

/* Some messages name a pod by its UID alone, so the UID of the one asked for is kept. */
static bool is_pod(const struct record *r, const void *object, struct tap_filter *filter)
{
    struct str uid = field_text(r, object, "uid");
    if (filter->pod_uid.len > 0)
        return str_equal(uid, filter->pod_uid);
    if (has_learned(filter, uid))
        return true;
    bool named = str_equal(field_text(r, object, "name"), filter->pod_name) &&
                 str_equal(field_text(r, object, "namespace_name"), filter->pod_namespace);
    if (named)
        learn(filter, uid);
    return named;
}

/* NOLINTBEGIN(misc-no-recursion): records nest as messages.def declares, a few levels deep */
bool tap_mentions_pod(const struct record *r, const void *object, struct tap_filter *filter)
{
    if (is_pod(r, object, filter))
        return true;
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *field = &r->fields[i];
        const char *at = (const char *)object + field->offset;
        if (field->kind == KIND_one && tap_mentions_pod(field->of, at, filter))
            return true;
        if (field->kind != KIND_list)
            continue;
        const struct list *list = (const struct list *)(const void *)at;
        for (uint32_t k = 0; k < list->count; k++)
            if (tap_mentions_pod(field->of, (const char *)list->at + k * field->of->size, filter))
                return true;
    }
    return false;
}
/* NOLINTEND(misc-no-recursion) */

static bool wants_process(const struct tap_view *view)
{
    const struct tap_filter *filter = &view->filter;
    const struct tapped *t = &view->tapped;
    for (size_t i = 0; i < filter->process_count; i++) {
        struct str p = filter->processes[i];
        if (str_equal(p, t->process) || str_equal(p, t->instance) ||
            str_equal(p, t->peer_process) || str_equal(p, t->peer_instance))
            return true;
    }
    return filter->process_count == 0;
}

static bool wants_type(const struct tap_view *view)
{
    const struct tap_filter *filter = &view->filter;
    int64_t type = view->envelope.type;
    if (!filter->any_type)
        return type != MSG_heartbeat;
    return type > 0 && type < MSG_COUNT && filter->types[type];
}

/* A life of a process, by which view->lives knows it; valid until the next. */
static struct str life_of(const struct tap_view *view, struct str instance, char room[320])
{
    int len = snprintf(room, 320, "%.*s/%" PRId64, (int)(instance.len < 256 ? instance.len : 256),
                       instance.at, view->envelope.incarnation);
    return (struct str){room, (uint32_t)len};
}

/* From one life to a process, by which view->arrived knows it; valid until the next. */
static struct str way_of(const struct tap_view *view, char room[640])
{
    const struct tapped *t = &view->tapped;
    char own[320];
    struct str from = t->sent ? t->instance : t->peer_instance;
    struct str to = t->sent ? t->peer_instance : t->instance;
    struct str life = life_of(view, from, own);
    int len =
        snprintf(room, 640, "%.*s>%.*s", STR_ARG(life), (int)(to.len < 256 ? to.len : 256), to.at);
    return (struct str){room, (uint32_t)len};
}

static void note_arrived(struct tap_view *view)
{
    char room[640];
    struct str way = way_of(view, room);
    struct tap_arrived *a = map_get(view->arrived, way);
    if (a == NULL) {
        a = memory_take(sizeof(*a));
        map_set(view->arrived, way, a);
    }
    *a = (struct tap_arrived){view->envelope.sent_us, view->envelope.link};
}

static bool has_arrived(const struct tap_view *view)
{
    char room[640];
    const struct envelope *e = &view->envelope;
    const struct tap_arrived *a = map_get(view->arrived, way_of(view, room));
    return a != NULL &&
           (e->sent_us < a->sent_us || (e->sent_us == a->sent_us && e->link <= a->link));
}

/* Between two tapped processes the sender's tap shows a message, from the first one that it
 * mirrored: taps are joined one after the other, and so are those of processes that restart. What
 * was shown where it arrived, while nothing was known of the sender's, is not shown again. */
static bool shown_by_the_other(struct tap_view *view)
{
    const struct tapped *t = &view->tapped;
    char room[320];
    if (view->filter.both)
        return false;
    if (t->sent)
        return has_arrived(view);
    const int64_t *since = map_get(view->lives, life_of(view, t->peer_instance, room));
    if (since != NULL && view->envelope.sent_us >= *since)
        return true;
    note_arrived(view);
    return false;
}

static void learn_life(struct tap_view *view)
{
    char room[320];
    struct str life = life_of(view, view->tapped.instance, room);
    if (!view->tapped.sent || map_get(view->lives, life) != NULL)
        return;
    int64_t *since = memory_take(sizeof(*since));
    *since = view->envelope.sent_us;
    map_set(view->lives, life, since);
}

static bool is_of_pod(struct tap_view *view, struct str bytes, bool other)
{
    const struct tapped *t = &view->tapped;
    const struct message *m = &view->message;
    bool names =
        tap_mentions_pod(message_info[m->type].record, message_body_const(m), &view->filter);
    const struct tap_answers_frame frame = {
        .message = m,
        .scheduler = str_is(t->process, "scheduler") ? t->instance : t->peer_instance,
        .names_pod = names,
        .tapped = bytes};
    bool answers = !other && tap_answers_takes(view->answers, &frame);
    return names || answers;
}

static bool fulfils_query(const struct tap_view *view)
{
    int64_t numbers[ATTEMPTS_OF_MESSAGE];
    struct query_subject subject = {.envelope = &view->envelope, .tapped = &view->tapped};
    if (view->filter.query == NULL)
        return true;
    if (view->refusal == NULL) {
        subject.message = &view->message;
        subject.attempts = numbers;
        if (query_asks_attempts(view->filter.query))
            subject.attempt_count = tap_attempts_of(view->attempts, &view->message, numbers);
    }
    return query_holds(view->filter.query, &subject);
}

/* What filters say of the frame by itself. */
static bool passes(struct tap_view *view)
{
    view->fulfils = fulfils_query(view);
    return wants_process(view) && wants_type(view) && (view->fulfils || view->filter.query_marks);
}

static bool wanted(struct tap_view *view, struct str bytes)
{
    bool other = shown_by_the_other(view);
    bool of_pod = true;
    if (wants_pod(&view->filter))
        of_pod = view->refusal == NULL && is_of_pod(view, bytes, other);
    view->of_pod = of_pod && !other;
    return passes(view) && view->of_pod;
}

/* ---- taking ---- */

static struct tap_source *source_of(struct tap_view *view, struct str name)
{
    struct tap_source *source = map_get(view->sources, name);
    if (source == NULL) {
        source = memory_take(sizeof(*source));
        map_set(view->sources, name, source);
    }
    return source;
}

static bool decode_tapped(struct tap_view *view, struct str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    struct byte_cursor in = {at, at + bytes.len};
    arena_reset(&view->arena);
    view->arena.limit = 1 << 16;
    return codec_decode(&tapped_record, &view->tapped, &in, &view->arena) && in.at == in.end;
}

/* A number that is lower than the last is another life of that process. */
static void count_missed(struct tap_view *view)
{
    struct tap_source *source = source_of(view, view->tapped.instance);
    int64_t number = view->tapped.tap_sequence;
    if (!view->told && source->last > 0 && number > source->last + 1) {
        uint64_t missed = (uint64_t)(number - source->last - 1);
        source->missed += missed;
        view->missed += missed;
    }
    source->last = number;
}

uint32_t tap_view_missed_before(struct tap_view *view)
{
    uint64_t missed = view->missed - view->missed_asked;
    view->missed_asked = view->missed;
    return missed > UINT32_MAX ? UINT32_MAX : (uint32_t)missed;
}

void tap_view_count_missed(struct tap_view *view, uint32_t missed)
{
    view->missed += missed;
}

/* False: not even the record can be read. */
static bool decode(struct tap_view *view, struct str tapped)
{
    struct byte_cursor body;
    view->envelope = (struct envelope){0};
    if (!decode_tapped(view, tapped))
        return false;
    if (view->tapped.at_us < 0 || view->tapped.at_us > LAST_US)
        view->tapped.at_us = 0; /* a year that cannot be printed */
    enum refusal why = frame_open(view->tapped.frame, &view->envelope, &body);
    if (why == REFUSED_nothing)
        why = frame_decode(&view->envelope, body, &view->message, &view->body_arena);
    view->refusal = why == REFUSED_nothing ? NULL : refusal_name(why);
    return true;
}

bool tap_view_learn(struct tap_view *view, struct str tapped)
{
    if (!decode(view, tapped))
        return false;
    learn_life(view);
    const struct message *m = &view->message;
    /* Taps are mirrored each at its own pace: who names the pod by its UID alone may come first. */
    if (view->refusal == NULL && view->filter.pod_name.len > 0)
        (void)tap_mentions_pod(message_info[m->type].record, message_body_const(m), &view->filter);
    return true;
}

bool tap_view_take(struct tap_view *view, struct str tapped)
{
    view->of_pod = view->fulfils = false;
    if (!decode(view, tapped)) {
        view->refusal = "malformed_record";
        view->undecodable++;
        return false;
    }
    count_missed(view);
    learn_life(view);
    view->undecodable += view->refusal != NULL;
    if (view->refusal == NULL && view->filter.query != NULL)
        tap_attempts_learn(view->attempts, &view->message);
    return wanted(view, tapped);
}

bool tap_view_recall(struct tap_view *view, struct str *tapped)
{
    while (tap_answers_recall(view->answers, tapped))
        if (decode(view, *tapped) && passes(view))
            return true;
    return false;
}

void tap_view_again(struct tap_view *view, struct str tapped)
{
    (void)decode(view, tapped);
}

/* ---- printing ---- */

static void add_json_text(struct buffer *out, const char *key, struct str text)
{
    buffer_print(out, ",\"%s\":", key);
    json_string(out, text);
}

static void add_json_number(struct buffer *out, const char *key, int64_t value)
{
    if (value != 0)
        buffer_print(out, ",\"%s\":%lld", key, (long long)value);
}

static struct str or_unknown(struct str name)
{
    return name.len > 0 ? name : str_of("?");
}

static void print_json(const struct tap_view *view, const char *when, struct buffer *out)
{
    const struct tapped *t = &view->tapped;
    const struct envelope *e = &view->envelope;
    buffer_print(out, "{\"time\":\"%s\"", when);
    add_json_text(out, "from", t->sent ? t->instance : or_unknown(t->peer_instance));
    add_json_text(out, "to", t->sent ? or_unknown(t->peer_instance) : t->instance);
    add_json_text(out, "tap", t->instance);
    add_json_text(out, "message", str_of(frame_type_name(e->type)));
    add_json_number(out, "term", e->term);
    add_json_number(out, "generation", e->generation);
    add_json_number(out, "epoch", e->epoch);
    add_json_number(out, "sequence", e->sequence);
    add_json_number(out, "link", e->link);
    add_json_number(out, "sent_us", e->sent_us);
    add_json_number(out, "bytes", t->frame.len);
    if (view->refusal) {
        add_json_text(out, "undecodable", str_of(view->refusal));
    } else {
        buffer_add_text(out, ",\"body\":");
        codec_print_json(message_info[view->message.type].record,
                         message_body_const(&view->message), out);
    }
    buffer_add_text(out, "}\n");
}

static void print_text(const struct tap_view *view, const char *when, struct buffer *out)
{
    const struct tapped *t = &view->tapped;
    struct str peer = or_unknown(t->peer_instance);
    struct str from = t->sent ? t->instance : peer, to = t->sent ? peer : t->instance;
    /* "2026-01-02T03:04:05.000006Z": the day is in the JSON form. */
    buffer_print(out, "%.15s %.*s>%.*s ", when + 11, STR_ARG(from), STR_ARG(to));
    if (view->refusal)
        buffer_print(out, "%s undecodable=%s bytes=%u", frame_type_name(view->envelope.type),
                     view->refusal, t->frame.len);
    else
        codec_print(message_info[view->message.type].record, message_body_const(&view->message),
                    out);
    buffer_add_text(out, "\n");
}

void tap_view_print(const struct tap_view *view, bool json, struct buffer *out)
{
    char when[40] = {0};
    moment_print_micros(view->tapped.at_us, when, sizeof(when));
    if (json)
        print_json(view, when, out);
    else
        print_text(view, when, out);
}
