/* classes: which pods share what is known of rows, and for how long.
 *
 * A class's key is the pod as its rules see it: the prepared pod without what tells it from its
 * like, and the findings. What must stay true: a class that is asked is in step with the share, or
 * is brought in step first, or is forgotten; and it holds nothing of the request it was made from.
 */
#include "scheduler/worker/classes.h"

#include "proto/base/memory.h"
#include "scheduler/table/like_pod.h"
#include "scheduler/worker/classes_inside.h"

#include <string.h>

#define CLASSES_MAX 512
/* What all of them may hold: so much for each row, which is enough for some fifty sorts of pods
 * that rules count others for, and never less than this. */
#define BYTES_A_ROW ((size_t)8 << 10)
#define BYTES_LEAST ((size_t)128 << 20)

/* Looking at all rows costs as much as looking again at these, and one in so many more. */
#define ROWS_AGAIN   16
#define ROWS_FOR_ONE 400

struct classes *classes_new(struct atoms *atoms)
{
    struct classes *c = memory_take(sizeof(*c));
    c->atoms = atoms;
    c->by_key = map_new();
    return c;
}

/* ---- a class's life ---- */

static void free_rule(struct kept_rule *rule, struct atoms *atoms)
{
    class_drop_foreign(rule, atoms);
    ledger_free(&rule->counts);
    ledger_free(&rule->survey);
    entries_free(&rule->changed);
    memory_free(rule->kind);
    memory_free(rule->own);
}

/* What is kept by row; the key and its memory stay. */
static void forget_rows(struct pod_class *k, struct atoms *atoms)
{
    for (uint32_t i = 0; i < k->kept_count; i++)
        free_rule(&k->kept[i], atoms);
    for (uint32_t i = 1; i < k->outcome_count; i++)
        memory_free(k->outcomes[i].reasons);
    for (uint32_t i = 0; i < SCORERS_MAX; i++) {
        memory_free(k->raw[i]);
        k->raw[i] = NULL;
    }
    for (uint32_t i = 0; i < k->column_count; i++)
        memory_free(k->columns[i].values);
    memory_free(k->columns);
    memory_free(k->with);
    memory_free(k->outcomes);
    memory_free(k->outcome);
    memory_free(k->total);
    memory_free(k->group);
    memory_free(k->place);
    groups_free(k);
    k->columns = NULL;
    k->with = NULL;
    k->outcomes = NULL;
    k->outcome = NULL;
    k->total = NULL;
    k->group = NULL;
    k->place = NULL;
    k->kept_count = k->outcome_count = k->outcome_room = k->column_count = k->rows = 0;
    k->totals_hold = false;
}

static void unlink_class(struct classes *c, struct pod_class *k)
{
    *(k->prev == NULL ? &c->first : &k->prev->next) = k->next;
    *(k->next == NULL ? &c->last : &k->next->prev) = k->prev;
}

static void put_first(struct classes *c, struct pod_class *k)
{
    k->prev = NULL;
    k->next = c->first;
    *(c->first == NULL ? &c->last : &c->first->prev) = k;
    c->first = k;
    k->uncounted = true;
}

static void free_class(struct classes *c, struct pod_class *k)
{
    if (c->kept == k)
        c->kept = NULL;
    if (c->run == k)
        c->run = NULL;
    unlink_class(c, k);
    map_remove(c->by_key, k->key);
    c->counted -= k->counted;
    forget_rows(k, c->atoms);
    arena_free(&k->states);
    arena_free(&k->filling);
    arena_free(&k->memory);
    str_drop(&k->key);
    memory_free(k);
    c->status.count--;
}

void classes_clear(struct classes *c)
{
    while (c->first != NULL)
        free_class(c, c->first);
    memset(c->asked_once, 0, sizeof(c->asked_once));
}

void classes_free(struct classes **classes)
{
    struct classes *c = *classes;
    if (c == NULL)
        return;
    classes_clear(c);
    map_free(&c->by_key);
    buffer_free(&c->key);
    memory_free(c->scratch.marks);
    memory_free(c->scratch.touched);
    memory_free(c->scratch.moved);
    memory_free(c->scratch.ruling.reasons);
    entries_free(&c->scratch.entries);
    memory_free(c);
    *classes = NULL;
}

