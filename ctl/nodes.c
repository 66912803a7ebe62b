/* nodes: `berth nodes`, what is left on each node, as the scheduler counts it: what pods ask for
 * and not what they use. The one idea: it is the watcher's cluster (live.h), so what was just bound
 * is in it. What must stay true: amounts are those of NodeResourcesFit. */
#include "ctl/commands.h"
#include "ctl/explain/live.h"
#include "ctl/json_out.h"
#include "ctl/tables/tables.h"
#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pod that is on the node that was asked for. */
struct resident {
    struct resident *next;
    struct str space, name;
    int64_t priority, cpu, memory;
};

/* A node and what is on it. */
struct row {
    struct node node;
    struct resident *residents; /* of a node that was asked for */
    int64_t pods, cpu, memory;
    int64_t *others; /* of each of the node's resources, in its order */
};

struct nodes {
    struct columns_flags flags; /* first: see COLUMNS_OPTIONS */
    struct live live;
    struct arena arena;
    struct str key, value; /* of the label that is asked for; key empty: all */
    struct str only;       /* the one node that is asked for, with its pods; empty: all */
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

static bool take_node(void *state, const char *value)
{
    ((struct nodes *)state)->only = str_of(value);
    return *value != 0;
}

static const struct own_option nodes_options[] = {
    {"node", "NODE", "this node alone, and the pods that are on it", take_node},
    {"l", "KEY=VALUE", "only nodes with this label", take_label},
    {"sort", "name|cpu|memory|pods", "by name (default), or what is left, most first", take_sort},
    COLUMNS_OPTIONS,
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

struct finding {
    struct row *row;
    struct arena *arena;
};

static void add_resident(void *context, const struct pod *pod, bool assumed)
{
    struct finding *f = context;
    struct resident *r = arena_take(f->arena, sizeof(*r));
    (void)assumed;
    *r = (struct resident){.next = f->row->residents,
                           .space = arena_copy(f->arena, pod->namespace_name),
                           .name = arena_copy(f->arena, pod->name),
                           .priority = pod->priority,
                           .cpu = amount_of(pod->usage.at, pod->usage.count, STR_LITERAL("cpu")),
                           .memory =
                               amount_of(pod->usage.at, pod->usage.count, STR_LITERAL("memory"))};
    f->row->residents = r;
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
    return (n->key.len == 0 || has) && (n->only.len == 0 || str_equal(n->only, node->name));
}

static void gather(struct nodes *n, const struct world *world)
{
    struct strs names = world_nodes(world, &n->arena);
    n->rows = arena_take(&n->arena, (names.count + 1) * sizeof(*n->rows));
    for (uint32_t i = 0; i < names.count; i++) {
        struct row *r = &n->rows[n->count];
        if (!world_node(world, names.at[i], &r->node, &n->arena) || !is_asked_for(n, &r->node))
            continue;
        r->others = arena_take(&n->arena, (r->node.allocatable.count + 1) * sizeof(int64_t));
        world_each_pod_on(world, names.at[i], add_pod, r);
        if (n->only.len > 0)
            world_each_pod_on(world, names.at[i], add_resident, &(struct finding){r, &n->arena});
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

static void add_cpu(struct columns *t, int64_t used, int64_t room)
{
    char text[80];
    snprintf(text, sizeof(text), "%.4g/%.4g", (double)used / 1000, (double)room / 1000);
    columns_number(t, str_of(text), (double)used);
}

static void add_memory(struct columns *t, int64_t used, int64_t room)
{
    double unit = 1 << 30;
    char text[80];
    snprintf(text, sizeof(text), "%.4g/%.4gGi", (double)used / unit, (double)room / unit);
    columns_number(t, str_of(text), (double)used);
}

static void add_others(struct columns *t, const struct row *r)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < r->node.allocatable.count; i++) {
        const struct quantity *q = &r->node.allocatable.at[i];
        if (!str_is(q->name, "cpu") && !str_is(q->name, "memory") && !str_is(q->name, "pods"))
            buffer_print(&text, "%s%.*s=%" PRId64 "/%" PRId64, text.len > 0 ? "," : "",
                         STR_ARG(q->name), r->others[i], q->amount);
    }
    columns_text(t, buffer_str(&text));
    buffer_free(&text);
}

static void add_taints(struct columns *t, const struct node *node)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < node->taints.count; i++)
        buffer_print(&text, "%s%.*s%s%.*s:%.*s", i > 0 ? "," : "", STR_ARG(node->taints.at[i].key),
                     node->taints.at[i].value.len > 0 ? "=" : "", STR_ARG(node->taints.at[i].value),
                     STR_ARG(node->taints.at[i].effect));
    columns_text(t, buffer_str(&text));
    buffer_free(&text);
}

