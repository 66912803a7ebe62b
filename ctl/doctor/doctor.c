/* doctor: `berth doctor`, what is silently wrong. The one idea: facts are gathered first, then each
 * check looks at all of them, and none asks anybody anything. What must stay true: the exit status
 * is 0 only when every check could look at what it looks at and found nothing.
 */
#include "ctl/doctor/doctor.h"

#include "ctl/doctor/gather.h"
#include "ctl/json_out.h"
#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define WAIT_S      3
#define FOR_S       300
#define GATES_S     3600
#define LAG_S       15
#define SLOW_MS     1000
#define YOUNG_S     30
#define NUMBER_MOST 10000000

struct command {
    struct gathering g;
    struct findings_list found;
    const char *kubeconfig, *master;
    struct strs missing; /* what could not be looked at */
    bool seen_api;       /* all that there is at the API server was looked at */
    bool list;
};

/* ---- options ---- */

static bool take_number(const char *value, int64_t *into)
{
    return options_number(value, 0, NUMBER_MOST, into);
}

static bool take_for(void *state, const char *value)
{
    return take_number(value, &((struct command *)state)->g.facts.for_s);
}

static bool take_gates(void *state, const char *value)
{
    return take_number(value, &((struct command *)state)->g.facts.gates_s);
}

static bool take_lag(void *state, const char *value)
{
    return take_number(value, &((struct command *)state)->g.facts.lag_s);
}

static bool take_slow(void *state, const char *value)
{
    return take_number(value, &((struct command *)state)->g.facts.slow_ms);
}

static bool take_young(void *state, const char *value)
{
    return take_number(value, &((struct command *)state)->g.facts.young_s);
}

static bool take_kubeconfig(void *state, const char *value)
{
    ((struct command *)state)->kubeconfig = value;
    return *value != 0;
}

static bool take_master(void *state, const char *value)
{
    ((struct command *)state)->master = value;
    return *value != 0;
}

static bool take_list(void *state, const char *value)
{
    (void)value;
    ((struct command *)state)->list = true;
    return true;
}

static const struct own_option doctor_options[] = {
    {"kubeconfig", "FILE", "compare with the API server, too, reached as this says",
     take_kubeconfig},
    {"master", "URL", "the same, at this address", take_master},
    {"for", "S", "seconds that pods and groups may wait without a word (300)", take_for},
    {"gates", "S", "seconds that scheduling gates may be closed (3600)", take_gates},
    {"lag", "S", "seconds that writes may wait, and the view be old (15)", take_lag},
    {"slow", "MS", "milliseconds that an extender may take on average (1000)", take_slow},
    {"young", "S", "seconds that a process is given after its start (30)", take_young},
    {"list", NULL, "print the checks and what they look at", take_list},
    {NULL, NULL, NULL, NULL},
};

/* ---- words ---- */

static void list_checks(const struct check *checks, size_t count, struct json_out *j)
{
    for (size_t i = 0; i < count && j == NULL; i++)
        printf("%-20s %s\n", checks[i].name, checks[i].looks_at);
    for (size_t i = 0; i < count && j != NULL; i++) {
        json_open(j, NULL, '{');
        json_str(j, "check", str_of(checks[i].name));
        json_str(j, "looksAt", str_of(checks[i].looks_at));
        json_close(j, '}');
    }
}

static void print_checks(bool json)
{
    struct buffer out = {0};
    struct json_out j = {.out = &out, .indented = true};
    json_open(&j, NULL, '{');
    json_open(&j, "checks", '[');
    list_checks(process_checks, process_check_count, json ? &j : NULL);
    list_checks(pod_checks, pod_check_count, json ? &j : NULL);
    json_close(&j, ']');
    json_close(&j, '}');
    if (json)
        printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
}

static void print_since(int64_t seconds)
{
    if (seconds < 0)
        return;
    if (seconds < 120)
        printf(" (for %" PRId64 " s)", seconds);
    else if (seconds < 7200)
        printf(" (for %" PRId64 " min)", seconds / 60);
    else
        printf(" (for %" PRId64 " h)", seconds / 3600);
}

