/* extenders: what follows from an extender's configuration alone. What must stay true: whoever asks
 * (scheduler, binder, the process that calls them) comes to the same answer. */
#include "proto/kube/extenders/extenders.h"

#include "proto/base/memory.h"
#include "proto/kube/access/access.h"

#include <stdio.h>
#include <string.h>

/* What a container has limits for it has requests for as well: the API server sees to that, as
 * such resources cannot be overcommitted. */
bool extender_interested(const struct extender_config *e, const struct pod *pod)
{
    for (uint32_t i = 0; i < e->managed.count; i++)
        for (uint32_t k = 0; k < pod->request.count; k++)
            if (str_equal(e->managed.at[i].name, pod->request.at[k].name))
                return true;
    return e->managed.count == 0;
}

void extender_order(const struct extender_config *all, uint32_t count, uint32_t *order)
{
    uint32_t placed = 0;
    for (int ignorable = 0; ignorable < 2; ignorable++)
        for (uint32_t i = 0; i < count; i++)
            if (all[i].ignorable == (ignorable == 1))
                order[placed++] = i;
}

static struct str without_slashes(struct str url)
{
    while (url.len > 0 && url.at[url.len - 1] == '/')
        url.len--;
    return url;
}

struct str extender_url(const struct extender_config *e, struct str verb, struct arena *a)
{
    struct str prefix = without_slashes(e->url_prefix);
    return arena_print(a, "%.*s/%.*s", STR_ARG(prefix), STR_ARG(verb));
}

static char *copy_if_any(struct str text)
{
    return text.len > 0 ? str_copy(text) : NULL;
}

struct kube_config *extender_way(const struct extender_config *e, char *error, size_t room)
{
    struct str url = without_slashes(e->url_prefix);
    if (!(str_starts_with(url, "http://") && url.len > 7) &&
        !(str_starts_with(url, "https://") && url.len > 8)) {
        snprintf(error, room, "extender: urlPrefix: \"%.*s\" is not a URL with http:// or https://",
                 STR_ARG(e->url_prefix));
        return NULL;
    }
    struct kube_config *config = memory_take(sizeof(*config));
    bool has_ca = e->ca_file.len + e->ca.len > 0;
    config->source = str_copy(STR_LITERAL("extender"));
    config->server = str_copy(url);
    config->server_name = copy_if_any(e->server_name);
    config->insecure = e->insecure || (e->https && !has_ca);
    config->ca_file = copy_if_any(e->ca_file);
    config->cert_file = copy_if_any(e->cert_file);
    config->key_file = copy_if_any(e->key_file);
    if (e->ca.len > 0)
        buffer_add_str(&config->ca, e->ca);
    if (e->cert.len > 0)
        buffer_add_str(&config->cert, e->cert);
    if (e->key.len > 0)
        buffer_add_str(&config->key, e->key);
    return config;
}

bool extender_set_read(struct extender_set *set, const char *path, struct str *error)
{
    struct scheduler_config config;
    *set = (struct extender_set){0};
    if (!scheduler_config_load(path, release_features(RELEASE_NEWEST), &config, &set->memory,
                               error))
        return false;
    set->at = config.extenders.at;
    set->count = config.extenders.count;
    set->hash = scheduler_config_extenders_hash(&config);
    return true;
}

void extender_set_free(struct extender_set *set)
{
    arena_free(&set->memory);
    *set = (struct extender_set){0};
}

const struct extender_config *extender_set_find(const struct extender_set *set,
                                                const struct extender_ref *ref, int64_t hash)
{
    bool same = (hash == 0 || hash == set->hash) && ref->index >= 0 && ref->index < set->count;
    const struct extender_config *e = same ? &set->at[ref->index] : NULL;
    return e != NULL && str_equal(ref->url, e->url_prefix) ? e : NULL;
}
