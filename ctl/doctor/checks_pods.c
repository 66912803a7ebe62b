/* checks_pods: pods and groups that wait, and nobody says why. What must stay true: a pod that
 * waits for room and says so is no finding, however long it waits.
 */
#include "ctl/doctor/facts.h"

#include <inttypes.h>

#define POD_EACH(f, p)                                                                             \
    for (const struct pod_fact *p = (f)->pods; (f)->has_pods && p < (f)->pods + (f)->pod_count; p++)

static struct str name_of(const struct pod_fact *p, struct findings_list *out)
{
    return arena_print(&out->memory, "%.*s/%.*s", STR_ARG(p->space), STR_ARG(p->name));
}

static bool is_ours(const struct facts *f, const struct pod_fact *p)
{
    for (uint32_t i = 0; i < f->serves.count; i++)
        if (str_equal(f->serves.at[i], p->scheduler))
            return true;
    return false;
}

static void look_unserved(const struct facts *f, const struct check *c, struct findings_list *out)
{
    POD_EACH (f, p)
        if (f->has_serves && !is_ours(f, p) && !p->deleting && !p->gated && !p->reasoned &&
            p->age_s >= f->for_s)
            find(out, c, name_of(p, out), p->age_s,
                 "waits for a scheduler %.*s, which is not served here, and nobody has said a word "
                 "to it",
                 STR_ARG(p->scheduler));
}

static void look_silent(const struct facts *f, const struct check *c, struct findings_list *out)
{
    POD_EACH (f, p)
        if (f->has_serves && is_ours(f, p) && !p->deleting && !p->gated && !p->reasoned &&
            p->age_s >= f->for_s)
            find(out, c, name_of(p, out), p->age_s, "is pending, and its status does not say why");
}

static void look_gates(const struct facts *f, const struct check *c, struct findings_list *out)
{
    POD_EACH (f, p)
        if (p->gated && !p->deleting && p->age_s >= f->gates_s)
            find(out, c, name_of(p, out), p->age_s, "nobody opens its gates: %.*s",
                 STR_ARG(p->gates));
}

/* It makes room for nobody, and keeps its claim. */
static void look_deleting(const struct facts *f, const struct check *c, struct findings_list *out)
{
    POD_EACH (f, p)
        if (p->deleting && p->age_s >= f->for_s + f->gates_s)
            find(out, c, name_of(p, out), p->age_s,
                 "is being deleted without a node, and does not go: a finalizer holds it");
}

/* ---- groups, as the queue tells of them ---- */

/* group:NAMESPACE/NAME=STATE,placed:0,needed:3,…,waiting_s:12 */
struct group_line {
    struct str name, state;
    int64_t pending, needed, waiting_s;
};

static int64_t number_in(struct str line, const char *field)
{
    struct str word = str_of(field);
    for (uint32_t i = 0; i + word.len < line.len; i++) {
        struct str here = {line.at + i, word.len};
        int64_t value;
        if (!str_equal(here, word) || (i > 0 && line.at[i - 1] != ','))
            continue;
        struct str digits = {line.at + i + word.len, 0};
        while (digits.at + digits.len < line.at + line.len && digits.at[digits.len] != ',')
            digits.len++;
        return str_to_i64(digits, &value) ? value : -1;
    }
    return -1;
}

static bool read_group(const struct label *line, struct group_line *g)
{
    if (!str_starts_with(line->key, "group:"))
        return false;
    g->name = (struct str){line->key.at + 6, line->key.len - 6};
    g->state = line->value;
    for (g->state.len = 0; g->state.len < line->value.len && line->value.at[g->state.len] != ',';)
        g->state.len++;
    g->pending = number_in(line->value, "pending:");
    g->needed = number_in(line->value, "needed:");
    g->waiting_s = number_in(line->value, "waiting_s:");
    return true;
}

static void look_group(const struct facts *f, const struct check *c, const struct group_line *g,
                       struct findings_list *out)
{
    if (g->waiting_s < f->for_s)
        return;
    if (str_is(g->state, "too-few-pods"))
        find(out, c, g->name, g->waiting_s,
             "needs %" PRId64 " more pods, and has %" PRId64 " that wait", g->needed, g->pending);
    else if (str_is(g->state, "no-pod-group"))
        find(out, c, g->name, g->waiting_s, "pods name it, and there is no such PodGroup");
    else if (str_is(g->state, "pod-groups-unread"))
        find(out, c, g->name, g->waiting_s, "pods name it, and PodGroups cannot be read");
    else if (str_is(g->state, "several-schedulers"))
        find(out, c, g->name, g->waiting_s, "its pods name several schedulers");
    else if (str_is(g->state, "too-large"))
        find(out, c, g->name, g->waiting_s, "it is larger than can be decided as one");
}

static void look_groups(const struct facts *f, const struct check *c, struct findings_list *out)
{
    for (uint32_t k = 0; k < f->process_count; k++) {
        const struct process_fact *p = &f->processes[k];
        struct group_line g;
        for (uint32_t i = 0; is_kind(p, QUEUE) && i < p->now.lines.count; i++)
            if (read_group(&p->now.lines.at[i], &g))
                look_group(f, c, &g, out);
    }
}

const struct check pod_checks[] = {
    {"nobody's-pod", "schedulerName of pods that wait",
     "correct spec.schedulerName, add a profile of that name, or start that scheduler",
     look_unserved},
    {"no-reason", "the PodScheduled condition of pods that wait",
     "berth explain NAMESPACE/NAME; look at events and at rights to patch pods/status",
     look_silent},
    {"gates", "scheduling gates", "look at who set them; whoever is to remove them may be gone",
     look_gates},
    {"stuck-deletion", "pods without a node that are being deleted",
     "look at metadata.finalizers and at who is to remove them", look_deleting},
    {"group", "PodGroups whose pods wait",
     "look at the group's minMember and at who creates its pods; berth queue shows them",
     look_groups},
};

const size_t pod_check_count = sizeof(pod_checks) / sizeof(pod_checks[0]);
