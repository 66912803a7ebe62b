/* explain: `berth explain`, why a pod is where it is. The one idea: queue and scheduler tell what
 * they know of it, and what they do not keep is decided again, by the scheduler's own core, on the
 * cluster as the watcher has it.
 *
 * Out of a recording it is the same, with the time that is asked for in the place of now, and what
 * is decided again is the last decision before it, on the cluster as it was.
 *
 * What must stay true: what was and what would be now are told apart; nothing live is changed. */
#include "ctl/explain/explain.h"
#include "ctl/answered.h"
#include "ctl/explain/consulted.h"
#include "ctl/explain/recorded.h"

#include "ctl/attempt.h"
#include "ctl/commands.h"
#include "ctl/group.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_S  10
#define TOP_MAX 1000

struct command {
    struct live live;
    struct recorded recorded; /* with a path: instead of a running berth */
    struct explanation e;
    struct held held;
    struct extension *answers; /* of extenders, to the recorded decision; NULL: none */
    struct arena arena;
    const char *space;
    const char *pod; /* as it was named; NULL: not yet */
    bool kind_named; /* "pod", which may be the kind, or the name itself */
};

/* ---- options ---- */

static bool take_namespace(void *state, const char *value)
{
    ((struct command *)state)->space = value;
    return *value != 0;
}

static bool take_node(void *state, const char *value)
{
    ((struct command *)state)->e.node = str_of(value);
    return *value != 0;
}

static bool take_nodes(void *state, const char *value)
{
    (void)value;
    ((struct command *)state)->e.names = true;
    return true;
}

static bool take_top(void *state, const char *value)
{
    return options_number(value, 0, TOP_MAX, &((struct command *)state)->e.top);
}

static bool take_read(void *state, const char *value)
{
    ((struct command *)state)->recorded.path = value;
    return *value != 0;
}

static bool take_at(void *state, const char *value)
{
    return recorded_take_time(&((struct command *)state)->recorded, value);
}

static const struct own_option explain_options[] = {
    {"n", "NAMESPACE", "the pod's namespace, where it is not before its name (default: default)",
     take_namespace},
    {"node", "NODE", "why not there: every rule's answer, and what would have to be different",
     take_node},
    {"nodes", NULL, "name the nodes behind each reason", take_nodes},
    {"top", "N", "show so many of the best nodes (default 5; 0: none)", take_top},
    {"read", "FILE", "out of a recording of berth record, with the last decision as it was made",
     take_read},
    {"at", "TIME", "with --read: at this time, such as 2026-01-02T03:04:05Z (default: at its end)",
     take_at},
    {NULL, NULL, NULL, NULL},
};

/* "[pod] NS/NAME", "pod/NAME" and "NAME". */
static bool take_word(void *state, const char *word)
{
    struct command *c = state;
    bool kind = strcmp(word, "pod") == 0 || strcmp(word, "pods") == 0;
    if (kind && !c->kind_named && c->pod == NULL) {
        c->kind_named = true;
        return true;
    }
    if (c->pod != NULL) {
        fprintf(stderr, "berth explain: one pod at a time, and \"%s\" is another\n", word);
        exit(1);
    }
    c->pod = strncmp(word, "pod/", 4) == 0 ? word + 4 : word;
    return true;
}

/* Of "pod" alone that is the name. */
static const char *pod_named(const struct command *c)
{
    return c->pod == NULL && c->kind_named ? "pod" : c->pod;
}

static bool name_pod(struct command *c, const char *pod)
{
    const char *slash = pod != NULL ? strchr(pod, '/') : NULL;
    if (pod == NULL || *pod == 0 || (slash != NULL && (slash == pod || slash[1] == 0)) ||
        (slash != NULL && strchr(slash + 1, '/') != NULL)) {
        fprintf(stderr, "berth explain: which pod? As NAMESPACE/NAME\n");
        return false;
    }
    if (slash != NULL && c->space != NULL &&
        !str_is((struct str){pod, (uint32_t)(slash - pod)}, c->space)) {
        fprintf(stderr, "berth explain: %s: is of another namespace than -n %s\n", pod, c->space);
        return false;
    }
    struct live *l = &c->live;
    l->namespace_name = slash != NULL ? (struct str){pod, (uint32_t)(slash - pod)}
                                      : str_of(c->space != NULL ? c->space : "default");
    l->name = str_of(slash != NULL ? slash + 1 : pod);
    return true;
}

