/* brief: the one idea: who reads a story at night wants what was asked, what was said and why, not
 * every field. What must stay true: reasons are told as texts, all of them; a message that is not
 * known here is told by its fields, without the pod, which the heading names. */
#include "ctl/tap/brief.h"

#include "proto/base/moment.h"

#include <inttypes.h>
#include <string.h>

#define LONGEST 400 /* bytes of a message that is told by its fields */

/* ---- parts ---- */

static void add(struct buffer *out, const char *before, struct str text)
{
    if (text.len > 0)
        buffer_print(out, "%s%.*s", before, STR_ARG(text));
}

/* "30 Insufficient cpu, 2 Too many pods" */
static void add_reasons(struct buffer *out, const struct tally *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        buffer_print(out, "%s%" PRId64 " %.*s", i == 0 ? ": " : ", ", at[i].count,
                     STR_ARG(at[i].text));
}

static void add_strs(struct buffer *out, const char *before, struct strs list)
{
    for (uint32_t i = 0; i < list.count; i++)
        buffer_print(out, "%s%.*s", i == 0 ? before : ", ", STR_ARG(list.at[i]));
}

/* How many, and who if that was asked for. */
static void add_nodes(const struct brief *b, struct buffer *out, const char *before,
                      struct strs nodes)
{
    if (nodes.count == 0)
        return;
    buffer_print(out, "%s%u node%s", before, nodes.count, nodes.count == 1 ? "" : "s");
    if (b->nodes)
        add_strs(out, " (", nodes);
    if (b->nodes)
        buffer_add_text(out, ")");
}

static void add_ms(struct buffer *out, const char *before, int64_t us)
{
    buffer_print(out, "%s%" PRId64 ".%03" PRId64 " ms", before, us / 1000, us % 1000);
}

static void add_victims(struct buffer *out, const struct victim *at, uint32_t count)
{
    buffer_print(out, "%u victim%s", count, count == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++)
        buffer_print(out, "%s%.*s/%.*s", i == 0 ? ": " : ", ", STR_ARG(at[i].namespace_name),
                     STR_ARG(at[i].name));
}

static bool is_pod(struct brief *b, const struct pod *pod)
{
    return tap_mentions_pod(&pod_record, pod, b->filter);
}

/* ---- watcher ---- */

static void pod_set(const struct pod *pod, struct buffer *out)
{
    buffer_print(out, "version %" PRId64, pod->resource_version);
    add(out, ", on node ", pod->node_name);
    add(out, ", nominated to ", pod->nominated_node);
    add_strs(out, ", gates ", pod->gates);
    if (pod->deleting)
        buffer_add_text(out, ", is being deleted");
}

/* ---- queue ---- */

static void attempt(const struct attempt *m, struct buffer *out)
{
    char since[40] = {0};
    buffer_print(out, "try it, priority %" PRId64, m->pod.priority);
    if (m->first_us <= 0)
        return;
    moment_print_micros(m->first_us, since, sizeof(since));
    buffer_print(out, ", in the queue since %s", since);
}

static void gang_attempt(const struct gang_attempt *m, struct buffer *out)
{
    buffer_print(out, "try group %.*s/%.*s, %u members, of which %" PRId64 " are needed",
                 STR_ARG(m->group.namespace_name), STR_ARG(m->group.name), m->members.count,
                 m->needed);
}

static void outcome(const struct outcome *m, struct buffer *out)
{
    add(out, "", words_text(&outcome_result_words, m->result));
    add_strs(out, ", rejected by ", m->plugins);
    add_strs(out, ", waits for ", m->pending_plugins);
    add(out, m->result == OUTCOME_bound ? ", on " : ", nominated to ", m->nominated_node);
    if (m->behind)
        buffer_add_text(out, ", decided on an old view");
    if (m->activate)
        buffer_add_text(out, ", to be tried again at once");
}

/* ---- workers ---- */

static void map_request(struct brief *b, const struct map_request *m, struct buffer *out)
{
    struct str step = words_text(&map_step_words, m->step);
    b->cycle = m->cycle;
    buffer_print(out, "asks: %.*s, round %" PRId64, STR_ARG(step), m->round);
    add_nodes(b, out, ", only ", m->only);
}

static void verdict(const struct verdict *v, struct buffer *out)
{
    buffer_print(out, "; %.*s ", STR_ARG(v->node));
    if (v->code == VERDICT_success)
        buffer_print(out, "fits, total %" PRId64, v->total);
    else
        add(out, "", words_text(&verdict_code_words, v->code));
    add(out, " by ", v->plugin);
    add_strs(out, ": ", v->reasons);
}

