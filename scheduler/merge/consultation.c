/* consultation: a question goes through stages: about nodes, filters, then HTTP extenders, then, if
 * there is still a choice, those who get ready to score, and scores, each in the profile's order on
 * what the former left; about the pod alone, before any node is looked at or when none is any good,
 * likewise. What must stay true: whatever a plugin says, no node passes that it was not asked
 * about. */
#include "scheduler/merge/consultation.h"

#include "scheduler/merge/plugin_said.h"

#include <stdlib.h>

/* ---- who has a say ---- */

const struct bus_plugin *bus_plugin_of(const struct profile *profile, struct str name)
{
    for (uint32_t i = 0; i < profile->bus_plugins.count; i++)
        if (str_equal(profile->bus_plugins.at[i].name, name))
            return &profile->bus_plugins.at[i];
    return NULL;
}

static bool scores(const struct profile *p, struct str name)
{
    for (uint32_t i = 0; i < p->score.count; i++)
        if (str_equal(p->score.at[i].name, name))
            return true;
    return false;
}

struct bus_plugin_says bus_plugin_says(const struct profile *p, struct str name)
{
    bool filters = strs_hold(p->filter, name);
    struct bus_plugin_says says = {
        .filters = filters,
        .nodes = filters || strs_hold(p->pre_score, name) || scores(p, name),
        .pod = strs_hold(p->pre_filter, name) || strs_hold(p->post_filter, name)};
    says.any = says.nodes || says.pod || strs_hold(p->reserve, name) ||
               strs_hold(p->permit, name) || strs_hold(p->post_bind, name);
    return says;
}

/* How a stage is named: towards plugins, and in metrics. */
static const struct {
    enum plugin_step step;
    const char *point;
} stages[] = {[STAGE_pre_filters] = {PLUGIN_STEP_pre_filter, "PreFilter"},
              [STAGE_filters] = {PLUGIN_STEP_filter, "Filter"},
              [STAGE_pre_scores] = {PLUGIN_STEP_pre_score, "PreScore"},
              [STAGE_scores] = {PLUGIN_STEP_score, "Score"},
              [STAGE_post_filters] = {PLUGIN_STEP_post_filter, "PostFilter"}};

/* The names in the profile's list of the stage, which is not that of scores. */
static const struct strs *list_of(const struct profile *p, enum extension_stage stage)
{
    switch (stage) {
    case STAGE_pre_filters: return &p->pre_filter;
    case STAGE_pre_scores: return &p->pre_score;
    case STAGE_post_filters: return &p->post_filter;
    default: return &p->filter;
    }
}

static uint32_t places_of(const struct profile *p, enum extension_stage stage)
{
    return stage == STAGE_scores ? p->score.count : list_of(p, stage)->count;
}

static struct str name_at(const struct profile *p, enum extension_stage stage, uint32_t place)
{
    return stage == STAGE_scores ? p->score.at[place].name : list_of(p, stage)->at[place];
}

/* ---- a question begins ---- */

/* The nodes in question, sorted. */
static struct strs nodes_of(const struct reduce_extend *q, struct arena *a)
{
    struct strs names = q->nodes;
    if (q->about != ABOUT_victims)
        return names;
    names = (struct strs){0, arena_take(a, q->count * sizeof(struct str))};
    for (uint32_t i = 0; i < q->count; i++)
        names.at[names.count++] = q->candidates[i].node;
    return names;
}

struct all_nodes {
    struct extension_no_node *out;
    uint32_t room;
    const struct reduce_extend *q;
    struct arena *arena;
};

