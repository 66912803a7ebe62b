/* checks_groups: PodGroups as the API server has them beside the pods that name them. What must
 * stay true: what is expected here follows from facts.c and from what
 * scheduler/coordinator/gangs.md promises; but for one number, nothing is asked of a core. */
#include "tests/simulation/checks_groups.h"

#include "proto/base/arena.h"
#include "proto/kube/documents/json.h"
#include "scheduler/coordinator/coordinator.h"
#include "tests/simulation/bounds.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct members {
    int64_t pods, bound, running, succeeded, failed;
};

static struct members members_of(const struct set_fact *set)
{
    struct members m = {0};
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || strcmp(p->set, set->name) != 0)
            continue;
        m.pods++;
        m.bound += p->node[0] != 0;
        m.running += strcmp(p->phase, "Running") == 0;
        m.succeeded += strcmp(p->phase, "Succeeded") == 0;
        m.failed += strcmp(p->phase, "Failed") == 0;
    }
    return m;
}

__attribute__((format(printf, 3, 4))) static bool say(char *why, size_t room, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, room, format, args);
    va_end(args);
    return false;
}

static bool any_fits(const struct set_fact *set)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || strcmp(p->set, set->name) != 0 || p->node[0] != 0)
            continue;
        for (uint32_t n = 0; n < NODES_MAX; n++)
            if (facts_nodes[n].there && facts_fits(p, &facts_nodes[n]))
                return true;
    }
    return false;
}

/* One whose Binding failed comes again by itself, and may find its room taken. */
bool checks_groups_whole(char *why, size_t room)
{
    for (uint32_t s = 0; s < SETS_MAX; s++) {
        const struct set_fact *set = &facts_sets[s];
        struct members m = members_of(set);
        if (set->there && !set->touched && m.bound > 0 && m.bound < set->least &&
            (!set->unbound || any_fits(set)))
            return say(why, room, "group %s: %lld of %lld members are bound, and %lld are needed",
                       set->name, (long long)m.bound, (long long)m.pods, (long long)set->least);
    }
    return true;
}

/* ---- statuses ---- */

struct read_group {
    struct arena memory;
    struct kube_json *json;
};

static bool read_group(const struct set_fact *set, struct read_group *r)
{
    struct buffer text = {0};
    const char *kind = set->tree ? "podgroups.scheduling.k8s.io" : "podgroups.scheduling.x-k8s.io";
    *r = (struct read_group){0};
    if (model_read(world_model(), kind, "default", set->name, &text))
        r->json = kube_json_parse(buffer_str(&text), NULL, &r->memory);
    buffer_free(&text);
    return r->json != NULL;
}

static void drop_group(struct read_group *r)
{
    kube_json_free(&r->json);
    arena_free(&r->memory);
}

static int64_t number(const struct read_group *r, const char *path)
{
    int64_t n = 0;
    return kube_json_i64(kube_json_path(r->json, path), &n) ? n : 0;
}

/* What a group that has left Pending and has as many pods as it needs comes to. */
static const char *phase_with(const struct set_fact *set, const struct members *m)
{
    if (m->succeeded >= set->least)
        return "Finished";
    if (m->failed != 0 && m->failed + m->running + m->succeeded >= set->least)
        return "Failed";
    return m->succeeded + m->running >= set->least ? "Running" : "Scheduling";
}

/* Once it has ended it is left as it is. */
static bool is_told(const struct set_fact *set, const struct read_group *r, char *why, size_t room)
{
    struct members m = members_of(set);
    struct str phase = kube_json_text(kube_json_path(r->json, "status.phase"));
    const char *wanted = m.pods < set->least ? "Pending" : phase_with(set, &m);
    if (str_is(phase, "Finished") || str_is(phase, "Failed"))
        return true;
    if (!str_is(phase, wanted))
        return say(why, room, "group %s is %.*s and should be %s", set->name, STR_ARG(phase),
                   wanted);
    if (!str_is(phase, "Pending") &&
        (number(r, "status.running") != m.running || number(r, "status.succeeded") != m.succeeded ||
         number(r, "status.failed") != m.failed))
        return say(why, room,
                   "group %s tells of %lld running, %lld succeeded and %lld failed pods, and there "
                   "are %lld, %lld and %lld",
                   set->name, (long long)number(r, "status.running"),
                   (long long)number(r, "status.succeeded"), (long long)number(r, "status.failed"),
                   (long long)m.running, (long long)m.succeeded, (long long)m.failed);
    cover("group is", wanted);
    return true;
}

/* ---- conditions of groups in the tree ---- */