static void fill(const struct row *r, bool wide, struct columns *t)
{
    char text[80];
    columns_text(t, r->node.name);
    snprintf(text, sizeof(text), "%s%s", is_ready(&r->node) ? "Ready" : "NotReady",
             r->node.unschedulable ? ",SchedulingDisabled" : "");
    columns_text(t, str_of(text));
    columns_text(t, label_of(&r->node, STR_LITERAL("topology.kubernetes.io/zone")));
    snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64, r->pods, room_of(r, "pods"));
    columns_number(t, str_of(text), (double)r->pods);
    add_cpu(t, r->cpu, room_of(r, "cpu"));
    add_memory(t, r->memory, room_of(r, "memory"));
    columns_i64(t, r->node.taints.count);
    if (wide) {
        add_others(t, r);
        add_taints(t, &r->node);
    }
}

static void print_residents(const struct nodes *n)
{
    for (uint32_t k = 0; k < n->count && n->only.len > 0; k++)
        for (const struct resident *r = n->rows[k].residents; r != NULL; r = r->next)
            printf("%s%.*s/%.*s   cpu %.4g   memory %.4gGi   priority %" PRId64 "\n",
                   r == n->rows[k].residents ? "\n" : "", STR_ARG(r->space), STR_ARG(r->name),
                   (double)r->cpu / 1000, (double)r->memory / (1 << 30), r->priority);
}

static void fill_heads(bool wide, struct columns *t)
{
    static const char *const heads[] = {"NAME", "STATUS", "ZONE",  "PODS",
                                        "CPU",  "MEMORY", "TAINTS"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        columns_head(t, heads[i]);
    columns_head(t, wide ? "OTHER RESOURCES" : NULL);
    columns_head(t, wide ? "TAINTED WITH" : NULL);
}

static void fill_all(const struct nodes *n, bool wide, struct columns *t)
{
    fill_heads(wide, t);
    for (uint32_t k = 0; k < n->count; k++)
        fill(&n->rows[k], wide, t);
}

static bool print_table(const struct nodes *n)
{
    struct columns t = {.columns = 0};
    fill_all(n, n->flags.form == COLUMNS_wide, &t);
    bool shown = columns_show(&t, &n->flags, "berth nodes", "");
    columns_free(&t);
    return shown;
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

static void print_pods(const struct nodes *n, const struct row *row, struct json_out *j)
{
    if (n->only.len == 0)
        return;
    json_open(j, "podsOnNode", '[');
    for (const struct resident *r = row->residents; r != NULL; r = r->next) {
        json_open(j, NULL, '{');
        json_str(j, "namespace", r->space);
        json_str(j, "name", r->name);
        json_i64(j, "priority", r->priority);
        json_i64(j, "cpu", r->cpu);
        json_i64(j, "memory", r->memory);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_json(const struct nodes *n, struct buffer *out)
{
    struct json_out j = {.out = out};
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
        print_pods(n, r, &j);
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

static bool print_json(const struct nodes *n)
{
    struct columns t = {.columns = 0};
    struct buffer out = {0};
    fill_heads(true, &t);
    bool can = columns_can_sort(&t, &n->flags, "berth nodes");
    columns_free(&t);
    if (!can)
        return false;
    write_json(n, &out);
    printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
    return true;
}

static bool print(struct nodes *n)
{
    struct node node;
    if (n->only.len > 0 && !world_node(n->live.world, n->only, &node, &n->arena)) {
        fprintf(stderr, "berth nodes: there is no node %.*s\n", STR_ARG(n->only));
        return false;
    }
    gather(n, n->live.world);
    sorts_by = n->sort;
    if (n->sort != NULL)
        qsort(n->rows, n->count, sizeof(*n->rows), by_left);
    if (n->flags.form == COLUMNS_json)
        return print_json(n);
    bool shown = print_table(n);
    if (shown)
        print_residents(n);
    return shown;
}

void nodes_fill(const struct live *live, struct columns *t)
{
    struct nodes *n = memory_take(sizeof(*n));
    gather(n, live->world);
    fill_all(n, false, t);
    arena_free(&n->arena);
    memory_free(n);
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
    live_init(&n->live, table.program, ASKING_WAIT_S);
    options_read(&table, argc, argv);
    int status = live_load(&n->live) && print(n) ? 0 : 1;
    arena_free(&n->arena);
    live_free(&n->live);
    memory_free(n);
    return status;
}
