/* berth-watcher: mirrors the API server and publishes what changed. This file only reads the
 * command line and puts the parts together; the core is in watcher.c. */
#include "proto/base/log.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/journal/journal.h"
#include "proto/kube/access/client.h"
#include "proto/kube/objects/objects.h"
#include "watcher/feed.h"
#include "watcher/settings.h"
#include "watcher/watcher.h"

#define BARRIER_WAIT_MS 300

struct program {
    struct settings settings;
    struct watcher *watcher;
    struct feed *feed;
};

static void handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    watcher_handle(((struct program *)state)->watcher, now, in, out);
}

static struct moment tick(void *state, struct moment now, struct outbox *out)
{
    struct program *program = state;
    struct moment look = settings_follow(&program->settings, now, actor_hangup());
    struct moment next = moment_earlier(look, watcher_tick(program->watcher, now, out));
    return moment_earlier(next, feed_deadline(program->feed, now));
}

static void work(void *state, struct moment now, struct outbox *out)
{
    (void)out;
    feed_work(((struct program *)state)->feed, now);
}

static void status(void *state, struct buffer *lines)
{
    watcher_status(((struct program *)state)->watcher, moment_now(), lines);
    config_follow_status(&((struct program *)state)->settings.config, lines);
}

static void observe(void *state)
{
    watcher_observe(((struct program *)state)->watcher, moment_now());
}

static struct kube_client *reach(const struct settings *s, struct kube_config **config)
{
    char error[1024];
    struct kube_client_options options = {.user_agent = s->user_agent,
                                          .connections_max = 64}; /* HTTP/1.1: one a watch */
    struct kube_client *client = NULL;
    *config = kube_config_load(s->kubeconfig, s->master, error, sizeof(error));
    if (*config != NULL)
        client = kube_client_new(*config, &options, error, sizeof(error));
    if (client == NULL)
        log_error("%s", error);
    else
        log_info("watching|server=%s", kube_config_server(*config));
    return client;
}

static int run(struct program *program, const struct options *options, struct kube_client *client)
{
    const struct settings *s = &program->settings;
    program->watcher =
        watcher_new(&(struct watcher_options){.kinds = kube_resources,
                                              .kind_count = kube_resource_count,
                                              .protobuf = s->protobuf,
                                              .group_trees = s->group_trees,
                                              .annotations = s->annotations,
                                              .page_size = s->page_size,
                                              .stale_after = s->stale_after,
                                              .barrier_wait = span_of_ms(BARRIER_WAIT_MS),
                                              .epoch = journal_wall_us(),
                                              .seed = journal_seed()});
    program->feed = feed_new(program->watcher, client);
    struct actor actor = {.state = program,
                          .handle = handle,
                          .tick = tick,
                          .fd = feed_fd(program->feed),
                          .work = work,
                          .status = status,
                          .observe = observe};
    int result = actor_main(options, &actor);
    feed_free(&program->feed);
    watcher_free(&program->watcher);
    return result;
}

int main(int argc, char **argv)
{
    struct program program = {.settings = {.user_agent = "berth-watcher/" OPTIONS_VERSION}};
    struct options options;
    struct options_spec spec = {.self = WATCHER,
                                .own = settings_options,
                                .own_state = &program.settings,
                                .usage = "mirrors the API server for the other processes"};
    options_replay(WATCHER, &argc, &argv);
    options_parse(&options, &spec, argc, argv);
    struct kube_config *config = NULL;
    struct kube_client *client = NULL;
    char error[1024];
    int result = 1;
    bool good = settings_read_config(&program.settings, options.config_path, error, sizeof(error));
    if (!good)
        log_error("%s", error);
    else if (!journal_plays())
        client = reach(&program.settings, &config);
    if (good && (client != NULL || journal_plays()))
        result = run(&program, &options, client);
    kube_client_free(&client);
    kube_config_free(&config);
    settings_free(&program.settings);
    return result;
}
