/* The fault menu: a list of rules; the first that matches a request and wins its dice strikes.
 *
 * The one idea: a rule is its own JSON, checked once against a table of fields, and read again
 * when it is shown; so what GET /faults answers is what is in force. Rules on watches also hold for
 * streams that are already running. */
#include "faults.h"

#include <stdio.h>
#include <string.h>

struct rule {
    cJSON *tree;
    double probability;
    double left; /* strikes left, -1 without a limit */
    double struck;
    struct fault fault;
};

struct faults {
    struct rule *rules;
    size_t count;
};

enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL };

static const struct {
    const char *name;
    enum field_type type;
} fields[] = {
    {"verb", FIELD_TEXT},
    {"resource", FIELD_TEXT},
    {"user", FIELD_TEXT},
    {"namespace", FIELD_TEXT},
    {"name", FIELD_TEXT},
    {"probability", FIELD_NUMBER},
    {"count", FIELD_NUMBER},
    {"delay_ms", FIELD_NUMBER},
    {"status", FIELD_NUMBER},
    {"retry_after", FIELD_NUMBER},
    {"drop", FIELD_BOOL},
    {"hang", FIELD_BOOL},
    {"commit_then_504", FIELD_BOOL},
    {"commit_then_drop", FIELD_BOOL},
    {"watch_silence", FIELD_BOOL},
    {"watch_close", FIELD_BOOL},
    {"watch_garbage", FIELD_BOOL},
    {"compact", FIELD_BOOL},
    {"struck", FIELD_NUMBER},
};

struct faults *faults_new(void)
{
    return memory_take(sizeof(struct faults));
}

static void rules_free(struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cJSON_Delete(rules[i].tree);
    memory_free(rules);
}

void faults_free(struct faults *faults)
{
    if (faults != NULL)
        rules_free(faults->rules, faults->count);
    memory_free(faults);
}

/* ---- reading ---- */

static bool type_fits(const cJSON *item, enum field_type type)
{
    switch (type) {
    case FIELD_TEXT: return cJSON_IsString(item);
    case FIELD_NUMBER: return cJSON_IsNumber(item) && item->valuedouble >= 0;
    default: return cJSON_IsBool(item);
    }
}

static cJSON *check_rule(const cJSON *rule, int number)
{
    if (!cJSON_IsObject(rule))
        return status_bad_request("faults: rules[%d] is not an object", number);
    for (const cJSON *item = rule->child; item != NULL; item = item->next) {
        size_t i = 0;
        while (i < sizeof fields / sizeof *fields && strcmp(fields[i].name, item->string) != 0)
            i++;
        if (i == sizeof fields / sizeof *fields)
            return status_bad_request("faults: rules[%d].%.40s: no such field", number,
                                      item->string);
        if (!type_fits(item, fields[i].type))
            return status_bad_request("faults: rules[%d].%s: must be %s", number, item->string,
                                      fields[i].type == FIELD_TEXT     ? "a string"
                                      : fields[i].type == FIELD_NUMBER ? "a number, not negative"
                                                                       : "true or false");
    }
    double status = tree_number(rule, "status", 500);
    if (status < 400 || status > 599)
        return status_bad_request("faults: rules[%d].status: must be 400 to 599", number);
    return NULL;
}

static struct rule read_rule(const cJSON *tree)
{
    struct rule rule = {.tree = tree_copy(tree),
                        .probability = tree_number(tree, "probability", 1),
                        .left = tree_number(tree, "count", -1)};
    rule.fault = (struct fault){
        .delay_ms = (int)tree_number(tree, "delay_ms", 0),
        .status = (int)tree_number(tree, "status", 0),
        .retry_after = (int)tree_number(tree, "retry_after", 0),
        .drop = tree_bool(tree, "drop"),
        .hang = tree_bool(tree, "hang"),
        .commit_then_504 = tree_bool(tree, "commit_then_504"),
        .commit_then_drop = tree_bool(tree, "commit_then_drop"),
        .watch = {.silent = tree_bool(tree, "watch_silence"),
                  .closed = tree_bool(tree, "watch_close"),
                  .garbage = tree_bool(tree, "watch_garbage")},
    };
    return rule;
}

/* ---- matching ---- */

