/* NodeAffinity matches the pod's nodeSelector and required node affinity, and the affinity that the
 * profile adds to every pod; the preferred terms score with their weights.
 *
 * Terms are ORed, requirements inside a term ANDed. Terms that all name nodes by metadata.name
 * narrow the search to those nodes, so that a DaemonSet's pod costs one node and not all. */
#include "proto/kube/objects/selector.h"
#include "scheduler/rules/node_selector.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/wrap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct selection {
    struct required_affinity *own;
    bool has_added;
    uint32_t added_count;
    struct node_matcher **added;
};

struct preference {
    uint32_t count;
    struct wish {
        int64_t weight;
        struct node_matcher *term;
    } * at;
};

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void sort_unique(struct strs *names)
{
    qsort(names->at, names->count, sizeof(*names->at), compare);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++)
        if (kept == 0 || !str_equal(names->at[kept - 1], names->at[i]))
            names->at[kept++] = names->at[i];
    names->count = kept;
}

static bool names_nodes(const struct requirement *r)
{
    return str_is(r->key, "metadata.name") && str_is(r->operator_name, "In");
}

static bool in_all(const struct node_term *term, struct str name)
{
    for (uint32_t i = 0; i < term->fields.count; i++) {
        const struct requirement *r = &term->fields.at[i];
        bool found = !names_nodes(r);
        for (uint32_t k = 0; k < r->values.count && !found; k++)
            found = str_equal(r->values.at[k], name);
        if (!found)
            return false;
    }
    return true;
}

/* The first requirement of the term that lists names, or NULL. */
static const struct requirement *naming(const struct node_term *term)
{
    for (uint32_t i = 0; i < term->fields.count; i++)
        if (names_nodes(&term->fields.at[i]))
            return &term->fields.at[i];
    return NULL;
}

/* False when some term leaves the name open, so that every node is eligible. */
static bool named_nodes(const struct pod *pod, struct arena *a, struct strs *names)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < pod->required_terms.count; i++) {
        const struct requirement *r = naming(&pod->required_terms.at[i]);
        if (r == NULL)
            return false;
        room += r->values.count;
    }
    *names = (struct strs){0, arena_take(a, room * sizeof(struct str))};
    for (uint32_t i = 0; i < pod->required_terms.count; i++) {
        const struct node_term *term = &pod->required_terms.at[i];
        const struct requirement *r = naming(term);
        for (uint32_t k = 0; k < r->values.count; k++)
            if (in_all(term, r->values.at[k]))
                names->at[names->count++] = r->values.at[k];
    }
    sort_unique(names);
    return true;
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    const struct pod *pod = q->pod;
    out->skip = !pod->has_required_terms && !pod->has_node_selector &&
                !q->framework->profile.has_added_required;
    if (out->skip || pod->required_terms.count == 0 || !named_nodes(pod, q->arena, &out->names))
        return;
    out->narrow = out->names.count > 0;
    if (!out->narrow) {
        out->code = CODE_unresolvable;
        out->reason = STR_LITERAL("pod affinity terms conflict");
    }
}

static void *filter_begin(const struct cycle *c)
{
    struct selection *s = arena_take(c->arena, sizeof(*s));
    const struct profile *profile = &c->framework->profile;
    s->own = required_affinity_make(c);
    s->has_added = profile->has_added_required;
    s->added_count =
        node_matchers_make(c, profile->added_required.at, profile->added_required.count, &s->added);
    return s;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct selection *s = state;
    const struct node_entry *node = n->entry[row];
    if (s->has_added && !node_matchers_match_any(c->atoms, s->added, s->added_count, node))
        ruling_reject(out, CODE_unresolvable,
                      "node(s) didn't match scheduler-enforced node affinity", (struct str){0});
    else if (!required_affinity_matches(c->atoms, s->own, node))
        ruling_reject(out, CODE_unresolvable, "node(s) didn't match Pod's node affinity/selector",
                      (struct str){0});
}

