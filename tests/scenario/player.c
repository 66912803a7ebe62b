/* player: reads a scenario line by line and does what it says. The one idea: time moves only when a
 * line says so, and then from one of the core's own deadlines to the next, so that a five-minute
 * flush takes microseconds. What must stay true: every message that the core sends is named by an
 * expectation, in order and at its exact time, or the scenario fails. */
#include "tests/scenario/player.h"

#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS  1000000000000LL /* moment of 0s: a whole second, and far from "never set" */
#define SECOND_NS 1000000000LL
#define SENT_MAX  256
#define TICKS_MAX 100000 /* in one line; more means that the core asks for the same time again */
#define LIVES_MAX 100

struct sent {
    struct moment at;
    enum process to;
    struct message message;
};

struct peer {
    enum process process;
    uint32_t life; /* its peer number is life * LIVES_MAX + bit; 0 = never up */
    bool up;
    int64_t term;
};

struct player {
    const struct player_core *core;
    void *state;
    struct moment now, deadline;
    struct arena arena; /* lives as long as the scenario */
    struct outbox out;
    struct sent sent[SENT_MAX];
    size_t sent_count, expected;
    struct peer peers[PROCESS_COUNT];
    int64_t sequence, part, version;
    bool in_snapshot;
    struct message last; /* for again */
    struct delivery last_in;
    struct buffer error;
};

/* ---- words ---- */

struct str player_word(struct str *line)
{
    uint32_t i = 0;
    while (line->len > 0 && (*line->at == ' ' || *line->at == '\t'))
        *line = (struct str){line->at + 1, line->len - 1};
    while (i < line->len && line->at[i] != ' ' && line->at[i] != '\t')
        i++;
    struct str word = {line->at, i};
    *line = (struct str){line->at + i, line->len - i};
    return word;
}

int64_t player_option(struct str words, const char *key, int64_t fallback)
{
    struct str word;
    while ((word = player_word(&words)).len > 0) {
        int64_t eq = str_find(word, '='), value;
        if (eq < 0 || !str_is((struct str){word.at, (uint32_t)eq}, key))
            continue;
        struct str number = {word.at + eq + 1, word.len - (uint32_t)eq - 1};
        return str_to_i64(number, &value) ? value : fallback;
    }
    return fallback;
}

static bool complain(struct player *p, const char *why, struct str what)
{
    buffer_print(&p->error, "%s: %.*s", why, STR_ARG(what));
    return false;
}

/* 1s, 0.25s */
static bool parse_time(struct str word, struct moment *at)
{
    char text[32], *end;
    if (word.len < 2 || word.len >= sizeof(text) || word.at[word.len - 1] != 's')
        return false;
    memcpy(text, word.at, word.len - 1);
    text[word.len - 1] = 0;
    double seconds = strtod(text, &end);
    *at = (struct moment){START_NS + (int64_t)(seconds * 1e6 + 0.5) * 1000};
    return *end == 0;
}

static double seconds_of(struct moment m)
{
    return (double)(m.ns - START_NS) / (double)SECOND_NS;
}

/* ---- the core's side ---- */

static uint32_t peer_number(const struct peer *peer, uint32_t life)
{
    return life * LIVES_MAX + (uint32_t)peer->process;
}

static struct peer *peer_of(struct player *p, enum process process)
{
    for (int i = 0; i < PROCESS_COUNT; i++)
        if ((int)process == 1 << i)
            return &p->peers[i];
    return NULL;
}

static bool collect(struct player *p)
{
    for (size_t i = 0; i < p->out.count; i++) {
        if (p->out.at[i].to.process == WATCHER)
            continue;
        if (p->sent_count == SENT_MAX)
            return complain(p, "more messages sent than a scenario can hold", (struct str){0});
        struct sent *sent = &p->sent[p->sent_count++];
        /* Decoded strings borrow from the outbox's bytes, which are about to be reused. */
        struct str body = outbox_body(&p->out, i);
        struct str kept = arena_copy(&p->arena, body);
        struct byte_cursor in = {(const uint8_t *)kept.at, (const uint8_t *)kept.at + kept.len};
        *sent = (struct sent){p->now, p->out.at[i].to.process, {.type = p->out.at[i].type}};
        if (!codec_decode(message_info[sent->message.type].record, message_body(&sent->message),
                          &in, &p->arena))
            return complain(p, "the core sent what does not decode", (struct str){0});
    }
    outbox_reset(&p->out);
    return true;
}