static size_t bytes_of(const struct pod_class *k)
{
    size_t bytes =
        sizeof(*k) + arena_held(&k->memory) + arena_held(&k->filling) + arena_held(&k->states);
    bytes += (size_t)k->rows * (sizeof(*k->outcome) + sizeof(*k->total) + 3 * sizeof(uint32_t));
    bytes += (size_t)k->rows * (k->column_count + (k->with != NULL)) * sizeof(uint32_t);
    for (uint32_t i = 0; i < SCORERS_MAX; i++)
        bytes += k->raw[i] == NULL ? 0 : (size_t)k->rows * sizeof(int64_t);
    for (uint32_t i = 0; i < k->kept_count; i++)
        bytes += ledger_bytes(k->kept[i].counts) + ledger_bytes(k->kept[i].survey) +
                 sizeof(k->kept[i]) + (size_t)k->rows * (sizeof(uint32_t) + sizeof(int64_t));
    return bytes;
}

struct classes_status classes_status(const struct classes *c)
{
    struct classes_status status = c->status;
    status.bytes = 0;
    for (const struct pod_class *k = c->first; k != NULL; k = k->next)
        status.bytes += bytes_of(k);
    return status;
}

/* Who has been used is in front of who has not, and only who is used grows: a look at all classes
 * for each new one would cost more than the new one. */
size_t classes_held(struct classes *c)
{
    for (struct pod_class *k = c->first; k != NULL && k->uncounted; k = k->next) {
        size_t bytes = bytes_of(k);
        c->counted += bytes - k->counted;
        k->counted = bytes;
        k->uncounted = false;
    }
    return c->counted;
}

/* True when these and as many more are too many. */
static bool is_full(const struct shard *s, uint32_t more)
{
    struct classes *c = s->classes;
    size_t room = s->share.nodes.count * BYTES_A_ROW, held = classes_held(c);
    if (c->status.count > 0)
        held += more * (held / c->status.count);
    return c->status.count + more > CLASSES_MAX || held > (room > BYTES_LEAST ? room : BYTES_LEAST);
}

/* Those that were not asked for longest go; never the first, which has just been asked for. */
static void make_room(const struct shard *s)
{
    struct classes *c = s->classes;
    while (c->last != c->first && is_full(s, 0))
        free_class(c, c->last);
}

/* Where more classes take turns than there is room for, making each anew every time would cost more
 * than to do without: one that has been of use lately makes no room, and the last one that would
 * have to is not made. */
static bool is_worth_while(const struct shard *s)
{
    const struct classes *c = s->classes;
    return c->last == NULL || c->last->asked_at + 4 * (uint64_t)c->status.count < c->questions ||
           !is_full(s, 1);
}

/* ---- keys ---- */

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 31;
}

/* What the share knows of the pod's images, and of how many nodes: pods that differ in nothing else
 * score the same while this stays. */
static uint64_t image_print(const struct shard *s, const struct pod *pod)
{
    uint64_t h = mix(0, pod->images.count == 0 ? 0 : (uint64_t)s->share.cluster_nodes);
    for (uint32_t i = 0; i < pod->images.count; i++) {
        const struct image_state *image = map_get(s->share.images, pod->images.at[i]);
        bool there = image != NULL && image->refs > 0;
        h = mix(h, there);
        h = mix(h, there ? (uint64_t)image->size : 0);
        h = mix(h, there ? (uint64_t)image->count : 0);
    }
    return h;
}

static uint32_t counting(const struct framework *fw, const struct map_request *r, struct arena *a,
                         const struct plugin ***out)
{
    *out = arena_take(a, (fw->filter_count + fw->score_count) * sizeof(struct plugin *));
    return framework_counting(fw, &r->pod, &r->findings, *out);
}

static bool counts_pods(const struct framework *fw, const struct map_request *r)
{
    struct arena a = {.first = 1024};
    const struct plugin **rules;
    bool any = counting(fw, r, &a, &rules) > 0;
    arena_free(&a);
    return any;
}