/* ---- the pod ---- */

/* Members of its group that wait, and how many have a node. */
static void find_group(struct command *c)
{
    struct explanation *e = &c->e;
    const struct gang named = {
        .api = e->pod.gang_api, .namespace_name = e->pod.namespace_name, .name = e->pod.gang};
    uint32_t count;
    if (e->pod.gang.len == 0 || !world_group(c->live.world, &named, &e->group, &c->arena))
        return;
    const struct pod *all = world_members(c->live.world, &e->group, &count, &c->arena);
    e->members.at = arena_take(&c->arena, (count + 1) * sizeof(struct str));
    for (uint32_t i = 0; i < count; i++) {
        e->members_bound += all[i].node_name.len > 0;
        if (all[i].node_name.len == 0 && !str_equal(all[i].uid, e->pod.uid))
            e->members.at[e->members.count++] = all[i].name;
    }
}

/* As if it had no node: it would be in its own way. */
static void decide(struct command *c, const struct pod *pod)
{
    struct explanation *e = &c->e;
    static const struct scheduler_config config;
    const struct attempts attempts = {.world = c->live.world,
                                      .config = &config,
                                      .arena = &c->arena,
                                      .after = AFTER_none,
                                      .hold = &c->held,
                                      .no_bind = true};
    e->tried = requests_as_tried(pod);
    if (pod->node_name.len > 0) {
        e->tried = world_pod_unbound(c->live.world, &e->tried, &c->arena);
        world_pod_gone(c->live.world, pod->namespace_name, pod->name);
    }
    c->held.arena = &c->arena;
    (void)attempt_decide(&attempts, &e->tried, &e->now);
}

/* With what extenders had answered. By the rules alone first: that says why nodes are no good that
 * no extender was asked about. */
static void decide_consulted(struct command *c, const struct pod *pod)
{
    struct explanation *e = &c->e;
    struct world *w = c->live.world;
    const struct pod tried = requests_as_tried(pod);
    uint32_t count;
    const struct verdict *rules = world_by_rules(w, &tried, &count, &c->arena);
    world_consult(w, c->answers);
    decide(c, pod);
    world_consult(w, NULL);
    e->answers_used = e->now.decided && world_consulted(w);
    if (!e->answers_used)
        return;
    e->now.verdicts = answered_verdicts(c->answers, rules, &count, &e->now, &c->arena);
    e->now.verdict_count = count;
}

/* The last decision of the recording is decided again, on the cluster as it was before it. */
static void decide_then(struct command *c)
{
    struct explanation *e = &c->e;
    const struct past *past = &c->recorded.past;
    const struct past_decision *said = c->live.explained.decisions.at;
    if (!recorded_go_back(&c->recorded, &c->live))
        return;
    e->then_us = past->said_us;
    e->past = past;
    e->framework = world_framework(c->live.world, &past->pod);
    if (e->framework == NULL)
        return;
    c->answers = consulted_answers(past, c->live.world);
    if (c->answers != NULL)
        decide_consulted(c, &past->pod);
    else
        decide(c, &past->pod);
    bool kept = c->live.explained.decisions.count > 0 && str_equal(said->uid, past->pod.uid);
    const struct decision *d = e->now.decided ? e->now.decision : NULL;
    if (!kept || d == NULL)
        return;
    e->told = said;
    e->agrees = said->placed ? d->kind == DECISION_node && strs_hold(d->best_nodes, said->node)
                             : d->kind != DECISION_node && str_equal(said->message, e->now.message);
}

static void find_out(struct command *c)
{
    struct explanation *e = &c->e;
    const struct live *l = &c->live;
    e->live = l;
    if (l->pending.pods.count > 0)
        e->waiting = &l->pending.pods.at[0];
    e->there = world_pod(l->world, l->namespace_name, l->name, &e->pod, &c->arena);
    if (e->there)
        find_group(c);
    if (c->recorded.path != NULL)
        decide_then(c);
    if (!e->there || e->then_us != 0)
        return;
    e->framework = world_framework(l->world, &e->pod);
    if (e->framework != NULL)
        decide(c, &e->pod);
}

static bool is_known(const struct explanation *e)
{
    return e->there || e->waiting != NULL || e->live->explained.decisions.count > 0;
}

