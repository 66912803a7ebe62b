/* comparison: looks at all of them. The one idea: who is told by whom decides what is compared with
 * what: the watcher with the API server, queue and scheduler with the watcher, workers, taken
 * together, with the scheduler. What must stay true: who is being told everything anew is not
 * compared, and that is said; what could not be listed once is not compared any more, and that is
 * said, too; and what is read anew is what differs, by whoever differs, no more.
 */
#include "ctl/doctor/comparison.h"

#include "proto/bus/holdings.h"

#include <string.h>

#define SIDES_MAX (BUS_PEERS_MAX + 1)
#define ALL       (WATCHER | QUEUE | SCHEDULER | WORKER)

/* Who is compared with whom, and by which sets. */
struct pairing {
    enum process than, who;
    const char *set;
};

static const struct pairing pairings[] = {
    {WATCHER, QUEUE, "nodes"},         {WATCHER, QUEUE, "assigned"},
    {WATCHER, QUEUE, "pending"},       {WATCHER, SCHEDULER, "nodes"},
    {WATCHER, SCHEDULER, "assigned"},  {SCHEDULER, WORKER, "share-nodes"},
    {SCHEDULER, WORKER, "share-pods"},
};

#define PAIRINGS (sizeof(pairings) / sizeof(pairings[0]))

/* ---- digests ---- */

static void add_set(struct held_set *sum, const struct held_set *more)
{
    sum->count += more->count;
    sum->digest = (int64_t)((uint64_t)sum->digest + (uint64_t)more->digest);
    sum->versions = (int64_t)((uint64_t)sum->versions + (uint64_t)more->versions);
}

static bool same_set(const struct held_set *a, const struct held_set *b)
{
    bool versions = a->versions != 0 && b->versions != 0;
    return a->count == b->count && a->digest == b->digest &&
           (!versions || a->versions == b->versions);
}

/* Somebody does not answer, and may be a worker. */
static bool may_lack_a_worker(const struct comparison *c)
{
    for (size_t i = 0; i < c->inquiry.count; i++) {
        const struct told *told = &c->inquiry.told[i];
        if (told->from.peer == 0 && (told->from.process == 0 || told->from.process == WORKER))
            return true;
    }
    return false;
}

/* What all of that kind hold of the set; false when one has not answered, or is not whole. */
static bool sum_of(const struct comparison *c, enum process kind, struct str set,
                   struct held_set *sum)
{
    bool any = false;
    *sum = held_set_of(set);
    if (kind == WORKER && may_lack_a_worker(c))
        return false;
    for (size_t i = 0; i < c->inquiry.count; i++) {
        const struct told *told = &c->inquiry.told[i];
        if (told->from.process != kind)
            continue;
        const struct held_set *has = told_set(told, set);
        if (has == NULL || !told->said.whole)
            return false;
        add_set(sum, has);
        any = true;
    }
    return any;
}

/* ---- names ---- */

static struct side side_of(const struct told *told)
{
    return (struct side){told->name, told->things, told->count, told->said.epoch,
                         told->said.sequence};
}

static void compare_names(struct comparison *c, const struct pairing *p)
{
    struct side sides[SIDES_MAX];
    uint32_t count = 0;
    struct str set = str_of(p->set);
    struct held_set than_all, who_all;
    inquiry_ask(&c->inquiry, (unsigned)p->than | (unsigned)p->who, set);
    if (!sum_of(c, p->than, set, &than_all) || !sum_of(c, p->who, set, &who_all))
        return;
    struct side than = side_of(inquiry_of(&c->inquiry, p->than));
    for (size_t i = 0; i < c->inquiry.count; i++)
        if (c->inquiry.told[i].from.process == p->who && c->inquiry.told[i].answered)
            sides[count++] = side_of(&c->inquiry.told[i]);
    for (uint32_t i = 0; i < count && p->who == WORKER; i++)
        sides[i].epoch = 0;
    differences_compare(&c->differences, set, &than, sides, count);
}

/* ---- the API server ---- */