static void filter_rows(const struct cycle *c, const void *state, const struct nodes *n,
                        struct row_range rows, uint8_t *no)
{
    (void)n;
    const struct selection *s = state;
    if (s->has_added)
        node_matchers_rows(c, s->added, s->added_count, rows, no);
    required_affinity_rows(c, s->own, rows, no);
}

static bool score_skips(const struct cycle *c)
{
    return c->pod->preferred_terms.count == 0 && c->framework->profile.added_preferred.count == 0;
}

static void add_wishes(const struct cycle *c, const struct preferred_node_term *at, uint32_t count,
                       struct preference *out)
{
    for (uint32_t i = 0; i < count; i++) {
        struct node_matcher *m = at[i].weight == 0 ? NULL : node_matcher_make(c, &at[i].term);
        if (m != NULL)
            out->at[out->count++] = (struct wish){at[i].weight, m};
    }
}

static uint32_t occurrences(struct str text, const char *what)
{
    uint32_t count = 0;
    size_t len = strlen(what);
    for (size_t i = 0; i + len <= text.len; i++)
        count += memcmp(text.at + i, what, len) == 0;
    return count;
}

/* A malformed preferred term fails the cycle, unlike a malformed required one. Several faults stand
 * in brackets. */
static void pre_score(struct cycle *c)
{
    struct buffer faults = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->pod->preferred_terms.count; i++) {
        const struct preferred_node_term *wish = &c->pod->preferred_terms.at[i];
        struct buffer more = {0};
        char path[24];
        snprintf(path, sizeof(path), "[%" PRIu32 "]", i);
        if (wish->weight != 0 && !node_term_check(&wish->term, path, &more)) {
            buffer_print(&faults, "%s%.*s", count > 0 ? ", " : "", STR_ARG(buffer_str(&more)));
            snprintf(path, sizeof(path), "[%" PRIu32 "].match", i);
            count += occurrences(buffer_str(&more), path);
        }
        buffer_free(&more);
    }
    if (faults.len > 0)
        c->error =
            arena_print(c->arena, "running PreScore plugin \"NodeAffinity\": %s%.*s%s",
                        count > 1 ? "[" : "", STR_ARG(buffer_str(&faults)), count > 1 ? "]" : "");
    buffer_free(&faults);
}

static void *score_begin(const struct cycle *c)
{
    const struct profile *profile = &c->framework->profile;
    struct preference *p = arena_take(c->arena, sizeof(*p));
    uint32_t room = profile->added_preferred.count + c->pod->preferred_terms.count;
    p->at = arena_take(c->arena, room * sizeof(*p->at));
    add_wishes(c, profile->added_preferred.at, profile->added_preferred.count, p);
    add_wishes(c, c->pod->preferred_terms.at, c->pod->preferred_terms.count, p);
    return p;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    const struct preference *p = state;
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (node_matcher_matches(c->atoms, p->at[i].term, n->entry[row]))
            sum = wrap_add(sum, p->at[i].weight);
    return sum;
}

static void score_rows(const struct cycle *c, const void *state, const struct nodes *n,
                       struct row_range rows, int64_t *raw)
{
    (void)n;
    const struct preference *p = state;
    memset(raw, 0, rows.count * sizeof(*raw));
    while (rows.count > 0) {
        struct row_range block = {rows.from, rows.count < KERNEL_ROWS ? rows.count : KERNEL_ROWS};
        uint8_t yes[KERNEL_ROWS];
        for (uint32_t i = 0; i < p->count; i++) {
            node_matcher_rows(c, p->at[i].term, block, yes);
            kernel_raise_where(raw, yes, p->at[i].weight, block.count);
        }
        rows.from += block.count;
        rows.count -= block.count;
        raw += block.count;
    }
}

const struct plugin plugin_node_affinity = {
    .name = "NodeAffinity",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .score_skips = score_skips,
    .pre_score = pre_score,
    .score_begin = score_begin,
    .score = score,
    .filter_rows = filter_rows,
    .score_rows = score_rows,
    .normalise = NORMALISE_default,
    .by_row = true,
    .score_ignores_pods = true,
};
