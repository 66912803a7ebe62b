/* config_extenders: HTTP extenders in a configuration. The one idea: read and default first, check
 * later, since upstream validates them behind everything else. What must stay true: error texts and
 * their order are upstream's, and keys never appear in one. */
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/base64.h"
#include "proto/kube/objects/selector.h"

#include <string.h>
#include <strings.h>

#define ENTRIES_MAX 1000 /* bounds the search for duplicates */
#define MANAGED_MAX 1000
#define TIMEOUT_MS  5000

/* How a member is spelled. A Policy may have enableHttps, BindVerb or CAFile, as older versions
 * had no eye for capitals. */
static const char *spelled(const struct cursor *up, const char *name, bool old)
{
    struct cursor i = old ? cursor_first(up) : (struct cursor){0};
    while (i.value != NULL && strcasecmp(i.name, name) != 0)
        i = cursor_next(&i);
    return i.value != NULL ? i.name : name;
}

/* Base64, as Go's JSON has bytes. */
static struct str read_bytes(const struct cursor *up, const char *name)
{
    struct cursor at = cursor_member(up, name);
    struct buffer bytes = {0};
    struct str text = cursor_text(up, name), out = {0};
    if (!base64_decode(text, &bytes))
        cursor_fail(&at, "illegal base64 data");
    else if (bytes.len > 0)
        out = arena_copy(up->reading->arena, buffer_str(&bytes));
    buffer_free(&bytes);
    return out;
}

static void read_tls(const struct cursor *extender, struct extender_config *e, bool old)
{
    struct cursor tls = cursor_object(extender, spelled(extender, "tlsConfig", old));
    e->has_tls = tls.value != NULL;
    e->insecure = cursor_bool(&tls, spelled(&tls, "insecure", old));
    e->server_name = cursor_text(&tls, spelled(&tls, "serverName", old));
    e->cert_file = cursor_text(&tls, spelled(&tls, "certFile", old));
    e->key_file = cursor_text(&tls, spelled(&tls, "keyFile", old));
    e->ca_file = cursor_text(&tls, spelled(&tls, "caFile", old));
    e->cert = read_bytes(&tls, spelled(&tls, "certData", old));
    e->key = read_bytes(&tls, spelled(&tls, "keyData", old));
    e->ca = read_bytes(&tls, spelled(&tls, "caData", old));
}

static void read_managed(const struct cursor *extender, struct extender_config *e, bool old)
{
    struct cursor list = cursor_list(extender, spelled(extender, "managedResources", old));
    size_t found = kube_json_count(list.value);
    if (found > MANAGED_MAX) {
        cursor_fail(&list, "has more than %d entries", MANAGED_MAX);
        return;
    }
    e->managed.at = found ? cursor_take(&list, found, sizeof(*e->managed.at)) : NULL;
    for (struct cursor i = cursor_first(&list); e->managed.at != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        e->managed.at[e->managed.count++] =
            (struct extender_resource){cursor_text(&i, spelled(&i, "name", old)),
                                       cursor_bool(&i, spelled(&i, "ignoredByScheduler", old))};
    }
}

/* In a Policy a timeout is a number of nanoseconds. */
static struct span read_timeout(const struct cursor *at, const char *name, bool old)
{
    struct cursor timeout = cursor_member(at, name);
    double number;
    struct span span = old && timeout.value != NULL && kube_json_number(timeout.value, &number)
                           ? (struct span){cursor_i64(at, name)}
                           : config_duration(at, name, (struct span){0});
    return span.ns == 0 ? span_of_ms(TIMEOUT_MS) : span;
}

static void read_extender(const struct cursor *at, struct extender_config *e, bool old)
{
    e->url_prefix = cursor_text(at, spelled(at, "urlPrefix", old));
    e->filter_verb = cursor_text(at, spelled(at, "filterVerb", old));
    e->preempt_verb = cursor_text(at, spelled(at, "preemptVerb", old));
    e->prioritize_verb = cursor_text(at, spelled(at, "prioritizeVerb", old));
    e->bind_verb = cursor_text(at, spelled(at, "bindVerb", old));
    e->weight = cursor_i64(at, spelled(at, "weight", old));
    e->https = cursor_bool(at, spelled(at, "enableHTTPS", old));
    e->http_timeout = read_timeout(at, spelled(at, "httpTimeout", old), old);
    e->node_cache_capable = cursor_bool(at, spelled(at, "nodeCacheCapable", old));
    e->ignorable = cursor_bool(at, spelled(at, "ignorable", old));
    read_tls(at, e, old);
    read_managed(at, e, old);
}