/* Where the watcher lists, as it says first. */
static void find_paths(struct comparison *c)
{
    const struct told *watcher = inquiry_of(&c->inquiry, WATCHER);
    if (watcher == NULL || c->listed_count > 0)
        return;
    c->listed = arena_take(&c->memory, (watcher->said.sets.count + 1) * sizeof(*c->listed));
    c->listed_in = c->looks;
    for (uint32_t i = 0; i < watcher->said.sets.count; i++) {
        struct str name = watcher->said.sets.at[i].name;
        if (name.len > 0 && name.at[0] == '/')
            c->listed[c->listed_count++] = (struct listed){.path = arena_copy(&c->memory, name)};
    }
}

static bool was_open(const struct comparison *c, struct str set)
{
    const struct differences *d = &c->differences;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->at[i]->last + 1 >= d->look && str_equal(d->at[i]->set, set))
            return true;
    return false;
}

/* What has differed in no former look needs no other: it is in motion at most. Nor does what could
 * not be listed in one: a difference counts that was seen in each. */
static void compare_path(struct comparison *c, struct listed *listed)
{
    struct str path = listed->path;
    struct api_list list;
    struct arena a = {0};
    if (listed->failed.len > 0 || (c->looks > c->listed_in && !was_open(c, path)))
        return;
    if (!api_list(c->api, path, &list, &a)) {
        listed->failed = arena_print(&c->memory, "%s%s", c->api->error,
                                     c->api->silent ? "; it was asked for nothing further" : "");
        arena_free(&a);
        return;
    }
    c->api_things += c->looks == c->listed_in ? list.count : 0;
    struct held_set sum = held_set_of(path), has;
    for (uint32_t i = 0; i < list.count; i++)
        held_set_add(&sum, &list.things[i]);
    inquiry_ask(&c->inquiry, WATCHER, (struct str){NULL, 0});
    if (sum_of(c, WATCHER, path, &has) && !same_set(&sum, &has)) {
        inquiry_ask(&c->inquiry, WATCHER, path);
        const struct told *watcher = inquiry_of(&c->inquiry, WATCHER);
        const struct side than = {STR_LITERAL("API server"), list.things, list.count, 0, 0};
        struct side who = {0};
        if (watcher != NULL && told_set(watcher, path) != NULL) {
            who = side_of(watcher);
            who.epoch = 0;
            differences_compare(&c->differences, path, &than, &who, 1);
        }
    }
    arena_free(&a);
}

static void compare_api(struct comparison *c)
{
    for (uint32_t i = 0; c->api != NULL && !c->api->silent && i < c->listed_count; i++)
        compare_path(c, &c->listed[i]);
}

struct strs comparison_api_lacks(const struct comparison *c, struct arena *a)
{
    struct strs lacks = {.at = arena_take(a, (c->listed_count + 1) * sizeof(struct str))};
    if (c->api != NULL && c->listed_count == 0)
        lacks.at[lacks.count++] = str_of("the watcher has not said what it lists there");
    for (uint32_t i = 0; i < c->listed_count; i++)
        if (c->listed[i].failed.len > 0)
            lacks.at[lacks.count++] = c->listed[i].failed;
    return lacks;
}

bool comparison_is_lost(const struct comparison *c, struct str set)
{
    bool lost = false;
    for (uint32_t i = 0; c->api != NULL && i < c->listed_count; i++)
        if (str_equal(c->listed[i].path, set))
            lost = c->api->silent || c->listed[i].failed.len > 0;
    return lost;
}

/* ---- a look ---- */

static void remember(struct comparison *c)
{
    arena_reset(&c->look_memory);
    c->count = c->inquiry.count;
    c->compared = arena_take(&c->look_memory, (c->count + 1) * sizeof(*c->compared));
    for (size_t i = 0; i < c->count; i++) {
        const struct told *told = &c->inquiry.told[i];
        struct compared *kept = &c->compared[i];
        *kept = (struct compared){.name = told->name,
                                  .kind = told->from.process,
                                  .holds = (told->from.process & ALL) != 0,
                                  .answered = told->answered};
        codec_copy(message_info[MSG_holdings].record, &kept->said, &told->said, &c->look_memory);
    }
}

static void learn_schedulers(struct comparison *c)
{
    inquiry_ask(&c->inquiry, QUEUE, (struct str){NULL, 0});
    const struct told *queue = inquiry_of(&c->inquiry, QUEUE);
    struct strs *names = &c->inquiry.schedulers;
    *names = (struct strs){0};
    if (queue == NULL)
        return;
    names->at = arena_take(&c->memory, (queue->said.serves.count + 1) * sizeof(*names->at));
    for (uint32_t i = 0; i < queue->said.serves.count; i++)
        names->at[names->count++] = arena_copy(&c->memory, queue->said.serves.at[i]);
}

