/* repeats: a few questions with their answers, each of one state of the share. The one idea: what
 * came of nothing depends on nobody's name, seed or time, so it is the same for the next pod of the
 * kind.
 *
 * What must stay true: an answer is used only while the share is what it was (shard.changes counts
 * all that it is told), and only where nominated pods count neither then nor now, as they count for
 * all pods but themselves. */
#include "scheduler/worker/repeats.h"

#include "proto/base/memory.h"
#include "scheduler/table/like_pod.h"
#include "scheduler/table/packed.h"
#include "scheduler/worker/shard_inside.h"

#include <string.h>

#define KEPT_MAX      8
#define TERMS_MAX     32 /* distinct sets of terms on nodes that are looked through for a label */
#define SIZE_MAX_KEPT ((uint32_t)64 << 10) /* bytes of a question, or of an answer */

struct repeat {
    uint64_t changes; /* of the share, when it was answered; UINT64_MAX: nothing is kept */
    uint64_t asked_at;
    struct buffer key;
    struct packed answer;
};

struct repeats {
    uint64_t questions;
    struct buffer key; /* being made */
    struct repeat kept[KEPT_MAX];
};

void repeats_clear(struct repeats *r)
{
    for (uint32_t i = 0; r != NULL && i < KEPT_MAX; i++)
        r->kept[i].changes = UINT64_MAX;
}

void repeats_free(struct repeats **repeats)
{
    struct repeats *r = *repeats;
    if (r == NULL)
        return;
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        buffer_free(&r->kept[i].key);
        packed_free(&r->kept[i].answer);
    }
    buffer_free(&r->key);
    memory_free(r);
    *repeats = NULL;
}

/* Rules that have not said what they look at may look at names; who is skipped looks at nothing. */
static bool promise(const struct framework *fw, const struct findings *findings)
{
    bool all = fw != NULL;
    for (uint32_t i = 0; all && i < fw->filter_count; i++)
        all = fw->filter[i]->by_row || fw->filter[i]->keep != NULL ||
              ((uint64_t)findings->skip >> fw->filter_place[i] & 1) != 0;
    return all;
}

/* Volumes are looked up outside of the share, a pod may itself be one of a claim's users, and a pod
 * that is on a node is like no other. */
static bool is_plain(const struct shard *s, const struct map_request *r)
{
    bool asks = r->step == MAP_STEP_map || r->step == MAP_STEP_victims;
    return asks && !r->detail && r->only.count == 0 && !r->nominated_too &&
           r->pod.nominated_node.len == 0 && r->pod.volumes.count == 0 && !r->pod.resize_deferred &&
           r->findings.device_users.count == 0 && r->findings.device_verdicts.count == 0 &&
           r->findings.device_stocks.count == 0 && r->dry_run.turned_away.count == 0 &&
           !r->dry_run.others && !nominated_count_for(&s->share, r) &&
           promise(frameworks_find(&s->frameworks, r->pod.scheduler_name), &r->findings);
}

static bool mentions(struct str text, struct str word)
{
    return memmem(text.at, text.len, word.at, word.len) != NULL;
}

/* Whether somebody may look at a label of that key: a selector of the request, all of which are in
 * the text, or a term of a pod on a node. */
static bool matters(const struct share *s, struct str request, struct str key)
{
    bool asked = s->terms.count > TERMS_MAX || mentions(request, key);
    for (uint32_t i = 0; !asked && i < s->terms.count; i++)
        asked = mentions(s->terms.at[i]->key, key);
    return asked;
}

/* The request without what is this one's alone. Pods of one kind may each have a label of its own,
 * as those of a StatefulSet or an Indexed Job: labels that nobody looks at are left out. */
static void make_key(struct buffer *key, const struct share *s, const struct map_request *r)
{
    struct map_request like = *r;
    like.pod = like_pod_to_rules(&r->pod, true);
    like.pod.labels.count = 0;
    like.pod.priority = r->pod.priority;
    like.pod.preemption_policy = r->pod.preemption_policy;
    like.cycle = like.round = like.seed = 0;
    like.dry_run.now_us = 0;
    buffer_reset(key);
    codec_encode(message_info[MSG_map_request].record, &like, key);
    const size_t request = key->len;
    for (uint32_t i = 0; i < r->pod.labels.count; i++)
        if (matters(s, (struct str){key->at, (uint32_t)request}, r->pod.labels.at[i].key))
            codec_encode(&label_record, &r->pod.labels.at[i], key);
}

/* Whether one was kept of the share as it is; then a key is worth its making. */
static bool holds_any(const struct shard *s)
{
    for (uint32_t i = 0; s->repeats != NULL && i < KEPT_MAX; i++)
        if (s->repeats->kept[i].changes == s->changes)
            return true;
    return false;
}

static struct repeat *find(struct shard *s)
{
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        struct repeat *k = &s->repeats->kept[i];
        if (k->changes == s->changes &&
            str_equal(buffer_str(&k->key), buffer_str(&s->repeats->key)))
            return k;
    }
    return NULL;
}

bool repeats_answer(struct shard *s, const struct map_request *request, struct map_result *result,
                    struct arena *a)
{
    const struct map_result own = *result;
    if (!holds_any(s) || !is_plain(s, request))
        return false;
    make_key(&s->repeats->key, &s->share, request);
    struct repeat *k = find(s);
    if (k == NULL)
        return false;
    k->asked_at = ++s->repeats->questions;
    const struct str bytes = arena_copy(a, (struct str){k->answer.bytes, k->answer.len});
    const struct packed copy = {(char *)bytes.at, k->answer.len};
    packed_get(&copy, message_info[MSG_map_result].record, result, a);
    result->cycle = own.cycle;
    result->round = own.round;
    result->nodes = own.nodes;
    s->repeated++;
    return true;
}

static bool found_nothing(const struct map_request *r, const struct map_result *result)
{
    const struct dry_run_answer *d = &result->dry_run;
    if (result->error.len > 0 || result->score_error.len > 0)
        return false;
    return r->step == MAP_STEP_victims ? d->candidates.count == 0 : result->feasible == 0;
}

/* The place of the one that was asked for longest ago. */
static struct repeat *oldest(struct repeats *r)
{
    struct repeat *k = &r->kept[0];
    for (uint32_t i = 1; i < KEPT_MAX; i++)
        if (r->kept[i].asked_at < k->asked_at)
            k = &r->kept[i];
    return k;
}

void repeats_keep(struct shard *s, const struct map_request *request,
                  const struct map_result *result)
{
    if (!found_nothing(request, result) || !is_plain(s, request))
        return;
    if (s->repeats == NULL) {
        s->repeats = memory_take(sizeof(*s->repeats));
        repeats_clear(s->repeats);
    }
    struct repeats *r = s->repeats;
    make_key(&r->key, &s->share, request);
    if (r->key.len > SIZE_MAX_KEPT)
        return;
    struct repeat *k = oldest(r);
    (void)packed_set(&k->answer, message_info[MSG_map_result].record, result);
    buffer_reset(&k->key);
    buffer_add(&k->key, r->key.at, r->key.len);
    k->changes = s->changes;
    k->asked_at = ++r->questions;
    if (k->answer.len > SIZE_MAX_KEPT) {
        packed_free(&k->answer);
        k->changes = UINT64_MAX;
    }
}