static bool tick(struct player *p)
{
    p->deadline = p->core->tick(p->state, p->now, &p->out);
    p->core->check(p->state);
    return collect(p);
}

static bool advance(struct player *p, struct moment to)
{
    if (to.ns < p->now.ns)
        return complain(p, "time goes backwards", (struct str){0});
    for (int ticks = 0; p->deadline.ns <= to.ns; ticks++) {
        if (ticks == TICKS_MAX)
            return complain(p, "the core's deadline does not move", (struct str){0});
        if (p->deadline.ns > p->now.ns)
            p->now = p->deadline;
        if (!tick(p))
            return false;
    }
    p->now = to;
    return true;
}

static bool deliver(struct player *p, const struct delivery *in)
{
    p->core->handle(p->state, p->now, in, &p->out);
    return tick(p);
}

/* ---- messages to the core ---- */

static void fill_pod(struct player *p, struct pod *pod)
{
    if (pod->uid.len == 0)
        pod->uid = pod->name;
    if (pod->namespace_name.len == 0)
        pod->namespace_name = STR_LITERAL("default");
    if (pod->scheduler_name.len == 0)
        pod->scheduler_name = STR_LITERAL("default-scheduler");
    if (pod->resource_version == 0)
        pod->resource_version = ++p->version;
    if (pod->gang.len > 0 && pod->gang_api.len == 0)
        pod->gang_api = STR_LITERAL("scheduling.x-k8s.io");
}

static bool is_attempt_of(const struct attempt *attempt, struct str name)
{
    return str_equal(attempt->pod.name, name);
}

/* One of a group, as an attempt of its own. */
static bool find_member(const struct gang_attempt *gang, struct str name, struct attempt *found)
{
    for (uint32_t i = 0; i < gang->members.count; i++) {
        const struct gang_member *m = &gang->members.at[i];
        *found = (struct attempt){.pod = m->pod, .cycle = m->cycle};
        if (is_attempt_of(found, name))
            return true;
    }
    return false;
}

/* The newest attempt of that name that was sent. */
static bool find_attempt(const struct player *p, struct str name, struct attempt *found)
{
    for (size_t i = p->sent_count; i-- > 0;) {
        const struct message *m = &p->sent[i].message;
        if (m->type == MSG_gang_attempt && find_member(&m->gang_attempt, name, found))
            return true;
        if (m->type == MSG_attempt && is_attempt_of(&m->attempt, name)) {
            *found = m->attempt;
            return true;
        }
    }
    return false;
}

static void fill_outcome(struct player *p, struct outcome *outcome)
{
    struct attempt attempt;
    if (!find_attempt(p, outcome->name, &attempt))
        return;
    if (outcome->namespace_name.len == 0)
        outcome->namespace_name = attempt.pod.namespace_name;
    if (outcome->uid.len == 0)
        outcome->uid = attempt.pod.uid;
    if (outcome->cycle == 0)
        outcome->cycle = attempt.cycle;
}

/* Whatever the message sets has a version, and a namespace when it lives in one. */
static void fill_object(struct player *p, struct message *m)
{
    const struct field *set = &message_info[m->type].record->fields[0];
    char *object = (char *)message_body(m) + set->offset;
    for (size_t i = 0; i < set->of->field_count; i++) {
        const struct field *f = &set->of->fields[i];
        int64_t *number = (void *)(object + f->offset);
        struct str *text = (void *)(object + f->offset);
        if (strcmp(f->name, "resource_version") == 0 && *number == 0)
            *number = ++p->version;
        if (strcmp(f->name, "namespace_name") == 0 && text->len == 0)
            *text = STR_LITERAL("default");
        if (strcmp(f->name, "api") == 0 && text->len == 0)
            *text = STR_LITERAL("scheduling.x-k8s.io");
        if (strcmp(f->name, "uid") == 0 && text->len == 0)
            *text = STR_LITERAL("u");
    }
}

