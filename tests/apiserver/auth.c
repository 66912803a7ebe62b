/* Users from a token file and from client certificates, and the denials that stand in for RBAC.
 *
 * The one idea: everything is allowed but what --deny names, and nothing is denied to members of
 * system:masters; so a test takes away exactly one rule and sees the 403 a real server would send.
 */
#include "auth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct row {
    char *token;
    struct user user;
};

struct denial {
    char *verb, *resource;
};

struct auth {
    bool demands;
    struct row **rows;
    size_t row_count;
    struct denial *denials;
    size_t denial_count;
    struct user everybody;
};

static void add_group(struct user *user, const char *group, size_t size)
{
    user->groups = memory_resize(user->groups, (user->group_count + 1) * sizeof *user->groups);
    user->groups[user->group_count] = memory_copy(group, size);
    if (strcmp(user->groups[user->group_count++], "system:masters") == 0)
        user->admin = true;
}

struct auth *auth_new(void)
{
    struct auth *auth = memory_take(sizeof *auth);
    auth->everybody.name = memory_string("system:admin");
    auth->everybody.uid = memory_string("");
    add_group(&auth->everybody, "system:masters", 14);
    add_group(&auth->everybody, "system:authenticated", 20);
    return auth;
}

static void user_clear(struct user *user)
{
    memory_free(user->name);
    memory_free(user->uid);
    for (size_t i = 0; i < user->group_count; i++)
        memory_free(user->groups[i]);
    memory_free(user->groups);
}

void auth_free(struct auth *auth)
{
    if (auth == NULL)
        return;
    for (size_t i = 0; i < auth->row_count; i++) {
        user_clear(&auth->rows[i]->user);
        memory_free(auth->rows[i]->token);
        memory_free(auth->rows[i]);
    }
    for (size_t i = 0; i < auth->denial_count; i++) {
        memory_free(auth->denials[i].verb);
        memory_free(auth->denials[i].resource);
    }
    user_clear(&auth->everybody);
    memory_free(auth->rows);
    memory_free(auth->denials);
    memory_free(auth);
}

static struct row *add_row(struct auth *auth)
{
    auth->rows = memory_resize(auth->rows, (auth->row_count + 1) * sizeof(struct row *));
    return auth->rows[auth->row_count++] = memory_take(sizeof(struct row));
}

static void add_groups(struct user *user, const char *list)
{
    while (*list) {
        size_t size = strcspn(list, ",\"");
        if (size > 0)
            add_group(user, list, size);
        list += size + (list[size] != 0);
    }
    add_group(user, "system:authenticated", 20);
}

static bool read_row(struct auth *auth, char *line)
{
    char *user = strchr(line, ','), *uid = user != NULL ? strchr(user + 1, ',') : NULL;
    if (uid == NULL || user == line || uid == user + 1)
        return false;
    *user++ = 0;
    *uid++ = 0;
    char *groups = strchr(uid, ',');
    if (groups != NULL)
        *groups++ = 0;
    struct row *row = add_row(auth);
    row->token = memory_string(line);
    row->user.name = memory_string(user);
    row->user.uid = memory_string(uid);
    add_groups(&row->user, groups != NULL ? groups : "");
    row->user.admin |= strcmp(user, "admin") == 0 || strcmp(user, "system:admin") == 0;
    return true;
}

bool auth_read_tokens(struct auth *auth, const char *path, struct buffer *why)
{
    char *text = file_read(path, NULL), *rest = text, *line;
    if (text == NULL) {
        buffer_print(why, "--token-file %s: %s", path, strerror(errno));
        return false;
    }
    bool good = true;
    for (int number = 1; good && (line = strsep(&rest, "\n")) != NULL; number++) {
        line[strcspn(line, "\r")] = 0;
        if (*line == 0 || *line == '#' || read_row(auth, line))
            continue;
        buffer_print(why, "--token-file %s line %d: expected token,user,uid[,groups]", path,
                     number);
        good = false;
    }
    memory_free(text);
    auth->demands = true;
    return good;
}

void auth_demand(struct auth *auth)
{
    auth->demands = true;
}

bool auth_deny(struct auth *auth, const char *rules)
{
    while (*rules) {
        size_t size = strcspn(rules, ","), verb = strcspn(rules, ":,");
        if (verb == 0 || verb + 1 >= size)
            return false;
        auth->denials =
            memory_resize(auth->denials, (auth->denial_count + 1) * sizeof *auth->denials);
        auth->denials[auth->denial_count++] =
            (struct denial){.verb = memory_copy(rules, verb),
                            .resource = memory_copy(rules + verb + 1, size - verb - 1)};
        rules += size + (rules[size] == ',');
    }
    return true;
}

const struct user *auth_by_token(const struct auth *auth, const char *token)
{
    for (size_t i = 0; i < auth->row_count; i++) {
        if (auth->rows[i]->token != NULL && strcmp(auth->rows[i]->token, token) == 0)
            return &auth->rows[i]->user;
    }
    return NULL;
}

const struct user *auth_by_header(struct auth *auth, const char *header)
{
    if (!auth->demands)
        return &auth->everybody;
    if (header == NULL || strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    return auth_by_token(auth, header + 7);
}

const struct user *auth_by_certificate(struct auth *auth, const char *name, char **groups,
                                       size_t group_count)
{
    for (size_t i = 0; i < auth->row_count; i++) {
        if (auth->rows[i]->token == NULL && strcmp(auth->rows[i]->user.name, name) == 0)
            return &auth->rows[i]->user;
    }
    struct row *row = add_row(auth);
    row->user.name = memory_string(name);
    row->user.uid = memory_string("");
    for (size_t i = 0; i < group_count; i++)
        add_group(&row->user, groups[i], strlen(groups[i]));
    add_group(&row->user, "system:authenticated", 20);
    return &row->user;
}

static bool word_matches(const char *rule, const char *word)
{
    return strcmp(rule, "*") == 0 || strcmp(rule, word) == 0;
}

bool auth_allows(const struct auth *auth, const struct user *user, const char *verb,
                 const char *resource)
{
    for (size_t i = 0; !user->admin && i < auth->denial_count; i++) {
        if (word_matches(auth->denials[i].verb, verb) &&
            word_matches(auth->denials[i].resource, resource))
            return false;
    }
    return true;
}

cJSON *auth_check(const struct request *request)
{
    const struct resource *resource = request->resource;
    char target[128], qualified[128], where[300] = "at the cluster scope";
    snprintf(target, sizeof target, "%s%s%s", resource->plural, *request->subresource ? "/" : "",
             request->subresource);
    if (auth_allows(request->server->auth, request->user, request->verb, target))
        return NULL;
    if (*request->namespace)
        snprintf(where, sizeof where, "in the namespace \"%s\"", request->namespace);
    resource_qualified(resource, qualified);
    const char *name = request->name;
    cJSON *status =
        status_failure(403, "Forbidden",
                       "%s%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group "
                       "\"%s\" %s",
                       qualified, *name ? " \"" : "", name, *name ? "\"" : "", request->user->name,
                       request->verb, target, resource->group, where);
    return status_about(status, resource, name);
}

const char *auth_first_token(const struct auth *auth)
{
    const char *first = NULL;
    for (size_t i = 0; i < auth->row_count; i++) {
        const struct row *row = auth->rows[i];
        if (row->token != NULL && row->user.admin)
            return row->token;
        if (first == NULL)
            first = row->token;
    }
    return first;
}
