/* question: the book of one question to extenders. The one idea: nodes are places in the sorted
 * list that was asked, so that answers of any order and with anything in them become marks on
 * places. What must stay true: a node that passed is one that was asked about, once. */
#include "scheduler/extender/question.h"

#include "proto/base/json_string.h"
#include "proto/base/memory.h"

#include <string.h>

#define SCALE 10 /* upstream: MaxNodeScore by MaxExtenderPriority */

struct question *question_new(const struct extend *ask, struct address from)
{
    struct question *q = memory_take(sizeof(*q));
    q->from = from;
    codec_copy(message_info[MSG_extend].record, &q->ask, ask, &q->arena);
    q->left = q->ask.nodes;
    q->refused = arena_take(&q->arena, q->ask.nodes.count * sizeof(struct extender_refusal *));
    q->score = arena_take(&q->arena, q->ask.nodes.count * sizeof(*q->score));
    return q;
}

void question_free(struct question *q)
{
    arena_free(&q->arena);
    memory_free(q->calls);
    memory_free(q);
}

struct question_call *question_call(struct question *q, uint64_t id)
{
    if (q->call_count == q->call_room) {
        q->call_room = q->call_room == 0 ? 4 : q->call_room * 2;
        q->calls = memory_resize(q->calls, q->call_room * sizeof(*q->calls));
    }
    struct question_call *call = &q->calls[q->call_count++];
    *call = (struct question_call){.id = id};
    return call;
}

bool question_take_call(struct question *q, uint64_t id, struct question_call *call)
{
    for (uint32_t i = 0; i < q->call_count; i++)
        if (q->calls[i].id == id) {
            *call = q->calls[i];
            q->calls[i] = q->calls[--q->call_count];
            return true;
        }
    return false;
}

/* The place of a name in a sorted list; false: it is not there. */
static bool find(const struct strs *sorted, struct str name, uint32_t *place)
{
    uint32_t low = 0, high = sorted->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_compare(sorted->at[middle], name);
        *place = middle;
        if (order == 0)
            return true;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return false;
}

/* Marks the names among the nodes that are left; false, with the name, when one is not. */
static bool mark(const struct question *q, const struct strs *names, bool *marks,
                 struct str *unknown)
{
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t place;
        *unknown = names->at[i];
        if (!find(&q->left, names->at[i], &place))
            return false;
        marks[place] = true;
    }
    return true;
}

static void note_refusals(struct question *q, const struct wire_filtered *said)
{
    struct strs before = q->left;
    for (uint32_t i = 0; i < said->refused.count; i++) {
        struct extender_refusal *r = &said->refused.at[i];
        uint32_t place, here;
        if (!find(&before, r->node, &here) || !find(&q->ask.nodes, r->node, &place))
            continue;
        /* the unresolvable ones come first and win */
        if (q->refused[place] == NULL || !q->refused[place]->unresolvable)
            q->refused[place] = r;
    }
}

static void keep_marked(struct question *q, const bool *marks)
{
    struct strs kept = {0, arena_take(&q->arena, q->left.count * sizeof(struct str))};
    for (uint32_t i = 0; i < q->left.count; i++)
        if (marks[i])
            kept.at[kept.count++] = q->left.at[i];
    q->left = kept;
}

struct str question_filter(struct question *q, const struct wire_filtered *said,
                           const struct extender_config *e)
{
    bool *marks = arena_take(&q->arena, q->left.count * sizeof(*marks));
    bool by_name = e->node_cache_capable && said->has_names;
    struct strs none = {0};
    const struct strs *passed = by_name ? &said->names : said->has_objects ? &said->objects : &none;
    struct str unknown;
    if (!mark(q, passed, marks, &unknown))
        return arena_print(&q->arena,
                           "extender \"%.*s\" claims a filtered node \"%.*s\" which is not found "
                           "in the input node list",
                           STR_ARG(e->url_prefix), STR_ARG(unknown));
    note_refusals(q, said);
    keep_marked(q, marks);
    q->bare |= !by_name && said->has_objects;
    return (struct str){0};
}

void question_score(struct question *q, const struct wire_scores *said, int64_t weight)
{
    for (uint32_t i = 0; i < said->count; i++) {
        uint32_t place;
        if (!find(&q->ask.nodes, said->at[i].node, &place))
            continue;
        /* wrapping, as Go's */
        uint64_t more = (uint64_t)said->at[i].score * (uint64_t)weight * SCALE;
        q->score[place] = (int64_t)((uint64_t)q->score[place] + more);
    }
}

static bool passed(const struct question *q, struct str node)
{
    uint32_t place;
    return find(&q->left, node, &place);
}

static void tell_nodes(struct question *q, struct extended *out)
{
    out->all = q->left.count == q->ask.nodes.count;
    if (!out->all)
        out->nodes = q->left;
    out->bare = q->bare;
    out->refused.at = arena_take(&q->arena, q->ask.nodes.count * sizeof(*out->refused.at));
    out->scores.at = arena_take(&q->arena, q->ask.nodes.count * sizeof(*out->scores.at));
    for (uint32_t i = 0; i < q->ask.nodes.count; i++) {
        bool in = passed(q, q->ask.nodes.at[i]);
        if (!in && q->refused[i] != NULL)
            out->refused.at[out->refused.count++] = *q->refused[i];
        if (in && q->score[i] != 0)
            out->scores.at[out->scores.count++] =
                (struct extender_score){q->ask.nodes.at[i], q->score[i]};
    }
}

void question_tell(struct question *q, struct extended *out)
{
    *out = (struct extended){.id = q->ask.id,
                             .uid = q->ask.uid,
                             .error = q->error,
                             .gone = q->gone,
                             .ignored = q->ignored};
    out->candidates.count = q->chosen.count;
    out->candidates.at = q->chosen.at;
    if (q->ask.step == EXTEND_STEP_nodes && q->error.len == 0 && !q->gone)
        tell_nodes(q, out);
}

void question_bare_pod(const struct victim *v, struct buffer *out)
{
    buffer_add_text(out, "{\"metadata\":{\"name\":");
    json_string(out, v->name);
    buffer_add_text(out, ",\"namespace\":");
    json_string(out, v->namespace_name);
    buffer_add_text(out, ",\"uid\":");
    json_string(out, v->uid);
    buffer_add_text(out, "}}");
}