static bool is_object(enum message_type type)
{
    return (type >= MSG_claim_set && type <= MSG_group_kinds) || type == MSG_resource_claim_set;
}

static void fill(struct player *p, struct message *m)
{
    if (m->type == MSG_pod_set) {
        fill_pod(p, &m->pod_set.pod);
    } else if (m->type == MSG_pod_gone) {
        if (m->pod_gone.uid.len == 0)
            m->pod_gone.uid = m->pod_gone.name;
        if (m->pod_gone.namespace_name.len == 0)
            m->pod_gone.namespace_name = STR_LITERAL("default");
    } else if (m->type == MSG_node_set && m->node_set.node.resource_version == 0) {
        m->node_set.node.resource_version = ++p->version;
    } else if (m->type == MSG_object_gone || m->type == MSG_group_kinds) {
        /* whole as they are written */
    } else if (is_object(m->type)) {
        fill_object(p, m);
    } else if (m->type == MSG_outcome) {
        fill_outcome(p, &m->outcome);
    }
}

/* Gives a message of the watcher its place in the stream. */
static void number(struct player *p, struct delivery *in, enum message_type type)
{
    bool in_stream = type >= MSG_snapshot_begin && type <= MSG_view && type != MSG_barrier;
    if (!in_stream && !is_object(type))
        return;
    if (type == MSG_snapshot_begin) {
        p->in_snapshot = true;
        p->part = 0;
        p->sequence++;
    }
    if (p->in_snapshot)
        in->part = ++p->part;
    else
        p->sequence++;
    if (type == MSG_snapshot_end)
        p->in_snapshot = false;
    in->epoch = 1;
    in->sequence = p->sequence;
}

static bool send_message(struct player *p, const struct peer *from, uint32_t life,
                         const struct message *m)
{
    p->last = *m;
    p->last_in = (struct delivery){.from = {from->process, peer_number(from, life)},
                                   .instance = str_of(process_name(from->process)),
                                   .term = from->term,
                                   .generation = 1,
                                   .message = &p->last};
    number(p, &p->last_in, m->type);
    return deliver(p, &p->last_in);
}

static bool link_changes(struct player *p, struct peer *peer, bool up)
{
    struct message m = {.type = up ? MSG_peer_up : MSG_peer_down};
    if (up == peer->up)
        return complain(p, "the link is so already", str_of(process_name(peer->process)));
    peer->up = up;
    peer->life += up;
    if (up)
        m.peer_up.process = str_of(process_name(peer->process));
    else
        m.peer_down.process = str_of(process_name(peer->process));
    return send_message(p, peer, peer->life, &m);
}

static bool parse_message(struct player *p, struct str name, struct str text, struct message *m)
{
    struct str error;
    *m = (struct message){.type = message_type_of(name)};
    if (m->type == MSG_none)
        return complain(p, "unknown message", name);
    if (!codec_parse(message_info[m->type].record, message_body(m), text, &p->arena, &error))
        return complain(p, "malformed message", error);
    return true;
}

static bool play_message(struct player *p, const struct peer *from, uint32_t life, struct str rest)
{
    struct message m;
    if (!str_is(player_word(&rest), p->core->name))
        return complain(p, "messages go to", str_of(p->core->name));
    struct str name = player_word(&rest);
    if (!parse_message(p, name, rest, &m))
        return false;
    if ((message_info[m.type].from & from->process) == 0)
        return complain(p, "this peer does not send", name);
    fill(p, &m);
    return send_message(p, from, life, &m);
}

/* ---- expectations ---- */

/* NOLINTBEGIN(misc-no-recursion): as deep as records nest, which codec_parse bounds */
static bool covers(const struct record *r, const char *wanted, const char *got);

static bool strs_cover(const struct strs *wanted, const struct strs *got)
{
    if (wanted->count != 0 && wanted->count != got->count)
        return false;
    for (uint32_t i = 0; i < wanted->count; i++)
        if (!str_equal(wanted->at[i], got->at[i]))
            return false;
    return true;
}

