/* search: the depth-first search for the first solution. A frame is a call of upstream's recursive
 * allocateOne, on a stack of its own, so that no claims can exhaust the program's; a call that only
 * passes on what the next one returns becomes the next one. What must stay true: steps are counted
 * and come in upstream's order, and a frame that gives up has taken its device back. */
#include "scheduler/devices/search.h"
#include "proto/base/memory.h"

/* How many steps and devices pass between two looks at the clock. */
#define TICKS 256

static const struct choice *choice_of(const struct dra_search *s, const struct frame *f)
{
    return &s->claims[f->claim].requests[f->request].choices[f->choice];
}

/* May move the frames. */
static enum reply descend(struct dra_search *s, struct frame child)
{
    if (s->depth == s->frame_room) {
        s->frame_room = s->frame_room == 0 ? 64 : s->frame_room * 2;
        s->frames = memory_resize(s->frames, s->frame_room * sizeof(*s->frames));
    }
    child.kind = FRAME_new;
    s->frames[s->depth++] = child;
    return REPLY_descend;
}

static bool expired(struct dra_search *s)
{
    const struct dra_limits *l = s->limits;
    if (l == NULL)
        return false;
    if (l->steps > 0 && s->steps > l->steps)
        return true;
    return l->expired != NULL && s->ticks++ % TICKS == 0 && l->expired(l->context);
}

/* ---- one choice after the other ---- */

static enum reply next_choice(struct dra_search *s, const struct frame *f)
{
    if (f->choice >= s->claims[f->claim].requests[f->request].choice_count)
        return f->all_exceeded ? REPLY_exceeded : REPLY_none;
    struct frame child = {.claim = f->claim, .request = f->request, .choice = f->choice};
    child.in_choice = true;
    return descend(s, child);
}

static enum reply choice_replied(struct dra_search *s, struct frame *f, enum reply reply)
{
    if (reply == REPLY_done)
        s->claims[f->claim].requests[f->request].selected = f->choice;
    if (reply != REPLY_none && reply != REPLY_exceeded)
        return reply;
    f->all_exceeded = f->all_exceeded && reply == REPLY_exceeded;
    f->choice++;
    return next_choice(s, f);
}

/* ---- one device after the other ---- */

static struct frame next_device(const struct frame *f)
{
    return (struct frame){.claim = f->claim,
                          .request = f->request,
                          .choice = f->choice,
                          .in_choice = f->in_choice,
                          .device = f->device + 1};
}

static enum reply capacity_left(struct dra_search *s, const struct frame *f,
                                const struct device *device)
{
    const struct choice *choice = choice_of(s, f);
    struct capacity_question asked = choice_question(s, choice);
    struct str why = {0};
    if (!s->ways.shares)
        return REPLY_done;
    switch (capacity_fits(&asked, device, true, search_mark(s, device)->allocating, &why)) {
    case CAPACITY_fits: return REPLY_done;
    case CAPACITY_lacks: return REPLY_none;
    case CAPACITY_failed: break;
    }
    s->error = arena_print(
        &s->work, "claim %.*s, request %.*s: checking capacity for device %.*s/%.*s/%.*s: %.*s",
        STR_ARG(s->claims[f->claim].key), STR_ARG(choice->name),
        STR_ARG(device->slice->said.driver), STR_ARG(device->slice->said.pool),
        STR_ARG(device->said.name), STR_ARG(why));
    return REPLY_failed;
}

/* Whether the frame's next device is chosen: done, none, failed. */
static enum reply try_device(struct dra_search *s, const struct frame *f, struct pool_device at)
{
    const struct asked_claim *claim = &s->claims[f->claim];
    const struct choice *choice = choice_of(s, f);
    if (choice->said->admin_access ? device_in_claim(s, f->claim, at.device)
                                   : device_in_use(s, at.device))
        return REPLY_none;
    enum reply reply = search_selectable(s, claim, choice, at.device);
    if (reply != REPLY_done)
        return reply;
    reply = capacity_left(s, f, at.device);
    return reply == REPLY_done ? pick_add(s, f, at, false) : reply;
}

