/* test_hints: events and pods that they may wake, with what the real kube-scheduler's hint
 * functions say of each (tests/fidelity/oracle/hints); ours must say the same, from objects that
 * went through the mirror, asked one by one and through the index of waiting pods. In-tree disks,
 * with what the real translation to CSI makes of them. The cases are tests/golden/hints.ndjson and,
 * as 1.37 answers, hints-1.37.ndjson and, of pods on nodes whose resize was put off,
 * hints-resizes-1.37.ndjson; or the file that the variable BERTH_HINTS names, of the
 * release whose minor BERTH_HINTS_MINOR is (36). */
#include "proto/kube/objects/objects.h"
#include "proto/kube/objects/requests.h"
#include "proto/kube/objects/terms.h"
#include "proto/kube/release/release.h"
#include "queue/entry.h"
#include "queue/hint.h"
#include "queue/hints.h"
#include "queue/mirror.h"
#include "queue/needs.h"
#include "queue/owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINE_MAX_BYTES (1 << 20)

static struct arena arena;
static unsigned line_number, differences, ignored, indexed;
static uint8_t release; /* whose answers the cases have */
static bool resizes;    /* the case was asked with InPlacePodVerticalScalingSchedulerPreemption */

/* Says where and goes on, so that one run shows all. */
__attribute__((format(printf, 1, 2))) static void differ(const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (++differences <= 20)
        print_error("line %u: %s\n", line_number, what);
}

/* The same as in the oracle's configuration. */
static const struct profile *listed(void)
{
    static struct spread_constraint spread[] = {
        {.max_skew = 1, .topology_key = {"zone", 4}, .when_unsatisfiable = {"DoNotSchedule", 13}},
        {.max_skew = 1, .topology_key = {"rack", 4}, .when_unsatisfiable = {"ScheduleAnyway", 14}}};
    static struct requirement disk = {.key = {"disk", 4}, .operator_name = {"Exists", 6}};
    static struct node_term added = {.expressions = {1, &disk}};
    static const struct profile profile = {
        .features = {.spread_label_keys = true, .device_extended = true},
        .spread_defaults = {2, spread},
        .has_added_required = true,
        .added_required = {1, &added}};
    return &profile;
}

/* ---- objects through the mirror ---- */

struct happened {
    struct event event;
    struct event_changes changes; /* the actions, in order */
    struct pod old_pod, new_pod;
    struct node old_node, new_node;
    union mirror_record old_object;
    struct message set;
};

static void read_message(const char *kind, const struct kube_json *object, struct message *m)
{
    struct str key, error = {0};
    if (!kube_resource_of(str_of(kind))->set(object, m, &key, &arena, &error))
        fail_msg("refused: %.*s", STR_ARG(error));
}

static void read_pod(const struct kube_json *object, struct pod *pod)
{
    struct str error = {0};
    if (!kube_object_pod(object, pod, &arena, &error))
        fail_msg("refused: %.*s", STR_ARG(error));
    struct features features = release_features(release);
    features.resize_preemption = resizes;
    *pod = requests_as_of(pod, &features);
}

static void one_action(struct happened *h, const struct kube_json *old, const struct kube_json *new)
{
    h->changes.count = 1;
    h->changes.at[0] = old == NULL ? EVENT_ADD : new == NULL ? EVENT_DELETE : EVENT_UPDATE;
}

static void node_happened(struct happened *h, const struct kube_json *old,
                          const struct kube_json *new)
{
    struct mirror *m = mirror_new();
    struct message set;
    one_action(h, old, new);
    if (old != NULL) {
        read_message("Node", old, &set);
        mirror_set_node(m, &set.node_set.node, NULL, &arena);
        assert_true(mirror_remove_node(m, set.node_set.node.name, &h->old_node, &arena));
        h->event.old_node = &h->old_node;
    }
    if (new != NULL) {
        read_message("Node", new, &set);
        h->new_node = set.node_set.node;
        h->event.new_node = &h->new_node;
    }
    if (old != NULL && new != NULL)
        h->changes = event_node_changes(&h->old_node, &h->new_node, (uint8_t)release);
    mirror_free(&m);
}

