/* Watcher and coordinator wired to each other, in virtual time: how a new term's barrier comes
 * through when listing takes longer than anybody's patience, and when the bus loses messages. The
 * test is the API server, the bus and the binder. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "scheduler/coordinator/coordinator.h"
#include "watcher/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEP_MS 50
enum { NODES, PODS, PROBE, SOURCES };

static const struct address binder = {BINDER, 3};

/* A request of a source; a page is answered when it is due, a watch never. */
struct asked {
    uint64_t number;
    struct moment due;
    bool open, watch;
    long next; /* the pod behind the page; 0: it is the last page */
};

struct world {
    struct watcher *watcher;
    struct coordinator *coordinator;
    struct moment now;
    struct asked asked[SOURCES];
    int64_t page_ms;
    long pods;           /* that a list has; their contents do not matter */
    struct moment begun; /* the list of pods */
    int64_t expires_ms;  /* so long the server keeps its version; 0: for ever */
    int lists;           /* of pods, begun */
    int questions;       /* that the watcher was asked */
    uint32_t link;       /* the peer that each is to the other */
    bool deaf;           /* what the coordinator says to the watcher is lost */
    bool mute;           /* barriers that are reached are not heard of */
};

static struct world w;

/* ---- the API server ---- */

static struct kube_resource required[2];

static void take_kinds(void)
{
    for (size_t i = 0; i < kube_resource_count; i++) {
        if (strcmp(kube_resources[i].name, "nodes") == 0)
            required[NODES] = kube_resources[i];
        if (strcmp(kube_resources[i].name, "pods") == 0)
            required[PODS] = kube_resources[i];
    }
}

/* The number behind a word of the path; 0: it is not there. */
static long number_in(const char *path, const char *word)
{
    const char *at = strstr(path, word);
    return at == NULL ? 0 : strtol(at + strlen(word), NULL, 10);
}

static void ask(size_t source, const struct reflector_request *r)
{
    char path[512];
    struct asked *a = &w.asked[source];
    snprintf(path, sizeof(path), "%.*s", STR_ARG(r->path));
    *a = (struct asked){.number = r->number, .open = true, .watch = r->watch};
    a->due = moment_after(w.now, span_of_ms(source == PROBE ? 0 : w.page_ms));
    if (source != PODS || r->watch)
        return;
    long from = number_in(path, "continue=c"), behind = from + number_in(path, "limit=");
    assert_true(behind > from);
    a->next = behind < w.pods ? behind : 0;
    if (from > 0)
        return;
    w.lists++;
    w.begun = w.now;
}

static void answer(size_t source)
{
    char body[200], more[40] = "";
    struct asked *a = &w.asked[source];
    struct kube_response r = {.status = 200, .error = "", .retry_after_s = -1};
    if (source == PODS && w.expires_ms > 0 &&
        moment_reached(w.now, moment_after(w.begun, span_of_ms(w.expires_ms))))
        r.status = 410;
    if (a->next > 0)
        snprintf(more, sizeof(more), ",\"continue\":\"c%ld\"", a->next);
    snprintf(body, sizeof(body), "{\"metadata\":{\"resourceVersion\":\"10\"%s},\"items\":[]}",
             more);
    r.body = str_of(body);
    a->open = false;
    watcher_response(w.watcher, w.now, source, a->number, &r);
}

static void serve(void)
{
    for (size_t i = 0; i < SOURCES; i++) {
        struct reflector_request r;
        if (watcher_next(w.watcher, w.now, i, &r))
            ask(i, &r);
        if (w.asked[i].open && !w.asked[i].watch && moment_reached(w.now, w.asked[i].due))
            answer(i);
    }
}

/* ---- the bus ---- */

static void to_watcher(struct outbox *out)
{
    struct arena memory = {0};
    for (size_t i = 0; i < out->count; i++) {
        struct message m;
        struct outbox none = {0};
        struct delivery in = {.from = {SCHEDULER, w.link}, .message = &m};
        assert_true(outbox_get(out, i, &m, &memory));
        if (out->at[i].to.process != WATCHER || (w.deaf && m.type == MSG_barrier))
            continue;
        w.questions += m.type == MSG_barrier;
        watcher_handle(w.watcher, w.now, &in, &none);
        outbox_free(&none);
    }
    arena_free(&memory);
}

static void to_coordinator(struct outbox *out, struct outbox *answers)
{
    struct arena memory = {0};
    for (size_t i = 0; i < out->count; i++) {
        struct message m;
        struct delivery in = {.from = {WATCHER, w.link},
                              .epoch = out->at[i].epoch,
                              .sequence = out->at[i].sequence,
                              .part = out->at[i].part,
                              .message = &m};
        assert_true(outbox_get(out, i, &m, &memory));
        if (out->at[i].to.peer == w.link && !(w.mute && m.type == MSG_barrier_reached))
            coordinator_handle(w.coordinator, w.now, &in, answers);
    }
    arena_free(&memory);
}

static void step(void)
{
    struct outbox up = {0}, down = {0};
    w.now = moment_after(w.now, span_of_ms(STEP_MS));
    serve();
    watcher_tick(w.watcher, w.now, &down);
    to_coordinator(&down, &up);
    coordinator_tick(w.coordinator, w.now, &up);
    to_watcher(&up);
    outbox_free(&up);
    outbox_free(&down);
}

static void coordinator_hears(struct address from, struct message m)
{
    struct outbox out = {0};
    struct delivery in = {.from = from, .message = &m};
    coordinator_handle(w.coordinator, w.now, &in, &out);
    to_watcher(&out);
    outbox_free(&out);
}