static bool list_covers(const struct record *of, const struct list *wanted, const struct list *got)
{
    if (wanted->count != 0 && wanted->count != got->count)
        return false;
    for (uint32_t i = 0; i < wanted->count; i++)
        if (!covers(of, (const char *)wanted->at + i * of->size,
                    (const char *)got->at + i * of->size))
            return false;
    return true;
}

static bool field_covers(const struct field *f, const char *wanted, const char *got)
{
    const struct str *a = (const void *)wanted, *b = (const void *)got;
    switch ((enum kind)f->kind) {
    case KIND_bool: return !*(const bool *)wanted || *(const bool *)got;
    case KIND_i64:
        return *(const int64_t *)(const void *)wanted == 0 ||
               *(const int64_t *)(const void *)wanted == *(const int64_t *)(const void *)got;
    case KIND_str: return a->len == 0 || str_equal(*a, *b);
    case KIND_strs: return strs_cover((const void *)wanted, (const void *)got);
    case KIND_list: return list_covers(f->of, (const void *)wanted, (const void *)got);
    case KIND_one: return covers(f->of, wanted, got);
    case KIND_word:
        return *(const uint32_t *)(const void *)wanted == 0 ||
               *(const uint32_t *)(const void *)wanted == *(const uint32_t *)(const void *)got;
    }
    return false;
}

/* True when every field that is not zero in wanted is the same in got. */
static bool covers(const struct record *r, const char *wanted, const char *got)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (!field_covers(&r->fields[i], wanted + r->fields[i].offset, got + r->fields[i].offset))
            return false;
    return true;
}

/* NOLINTEND(misc-no-recursion) */

static bool complain_of_sent(struct player *p, const char *why, const struct sent *sent)
{
    buffer_print(&p->error, "%s: at %gs to %s ", why, seconds_of(sent->at), process_name(sent->to));
    codec_print(message_info[sent->message.type].record, message_body_const(&sent->message),
                &p->error);
    return false;
}

static bool expect_nothing(struct player *p)
{
    if (p->expected < p->sent_count)
        return complain_of_sent(p, "sent, but not expected", &p->sent[p->expected]);
    return true;
}

static bool expect_message(struct player *p, enum process to, struct str rest)
{
    struct message wanted;
    struct str name = player_word(&rest);
    if (!parse_message(p, name, rest, &wanted))
        return false;
    if (p->expected == p->sent_count)
        return complain(p, "expected, but not sent", name);
    const struct sent *sent = &p->sent[p->expected];
    if (sent->to != to || sent->message.type != wanted.type || sent->at.ns != p->now.ns ||
        !covers(message_info[wanted.type].record, message_body_const(&wanted),
                message_body_const(&sent->message)))
        return complain_of_sent(p, "sent instead of what is expected", sent);
    p->expected++;
    return true;
}

static bool has_line(struct str lines, struct str line)
{
    while (lines.len > 0) {
        int64_t end = str_find(lines, '\n');
        uint32_t len = end < 0 ? lines.len : (uint32_t)end;
        if (str_equal((struct str){lines.at, len}, line))
            return true;
        lines = (struct str){lines.at + len + (end >= 0), lines.len - len - (end >= 0)};
    }
    return false;
}

static bool expect_status(struct player *p, struct str rest)
{
    struct buffer lines = {0};
    struct str word;
    bool ok = true;
    p->core->status(p->state, &lines);
    while (ok && (word = player_word(&rest)).len > 0)
        if (!has_line(buffer_str(&lines), word)) {
            buffer_print(&p->error, "the status does not say %.*s, but:\n%.*s", STR_ARG(word),
                         STR_ARG(buffer_str(&lines)));
            ok = false;
        }
    buffer_free(&lines);
    return ok;
}

static bool play_expect(struct player *p, struct str rest)
{
    struct str what = player_word(&rest);
    if (str_is(what, "nothing"))
        return expect_nothing(p);
    if (str_is(what, "status"))
        return expect_status(p, rest);
    if (process_of(what) == 0)
        return complain(p, "expect whom?", what);
    return expect_message(p, process_of(what), rest);
}

/* ---- lines ---- */

