/* tracing_config: reads a TracingConfiguration strictly. What must stay true: a file that is taken
 * names where spans go and how many, within bounds; whatever else it says is refused by its field.
 * Other than upstream's programs, which speak gRPC, we speak HTTP: so the port of an endpoint that
 * is not given is another one, and an endpoint may be a URL. */
#include "proto/kube/config/tracing_config.h"

#include "proto/kube/config/config_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const members[] = {"apiVersion", "kind", "endpoint", "samplingRatePerMillion",
                                      NULL};

/* Both groups that kube-apiserver takes it from. */
static bool version_known(struct str version)
{
    static const char *const known[] = {
        "apiserver.config.k8s.io/v1",       "apiserver.k8s.io/v1beta1",
        "apiserver.config.k8s.io/v1beta1",  "apiserver.k8s.io/v1alpha1",
        "apiserver.config.k8s.io/v1alpha1", "apiserver.k8s.io/v1"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (str_is(version, known[i]))
            return true;
    return false;
}

static void check_kind(const struct cursor *root)
{
    struct str version = cursor_text(root, "apiVersion"), kind = cursor_text(root, "kind");
    struct cursor at = cursor_member(root, "apiVersion"), of = cursor_member(root, "kind");
    if (!version_known(version))
        cursor_fail(&at, "\"%.*s\" is not apiserver.config.k8s.io/v1", STR_ARG(version));
    if (!str_is(kind, "TracingConfiguration"))
        cursor_fail(&of, "\"%.*s\" is not TracingConfiguration", STR_ARG(kind));
}

/* Without what could end it early: blanks, a path, a query, a user. */
static bool is_host(struct str text)
{
    for (uint32_t i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] == 0x7f || strchr("/?#@\"\\", text.at[i]) != NULL)
            return false;
    return text.len > 0 && text.len < 500;
}

static struct str behind(struct str text, const char *prefix)
{
    size_t len = strlen(prefix);
    return (struct str){text.at + len, text.len - (uint32_t)len};
}

static struct str url_of(const struct cursor *root, struct arena *a)
{
    struct cursor at = cursor_member(root, "endpoint");
    struct str given = at.value != NULL ? cursor_text(root, "endpoint") : str_of(TRACING_ENDPOINT);
    struct str host = given;
    bool tls = str_starts_with(given, "https://");
    if (tls)
        host = behind(given, "https://");
    else if (str_starts_with(given, "http://"))
        host = behind(given, "http://");
    else if (str_starts_with(given, "dns:///"))
        host = behind(given, "dns:///");
    if (host.len > 0 && host.at[host.len - 1] == '/')
        host.len--;
    if (!is_host(host))
        cursor_fail(&at, "\"%.*s\" is not HOST:PORT, http://HOST:PORT or https://HOST:PORT",
                    STR_ARG(given));
    return arena_print(a, "%s%.*s", tls ? "https://" : "http://", STR_ARG(host));
}

static int64_t rate_of(const struct cursor *root)
{
    struct cursor at = cursor_member(root, "samplingRatePerMillion");
    int64_t rate = cursor_i32(root, "samplingRatePerMillion");
    if (rate < 0)
        cursor_fail(&at, "Invalid value: %" PRId64 ": sampling rate must be positive", rate);
    if (rate > TRACING_RATE_MOST)
        cursor_fail(&at,
                    "Invalid value: %" PRId64
                    ": sampling rate per million must be less than or equal to one million",
                    rate);
    return rate;
}

bool tracing_config_parse(struct str text, struct tracing_config *config, struct arena *a,
                          struct str *error)
{
    struct kube_json *document = kube_json_parse_config(text, error, a);
    if (document == NULL)
        return false;
    struct loading l = {.reading = {.arena = a}};
    struct cursor root = cursor_root(&l.reading, document);
    *config = (struct tracing_config){.given = true};
    if (!kube_json_is_object(document))
        cursor_fail(&root, "is not a TracingConfiguration");
    config_only(&l, &root, members);
    check_kind(&root);
    config->url = url_of(&root, a);
    config->per_million = rate_of(&root);
    bool strict = l.strict.len > 0;
    if (strict && !l.reading.failed)
        l.reading.error = arena_print(a, "%s", l.strict.at);
    buffer_free(&l.strict);
    kube_json_free(&document);
    *error = l.reading.error;
    return !l.reading.failed && !strict;
}

bool tracing_config_load(const char *path, struct tracing_config *config, struct arena *a,
                         struct str *error)
{
    struct buffer text = {0};
    struct str why = {0};
    *config = (struct tracing_config){0};
    if (path == NULL)
        return true;
    bool good = config_read_text(path, &text);
    if (!good)
        why = str_of(strerror(errno));
    else
        good = tracing_config_parse(buffer_str(&text), config, a, &why);
    if (!good)
        *error = arena_print(a, "%s: %.*s", path, STR_ARG(why));
    buffer_free(&text);
    return good;
}
