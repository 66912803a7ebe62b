/* run_groups: a run of pods whom rules count for. Workers tell their best places group by group;
 * which group a pod goes to follows from the counts of the whole cluster, which are kept here while
 * its pods land (group_model.c).
 *
 * What must stay true: the decisions are those of one pod at a time. A node's total is what its
 * worker told plus what the rules add for its group now. Where something is no longer as the
 * workers took it to be (a range, a list's end, a node that got two pods, what others have for
 * hostnames), the run ends, with the last place that was right. Only where the top of a range rises
 * does it go on: all other totals are at most what was told then, so a next place of the list that
 * raised it is sure while it is better than they were. */
#include "scheduler/coordinator/run_inside.h"

#include "proto/base/must.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/like_pod.h"
#include "scheduler/table/wrap.h"

#include <string.h>

#define ROUNDS_MOST  3
#define REFUSED_MOST 256
#define HOSTNAME     "kubernetes.io/hostname"

#define NOBODY UINT32_MAX

/* A group of one worker's nodes. */
struct group_list {
    const struct run_group *said;
    uint32_t worker, next;
    int64_t first;             /* number of its first place among the worker's */
    int64_t left;              /* of its nodes that passed, those that are still in it and pass */
    uint32_t group, then;      /* in the model: now, and of a node that got a pod */
    uint32_t behind;           /* the next list in the same group of the model */
    bool hosts_known;          /* a pod here is nothing new to others, in no slot of theirs */
    struct score_range *reach; /* by column */
    struct model_adds adds;
};

/* A node that got a pod, and is in another group since. */
struct moved {
    struct str node;
    int64_t total;
    uint32_t list, group, behind;
};

/* What all workers together have in a group of the model, kept from pod to pod. */
struct standing {
    uint32_t lists, moved;       /* the first of each */
    uint32_t ended, moved_count; /* lists with nodes left, but no further place; nodes */
    int64_t left, best;          /* of the lists: nodes, and the greatest total of a next place */
    bool any;                    /* there is one */
    int64_t best_moved;
    struct score_range *reach, *moved_reach; /* by column */
};

/* Somebody with the best total: a list's next place, or a node that has moved. */
struct candidate_place {
    uint32_t list;
    const struct moved *moved; /* NULL: the list's next */
    struct str node;
    int64_t ties;
};

struct merging {
    struct coordinator *c;
    struct run *run;
    const struct framework *framework;
    struct group_list *lists;
    uint32_t list_count;
    struct standing *standings; /* by group of the model */
    uint32_t standing_count;
    struct moved *moved;
    uint32_t moved_count;
    struct candidate_place *best; /* room for all that may tie */
    const struct model_group *groups;
    uint32_t columns; /* rules that ranges are told of */
    uint32_t scorer_of[RANGES_MAX];
    struct score_range used[RANGES_MAX];
    uint32_t risen; /* the list that has raised a range, and is told with it; NOBODY: none */
};

/* ---- who may ---- */

static struct refused *refused_of(struct run *run)
{
    return &run->refused[run->hash % REFUSED_ROOM];
}

bool run_groups_may_begin(struct coordinator *c)
{
    struct run *run = c->run;
    const struct pod like = like_pod(&deciding_slot(c, 0)->flight->pod);
    run->hash = pod_print(&like);
    struct refused *r = refused_of(run);
    if (r->hash != run->hash || r->left == 0)
        return true;
    r->left--;
    return false;
}

static void refuse(struct run *run)
{
    struct refused *r = refused_of(run);
    if (r->hash != run->hash)
        *r = (struct refused){.hash = run->hash};
    r->times = r->times == 0 ? 1 : r->times * 2 < REFUSED_MOST ? r->times * 2 : REFUSED_MOST;
    r->left = r->times;
}

static void welcome(struct run *run)
{
    struct refused *r = refused_of(run);
    if (r->hash == run->hash)
        r->times = r->left = 0;
}

/* ---- what others count by hostname ---- */

static int64_t others_in(const struct coordinator *c, uint32_t worker, uint32_t rule, uint32_t slot)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < deciding_workers(c); i++)
        if (i != worker)
            sum = wrap_add(sum, c->run->hosts[i].in_slot[rule][slot]);
    return sum;
}