static void link_breaks(void)
{
    struct message down = {.type = MSG_peer_down};
    struct outbox none = {0};
    struct delivery in = {.from = {SCHEDULER, w.link}, .message = &down};
    watcher_handle(w.watcher, w.now, &in, &none);
    coordinator_hears((struct address){WATCHER, w.link}, down);
    w.link++;
    coordinator_hears((struct address){WATCHER, w.link}, (struct message){.type = MSG_peer_up});
    outbox_free(&none);
}

static void watcher_restarts(int64_t epoch)
{
    watcher_free(&w.watcher);
    memset(w.asked, 0, sizeof(w.asked));
    w.watcher = watcher_new(&(struct watcher_options){.kinds = required,
                                                      .kind_count = 2,
                                                      .epoch = epoch,
                                                      .seed = 3,
                                                      .barrier_wait = span_of_ms(300)});
    link_breaks();
}

static void lead(int64_t term)
{
    struct message m = {.type = MSG_leadership, .leadership = {.leading = true, .lead_term = term}};
    coordinator_hears(binder, m);
}

/* Until it decides; how long that took, in ms. */
static int64_t decides_within(int64_t most_ms)
{
    for (int64_t ms = 0; ms <= most_ms; ms += STEP_MS) {
        if (*coordinator_waits_for(w.coordinator, w.now) == 0)
            return ms;
        step();
    }
    fail_msg("it still waits for %s", coordinator_waits_for(w.coordinator, w.now));
    return 0;
}

/* A synced view, in term 1. */
static int start(void **state)
{
    static struct profile profile;
    (void)state;
    take_kinds();
    profile = (struct profile){.scheduler_name = STR_LITERAL("default-scheduler")};
    w = (struct world){.now = {1000000000}, .pods = 4200, .link = 1};
    w.watcher = watcher_new(
        &(struct watcher_options){.kinds = required, .kind_count = 2, .epoch = 1, .seed = 3});
    w.coordinator = coordinator_new(&(struct coordinator_options){
        .profiles = &profile, .profile_count = 1, .tie_break = TIE_BREAK_first, .seed = 5});
    coordinator_hears((struct address){WATCHER, w.link}, (struct message){.type = MSG_peer_up});
    coordinator_hears(binder, (struct message){.type = MSG_peer_up});
    lead(1);
    decides_within(5000);
    w.page_ms = 1500; /* a list of pods takes 13.5 s from here on */
    w.lists = w.questions = 0;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    watcher_free(&w.watcher);
    coordinator_free(&w.coordinator);
    return 0;
}

/* ---- tests ---- */

/* One list of 13.5 s, however often the question is repeated meanwhile. */
static void a_new_term_comes_through_however_long_a_list_takes(void **state)
{
    (void)state;
    lead(2);
    assert_in_range(decides_within(60000), 13000, 15000);
    assert_int_equal(w.lists, 1);
    w.pods = 50000;
    lead(3);
    assert_in_range(decides_within(400000), 150000, 156000);
    assert_true(w.questions > 10);
    assert_int_equal(w.lists, 2);
    for (int i = 0; i < 1000; i++)
        step();
    assert_int_equal(w.lists, 2); /* nobody lists for what was answered */
}

static void a_lost_question_is_asked_again(void **state)
{
    (void)state;
    w.deaf = true;
    lead(2);
    for (int i = 0; i < 10; i++)
        step();
    w.deaf = false;
    assert_in_range(decides_within(60000), 13000, 10000 + 15000);
    assert_int_equal(w.lists, 1);
}

/* And nothing is listed for it. */
static void a_lost_answer_is_told_again(void **state)
{
    (void)state;
    w.mute = true;
    lead(2);
    for (int i = 0; i < 20000 / STEP_MS; i++)
        step();
    w.mute = false;
    assert_string_equal(coordinator_waits_for(w.coordinator, w.now), "barrier");
    decides_within(12000);
    assert_int_equal(w.lists, 1);
}

/* The link breaks more often than a list takes: the first question is answered all the same. */
static void a_link_that_breaks_again_and_again_starves_nobody(void **state)
{
    (void)state;
    lead(2);
    int64_t ms = 0;
    for (; *coordinator_waits_for(w.coordinator, w.now) != 0 && ms < 60000; ms += STEP_MS) {
        if (ms % 4000 == 2000)
            link_breaks();
        step();
    }
    assert_in_range(ms, 13000, 16000);
}

static void a_new_watcher_is_asked_at_once(void **state)
{
    (void)state;
    lead(2);
    for (int i = 0; i < 5000 / STEP_MS; i++)
        step();
    watcher_restarts(2);
    assert_in_range(decides_within(60000), 13000, 16000);
    assert_int_equal(w.lists, 2); /* each watcher's */
}

/* It takes 150 s in pages of 500, and the server keeps its version for 30 s. */
static void a_list_that_expires_does_not_go_on_for_ever(void **state)
{
    (void)state;
    w.pods = 50000;
    w.expires_ms = 30000;
    lead(2);
    assert_in_range(decides_within(200000), 30000, 120000);
    assert_in_range(w.lists, 2, 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_new_term_comes_through_however_long_a_list_takes),
        TEST(a_lost_question_is_asked_again),
        TEST(a_lost_answer_is_told_again),
        TEST(a_link_that_breaks_again_and_again_starves_nobody),
        TEST(a_new_watcher_is_asked_at_once),
        TEST(a_list_that_expires_does_not_go_on_for_ever),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
