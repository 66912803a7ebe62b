/* program: the parts of a scheduler's process, put together. What must stay true: whoever makes
 * them with the same settings and the same journal has the same core. */
#include "scheduler/program.h"

#include "proto/journal/journal.h"
#include "proto/kube/config/config_file.h"

struct worker *program_worker(const char *instance, const struct settings *s)
{
    struct worker *worker = worker_new(instance, s->capacity);
    worker_set_clock(worker, journal_now);
    worker_time_plugins(worker, journal_now);
    return worker;
}

void program_open(struct program *p, const char *path, const struct scheduler_config *config,
                  const struct settings *s)
{
    struct moment now;
    int64_t wall_us;
    journal_clocks(&now, &wall_us);
    struct live_config *live = &p->live.config;
    live_config_init(live, path, &s->flags, config);
    p->live.coordinator = coordinator_new(
        &(struct coordinator_options){.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .extenders = config->extenders.at,
                                      .extender_count = config->extenders.count,
                                      .extenders_hash = scheduler_config_extenders_hash(config),
                                      .config_hash = live->hash,
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s,
                                      .tie_break = s->tie_break,
                                      .seed = journal_seed(),
                                      .credit = s->credit,
                                      .batch = s->batch,
                                      .kept = s->kept,
                                      .stale_after = span_of_seconds(s->stale_after_s),
                                      .assumed_ttl = span_of_seconds(s->assumed_ttl_s),
                                      .follows = s->flags.release == 0,
                                      .gates_left = live->left,
                                      .wall_us_at_zero = wall_us - now.ns / 1000,
                                      .clock = journal_now});
    p->worker = NULL;
    if (!s->own_worker)
        return;
    const struct actor coordinator = live_actor(&p->live);
    p->worker = program_worker(OWN_WORKER, s);
    own_worker_init(&p->both, &coordinator, p->worker);
}

struct actor program_actor(struct program *p)
{
    return p->worker != NULL ? own_worker_actor(&p->both) : live_actor(&p->live);
}

void program_close(struct program *p)
{
    if (p->worker != NULL)
        own_worker_free(&p->both);
    worker_free(&p->worker);
    coordinator_free(&p->live.coordinator);
    live_config_free(&p->live.config);
}
