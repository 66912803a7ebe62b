/* releasing: requests to the binder, each with its own number, kept with the flight until all are
 * answered. The one idea: the flight itself waits, so nobody has to remember anything when it is
 * gone, and what is asked again is the very same request.
 *
 * What must stay true: nothing is asked before the attempt is over; the flight stays until each
 * request is answered, its term ends, or the binder goes; an answer counts for the request whose
 * number it has, and for no other. */
#include "scheduler/coordinator/releasing.h"

#include "proto/base/memory.h"
#include "scheduler/coordinator/gang_try.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/release_list.h"

/* What is asked for, as claim_release has it. */
#define MISSED_MAX 3 /* lists in a row; less, and the request may just be on its way */

/* ---- asking ---- */

static void send(struct coordinator *c, const struct claim_release *request)
{
    struct message m = {.type = MSG_claim_release, .claim_release = *request};
    outbox_put(c->out, c->binder, &m);
}

static void ask(struct coordinator *c, struct flight *f, const struct claim_release *request)
{
    if (f->releasing == NULL)
        f->releasing = memory_take(sizeof(*f->releasing));
    struct release_list *r = f->releasing;
    if (r->count == r->room) {
        r->room = r->room == 0 ? 2 : 2 * r->room;
        r->at = memory_resize(r->at, r->room * sizeof(*r->at));
    }
    struct release *asked = &r->at[r->count++];
    *asked = (struct release){.answered = false};
    codec_copy(message_info[MSG_claim_release].record, &asked->request, request, &r->memory);
    if (c->release_id == 0)
        c->release_id = (int64_t)(random_next(&c->random) >> 2);
    asked->request.id = ++c->release_id;
    r->open++;
    send(c, &asked->request);
}

static struct claim_release request_for(const struct flight *f, enum claim_step what,
                                        struct str claim, struct str claim_uid)
{
    return (struct claim_release){.what = what,
                                  .uid = f->pod.uid,
                                  .namespace_name = f->pod.namespace_name,
                                  .name = f->pod.name,
                                  .claim = claim,
                                  .claim_uid = claim_uid};
}

static bool may_ask(const struct coordinator *c)
{
    return leadership_leads(c) && c->binder.peer != 0;
}

static bool has_asked_about(const struct flight *f, struct str claim_uid)
{
    for (uint32_t i = 0; f->releasing != NULL && i < f->releasing->count; i++)
        if (str_equal(f->releasing->at[i].request.claim_uid, claim_uid))
            return true;
    return false;
}

void releasing_unreserve(struct coordinator *c, struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    bool reserves = fw != NULL && strs_hold(fw->profile.reserve, STR_LITERAL("DynamicResources"));
    for (uint32_t i = 0; may_ask(c) && reserves && i < f->pod.device_claims.count; i++) {
        const struct device_claim *named = &f->pod.device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded
                ? NULL
                : catalog_resource_claim(c->catalog, f->pod.namespace_name, named->claim);
        if (claim == NULL || !claim->allocated || !strs_hold(claim->reserved_for, f->pod.uid) ||
            has_asked_about(f, claim->uid))
            continue;
        const struct claim_release request =
            request_for(f, CLAIM_unreserve, claim->name, claim->uid);
        ask(c, f, &request);
    }
}

/* The text of a failure ends with what PostFilter says. */
static struct str without_post_filter(const struct decision *d)
{
    struct str all = d->message, end = d->preemption.post_filter;
    uint32_t len = all.len > end.len ? all.len - end.len : 0;
    return (struct str){all.at, len};
}

/* A reservation of the group is taken back once, whoever of it asks. */
static bool ask_for(struct coordinator *c, struct flight *f, const struct deallocation *d)
{
    enum claim_step what = d->unreserves ? CLAIM_unreserve
                           : d->deletes  ? CLAIM_delete
                                         : CLAIM_deallocate;
    struct claim_release request = request_for(f, what, d->claim, d->uid);
    request.resource_version = d->version;
    request.group_uid = d->group_uid;
    if (d->unreserves && releasing_expects(c, d->uid))
        return false;
    ask(c, f, &request);
    return true;
}

void releasing_take_back(struct coordinator *c, struct flight *f, const struct deallocation *d)
{
    if (d->claim.len > 0 && may_ask(c))
        (void)ask_for(c, f, d);
}

