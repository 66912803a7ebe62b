/* whatif: `berth whatif`, where pods would go if something were different. The one idea: the
 * cluster as the watcher has it is changed in memory, and decided by the scheduler's own core.
 *
 * What must stay true: nothing live is changed, since nobody but the bus is talked to; a change
 * that names what is not there is refused, and then nothing is said. */
#include "ctl/whatif/whatif.h"

#include "ctl/commands.h"
#include "ctl/explain/live.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

#define WAIT_S    10
#define NODES_MAX 10000
#define PODS_MAX  100000

struct command {
    struct live live;
    struct whatif w;
    struct manifests manifests;
    struct strs files, deletes, fails, cordons, drains;
    int64_t replicas, add;
    struct str like, space;
    const char *config; /* NULL: as the scheduler decides */
    const char *plugins;
    enum { FORM_text, FORM_json, FORM_diff } form;
    bool pending, all;
};

/* ---- options ---- */

static bool take_into(struct command *c, struct strs *list, const char *value)
{
    list->at = manifests_room(&c->w.arena, list->at, list->count, sizeof(*list->at));
    list->at[list->count++] = str_of(value);
    return *value != 0;
}

static bool take_file(void *state, const char *value)
{
    struct command *c = state;
    return take_into(c, &c->files, value);
}

static bool take_delete(void *state, const char *value)
{
    struct command *c = state;
    return take_into(c, &c->deletes, value);
}

static bool take_fail(void *state, const char *value)
{
    struct command *c = state;
    return take_into(c, &c->fails, value);
}

static bool take_cordon(void *state, const char *value)
{
    struct command *c = state;
    return take_into(c, &c->cordons, value);
}

static bool take_drain(void *state, const char *value)
{
    struct command *c = state;
    return take_into(c, &c->drains, value);
}

static bool take_replicas(void *state, const char *value)
{
    return options_number(value, 0, PODS_MAX, &((struct command *)state)->replicas);
}

static bool take_add_nodes(void *state, const char *value)
{
    return options_number(value, 0, NODES_MAX, &((struct command *)state)->add);
}

static bool take_like(void *state, const char *value)
{
    ((struct command *)state)->like = str_of(value);
    return *value != 0;
}

static bool take_namespace(void *state, const char *value)
{
    ((struct command *)state)->space = str_of(value);
    return *value != 0;
}

static bool take_pending(void *state, const char *value)
{
    (void)value;
    ((struct command *)state)->pending = true;
    return true;
}

static bool take_all(void *state, const char *value)
{
    (void)value;
    ((struct command *)state)->all = true;
    return true;
}

static bool take_config(void *state, const char *value)
{
    ((struct command *)state)->config = value;
    return *value != 0;
}

static bool take_plugins(void *state, const char *value)
{
    ((struct command *)state)->plugins = value;
    return *value != 0;
}

static bool take_output(void *state, const char *value)
{
    struct command *c = state;
    c->form = strcmp(value, "diff") == 0   ? FORM_diff
              : strcmp(value, "json") == 0 ? FORM_json
                                           : FORM_text;
    return c->form != FORM_text || strcmp(value, "text") == 0;
}

static const struct own_option whatif_options[] = {
    {"f", "FILE",
     "new pods: a manifest, YAML or JSON, of pods or of what makes them; - is standard input; may "
     "be repeated",
     take_file},
    {"replicas", "N", "so many pods of each workload in the manifests, whatever they say",
     take_replicas},
    {"cordon", "NODE", "the node takes no new pods; may be repeated", take_cordon},
    {"drain", "NODE", "the same, and its pods look for another place; may be repeated", take_drain},
    {"add-nodes", "N", "so many more nodes, without pods, with --like", take_add_nodes},
    {"like", "NODE", "what the added nodes are copies of", take_like},
    {"fail", "KEY=VALUE",
     "nodes with this label fail, and their pods look for another place; zone and region are short "
     "for the topology's labels; may be repeated",
     take_fail},
    {"delete", "POD", "the pod is deleted: pod/NAMESPACE/NAME; may be repeated", take_delete},
    {"pending", NULL, "decide what is pending already, too", take_pending},
    {"all", NULL, "then decide each pod that has a node anew, as if it alone had none", take_all},
    {"config", "FILE", "decide with this KubeSchedulerConfiguration instead of the scheduler's",
     take_config},
    {"plugins", "DIR",
     "ask plugins on the bus, which come in at DIR/scheduler.sock and not at the live scheduler's",
     take_plugins},
    {"o", "text|json|diff", "output format (default text); diff: of the pods' manifests",
     take_output},
    {"n", "NAMESPACE", "where objects and pods are that do not say it (default: default)",
     take_namespace},
    {NULL, NULL, NULL, NULL},
};