static void pod_happened(struct happened *h, const struct kube_json *old,
                         const struct kube_json *new)
{
    struct mirror *m = mirror_new();
    bool assigned = h->event.resource == EVENT_OF_assigned_pod;
    one_action(h, old, new);
    if (old != NULL) {
        read_pod(old, &h->old_pod);
        if (assigned) {
            struct pod whole = h->old_pod;
            struct str key = mirror_key(whole.namespace_name, whole.name, &arena);
            mirror_set_pod(m, key, &whole, NULL, &arena);
            assert_true(mirror_remove_pod(m, key, whole.uid, &h->old_pod, &arena));
        }
        h->event.old_pod = &h->old_pod;
    }
    if (new != NULL) {
        read_pod(new, &h->new_pod);
        h->event.new_pod = &h->new_pod;
    }
    if (old != NULL && new != NULL)
        h->changes = assigned ? event_assigned_changes(&h->old_pod, &h->new_pod, release)
                              : event_pending_changes(&h->old_pod, &h->new_pod, release);
    if (h->new_pod.resize_deferred) /* it waits, and is on a node all the same */
        h->event.resource = EVENT_OF_assigned_pod;
    mirror_free(&m);
}

static void object_happened(struct happened *h, const char *kind, const struct kube_json *old,
                            const struct kube_json *new)
{
    struct mirror *m = mirror_new();
    struct mirror_update update = {0};
    one_action(h, old, new);
    if (old != NULL) {
        read_message(kind, old, &h->set);
        update = mirror_set_object(m, &h->set, NULL, &arena);
        struct message gone;
        kube_resource_of(str_of(kind))->gone(&h->set, &gone);
        assert_true(
            mirror_remove_object(m, update.resource, &gone.object_gone, &h->old_object, &arena));
        h->event.old_object = &h->old_object;
    }
    if (new != NULL) {
        read_message(kind, new, &h->set);
        update = mirror_set_object(m, &h->set, NULL, &arena);
        h->event.new_object = update.record;
    }
    h->event.resource = update.resource;
    mirror_free(&m);
}

static void read_happened(struct happened *h, const struct kube_json *line)
{
    const struct kube_json *old = kube_json_get(line, "old"), *new = kube_json_get(line, "new");
    char kind[64];
    struct str name = kube_json_text(kube_json_get(line, "resource"));
    snprintf(kind, sizeof(kind), "%.*s", STR_ARG(name));
    *h = (struct happened){.event.release = release};
    if (strcmp(kind, "Node") == 0) {
        node_happened(h, old, new);
    } else if (strcmp(kind, "AssignedPod") == 0 || strcmp(kind, "UnschedulablePod") == 0) {
        h->event.resource = kind[0] == 'A' ? EVENT_OF_assigned_pod : EVENT_OF_unschedulable_pod;
        pod_happened(h, old, new);
    } else {
        object_happened(h, kind, old, new);
    }
}

/* ---- the answers ---- */

static const char *action_name(uint32_t action)
{
    switch (action) {
    case EVENT_ADD: return "Add";
    case EVENT_DELETE: return "Delete";
    case EVENT_NODE_ALLOCATABLE: return "UpdateNodeAllocatable";
    case EVENT_NODE_LABEL: return "UpdateNodeLabel";
    case EVENT_NODE_TAINT: return "UpdateNodeTaint";
    case EVENT_NODE_CONDITION: return "UpdateNodeCondition";
    case EVENT_NODE_FEATURE: return "UpdateNodeDeclaredFeature";
    case EVENT_NODE_PREEMPTION: return "UpdateNodePreemptionPolicy";
    case EVENT_POD_LABEL: return "UpdatePodLabel";
    case EVENT_POD_SCALE_DOWN: return "UpdatePodScaleDown";
    case EVENT_POD_SCALE_UP: return "UpdatePodScaleUp";
    case EVENT_POD_TOLERATION: return "UpdatePodToleration";
    case EVENT_POD_GATES: return "UpdatePodSchedulingGatesEliminated";
    case EVENT_UPDATE: return "Update";
    default: return "?";
    }
}

static bool lists(const struct kube_json *list, const char *name)
{
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i))
        if (str_is(kube_json_text(i), name))
            return true;
    return false;
}

static bool ends_with(struct str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.at + text.len - len, end, len) == 0;
}

/* A pod's update without a kind: we say nothing when nobody could use it. */
static bool may_be_left_out(const struct kube_json *told)
{
    return ends_with(kube_json_text(kube_json_get(told, "event")), "PodUpdate") &&
           kube_json_count(kube_json_get(told, "plugins")) == 0;
}

/* Who may have turned the pod away: of one whose resize was put off no other plugin is asked. */
static uint64_t plugins_of_interest(const struct pod *pod)
{
    if (!pod->resize_deferred)
        return ((uint64_t)1 << (plugins_count() - 1)) - 1;
    return plugins_bit("NodeName") | plugins_bit("DeferredPodScheduling") |
           plugins_bit("NodeResourcesFit");
}

