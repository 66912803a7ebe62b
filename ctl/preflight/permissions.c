/* permissions: the table, verb by verb, and its printing. A rule is what one object says of one
 * resource; objects are a ClusterRole for what counts everywhere, and a Role for each namespace.
 *
 * What must stay true: what is printed grants exactly what was asked for, and reads back as YAML
 * whatever the names are. */
#include "ctl/preflight/permissions.h"

#include "proto/base/must.h"

#include <stdio.h>
#include <string.h>

#define RBAC "apiVersion: rbac.authorization.k8s.io/v1\nkind: "

static struct permission all[PERMISSIONS_MAX];
static size_t count;

/* The row verb by verb; the text is split once. */
static void add_row(const struct permission *row, const char *verbs)
{
    struct str rest = str_of(verbs), verb;
    while (str_split(&rest, " ", &verb)) {
        must(count < PERMISSIONS_MAX && verb.len < sizeof(all[0].verb));
        all[count] = *row;
        snprintf(all[count++].verb, sizeof(all[0].verb), "%.*s", STR_ARG(verb));
    }
}

static void prepare(void)
{
    static const bool NEEDED = true, WANTED = false;
    if (count > 0)
        return;
#define PERMISSION(scope_, level, group_, resource_, verbs, purpose_)                              \
    add_row(&(struct permission){.scope = SCOPE_##scope_,                                          \
                                 .needed = (level),                                                \
                                 .group = (group_),                                                \
                                 .resource = (resource_),                                          \
                                 .purpose = (purpose_)},                                           \
            verbs);
#include "ctl/preflight/permissions.def"
#undef PERMISSION
}

size_t permissions_count(void)
{
    prepare();
    return count;
}

const struct permission *permission_at(size_t i)
{
    must(i < permissions_count());
    return &all[i];
}

/* ---- rules ---- */

static void put_quoted(struct buffer *out, const char *text)
{
    buffer_add_text(out, "\"");
    for (; *text != 0; text++)
        buffer_print(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    buffer_add_text(out, "\"");
}

/* An object: what of the table is in it. */
struct object {
    const char *kind; /* Role or ClusterRole */
    const char *namespace_name, *suffix;
    unsigned scopes; /* bits */
};

#define BIT(scope) (1u << (scope))

static bool is_in(const struct object *o, const bool *wanted, size_t i)
{
    return (wanted != NULL ? wanted[i] : all[i].scope != SCOPE_GANGS) &&
           (o->scopes & BIT(all[i].scope)) != 0;
}

static bool same_rule(const struct permission *a, const struct permission *b)
{
    return a->scope == b->scope && strcmp(a->group, b->group) == 0 &&
           strcmp(a->resource, b->resource) == 0;
}

static void put_rule(const struct object *o, const bool *wanted,
                     const struct permission_place *place, size_t first, struct buffer *out)
{
    const struct permission *p = &all[first];
    const char *separator = "";
    buffer_print(out, "- apiGroups: [\"%s\"]\n  resources: [%s]\n", p->group, p->resource);
    if (p->scope == SCOPE_LEASE_NAMED || p->scope == SCOPE_AUTHORITIES) {
        buffer_add_text(out, "  resourceNames: [");
        put_quoted(out, p->scope == SCOPE_AUTHORITIES ? "extension-apiserver-authentication"
                                                      : place->lease);
        buffer_add_text(out, "]\n");
    }
    buffer_add_text(out, "  verbs: [");
    for (size_t i = first; i < count && same_rule(&all[i], p); i++) {
        if (!is_in(o, wanted, i))
            continue;
        buffer_print(out, "%s%s", separator, all[i].verb);
        separator = ", ";
    }
    buffer_add_text(out, "]\n");
}

static void put_name(const struct object *o, const char *name, struct buffer *out)
{
    buffer_add_text(out, "metadata:\n  name: ");
    struct buffer whole = {0};
    buffer_print(&whole, "%s%s", name, o->suffix);
    put_quoted(out, whole.at);
    buffer_free(&whole);
    buffer_add_text(out, "\n");
    if (o->namespace_name == NULL)
        return;
    buffer_add_text(out, "  namespace: ");
    put_quoted(out, o->namespace_name);
    buffer_add_text(out, "\n");
}

static void put_subject(const char *subject, struct buffer *out)
{
    static const char account[] = "system:serviceaccount:";
    const char *rest = subject + sizeof(account) - 1;
    const char *colon =
        strncmp(subject, account, sizeof(account) - 1) == 0 ? strchr(rest, ':') : NULL;
    if (colon != NULL) {
        buffer_print(out, "- kind: ServiceAccount\n  name: %s\n  namespace: %.*s\n", colon + 1,
                     (int)(colon - rest), rest);
        return;
    }
    buffer_add_text(out, "- kind: User\n  apiGroup: rbac.authorization.k8s.io\n  name: ");
    put_quoted(out, subject);
    buffer_add_text(out, "\n");
}

static void put_binding(const struct object *o, const char *subject, const char *name,
                        struct buffer *out)
{
    buffer_print(out, "---\n" RBAC "%sBinding\n", o->kind);
    put_name(o, name, out);
    buffer_print(out,
                 "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: ", o->kind);
    struct buffer whole = {0};
    buffer_print(&whole, "%s%s", name, o->suffix);
    put_quoted(out, whole.at);
    buffer_free(&whole);
    buffer_add_text(out, "\nsubjects:\n");
    put_subject(subject, out);
}

void permissions_print(const bool *wanted, const struct permission_place *place,
                       const char *subject, const char *name, struct buffer *out)
{
    const struct object objects[] = {
        {"ClusterRole", NULL, "", BIT(SCOPE_CLUSTER)},
        {"ClusterRole", NULL, "-reviews", BIT(SCOPE_REVIEWS)},
        {"ClusterRole", NULL, "-gangs", BIT(SCOPE_GANGS)},
        {"Role", place->lease_namespace, "-lease",
         BIT(SCOPE_LEASE) | BIT(SCOPE_LEASE_NAMED) | BIT(SCOPE_EVENT)},
        {"Role", "kube-system", "-authorities", BIT(SCOPE_AUTHORITIES)},
    };
    bool begun_all = false;
    prepare();
    for (size_t o = 0; o < sizeof(objects) / sizeof(objects[0]); o++) {
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            bool here = is_in(&objects[o], wanted, i);
            if (here && !any) {
                buffer_print(out, "%s" RBAC "%s\n", begun_all ? "---\n" : "", objects[o].kind);
                put_name(&objects[o], name, out);
                buffer_add_text(out, "rules:\n");
            }
            any |= here;
            begun_all |= here;
            bool begun = false; /* the rule of an earlier verb of the same resource */
            for (size_t k = i; k > 0 && same_rule(&all[k - 1], &all[i]); k--)
                begun |= is_in(&objects[o], wanted, k - 1);
            if (here && !begun)
                put_rule(&objects[o], wanted, place, i, out);
        }
        if (any)
            put_binding(&objects[o], subject, name, out);
    }
}