void run_groups_tell_hosts(struct coordinator *c, uint32_t worker, struct map_request *out)
{
    struct run *run = c->run;
    const struct map_request *r = deciding_request(c, 0);
    const struct framework *fw = frameworks_find(&c->frameworks, r->pod.scheduler_name);
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **rules = arena_take(&c->cycle_memory, room * sizeof(struct plugin *));
    run->rule_count = framework_counting(fw, &r->pod, &r->findings, rules);
    out->counts.count = 0;
    out->counts.at = arena_take(&c->cycle_memory, KEPT_MAX * sizeof(struct plugin_counts));
    for (uint32_t i = 0; i < run->rule_count && i < KEPT_MAX; i++) {
        struct plugin_counts *to = &out->counts.at[out->counts.count++];
        run->rules[i] = rules[i];
        to->plugin = str_of(rules[i]->name);
        to->counts.at = arena_take(&c->cycle_memory, COUNTS_SLOTS * sizeof(struct count));
        to->counts.count = 0;
        for (uint32_t slot = 0; slot < COUNTS_SLOTS; slot++) {
            int64_t others = others_in(c, worker, i, slot);
            run->told[worker].in_slot[i][slot] = others;
            if (others > 0 && rules[i]->folds_hostnames)
                to->counts.at[to->counts.count++] =
                    (struct count){slot, STR_LITERAL(HOSTNAME), {NULL, 0}, others, true};
        }
    }
}

/* Takes over what the answers say. True when every worker was told right of whether others have
 * anything in each slot. */
static bool check_hosts(struct merging *m)
{
    const struct coordinator *c = m->c;
    bool right = true;
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        m->run->hosts[i] = (struct host_counts){{{0}}};
        for (uint32_t r = 0; r < group_model_rules(m->run->model); r++) {
            const struct plugin_counts *list = &m->run->lists[i].said.counts.at[r];
            for (uint32_t e = 0;
                 !group_model_rule_groups(m->run->model, r) && e < list->counts.count; e++)
                m->run->hosts[i].in_slot[r][list->counts.at[e].slot] += list->counts.at[e].count;
        }
    }
    for (uint32_t i = 0; i < deciding_workers(c); i++)
        for (uint32_t r = 0; r < group_model_rules(m->run->model); r++)
            for (uint32_t slot = 0; slot < COUNTS_SLOTS; slot++)
                right &= group_model_rule_groups(m->run->model, r) ||
                         (others_in(c, i, r, slot) > 0) == (m->run->told[i].in_slot[r][slot] > 0);
    return right;
}

/* False when others would hear for the first time of something in a slot, once a pod is on a node
 * of this list. */
static bool hosts_are_known(const struct merging *m, const struct group_list *l)
{
    bool known = true;
    for (uint32_t r = 0; r < l->said->adds.count; r++) {
        const struct plugin_counts *adds = &l->said->adds.at[r];
        if (group_model_rule_groups(m->run->model, r))
            continue;
        for (uint32_t e = 0; e < adds->counts.count; e++)
            for (uint32_t i = 0; i < deciding_workers(m->c); i++)
                known &= i == l->worker || m->run->told[i].in_slot[r][adds->counts.at[e].slot] > 0;
    }
    return known;
}

/* ---- ranges ---- */

/* By column, in a row for each extreme that was told. False: nobody knows such a rule. */
static bool take_reach(struct merging *m, const struct extreme *e, struct score_range *out)
{
    uint32_t k = 0, column = 0;
    while (k < m->framework->score_count && !str_is(e->plugin, m->framework->score[k].plugin->name))
        k++;
    if (k == m->framework->score_count)
        return false;
    while (column < m->columns && m->scorer_of[column] != k)
        column++;
    if (column == m->columns)
        m->scorer_of[m->columns++] = k;
    score_range_join(&out[column], &(struct score_range){true, e->least, e->greatest});
    return true;
}

/* Over all nodes that are feasible now. False when that of a node that has moved is not known. */
static bool find_ranges(const struct merging *m, struct score_range *out)
{
    bool known = true;
    memset(out, 0, m->columns * sizeof(*out));
    for (uint32_t g = 0; g < m->standing_count; g++)
        for (uint32_t k = 0; m->groups[g].passes && k < m->columns; k++)
            score_range_join(&out[k], &m->standings[g].reach[k]);
    for (uint32_t g = 0; g < m->standing_count; g++)
        for (uint32_t k = 0; m->groups[g].passes && k < m->columns; k++)
            known &= score_range_holds(&out[k], &m->standings[g].moved_reach[k]);
    return known;
}

