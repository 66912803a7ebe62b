/* asking: for each plugin a line and what is under way. What must stay true: a question that was
 * added ends exactly once, by an answer, by a failure or by being dropped, unless its plugin's
 * process goes and another of its name is there, which is asked in its place; and nothing waits in
 * line for a plugin that cannot be asked. */
#include "proto/plugins/asking.h"

#include "proto/base/must.h"

/* ---- lists ---- */

static void append(struct plugin_list *l, struct plugin_question *q)
{
    q->next = NULL;
    q->prev = l->last;
    if (l->last != NULL)
        l->last->next = q;
    else
        l->first = q;
    l->last = q;
    l->count++;
}

static void take_out(struct plugin_list *l, struct plugin_question *q)
{
    must(l->count > 0);
    if (q->prev != NULL)
        q->prev->next = q->next;
    else
        l->first = q->next;
    if (q->next != NULL)
        q->next->prev = q->prev;
    else
        l->last = q->prev;
    q->next = q->prev = NULL;
    l->count--;
}

static struct plugin_list *list_of(struct asking *a, const struct plugin_question *q)
{
    return q->id == 0 ? &a->line[q->slot] : &a->under_way[q->slot];
}

void asking_drop(struct asking *a, struct plugin_question *q)
{
    if (!q->open)
        return;
    take_out(list_of(a, q), q);
    q->open = false;
    q->id = 0;
}

/* ---- whom ---- */

void asking_configure(struct asking *a, const struct str *names, uint32_t count)
{
    for (uint32_t i = 0; i < CONFIG_BUS_PLUGINS_MAX; i++)
        must(a->line[i].count == 0 && a->under_way[i].count == 0);
    processes_configure(&a->who, names, count);
}

static bool is_idle(const struct asking *a, uint32_t slot)
{
    return a->line[slot].count == 0 && a->under_way[slot].count == 0;
}

/* With as many plugins as there is room for, one that nothing is asked of makes room. */
static bool learn(struct asking *a, struct str name)
{
    uint32_t at = 0;
    while (at < a->who.count && (a->who.count < CONFIG_BUS_PLUGINS_MAX || !is_idle(a, at)))
        at++;
    if (at == CONFIG_BUS_PLUGINS_MAX)
        return false;
    processes_put(&a->who, at, name);
    return true;
}

bool asking_add(struct asking *a, struct plugin_question *q)
{
    must(!q->open && q->plugin->name.len > 0);
    if (processes_slot(&a->who, q->plugin->name) == NULL && !learn(a, q->plugin->name))
        return false;
    q->slot = (uint32_t)(processes_slot(&a->who, q->plugin->name) - a->who.at);
    q->open = true;
    q->id = 0;
    append(&a->line[q->slot], q);
    return true;
}

const char *asking_unable(const struct asking *a, struct str name, struct moment now)
{
    for (uint32_t i = 0; i < a->who.count; i++)
        if (str_is(name, a->who.at[i].name))
            return processes_unable(&a->who.at[i], now);
    return NULL;
}

/* ---- ends ---- */

static void end(struct asking *a, struct moment now, struct plugin_question *q,
                const struct plugin_end *how)
{
    asking_drop(a, q);
    a->options.ended(a->options.state, now, q, how);
}

/* silent: it has said nothing at all. */
static void fail(struct asking *a, struct moment now, struct plugin_question *q, struct str why,
                 bool silent)
{
    struct span took = {0};
    if (q->id != 0)
        took = moment_since(now, q->asked);
    end(a, now, q, &(struct plugin_end){.why = why, .silent = silent, .took = took});
}

static void tell_back(struct asking *a, struct moment now, const struct bus_plugin_slot *slot,
                      bool came)
{
    if (slot != NULL && a->options.back != NULL)
        a->options.back(a->options.state, now, slot, came);
}

/* ---- links ---- */

void asking_up(struct asking *a, struct moment now, struct str name, uint32_t peer)
{
    tell_back(a, now, processes_up(&a->who, name, peer), true);
}

void asking_heard(struct asking *a, struct moment now, uint32_t peer)
{
    tell_back(a, now, processes_heard(&a->who, peer), false);
}

/* What it was asked is asked anew, of the next process of its name; without one that fails with
 * the next tick. */
void asking_down(struct asking *a, uint32_t peer)
{
    (void)processes_down(&a->who, peer);
    for (uint32_t i = 0; i < a->who.count; i++) {
        struct plugin_question *next;
        for (struct plugin_question *q = a->under_way[i].first; q != NULL; q = next) {
            next = q->next;
            if (q->peer != peer)
                continue;
            take_out(&a->under_way[i], q);
            q->id = 0;
            append(&a->line[i], q);
        }
    }
}

static struct plugin_question *find(const struct asking *a, uint32_t peer, int64_t id)
{
    for (uint32_t i = 0; i < a->who.count; i++)
        for (struct plugin_question *q = a->under_way[i].first; q != NULL; q = q->next)
            if (q->id == id && q->peer == peer)
                return q;
    return NULL;
}