static bool play_start(struct player *p, struct str words)
{
    static const enum message_type snapshot[] = {MSG_snapshot_begin, MSG_snapshot_end};
    int64_t credit = player_option(words, "credit", 1);
    p->state = p->core->open(words);
    if (p->state == NULL)
        return complain(p, "unknown option", words);
    if (!link_changes(p, peer_of(p, WATCHER), true))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!send_message(p, peer_of(p, WATCHER), 1, &(struct message){.type = snapshot[i]}))
            return false;
    struct message pull = {.type = MSG_pull, .pull = {.credit = credit}};
    return link_changes(p, peer_of(p, SCHEDULER), true) &&
           send_message(p, peer_of(p, SCHEDULER), 1, &pull);
}

static bool play_peer(struct player *p, struct str who, struct str rest)
{
    int64_t colon = str_find(who, ':'), life = 0, term;
    struct str kind = {who.at, colon < 0 ? who.len : (uint32_t)colon};
    struct peer *peer = peer_of(p, process_of(kind));
    if (peer == NULL ||
        (colon >= 0 &&
         !str_to_i64((struct str){who.at + colon + 1, who.len - (uint32_t)colon - 1}, &life)))
        return complain(p, "unknown peer", who);
    struct str verb = player_word(&rest);
    if (str_is(verb, ">"))
        return play_message(p, peer, life > 0 ? (uint32_t)life : peer->life, rest);
    if (str_is(verb, "up") || str_is(verb, "down"))
        return link_changes(p, peer, str_is(verb, "up"));
    if (str_is(verb, "term") && str_to_i64(player_word(&rest), &term)) {
        peer->term = term;
        return true;
    }
    return complain(p, "unknown verb", verb);
}

static bool play_line(struct player *p, struct str line)
{
    struct moment at;
    struct str word = player_word(&line);
    if (word.len == 0 || *word.at == '#')
        return true;
    if (str_is(word, "start"))
        return p->state == NULL ? play_start(p, line) : complain(p, "started twice", word);
    if (!str_is(word, "at") || p->state == NULL)
        return complain(p, "a line begins with at, behind start", word);
    word = player_word(&line);
    if (!parse_time(word, &at))
        return complain(p, "this is no time", word);
    if (!advance(p, at))
        return false;
    word = player_word(&line);
    if (str_is(word, "expect"))
        return play_expect(p, line);
    if (str_is(word, "again"))
        return deliver(p, &p->last_in);
    return play_peer(p, word, line);
}

static bool play_text(struct player *p, struct str text, unsigned *at_line)
{
    while (text.len > 0) {
        int64_t end = str_find(text, '\n');
        uint32_t len = end < 0 ? text.len : (uint32_t)end;
        ++*at_line;
        if (!play_line(p, (struct str){text.at, len}))
            return false;
        text = (struct str){text.at + len + (end >= 0), text.len - len - (end >= 0)};
    }
    if (p->state == NULL)
        return complain(p, "a scenario needs a start line", (struct str){0});
    return expect_nothing(p);
}

static bool read_file(const char *path, struct buffer *text)
{
    char chunk[4096];
    size_t got;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    while ((got = fread(chunk, 1, sizeof(chunk), f)) > 0)
        buffer_add(text, chunk, got);
    fclose(f);
    return text->len > 0;
}

bool player_play(const struct player_core *core, const char *path, char *error, size_t room)
{
    struct player *p = memory_take(sizeof(*p));
    struct buffer text = {0};
    unsigned line = 0;
    p->core = core;
    p->now = p->deadline = (struct moment){START_NS};
    p->version = 1000;
    for (int i = 0; i < PROCESS_COUNT; i++)
        p->peers[i] = (struct peer){.process = (enum process)(1 << i)};
    bool ok = read_file(path, &text) ? play_text(p, buffer_str(&text), &line)
                                     : complain(p, "cannot read", str_of(path));
    if (!ok)
        snprintf(error, room, "%s:%u: %.*s", path, line, STR_ARG(buffer_str(&p->error)));
    if (p->state != NULL)
        core->close(p->state);
    outbox_free(&p->out);
    buffer_free(&p->error);
    buffer_free(&text);
    arena_free(&p->arena);
    memory_free(p);
    return ok;
}