static struct str condition_of(const struct read_group *r, struct str *reason)
{
    const struct kube_json *i = kube_json_first(kube_json_path(r->json, "status.conditions"));
    const struct kube_json *found = NULL;
    for (; i != NULL; i = kube_json_next(i)) { /* each release has its own; one True will do */
        struct str type = kube_json_text(kube_json_get(i, "type"));
        bool is_one =
            str_is(type, "PodGroupScheduled") || str_is(type, "PodGroupInitiallyScheduled");
        if (is_one && (found == NULL || str_is(kube_json_text(kube_json_get(i, "status")), "True")))
            found = i;
    }
    *reason = kube_json_text(kube_json_get(found, "reason"));
    return kube_json_text(kube_json_get(found, "status"));
}

static void look_at_condition(struct set_fact *set, const struct read_group *r)
{
    struct str reason, status = condition_of(r, &reason);
    if (set->was_scheduled && !str_is(status, "True"))
        violated("scheduled once", "group %s was scheduled and its condition says \"%.*s\"",
                 set->name, STR_ARG(status));
    set->was_scheduled = str_is(status, "True");
    cover("condition in the tree", str_is(status, "True")    ? "scheduled"
                                   : str_is(status, "False") ? "not scheduled"
                                                             : "none");
}

void checks_group_changed(const struct model_change *c)
{
    const char *slash = strchr(c->key, '/');
    struct set_fact *set = strcmp(c->plural, "podgroups") == 0 && slash != NULL && c->kind != 'D'
                               ? facts_set(slash + 1)
                               : NULL;
    struct read_group r;
    if (set == NULL || !set->tree || !read_group(set, &r))
        return;
    look_at_condition(set, &r);
    drop_group(&r);
}

bool checks_groups_told(char *why, size_t room)
{
    bool told = true;
    for (uint32_t s = 0; told && s < SETS_MAX; s++) {
        struct set_fact *set = &facts_sets[s];
        struct read_group r;
        if (!set->there || !read_group(set, &r))
            continue;
        if (set->tree)
            look_at_condition(set, &r);
        else
            told = is_told(set, &r, why, room);
        drop_group(&r);
    }
    return told;
}

/* ---- in a calm ---- */

/* For so many pods the leading coordinator keeps room, as it says; 0: nobody leads. */
static int64_t room_kept(void)
{
    const struct proc *leader = world_leader();
    const struct proc *p = leader != NULL ? world_find(leader->group, SCHEDULER) : NULL;
    struct buffer lines = {0};
    if (p == NULL || p->core == NULL)
        return 0;
    coordinator_status(p->core, &lines);
    int64_t kept = bounds_said(lines.at, "nominated");
    buffer_free(&lines);
    return kept;
}

/* A group that is too small by now is not tried any more, and what was lost of its end is not said
 * again: of those the coordinator's own count is looked at. Who was nominated alone, by a release
 * that knows no groups, keeps its room until its group is tried, as in Kubernetes. */
bool checks_groups_let_go(char *why, size_t room)
{
    const struct pod_fact *small = NULL;
    int64_t others = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        const struct set_fact *set = p->there && p->set[0] != 0 ? facts_set(p->set) : NULL;
        if (!p->there || p->node[0] != 0 || p->deleting || facts_ended(p) ||
            (p->nominated[0] == 0 && p->decided[0] == 0))
            continue;
        bool too_few = set != NULL && members_of(set).pods < set->least && p->decided[0] == 0;
        if (too_few && !p->alone)
            small = p;
        else if (set != NULL && !too_few && p->nominated[0] != 0)
            return say(why, room, "%s of group %s is pending, and %s keeps room for it", p->name,
                       p->set, p->nominated);
        else
            others++;
    }
    return small == NULL || room_kept() <= others ||
           say(why, room, "%s of group %s is pending, and room is kept for it on %s", small->name,
               small->set, small->nominated);
}

static bool has_started(const struct set_fact *set, const struct read_group *r, char *why,
                        size_t room)
{
    struct members m = members_of(set);
    struct str reason, status = condition_of(r, &reason);
    bool can = !set->hopeless && m.pods >= set->least;
    const char *wanted = can ? "True" : m.pods >= set->least ? "False" : "";
    if (!can && m.bound > 0)
        violated("never in part", "%lld members of group %s are bound, and it cannot start",
                 (long long)m.bound, set->name);
    if (can && m.bound < m.pods)
        return say(why, room, "%lld of %lld members of group %s are bound", (long long)m.bound,
                   (long long)m.pods, set->name);
    if (!set->tree)
        return true;
    if (!str_is(status, wanted) || (*wanted == 'F' && !str_is(reason, "Unschedulable")))
        return say(why, room, "the condition of group %s is \"%.*s\" (%.*s) and should be \"%s\"",
                   set->name, STR_ARG(status), STR_ARG(reason), wanted);
    return true;
}

bool checks_groups_examined(char *why, size_t room)
{
    bool good = true;
    for (uint32_t s = 0; good && s < SETS_MAX; s++) {
        const struct set_fact *set = &facts_sets[s];
        struct read_group r;
        if (!set->there || !set->examined || !read_group(set, &r))
            continue;
        good = has_started(set, &r, why, room);
        drop_group(&r);
    }
    return good;
}
