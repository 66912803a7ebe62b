/* settings: the configuration file first, then the flags over it, then what only the binder asks.
 * What must stay true: a value outside its bounds is refused here, so that the core need not check
 * it again. */
#include "binder/settings.h"
#include "proto/base/log.h"
#include "proto/base/random.h"
#include "proto/journal/journal.h"
#include "proto/kube/config/tracing_config.h"

#include <stdio.h>
#include <unistd.h>

static bool take_identity(void *state, const char *value)
{
    ((struct settings *)state)->identity_given = value;
    return *value != 0;
}

static bool take_binds(void *state, const char *value)
{
    int64_t *count = &((struct settings *)state)->binds_in_flight;
    return str_to_i64(str_of(value), count) && *count >= 1 && *count <= 150;
}

static bool take_falls(void *state, const char *value)
{
    int64_t *count = &((struct settings *)state)->falls;
    return str_to_i64(str_of(value), count) && *count >= 0 && *count <= 1000;
}

static bool take_tracing_config(void *state, const char *value)
{
    ((struct settings *)state)->tracing_config = value;
    return *value != 0;
}

const struct own_option settings_options[] = {
    CONFIG_FLAG_OPTIONS,
    {"identity", "TEXT", "our name in the lease, of one process at a time (<hostname>_<uuid>)",
     take_identity},
    {"binds-in-flight", "N", "binds on the wire at once (1 to 150, default 100)", take_binds},
    {"falls", "N", "how often it ended uncleanly within the last minute (0 to 1000, default 0)",
     take_falls},
    {TRACING_FLAG, "FILE", "a TracingConfiguration: where spans are exported to",
     take_tracing_config},
    {0},
};

static const char *make_identity(struct settings *s, const char *hostname)
{
    struct random r = {journal_seed()};
    uint64_t a = random_next(&r) ^ journal_seed();
    uint64_t b = random_next(&r) ^ journal_seed();
    /* RFC 4122, version 4. */
    struct str text = arena_print(&s->memory, "%s_%08x-%04x-4%03x-%04x-%012llx", hostname,
                                  (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
                                  (unsigned)(a & 0xfff), (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                                  (unsigned long long)(b & 0xffffffffffffULL));
    return text.at;
}

static const char *text_of(struct settings *s, struct str value)
{
    return arena_copy(&s->memory, value).at;
}

static const char *hostname_of(struct settings *s)
{
    char name[256] = "";
    struct buffer text = {0};
    bool good = gethostname(name, sizeof(name) - 1) == 0;
    if (!journal_plays())
        buffer_add_text(&text, name);
    if (!journal_text("hostname", good, &text))
        log_warn("no host name: events and identity say localhost");
    const char *kept = text_of(s, text.len > 0 ? buffer_str(&text) : STR_LITERAL("localhost"));
    buffer_free(&text);
    return kept;
}

/* Upstream's default of 50 would throttle the binder, so only what somebody wrote down counts. */
void settings_rate(const struct scheduler_config *config, double *qps, uint32_t *burst)
{
    bool limited = config->qps > 0 && config->rate_given;
    *qps = limited ? config->qps : 0;
    *burst = limited ? (uint32_t)config->burst : 0;
}

int64_t settings_fixed(const struct scheduler_config *config)
{
    struct buffer text = {0};
    buffer_print(&text, "%d %lld %lld %lld %.*s/%.*s %.*s %.*s %.*s", config->leader_elect,
                 (long long)config->lease_duration.ns, (long long)config->renew_deadline.ns,
                 (long long)config->retry_period.ns, STR_ARG(config->lease_namespace),
                 STR_ARG(config->lease_name), STR_ARG(config->kubeconfig),
                 STR_ARG(config->content_type), STR_ARG(config->accept_content_types));
    int64_t hash = (int64_t)(str_hash(buffer_str(&text)) >> 1);
    buffer_free(&text);
    return hash;
}

bool settings_load(struct settings *s, const char *config_path, struct str *error)
{
    struct scheduler_config config;
    if (!scheduler_config_load(config_path, release_features(RELEASE_NEWEST), &config, &s->memory,
                               error) ||
        !config_flags_apply(&s->flags, &config, &s->memory, error))
        return false;
    for (uint32_t i = 0; i < config.notes.count; i++)
        log_debug("configuration|note=\"%.*s\"", STR_ARG(config.notes.at[i]));
    struct binder_options *o = &s->binder;
    o->hostname = hostname_of(s);
    const char *identity = s->identity_given ? s->identity_given : make_identity(s, o->hostname);
    uint64_t seed = journal_seed();
    o->lease = (struct lease_options){.elect = config.leader_elect,
                                      .namespace_name = text_of(s, config.lease_namespace),
                                      .name = text_of(s, config.lease_name),
                                      .identity = identity,
                                      .duration = config.lease_duration,
                                      .renew_deadline = config.renew_deadline,
                                      .retry_period = config.retry_period,
                                      .seed = seed,
                                      .falls = (uint32_t)s->falls};
    const char *wrong = lease_options_wrong(&o->lease);
    if (wrong != NULL) {
        *error = arena_print(&s->memory, "%s", wrong);
        return false;
    }
    settings_rate(&config, &o->qps, &o->burst);
    o->protobuf = scheduler_config_protobuf_written(&config);
    o->bind_in_flight = (uint32_t)s->binds_in_flight;
    o->seed = journal_seed();
    s->kubeconfig = config.kubeconfig.len > 0 ? text_of(s, config.kubeconfig) : NULL;
    s->master = s->flags.master;
    struct tracing_config tracing;
    if (!tracing_config_load(s->tracing_config, &tracing, &s->memory, error))
        return false;
    s->trace_url = tracing.given ? text_of(s, tracing.url) : NULL;
    return true;
}

void settings_free(struct settings *s)
{
    arena_free(&s->memory);
}