static struct str error_of(const struct message *said)
{
    return said->type == MSG_plugin_hinted ? said->plugin_hinted.error : said->plugin_answer.error;
}

void asking_answered(struct asking *a, struct moment now, uint32_t peer, int64_t id,
                     const struct message *said)
{
    struct plugin_question *q = find(a, peer, id);
    struct arena memory = {0};
    asking_heard(a, now, peer);
    q = q != NULL && q->open && q->id == id ? q : NULL; /* whoever heard may have dropped it */
    if (q == NULL) {
        a->late++;
        return;
    }
    struct bus_plugin_slot *slot = &a->who.at[q->slot];
    bool hint = said->type == MSG_plugin_hinted, asked_hint = q->step == PLUGIN_STEP_none;
    struct str why = error_of(said);
    if (hint != asked_hint)
        why = STR_LITERAL("answered something else than it was asked");
    else if (why.len > 0)
        why = arena_print(&memory, "failed: %.*s", STR_ARG(why));
    else
        why = a->options.problem(a->options.state, q, said, &memory);
    if (why.len > 0) {
        fail(a, now, q, processes_failed(slot, why, &memory), false);
    } else {
        bool back = processes_fine(slot);
        end(a, now, q, &(struct plugin_end){.answer = said, .took = moment_since(now, q->asked)});
        if (back)
            tell_back(a, now, slot, false);
    }
    arena_free(&memory);
}

/* ---- time ---- */

static struct moment due_of(const struct plugin_question *q)
{
    return moment_after(q->asked, span_of_ms(q->plugin->deadline_ms));
}

/* False: there is more to tell than a message holds. */
static bool ask(struct asking *a, struct moment now, struct plugin_question *q, struct outbox *out)
{
    struct bus_plugin_slot *slot = &a->who.at[q->slot];
    struct arena memory = {0};
    struct message m = {.type = MSG_plugin_ask};
    bool filled = a->options.fill(a->options.state, q, &m, &memory);
    if (filled) {
        take_out(&a->line[q->slot], q);
        q->id = ++a->last_id;
        q->peer = slot->peer;
        q->asked = now;
        append(&a->under_way[q->slot], q);
        slot->asked++;
        if (m.type == MSG_plugin_hint) {
            m.plugin_hint.id = q->id;
            m.plugin_hint.deadline_ms = q->plugin->deadline_ms;
        } else {
            m.plugin_ask.id = q->id;
            m.plugin_ask.deadline_ms = q->plugin->deadline_ms;
        }
        const struct address to = {.process = PLUGIN, .peer = slot->peer };
        outbox_put(out, to, &m);
    }
    arena_free(&memory);
    return filled;
}

/* Those that were there when it began: what is asked in place of one that failed waits for the
 * next call, so that no chain of failures goes on for ever in one. */
static void fail_line(struct asking *a, struct moment now, uint32_t i, const char *problem)
{
    struct arena memory = {0};
    for (uint32_t count = a->line[i].count; count > 0 && a->line[i].first != NULL; count--)
        fail(a, now, a->line[i].first, processes_failed(&a->who.at[i], str_of(problem), &memory),
             true);
    arena_free(&memory);
}

static void ask_line(struct asking *a, struct moment now, uint32_t i, struct outbox *out)
{
    while (a->line[i].first != NULL && a->under_way[i].count < ASKING_AT_ONCE) {
        struct plugin_question *q = a->line[i].first;
        struct arena memory = {0};
        if (!ask(a, now, q, out))
            fail(a, now, q,
                 processes_failed(&a->who.at[i],
                                  STR_LITERAL("is to be told more than a message holds"), &memory),
                 false);
        arena_free(&memory);
    }
}

static void end_late(struct asking *a, struct moment now, uint32_t i)
{
    struct arena memory = {0};
    struct plugin_question *next;
    for (struct plugin_question *q = a->under_way[i].first; q != NULL; q = next) {
        next = q->next;
        if (!moment_reached(now, due_of(q)))
            continue;
        fail(a, now, q, processes_late(&a->who.at[i], now, q->plugin->deadline_ms, &memory), true);
        next = a->under_way[i].first; /* whoever heard of it may have dropped others */
    }
    arena_free(&memory);
}

struct moment asking_tick(struct asking *a, struct moment now, struct outbox *out)
{
    struct moment next = MOMENT_NEVER;
    for (uint32_t i = 0; i < a->who.count; i++)
        end_late(a, now, i);
    for (uint32_t i = 0; i < a->who.count; i++) {
        const char *problem = processes_unable(&a->who.at[i], now);
        if (problem != NULL)
            fail_line(a, now, i, problem);
        else
            ask_line(a, now, i, out);
    }
    for (uint32_t i = 0; i < a->who.count; i++) {
        for (const struct plugin_question *q = a->under_way[i].first; q != NULL; q = q->next)
            next = moment_earlier(next, due_of(q));
        if (a->line[i].count > 0 && a->under_way[i].count < ASKING_AT_ONCE)
            next = now;
    }
    return next;
}
