/* test_replay: a small actor that asks an API server, recorded and played back: all the same, or
 * the difference that was planted. The client is this file's: it answers when the test says. */
#include "proto/bus/replay.h"

#include "proto/base/memory.h"
#include "proto/journal/journal.h"
#include "proto/kube/access/talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the client ---- */

struct kube_client {
    uint64_t numbers;
    struct kube_request open[64]; /* by number; done NULL: none */
};

uint64_t kube_client_send(struct kube_client *client, const struct kube_request *request)
{
    uint64_t number = ++client->numbers;
    client->open[number % 64] = *request;
    return number;
}

void kube_client_cancel(struct kube_client *client, uint64_t number)
{
    client->open[number % 64] = (struct kube_request){0};
}

void kube_client_distrust(struct kube_client *client, enum kube_channel channel)
{
    (void)client;
    (void)channel;
}

int kube_client_fd(const struct kube_client *client)
{
    (void)client;
    return 3;
}

struct moment kube_client_deadline(const struct kube_client *client, struct moment now)
{
    (void)client;
    return now;
}

/* A piece and the end for each that is open. */
void kube_client_work(struct kube_client *client, struct moment now)
{
    (void)now;
    for (uint64_t i = 0; i < 64; i++) {
        struct kube_request q = client->open[i];
        if (q.done == NULL)
            continue;
        if (q.data != NULL)
            q.data(q.context, STR_LITERAL("piece"));
        if (client->open[i].done == NULL)
            continue; /* it was cancelled meanwhile */
        client->open[i] = (struct kube_request){0};
        q.done(q.context, &(struct kube_response){.status = 200 + (int)i,
                                                  .error = "no",
                                                  .retry_after_s = -1,
                                                  .silent = i % 3 == 0,
                                                  .maybe_done = i % 5 == 0,
                                                  .took = {77},
                                                  .body = STR_LITERAL("answer")});
    }
}

/* ---- the actor ---- */

struct core {
    struct talk *talk;
    int64_t heard, turns;
    uint64_t watch;
    struct buffer text; /* what it will say */
    bool eager;         /* a bug: it says something at once */
};

static void on_data(void *context, struct str piece)
{
    struct core *c = context;
    buffer_print(&c->text, "[%.*s]", STR_ARG(piece));
    if (c->heard % 5 == 0) /* from inside its own answer */
        talk_cancel(c->talk, c->watch);
}

static void on_done(void *context, const struct kube_response *r)
{
    struct core *c = context;
    buffer_print(&c->text, "(%d %s %d %d %d %lld %.*s)", r->status, r->error, r->retry_after_s,
                 r->silent, r->maybe_done, (long long)r->took.ns, STR_ARG(r->body));
}

static void handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct core *c = state;
    c->heard++;
    buffer_print(&c->text, "%lld %.*s %lld %.*s;", (long long)now.ns, STR_ARG(in->instance),
                 (long long)in->received_us, STR_ARG(in->message->hello.instance));
    c->watch = talk_send(c->talk, &(struct kube_request){.method = KUBE_POST,
                                                         .path = STR_LITERAL("/api"),
                                                         .body = buffer_str(&c->text),
                                                         .context = c,
                                                         .data = c->heard % 2 ? on_data : NULL,
                                                         .done = on_done});
    if (c->eager && c->heard == 20)
        outbox_put(out, (struct address){QUEUE, 0}, &(struct message){.type = MSG_goodbye});
}

static void work(void *state, struct moment now, struct outbox *out)
{
    (void)out;
    talk_work(((struct core *)state)->talk, now);
}

static void say(struct core *c, struct outbox *out)
{
    const struct message m = {.type = MSG_hello, .hello.instance = buffer_str(&c->text)};
    outbox_put(out, (struct address){WATCHER, 1}, &m);
    buffer_reset(&c->text);
}

static struct moment tick(void *state, struct moment now, struct outbox *out)
{
    struct core *c = state;
    if (++c->turns % 3 == 0) {
        say(c, out);
        outbox_send(out); /* in the middle of it */
        buffer_print(&c->text, "%lld", (long long)journal_now().ns);
    }
    return now;
}

