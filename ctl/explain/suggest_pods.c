/* suggest_pods: what would have to be different of pods in a node's domains, for PodTopologySpread
 * and InterPodAffinity. The one idea: all pods of the world are gone through once, node by node,
 * and what the rule counts in numbers is here counted by the words that labels are.
 *
 * What must stay true: whom a term or a constraint wants is what the rule's own preparation says
 * (spread_constraints_prepare, affinity_terms_prepare). A label that the node lacks is thought of
 * as being there, so that what is told of the rest is right once it is. */
#include "ctl/explain/suggest_inside.h"

#include "proto/base/map.h"
#include "proto/kube/objects/selector.h"
#include "proto/kube/objects/tolerations.h"
#include "scheduler/rules/affinity_terms.h"
#include "scheduler/rules/spread_constraints.h"
#include "scheduler/table/wrap.h"

#include <inttypes.h>
#include <string.h>

/* ---- what both need ---- */

/* The pod as the rule prepares it. */
static struct pod prepare(const struct suggest_question *q,
                          void (*by)(const struct pre_filter_question *q),
                          struct findings *findings)
{
    struct pod prepared = *q->pod;
    *findings = (struct findings){.skip = 0};
    const struct pre_filter_question question = {.framework = q->framework,
                                                 .catalog = world_catalog(q->world),
                                                 .pod = q->pod,
                                                 .prepared = &prepared,
                                                 .findings = findings,
                                                 .arena = q->arena};
    by(&question);
    return prepared;
}

static bool label_of(const struct node *node, struct str key, struct str *value)
{
    *value = (struct str){0};
    return kube_label_find(node->labels.at, node->labels.count, key, value);
}

static void print_requirement(struct buffer *out, const struct requirement *r)
{
    enum kube_operator operation = kube_operator_of(r->operator_name);
    if (operation == OPERATOR_In && r->values.count == 1) {
        buffer_print(out, "%.*s=%.*s", STR_ARG(r->key), STR_ARG(r->values.at[0]));
        return;
    }
    buffer_print(out, "%s%.*s", operation == OPERATOR_DoesNotExist ? "!" : "", STR_ARG(r->key));
    if (operation != OPERATOR_In && operation != OPERATOR_NotIn)
        return;
    buffer_add_text(out, operation == OPERATOR_In ? " in (" : " notin (");
    for (uint32_t i = 0; i < r->values.count; i++)
        buffer_print(out, "%s%.*s", i > 0 ? "," : "", STR_ARG(r->values.at[i]));
    buffer_add_text(out, ")");
}

/* As kubectl's --selector takes it; what is asked for twice is told once. */
static void print_selector(struct buffer *out, const struct selector *s)
{
    struct str value;
    const char *comma = "";
    for (uint32_t i = 0; i < s->labels.count; i++, comma = ",")
        buffer_print(out, "%s%.*s=%.*s", comma, STR_ARG(s->labels.at[i].key),
                     STR_ARG(s->labels.at[i].value));
    for (uint32_t i = 0; i < s->expressions.count; i++) {
        const struct requirement *r = &s->expressions.at[i];
        bool told = kube_label_find(s->labels.at, s->labels.count, r->key, &value) &&
                    kube_operator_of(r->operator_name) == OPERATOR_In && r->values.count == 1 &&
                    str_equal(r->values.at[0], value);
        if (told)
            continue;
        buffer_add_text(out, comma);
        print_requirement(out, r);
        comma = ",";
    }
    if (comma[0] == '\0')
        buffer_add_text(out, s->present ? "any labels" : "nothing");
}

/* ---- PodTopologySpread ---- */

/* One hard constraint. */
struct evenness {
    const struct spread_constraint *of;
    bool missing; /* the node has no such label */
    struct str value;
    struct map *domains; /* value of the label → int64_t of the arena: pods */
    bool included;       /* missing: the node would be counted, … */
    int64_t here;        /* … and so many pods on it */
};

struct spread {
    const struct suggest_question *q;
    struct pod pod; /* prepared */
    uint32_t count;
    struct evenness *at;
    const struct node *now; /* the node that is looked at */
    int64_t *pods;          /* of it, by constraint */
};