/* Everybody has made totals with just these. */
static bool are_used(const struct merging *m, const struct score_range *wanted)
{
    for (uint32_t k = 0; k < m->columns; k++)
        if (wanted[k].any && !score_range_same(&wanted[k], &m->used[k]))
            return false;
    return true;
}

/* What workers have normalised with. False when that is not the same for all. */
static bool agree(const struct merging *m)
{
    for (uint32_t i = 0; i < deciding_workers(m->c); i++) {
        const struct map_run_result *said = &m->run->lists[i].said;
        for (uint32_t e = 0; said->feasible > 0 && e < said->extremes.count; e++) {
            const struct extreme *x = &said->extremes.at[e];
            uint32_t k = 0;
            while (!str_is(x->plugin, m->framework->score[m->scorer_of[k]].plugin->name))
                k++;
            if (m->used[k].least != x->least || m->used[k].greatest != x->greatest)
                return false;
        }
    }
    return true;
}

/* For the next question. Names become the framework's, which last. */
static void keep_ranges(struct merging *m, const struct score_range *all)
{
    struct ranges *to = &m->run->ranges;
    to->count = 0;
    for (uint32_t k = 0; k < m->columns; k++)
        if (all[k].any)
            to->at[to->count++] =
                score_range_tell(&all[k], m->framework->score[m->scorer_of[k]].plugin);
}

/* ---- where groups stand ---- */

static const struct run_place *head(const struct group_list *l)
{
    return l->next < l->said->places.count ? &l->said->places.at[l->next] : NULL;
}

/* A list of the group has another next place, or fewer nodes. */
static void stand_anew(const struct merging *m, struct standing *s)
{
    s->left = s->ended = 0;
    s->any = false;
    for (uint32_t i = s->lists; i != NOBODY; i = m->lists[i].behind) {
        const struct group_list *l = &m->lists[i];
        const struct run_place *p = head(l);
        s->left += l->left;
        if (l->left == 0)
            continue;
        s->ended += p == NULL;
        if (p != NULL && (!s->any || p->total > s->best))
            s->best = p->total;
        s->any |= p != NULL;
    }
}

static void reach_anew(const struct merging *m, struct standing *s)
{
    memset(s->reach, 0, m->columns * sizeof(*s->reach));
    for (uint32_t i = s->lists; i != NOBODY; i = m->lists[i].behind)
        for (uint32_t k = 0; m->lists[i].left > 0 && k < m->columns; k++)
            score_range_join(&s->reach[k], &m->lists[i].reach[k]);
}

static void add_moved(struct merging *m, uint32_t list, const struct run_place *p)
{
    const struct group_list *l = &m->lists[list];
    struct standing *s = &m->standings[l->then];
    m->moved[m->moved_count] = (struct moved){p->node, p->next_total, list, l->then, s->moved};
    s->moved = m->moved_count++;
    if (s->moved_count++ == 0 || p->next_total > s->best_moved)
        s->best_moved = p->next_total;
    for (uint32_t k = 0; k < m->columns; k++)
        score_range_join(&s->moved_reach[k], &l->reach[k]);
}

/* ---- beginning ---- */

static bool add_list(struct merging *m, uint32_t worker, const struct run_group *said,
                     int64_t *first)
{
    struct group_model *model = m->run->model;
    struct group_list *l = &m->lists[m->list_count++];
    *l =
        (struct group_list){.said = said, .worker = worker, .left = said->passing, .first = *first};
    *first += said->places.count;
    l->group = group_model_group(model, worker, said, said->own.at, said->own.count);
    l->then = said->next_own.count == 0
                  ? l->group
                  : group_model_group(model, worker, said, said->next_own.at, said->next_own.count);
    if (l->group == UINT32_MAX || l->then == UINT32_MAX || !group_model_adds(model, said, &l->adds))
        return false;
    l->hosts_known = hosts_are_known(m, l);
    l->reach = arena_take(&m->run->memory, m->framework->score_count * sizeof(*l->reach));
    for (uint32_t e = 0; e < said->extremes.count; e++)
        if (!take_reach(m, &said->extremes.at[e], l->reach))
            return false;
    uint32_t last = l->group > l->then ? l->group : l->then;
    m->standing_count = last >= m->standing_count ? last + 1 : m->standing_count;
    group_model_at(model, l->group)->members += said->passing;
    return true;
}