/* The pod waits for whatever can help any plugin: those that the index finds must be the same. */
static void compare_index(const struct event *event, const struct pod *pod,
                          const struct surroundings *around)
{
    uint64_t all = plugins_of_interest(pod);
    struct packed_store *store = store_new(&store_pods);
    struct entry *e = entry_new(store, pod);
    struct needs needs;
    if (event->resource == EVENT_OF_unschedulable_pod)
        all = 0; /* asked of the pod alone */
    e->rejectors = all | PLUGINS_other;
    e->around = around;
    needs_init(&needs);
    needs_add(&needs, e);
    uint64_t one_by_one = PLUGINS_other | hints_helped(event, pod, around, all);
    if (event->resource != EVENT_OF_unschedulable_pod) {
        assert_ptr_equal(needs_helped(&needs, event), e);
        if (e->helped != one_by_one)
            differ("the index finds %llx instead of %llx", (unsigned long long)e->helped,
                   (unsigned long long)one_by_one);
        indexed += e->helped != PLUGINS_other;
    }
    needs_remove(&needs, e);
    needs_free(&needs);
    entry_free(&e);
    store_free(&store);
}

static void compare_event(const struct happened *h, uint32_t action, const struct kube_json *told,
                          const struct pod *pod, const struct surroundings *around)
{
    struct event event = h->event;
    const struct kube_json *plugins = kube_json_get(told, "plugins");
    struct str label = kube_json_text(kube_json_get(told, "event"));
    event.action = action;
    if (!ends_with(label, action_name(action)))
        differ("%s instead of %.*s", action_name(action), STR_ARG(label));
    compare_index(&event, pod, around);
    for (size_t i = 0; i + 1 < plugins_count(); i++) {
        uint64_t set = plugins_bit(plugins_name(i)) & plugins_of_interest(pod);
        if (set == 0)
            continue;
        bool helped = hints_helped(&event, pod, around, set) != 0;
        if (helped && hints_arrival(&event) && (hints_ignoring_arrivals(pod, around) & set) != 0)
            differ("%s does not ignore pods that appear", plugins_name(i));
        ignored += hints_arrival(&event) && (hints_ignoring_arrivals(pod, around) & set) != 0;
        if (helped != lists(plugins, plugins_name(i)))
            differ("%.*s: %s says %s", STR_ARG(label), plugins_name(i), helped ? "yes" : "no");
    }
}

static void play_event(const struct kube_json *line)
{
    static struct happened h;
    struct owners *owners = owners_new();
    struct pod pod;
    bool has_profile = kube_json_get(line, "profile") != NULL;
    struct surroundings around = {
        .profile = has_profile ? listed() : NULL, .owners = owners, .obeys_gates = true};
    const struct kube_json *list = kube_json_get(line, "owners");
    for (const struct kube_json *o = kube_json_first(list); o != NULL; o = kube_json_next(o)) {
        struct message m;
        char *kind = str_copy(kube_json_text(kube_json_get(o, "kind")));
        read_message(kind, o, &m);
        owners_set(owners, &m.owner_set.owner);
        free(kind);
    }
    resizes = kube_json_get(line, "resizes") != NULL;
    read_pod(kube_json_get(line, "pod"), &pod);
    read_happened(&h, line);
    uint32_t n = 0;
    const struct kube_json *all = kube_json_get(line, "events");
    for (const struct kube_json *told = kube_json_first(all); told != NULL;
         told = kube_json_next(told)) {
        if (n < h.changes.count)
            compare_event(&h, h.changes.at[n++], told, &pod, &around);
        else if (!may_be_left_out(told))
            differ("an event is missing");
    }
    if (n != h.changes.count)
        differ("%u events too many", h.changes.count - n);
    owners_free(&owners);
}

/* ---- translation ---- */

static void compare_text(const char *what, struct str ours, const struct kube_json *csi)
{
    struct str theirs = kube_json_text(kube_json_get(csi, what));
    if (!str_equal(ours, theirs))
        differ("%s \"%.*s\" instead of \"%.*s\"", what, STR_ARG(ours), STR_ARG(theirs));
}

static void compare_terms(const struct volume *volume, const struct kube_json *csi)
{
    struct reading r = {.arena = &arena};
    struct cursor root = cursor_root(&r, kube_json_path(csi, "nodeAffinity.required"));
    struct cursor list = cursor_list(&root, "nodeSelectorTerms");
    uint32_t count;
    struct node_term *terms = kube_read_node_terms(&list, &count);
    if (volume->has_migrated_terms != (root.value != NULL) ||
        volume->migrated_terms.count != count) {
        differ("another number of node terms");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!codec_equal(&node_term_record, &terms[i], &volume->migrated_terms.at[i]))
            differ("another node affinity");
}