bool releasing_deallocate(struct coordinator *c, struct flight *f, const struct decision *d,
                          bool tells)
{
    if (d->deallocation.claim.len == 0 || !may_ask(c))
        return false;
    if (!ask_for(c, f, &d->deallocation))
        return false;
    struct release_list *r = f->releasing;
    r->tells = tells;
    r->clears = d->clear_nominated;
    r->message = arena_copy(&r->memory, without_post_filter(d));
    r->done = arena_copy(&r->memory, d->preemption.post_filter);
    return true;
}

/* ---- answers ---- */

static void tell_failure(struct coordinator *c, struct flight *f)
{
    struct release_list *r = f->releasing;
    bool clears = r->clears && r->error.len == 0;
    struct str said = r->error.len > 0 ? r->error : r->done;
    struct str message = arena_print(&r->memory, "%.*s%.*s", STR_ARG(r->message), STR_ARG(said));
    r->tells = false;
    landing_report(c, f, REASON_unschedulable,
                   &(struct failure){.message = message, .nominate = clears});
    if (clears || f->remembered)
        cache_nominate(c->cache, &f->pod, (struct str){NULL, 0});
    if (f->remembered)
        landing_say_room(c);
}

static void go_on(struct coordinator *c, struct flight *f)
{
    struct release_list *r = f->releasing;
    enum outcome_result result = r->result;
    if (r->open > 0)
        return;
    if (r->tells)
        tell_failure(c, f);
    if (f->state != FLIGHT_releasing)
        return;
    struct strs plugins = f->plugins;
    landing_end(c, f, result, plugins.count > 0 ? &plugins : NULL);
}

static struct release *find(const struct flight *f, int64_t id)
{
    for (uint32_t i = 0; f != NULL && f->releasing != NULL && i < f->releasing->count; i++)
        if (f->releasing->at[i].request.id == id && !f->releasing->at[i].answered)
            return &f->releasing->at[i];
    return NULL;
}

void releasing_on_answer(struct coordinator *c, const struct claim_released *said)
{
    struct flight *f = flights_get(&c->flights, said->uid);
    struct release *asked = find(f, said->id);
    if (!said->done)
        log_warn("nothing was taken back of a claim|what=%.*s claim=%.*s/%.*s reason=\"%.*s\"",
                 STR_ARG(words_text(&claim_step_words, said->what)), STR_ARG(said->namespace_name),
                 STR_ARG(said->claim), STR_ARG(said->message));
    if (asked == NULL) { /* it was asked twice, or in another life or term */
        COUNT(c, late, 1);
        return;
    }
    struct release_list *r = f->releasing;
    asked->answered = true;
    r->open--;
    if (!said->done && asked->request.what != CLAIM_unreserve)
        r->error = said->message.len > 0 ? arena_copy(&r->memory, said->message)
                                         : STR_LITERAL("nothing was taken back of the claim");
    go_on(c, f);
}

void releasing_find_lost(struct coordinator *c, struct flight *f, const struct map *under_way)
{
    struct release_list *r = f->releasing;
    bool lost = false;
    for (uint32_t i = 0; r != NULL && i < r->count; i++)
        lost |= !r->at[i].answered && map_get(under_way, r->at[i].request.claim_uid) == NULL;
    if (!lost || ++r->missed < MISSED_MAX) {
        if (!lost && r != NULL)
            r->missed = 0;
        return;
    }
    r->missed = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->at[i].answered && map_get(under_way, r->at[i].request.claim_uid) == NULL) {
            log_warn(
                "a request about a claim got lost and is sent again| what=%.*s claim=%.*s/%.*s",
                STR_ARG(words_text(&claim_step_words, r->at[i].request.what)),
                STR_ARG(r->at[i].request.namespace_name), STR_ARG(r->at[i].request.claim));
            send(c, &r->at[i].request);
        }
}

bool releasing_expects(const struct coordinator *c, struct str claim_uid)
{
    const struct flight *f;
    size_t at = 0;
    while ((f = flights_next(&c->flights, &at)) != NULL) {
        const struct release_list *r = f->releasing;
        for (uint32_t i = 0; r != NULL && i < r->count; i++)
            if (!r->at[i].answered && str_equal(r->at[i].request.claim_uid, claim_uid))
                return true;
    }
    return false;
}
