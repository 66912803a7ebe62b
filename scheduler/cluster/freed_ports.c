/* freed_ports: a short list that is searched from its beginning, as there rarely is any.
 *
 * What must stay true: each port is in it once, and texts in it are its own. */
#include "scheduler/cluster/freed_ports.h"

#include "proto/base/memory.h"

static bool is_same(const struct host_port *a, const struct host_port *b)
{
    return a->port == b->port && str_equal(a->ip, b->ip) && str_equal(a->protocol, b->protocol);
}

static int64_t find(const struct host_port *at, uint32_t count, const struct host_port *wanted)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_same(&at[i], wanted))
            return i;
    return -1;
}

static void drop_at(struct freed_ports *f, int64_t i)
{
    str_drop(&f->at[i].ip);
    str_drop(&f->at[i].protocol);
    f->at[i] = f->at[--f->count];
}

void freed_ports_remove(struct freed_ports *f, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->ports.count; i++) {
        int64_t at = find(f->at, f->count, &pod->ports.at[i]);
        if (at >= 0)
            drop_at(f, at);
    }
    if (f->count == 0)
        freed_ports_free(f);
}

static void add(struct freed_ports *f, const struct host_port *port)
{
    if (find(f->at, f->count, port) >= 0)
        return;
    if (f->count == f->room) {
        f->room = f->room == 0 ? 4 : f->room * 2;
        f->at = memory_resize(f->at, f->room * sizeof(*f->at));
    }
    f->at[f->count++] =
        (struct host_port){str_keep(port->ip), str_keep(port->protocol), port->port};
}

void freed_ports_add(struct freed_ports *f, const struct pod *gone, const struct pod *stays)
{
    for (uint32_t i = 0; i < gone->ports.count; i++)
        if (find(stays->ports.at, stays->ports.count, &gone->ports.at[i]) >= 0)
            add(f, &gone->ports.at[i]);
}

uint32_t freed_ports_of(const struct freed_ports *f, const struct pod *pod, struct host_port **at,
                        struct arena *a)
{
    uint32_t count = 0;
    *at = NULL;
    if (f->count == 0 || pod->ports.count == 0)
        return 0;
    *at = arena_take(a, pod->ports.count * sizeof(**at));
    for (uint32_t i = 0; i < pod->ports.count; i++)
        if (find(f->at, f->count, &pod->ports.at[i]) >= 0)
            (*at)[count++] = pod->ports.at[i];
    return count;
}

void freed_ports_free(struct freed_ports *f)
{
    while (f->count > 0)
        drop_at(f, f->count - 1);
    memory_free(f->at);
    *f = (struct freed_ports){0};
}