/* ---- making one ---- */

static void prepare_rules(struct pod_class *k, const struct plugin **rules, uint32_t count)
{
    const struct map_request like = {.own_hostnames = k->own_hostnames};
    k->kept_count = count;
    k->kept = arena_take(&k->filling, count * sizeof(*k->kept));
    k->cycle.knowledge_count = count;
    k->cycle.knowledge = arena_take(&k->filling, count * sizeof(*k->cycle.knowledge));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parts = k->rows < GROUPS_MAX ? GROUPS_MAX : k->rows; /* one a row, or a group */
        k->kept[i] = (struct kept_rule){.plugin = rules[i],
                                        .counts = ledger_new(k->rows),
                                        .survey = ledger_new(parts),
                                        .no_groups = k->by_row_only};
        if (!k->alone)
            ledger_tell(k->kept[i].counts, plugin_folded_key(rules[i], k->cycle.atoms, &like));
        k->cycle.knowledge[i] = (struct plugin_knowledge){rules[i], ledger_sums(k->kept[i].counts),
                                                          ledger_sums(k->kept[i].survey)};
    }
}

static bool all_keep(const struct plugin **rules, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (rules[i]->keep == NULL)
            return false;
    return true;
}

static bool are_in_columns(const struct pod_class *k)
{
    const struct framework *fw = k->framework;
    bool all = k->kept_count == 0;
    for (uint32_t i = 0; i < fw->filter_count; i++)
        all &= fw->filter[i]->filter == NULL || fw->filter[i]->filter_rows != NULL ||
               (k->filter_skip >> i & 1) != 0;
    for (uint32_t i = 0; i < fw->score_count; i++)
        all &= fw->score[i].plugin->score_rows != NULL || (k->score_skip >> i & 1) != 0;
    return all;
}

/* Everything by row from scratch. */
static void fill(struct shard *s, struct pod_class *k)
{
    const struct map_request like = {.pod = k->pod, .findings = k->findings};
    const struct plugin **rules;
    forget_rows(k, s->share.atoms);
    if (s->classes->run == k)
        s->classes->run = NULL;
    arena_reset(&k->states);
    arena_reset(&k->filling);
    uint32_t count = counting(k->framework, &like, &k->filling, &rules);
    k->rows = s->share.nodes.count;
    k->layout = s->share.touched.layout;
    k->facts = s->share.touched.facts;
    k->images = s->share.touched.images;
    k->image_print = image_print(s, &k->pod);
    if (count <= KEPT_MAX && all_keep(rules, count)) {
        prepare_rules(k, rules, count);
        k->unfit = !class_begin(s, k) || !class_fill(s, k);
    } else {
        k->unfit = true;
    }
    k->in_columns = !k->unfit && are_in_columns(k);
    if (k->unfit)
        forget_rows(k, s->share.atoms);
}

static struct pod_class *make(struct shard *s, const struct framework *fw,
                              const struct map_request *r, const struct pod *pod)
{
    struct classes *c = s->classes;
    struct pod_class *k = memory_take(sizeof(*k));
    k->key = str_keep(buffer_str(&c->key));
    codec_copy(&pod_record, &k->pod, pod, &k->memory);
    codec_copy(&findings_record, &k->findings, &r->findings, &k->memory);
    k->framework = fw;
    k->alone = r->alone || !counts_pods(fw, r);
    k->own_hostnames = r->own_hostnames;
    k->cycle = (struct cycle){.framework = fw,
                              .pod = &k->pod,
                              .findings = &k->findings,
                              .atoms = s->share.atoms,
                              .nodes = &s->share.nodes,
                              .groups = &s->share.groups,
                              .terms = &s->share.terms,
                              .images = s->share.images,
                              .any_ip = s->share.any_ip,
                              .arena = &k->states,
                              .timing = s->timing};
    k->asked_seen = s->share.touched.count;
    map_set(c->by_key, k->key, k);
    put_first(c, k);
    c->status.count++;
    fill(s, k);
    make_room(s);
    return k;
}

/* ---- asking ---- */