static void read_all(const struct cursor *root, struct scheduler_config *c, bool old)
{
    struct cursor list = cursor_list(root, "extenders");
    size_t found = kube_json_count(list.value);
    if (found > ENTRIES_MAX) {
        cursor_fail(&list, "has more than %d entries", ENTRIES_MAX);
        return;
    }
    c->extenders.at = found ? cursor_take(&list, found, sizeof(*c->extenders.at)) : NULL;
    for (struct cursor i = cursor_first(&list); c->extenders.at != NULL && i.value != NULL;
         i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_extender(&i, &c->extenders.at[c->extenders.count++], old);
}

void config_extenders_read(const struct cursor *root, struct scheduler_config *c)
{
    read_all(root, c, false);
}

/* Members of an object that have none of these names, or the same as another, by any capitals. */
static void only(struct loading *l, const struct cursor *object, const char *const *names)
{
    if (!kube_json_is_object(object->value) || kube_json_count(object->value) > CONFIG_MEMBERS_MAX)
        return;
    for (struct cursor c = cursor_first(object); c.value != NULL; c = cursor_next(&c)) {
        bool known = false, again = false;
        for (size_t i = 0; names[i] != NULL; i++)
            known = known || strcasecmp(names[i], c.name) == 0;
        for (struct cursor d = cursor_first(object); d.value != c.value; d = cursor_next(&d))
            again = again || strcasecmp(d.name, c.name) == 0;
        if (!known || again)
            config_strict(l, known ? "duplicate" : "unknown", &c);
    }
}

void config_extenders_read_old(struct loading *l, const struct cursor *root,
                               struct scheduler_config *c)
{
    static const char *const fields[] = {
        "urlPrefix", "filterVerb",       "preemptVerb", "prioritizeVerb", "weight",
        "bindVerb",  "enableHTTPS",      "tlsConfig",   "httpTimeout",    "nodeCacheCapable",
        "ignorable", "managedResources", NULL};
    static const char *const tls_fields[] = {"insecure", "serverName", "certFile",
                                             "keyFile",  "caFile",     "certData",
                                             "keyData",  "caData",     NULL};
    static const char *const managed_fields[] = {"name", "ignoredByScheduler", NULL};
    struct cursor list = cursor_list(root, "extenders");
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        struct cursor tls = cursor_member(&i, spelled(&i, "tlsConfig", true));
        struct cursor managed = cursor_member(&i, spelled(&i, "managedResources", true));
        only(l, &i, fields);
        only(l, &tls, tls_fields);
        for (struct cursor k = cursor_first(&managed); k.value != NULL; k = cursor_next(&k))
            only(l, &k, managed_fields);
    }
    read_all(root, c, true);
}

/* ---- checks ---- */

/* Upstream's IsExtendedResourceName: of somebody's domain that is not kubernetes.io, and still a
 * name behind "requests.". */
static bool is_extended(struct str name)
{
    static const char native[] = "kubernetes.io/", quota[] = "requests.";
    bool good = str_find(name, '/') >= 0 && !str_starts_with(name, quota) &&
                memmem(name.at, name.len, native, strlen(native)) == NULL;
    struct buffer with_prefix = {0};
    buffer_print(&with_prefix, "%s%.*s", quota, STR_ARG(name));
    good = good && kube_label_key_valid(buffer_str(&with_prefix));
    buffer_free(&with_prefix);
    return good;
}

static bool managed_before(const struct scheduler_config *c, uint32_t extender, uint32_t resource)
{
    struct str name = c->extenders.at[extender].managed.at[resource].name;
    for (uint32_t e = 0; e <= extender; e++)
        for (uint32_t r = 0; r < (e < extender ? c->extenders.at[e].managed.count : resource); r++)
            if (str_equal(c->extenders.at[e].managed.at[r].name, name))
                return true;
    return false;
}

static void check_managed(struct loading *l, const struct cursor *at,
                          const struct scheduler_config *c, uint32_t extender)
{
    const struct extender_config *e = &c->extenders.at[extender];
    struct cursor list = cursor_member(at, "managedResources");
    for (uint32_t i = 0; i < e->managed.count; i++) {
        struct cursor item = {.reading = list.reading, .up = &list, .index = i};
        struct cursor name = cursor_member(&item, "name");
        struct buffer why = {0};
        if (!kube_label_key_explain(e->managed.at[i].name, &why))
            config_invalid_each(l, &name, e->managed.at[i].name, buffer_str(&why));
        else if (!is_extended(e->managed.at[i].name))
            config_invalid(l, &name,
                           "Invalid value: \"%.*s\": is an invalid extended resource name",
                           STR_ARG(e->managed.at[i].name));
        if (managed_before(c, extender, i))
            config_invalid(l, &name,
                           "Invalid value: \"%.*s\": duplicate extender managed resource name",
                           STR_ARG(e->managed.at[i].name));
        buffer_free(&why);
    }
}

