/* priority_classes: the one idea: a scenario that names a class means the class's number, as a
 * cluster would.
 *
 * What must stay true: a pod that says its priority keeps it; who names a class that is not there
 * is refused, as by admission. */
#include "ctl/priority_classes.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"

struct priority_class {
    int64_t value;
    bool global, never; /* never: preemptionPolicy Never */
};

struct priority_classes {
    struct map *by_name; /* → struct priority_class */
};

struct priority_classes *priority_classes_new(void)
{
    struct priority_classes *classes = memory_take(sizeof(*classes));
    classes->by_name = map_new();
    return classes;
}

void priority_classes_free(struct priority_classes **classes)
{
    size_t at = 0;
    void *class;
    if (*classes == NULL)
        return;
    while (map_next((*classes)->by_name, &at, NULL, &class))
        memory_free(class);
    map_free(&(*classes)->by_name);
    memory_free(*classes);
    *classes = NULL;
}

void priority_classes_set(struct priority_classes *classes, const struct kube_json *object)
{
    struct priority_class *class = memory_take(sizeof(*class));
    (void)kube_json_i64(kube_json_get(object, "value"), &class->value);
    class->global = kube_json_true(kube_json_get(object, "globalDefault"));
    class->never = str_is(kube_json_text(kube_json_get(object, "preemptionPolicy")), "Never");
    memory_free(
        map_set(classes->by_name, kube_json_text(kube_json_path(object, "metadata.name")), class));
}

/* The least of several defaults, as admission picks it; NULL: there is none. */
static const struct priority_class *global_default(const struct priority_classes *classes)
{
    const struct priority_class *found = NULL;
    size_t at = 0;
    void *value;
    while (map_next(classes->by_name, &at, NULL, &value)) {
        const struct priority_class *class = value;
        if (class->global && (found == NULL || class->value < found->value))
            found = class;
    }
    return found;
}

/* The two that every cluster has. */
static const struct priority_class *system_class(struct str name)
{
    static const struct priority_class node = {.value = 2000001000},
                                       cluster = {.value = 2000000000};
    if (str_is(name, "system-node-critical"))
        return &node;
    return str_is(name, "system-cluster-critical") ? &cluster : NULL;
}

bool priority_classes_fill_in(const struct priority_classes *classes,
                              const struct kube_json *object, struct pod *pod, struct str *error,
                              struct arena *a)
{
    struct str name = kube_json_text(kube_json_path(object, "spec.priorityClassName"));
    const struct priority_class *class = map_get(classes->by_name, name);
    if (pod->has_priority)
        return true;
    if (class == NULL)
        class = name.len > 0 ? system_class(name) : global_default(classes);
    if (class == NULL && name.len > 0) {
        *error = arena_print(a, "pod %.*s/%.*s: no PriorityClass with name %.*s was found",
                             STR_ARG(pod->namespace_name), STR_ARG(pod->name), STR_ARG(name));
        return false;
    }
    pod->has_priority = true;
    pod->priority = class != NULL ? class->value : 0;
    if (class != NULL && class->never && pod->preemption_policy.len == 0)
        pod->preemption_policy = STR_LITERAL("Never");
    return true;
}