/* Once all groups of all workers are known. */
static void stand(struct merging *m)
{
    struct arena *a = &m->run->memory;
    m->standings = arena_take(a, m->standing_count * sizeof(*m->standings));
    m->moved = arena_take(a, deciding_count(m->c) * sizeof(*m->moved));
    m->best = arena_take(a, ((size_t)m->list_count + deciding_count(m->c)) * sizeof(*m->best));
    for (uint32_t g = 0; g < m->standing_count; g++) {
        struct standing *s = &m->standings[g];
        s->lists = s->moved = NOBODY;
        s->reach = arena_take(a, 2 * (size_t)m->columns * sizeof(*s->reach));
        s->moved_reach = s->reach + m->columns;
    }
    for (uint32_t i = m->list_count; i > 0; i--) {
        struct group_list *l = &m->lists[i - 1];
        l->behind = m->standings[l->group].lists;
        m->standings[l->group].lists = i - 1;
    }
    for (uint32_t g = 0; g < m->standing_count; g++) {
        stand_anew(m, &m->standings[g]);
        reach_anew(m, &m->standings[g]);
    }
}

static bool begin(struct merging *m)
{
    const struct map_run_result *said[WORKERS_MAX];
    uint32_t room = 0;
    bool fit = true;
    for (uint32_t i = 0; i < deciding_workers(m->c); i++) {
        said[i] = &m->run->lists[i].said;
        room += said[i]->groups.count;
        fit &= !said[i]->fails;
    }
    if (!fit)
        return false;
    if (m->run->model == NULL)
        m->run->model = group_model_new();
    const struct model_question q = {m->framework, deciding_request(m->c, 0), said,
                                     deciding_workers(m->c)};
    if (!group_model_begin(m->run->model, &q))
        return false;
    m->lists = arena_take(&m->run->memory, room * sizeof(*m->lists));
    for (uint32_t i = 0; i < deciding_workers(m->c) && fit; i++) {
        int64_t first = 0;
        for (uint32_t e = 0; said[i]->feasible > 0 && e < said[i]->extremes.count && fit; e++)
            fit = take_reach(m, &said[i]->extremes.at[e], m->used);
        for (uint32_t g = 0; g < said[i]->groups.count && fit; g++)
            fit = add_list(m, i, &said[i]->groups.at[g], &first);
    }
    if (!fit || !group_model_start(m->run->model))
        return false;
    stand(m);
    return true;
}

/* ---- the next pod's place ---- */

/* False when a list that matters is at its end. */
static bool all_have_heads(const struct merging *m)
{
    for (uint32_t g = 0; g < m->standing_count; g++)
        if (m->standings[g].ended > 0 && m->groups[g].passes)
            return false;
    return true;
}

/* The greatest total; false when nobody is feasible. */
static bool find_best(const struct merging *m, int64_t *best)
{
    bool any = false;
    for (uint32_t g = 0; g < m->standing_count; g++) {
        const struct standing *s = &m->standings[g];
        if (!m->groups[g].passes || (!s->any && s->moved_count == 0))
            continue;
        int64_t of_group =
            s->any && (s->moved_count == 0 || s->best > s->best_moved) ? s->best : s->best_moved;
        of_group = wrap_add(of_group, m->groups[g].plus);
        if (!any || of_group > *best)
            *best = of_group;
        any = true;
    }
    return any;
}

static void list_group(const struct merging *m, uint32_t group, int64_t best, uint32_t *count)
{
    const struct standing *s = &m->standings[group];
    const int64_t plus = m->groups[group].plus;
    for (uint32_t i = s->lists; i != NOBODY; i = m->lists[i].behind) {
        const struct run_place *p = head(&m->lists[i]);
        if (m->lists[i].left > 0 && p != NULL && wrap_add(p->total, plus) == best)
            m->best[(*count)++] = (struct candidate_place){i, NULL, p->node, p->ties};
    }
    if (s->moved_count == 0 || wrap_add(s->best_moved, plus) != best)
        return;
    for (uint32_t i = s->moved; i != NOBODY; i = m->moved[i].behind)
        if (m->moved[i].total == s->best_moved)
            m->best[(*count)++] =
                (struct candidate_place){m->moved[i].list, &m->moved[i], m->moved[i].node, 1};
}