void config_extenders_check(struct loading *l, const struct cursor *root,
                            const struct scheduler_config *c)
{
    struct cursor list = cursor_member(root, "extenders");
    uint32_t binders = 0;
    for (uint32_t i = 0; i < c->extenders.count; i++) {
        const struct extender_config *e = &c->extenders.at[i];
        struct cursor item = {.reading = list.reading, .up = &list, .index = i};
        struct cursor weight = cursor_member(&item, "weight");
        if (e->prioritize_verb.len > 0 && e->weight <= 0)
            config_invalid(l, &weight,
                           "Invalid value: %lld: must have a positive weight applied to it",
                           (long long)e->weight);
        binders += e->bind_verb.len > 0;
        check_managed(l, &item, c, i);
    }
    if (binders > 1)
        config_invalid(l, &list,
                       "Invalid value: \"found %u extenders implementing bind\": only one "
                       "extender can implement bind",
                       binders);
}

size_t config_extenders_ignores(const struct scheduler_config *c)
{
    size_t count = 0;
    for (uint32_t e = 0; e < c->extenders.count; e++)
        for (uint32_t r = 0; r < c->extenders.at[e].managed.count; r++)
            count += c->extenders.at[e].managed.at[r].ignored;
    return count;
}

void config_extenders_ignore(struct loading *l, struct scheduler_config *c)
{
    struct cursor root = cursor_root(&l->reading, NULL);
    size_t count = config_extenders_ignores(c);
    struct strs ignored = {0};
    ignored.at = count ? cursor_take(&root, count, sizeof(*ignored.at)) : NULL;
    if (ignored.at == NULL)
        return;
    for (uint32_t e = 0; e < c->extenders.count; e++)
        for (uint32_t r = 0; r < c->extenders.at[e].managed.count; r++)
            if (c->extenders.at[e].managed.at[r].ignored)
                ignored.at[ignored.count++] = c->extenders.at[e].managed.at[r].name;
    for (uint32_t p = 0; p < c->profiles.count; p++)
        c->profiles.at[p].fit_ignored_resources = ignored;
}

/* ---- print ---- */

static void print_text(struct buffer *out, const char *name, struct str text)
{
    if (text.len == 0)
        return;
    buffer_print(out, "  %s: ", name);
    config_print_text(text, out);
    buffer_add_text(out, "\n");
}

static void print_true(struct buffer *out, const char *name, bool truth)
{
    if (truth)
        buffer_print(out, "  %s: true\n", name);
}

static void print_bytes(struct buffer *out, const char *name, struct str bytes)
{
    struct buffer text = {0};
    base64_encode(bytes, &text);
    if (bytes.len > 0)
        buffer_print(out, "    %s: \"%s\"\n", name, text.at);
    buffer_free(&text);
}

static void print_tls(struct buffer *out, const struct extender_config *e)
{
    buffer_print(out, "  tlsConfig:\n    insecure: %s\n", e->insecure ? "true" : "false");
    const struct {
        const char *name;
        struct str text;
    } files[] = {{"serverName", e->server_name},
                 {"certFile", e->cert_file},
                 {"keyFile", e->key_file},
                 {"caFile", e->ca_file}};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (files[i].text.len > 0) {
            buffer_add_text(out, "  ");
            print_text(out, files[i].name, files[i].text);
        }
    print_bytes(out, "certData", e->cert);
    print_bytes(out, "keyData", e->key);
    print_bytes(out, "caData", e->ca);
}

static void print_extender(struct buffer *out, const struct extender_config *e)
{
    buffer_add_text(out, "- urlPrefix: ");
    config_print_text(e->url_prefix, out);
    buffer_add_text(out, "\n");
    print_text(out, "filterVerb", e->filter_verb);
    print_text(out, "preemptVerb", e->preempt_verb);
    print_text(out, "prioritizeVerb", e->prioritize_verb);
    print_text(out, "bindVerb", e->bind_verb);
    if (e->weight != 0)
        buffer_print(out, "  weight: %lld\n", (long long)e->weight);
    print_true(out, "enableHTTPS", e->https);
    if (e->has_tls)
        print_tls(out, e);
    buffer_add_text(out, "  httpTimeout: ");
    config_duration_print(e->http_timeout, out);
    buffer_add_text(out, "\n");
    print_true(out, "nodeCacheCapable", e->node_cache_capable);
    print_true(out, "ignorable", e->ignorable);
    if (e->managed.count > 0)
        buffer_add_text(out, "  managedResources:\n");
    for (uint32_t i = 0; i < e->managed.count; i++) {
        buffer_add_text(out, "  - name: ");
        config_print_text(e->managed.at[i].name, out);
        buffer_print(out, "\n    ignoredByScheduler: %s\n",
                     e->managed.at[i].ignored ? "true" : "false");
    }
}

void config_extenders_print(const struct scheduler_config *c, struct buffer *out)
{
    buffer_add_text(out, c->extenders.count > 0 ? "extenders:\n" : "extenders: []\n");
    for (uint32_t i = 0; i < c->extenders.count; i++)
        print_extender(out, &c->extenders.at[i]);
}
