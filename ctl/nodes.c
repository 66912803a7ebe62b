/* nodes: `berth nodes`, what is left on each node, as the scheduler counts it: what pods ask for
 * and not what they use. The one idea: it is the watcher's cluster (live.h), so what was just bound
 * is in it. What must stay true: amounts are those of NodeResourcesFit. */
#include "ctl/commands.h"
#include "ctl/explain/live.h"
#include "ctl/json_out.h"
#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 7
#define CELL    128

/* A node and what is on it. */
struct row {
    struct node node;
    int64_t pods, cpu, memory;
    int64_t *others; /* of each of the node's resources, in its order */
};

struct nodes {
    struct live live;
    struct arena arena;
    struct str key, value; /* of the label that is asked for; key empty: all */
    int64_t (*sort)(const struct row *row);
    struct row *rows;
    uint32_t count;
};

static int64_t amount_of(const struct quantity *list, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(list[i].name, name))
            return list[i].amount;
    return 0;
}

static int64_t room_of(const struct row *r, const char *resource)
{
    return amount_of(r->node.allocatable.at, r->node.allocatable.count, str_of(resource));
}

/* ---- options ---- */

static int64_t left_of_cpu(const struct row *r)
{
    return room_of(r, "cpu") - r->cpu;
}

static int64_t left_of_memory(const struct row *r)
{
    return room_of(r, "memory") - r->memory;
}

static int64_t left_of_pods(const struct row *r)
{
    return room_of(r, "pods") - r->pods;
}

static bool take_sort(void *state, const char *value)
{
    struct nodes *n = state;
    n->sort = strcmp(value, "cpu") == 0      ? left_of_cpu
              : strcmp(value, "memory") == 0 ? left_of_memory
              : strcmp(value, "pods") == 0   ? left_of_pods
                                             : NULL;
    return n->sort != NULL || strcmp(value, "name") == 0;
}

static bool take_label(void *state, const char *value)
{
    struct nodes *n = state;
    const char *equal = strchr(value, '=');
    if (equal == NULL || equal == value)
        return false;
    n->key = (struct str){value, (uint32_t)(equal - value)};
    n->value = str_of(equal + 1);
    return true;
}

static const struct own_option nodes_options[] = {
    {"l", "KEY=VALUE", "only nodes with this label", take_label},
    {"sort", "name|cpu|memory|pods", "by name (default), or what is left, most first", take_sort},
    {NULL, NULL, NULL, NULL},
};

/* ---- what there is ---- */

static void add_pod(void *context, const struct pod *pod, bool assumed)
{
    struct row *r = context;
    (void)assumed;
    r->pods++;
    r->cpu += amount_of(pod->usage.at, pod->usage.count, STR_LITERAL("cpu"));
    r->memory += amount_of(pod->usage.at, pod->usage.count, STR_LITERAL("memory"));
    for (uint32_t i = 0; i < r->node.allocatable.count; i++)
        r->others[i] += amount_of(pod->usage.at, pod->usage.count, r->node.allocatable.at[i].name);
}

static struct str label_of(const struct node *node, struct str key)
{
    for (uint32_t i = 0; i < node->labels.count; i++)
        if (str_equal(node->labels.at[i].key, key))
            return node->labels.at[i].value;
    return (struct str){0};
}

static bool is_asked_for(const struct nodes *n, const struct node *node)
{
    bool has = false;
    for (uint32_t i = 0; i < node->labels.count; i++)
        has |= str_equal(node->labels.at[i].key, n->key) &&
               str_equal(node->labels.at[i].value, n->value);
    return n->key.len == 0 || has;
}

static void gather(struct nodes *n)
{
    struct strs names = world_nodes(n->live.world, &n->arena);
    n->rows = arena_take(&n->arena, (names.count + 1) * sizeof(*n->rows));
    for (uint32_t i = 0; i < names.count; i++) {
        struct row *r = &n->rows[n->count];
        if (!world_node(n->live.world, names.at[i], &r->node, &n->arena) ||
            !is_asked_for(n, &r->node))
            continue;
        r->others = arena_take(&n->arena, (r->node.allocatable.count + 1) * sizeof(int64_t));
        world_each_pod_on(n->live.world, names.at[i], add_pod, r);
        n->count++;
    }
}

static int64_t (*sorts_by)(const struct row *row); /* qsort has no place for it */

static int by_left(const void *one, const void *other)
{
    const struct row *a = one, *b = other;
    int64_t x = sorts_by(a), y = sorts_by(b);
    if (x != y)
        return x > y ? -1 : 1;
    return str_compare(a->node.name, b->node.name);
}

/* ---- printing ---- */