static bool goes_to(const struct spread *s, const struct node *node)
{
    const struct pod *pod = &s->pod;
    struct str value;
    bool any = !pod->has_required_terms;
    for (uint32_t i = 0; i < pod->node_selector.count; i++)
        if (!label_of(node, pod->node_selector.at[i].key, &value) ||
            !str_equal(value, pod->node_selector.at[i].value))
            return false;
    for (uint32_t i = 0; i < pod->required_terms.count && !any; i++)
        any = node_term_matches(&pod->required_terms.at[i], node, NULL);
    return any;
}

static bool tolerates(const struct spread *s, const struct node *node)
{
    bool comparison = s->q->framework->profile.features.toleration_comparison;
    for (uint32_t i = 0; i < node->taints.count; i++) {
        const struct taint *t = &node->taints.at[i];
        bool held = !str_is(t->effect, "NoSchedule") && !str_is(t->effect, "NoExecute");
        for (uint32_t k = 0; k < s->pod.tolerations.count && !held; k++)
            held = kube_tolerates(&s->pod.tolerations.at[k], t, comparison);
        if (!held)
            return false;
    }
    return true;
}

static bool includes(const struct spread *s, const struct spread_constraint *c,
                     const struct node *node)
{
    bool affinity = c->node_affinity_policy.len == 0 || str_is(c->node_affinity_policy, "Honor");
    return (!affinity || goes_to(s, node)) &&
           (!str_is(c->node_taints_policy, "Honor") || tolerates(s, node));
}

/* The node in question counts as one that has them. */
static bool has_all_keys(const struct spread *s, const struct node *node)
{
    struct str value;
    for (uint32_t i = 0; i < s->count; i++)
        if (!label_of(node, s->at[i].of->topology_key, &value))
            return str_equal(node->name, s->q->node->name);
    return true;
}

static void count_pod(void *context, const struct pod *pod, bool assumed)
{
    struct spread *s = context;
    (void)assumed;
    if (pod->deleting || !str_equal(pod->namespace_name, s->pod.namespace_name))
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct selector *wanted = &s->at[i].of->selector;
        s->pods[i] += wanted->labels.count + wanted->expressions.count > 0 &&
                      label_selector_matches(wanted, pod->labels.at, pod->labels.count);
    }
}

static void count_node(struct spread *s, const struct node *node)
{
    struct str value;
    for (uint32_t i = 0; i < s->count; i++)
        s->pods[i] = 0;
    world_each_pod_on(s->q->world, node->name, count_pod, s);
    for (uint32_t i = 0; i < s->count; i++) {
        struct evenness *t = &s->at[i];
        if (!includes(s, t->of, node))
            continue;
        if (!label_of(node, t->of->topology_key, &value)) {
            t->included = true;
            t->here = s->pods[i];
            continue;
        }
        int64_t *sum = map_get(t->domains, value);
        if (sum == NULL) {
            sum = arena_take(s->q->arena, sizeof(*sum));
            map_set(t->domains, value, sum);
        }
        *sum += s->pods[i];
    }
}

static void count_nodes(struct spread *s)
{
    struct strs names = world_nodes(s->q->world, s->q->arena);
    struct arena a = {0};
    for (uint32_t i = 0; i < names.count; i++) {
        struct node node;
        if (world_node(s->q->world, names.at[i], &node, &a) && has_all_keys(s, &node))
            count_node(s, &node);
        arena_reset(&a);
    }
    arena_free(&a);
}

/* By how many pods the domain is above what the constraint allows, with the pod in it and, where
 * the node lacks the label, with the node in it. */
static int64_t excess(const struct spread *s, const struct evenness *t, struct str value)
{
    const struct spread_constraint *c = t->of;
    const int64_t *known = map_get(t->domains, value);
    bool joins = t->missing && t->included;
    int64_t own = (known != NULL ? *known : 0) + (joins ? t->here : 0), least = INT32_MAX;
    int64_t domains = (int64_t)map_count(t->domains) + (joins && known == NULL);
    size_t at = 0;
    struct str key;
    void *pods;
    while (map_next(t->domains, &at, &key, &pods))
        if (pods != known && *(int64_t *)pods < least)
            least = *(int64_t *)pods;
    if ((known != NULL || joins) && own < least)
        least = own;
    if (domains < (c->min_domains == 0 ? 1 : c->min_domains))
        least = 0;
    own += label_selector_matches(&c->selector, s->pod.labels.at, s->pod.labels.count);
    return own - least - (int32_t)c->max_skew;
}

/* Whether all constraints on that key, which the node lacks, let it have this value. */
static bool may_be(const struct spread *s, const struct evenness *key, struct str value)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (str_equal(s->at[i].of->topology_key, key->of->topology_key) &&
            excess(s, &s->at[i], value) > 0)
            return false;
    return true;
}