static bool is_plain(const struct map_request *r, const struct framework *fw)
{
    return !r->detail && !r->list && r->only.count == 0 && !r->nominated_too &&
           r->pod.nominated_node.len == 0 && r->pod.volumes.count == 0 && !r->pod.resize_deferred &&
           r->findings.device_verdicts.count == 0 && r->findings.device_stocks.count == 0 &&
           r->findings.device_users.count == 0 && !fw->profile.check_all &&
           fw->score_count <= SCORERS_MAX;
}

/* True when the same was asked for before, as far as is remembered; it is from now on. A pod that
 * several workers decide with others may be asked about twice before it has its node, which makes
 * no kind of it. */
static bool was_asked(const struct shard *s, uint64_t hash, uint64_t pod)
{
    struct classes *c = s->classes;
    struct asked_once *set =
        c->asked_once[hash % (sizeof(c->asked_once) / sizeof(c->asked_once[0]))];
    const uint32_t ways = sizeof(c->asked_once[0]) / sizeof(c->asked_once[0][0]);
    uint32_t at = 0;
    while (at < ways - 1 && set[at].hash != hash)
        at++;
    bool apart = s->apart != NULL;
    bool found = set[at].hash == hash && (set[at].pod != pod || (!set[at].apart && !apart));
    memmove(set + 1, set, at * sizeof(*set));
    set[0] = (struct asked_once){hash, pod, apart};
    return found;
}

/* The class of these pods, or NULL: not seen before, or not to be kept. Of a cycle with the step
 * count only that one makes classes. */
static struct pod_class *find(struct shard *s, const struct framework *fw,
                              const struct map_request *r, struct arena *a)
{
    struct classes *c = s->classes;
    const struct plugin **rules;
    uint32_t count = counting(fw, r, a, &rules);
    const uint8_t ways[] = {r->alone || count == 0, r->own_hostnames && !r->alone && count > 0};
    const struct pod pod = like_pod_to_rules(&r->pod, count > 0);
    buffer_reset(&c->key);
    codec_encode(&pod_record, &pod, &c->key);
    codec_encode(&findings_record, &r->findings, &c->key);
    buffer_add(&c->key, ways, sizeof(ways));
    struct pod_class *k = map_get(c->by_key, buffer_str(&c->key));
    if (k != NULL || (!ways[0] && r->step == MAP_STEP_map))
        return k;
    if (was_asked(s, str_hash(buffer_str(&c->key)), str_hash(r->pod.uid)) && is_worth_while(s))
        return make(s, fw, r, &pod);
    return NULL;
}

/* False when the class must be begun anew. */
static bool is_in_step(const struct shard *s, struct pod_class *k)
{
    if (k->images != s->share.touched.images) {
        k->images = s->share.touched.images;
        k->atoms_made = UINT64_MAX; /* the states may point at images that have gone */
        k->stale |= k->image_print != image_print(s, &k->pod);
    }
    return !k->stale && k->layout == s->share.touched.layout &&
           touched_reaches(&s->share.touched, k->seen) &&
           (k->kept_count == 0 || k->facts == s->share.touched.facts);
}

/* Only when nothing is feasible anywhere do reasons matter, and then every share tells its own. */
static void tell_rejections(const struct pod_class *k, struct map_result *out, struct arena *a)
{
    const struct framework *fw = k->framework;
    uint32_t room = 0;
    uint64_t rejecting = 0;
    for (uint32_t i = 1; i < k->outcome_count; i++)
        room += k->outcomes[i].count;
    out->reasons.at = arena_take(a, room * sizeof(struct tally));
    for (uint32_t i = 1; i < k->outcome_count; i++) {
        const struct row_outcome *o = &k->outcomes[i];
        if (o->rows == 0)
            continue;
        rejecting |= o->plugins;
        out->unresolvable += o->code == CODE_unresolvable ? o->rows : 0;
        for (uint32_t r = 0; r < o->count; r++)
            out->reasons.at[out->reasons.count++] = (struct tally){
                arena_print(a, "%s%.*s", o->reasons[r].text, STR_ARG(o->reasons[r].what)), o->rows};
    }
    out->plugins.at = arena_take(a, fw->filter_count * sizeof(struct str));
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (rejecting >> i & 1)
            out->plugins.at[out->plugins.count++] = str_of(fw->filter[i]->name);
}