static bool is_ready(const struct node *node)
{
    for (uint32_t i = 0; i < node->conditions.count; i++)
        if (str_is(node->conditions.at[i].key, "Ready"))
            return str_is(node->conditions.at[i].value, "True");
    return true; /* nobody says otherwise */
}

static void print_cpu(char out[CELL], int64_t used, int64_t room)
{
    snprintf(out, CELL, "%.4g/%.4g", (double)used / 1000, (double)room / 1000);
}

static void print_memory(char out[CELL], int64_t used, int64_t room)
{
    double unit = 1 << 30;
    snprintf(out, CELL, "%.4g/%.4gGi", (double)used / unit, (double)room / unit);
}

static void fill(const struct row *r, char cells[COLUMNS][CELL])
{
    struct str zone = label_of(&r->node, STR_LITERAL("topology.kubernetes.io/zone"));
    snprintf(cells[0], CELL, "%.*s", STR_ARG(r->node.name));
    snprintf(cells[1], CELL, "%s%s", is_ready(&r->node) ? "Ready" : "NotReady",
             r->node.unschedulable ? ",SchedulingDisabled" : "");
    snprintf(cells[2], CELL, "%.*s", STR_ARG(zone.len > 0 ? zone : STR_LITERAL("<none>")));
    snprintf(cells[3], CELL, "%" PRId64 "/%" PRId64, r->pods, room_of(r, "pods"));
    print_cpu(cells[4], r->cpu, room_of(r, "cpu"));
    print_memory(cells[5], r->memory, room_of(r, "memory"));
    snprintf(cells[6], CELL, "%" PRIu32, r->node.taints.count);
}

static void print_table(const struct nodes *n)
{
    static char cells[COLUMNS][CELL];
    static char head[COLUMNS][CELL] = {"NAME", "STATUS", "ZONE", "PODS", "CPU", "MEMORY", "TAINTS"};
    int width[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        width[i] = (int)strlen(head[i]);
    for (uint32_t k = 0; k < n->count; k++) {
        fill(&n->rows[k], cells);
        for (int i = 0; i < COLUMNS; i++)
            width[i] = (int)strlen(cells[i]) > width[i] ? (int)strlen(cells[i]) : width[i];
    }
    for (uint32_t k = 0; k <= n->count; k++) {
        if (k > 0)
            fill(&n->rows[k - 1], cells);
        for (int i = 0; i < COLUMNS; i++)
            printf("%-*s%s", i + 1 < COLUMNS ? width[i] : 0, k == 0 ? head[i] : cells[i],
                   i + 1 < COLUMNS ? "   " : "\n");
    }
}

static void print_resource(struct json_out *j, struct str name, int64_t used, int64_t room)
{
    char *key = str_copy(name);
    json_open(j, key, '{');
    json_i64(j, "used", used);
    json_i64(j, "allocatable", room);
    json_close(j, '}');
    memory_free(key);
}

static void print_json(const struct nodes *n)
{
    struct buffer out = {0};
    struct json_out j = {.out = &out};
    json_open(&j, NULL, '[');
    for (uint32_t k = 0; k < n->count; k++) {
        const struct row *r = &n->rows[k];
        json_open(&j, NULL, '{');
        json_str(&j, "name", r->node.name);
        json_bool(&j, "ready", is_ready(&r->node));
        json_bool(&j, "unschedulable", r->node.unschedulable);
        json_i64(&j, "taints", r->node.taints.count);
        json_i64(&j, "pods", r->pods);
        json_open(&j, "resources", '{');
        for (uint32_t i = 0; i < r->node.allocatable.count; i++) {
            const struct quantity *q = &r->node.allocatable.at[i];
            print_resource(&j, q->name, str_is(q->name, "pods") ? r->pods : r->others[i],
                           q->amount);
        }
        json_close(&j, '}');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
}

int command_nodes(int argc, char **argv)
{
    struct nodes *n = memory_take(sizeof(*n));
    struct options_table table = {.program = "berth nodes",
                                  .usage =
                                      "show what is left on each node, as the scheduler counts",
                                  .options = nodes_options,
                                  .state = n,
                                  .more = asking_options,
                                  .more_state = &n->live.asking};
    live_init(&n->live, table.program);
    options_read(&table, argc, argv);
    int status = live_load(&n->live) ? 0 : 1;
    if (status == 0) {
        gather(n);
        sorts_by = n->sort;
        if (n->sort != NULL)
            qsort(n->rows, n->count, sizeof(*n->rows), by_left);
        if (n->live.asking.json)
            print_json(n);
        else
            print_table(n);
    }
    arena_free(&n->arena);
    live_free(&n->live);
    memory_free(n);
    return status;
}