static void print_text(const struct command *k)
{
    const char *advice = NULL;
    for (uint32_t i = 0; i < k->found.count; i++) {
        const struct finding *one = &k->found.at[i];
        if (advice != NULL && advice != one->advice)
            printf("    %s\n", advice);
        advice = one->advice;
        printf("%s: %.*s: %.*s", one->check, STR_ARG(one->object), STR_ARG(one->text));
        print_since(one->since_s);
        printf("\n");
    }
    if (advice != NULL)
        printf("    %s\n", advice);
    for (uint32_t i = 0; i < k->missing.count; i++)
        printf("not looked at: %.*s\n", STR_ARG(k->missing.at[i]));
    const char *api = k->g.comparison.api == NULL ? " (--kubeconfig: at the API server, too)"
                      : k->seen_api               ? ", and at the API server"
                                                  : "";
    if (k->found.count == 0)
        printf("nothing found; %zu checks looked at %u processes and %u pods without a node%s\n",
               process_check_count + pod_check_count, k->g.facts.process_count,
               k->g.facts.pod_count, api);
}

static void print_json(const struct command *k)
{
    struct buffer out = {0};
    struct json_out j = {.out = &out, .indented = true};
    json_open(&j, NULL, '{');
    json_open(&j, "findings", '[');
    for (uint32_t i = 0; i < k->found.count; i++) {
        const struct finding *one = &k->found.at[i];
        json_open(&j, NULL, '{');
        json_str(&j, "check", str_of(one->check));
        json_str(&j, "object", one->object);
        json_str(&j, "text", one->text);
        if (one->since_s >= 0)
            json_i64(&j, "forSeconds", one->since_s);
        json_str(&j, "advice", str_of(one->advice));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "notLookedAt", '[');
    for (uint32_t i = 0; i < k->missing.count; i++)
        json_str(&j, NULL, k->missing.at[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
}

/* ---- the whole ---- */

static void examine(struct command *k)
{
    const struct facts *f = &k->g.facts;
    struct arena *a = &k->g.memory;
    struct strs lacks = comparison_api_lacks(&k->g.comparison, a), *missing = &k->missing;
    doctor_look(f, &k->found);
    missing->at = arena_take(a, (lacks.count + 2) * sizeof(struct str));
    if (!f->has_pods)
        missing->at[missing->count++] = str_of("pods: the watcher has shown none");
    if (!f->has_serves)
        missing->at[missing->count++] = str_of("whose pods they are: the queue has not said it");
    for (uint32_t i = 0; i < lacks.count; i++)
        missing->at[missing->count++] =
            arena_print(a, "the API server: %.*s", STR_ARG(lacks.at[i]));
    k->seen_api = k->g.comparison.api != NULL && lacks.count == 0;
}

static bool reach(struct command *k, struct api *api)
{
    if (k->kubeconfig == NULL && k->master == NULL)
        return true;
    k->g.comparison.api = api;
    if (api_open(api, k->kubeconfig, k->master, k->g.comparison.asking.wait))
        return true;
    fprintf(stderr, "berth doctor: %s\n", api->error);
    return false;
}

static int work(struct command *k)
{
    struct api api = {0};
    int status = 2;
    if (reach(k, &api) && doctor_gather(&k->g)) {
        examine(k);
        (k->g.comparison.asking.json ? print_json : print_text)(k);
        status = k->found.count > 0 ? 1 : k->missing.count > 0 ? 2 : 0;
    }
    findings_free(&k->found);
    gathering_free(&k->g);
    api_close(&api);
    return status;
}

int command_doctor(int argc, char **argv)
{
    struct command *k = memory_take(sizeof(*k));
    struct options_table table = {.program = "berth doctor",
                                  .usage = "say what is silently wrong",
                                  .options = doctor_options,
                                  .state = k,
                                  .more = asking_options,
                                  .more_state = &k->g.comparison.asking,
                                  .bad_status = 2};
    int status = 0;
    asking_init(&k->g.comparison.asking, table.program, WAIT_S);
    k->g.facts.for_s = FOR_S;
    k->g.facts.gates_s = GATES_S;
    k->g.facts.lag_s = LAG_S;
    k->g.facts.slow_ms = SLOW_MS;
    k->g.facts.young_s = YOUNG_S;
    options_read(&table, argc, argv);
    if (k->list) {
        print_checks(k->g.comparison.asking.json);
    } else {
        status = work(k);
    }
    memory_free(k);
    return status;
}