static void stop(void *state, struct moment now, struct outbox *out)
{
    struct core *c = state;
    buffer_print(&c->text, "stop %lld", (long long)now.ns);
    say(c, out);
}

static void dump(void *state)
{
    buffer_add_text(&((struct core *)state)->text, "dump");
}

static int64_t term(const void *state)
{
    return ((const struct core *)state)->heard / 10;
}

static struct actor actor_of(struct core *c)
{
    return (struct actor){.state = c,
                          .handle = handle,
                          .work = work,
                          .tick = tick,
                          .stop = stop,
                          .dump = dump,
                          .term = term};
}

/* ---- recording ---- */

static struct outbox sent;

static void send_all(void *context)
{
    struct actor *a = context;
    journal_send(&sent, a->term(a->state));
    outbox_reset(&sent);
}

/* The phases of actor.c. */
static void turn(struct actor *a, int i)
{
    char text[32];
    snprintf(text, sizeof(text), "message %d", i);
    const struct message m = {.type = MSG_hello, .hello.instance = str_of(text)};
    struct moment now = moment_now();
    struct delivery in = {.from = {WATCHER, 1},
                          .instance = STR_LITERAL("watcher"),
                          .received_us = moment_wall_us(),
                          .message = &m};
    for (int k = 0; k < i % 3; k++) {
        journal_delivery(now, &in);
        a->handle(a->state, now, &in, &sent);
    }
    now = moment_now();
    journal_turn(now);
    a->work(a->state, now, &sent);
    a->tick(a->state, now, &sent);
    if (i == 30) {
        journal_dump();
        a->dump(a->state);
    }
    if (i == 40) {
        journal_stop(now);
        a->stop(a->state, now, &sent);
    }
    send_all(a);
}

static void recorded(struct buffer *bytes)
{
    struct kube_client client = {0};
    struct core core = {0};
    struct actor actor = actor_of(&core);
    struct journal *j = journal_new(&(struct journal_head){.process = STR_LITERAL("queue")},
                                    &(struct journal_options){.most = SIZE_MAX, .bodies = true});
    journal_use(j);
    core.talk = talk_new(&client);
    sent = (struct outbox){.send = send_all, .context = &actor};
    for (int i = 0; i < 50; i++)
        turn(&actor, i);
    journal_finish(j);
    buffer_add_str(bytes, buffer_str(journal_bytes(j)));
    journal_free(&j);
    talk_free(&core.talk);
    outbox_free(&sent);
    buffer_free(&core.text);
}

/* ---- playing back ---- */

struct played {
    struct journal_tally tally;
    char difference[4096];
};

static struct played outcome_of(const struct buffer *bytes, bool eager)
{
    char error[256];
    struct played o = {0};
    struct core core = {.eager = eager};
    struct actor actor = actor_of(&core);
    struct journal *j = journal_play(bytes->at, bytes->len, error, sizeof(error));
    assert_non_null(j);
    journal_use(j);
    core.talk = talk_new(NULL);
    assert_int_equal(talk_fd(core.talk), -1);
    replay_play(&actor);
    o.tally = journal_tally(j);
    if (journal_difference(j) != NULL)
        snprintf(o.difference, sizeof(o.difference), "%s", journal_difference(j));
    journal_free(&j);
    talk_free(&core.talk);
    buffer_free(&core.text);
    return o;
}

static void a_life_is_lived_again(void **state)
{
    struct buffer bytes = {0};
    (void)state;
    recorded(&bytes);
    struct played o = outcome_of(&bytes, false);
    assert_string_equal(o.difference, "");
    assert_int_equal(o.tally.fate, JOURNAL_whole);
    assert_true(o.tally.said > 60);
    o = outcome_of(&bytes, true);
    assert_non_null(strstr(o.difference, "goodbye to queue"));
    buffer_free(&bytes);
}