/* ---- changes ---- */

static bool each(struct command *c, const struct strs *list,
                 bool (*change)(struct whatif *w, struct str what))
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!change(&c->w, list->at[i]))
            return false;
    return true;
}

/* Looked up before anything fails: what is lost may be what is to be bought again. */
static bool find_like(struct command *c, struct node *like)
{
    if (c->like.len == 0 || world_node(c->live.world, c->like, like, &c->w.arena))
        return true;
    c->w.error = arena_print(&c->w.arena, "there is no node %.*s", STR_ARG(c->like));
    return false;
}

static bool create(struct command *c)
{
    int64_t pods = 0;
    manifests_set_others(&c->manifests, c->live.world);
    for (uint32_t i = 0; i < c->manifests.workloads.count; i++) {
        int64_t count = c->manifests.workloads.at[i].count;
        pods += c->replicas >= 0 ? c->replicas : count < PODS_MAX ? count : PODS_MAX + 1;
    }
    if (pods > PODS_MAX) {
        c->w.error = STR_LITERAL("the manifests ask for more than 100,000 pods");
        return false;
    }
    for (uint32_t i = 0; i < c->manifests.workloads.count; i++)
        if (!whatif_create(&c->w, &c->manifests, &c->manifests.workloads.at[i], c->replicas))
            return false;
    return true;
}

static bool change(struct command *c)
{
    struct node like = {0};
    whatif_begin(&c->w, c->live.world);
    if (!whatif_ask(&c->w, &c->live.explained, c->plugins) || !find_like(c, &like))
        return false;
    if (!each(c, &c->deletes, whatif_delete))
        return false;
    if (c->pending)
        whatif_take_pending(&c->w);
    if (!each(c, &c->fails, whatif_fail))
        return false;
    whatif_add_nodes(&c->w, &like, c->add);
    return each(c, &c->cordons, whatif_cordon) && each(c, &c->drains, whatif_drain) && create(c);
}

/* ---- the whole ---- */

static bool read_files(struct command *c)
{
    struct manifests *m = &c->manifests;
    manifests_as(m, &c->live.explained, c->space);
    for (uint32_t i = 0; i < c->files.count; i++)
        if (!manifests_read(m, c->files.at[i].at)) {
            c->w.error = m->error;
            return false;
        }
    return true;
}

static bool is_question(const struct command *c)
{
    bool asks =
        c->files.count + c->deletes.count + c->fails.count + c->cordons.count + c->drains.count >
            0 ||
        c->add > 0 || c->pending || c->all;
    if (!asks)
        fprintf(stderr, "berth whatif: what is to be different? (--help)\n");
    if ((c->add > 0) != (c->like.len > 0))
        fprintf(stderr, "berth whatif: --add-nodes and --like belong together\n");
    if (c->replicas >= 0 && c->files.count == 0)
        fprintf(stderr, "berth whatif: --replicas is of a manifest, and there is none\n");
    return asks && (c->add > 0) == (c->like.len > 0) && (c->replicas < 0 || c->files.count > 0);
}

static int answer(struct command *c)
{
    struct buffer out = {0};
    c->w.space = c->space;
    if (!read_files(c) || !change(c)) {
        fprintf(stderr, "berth whatif: %.*s\n", STR_ARG(c->w.error));
        return 1;
    }
    whatif_decide(&c->w);
    if (c->all)
        whatif_decide_bound(&c->w);
    (c->form == FORM_json   ? whatif_json
     : c->form == FORM_diff ? whatif_diff
                            : whatif_text)(&c->w, &out);
    printf("%.*s", (int)out.len, out.at);
    buffer_free(&out);
    return whatif_pending(&c->w) > 0 ? 3 : 0;
}

int command_whatif(int argc, char **argv)
{
    struct command *c = memory_take(sizeof(*c));
    struct options_table table = {.program = "berth whatif",
                                  .usage = "say where pods would go if something were different",
                                  .options = whatif_options,
                                  .state = c,
                                  .more = asking_options,
                                  .more_state = &c->live.asking};
    int status = 1;
    live_init(&c->live, table.program, WAIT_S);
    c->space = STR_LITERAL("default");
    c->replicas = -1;
    options_read(&table, argc, argv);
    if (c->config != NULL) {
        c->live.instead = whatif_config;
        c->live.context = &c->config;
        c->w.config = str_of(c->config);
    }
    if (is_question(c) && live_load(&c->live))
        status = answer(c);
    manifests_free(&c->manifests);
    whatif_free(&c->w);
    live_free(&c->live);
    memory_free(c);
    return status;
}