/* Those with the best total; how many. */
static uint32_t list_best(const struct merging *m, int64_t best)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < m->standing_count; g++)
        if (m->groups[g].passes)
            list_group(m, g, best, &count);
    return count;
}

/* The first by name, or by dice, each as likely as it stands for nodes. */
static uint32_t pick(struct merging *m, uint32_t count)
{
    const struct candidate_place *all = m->best;
    uint32_t picked = 0;
    int64_t ties = 0;
    if (m->c->options.tie_break == TIE_BREAK_first) {
        for (uint32_t i = 1; i < count; i++)
            if (str_compare(all[i].node, all[picked].node) < 0)
                picked = i;
        return picked;
    }
    for (uint32_t i = 0; i < count; i++)
        ties += all[i].ties;
    int64_t left = (int64_t)random_below(&m->c->random, (uint64_t)ties);
    while (left >= all[picked].ties)
        left -= all[picked++].ties;
    return picked;
}

static int64_t feasible_now(const struct merging *m)
{
    int64_t feasible = 0;
    for (uint32_t g = 0; g < m->standing_count; g++)
        if (m->groups[g].passes)
            feasible += m->standings[g].left + m->standings[g].moved_count;
    return feasible;
}

/* The list's places from here on are told with these ranges. False: that makes no sense. */
static bool rise(struct merging *m, uint32_t list, const struct run_place *p)
{
    struct group_list *l = &m->lists[list];
    for (uint32_t e = 0; e < p->raised.count; e++) {
        const struct extreme *x = &p->raised.at[e];
        uint32_t k = 0;
        while (k < m->columns &&
               !str_is(x->plugin, m->framework->score[m->scorer_of[k]].plugin->name))
            k++;
        if (k == m->columns || !m->framework->score[m->scorer_of[k]].plugin->falls_with_greatest ||
            l->then != l->group)
            return false;
        score_range_join(&l->reach[k], &(struct score_range){true, x->least, x->greatest});
        if (x->greatest <= m->used[k].greatest)
            continue;
        m->used[k].greatest = x->greatest;
        m->risen = list;
    }
    return true;
}

/* A pod is on the list's next place. False: what follows is not known. */
static bool land(struct merging *m, uint32_t list)
{
    struct group_list *l = &m->lists[list];
    const struct run_place *p = head(l);
    struct group_model *model = m->run->model;
    struct standing *s = &m->standings[l->group];
    l->next++;
    if (p->not_put || !rise(m, list, p))
        return false;
    if (p->raised.count > 0)
        reach_anew(m, s);
    if (l->then != l->group || !p->fits) {
        l->left--;
        group_model_at(model, l->group)->members--;
        if (l->left == 0)
            reach_anew(m, s);
    }
    stand_anew(m, s);
    if (l->then != l->group && p->fits) {
        add_moved(m, list, p);
        group_model_at(model, l->then)->members++;
    }
    return group_model_land(model, &l->adds) && l->hosts_known;
}

/* Others than the list that has raised a range may have less than what was told of them. */
static bool is_sure(const struct merging *m, int64_t best)
{
    return m->risen == NOBODY ||
           (list_best(m, best) == 1 && m->best[0].moved == NULL && m->best[0].list == m->risen);
}

/* The slot's pod goes to the best place. False: it is the last one that can be told. */
static bool choose(struct merging *m, int64_t best, struct chosen *out)
{
    const struct candidate_place *it = &m->best[pick(m, list_best(m, best))];
    const struct group_list *l = &m->lists[it->list];
    *out = (struct chosen){.node = it->node,
                           .total = best,
                           .from = l->worker,
                           .place = it->moved != NULL ? -1 : l->first + l->next,
                           .put = it->moved == NULL && !head(l)->not_put,
                           .feasible = feasible_now(m)};
    return it->moved == NULL && land(m, it->list);
}

/* ---- the merge ---- */