static void tell_skips(const struct pod_class *k, struct map_result *out)
{
    const struct framework *fw = k->framework;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (!class_scores(k, i))
            out->score_skipped |= (int64_t)(UINT64_C(1) << fw->score[i].place);
    for (uint32_t i = 0; i < fw->filter_count; i++)
        for (uint32_t r = 0; r < fw->pre_filter_count; r++)
            if (class_skips(k, i) && fw->pre_filter[r] == fw->filter[i])
                out->skipped |= (int64_t)(UINT64_C(1) << fw->pre_filter_place[r]);
}

static void tell(struct pod_class *k, const struct map_request *r, struct apart *apart,
                 struct map_result *out, struct arena *a)
{
    out->feasible = k->feasible;
    out->evaluated = k->rows;
    out->extremes.at = arena_take(a, k->framework->score_count * sizeof(struct extreme));
    tell_skips(k, out);
    if (!k->alone && r->surveys.count == 0)
        class_tell_surveys(k, out, a);
    if (k->feasible == 0)
        tell_rejections(k, out, a);
    class_tell_best(k, r, apart, out);
}

/* False when the class is of no use, or of none any more. */
static bool bring_in_step(struct shard *s, struct pod_class *k, const struct map_request *r)
{
    bool merged = r->step != MAP_STEP_count;
    k->cycle.timing = s->timing;
    if (k->unfit)
        return false;
    for (int tries = 0; tries < 2; tries++) {
        if (!is_in_step(s, k))
            fill(s, k);
        if (k->unfit || k->stale)
            return false;
        if (merged)
            class_take_counts(k, s->share.atoms, r);
        if (!class_catch_up(s, k)) {
            free_class(s->classes, k);
            return false;
        }
        if (!k->stale)
            return true;
    }
    return false;
}

/* What no class can tell: which rule comes first where several reject a row, some by groups; and
 * how rows are to be scored one by one by a survey in which others have a part, or only the rows of
 * some groups. */
static bool cannot_tell(const struct pod_class *k)
{
    bool surveys_rows = false, groups_filter = false;
    for (uint32_t i = 0; i < k->kept_count; i++) {
        const struct kept_rule *rule = &k->kept[i];
        groups_filter |= rule->groups && rule->filters && !rule->filter_skips;
        surveys_rows |= !rule->groups && rule->plugin->survey != NULL && rule->scorer < SCORERS_MAX;
    }
    return (k->feasible == 0 && groups_filter) || (surveys_rows && (groups_filter || !k->alone));
}

static bool answer(struct shard *s, struct pod_class *k, const struct map_request *r,
                   struct map_result *out, struct arena *a)
{
    if (r->step == MAP_STEP_count) {
        class_tell_counts(k, out, a);
        return true;
    }
    class_weigh(k, &s->classes->scratch, r, a);
    if (cannot_tell(k))
        return false;
    tell(k, r, s->apart, out, a);
    s->classes->kept = k;
    s->classes->kept_cycle = r->cycle;
    return true;
}

/* True when no column has to be made to score the pod's images. */
static bool images_are_known(const struct shard *s, const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->images.count; i++) {
        const struct image_state *image = map_get(s->share.images, pod->images.at[i]);
        if (image != NULL && image->refs > 0 && !facts_have_image(&s->share.nodes, image))
            return false;
    }
    return true;
}

/* True when so many rows have changed since the class was last asked that looking at all of them,
 * whole columns at a time, costs less than bringing it in step. Then it is left behind: it would be
 * as far behind the next time, or it is asked twice in a row, and then it is worth it. */
static bool is_far_behind(const struct shard *s, struct pod_class *k, const struct map_request *r)
{
    uint64_t changed = s->share.touched.count - k->asked_seen;
    k->asked_seen = s->share.touched.count;
    return k->in_columns && !nominated_count_for(&s->share, r) &&
           changed > ROWS_AGAIN + s->share.nodes.count / ROWS_FOR_ONE &&
           images_are_known(s, &k->pod);
}