/* The first value of another node that suits, and true. */
static bool find_value(const struct spread *s, const struct evenness *t, struct str *value)
{
    size_t at = 0;
    struct str key;
    void *pods;
    bool found = false;
    while (map_next(t->domains, &at, &key, &pods))
        if ((!found || str_compare(key, *value) < 0) && may_be(s, t, key)) {
            *value = key;
            found = true;
        }
    return found;
}

static void say_too_many(const struct spread *s, const struct evenness *t, int64_t many)
{
    struct buffer *out = s->q->out;
    suggest_next(s->q);
    buffer_print(out, "%" PRId64 " pod%s matching ", many, many == 1 ? "" : "s");
    print_selector(out, &t->of->selector);
    if (t->missing)
        buffer_add_text(out, " fewer on the node");
    else
        buffer_print(out, " fewer in %.*s=%.*s", STR_ARG(t->of->topology_key), STR_ARG(t->value));
}

/* A value that no node has is the last resort: no domain has fewer pods. */
static void say_missing(const struct spread *s, const struct evenness *t)
{
    struct buffer *out = s->q->out;
    const struct str fresh = {"\n", 1}, key = t->of->topology_key;
    struct str value;
    suggest_next(s->q);
    buffer_print(out, "label %.*s on the node", STR_ARG(key));
    if (find_value(s, t, &value)) {
        buffer_print(out, ", such as %.*s=%.*s", STR_ARG(key), STR_ARG(value));
        return;
    }
    if (map_count(t->domains) > 0)
        buffer_add_text(out, ", with a value of its own");
    for (uint32_t i = 0; i < s->count; i++)
        if (str_equal(s->at[i].of->topology_key, key) && excess(s, &s->at[i], fresh) > 0)
            say_too_many(s, &s->at[i], excess(s, &s->at[i], fresh));
}

static bool is_first_of_key(const struct spread *s, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (str_equal(s->at[k].of->topology_key, s->at[i].of->topology_key))
            return false;
    return true;
}

static void say_all(const struct spread *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct evenness *t = &s->at[i];
        if (t->missing && is_first_of_key(s, i))
            say_missing(s, t);
        else if (!t->missing && excess(s, t, t->value) > 0)
            say_too_many(s, t, excess(s, t, t->value));
    }
}

void suggest_spread(const struct suggest_question *q)
{
    struct findings findings;
    struct spread s = {.q = q, .pod = prepare(q, spread_constraints_prepare, &findings)};
    s.at = arena_take(q->arena, s.pod.spread.count * sizeof(*s.at));
    s.pods = arena_take(q->arena, s.pod.spread.count * sizeof(*s.pods));
    for (uint32_t i = 0; i < s.pod.spread.count; i++) {
        const struct spread_constraint *c = &s.pod.spread.at[i];
        struct evenness *t = &s.at[s.count];
        if (!spread_constraint_is_hard(c))
            continue;
        t->of = c;
        t->missing = !label_of(q->node, c->topology_key, &t->value);
        t->domains = map_new();
        s.count++;
    }
    count_nodes(&s);
    say_all(&s);
    for (uint32_t i = 0; i < s.count; i++)
        map_free(&s.at[i].domains);
}

/* ---- InterPodAffinity ---- */

/* Pods that are in the way in a domain of the node. */
struct conflict {
    struct conflict *next;
    struct str key, value;
    bool theirs;   /* their anti-affinity, not the pod's */
    uint32_t last; /* the number of the last pod in names */
    struct suggest_names names;
};

/* A value that no label has. */
#define FRESH ((struct str){"\n", 1})

/* A required affinity term of the pod. */
struct wish {
    const struct affinity_term *of;
    bool missing;     /* the node has no such label */
    struct str value; /* the node's; missing: one of a node with pods that are wanted, if found */
    bool found;       /* pods that are wanted are in that domain */
};

struct company {
    const struct suggest_question *q;
    const struct node *node; /* the question's, or as it would be with more labels */
    struct pod pod;          /* prepared */
    struct findings findings;
    uint32_t wish_count;
    struct wish *wishes;
    bool anywhere; /* pods that are wanted count in some domain */
    bool here;     /* one is on the node itself */
    struct conflict *first, **end;
    const struct node *now; /* the node that is looked at */
    uint32_t number;        /* of the pod that is */
};

