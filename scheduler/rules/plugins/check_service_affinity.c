/* CheckServiceAffinity, of the old Policy: the pods of a service go to nodes that agree in certain
 * labels. What the pod's nodeSelector leaves open is taken from the node of another pod with the
 * same labels: of those, from the first by the node's name. Today required pod affinity with such a
 * topologyKey does so. */
#include "scheduler/rules/siblings.h"
#include "scheduler/table/pod_groups.h"

extern const struct plugin plugin_check_service_affinity;

struct wanted {
    uint32_t count;
    struct pair {
        uint32_t key, value; /* atoms; value 0: no node here has it */
    } * at;
};

static bool counts(const struct framework *fw, const struct pod *pod,
                   const struct findings *findings)
{
    (void)pod;
    return fw->profile.service_affinity.count > 0 && findings->services > 0;
}

/* Has all of the pod's labels, in its namespace. */
static bool alike(const struct cycle *c, const struct node_pod *other)
{
    const struct pod *pod = c->pod;
    if (other->group->namespace_name != atom_find(c->atoms, pod->namespace_name))
        return false;
    for (uint32_t i = 0; i < pod->labels.count; i++) {
        uint32_t key = atom_find(c->atoms, pod->labels.at[i].key);
        uint32_t value = atom_find(c->atoms, pod->labels.at[i].value);
        if (key == 0 || value == 0 ||
            label_value(other->group->labels, other->group->label_count, key) != value)
            return false;
    }
    return true;
}

static bool has_alike(const struct cycle *c, const struct node_entry *node)
{
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (alike(c, node->pods[i]))
            return true;
    return false;
}

/* The first node by name, from these rows, or NULL. */
static const struct node_entry *first_node(const struct cycle *c)
{
    const struct node_entry *first = NULL;
    for (uint32_t row = 0; row < c->nodes->count; row++) {
        const struct node_entry *node = c->nodes->entry[row];
        if (has_alike(c, node) &&
            (first == NULL ||
             str_compare(atom_text(c->atoms, node->name), atom_text(c->atoms, first->name)) < 0))
            first = node;
    }
    return first;
}

/* Slot 0: the share's first node, by name; slot i + 1: what it says of label i. */
static void count(const struct cycle *c, struct counts *out)
{
    const struct strs *labels = &c->framework->profile.service_affinity;
    const struct node_entry *node = first_node(c);
    if (node == NULL)
        return;
    counts_add(out, 0, 0, node->name, 1);
    for (uint32_t i = 0; i < labels->count; i++) {
        uint32_t key = atom_find(c->atoms, labels->at[i]);
        uint32_t value = key == 0 ? 0 : label_value(node->labels, node->label_count, key);
        if (value != 0)
            counts_add(out, i + 1, node->name, value, 1);
    }
}

/* The first of the shares' first nodes; 0: there is none. */
static uint32_t first_of_all(const struct cycle *c, const struct counts *found)
{
    uint32_t at = 0, first = 0;
    struct count_entry e;
    while (counts_next(found, &at, &e))
        if (e.slot == 0 && (first == 0 || str_compare(counts_text(found, c->atoms, e.value),
                                                      counts_text(found, c->atoms, first)) < 0))
            first = e.value;
    return first;
}

static bool selected(const struct pod *pod, struct str key, struct str *value)
{
    for (uint32_t i = 0; i < pod->node_selector.count; i++)
        if (str_equal(pod->node_selector.at[i].key, key)) {
            *value = pod->node_selector.at[i].value;
            return true;
        }
    return false;
}

static void want(struct wanted *w, uint32_t key, uint32_t value)
{
    w->at[w->count++] = (struct pair){key, value};
}

/* Names of the shares' first nodes may be foreign in slot 0 and in the other slots under different
 * numbers, so entries are matched by text. */
static void want_as_found(const struct cycle *c, const struct counts *found, uint32_t label,
                          struct wanted *w)
{
    uint32_t at = 0, first = first_of_all(c, found);
    struct str key = c->framework->profile.service_affinity.at[label];
    struct count_entry e;
    if (first == 0)
        return;
    struct str name = counts_text(found, c->atoms, first);
    while (counts_next(found, &at, &e))
        if (e.slot == label + 1 && str_equal(counts_text(found, c->atoms, e.key), name))
            want(w, atom_find(c->atoms, key), e.value);
}

static void *filter_begin(const struct cycle *c)
{
    const struct strs *labels = &c->framework->profile.service_affinity;
    const struct counts *found = cycle_counts(c, &plugin_check_service_affinity);
    struct wanted *w = arena_take(c->arena, sizeof(*w));
    w->at = arena_take(c->arena, labels->count * sizeof(*w->at));
    for (uint32_t i = 0; i < labels->count; i++) {
        struct str value;
        if (selected(c->pod, labels->at[i], &value))
            want(w, atom_find(c->atoms, labels->at[i]), atom_find(c->atoms, value));
        else if (found != NULL)
            want_as_found(c, found, i, w);
    }
    return w;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct wanted *w = state;
    const struct node_entry *node = n->entry[row];
    for (uint32_t i = 0; i < w->count; i++) {
        const struct pair *p = &w->at[i];
        if (p->key != 0 && p->value != 0 &&
            label_value(node->labels, node->label_count, p->key) == p->value)
            continue;
        ruling_reject(out, CODE_unschedulable, "node(s) didn't match service affinity",
                      (struct str){0});
        return;
    }
}

const struct plugin plugin_check_service_affinity = {
    .name = "CheckServiceAffinity",
    .prepare = siblings_prepare,
    .counts = counts,
    .count = count,
    .filter_begin = filter_begin,
    .filter = filter,
};