/* The class that the same cycle was answered from before. */
static struct pod_class *kept(const struct classes *c, const struct map_request *r)
{
    bool again = r->step == MAP_STEP_again && c->kept != NULL && c->kept_cycle == r->cycle;
    return again ? c->first : NULL;
}

/* The same, while pods are nominated to nodes of ours. */
static bool answer_with(struct shard *s, struct pod_class *k, const struct evaluation *e)
{
    struct withheld withheld = {0};
    bool fit = class_withhold(s, k, e, &withheld);
    bool answered = fit && answer(s, k, e->request, e->result, e->arena);
    class_give_back(k, &withheld);
    return answered;
}

static bool answer_from(struct shard *s, struct pod_class *k, struct evaluation *e)
{
    if (e->request->step == MAP_STEP_count || !nominated_count_for(&s->share, e->request))
        return bring_in_step(s, k, e->request) && answer(s, k, e->request, e->result, e->arena);
    if (k->kept_count > 0)
        return false; /* what counting rules say changes with each pod that is tried on a node */
    arena_reset(&s->scratch.arena);
    scratch_reserve(&s->scratch, s->share.nodes.count);
    nominated_enter(e);
    bool answered = bring_in_step(s, k, e->request) && answer_with(s, k, e);
    nominated_leave(e);
    return answered;
}

bool classes_answer(struct shard *s, const struct map_request *request, struct map_result *result,
                    struct arena *a)
{
    struct classes *c = s->classes;
    const struct framework *fw = frameworks_find(&s->frameworks, request->pod.scheduler_name);
    bool asks = request->step == MAP_STEP_map || request->step == MAP_STEP_count;
    if (fw == NULL || !is_plain(request, fw) || (!asks && kept(c, request) == NULL))
        return false;
    struct pod_class *k = asks ? find(s, fw, request, a) : kept(c, request);
    struct evaluation e = {.shard = s, .request = request, .result = result, .arena = a};
    c->kept = NULL;
    c->run = NULL;
    c->questions++;
    if (k == NULL)
        return false;
    e.cycle.arena = &s->scratch.arena;
    k->asked_at = c->questions;
    unlink_class(c, k);
    put_first(c, k);
    if (asks && is_far_behind(s, k, request))
        return false;
    if (!answer_from(s, k, &e))
        return false;
    s->scratch.kept = false;
    c->status.answers++;
    return true;
}

/* ---- runs ---- */

static void list_from(struct shard *s, struct pod_class *k, const struct run_question *q)
{
    struct classes *c = s->classes;
    k->asked_at = ++c->questions;
    unlink_class(c, k);
    put_first(c, k);
    c->kept = NULL;
    s->scratch.kept = false;
    if (!bring_in_step(s, k, &q->run->request))
        return;
    struct map_result skips = {0};
    tell_skips(k, &skips);
    q->out->skipped = skips.skipped;
    q->out->score_skipped = skips.score_skipped;
    q->out->fails = !class_list(s, k, q);
    c->run = q->out->fails ? NULL : k;
    c->status.answers++;
}

void classes_list(struct shard *s, const struct run_question *q)
{
    const struct map_request *r = &q->run->request;
    const struct framework *fw = frameworks_find(&s->frameworks, r->pod.scheduler_name);
    q->out->fails = true;
    if (s->timing != NULL)
        timings_profile(s->timing, fw);
    if (fw == NULL || !is_plain(r, fw) || nominated_count_for(&s->share, r))
        return;
    struct pod_class *k = find(s, fw, r, q->arena);
    if (k != NULL)
        list_from(s, k, q);
}

void classes_learn(struct classes *c, const struct run_puts *puts, const bool *taken,
                   int64_t placed)
{
    uint32_t i = 0;
    while (c->run != NULL && placed > 0 && placed <= RUN_MAX && i < puts->count) {
        uint32_t group = puts->at[i].group, count = 0;
        for (; i < puts->count && puts->at[i].group == group; i++)
            count += taken[i];
        class_learn(c->run, group, count, (uint32_t)placed);
    }
}