static int by_node(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

/* What is not among those that were looked at was not for one reason. */
static void add_node(void *context, const struct cache_held *node)
{
    const struct all_nodes *all = context;
    const struct reduce_extend *q = all->q;
    struct verdict wanted = {.node = node->name};
    const struct verdict *found =
        q->verdict_count > 0
            ? bsearch(&wanted, q->verdicts, q->verdict_count, sizeof(wanted), by_node)
            : NULL;
    if (all->out->count == all->room)
        return;
    struct verdict told = found != NULL ? *found : q->absent;
    struct verdict *kept = &all->out->nodes[all->out->count++];
    told.node = node->name;
    codec_copy(&verdict_record, kept, &told, all->arena);
}

/* Why each node is no good is told to plugins at PostFilter. False: a cycle has to find that out
 * first. */
static bool keep_why(struct extension *e, const struct reduce_extend *q, const struct cache *cache)
{
    struct extension_no_node *n = &e->no_node;
    bool known = n->wanted;
    n->wanted = true;
    if (!known)
        return false;
    struct all_nodes all = {n, (uint32_t)cache_nodes(cache), q, &e->arena};
    n->count = 0;
    if (q->verdict_count == 0 && q->absent.reasons.count > 0)
        n->reason = arena_copy(&e->arena, q->absent.reasons.at[0]);
    n->nodes = arena_take(&e->arena, all.room * sizeof(*n->nodes));
    cache_each_held_node(cache, add_node, &all);
    qsort(n->nodes, n->count, sizeof(*n->nodes), by_node);
    return true;
}

static bool is_asked_again(const struct extension *e, enum extension_about about)
{
    switch (about) {
    case ABOUT_pod:
    case ABOUT_no_node: return false; /* once an attempt */
    case ABOUT_victims: return e->victims.given;
    default: return e->answers[about].given;
    }
}

static void copy_candidates(struct extension *e, const struct reduce_extend *q)
{
    struct candidates_list *list = &e->victims.candidates;
    e->victims = (struct extension_victims){0};
    *list = (struct candidates_list){0, arena_take(&e->arena, q->count * sizeof(*list->at))};
    for (; list->count < q->count; list->count++)
        codec_copy(&candidate_record, &list->at[list->count], &q->candidates[list->count],
                   &e->arena);
    e->victims.chosen = *list;
}

bool consultation_open(struct extension *e, const struct reduce_extend *q,
                       const struct cache *cache, struct strs *nodes, struct arena *a)
{
    *nodes = nodes_of(q, a);
    e->tries += is_asked_again(e, q->about);
    e->about = q->about;
    if (q->about == ABOUT_victims)
        copy_candidates(e, q);
    else if (q->about == ABOUT_nominated || q->about == ABOUT_nodes)
        e->answers[q->about] = (struct extension_answer){0};
    return q->about != ABOUT_no_node || keep_why(e, q, cache);
}

void consultation_begin(struct extension *e, const struct profile *p, const struct strs *nodes)
{
    if (e->about == ABOUT_pod)
        extension_pre_filter_begin(e, p->pre_filter.count);
    else if (e->about == ABOUT_no_node)
        extension_post_filter_begin(e, p->post_filter.count);
    else
        extension_round_begin(e, nodes);
}

/* ---- whose turn it is ---- */

/* A former answer of the plugin, or the choice that is left, makes the question needless. */
static bool is_needless(const struct extension *e, const struct bus_plugin *plugin)
{
    switch (e->round.stage) {
    case STAGE_filters: return strs_hold(e->skipped_filters, plugin->name);
    case STAGE_scores: return strs_hold(e->round.skipped_scores, plugin->name);
    default: return false;
    }
}

static bool ends_pod(const struct pre_filter_said *said)
{
    return said->rejects || (said->narrow && said->names.count == 0);
}

static bool ends_chain(const struct post_filter_said *said)
{
    return said->failed || said->last || said->node.len > 0;
}

/* Whether anybody further in this stage matters. */
static bool goes_on(const struct extension *e)
{
    const struct extension_round *r = &e->round;
    switch (r->stage) {
    case STAGE_pre_filters: return r->place == 0 || !ends_pod(&e->pre_filter.at[r->place - 1]);
    case STAGE_post_filters: return r->place == 0 || !ends_chain(&e->no_node.at[r->place - 1]);
    case STAGE_pre_scores:
    case STAGE_scores: return e->about == ABOUT_nodes && r->left.count > 1;
    default: return r->left.count > 0;
    }
}

const struct bus_plugin *consultation_plugin(const struct extension *e, const struct profile *p)
{
    return bus_plugin_of(p, name_at(p, e->round.stage, e->round.place));
}

bool consultation_turn(struct extension *e, const struct profile *p, struct consultation_turn *t)
{
    struct extension_round *r = &e->round;
    if (r->stage == STAGE_extenders)
        return false;
    for (; r->place < places_of(p, r->stage) && goes_on(e); r->place++) {
        const struct bus_plugin *plugin = consultation_plugin(e, p);
        if (plugin == NULL || is_needless(e, plugin))
            continue;
        *t = (struct consultation_turn){.plugin = plugin,
                                        .step = stages[r->stage].step,
                                        .nodes = &r->left,
                                        .why_not =
                                            r->stage == STAGE_post_filters ? &e->no_node : NULL};
        return true;
    }
    return false;
}

void consultation_pass(struct extension *e)
{
    e->round.place++;
}

bool consultation_next_stage(struct extension *e)
{
    static const enum extension_stage behind[] = {[STAGE_filters] = STAGE_extenders,
                                                  [STAGE_extenders] = STAGE_pre_scores,
                                                  [STAGE_pre_scores] = STAGE_scores};
    struct extension_round *r = &e->round;
    if (r->stage >= STAGE_scores || r->error.len > 0)
        return false;
    r->stage = behind[r->stage];
    r->place = 0;
    return true;
}

void consultation_narrow_candidates(struct extension *e)
{
    const struct candidates_list all = e->victims.chosen;
    struct candidates_list *kept = &e->victims.chosen;
    uint32_t place;
    *kept = (struct candidates_list){0, arena_take(&e->arena, all.count * sizeof(*all.at))};
    for (uint32_t i = 0; i < all.count; i++)
        if (extension_find(&e->round.left, all.at[i].node, &place))
            kept->at[kept->count++] = all.at[i];
}

void consultation_end(struct extension *e)
{
    if (e->about == ABOUT_pod)
        e->pre_filter.given = true;
    else if (e->about == ABOUT_no_node)
        e->no_node.given = true;
    else if (e->about == ABOUT_victims)
        e->victims.given = true;
    else
        extension_round_end(e);
}

/* ---- answers ---- */

struct str consultation_take(struct extension *e, const struct profile *p,
                             const struct plugin_answer *said)
{
    const struct bus_plugin *plugin = consultation_plugin(e, p);
    if (said->error.len > 0)
        return arena_print(&e->arena, "failed: %.*s", STR_ARG(said->error));
    switch (e->round.stage) {
    case STAGE_pre_filters: return plugin_said_pre_filter(e, plugin, said);
    case STAGE_pre_scores: return plugin_said_pre_score(e, plugin, said);
    case STAGE_post_filters: return plugin_said_post_filter(e, said);
    case STAGE_scores: return plugin_said_score(e, p->score.at[e->round.place].weight, said);
    default: return plugin_said_filter(e, plugin, said);
    }
}

const char *consultation_point(const struct extension *e)
{
    return stages[e->round.stage].point;
}

const char *consultation_status(const struct extension *e, const struct plugin_answer *said)
{
    switch (e->round.stage) {
    case STAGE_pre_filters:
        return e->pre_filter.at[e->round.place].rejects ? "UnschedulableAndUnresolvable"
               : said->skip                             ? "Skip"
                                                        : "Success";
    case STAGE_pre_scores: return said->skip ? "Skip" : "Success";
    case STAGE_post_filters:
        return said->node.len > 0   ? "Success"
               : said->unresolvable ? "UnschedulableAndUnresolvable"
                                    : "Unschedulable";
    default: return "Success";
    }
}