/* The next device, in the order of pools, slices and devices; NULL behind the last one. */
static struct pool_device candidate_next(struct dra_search *s, struct frame *f)
{
    for (; f->pool < s->view.count; f->pool++) {
        struct view_pool *pool = &s->view.at[f->pool]; /* without slices if it is no good */
        for (; f->slice < pool->slice_count; f->slice++) {
            struct slice *slice = pool->slices[f->slice];
            if (f->next < slice->device_count)
                return (struct pool_device){pool, &slice->devices[f->next++]};
            f->next = 0;
        }
        f->slice = 0;
    }
    return (struct pool_device){0};
}

static enum reply pick_next(struct dra_search *s, struct frame *f)
{
    struct pool_device at;
    while ((at = candidate_next(s, f)).device != NULL) {
        if (expired(s))
            return REPLY_expired;
        enum reply reply = try_device(s, f, at);
        if (reply == REPLY_failed)
            return reply;
        if (reply == REPLY_none)
            continue;
        struct frame child = next_device(f);
        if (s->ways.stable) /* it tries them in every order */
            return descend(s, child);
        child.pool = f->pool;
        child.slice = f->slice;
        child.next = f->next;
        return descend(s, child);
    }
    return REPLY_none;
}

static enum reply pick_replied(struct dra_search *s, struct frame *f, enum reply reply)
{
    if (reply == REPLY_done)
        return reply;
    pick_undo(s);
    return reply == REPLY_none ? pick_next(s, f) : reply;
}

/* All of them are wanted: the one that is next, or no solution. */
static enum reply pick_all(struct dra_search *s, const struct frame *f)
{
    struct pool_device at = choice_of(s, f)->found[f->device];
    enum reply reply = pick_add(s, f, at, true);
    return reply == REPLY_done ? descend(s, next_device(f)) : reply;
}

/* ---- steps ---- */

/* What a frame does when it comes up; it may become the next request's. */
static enum reply enter(struct dra_search *s, struct frame *f)
{
    for (;;) {
        s->steps++;
        if (expired(s))
            return REPLY_expired;
        if (f->claim >= s->claim_count)
            return REPLY_done;
        const struct asked_claim *claim = &s->claims[f->claim];
        if (f->request >= claim->request_count) {
            f->kind = FRAME_claim;
            s->claims[f->claim].pick_count = s->pick_count - claim->first_pick;
            if (f->claim + 1 < s->claim_count)
                s->claims[f->claim + 1].first_pick = s->pick_count;
            return descend(s, (struct frame){.claim = f->claim + 1});
        }
        if (!f->in_choice && claim->requests[f->request].said->first_available) {
            f->kind = FRAME_choices;
            f->all_exceeded = true;
            return next_choice(s, f);
        }
        const struct choice *choice = choice_of(s, f);
        if (choice->all && choice->wanted == 0)
            return REPLY_none;
        if (f->device < choice->wanted)
            break;
        *f = (struct frame){.claim = f->claim, .request = f->request + 1};
    }
    const struct choice *choice = choice_of(s, f);
    if (choice->wanted - f->device > DRA_RESULTS_MAX - (int64_t)s->claims[f->claim].pick_count)
        return REPLY_exceeded;
    f->kind = choice->all ? FRAME_all : FRAME_pick;
    return choice->all ? pick_all(s, f) : pick_next(s, f);
}

/* What a frame does when the one above it has replied. */
static enum reply resume(struct dra_search *s, struct frame *f, enum reply reply)
{
    switch (f->kind) {
    case FRAME_choices: return choice_replied(s, f, reply);
    case FRAME_claim: return reply == REPLY_exceeded ? REPLY_none : reply;
    case FRAME_pick: return pick_replied(s, f, reply);
    case FRAME_all:
        if (reply != REPLY_done)
            pick_undo(s);
        return reply;
    case FRAME_new: break;
    }
    return reply;
}

enum reply search_run(struct dra_search *s)
{
    enum reply reply = REPLY_descend;
    s->depth = 0;
    descend(s, (struct frame){0});
    while (s->depth > 0) {
        uint32_t depth = s->depth;
        struct frame *f = &s->frames[depth - 1];
        reply = reply == REPLY_descend ? enter(s, f) : resume(s, f, reply);
        if (reply != REPLY_descend)
            s->depth = depth - 1;
    }
    return reply;
}