/* What was asked for in this look is left in told. */
static void look(struct comparison *c)
{
    bool differs[PAIRINGS];
    differences_look(&c->differences);
    c->looks++;
    if (c->inquiry.schedulers.count == 0)
        learn_schedulers(c);
    inquiry_ask(&c->inquiry, ALL, (struct str){NULL, 0});
    remember(c);
    find_paths(c);
    const struct told *watcher = inquiry_of(&c->inquiry, WATCHER);
    if (c->looks == 1 && watcher != NULL) {
        c->epoch = watcher->said.epoch;
        c->sequence = watcher->said.sequence;
    }
    for (size_t i = 0; i < PAIRINGS; i++) {
        struct held_set than, who;
        struct str set = str_of(pairings[i].set);
        differs[i] = sum_of(c, pairings[i].than, set, &than) &&
                     sum_of(c, pairings[i].who, set, &who) && !same_set(&than, &who);
    }
    for (size_t i = 0; i < PAIRINGS; i++)
        if (differs[i])
            compare_names(c, &pairings[i]);
    compare_api(c);
}

/* ---- all of them ---- */

const char *comparison_lacks(const struct comparison *c, const struct compared *one)
{
    bool streams = one->kind == QUEUE || one->kind == SCHEDULER;
    if (one->kind == 0 || (one->holds && !one->answered))
        return "has not answered";
    if (one->holds && !one->said.whole)
        return "is being told everything anew, and is not compared";
    if (streams && (one->said.epoch != c->epoch || one->said.sequence < c->sequence))
        return "has not taken in what the watcher sent before the first look";
    return NULL;
}

/* Another look may find what this one lacks: who is behind, or has said nothing this time. A door
 * at which nobody has ever answered is not waited for. */
static bool all_are_compared(const struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->compared[i].holds && comparison_lacks(c, &c->compared[i]) != NULL)
            return false;
    return true;
}

static void say_what_is_left_out(struct comparison *c)
{
    unsigned there = 0;
    struct arena a = {0};
    struct strs of_api = comparison_api_lacks(c, &a);
    for (uint32_t i = 0; i < of_api.count; i++)
        buffer_print(&c->problems, "the API server: %.*s\n", STR_ARG(of_api.at[i]));
    arena_free(&a);
    for (size_t i = 0; i < c->count; i++) {
        const char *lacks = comparison_lacks(c, &c->compared[i]);
        there |= (unsigned)c->compared[i].kind;
        if (lacks != NULL)
            buffer_print(&c->problems, "%.*s %s\n", STR_ARG(c->compared[i].name), lacks);
    }
    for (unsigned kind = WATCHER; kind <= WORKER; kind <<= 1)
        if ((there & kind) == 0)
            buffer_print(&c->problems, "there is no %s\n", process_name((enum process)kind));
}

bool comparison_run(struct comparison *c)
{
    if (c->inquiry.bus == NULL && !inquiry_open(&c->inquiry, &c->asking))
        return false;
    for (;;) {
        buffer_reset(&c->problems);
        look(c);
        bool well = differences_count_open(&c->differences) == 0 && all_are_compared(c);
        uint32_t first = c->api != NULL && c->listed_in > 0 ? c->listed_in : 1;
        if (well || c->looks + 1 >= first + DIFFERENCE_LOOKS)
            break;
        inquiry_pause(&c->inquiry, span_of_ms(COMPARISON_PAUSE_MS));
    }
    say_what_is_left_out(c);
    return true;
}

/* ---- mending ---- */

/* The paths at which the watcher differs; from the arena. */
static struct strs paths_to_list(const struct comparison *c, struct arena *a)
{
    const struct differences *d = &c->differences;
    struct strs paths = {.at = arena_take(a, (c->listed_count + 1) * sizeof(struct str))};
    for (uint32_t p = 0; p < c->listed_count; p++)
        for (uint32_t i = 0; i < d->count; i++)
            if (differences_settled(d, d->at[i]) && str_equal(d->at[i]->set, c->listed[p].path)) {
                paths.at[paths.count++] = c->listed[p].path;
                break;
            }
    return paths;
}

