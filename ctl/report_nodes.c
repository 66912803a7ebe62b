/* report_nodes: nodes by the reason that turned them away, and by their scores. What must stay
 * true: a node with two reasons stands under both, as in the message. */
#include "ctl/report_nodes.h"

#include "scheduler/table/wrap.h"

#include <inttypes.h>
#include <stdlib.h>

/* Nodes that a plugin has turned away for the same reason. */
struct cause {
    struct str plugin, text;
    uint32_t count;
    const struct verdict **at;
};

static struct cause *reason_of(struct cause *all, uint32_t *count, struct str plugin,
                               struct str text)
{
    for (uint32_t i = 0; i < *count; i++)
        if (str_equal(all[i].plugin, plugin) && str_equal(all[i].text, text))
            return &all[i];
    all[*count] = (struct cause){.plugin = plugin, .text = text};
    return &all[(*count)++];
}

static int by_count(const void *one, const void *other)
{
    const struct cause *a = one, *b = other;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    int order = str_compare(a->plugin, b->plugin);
    return order != 0 ? order : str_compare(a->text, b->text);
}

/* By each reason, as in the message: a node with two of them counts for both. */
static struct cause *reasons_of(const struct report *r, uint32_t *count, struct arena *a)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < r->verdict_count; i++)
        most += r->verdicts[i].reasons.count;
    struct cause *all = arena_take(a, (most + 1) * sizeof(*all));
    *count = 0;
    for (uint32_t i = 0; i < r->verdict_count; i++) {
        const struct verdict *v = &r->verdicts[i];
        for (uint32_t k = 0; v->code != VERDICT_success && k < v->reasons.count; k++) {
            struct cause *reason = reason_of(all, count, v->plugin, v->reasons.at[k]);
            if (reason->at == NULL)
                reason->at = arena_take(a, r->verdict_count * sizeof(void *));
            reason->at[reason->count++] = v;
        }
    }
    qsort(all, *count, sizeof(*all), by_count);
    return all;
}

void report_reasons(const struct report *r, bool names, struct buffer *out, struct arena *a)
{
    uint32_t count;
    const struct cause *all = reasons_of(r, &count, a);
    for (uint32_t i = 0; i < count; i++) {
        buffer_print(out, "  %6" PRIu32 " %s  %.*s (%.*s)\n", all[i].count,
                     all[i].count == 1 ? "node " : "nodes", STR_ARG(all[i].text),
                     STR_ARG(all[i].plugin));
        for (uint32_t k = 0; names && k < all[i].count; k++)
            buffer_print(out, "%s%.*s%s", k == 0 ? "                " : ", ",
                         STR_ARG(all[i].at[k]->node), k + 1 == all[i].count ? "\n" : "");
    }
}

static int by_total(const void *one, const void *other)
{
    const struct verdict *a = *(const struct verdict *const *)one;
    const struct verdict *b = *(const struct verdict *const *)other;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return str_compare(a->node, b->node);
}

const struct verdict **report_feasible(const struct report *r, uint32_t *count, struct arena *a)
{
    const struct verdict **list = arena_take(a, (r->verdict_count + 1) * sizeof(void *));
    *count = 0;
    for (uint32_t i = 0; i < r->verdict_count; i++)
        if (r->verdicts[i].code == VERDICT_success)
            list[(*count)++] = &r->verdicts[i];
    qsort(list, *count, sizeof(void *), by_total);
    return list;
}

void report_score_heading(struct buffer *out)
{
    buffer_print(out, "  %-24s %8s  score of each rule, times its weight, but for zeros\n", "NODE",
                 "TOTAL");
}

void report_score(const struct verdict *v, struct buffer *out)
{
    int64_t others = v->scores.count > 0 ? v->total : 0; /* extenders' and bus plugins' */
    buffer_print(out, "  %-24.*s %8" PRId64, STR_ARG(v->node), v->total);
    for (uint32_t i = 0; i < v->scores.count; i++) {
        others = wrap_add(others, -v->scores.at[i].weighted);
        if (v->scores.at[i].weighted != 0)
            buffer_print(out, "  %.*s %" PRId64, STR_ARG(v->scores.at[i].plugin),
                         v->scores.at[i].weighted);
    }
    if (others != 0)
        buffer_print(out, "  others %" PRId64, others);
    buffer_add_text(out, "\n");
}

void report_all_nodes(const struct report *r, struct buffer *out)
{
    struct arena a = {0};
    uint32_t count;
    const struct verdict **list = report_feasible(r, &count, &a);
    if (r->decision->kind != DECISION_node || count > 1)
        report_reasons(r, true, out, &a);
    if (r->decision->kind == DECISION_node && count > 1 && list[0]->scores.count > 0)
        report_score_heading(out);
    for (uint32_t i = 0; i < count; i++)
        report_score(list[i], out);
    arena_free(&a);
}