/* labels: of the namespace, for a term of which the namespace selector is not worked out. */
static bool wants(const struct affinity_term *t, const struct pod *pod, const struct findings *of)
{
    const struct label *labels = of == NULL ? NULL : of->namespace_labels.at;
    uint32_t count = of == NULL ? 0 : of->namespace_labels.count;
    return (strs_hold(t->namespaces, pod->namespace_name) ||
            label_selector_matches(&t->namespace_selector, labels, count)) &&
           label_selector_matches(&t->selector, pod->labels.at, pod->labels.count);
}

static bool shares_domain(const struct company *c, struct str key, struct str *value)
{
    struct str there;
    return label_of(c->node, key, value) && label_of(c->now, key, &there) &&
           str_equal(*value, there);
}

static void note_wanted(struct company *c, const struct pod *pod)
{
    struct str value;
    for (uint32_t i = 0; i < c->wish_count; i++)
        if (!wants(c->wishes[i].of, pod, NULL))
            return;
    c->here |= c->wish_count > 0 && str_equal(c->now->name, c->node->name);
    for (uint32_t i = 0; i < c->wish_count; i++) {
        struct wish *w = &c->wishes[i];
        if (!label_of(c->now, w->of->topology_key, &value))
            continue;
        c->anywhere = true;
        if (w->missing && !w->found)
            w->value = arena_copy(c->q->arena, value);
        w->found |= w->missing || str_equal(w->value, value);
    }
}

/* False: the pod is not in the way. */
static bool note_conflict(struct company *c, const struct pod *pod, struct str key, bool theirs)
{
    struct str value;
    struct conflict *k = c->first;
    if (!shares_domain(c, key, &value))
        return false;
    while (k != NULL && (k->theirs != theirs || !str_equal(k->key, key)))
        k = k->next;
    if (k == NULL) {
        k = arena_take(c->q->arena, sizeof(*k));
        k->key = arena_copy(c->q->arena, key);
        k->value = value;
        k->theirs = theirs;
        *c->end = k;
        c->end = &k->next;
    }
    if (k->last != c->number)
        suggest_name(&k->names, pod, c->q->arena);
    k->last = c->number;
    return true;
}

/* A pod that has to go is none to be near to. */
static void look_at_pod(void *context, const struct pod *pod, bool assumed)
{
    struct company *c = context;
    const struct affinity_term *own = c->pod.anti_affinity_required.at;
    const struct affinity_term *theirs = pod->anti_affinity_required.at;
    bool goes = false;
    (void)assumed;
    c->number++;
    for (uint32_t i = 0; i < c->pod.anti_affinity_required.count; i++)
        if (wants(&own[i], pod, NULL))
            goes |= note_conflict(c, pod, own[i].topology_key, false);
    for (uint32_t i = 0; i < pod->anti_affinity_required.count; i++)
        if (wants(&theirs[i], &c->pod, &c->findings))
            goes |= note_conflict(c, pod, theirs[i].topology_key, true);
    if (!goes)
        note_wanted(c, pod);
}

static void look_around(struct company *c)
{
    struct strs names = world_nodes(c->q->world, c->q->arena);
    struct arena a = {0};
    for (uint32_t i = 0; i < names.count; i++) {
        struct node node;
        c->now = str_equal(names.at[i], c->node->name) ? c->node : &node;
        if (world_node(c->q->world, names.at[i], &node, &a))
            world_each_pod_on(c->q->world, names.at[i], look_at_pod, c);
        arena_reset(&a);
    }
    c->now = NULL;
    arena_free(&a);
}

static bool is_first_wish_of_key(const struct company *c, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (str_equal(c->wishes[k].of->topology_key, c->wishes[i].of->topology_key))
            return false;
    return true;
}

/* Of a missing label: with a pod on the node itself any value will do. */
static struct str value_to_be(const struct company *c, const struct wish *w)
{
    return w->found && !c->here ? w->value : FRESH;
}

static void say_labels(const struct company *c)
{
    for (uint32_t i = 0; i < c->wish_count; i++) {
        const struct wish *w = &c->wishes[i];
        struct str key = w->of->topology_key;
        if (!w->missing || !is_first_wish_of_key(c, i))
            continue;
        suggest_next(c->q);
        buffer_print(c->q->out, "label %.*s on the node", STR_ARG(key));
        if (!str_equal(value_to_be(c, w), FRESH))
            buffer_print(c->q->out, ", such as %.*s=%.*s", STR_ARG(key), STR_ARG(w->value));
    }
}

