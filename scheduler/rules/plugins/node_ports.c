/* NodePorts rejects nodes on which a host port that the pod wants is taken.
 *
 * Two sockets collide when protocol and port are equal and the addresses are equal or one of them
 * is 0.0.0.0. */
#include "scheduler/rules/plugin.h"

struct wanted {
    uint32_t count;
    struct want {
        bool any_ip;
        uint32_t ip, protocol; /* atoms; 0: nobody in the share uses it */
        int64_t port;
    } * at;
};

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    out->skip = q->pod->ports.count == 0;
}

static void *filter_begin(const struct cycle *c)
{
    struct wanted *w = arena_take(c->arena, sizeof(*w));
    w->count = c->pod->ports.count;
    w->at = arena_take(c->arena, w->count * sizeof(*w->at));
    for (uint32_t i = 0; i < w->count; i++) {
        const struct host_port *p = &c->pod->ports.at[i];
        w->at[i] = (struct want){.any_ip = str_is(p->ip, "0.0.0.0"),
                                 .ip = atom_find(c->atoms, p->ip),
                                 .protocol = atom_find(c->atoms, p->protocol),
                                 .port = p->port};
    }
    return w;
}

static bool taken(const struct ports *used, const struct want *w, uint32_t any_ip)
{
    for (uint32_t i = 0; i < used->count; i++) {
        const struct host_socket *p = &used->at[i];
        if (p->port == w->port && p->protocol == w->protocol &&
            (w->any_ip || p->ip == w->ip || p->ip == any_ip))
            return true;
    }
    return false;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct wanted *w = state;
    for (uint32_t i = 0; i < w->count; i++) {
        if (!taken(&n->ports[row], &w->at[i], c->any_ip))
            continue;
        ruling_reject(out, CODE_unschedulable,
                      "node(s) didn't have free ports for the requested pod ports",
                      (struct str){0});
        return;
    }
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    const struct wanted *w = state;
    for (uint32_t k = 0; k < w->count; k++)
        for (uint32_t i = 0; i < rows.count; i++)
            no[i] |= taken(&n->ports[rows.from + i], &w->at[k], c->any_ip);
}

const struct plugin plugin_node_ports = {
    .name = "NodePorts",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .filter_rows = filter_rows,
    .by_row = true,
};
