/* plugin_said: answers of plugins on the bus. What must stay true: whatever a plugin says, no node
 * passes that it was not asked about, and no answer counts in part. */
#include "scheduler/merge/plugin_said.h"

#include "scheduler/rules/plugin.h"
#include "scheduler/table/wrap.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static struct strs sorted(const struct strs *names, struct arena *a)
{
    struct strs all = {0, arena_take(a, names->count * sizeof(struct str))};
    for (uint32_t i = 0; i < names->count; i++)
        all.at[i] = arena_copy(a, names->at[i]);
    qsort(all.at, names->count, sizeof(*all.at), by_name);
    for (uint32_t i = 0; i < names->count; i++)
        if (all.count == 0 || !str_equal(all.at[all.count - 1], all.at[i]))
            all.at[all.count++] = all.at[i];
    return all;
}

/* ---- PreFilter ---- */

struct str plugin_said_pre_filter(struct extension *e, const struct bus_plugin *plugin,
                                  const struct plugin_answer *said)
{
    struct pre_filter_said *kept = &e->pre_filter.at[e->round.place];
    bool rejects = str_is(said->verdict, "deny");
    if (!rejects && said->verdict.len > 0 && !str_is(said->verdict, "allow"))
        return arena_print(&e->arena, "answered with an unknown verdict: \"%.*s\"",
                           STR_ARG(said->verdict));
    *kept = (struct pre_filter_said){.rejects = rejects, .skip = said->skip && !rejects};
    if (rejects)
        kept->reason = said->reason.len > 0
                           ? arena_copy(&e->arena, said->reason)
                           : arena_print(&e->arena, "node(s) didn't satisfy plugin %.*s",
                                         STR_ARG(plugin->name));
    if (kept->skip)
        e->skipped_filters.at[e->skipped_filters.count++] = arena_copy(&e->arena, plugin->name);
    kept->narrow = !rejects && !kept->skip && (said->narrowed || said->nodes.count > 0);
    if (kept->narrow)
        kept->names = sorted(&said->nodes, &e->arena);
    return (struct str){0};
}

/* ---- Filter ---- */

static struct str unknown_node(struct arena *a, struct str node)
{
    return arena_print(a, "answered about a node that it was not asked about: \"%.*s\"",
                       STR_ARG(node));
}

struct str plugin_said_filter(struct extension *e, const struct bus_plugin *plugin,
                              const struct plugin_answer *said)
{
    struct extension_round *r = &e->round;
    uint32_t place, kept = 0;
    bool *no = arena_take(&e->arena, r->left.count * sizeof(*no));
    for (uint32_t i = 0; i < said->refused.count; i++) {
        if (!extension_find(&r->left, said->refused.at[i].node, &place))
            return unknown_node(&e->arena, said->refused.at[i].node);
        no[place] = true;
    }
    for (uint32_t i = 0; i < said->refused.count; i++) {
        const struct plugin_refusal *given = &said->refused.at[i];
        struct extender_refusal refusal = {.node = arena_copy(&e->arena, given->node),
                                           .reason = arena_copy(&e->arena, given->reason),
                                           .unresolvable = given->unresolvable,
                                           .plugin = arena_copy(&e->arena, plugin->name)};
        if (refusal.reason.len == 0)
            refusal.reason =
                arena_print(&e->arena, "node(s) didn't satisfy plugin %.*s", STR_ARG(plugin->name));
        extension_refuse(e, &refusal);
    }
    for (uint32_t i = 0; i < r->left.count; i++)
        if (!no[i])
            r->left.at[kept++] = r->left.at[i];
    r->left.count = kept;
    return (struct str){0};
}

/* ---- PreScore and Score ---- */

struct str plugin_said_pre_score(struct extension *e, const struct bus_plugin *plugin,
                                 const struct plugin_answer *said)
{
    const struct strs *before = &e->round.skipped_scores;
    struct strs all = {0, arena_take(&e->arena, (before->count + 1) * sizeof(struct str))};
    if (!said->skip)
        return (struct str){0};
    while (all.count < before->count) {
        all.at[all.count] = before->at[all.count];
        all.count++;
    }
    all.at[all.count++] = arena_copy(&e->arena, plugin->name);
    e->round.skipped_scores = all;
    return (struct str){0};
}

enum normalising { AS_GIVEN, BY_HIGHEST, BY_LOWEST, BY_RANGE, NORMALISINGS };

/* NORMALISINGS: there is no such word. */
static enum normalising normalising_of(struct str word)
{
    static const char *const words[] = {"", "highest", "lowest", "range"};
    enum normalising how = AS_GIVEN;
    while (how < NORMALISINGS && !str_is(word, words[how]))
        how++;
    return how;
}

/* Two numbers may be as far apart as a number is wide: then the last bits do not count. */
static int64_t share_of_range(int64_t raw, int64_t least, int64_t greatest)
{
    uint64_t width = (uint64_t)greatest - (uint64_t)least, above = (uint64_t)raw - (uint64_t)least;
    int bits = width > UINT64_MAX / SCORE_MAX ? 7 : 0;
    return width > 0 ? (int64_t)((above >> bits) * SCORE_MAX / (width >> bits)) : 0;
}