static void print_namespaces(const struct company *c, const struct affinity_term *t)
{
    struct buffer *out = c->q->out;
    if (t->namespace_selector.present)
        buffer_add_text(out, " in any namespace");
    else if (t->namespaces.count == 0)
        buffer_add_text(out, " in a namespace that its namespaceSelector matches");
    else if (t->namespaces.count > 1 || !str_equal(t->namespaces.at[0], c->pod.namespace_name))
        for (uint32_t i = 0; i < t->namespaces.count; i++)
            buffer_print(out, "%s%.*s", i == 0 ? " in namespace " : " or ",
                         STR_ARG(t->namespaces.at[i]));
}

/* One pod on the node does for all terms; where the node has the labels, one in its domains. */
static void say_absent(const struct company *c)
{
    bool on_node = false, absent = false;
    struct buffer *out = c->q->out;
    for (uint32_t i = 0; i < c->wish_count; i++) {
        absent |= !c->wishes[i].found;
        on_node |= !c->wishes[i].found && str_equal(c->wishes[i].value, FRESH);
    }
    if (!absent || (!c->anywhere && affinity_terms_want_itself(&c->pod)))
        return;
    suggest_next(c->q);
    buffer_add_text(out, on_node ? "a pod on the node" : "a pod in ");
    const char *before = "";
    for (uint32_t i = 0; i < c->wish_count && !on_node; i++) {
        const struct wish *w = &c->wishes[i];
        if (w->found || !is_first_wish_of_key(c, i))
            continue;
        buffer_print(out, "%s%.*s=%.*s", before, STR_ARG(w->of->topology_key), STR_ARG(w->value));
        before = " and ";
    }
    for (uint32_t i = 0; i < c->wish_count; i++) {
        buffer_add_text(out, i == 0 ? " that matches " : " and ");
        print_selector(out, &c->wishes[i].of->selector);
        print_namespaces(c, c->wishes[i].of);
    }
}

static void say_conflicts(const struct company *c, bool theirs)
{
    for (const struct conflict *k = c->first; k != NULL; k = k->next) {
        if (k->theirs != theirs)
            continue;
        suggest_next(c->q);
        suggest_print_names(c->q->out, &k->names);
        if (str_equal(k->value, FRESH))
            buffer_add_text(c->q->out, " gone from the node");
        else
            buffer_print(c->q->out, " gone from %.*s=%.*s", STR_ARG(k->key), STR_ARG(k->value));
        if (theirs)
            buffer_print(c->q->out, ", whose anti-affinity keeps this one away");
    }
}

static void look(const struct suggest_question *q, const struct node *node, struct company *c)
{
    *c = (struct company){.q = q, .node = node};
    c->pod = prepare(q, affinity_terms_prepare, &c->findings);
    c->end = &c->first;
    c->wish_count = c->pod.affinity_required.count;
    c->wishes = arena_take(q->arena, c->wish_count * sizeof(*c->wishes));
    for (uint32_t i = 0; i < c->wish_count; i++) {
        struct wish *w = &c->wishes[i];
        w->of = &c->pod.affinity_required.at[i];
        w->missing = !label_of(node, w->of->topology_key, &w->value);
    }
    look_around(c);
}

static void add_label(struct node *node, const struct label *label, struct arena *a)
{
    uint32_t i = node->labels.count++;
    struct label *at = arena_take(a, node->labels.count * sizeof(*at));
    if (i > 0)
        memcpy(at, node->labels.at, i * sizeof(*at));
    for (; i > 0 && str_compare(at[i - 1].key, label->key) > 0; i--)
        at[i] = at[i - 1];
    at[i] = *label;
    node->labels.at = at;
}

void suggest_pods(const struct suggest_question *q)
{
    struct company now, then;
    struct node node = *q->node;
    look(q, q->node, &now);
    say_labels(&now);
    for (uint32_t i = 0; i < now.wish_count; i++) {
        const struct wish *w = &now.wishes[i];
        const struct label label = {w->of->topology_key, value_to_be(&now, w)};
        if (w->missing && is_first_wish_of_key(&now, i))
            add_label(&node, &label, q->arena);
    }
    if (node.labels.count > q->node->labels.count)
        look(q, &node, &then);
    else
        then = now;
    say_absent(&then);
    say_conflicts(&then, false);
    say_conflicts(&then, true);
}
