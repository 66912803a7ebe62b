/* taint_rules: DeviceTaintRules, found by the device that they name, since a rule is made when one
 * device is broken, and there are many devices. What must stay true: a rule is in one list, that of
 * its device's name or, if it names none, of those for any. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

struct taint_rules {
    struct map *named; /* the first struct taint_rule, by the device's name */
    struct taint_rule *any;
};

struct taint_rules *taint_rules_new(void)
{
    struct taint_rules *rules = memory_take(sizeof(*rules));
    rules->named = map_new();
    return rules;
}

static struct taint_rule *rule_make(const struct dra_taint_rule *said)
{
    struct taint_rule *rule = memory_take(sizeof(*rule));
    rule->said = (struct dra_taint_rule){.name = str_keep(said->name),
                                         .has_selector = said->has_selector,
                                         .driver = str_keep(said->driver),
                                         .pool = str_keep(said->pool),
                                         .device = str_keep(said->device),
                                         .taint = {.key = str_keep(said->taint.key),
                                                   .value = str_keep(said->taint.value),
                                                   .effect = str_keep(said->taint.effect)}};
    return rule;
}

static void rule_free(struct taint_rule *rule)
{
    struct dra_taint_rule *said = &rule->said;
    struct str *texts[] = {&said->name,      &said->driver,      &said->pool,        &said->device,
                           &said->taint.key, &said->taint.value, &said->taint.effect};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        str_drop(texts[i]);
    memory_free(rule);
}

static void list_free(struct taint_rule *rule)
{
    while (rule != NULL) {
        struct taint_rule *next = rule->next;
        rule_free(rule);
        rule = next;
    }
}

void taint_rules_free(struct taint_rules **rules)
{
    size_t at = 0;
    void *first;
    while (map_next((*rules)->named, &at, NULL, &first))
        list_free(first);
    list_free((*rules)->any);
    map_free(&(*rules)->named);
    memory_free(*rules);
    *rules = NULL;
}

/* Takes it out of the list that begins there, and frees it. */
static bool take_out(struct taint_rule **at, struct str name)
{
    for (; *at != NULL; at = &(*at)->next) {
        struct taint_rule *rule = *at;
        if (!str_equal(rule->said.name, name))
            continue;
        *at = rule->next;
        rule_free(rule);
        return true;
    }
    return false;
}

static void set_named(struct taint_rules *rules, struct str device, struct taint_rule *first)
{
    if (first == NULL)
        map_remove(rules->named, device);
    else
        map_set(rules->named, device, first);
}

void devices_remove_taint_rule(struct devices *devices, struct str name)
{
    struct taint_rules *rules = devices->rules;
    size_t at = 0;
    struct str device;
    changes_all(devices);
    void *value;
    if (take_out(&rules->any, name))
        return;
    while (map_next(rules->named, &at, &device, &value)) {
        struct taint_rule *first = value;
        if (!take_out(&first, name))
            continue;
        if (first != value)
            set_named(rules, device, first);
        return;
    }
}

void devices_put_taint_rule(struct devices *devices, const struct dra_taint_rule *said)
{
    struct taint_rules *rules = devices->rules;
    devices_remove_taint_rule(devices, said->name);
    struct taint_rule *rule = rule_make(said);
    if (said->device.len == 0) {
        rule->next = rules->any;
        rules->any = rule;
        return;
    }
    rule->next = map_get(rules->named, said->device);
    set_named(rules, rule->said.device, rule);
}

const struct taint_rule *taint_rules_named(const struct taint_rules *rules, struct str device)
{
    return map_get(rules->named, device);
}

const struct taint_rule *taint_rules_for_any(const struct taint_rules *rules)
{
    return rules->any;
}