static bool differs(const struct comparison *c, const struct told *told)
{
    const struct differences *d = &c->differences;
    for (uint32_t i = 0; i < d->count; i++)
        if (differences_settled(d, d->at[i]) &&
            (str_equal(d->at[i]->who, told->name) ||
             (told->from.process == WORKER && str_is(d->at[i]->who, "workers"))))
            return true;
    return false;
}

static void ask_to_reread(struct comparison *c)
{
    struct arena a = {0};
    struct message m = {.type = MSG_reread};
    for (size_t i = 0; i < c->inquiry.count; i++) {
        const struct told *told = &c->inquiry.told[i];
        bool holds = told->from.peer != 0 && (told->from.process & ALL) != 0;
        if (!holds || !differs(c, told))
            continue;
        m.reread = (struct reread){.own_worker = told->own};
        if (told->from.process == WATCHER)
            m.reread.paths = paths_to_list(c, &a);
        inquiry_send(&c->inquiry, told, &m);
    }
    arena_free(&a);
}

void comparison_heal(struct comparison *c, struct span limit)
{
    struct moment end = moment_after(moment_now(), limit);
    ask_to_reread(c);
    do {
        inquiry_pause(&c->inquiry, span_of_ms(COMPARISON_PAUSE_MS));
        buffer_reset(&c->problems);
        look(c);
    } while ((differences_count_settled(&c->differences) > 0 || !all_are_compared(c)) &&
             !moment_reached(moment_now(), end));
    say_what_is_left_out(c);
}

/* ---- words ---- */

static const char *what_of(struct str set)
{
    static const char *const words[][2] = {{"nodes", "node"},      {"assigned", "pod"},
                                           {"pending", "pod"},     {"share-nodes", "node"},
                                           {"share-pods", "pod"},  {"/api/v1/nodes", "node"},
                                           {"/api/v1/pods", "pod"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_is(set, words[i][0]))
            return words[i][1];
    return NULL;
}

static struct str object_of(const struct difference *one, struct arena *a)
{
    const struct held_thing *t = one->should.name.len > 0 ? &one->should : &one->has;
    const char *what = what_of(one->set);
    struct str kind = what != NULL ? str_of(what) : one->set;
    return t->uid.len > 0 ? arena_print(a, "%.*s %.*s (%.*s)", STR_ARG(kind), STR_ARG(t->name),
                                        STR_ARG(t->uid))
                          : arena_print(a, "%.*s %.*s", STR_ARG(kind), STR_ARG(t->name));
}

static const char *state_of(struct str set)
{
    if (str_is(set, "pending"))
        return " without a node";
    return str_is(set, "assigned") || str_is(set, "share-pods") ? " on a node" : "";
}

struct str comparison_text(const struct difference *one, struct arena *a)
{
    struct str what = object_of(one, a);
    const char *state = state_of(one->set);
    switch (one->kind) {
    case DIFFERENCE_lacks:
        return arena_print(a, "%.*s: lacks %.*s%s, which the %.*s has", STR_ARG(one->who),
                           STR_ARG(what), state, STR_ARG(one->than));
    case DIFFERENCE_extra:
        return arena_print(a, "%.*s: has %.*s%s, which the %.*s has not", STR_ARG(one->who),
                           STR_ARG(what), state, STR_ARG(one->than));
    case DIFFERENCE_version:
        return arena_print(a, "%.*s: has %.*s in version %lld, the %.*s in version %lld",
                           STR_ARG(one->who), STR_ARG(what), (long long)one->has.version,
                           STR_ARG(one->than), (long long)one->should.version);
    case DIFFERENCE_node:
        return arena_print(a, "%.*s: has %.*s on node %.*s, the %.*s on node %.*s",
                           STR_ARG(one->who), STR_ARG(what), STR_ARG(one->has.node),
                           STR_ARG(one->than), STR_ARG(one->should.node));
    }
    return (struct str){NULL, 0};
}

void comparison_free(struct comparison *c)
{
    inquiry_close(&c->inquiry);
    differences_free(&c->differences);
    buffer_free(&c->problems);
    arena_free(&c->memory);
    arena_free(&c->look_memory);
}
