/* kube_flags: one table of kube-scheduler's flags. The one idea: each is accepted with its meaning,
 * accepted without effect (which is said once), or refused with the reason. What must stay true: no
 * flag that kube-scheduler 1.36 or 1.37 takes is unknown here, and a value that it refuses is
 * refused. */
#include "ctl/kube_flags.h"

#include "proto/base/log.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/release/release.h"
#include "proto/kube/release/versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(struct kube_flags *f, const char *why)
{
    snprintf(f->error, sizeof(f->error), "%s", why);
    return false;
}

static bool take_write_config_to(void *state, const char *value)
{
    ((struct kube_flags *)state)->write_config_to = value;
    return true;
}

static bool is_time(struct kube_flags *f, const char *value)
{
    struct buffer why = {0};
    bool good = config_duration_explain(str_of(value), &why);
    if (!good)
        refuse(f, why.at);
    buffer_free(&why);
    return good;
}

static bool take_unschedulable_max(void *state, const char *value)
{
    struct kube_flags *f = state;
    f->unschedulable_max = value;
    return is_time(f, value);
}

/* Checked at the end, as --emulated-version may follow. */
/* Those that may be given several times, of which each adds to the others, as upstream. */
#define TAKE_LIST(symbol, member)                                                                  \
    static bool take_##symbol(void *state, const char *value)                                      \
    {                                                                                              \
        struct kube_flags *f = state;                                                              \
        f->member = options_joined(&f->memory, f->member, value);                                  \
        return true;                                                                               \
    }
TAKE_LIST(feature_gates, gates)
TAKE_LIST(emulated, emulated)
TAKE_LIST(compatibility, compatible)

bool kube_flags_versions(struct kube_flags *f)
{
    return versions_read(f->emulated, f->compatible, &f->release, f->error, sizeof(f->error));
}

static bool take_logging_format(void *state, const char *value)
{
    return log_set_format(value) || refuse(state, "Unsupported log format");
}

/* ---- without effect ---- */

static bool unused(struct kube_flags *f, const char *name)
{
    if (f->unused.count < sizeof(f->unused.at) / sizeof(f->unused.at[0]))
        f->unused.at[f->unused.count++] = name;
    return true;
}

static bool is_truth(struct kube_flags *f, const char *value)
{
    static const char words[] = " 1 t T true TRUE True 0 f F false FALSE False ";
    char word[16];
    snprintf(word, sizeof(word), " %.10s ", value);
    return *value == 0 || (strchr(value, ' ') == NULL && strstr(words, word) != NULL) ||
           refuse(f, "want true or false");
}

static bool is_number(struct kube_flags *f, const char *value)
{
    int64_t number;
    return (str_to_i64(str_of(value), &number) && number >= 0 && number <= INT32_MAX) ||
           refuse(f, "want a number");
}

static bool is_text(struct kube_flags *f, const char *value)
{
    (void)f;
    (void)value;
    return true;
}

/* name, what its value is called, how it is checked, what it would do */
#define UNUSED_FLAGS                                                                               \
    FLAG(http2_max_streams_per_connection, "http2-max-streams-per-connection", "N", is_number,     \
         "a limit of streams, which HTTP/1.1 has not")                                             \
    FLAG(disable_http2_serving, "disable-http2-serving", "[true|false]", is_truth,                 \
         "HTTP/1.1 alone, as ever")                                                                \
    FLAG(log_flush_frequency, "log-flush-frequency", "TIME", is_time,                              \
         "every line is written at once")                                                          \
    FLAG(log_text_split_stream, "log-text-split-stream", "[true|false]", is_truth,                 \
         "all goes to standard error")                                                             \
    FLAG(log_text_info_buffer_size, "log-text-info-buffer-size", "SIZE", is_text,                  \
         "nothing is held back")                                                                   \
    FLAG(log_json_split_stream, "log-json-split-stream", "[true|false]", is_truth,                 \
         "all goes to standard error")                                                             \
    FLAG(log_json_info_buffer_size, "log-json-info-buffer-size", "SIZE", is_text,                  \
         "nothing is held back")                                                                   \
    FLAG(vmodule, "vmodule", "LIST", is_text, "verbosity by Go's source files")

#define FLAG(symbol, name, value, check, doc)                                                      \
    static bool take_##symbol(void *state, const char *given)                                      \
    {                                                                                              \
        return check(state, given) && unused(state, name);                                         \
    }
UNUSED_FLAGS
#undef FLAG

const struct own_option kube_flag_options[] = {
    POLICY_FLAG_OPTIONS,
    {"write-config-to", "FILE", "write the configuration as it was understood there and end",
     take_write_config_to},
    {"pod-max-in-unschedulable-pods-duration", "TIME",
     "longest wait of a pod for an event that can help (5m)", take_unschedulable_max},
    {"feature-gates", "LIST",
     "Name=true|false, as kube-scheduler's; those that would change "
     "decisions only at their defaults",
     take_feature_gates},
    {"emulated-version", "VERSION",
     "decide as kube-scheduler of that release, kube=1.36 or kube=1.37, and not as the API "
     "server's",
     take_emulated},
    {"min-compatibility-version", "VERSION", "kube=1.34 to the emulated one (no effect here)",
     take_compatibility},
    {"logging-format", "text|json", "text (logfmt, the default) or json", take_logging_format},
#define FLAG(symbol, name, value, check, doc) {name, value, doc " (no effect here)", take_##symbol},
    UNUSED_FLAGS
#undef FLAG
    {NULL, NULL, NULL, NULL},
};
