/* version: the answer to GET /version is read, and told when it is another one. The one idea: what
 * an answer does not say changes nothing, so a version that was once known stays until the next one
 * is. What must stay true: whatever the server answers, it is bounded, and no more than a line of
 * the log follows from it. */
#include "watcher/version.h"

#include "proto/base/log.h"
#include "proto/kube/documents/json.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MAX 16384 /* bytes; a server's own is less than 1,000 */
#define MINOR_MAX  999

void version_free(struct version *v)
{
    buffer_free(&v->answer);
}

void version_data(struct version *v, struct str piece)
{
    size_t room = ANSWER_MAX + 1 - v->answer.len;
    if (piece.len > 0 && room > 0)
        buffer_add(&v->answer, piece.at, piece.len < room ? piece.len : room);
}

/* "37", and "37+" of a cluster that is somebody's own build. */
static bool read_number(struct str text, int64_t *number)
{
    uint32_t len = 0;
    while (len < text.len && text.at[len] >= '0' && text.at[len] <= '9')
        len++;
    return len > 0 && str_to_i64((struct str){text.at, len}, number) && *number <= MINOR_MAX;
}

/* It goes to the log and into status as it is. */
static bool is_name(struct str text)
{
    for (uint32_t i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~' || strchr("\"\\=", text.at[i]) != NULL)
            return false;
    return text.len > 0 && text.len < sizeof(((struct version *)0)->git_version);
}

/* Why the document is no version; "" when it is one, which is taken. */
static const char *take(struct version *v, const struct kube_json *json)
{
    struct str name = kube_json_text(kube_json_get(json, "gitVersion"));
    int64_t major = 0, minor = 0;
    if (json == NULL)
        return "it is no JSON";
    if (!read_number(kube_json_text(kube_json_get(json, "minor")), &minor) || minor == 0)
        return "it has no minor version";
    if (!read_number(kube_json_text(kube_json_get(json, "major")), &major) || major != 1)
        return "its major version is not 1";
    v->known = true;
    v->major = major;
    v->minor = minor;
    snprintf(v->git_version, sizeof(v->git_version), "%.*s",
             STR_ARG(is_name(name) ? name : STR_LITERAL("")));
    return "";
}

static void find_problem(struct version *v, int status, struct str body, char *problem, size_t room)
{
    struct arena memory = {0};
    if (status < 200 || status >= 300) {
        snprintf(problem, room, "the API server answers %d to /version", status);
    } else if (body.len > ANSWER_MAX) {
        snprintf(problem, room, "the answer to /version is longer than %d bytes", ANSWER_MAX);
    } else {
        struct kube_json *json = kube_json_parse(body, NULL, &memory);
        const char *why = take(v, json);
        kube_json_free(&json);
        snprintf(problem, room, "%s%s",
                 *why != 0 ? "the answer to /version is not understood: " : "", why);
    }
    arena_free(&memory);
}

static bool say(struct version *v, struct publisher *p)
{
    struct message m = {.type = MSG_server_version};
    if (v->known)
        m.server_version = (struct server_version){
            .major = v->major, .minor = v->minor, .git_version = str_of(v->git_version)};
    else
        m.server_version.problem = str_of(v->problem);
    if (!publisher_set(p, &v->told, &m) || !v->known)
        return false;
    log_info("the API server's version|version=%s minor=%lld", v->git_version, (long long)v->minor);
    return true;
}

bool version_answered(struct version *v, int status, struct str body, struct publisher *p)
{
    char problem[sizeof(v->problem)] = "";
    if (status == 0) { /* nothing was said of it */
        buffer_reset(&v->answer);
        return false;
    }
    find_problem(v, status, v->answer.len > 0 ? buffer_str(&v->answer) : body, problem,
                 sizeof(problem));
    buffer_reset(&v->answer);
    if (problem[0] != 0 && strcmp(problem, v->problem) != 0)
        log_warn("the API server's version is not told|error=\"%s\" former=%s", problem,
                 v->known ? v->git_version : "none");
    memcpy(v->problem, problem, sizeof(problem));
    return say(v, p);
}

void version_status(const struct version *v, struct buffer *lines)
{
    if (v->known && v->git_version[0] != 0)
        buffer_print(lines, "api_server=%s", v->git_version);
    else if (v->known)
        buffer_print(lines, "api_server=v1.%lld", (long long)v->minor);
    else
        buffer_add_text(lines, "api_server=unknown");
    buffer_print(lines, "%s%s\n", v->problem[0] != 0 ? " error=" : "", v->problem);
}