/* Upstream's DefaultNormalizeScore, straight or reversed, to which 0 is the least that can be the
 * greatest; and what is made of a range by plugins that many run. */
static void normalise(enum normalising how, int64_t *raw, uint32_t count)
{
    int64_t least = raw[0], greatest = raw[0];
    for (uint32_t i = 1; i < count; i++) {
        least = raw[i] < least ? raw[i] : least;
        greatest = raw[i] > greatest ? raw[i] : greatest;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (how == BY_RANGE) {
            raw[i] = share_of_range(raw[i], least, greatest);
        } else if (greatest <= 0) {
            raw[i] = how == BY_LOWEST ? SCORE_MAX : raw[i];
        } else {
            int64_t scaled = wrap_mul(SCORE_MAX, raw[i]) / greatest;
            raw[i] = how == BY_LOWEST ? SCORE_MAX - scaled : scaled;
        }
    }
}

struct str plugin_said_score(struct extension *e, int64_t weight, const struct plugin_answer *said)
{
    const struct strs *nodes = &e->round.left;
    enum normalising how = normalising_of(said->normalize);
    int64_t *scores = arena_take(&e->arena, nodes->count * sizeof(*scores));
    uint32_t place;
    if (how == NORMALISINGS)
        return arena_print(&e->arena, "answered with an unknown way to normalize: \"%.*s\"",
                           STR_ARG(said->normalize));
    for (uint32_t i = 0; i < said->scores.count; i++) {
        if (!extension_find(nodes, said->scores.at[i].node, &place))
            return unknown_node(&e->arena, said->scores.at[i].node);
        scores[place] = said->scores.at[i].score;
    }
    if (how != AS_GIVEN && nodes->count > 0)
        normalise(how, scores, nodes->count);
    for (uint32_t i = 0; i < nodes->count; i++)
        if (scores[i] < 0 || scores[i] > SCORE_MAX)
            return arena_print(&e->arena,
                               "returns an invalid score %" PRId64 ", it should in the range of "
                               "[0, %d] after normalizing",
                               scores[i], SCORE_MAX);
    for (uint32_t i = 0; i < nodes->count; i++)
        extension_add_score(e, nodes->at[i], wrap_mul(scores[i], weight));
    return (struct str){0};
}

/* ---- PostFilter ---- */

struct str plugin_said_post_filter(struct extension *e, const struct plugin_answer *said)
{
    uint32_t place;
    if (said->node.len > 0 && !extension_find(&e->round.left, said->node, &place))
        return unknown_node(&e->arena, said->node);
    e->no_node.at[e->round.place] =
        (struct post_filter_said){.asked = true,
                                  .last = said->unresolvable,
                                  .node = arena_copy(&e->arena, said->node),
                                  .reason = arena_copy(&e->arena, said->reason)};
    return (struct str){0};
}

/* ---- failures ---- */

struct str plugin_said_hold(const struct plugin_answer *said, enum plugin_step step,
                            struct arena *a)
{
    bool known = said->verdict.len == 0 || str_is(said->verdict, "allow") ||
                 str_is(said->verdict, "deny") ||
                 (step == PLUGIN_STEP_permit && str_is(said->verdict, "wait"));
    if (said->error.len > 0)
        return arena_print(a, "failed: %.*s", STR_ARG(said->error));
    if (!known)
        return arena_print(a, "answered with an unknown verdict: \"%.*s\"", STR_ARG(said->verdict));
    if (said->timeout_ms < 0)
        return STR_LITERAL("answered with a negative timeout");
    return (struct str){0};
}

struct str plugin_said_denial(const struct bus_plugin *plugin, const struct plugin_answer *said,
                              enum plugin_step step, struct arena *a)
{
    if (!str_is(said->verdict, "deny"))
        return (struct str){0};
    if (said->reason.len > 0)
        return arena_copy(a, said->reason);
    return arena_print(a, "plugin \"%.*s\" does not %s it", STR_ARG(plugin->name),
                       step == PLUGIN_STEP_permit ? "permit" : "reserve");
}

void plugin_said_nothing(struct extension *e, const struct bus_plugin *plugin, struct str why)
{
    struct extension_round *r = &e->round;
    why = arena_copy(&e->arena, why);
    if (r->stage == STAGE_pre_filters) {
        e->pre_filter.at[r->place] = (struct pre_filter_said){.rejects = true, .reason = why};
        return;
    }
    if (r->stage == STAGE_post_filters) {
        e->no_node.at[r->place] =
            (struct post_filter_said){.asked = true, .failed = true, .reason = why};
        return;
    }
    for (uint32_t i = 0; i < r->left.count; i++) {
        const struct extender_refusal refusal = {r->left.at[i], why, true,
                                                 arena_copy(&e->arena, plugin->name)};
        extension_refuse(e, &refusal);
    }
    r->left.count = 0;
}