/* What one worker says of nodes by name. */
static void named_nodes(const struct map_result *m, struct buffer *out)
{
    for (uint32_t i = 0; i < m->listed.count; i++)
        buffer_print(out, "; %.*s fits, total %" PRId64, STR_ARG(m->listed.at[i].node),
                     m->listed.at[i].total);
    for (uint32_t i = 0; i < m->verdicts.count; i++)
        verdict(&m->verdicts.at[i], out);
    for (uint32_t i = 0; i < m->dry_run.verdicts.count; i++)
        verdict(&m->dry_run.verdicts.at[i], out);
}

static void dry_run(const struct brief *b, const struct dry_run_answer *m, struct buffer *out)
{
    buffer_print(out, "removing pods would make room on %" PRId64 " of %" PRId64 " nodes", m->fits,
                 m->nodes);
    add_reasons(out, m->reasons.at, m->reasons.count);
    for (uint32_t i = 0; i < m->candidates.count; i++) {
        const struct candidate *c = &m->candidates.at[i];
        if (b->nodes)
            buffer_print(out, "; on %.*s ", STR_ARG(c->node));
        else
            buffer_add_text(out, "; ");
        add_victims(out, c->victims.at, c->victims.count);
    }
}

static void map_result(const struct brief *b, const struct map_result *m, struct buffer *out)
{
    if (m->dry_run.nodes > 0)
        dry_run(b, &m->dry_run, out);
    else if (m->counts.count > 0 && m->evaluated == 0)
        buffer_print(out, "counted on %" PRId64 " nodes", m->nodes);
    else
        buffer_print(out, "%" PRId64 " of %" PRId64 " nodes fit%s", m->feasible,
                     m->evaluated > 0 ? m->evaluated : m->nodes, m->feasible == 1 ? "s" : "");
    add_reasons(out, m->reasons.at, m->reasons.count);
    if (m->feasible > 0 && m->best_node.len > 0)
        buffer_print(out, ", best %.*s with %" PRId64, STR_ARG(m->best_node), m->best_total);
    add_strs(out, ", rejected by ", m->plugins);
    add(out, ", failed: ", m->error);
    add(out, ", scoring failed: ", m->score_error);
    add_strs(out, ", claims whose devices some node cannot use: ", m->unavailable);
    if (b->nodes)
        named_nodes(m, out);
}

static void map_batch(struct brief *b, const struct map_batch *m, struct buffer *out)
{
    b->cycle = m->cycle;
    buffer_print(out, "asks about %u pods in turn", m->requests.count);
    for (uint32_t i = 0; i < m->requests.count; i++)
        if (is_pod(b, &m->requests.at[i].pod)) {
            b->cycle = m->requests.at[i].cycle;
            buffer_print(out, ", this is number %u", i + 1);
        }
}

static void map_batch_result(const struct brief *b, const struct map_batch_result *m,
                             struct buffer *out)
{
    uint32_t i = 0;
    while (i < m->results.count && m->results.at[i].cycle != b->cycle)
        i++;
    if (i < m->results.count) {
        map_result(b, &m->results.at[i], out);
        return;
    }
    buffer_print(out, "%" PRId64 " of them placed, this one was not looked at", m->placed);
}

static void add_places(const struct run_place *at, uint32_t count, struct buffer *out)
{
    for (uint32_t i = 0; i < count; i++)
        buffer_print(out, "; %.*s, total %" PRId64, STR_ARG(at[i].node), at[i].total);
}

static void map_picks(struct brief *b, const struct map_picks *m, struct buffer *out)
{
    buffer_print(out, "asks for the best nodes of %u pods unlike each other", m->requests.count);
    for (uint32_t i = 0; i < m->requests.count; i++)
        if (is_pod(b, &m->requests.at[i].pod)) {
            b->cycle = m->requests.at[i].cycle;
            b->place = i;
            buffer_print(out, ", this is number %u", i + 1);
        }
}

static void map_picks_result(const struct brief *b, const struct map_picks_result *m,
                             struct buffer *out)
{
    if (b->place >= m->picks.count) {
        buffer_print(out, "%u looked at, this one was not", m->picks.count);
        return;
    }
    const struct node_pick *pick = &m->picks.at[b->place];
    buffer_print(out, "%" PRId64 " nodes fit", pick->feasible);
    if (pick->ties > 0)
        buffer_print(out, ", best %.*s, total %" PRId64, STR_ARG(pick->node), pick->total);
    buffer_add_text(out, pick->fails ? ", to be asked alone" : "");
}

