/* held: the state of one pod, and the questions that it has open. What must stay true: while a pod
 * is asked about, a question of it is open, or the line has it; nothing of a pod that is gone is
 * open. */
#include "queue/bus_plugins/held.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/hints.h"

static struct holding *holding_of(const struct held *h)
{
    return h->entry->around->consults->holding;
}

void held_mark(struct held *h, bool silent, bool unsorted)
{
    struct holding *all = holding_of(h);
    all->silent -= (uint32_t)(h->silent || h->unsorted);
    h->silent = silent;
    h->unsorted = unsorted;
    all->silent += (uint32_t)(h->silent || h->unsorted);
}

void held_deny(struct held *h, const struct str *why)
{
    memory_free(h->reason);
    h->reason = why != NULL && why->len > 0 ? str_copy(*why) : NULL;
    h->state = why != NULL ? HELD_denied : h->state;
}

uint64_t held_bit(const struct held *h)
{
    const struct consults *c = h->entry->around->consults;
    if (h->state == HELD_passed)
        return 0;
    return h->place < c->count ? c->gate_bits[h->place] : c->sort_bit;
}

struct str held_reason(const struct entry *e)
{
    bool held = e->gate == GATE_plugin && e->held != NULL && e->held->reason != NULL;
    return held ? str_of(e->held->reason) : (struct str){NULL, 0};
}

uint64_t held_listens(const struct entry *e)
{
    return e->held != NULL && !e->held->silent ? e->held_by : 0;
}

static struct held *held_new(struct entry *e)
{
    struct held *h = memory_take(sizeof(*h));
    struct holding *all = e->around->consults->holding;
    h->entry = e;
    h->next = all->first;
    if (h->next != NULL)
        h->next->prev = h;
    all->first = h;
    e->held = h;
    return h;
}

void held_forget(struct entry *e)
{
    struct held *h = e->held;
    if (h == NULL)
        return;
    struct holding *all = holding_of(h);
    asking_drop(&all->asking, &h->gate);
    asking_drop(&all->asking, &h->sort);
    held_mark(h, false, false);
    if (h->next != NULL)
        h->next->prev = h->prev;
    if (h->prev != NULL)
        h->prev->next = h->next;
    else
        all->first = h->next;
    memory_free(h->reason);
    memory_free(h);
    e->held = NULL;
    e->keyed = false;
}

static void ask(struct held *h, struct plugin_question *q, const struct bus_plugin *plugin,
                enum plugin_step step)
{
    must(h->entry->held == h);
    struct asking *a = &holding_of(h)->asking;
    asking_drop(a, q);
    q->plugin = plugin;
    q->step = step;
    q->owner = h;
    must(asking_add(a, q)); /* it was configured */
}

void held_sort(struct held *h)
{
    const struct consults *c = h->entry->around->consults;
    held_mark(h, h->silent, false);
    if (c->sort != NULL)
        ask(h, &h->sort, c->sort, PLUGIN_STEP_queue_sort);
}

/* Whom its place says. */
static void ask_gate(struct held *h)
{
    const struct consults *c = h->entry->around->consults;
    if (h->place < c->count)
        ask(h, &h->gate, c->gates[h->place], PLUGIN_STEP_pre_enqueue);
}

void held_next(struct held *h)
{
    h->place++;
    ask_gate(h);
}

void held_ask(struct held *h)
{
    held_deny(h, NULL);
    h->state = HELD_asked;
    h->place = 0;
    h->again = h->changed = h->failed = false;
    held_mark(h, false, h->unsorted);
    ask_gate(h);
}

void held_look(struct held *h)
{
    if (h->state == HELD_asked && h->place == h->entry->around->consults->count && !h->sort.open)
        h->state = HELD_passed;
}

bool held_passes(struct entry *e)
{
    const struct consults *c = e->around->consults;
    if (c == NULL || (c->count == 0 && c->sort == NULL))
        return true;
    if (e->held == NULL)
        held_sort(held_new(e));
    struct held *h = e->held;
    if (h->state == HELD_asked)
        h->again = true;
    else if (h->state != HELD_passed)
        held_ask(h);
    held_look(h);
    e->held_by = held_bit(h);
    return h->state == HELD_passed;
}

void held_changed(struct entry *e)
{
    struct held *h = e->held;
    if (h == NULL)
        return;
    held_sort(h);
    h->changed = h->state == HELD_asked;
    if (h->state == HELD_passed)
        h->state = HELD_unasked;
}
