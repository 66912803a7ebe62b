/* json: an explanation for programs: what queue and scheduler said as they said it, and
 * what is decided now in the form that berth simulate reports in. */
#include "ctl/explain/explain.h"
#include "ctl/explain/suggest.h"
#include "proto/base/memory.h"

static void record(struct json_out *j, const char *key, const struct record *kind,
                   const void *value)
{
    struct buffer text = {0};
    codec_print_json(kind, value, &text);
    json_raw(j, key, buffer_str(&text));
    buffer_free(&text);
}

static void group(struct json_out *j, const struct explanation *e)
{
    if (e->pod.gang.len == 0)
        return;
    json_open(j, "podGroup", '{');
    json_str(j, "name", e->pod.gang);
    json_bool(j, "exists", e->group.name.len > 0);
    json_i64(j, "minCount", e->group.min_member);
    json_i64(j, "onNodes", e->members_bound);
    json_strs(j, "others", e->members);
    json_close(j, '}');
}

static void scheduler(struct json_out *j, const struct explained *said)
{
    json_open(j, "scheduler", '{');
    json_str_if(j, "state", said->state);
    json_str_if(j, "waitsFor", said->waits_for);
    json_i64(j, "decisionsKept", said->kept);
    json_strs_if(j, "notAsked", said->asks);
    json_open(j, "decisions", '[');
    for (uint32_t i = 0; i < said->decisions.count; i++)
        record(j, NULL, &past_decision_record, &said->decisions.at[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* Of a recording, as they were asked and as they said it. */
static void extenders(struct json_out *j, const struct explanation *e)
{
    char when[32];
    if (e->past == NULL || e->past->consulted_count == 0)
        return;
    json_open(j, "extenders", '[');
    for (uint32_t i = 0; i < e->past->consulted_count; i++) {
        const struct past_consulted *c = &e->past->consulted[i];
        json_open(j, NULL, '{');
        moment_print_micros(c->asked_us, when, sizeof(when));
        json_str(j, "askedAt", str_of(when));
        record(j, "question", message_info[MSG_extend].record, &c->question);
        if (c->answered_us != 0) {
            moment_print_micros(c->answered_us, when, sizeof(when));
            json_str(j, "answeredAt", str_of(when));
            record(j, "answer", message_info[MSG_extended].record, &c->answer);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The report's own lists of nodes may be cut to the one that was asked about. */
static struct report shown(const struct explanation *e, struct arena *a)
{
    struct report r = e->now;
    uint32_t count = 0;
    if (e->node.len == 0 || !r.decided)
        return r;
    r.nodes.count = 1;
    r.nodes.at = arena_take(a, sizeof(struct str));
    r.nodes.at[0] = e->node;
    for (uint32_t i = 0; i < e->now.verdict_count && count == 0; i++)
        if (str_equal(e->now.verdicts[i].node, e->node)) {
            r.verdicts = &e->now.verdicts[i];
            count = 1;
        }
    r.verdict_count = count;
    return r;
}

/* By filter, what would have to be different on the one node. */
static void needs(struct json_out *j, const struct explanation *e, const struct report *now,
                  struct arena *a)
{
    struct node node;
    if (e->node.len == 0 || now->verdict_count != 1 || now->verdicts[0].others.count == 0 ||
        !world_node(e->live->world, e->node, &node, a))
        return;
    json_open(j, "needs", '{');
    for (uint32_t i = 0; i < now->verdicts[0].others.count; i++) {
        const struct rejection *why = &now->verdicts[0].others.at[i];
        char *plugin = str_copy(why->plugin);
        json_str_if(j, plugin, suggest(e->live->world, &e->tried, &node, why, a));
        memory_free(plugin);
    }
    json_close(j, '}');
}

/* Of a recording. */
static void times(struct json_out *j, const struct explanation *e)
{
    char when[32];
    if (e->at_us == 0)
        return;
    moment_print_micros(e->at_us, when, sizeof(when));
    json_str(j, "at", str_of(when));
    if (e->then_us == 0)
        return;
    moment_print_micros(e->then_us, when, sizeof(when));
    json_str(j, "decidedAt", str_of(when));
    if (e->told != NULL)
        json_bool(j, "asDecided", e->agrees);
}

void explain_json(const struct explanation *e, struct json_out *out, struct arena *a)
{
    const struct report_output output = {.json = out};
    const struct report now = shown(e, a);
    json_str(out, "namespace", e->live->namespace_name);
    json_str(out, "name", e->live->name);
    times(out, e);
    json_bool(out, "exists", e->there);
    json_str_if(out, "node", e->pod.node_name);
    json_str_if(out, "schedulerName", e->pod.scheduler_name);
    json_bool(out, "ours", e->framework != NULL);
    if (e->waiting != NULL) {
        record(out, "queue", &pending_pod_record, e->waiting);
        json_strs_if(out, "wokenBy",
                     explain_wakes(&e->waiting->rejected_by, e->live->explained.release, a));
    }
    group(out, e);
    scheduler(out, &e->live->explained);
    extenders(out, e);
    if (e->framework != NULL) {
        json_open(out, "now", '[');
        report_open(&output, &now, false);
        report_close(&output);
        json_close(out, ']');
        if (now.decided)
            json_str_if(out, "note", explain_note(e, false, a));
        needs(out, e, &now, a);
    }
}
