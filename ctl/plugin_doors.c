/* plugin_doors: two doors of the bus, and behind each the questions of proto/plugins. The one idea:
 * a question is added, and the door is looked after until it has ended, by an answer or by its
 * deadline. What must stay true: no call waits longer than a plugin's deadline, and as long as it
 * rests after it let one pass, or ten seconds for plugins to come. */
#include "ctl/plugin_doors.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/bus.h"
#include "proto/plugins/asking.h"
#include "scheduler/merge/consultation.h"

#define AWAIT_MS 10000

struct door {
    struct bus *bus;
    struct asking asking;
    struct outbox out;
};

struct plugin_doors {
    struct door scheduler, queue;
    struct world_plugins world;
    /* The question under way. */
    const struct plugin_ask *question;
    struct arena memory; /* of the last answer */
    struct plugin_answer answer;
    bool answered;
    struct str *why;
    struct arena *why_memory;
};

/* ---- questions ---- */

static bool fill(void *state, const struct plugin_question *q, struct message *m, struct arena *a)
{
    const struct plugin_doors *d = state;
    (void)q;
    (void)a;
    m->plugin_ask = *d->question;
    return true;
}

/* What an answer means is the world's to say. */
static struct str problem(void *state, const struct plugin_question *q, const struct message *said,
                          struct arena *a)
{
    (void)state;
    (void)q;
    (void)said;
    (void)a;
    return (struct str){NULL, 0};
}

static void ended(void *state, struct moment now, struct plugin_question *q,
                  const struct plugin_end *how)
{
    struct plugin_doors *d = state;
    (void)now;
    (void)q;
    d->answered = how->answer != NULL;
    if (d->answered)
        codec_copy(message_info[MSG_plugin_answer].record, &d->answer, &how->answer->plugin_answer,
                   &d->memory);
    else
        *d->why = arena_copy(d->why_memory, how->why);
}

/* ---- doors ---- */

static void take(struct door *d, struct moment now, const struct delivery *in)
{
    const struct message *m = in->message;
    if (in->from.process != PLUGIN)
        return;
    switch (m->type) {
    case MSG_peer_up: asking_up(&d->asking, now, m->peer_up.instance, in->from.peer); break;
    case MSG_peer_down: asking_down(&d->asking, in->from.peer); break;
    case MSG_plugin_answer:
        asking_answered(&d->asking, now, in->from.peer, m->plugin_answer.id, m);
        break;
    default: asking_heard(&d->asking, now, in->from.peer); break;
    }
}

/* One round, which waits until something comes, or until then; not for a question that has ended.
 */
static void look_after(struct door *d, struct moment until, const bool *open)
{
    struct delivery in;
    while (bus_receive(d->bus, moment_now(), &in))
        take(d, moment_now(), &in);
    struct moment next = asking_tick(&d->asking, moment_now(), &d->out);
    bus_send(d->bus, &d->out);
    if (!*open)
        return;
    next = moment_earlier(moment_earlier(next, until), bus_tick(d->bus, moment_now()));
    bus_wait(d->bus, -1, moment_now(), next);
}

static struct door *door_of(struct plugin_doors *d, enum plugin_step step)
{
    bool queue = step == PLUGIN_STEP_pre_enqueue || step == PLUGIN_STEP_queue_sort;
    return queue ? &d->queue : &d->scheduler;
}

/* One that let a deadline pass may speak again; live, who was turned away for it is tried again. */
static void let_rest(struct door *door, const struct bus_plugin *plugin)
{
    const struct bus_plugin_slot *slot;
    while ((slot = processes_slot(&door->asking.who, plugin->name)) != NULL && slot->peer != 0 &&
           slot->rest.ns != 0 && !moment_reached(moment_now(), slot->rest))
        look_after(door, slot->rest, &(bool){true});
}

static const struct plugin_answer *ask(void *state, const struct bus_plugin *plugin,
                                       const struct plugin_ask *question, struct str *why,
                                       struct arena *a)
{
    struct plugin_doors *d = state;
    struct door *door = door_of(d, question->step);
    struct plugin_question q = {.plugin = plugin, .step = question->step, .owner = d};
    d->question = question;
    d->answered = false;
    d->why = why;
    d->why_memory = a;
    arena_reset(&d->memory);
    let_rest(door, plugin);
    must(asking_add(&door->asking, &q)); /* the configuration bounds them */
    while (q.open)
        look_after(door, moment_after(moment_now(), span_of_ms(plugin->deadline_ms)), &q.open);
    return d->answered ? &d->answer : NULL;
}