static void map_check(const struct brief *b, const struct map_check *m, struct buffer *out)
{
    if (b->place >= m->pods.count) {
        buffer_print(out, "%u have a place, this one has none yet", m->pods.count);
        return;
    }
    const struct check_pod *pod = &m->pods.at[b->place];
    buffer_print(out, "is anything better for it than total %" PRId64 ", with %u before it",
                 pod->total, b->place);
    add(out, ", on ", pod->node);
}

static void map_checked(const struct brief *b, const struct map_checked *m, struct buffer *out)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < m->changed.count; i++) {
        const struct checked_node *c = &m->changed.at[i];
        if (c->pod != b->place)
            continue;
        buffer_print(out, "%s%.*s", told++ > 0 ? ", " : "", STR_ARG(c->node));
        if (c->rejected || c->fails)
            buffer_add_text(out, c->rejected ? " does not pass" : " cannot be told of");
        else
            buffer_print(out, " has total %" PRId64, c->total);
    }
    buffer_add_text(out, told == 0 ? "nothing better for it" : "");
}

static void map_picks_end(const struct brief *b, const struct map_picks_end *m, struct buffer *out)
{
    buffer_print(out, "%u pods are placed by this worker", m->pods.count);
    for (uint32_t i = 0; i < m->pods.count; i++)
        if (m->pods.at[i].pod == b->place)
            buffer_print(out, ", this one on %.*s", STR_ARG(m->pods.at[i].node));
}

static void map_run(struct brief *b, const struct map_run *m, struct buffer *out)
{
    b->cycle = m->request.cycle;
    buffer_print(out, "asks where up to %" PRId64 " pods like this one would go", m->count);
}

static void map_run_result(const struct brief *b, const struct map_run_result *m,
                           struct buffer *out)
{
    uint32_t places = m->places.count;
    for (uint32_t i = 0; i < m->groups.count; i++)
        places += m->groups.at[i].places.count;
    buffer_print(out, "%" PRId64 " nodes fit, %u place%s told%s", m->feasible, places,
                 places == 1 ? "" : "s", m->fails ? ", to be asked one by one" : "");
    if (!b->nodes)
        return;
    add_places(m->places.at, m->places.count, out);
    for (uint32_t i = 0; i < m->groups.count; i++)
        add_places(m->groups.at[i].places.at, m->groups.at[i].places.count, out);
}

static void map_run_end(struct brief *b, const struct map_run_end *m, struct buffer *out)
{
    buffer_print(out, "%" PRId64 " pods of the run are placed, %u by this worker", m->placed,
                 m->pods.count);
    for (uint32_t i = 0; i < m->pods.count; i++)
        if (tap_mentions_pod(&run_pod_record, &m->pods.at[i], b->filter))
            buffer_print(out, ", this one at place %" PRId64, m->pods.at[i].place);
}

/* ---- extenders and plugins ---- */

static void extended(const struct brief *b, const struct extended *m, struct buffer *out)
{
    if (m->all)
        buffer_add_text(out, "every node passes, ");
    add_nodes(b, out, "", m->nodes);
    buffer_print(out, "%s%u turned away", m->nodes.count > 0 ? " pass, " : "", m->refused.count);
    add(out, ", failed: ", m->error);
    for (uint32_t i = 0; b->nodes && i < m->refused.count; i++)
        buffer_print(out, "; %.*s: %.*s", STR_ARG(m->refused.at[i].node),
                     STR_ARG(m->refused.at[i].reason));
}

static void plugin_answer(const struct brief *b, const struct plugin_answer *m, struct buffer *out)
{
    buffer_print(out, "%u nodes turned away, %u scored", m->refused.count, m->scores.count);
    add(out, ", failed: ", m->error);
    add(out, ", ", m->verdict);
    add(out, ": ", m->reason);
    for (uint32_t i = 0; b->nodes && i < m->refused.count; i++)
        buffer_print(out, "; %.*s: %.*s", STR_ARG(m->refused.at[i].node),
                     STR_ARG(m->refused.at[i].reason));
}

/* ---- binder ---- */

