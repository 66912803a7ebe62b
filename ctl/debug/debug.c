/* debug: `berth debug pod`, which asks every process of an instance to log everything about one pod
 * for a while. What must stay true: it ends with 0 only when every process that was found does, but
 * for tools with a door, as berth-serve, which have no part in a pod and are not asked. */
#include "ctl/debug/debug.h"

#include "ctl/asking.h"
#include "proto/base/log_pods.h"
#include "proto/kube/config/config_internal.h"

#include <stdio.h>
#include <string.h>

#define FOR_MS 300000

struct debugging {
    struct asking asking;
    struct message request;
    bool stop;
    const char *words[2];
    int count; /* of them */
    size_t doing, refused;
};

static bool take_for(void *state, const char *value)
{
    struct span span;
    int64_t *ms = &((struct debugging *)state)->request.debug_pod.for_ms;
    if (!config_duration_parse(str_of(value), &span))
        return false;
    *ms = span_ms(span);
    return *ms >= 1 && *ms <= LOG_PODS_MOST_MS;
}

static bool take_stop(void *state, const char *value)
{
    (void)value;
    return ((struct debugging *)state)->stop = true;
}

static bool take_word(void *state, const char *word)
{
    struct debugging *d = state;
    if (d->count == 2)
        return false;
    d->words[d->count++] = word;
    return true;
}

static const struct own_option debug_options[] = {
    {"for", "TIME", "how long, such as 90s or 5m, at most 1h (default 5m)", take_for},
    {"stop", NULL, "no more", take_stop},
    {NULL, NULL, NULL, NULL},
};

static void take(void *state, size_t door, const struct message *answer)
{
    struct debugging *d = state;
    struct str why = answer->debug_pod.refused;
    if (why.len == 0) {
        d->doing++;
        return;
    }
    d->refused++;
    fprintf(stderr, "berth debug: %s: %.*s\n", d->asking.doors[door].endpoint, STR_ARG(why));
}

/* NAMESPACE/NAME; a name alone is of the namespace default. */
static bool take_pod(struct debug_pod *pod, const char *text)
{
    struct str all = str_of(text);
    int64_t slash = str_find(all, '/');
    pod->namespace_name = slash < 0 ? STR_LITERAL("default") : (struct str){text, (uint32_t)slash};
    pod->name = slash < 0 ? all : str_of(text + slash + 1);
    return pod->namespace_name.len > 0 && pod->name.len > 0 && str_find(pod->name, '/') < 0 &&
           (size_t)pod->namespace_name.len + pod->name.len < LOG_PODS_NAME_MAX;
}

static int usage(void)
{
    fputs("usage: berth debug pod NAMESPACE/NAME [OPTION ...]     (--help tells more)\n", stderr);
    return 1;
}

static void print(const struct debugging *d)
{
    const struct debug_pod *pod = &d->request.debug_pod;
    struct buffer json = {0};
    codec_print_json(message_info[MSG_debug_pod].record, pod, &json);
    if (d->asking.json)
        printf("{\"processes\":%zu,\"pod\":%s}\n", d->doing, json.at);
    else if (pod->for_ms == 0)
        printf("%zu processes log no more than usual about pod %.*s/%.*s\n", d->doing,
               STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    else
        printf("%zu processes log everything about pod %.*s/%.*s for %lld s\n", d->doing,
               STR_ARG(pod->namespace_name), STR_ARG(pod->name),
               (long long)((pod->for_ms + 999) / 1000));
    buffer_free(&json);
}

static int report(const struct debugging *d)
{
    size_t silent = 0, count = 0;
    for (size_t i = 0; i < d->asking.count; i++) {
        const struct door *door = &d->asking.doors[i];
        silent += !door->answered;
        count += door->asked || !door->answered; /* a tool has not been asked */
    }
    if (silent > 0)
        fprintf(stderr, "berth debug: %zu of %zu processes have not answered\n", silent, count);
    else if (count == 0)
        fputs("berth debug: nobody is there who would log\n", stderr);
    if (d->doing > 0)
        print(d);
    return d->doing > 0 && d->refused == 0 && silent == 0 ? 0 : 1;
}

int command_debug(int argc, char **argv)
{
    static struct debugging d; /* large, and there is one */
    const struct options_table table = {.program = "berth debug pod NAMESPACE/NAME",
                                        .usage = "log everything about one pod for a while, in "
                                                 "every process",
                                        .options = debug_options,
                                        .state = &d,
                                        .more = asking_options,
                                        .more_state = &d.asking,
                                        .word = take_word};
    asking_init(&d.asking, "berth debug", ASKING_WAIT_S);
    d.request = (struct message){.type = MSG_debug_pod, .debug_pod = {.for_ms = FOR_MS}};
    options_read(&table, argc, argv);
    if (d.count < 2 || strcmp(d.words[0], "pod") != 0 ||
        !take_pod(&d.request.debug_pod, d.words[1]))
        return usage();
    if (d.stop)
        d.request.debug_pod.for_ms = 0;
    d.asking.request = &d.request;
    d.asking.answer = MSG_debug_pod;
    d.asking.whom = (enum process)(ANY & ~TOOL);
    d.asking.take = take;
    d.asking.state = &d;
    return asking_ask(&d.asking) ? report(&d) : 1;
}