static void tell(void *state, const struct bus_plugin *plugin, const struct plugin_told *news)
{
    struct door *door = &((struct plugin_doors *)state)->scheduler;
    const struct bus_plugin_slot *slot = processes_slot(&door->asking.who, plugin->name);
    const struct message m = {.type = MSG_plugin_told, .plugin_told = *news};
    if (slot == NULL || slot->peer == 0)
        return;
    const struct address to = {.process = PLUGIN, .peer = slot->peer };
    outbox_put(&door->out, to, &m);
    bus_send(door->bus, &door->out);
}

/* ---- who is there ---- */

struct plugin_names {
    struct str at[CONFIG_BUS_PLUGINS_MAX];
    uint32_t count;
};

static void add(struct plugin_names *names, struct str name)
{
    const struct strs there = {names->count, names->at};
    if (names->count < CONFIG_BUS_PLUGINS_MAX && !strs_hold(there, name))
        names->at[names->count++] = name;
}

/* By the door at which they are asked something. */
static void sort_out(const struct profile *p, struct plugin_names *scheduler,
                     struct plugin_names *queue)
{
    for (uint32_t i = 0; i < p->bus_plugins.count; i++) {
        struct str name = p->bus_plugins.at[i].name;
        const struct bus_plugin_says says = bus_plugin_says(p, name);
        if (says.any)
            add(scheduler, name);
        if (strs_hold(p->pre_enqueue, name))
            add(queue, name);
    }
}

static struct str missing(const struct door *d, const struct plugin_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (asking_unable(&d->asking, names->at[i], moment_now()) != NULL)
            return names->at[i];
    return (struct str){NULL, 0};
}

static bool await(struct door *d, const struct plugin_names *names, struct moment until,
                  struct str *who)
{
    asking_configure(&d->asking, names->at, names->count);
    while ((*who = missing(d, names)).len > 0 && !moment_reached(moment_now(), until))
        look_after(d, until, &(bool){true});
    return who->len == 0;
}

bool plugin_doors_await(struct plugin_doors *d, const struct plugin_doors_wanted *wanted,
                        struct str *why, struct arena *a)
{
    struct plugin_names scheduler = {.count = 0}, queue = {.count = 0};
    struct moment until = moment_after(moment_now(), span_of_ms(AWAIT_MS));
    struct str who;
    for (uint32_t i = 0; i < wanted->count; i++)
        sort_out(&wanted->profiles[i], &scheduler, &queue);
    if (wanted->sorts != NULL)
        add(&queue, wanted->sorts->name);
    const struct door *at = &d->scheduler;
    bool there = await(&d->scheduler, &scheduler, until, &who);
    if (there) {
        at = &d->queue;
        there = await(&d->queue, &queue, until, &who);
    }
    if (!there)
        *why = arena_print(a, "plugin \"%.*s\" did not come to %s within %d s", STR_ARG(who),
                           bus_endpoint(at->bus), AWAIT_MS / 1000);
    return there;
}

/* ---- life ---- */

struct place {
    const char *directory;
    char *error;
    size_t room;
};

static bool open_door(struct plugin_doors *d, struct door *door, enum process self,
                      const struct place *where)
{
    const struct bus_options options = {
        .process = self, .run_dir = where->directory, .generation = 1};
    door->bus = bus_open(&options, where->error, where->room);
    door->asking.options =
        (struct asking_options){.state = d, .fill = fill, .problem = problem, .ended = ended};
    return door->bus != NULL;
}

struct plugin_doors *plugin_doors_open(const char *directory, char *error, size_t room)
{
    struct plugin_doors *d = memory_take(sizeof(*d));
    d->world = (struct world_plugins){.state = d, .ask = ask, .tell = tell};
    const struct place where = {directory, error, room};
    if (!open_door(d, &d->scheduler, SCHEDULER, &where) || !open_door(d, &d->queue, QUEUE, &where))
        plugin_doors_close(&d);
    return d;
}

void plugin_doors_close(struct plugin_doors **doors)
{
    struct plugin_doors *d = *doors;
    if (d == NULL)
        return;
    if (d->scheduler.bus != NULL)
        bus_close(&d->scheduler.bus);
    if (d->queue.bus != NULL)
        bus_close(&d->queue.bus);
    outbox_free(&d->scheduler.out);
    outbox_free(&d->queue.out);
    arena_free(&d->memory);
    memory_free(d);
    *doors = NULL;
}

const struct world_plugins *plugin_doors_world(struct plugin_doors *d)
{
    return &d->world;
}