static enum groups_verdict merge(struct merging *m, uint32_t *good)
{
    struct coordinator *c = m->c;
    bool more = true;
    for (*good = 0; more && *good < deciding_count(c); ++*good) {
        struct score_range wanted[RANGES_MAX];
        int64_t best = 0;
        m->groups = group_model_weigh(m->run->model);
        bool known = find_ranges(m, wanted);
        if (!known || !are_used(m, wanted)) {
            if (*good > 0)
                break;
            keep_ranges(m, wanted);
            return known ? GROUPS_again : GROUPS_alone;
        }
        if (!all_have_heads(m) || !find_best(m, &best) || !is_sure(m, best))
            break;
        COUNT(c, run_risen_pods, m->risen != NOBODY);
        more = choose(m, best, &m->run->chosen[*good]);
        if (!deciding_stands(c, deciding_slot(c, *good)->flight, m->run->chosen[*good].node))
            break;
    }
    keep_ranges(m, m->used);
    return *good > 0 ? GROUPS_done : GROUPS_alone;
}

enum groups_verdict run_groups_merge(struct coordinator *c, uint32_t *good)
{
    struct merging m = {.c = c,
                        .run = c->run,
                        .risen = NOBODY,
                        .framework = frameworks_find(
                            &c->frameworks, deciding_slot(c, 0)->flight->pod.scheduler_name)};
    enum groups_verdict verdict = GROUPS_alone;
    *good = 0;
    if (begin(&m)) {
        bool hosts = check_hosts(&m), used = agree(&m);
        if (hosts && used) {
            verdict = merge(&m, good);
        } else {
            struct score_range wanted[RANGES_MAX];
            m.groups = group_model_weigh(m.run->model);
            (void)find_ranges(&m, wanted);
            keep_ranges(&m, wanted);
            verdict = GROUPS_again;
        }
    }
    if (verdict == GROUPS_again && c->run->round >= ROUNDS_MOST)
        verdict = GROUPS_alone;
    if (verdict == GROUPS_alone)
        refuse(c->run);
    else if (*good > 1)
        welcome(c->run);
    return verdict;
}

/* ---- a worker is a peer: it may say anything ---- */

static bool places_make_sense(const struct run_group *g)
{
    for (uint32_t i = 0; i < g->places.count; i++) {
        const struct run_place *p = &g->places.at[i];
        if (p->ties <= 0 || p->ties > INT32_MAX || p->node.len == 0 ||
            (p->not_put && i + 1 < g->places.count))
            return false;
    }
    return g->passing > 0 && g->passing <= INT32_MAX && g->places.count <= g->passing + RUN_MAX;
}

static bool deciding_make_sense(const struct plugin_counts *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = 0; e < at[i].counts.count; e++)
            if (at[i].counts.at[e].slot < 0 || at[i].counts.at[e].slot > INT32_MAX)
                return false;
    return true;
}

/* Those of rules that do not group are numbers of entries under the hostname. */
static bool hosts_make_sense(const struct map_run_result *said)
{
    for (uint32_t i = 0; i < said->rules.count && i < said->counts.count; i++)
        for (uint32_t e = 0; !said->rules.at[i].groups && e < said->counts.at[i].counts.count;
             e++) {
            const struct count *entry = &said->counts.at[i].counts.at[e];
            if (entry->slot >= COUNTS_SLOTS || entry->count < 0 || entry->count > INT32_MAX ||
                !entry->whole || !str_is(entry->key, HOSTNAME))
                return false;
        }
    return true;
}

static bool adds_make_sense(const struct map_run_result *said, const struct run_group *g)
{
    bool all = deciding_make_sense(g->adds.at, g->adds.count);
    for (uint32_t i = 0; all && i < g->adds.count && i < said->rules.count; i++)
        for (uint32_t e = 0; !said->rules.at[i].groups && e < g->adds.at[i].counts.count; e++)
            all &= g->adds.at[i].counts.at[e].slot < COUNTS_SLOTS;
    return all;
}

bool run_groups_make_sense(const struct map_run_result *said)
{
    bool all = said->rules.count <= KEPT_MAX && said->counts.count == said->rules.count &&
               (said->groups.count > 0) == (said->feasible > 0) &&
               deciding_make_sense(said->counts.at, said->counts.count) && hosts_make_sense(said);
    for (uint32_t i = 0; i < said->groups.count && all; i++)
        all = places_make_sense(&said->groups.at[i]) && adds_make_sense(said, &said->groups.at[i]);
    for (uint32_t i = 0; i < said->groups.count && all; i++)
        for (uint32_t k = 0; k < said->groups.at[i].own.count && all; k++)
            all = said->groups.at[i].own.at[k].slot >= 0 &&
                  said->groups.at[i].own.at[k].slot <= INT32_MAX;
    return all;
}