static bool listed(const cJSON *rule, const char *field, const char *word)
{
    const char *list = tree_string(rule, field, "*");
    size_t length = strlen(word);
    while (*list) {
        size_t size = strcspn(list, ",");
        if ((size == 1 && *list == '*') || (size == length && strncmp(list, word, size) == 0))
            return true;
        list += size + (list[size] == ',');
    }
    return false;
}

static bool is_watch_rule(const struct rule *rule)
{
    return rule->fault.watch.silent || rule->fault.watch.closed || rule->fault.watch.garbage;
}

static bool strikes(struct rule *rule)
{
    if (rule->left == 0 || chance_fraction() >= rule->probability)
        return false;
    if (rule->left > 0)
        rule->left--;
    rule->struck++;
    return true;
}

struct fault faults_strike(struct faults *faults, const struct request *request)
{
    char target[400];
    if (faults == NULL || request->resource == NULL)
        return (struct fault){0};
    snprintf(target, sizeof target, "%s%s%s", request->resource->plural,
             *request->subresource ? "/" : "", request->subresource);
    for (size_t i = 0; i < faults->count; i++) {
        struct rule *rule = &faults->rules[i];
        bool matches =
            listed(rule->tree, "verb", request->verb) && listed(rule->tree, "resource", target) &&
            listed(rule->tree, "user", request->user->name) &&
            listed(rule->tree, "namespace", request->namespace) &&
            listed(rule->tree, "name", request->name) && !tree_bool(rule->tree, "compact") &&
            (!is_watch_rule(rule) || strcmp(request->verb, "watch") == 0);
        if (matches && strikes(rule))
            return rule->fault;
    }
    return (struct fault){0};
}

/* ---- effects on what is already running ---- */

static void fault_stream(void *context, struct watcher *watcher)
{
    struct faults *faults = context;
    struct watch_fault fault = {0};
    for (size_t i = 0; i < faults->count; i++) {
        struct rule *rule = &faults->rules[i];
        if (is_watch_rule(rule) && listed(rule->tree, "verb", "watch") &&
            listed(rule->tree, "resource", watcher_resource(watcher)->plural) &&
            listed(rule->tree, "user", watcher_user(watcher)->name) && strikes(rule)) {
            fault = rule->fault.watch;
            break;
        }
    }
    watcher_set_fault(watcher, fault);
}

static void compact_matching(struct server *server, struct rule *rule)
{
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        if (listed(rule->tree, "resource", resources[i].plural) && !(resources[i].flags & VIEW)) {
            registry_compact(&server->registry, i);
            rule->struck++;
        }
    }
}

static void put_in_force(struct server *server)
{
    struct faults *faults = server->faults;
    for (size_t i = 0; i < faults->count; i++) {
        if (tree_bool(faults->rules[i].tree, "compact"))
            compact_matching(server, &faults->rules[i]);
    }
    watchers_each(server, fault_stream, faults);
}

cJSON *faults_set(struct server *server, const char *json, size_t size)
{
    cJSON *tree = tree_parse(json, size);
    const cJSON *list = cJSON_IsArray(tree) ? tree : tree_get(tree, "rules"), *item;
    cJSON *refused = NULL;
    int number = 0;
    if (!cJSON_IsArray(list))
        refused = status_bad_request("faults: expected {\"rules\": [{…}]} or a list of rules");
    cJSON_ArrayForEach(item, list)
    {
        if (refused == NULL)
            refused = check_rule(item, number++);
    }
    if (refused == NULL) {
        struct faults *faults = server->faults;
        rules_free(faults->rules, faults->count);
        faults->count = 0;
        faults->rules = memory_take_array((size_t)number + 1, sizeof *faults->rules);
        cJSON_ArrayForEach(item, list) faults->rules[faults->count++] = read_rule(item);
        put_in_force(server);
    }
    cJSON_Delete(tree);
    return refused;
}

void faults_clear(struct server *server)
{
    must(faults_set(server, "[]", 2) == NULL);
}

cJSON *faults_show(const struct faults *faults)
{
    cJSON *tree = cJSON_CreateObject(), *list = cJSON_CreateArray();
    for (size_t i = 0; i < faults->count; i++) {
        cJSON *rule = tree_copy(faults->rules[i].tree);
        tree_set_number(rule, "struck", faults->rules[i].struck);
        cJSON_AddItemToArray(list, rule);
    }
    tree_set(tree, "rules", list);
    return tree;
}