static void play_translation(const struct kube_json *line)
{
    const struct kube_json *csi = kube_json_get(line, "csi");
    struct message m;
    read_message("PersistentVolume", kube_json_get(line, "translate"), &m);
    const struct volume *volume = &m.volume_set.volume;
    compare_text("driver", volume->driver, csi);
    compare_text("handle", volume->handle, csi);
    compare_text("error", volume->migration_problem, csi);
    if (volume->migration_problem.len == 0 && volume->source != SOURCE_vsphere)
        compare_terms(volume, csi);
}

static void play_inline(const struct kube_json *line, struct str text)
{
    /* The volume as part of a pod. */
    const struct kube_json *csi = kube_json_get(line, "csi");
    const char *begin = strstr(text.at, "{\"name\"");
    const char *end = strstr(text.at, ",\"namespace\"");
    assert_true(begin != NULL && end != NULL && begin < end);
    struct str pod_text = arena_print(
        &arena,
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\"},\"spec\":{\"volumes\":[%.*s]}}",
        (int)(end - begin), begin);
    struct str error = {0};
    struct kube_json *json = kube_json_parse(pod_text, &error, &arena);
    struct pod pod;
    assert_non_null(json);
    read_pod(json, &pod);
    kube_json_free(&json);
    assert_int_equal(pod.volumes.count, 1);
    if (pod.volumes.at[0].problem.len == 0)
        compare_text("driver", pod.volumes.at[0].driver, csi);
    compare_text("handle", pod.volumes.at[0].handle, csi);
    compare_text("error", pod.volumes.at[0].problem, csi);
}

/* ---- the cases ---- */

static void play(struct str text)
{
    struct str error = {0};
    struct kube_json *line = kube_json_parse(text, &error, &arena);
    if (line == NULL)
        fail_msg("no JSON: %.*s", STR_ARG(error));
    if (kube_json_get(line, "translate") != NULL)
        play_translation(line);
    else if (kube_json_get(line, "inline") != NULL)
        play_inline(line, text);
    else
        play_event(line);
    kube_json_free(&line);
    arena_reset(&arena);
}

static void play_file(const char *path, uint8_t of)
{
    release = of;
    line_number = differences = ignored = indexed = 0;
    char *line = malloc(LINE_MAX_BYTES);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("cannot read %s", path);
    while (line != NULL && fgets(line, LINE_MAX_BYTES, f) != NULL) {
        line_number++;
        play(str_of(line));
    }
    fclose(f);
    free(line);
    assert_true(line_number > 100);
    assert_true(indexed > line_number / 10);
    assert_true(ignored > 0 || line_number < 500); /* pods that appear, and plain ones that wait */
    assert_int_equal(differences, 0);
}

static void the_answers_are_upstreams(void **state)
{
    (void)state;
    const char *path = getenv("BERTH_HINTS"), *minor = getenv("BERTH_HINTS_MINOR");
    if (path != NULL)
        play_file(path, minor != NULL ? (uint8_t)strtoul(minor, NULL, 10) : 36);
    else
        play_file("tests/golden/hints.ndjson", 36);
}

static void those_of_1_37_are_its_own(void **state)
{
    (void)state;
    if (getenv("BERTH_HINTS") == NULL)
        play_file("tests/golden/hints-1.37.ndjson", 37);
}

static void those_about_resizes_are_upstreams(void **state)
{
    (void)state;
    if (getenv("BERTH_HINTS") == NULL)
        play_file("tests/golden/hints-resizes-1.37.ndjson", 37);
}

/* ---- gates ---- */

static void classes_wake_nobody_without_their_gate(void **state)
{
    (void)state;
    struct quantity gpu = {STR_LITERAL("example.com/gpu"), 1};
    const struct pod pod = {.request = {1, &gpu}};
    const struct device_class class = {.name = STR_LITERAL("c"), .extended_resource = gpu.name};
    const struct event event = {.resource = EVENT_OF_device_class, .new_object = &class};
    const struct profile on = {.features = {.device_extended = true}}, off = {0};
    struct surroundings around = {.profile = &on};
    const struct question question = {&pod, &event, &around};
    assert_true(hint_class_maps(&question));
    around.profile = &off;
    assert_false(hint_class_maps(&question));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_answers_are_upstreams),
                                       cmocka_unit_test(those_of_1_37_are_its_own),
                                       cmocka_unit_test(those_about_resizes_are_upstreams),
                                       cmocka_unit_test(classes_wake_nobody_without_their_gate)};
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return status;
}