/* The journal with its i-th entry changed by somebody. */
static void changed(const struct buffer *bytes, int64_t kind, int skip,
                    void (*change)(struct journal_entry *e), struct buffer *out)
{
    struct journal_cursor c = {bytes->at, bytes->at + bytes->len};
    struct journal_head head;
    struct journal_entry e;
    struct arena a = {0};
    assert_null(journal_start(&c, &head, &a));
    buffer_reset(out);
    journal_put_head(out, &head);
    while (journal_read(&c, &e) == JOURNAL_STEP_entry) {
        if (e.kind == kind && skip-- == 0)
            change(&e);
        if (e.kind != 0)
            journal_put(out, &e);
    }
    assert_true(skip < 0);
    arena_free(&a);
}

static char other[64];

static void change_message(struct journal_entry *e)
{
    assert_true(e->body.len < sizeof(other));
    memcpy(other, e->body.at, e->body.len);
    char *at = memchr(other, 'm', e->body.len);
    assert_non_null(at);
    *at = 'M';
    e->body.at = other;
}

static void change_hash(struct journal_entry *e)
{
    e->hash ^= 1;
}

static void change_number(struct journal_entry *e)
{
    e->number += 1000;
}

static void change_status(struct journal_entry *e)
{
    e->status++;
}

static void change_type(struct journal_entry *e)
{
    e->type = MSG_COUNT + 5;
}

static void change_clock(struct journal_entry *e)
{
    e->now_ns++;
}

static void leave_out(struct journal_entry *e)
{
    e->kind = 0;
}

static bool is_once(int64_t kind)
{
    return kind == JOURNAL_dump || kind == JOURNAL_stop;
}

static void what_was_changed_is_found(void **state)
{
    static const struct {
        int64_t kind;
        void (*change)(struct journal_entry *e);
        const char *text;
    } cases[] = {
        {JOURNAL_delivery, change_message, "request POST /api - - differs"},
        {JOURNAL_delivery, change_type, "a message is not to be read"},
        {JOURNAL_delivery, leave_out, "not done again: request POST /api"},
        {JOURNAL_message, change_hash, "hello to watcher differs"},
        {JOURNAL_request, change_hash, "request POST /api - - differs"},
        {JOURNAL_answer, change_number, "an answer comes to a request that was not made: "},
        {JOURNAL_answer, change_status, "differs"},
        {JOURNAL_answer, leave_out, "differs"},
        {JOURNAL_clock, change_clock, "differs"},
        {JOURNAL_clock, leave_out, "clock, where there was: "},
        {JOURNAL_turn, leave_out, "not done again: "},
        {JOURNAL_message, leave_out, "hello to watcher is said, and it was "},
        {JOURNAL_cancel, leave_out, "cancel is said, and it was"},
        {JOURNAL_dump, leave_out, "differs"},
        {JOURNAL_stop, leave_out, "does not say again: hello to watcher"},
    };
    struct buffer bytes = {0}, planted = {0};
    (void)state;
    recorded(&bytes);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int skip = 0; skip < (is_once(cases[i].kind) ? 1 : 4); skip++) {
            changed(&bytes, cases[i].kind, skip, cases[i].change, &planted);
            struct played o = outcome_of(&planted, false);
            if (strstr(o.difference, cases[i].text) == NULL)
                fail_msg("case %zu, %d: \"%s\", wanted \"%s\"", i, skip, o.difference,
                         cases[i].text);
        }
    buffer_free(&bytes);
    buffer_free(&planted);
}

static void nothing_is_claimed_behind_a_cut(void **state)
{
    struct buffer bytes = {0};
    (void)state;
    recorded(&bytes);
    for (size_t len = 64; len < bytes.len; len += 11) {
        struct buffer cut = {.at = bytes.at, .len = len};
        struct played o = outcome_of(&cut, false);
        assert_string_equal(o.difference, "");
        assert_int_equal(o.tally.fate, JOURNAL_cut);
    }
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_lived_again),
        cmocka_unit_test(what_was_changed_is_found),
        cmocka_unit_test(nothing_is_claimed_behind_a_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
