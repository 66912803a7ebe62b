/* flags: values are checked where they are given, so that `berth run` refuses a mistake before
 * anything starts; a flag that was not given stays NULL and means upstream's default. */
#include "ctl/serve/flags.h"

#include "proto/kube/config_file.h"
#include "proto/kube/config_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_port(const char *value)
{
    char *end;
    long port = strtol(value, &end, 10);
    return *value != 0 && *end == 0 && port >= 0 && port <= 65535;
}

static bool is_time(const char *value)
{
    struct span time;
    return config_duration_parse(str_of(value), &time) && time.ns >= 0;
}

static bool is_truth(const char *value)
{
    static const char *const words[] = {"",  "1", "t", "T",     "true",  "TRUE", "True",
                                        "0", "f", "F", "false", "FALSE", "False"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(value, words[i]) == 0)
            return true;
    return false;
}

/* TLS 1.2 is the least that is spoken. */
static bool is_version(const char *value)
{
    static const char *const versions[] = {"", "VersionTLS10", "VersionTLS11", "VersionTLS12",
                                           "VersionTLS13"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (strcmp(value, versions[i]) == 0)
            return true;
    return false;
}

static bool is_any(const char *value)
{
    (void)value;
    return true;
}

#define is_secure_port                      is_port
#define is_bind_address                     is_any
#define is_tls_cert_file                    is_any
#define is_tls_private_key_file             is_any
#define is_tls_min_version                  is_version
#define is_client_ca_file                   is_any
#define is_requestheader_client_ca_file     is_any
#define is_authentication_kubeconfig        is_any
#define is_authentication_skip_lookup       is_truth
#define is_authentication_token_ttl         is_time
#define is_authorization_kubeconfig         is_any
#define is_authorization_always_allow_paths is_any
#define is_authorization_allowed_ttl        is_time
#define is_authorization_denied_ttl         is_time

#define FLAG(member, name)                                                                         \
    bool serve_take_##member(void *state, const char *value)                                       \
    {                                                                                              \
        ((struct serve_flags *)state)->member = value;                                             \
        return is_##member(value);                                                                 \
    }
SERVE_FLAGS
#undef FLAG

int serve_port(const struct serve_flags *f)
{
    return f->secure_port != NULL ? (int)strtol(f->secure_port, NULL, 10) : 10259;
}

struct span serve_time(const char *value)
{
    struct span time = span_of_ms(10000);
    if (value != NULL)
        (void)config_duration_parse(str_of(value), &time);
    return time;
}

bool serve_true(const char *value)
{
    return value != NULL && strchr("0fF", value[0] ? value[0] : '1') == NULL;
}