static void bind(const struct bind *m, struct buffer *out)
{
    add(out, "to node ", m->node_name);
    if (m->claims.count > 0)
        buffer_print(out, ", with %u claims", m->claims.count);
    if (m->device_claims.count > 0)
        buffer_print(out, ", with %u device claims", m->device_claims.count);
}

static void bind_result(const struct bind_result *m, struct buffer *out)
{
    if (m->bound)
        add(out, "is on node ", m->node_name);
    else if (m->code != 0)
        buffer_print(out, "not bound, HTTP status %" PRId64, m->code);
    else
        buffer_add_text(out, m->gone ? "not bound: there is no such pod" : "not bound");
    add(out, ", by ", words_text(&bind_plugin_words, m->plugin));
    add(out, ": ", m->message);
    add_ms(out, ", after ", m->elapsed_us);
}

static void pod_failed(const struct pod_failed *m, struct buffer *out)
{
    add(out, "", words_text(&condition_reason_words, m->reason));
    add(out, ": ", m->message);
    if (m->set_nominated)
        add(out, ", nominated to ", m->nominated_node);
}

static void preempt(const struct preempt *m, struct buffer *out)
{
    buffer_print(out, "make room on %.*s, ", STR_ARG(m->node_name));
    add_victims(out, m->victims.at, m->victims.count);
}

/* ---- others ---- */

/* By its fields, but for pods and nodes as a whole. */
static void by_fields(const struct record *r, const char *object, struct buffer *out)
{
    size_t from = out->len;
    for (size_t i = 0; i < r->field_count && out->len - from < LONGEST; i++) {
        const struct field *f = &r->fields[i];
        if (codec_value_is_zero(f, object + f->offset) || f->of == &pod_record ||
            strcmp(f->name, "uid") == 0)
            continue;
        buffer_print(out, "%s%s=", out->len > from ? " " : "", f->name);
        codec_print_value(f, object + f->offset, out);
    }
    if (out->len - from <= LONGEST)
        return;
    out->len = from + LONGEST;
    while (out->len > from && ((unsigned char)out->at[out->len] & 0xc0) == 0x80)
        out->len--; /* no half of a character */
    buffer_add_text(out, "…");
}

static bool print_asked(struct brief *b, const struct message *m, struct buffer *out)
{
    switch (m->type) {
    case MSG_map_request: map_request(b, &m->map_request, out); return true;
    case MSG_map_result: map_result(b, &m->map_result, out); return true;
    case MSG_map_batch: map_batch(b, &m->map_batch, out); return true;
    case MSG_map_batch_result: map_batch_result(b, &m->map_batch_result, out); return true;
    case MSG_map_run: map_run(b, &m->map_run, out); return true;
    case MSG_map_run_result: map_run_result(b, &m->map_run_result, out); return true;
    case MSG_map_run_end: map_run_end(b, &m->map_run_end, out); return true;
    case MSG_map_picks: map_picks(b, &m->map_picks, out); return true;
    case MSG_map_picks_result: map_picks_result(b, &m->map_picks_result, out); return true;
    case MSG_map_check: map_check(b, &m->map_check, out); return true;
    case MSG_map_checked: map_checked(b, &m->map_checked, out); return true;
    case MSG_map_picks_end: map_picks_end(b, &m->map_picks_end, out); return true;
    case MSG_extended: extended(b, &m->extended, out); return true;
    case MSG_plugin_answer: plugin_answer(b, &m->plugin_answer, out); return true;
    default: return false;
    }
}

void brief_print(struct brief *b, const struct message *m, struct buffer *out)
{
    if (print_asked(b, m, out))
        return;
    switch (m->type) {
    case MSG_pod_set: pod_set(&m->pod_set.pod, out); break;
    case MSG_shard_pod: add(out, "is on node ", m->shard_pod.pod.node_name); break;
    case MSG_attempt: attempt(&m->attempt, out); break;
    case MSG_gang_attempt: gang_attempt(&m->gang_attempt, out); break;
    case MSG_outcome: outcome(&m->outcome, out); break;
    case MSG_bind: bind(&m->bind, out); break;
    case MSG_bind_result: bind_result(&m->bind_result, out); break;
    case MSG_pod_failed: pod_failed(&m->pod_failed, out); break;
    case MSG_preempt: preempt(&m->preempt, out); break;
    case MSG_spans: buffer_print(out, "%u spans", m->spans.spans.count); break;
    case MSG_gang_waits: add(out, "", m->gang_waits.message); break;
    default: by_fields(message_info[m->type].record, message_body_const(m), out); break;
    }
}