static bool node_is_known(const struct explanation *e)
{
    return e->node.len == 0 || !e->now.decided || strs_hold(e->now.nodes, e->node);
}

/* Whether the pod can be tried at all, of a recording at the time that is asked for: what was said
 * before may be of an earlier one. What the pod alone was given is free again for its group. */
static bool can_be_tried(struct command *c)
{
    struct explanation *e = &c->e;
    if (recorded_return(&c->recorded, &c->live)) {
        e->now = (struct report){0};
        c->held = (struct held){0};
        e->framework = world_framework(c->live.world, &e->pod);
        if (e->framework != NULL)
            decide(c, &e->pod);
    }
    if (e->now.decided && str_is(e->now.result, "scheduled"))
        world_give_back(c->live.world, &e->tried, &c->held);
    return e->now.decided;
}

/* The members that wait, as one: enough of them have a place, or nobody. What was decided about the
 * pod alone is lost by that. */
static void decide_group(struct command *c, const struct report_output *out)
{
    struct explanation *e = &c->e;
    static const struct scheduler_config config;
    struct report r = {.op = STR_LITERAL("group")};
    struct attempts attempts = {.config = &config,
                                .arena = &c->arena,
                                .after = AFTER_none,
                                .no_bind = true,
                                .omit_others = true,
                                .output = *out};
    if (e->group.min_member == 0 || e->pod.node_name.len > 0 || !can_be_tried(c))
        return;
    attempts.world = c->live.world;
    if (out->json != NULL) {
        json_open(out->json, "groupNow", '[');
    } else {
        buffer_print(out->table, "\nDecided %s as one, with its group:\n",
                     e->at_us != 0 ? "then" : "now");
        report_heading(out->table);
    }
    attempt_group(&attempts, &e->group, &r);
    if (out->json != NULL)
        json_close(out->json, ']');
    const struct str note = explain_note(e, true, &c->arena);
    if (out->json != NULL)
        json_str_if(out->json, "groupNote", note);
    else if (note.len > 0)
        buffer_print(out->table, "  %.*s\n", STR_ARG(note));
}

static int say(struct command *c)
{
    struct buffer out = {0};
    const struct live *l = &c->live;
    if (!is_known(&c->e)) {
        fprintf(stderr, "berth explain: no pod %.*s/%.*s is known, and no decision about one\n",
                STR_ARG(l->namespace_name), STR_ARG(l->name));
        return 1;
    }
    if (!node_is_known(&c->e)) {
        fprintf(stderr, "berth explain: there is no node %.*s\n", STR_ARG(c->e.node));
        return 1;
    }
    if (l->asking.json) {
        struct json_out json = {.out = &out, .indented = true};
        json_open(&json, NULL, '{');
        explain_json(&c->e, &json, &c->arena);
        decide_group(c, &(struct report_output){.json = &json});
        json_close(&json, '}');
        buffer_add_text(&out, "\n");
    } else {
        explain_text(&c->e, &out, &c->arena);
        decide_group(c, &(struct report_output){.table = &out});
    }
    printf("%.*s", (int)out.len, out.at);
    buffer_free(&out);
    return 0;
}

static bool load(struct command *c)
{
    struct recorded *r = &c->recorded;
    if (r->path == NULL)
        return live_load(&c->live);
    r->command = c->live.asking.command;
    bool loaded = recorded_load(r, &c->live);
    c->e.at_us = r->at_us;
    return loaded;
}

int command_explain(int argc, char **argv)
{
    struct command *c = memory_take(sizeof(*c));
    struct options_table table = {.program = "berth explain",
                                  .usage = "say why a pod is where it is: berth explain "
                                           "NAMESPACE/NAME [OPTION ...]",
                                  .options = explain_options,
                                  .state = c,
                                  .more = asking_options,
                                  .more_state = &c->live.asking,
                                  .word = take_word};
    int status = 1;
    live_init(&c->live, table.program, WAIT_S);
    c->e.top = 5;
    options_read(&table, argc, argv);
    if (c->recorded.at_us != 0 && c->recorded.path == NULL)
        fprintf(stderr, "berth explain: --at: a time of what? --read FILE is missing\n");
    else if (name_pod(c, pod_named(c)) && load(c)) {
        find_out(c);
        status = say(c);
    }
    extension_free(&c->answers);
    arena_free(&c->arena);
    live_free(&c->live);
    recorded_free(&c->recorded);
    memory_free(c);
    return status;
}
