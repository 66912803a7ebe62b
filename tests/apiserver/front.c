/* The way of a request: authenticate, find the resource, authorise, maybe strike, run, audit.
 *
 * The one idea: the way is one readable function each for what comes before a fault's delay and
 * what comes after it. Health paths answer everybody; /faults and /fill are for administrators. */
#include "front.h"

#include "api.h"
#include "audit.h"
#include "auth.h"
#include "discovery.h"
#include "fill.h"
#include "route.h"

#include <string.h>

static bool is_public(const char *path)
{
    return strncmp(path, "/healthz", 8) == 0 || strncmp(path, "/livez", 6) == 0 ||
           strncmp(path, "/readyz", 7) == 0 || strcmp(path, "/version") == 0;
}

static void handle_faults(struct request *request, struct answer *answer)
{
    struct server *server = request->server;
    cJSON *refused = NULL;
    if (!request->user->admin)
        refused = status_failure(403, "Forbidden", "faults: only administrators may change them");
    else if (strcmp(request->method, "PUT") == 0 || strcmp(request->method, "POST") == 0)
        refused = faults_set(server, request->body, request->body_size);
    else if (strcmp(request->method, "DELETE") == 0)
        faults_clear(server);
    else if (strcmp(request->method, "GET") != 0)
        refused = status_failure(405, "MethodNotAllowed", "faults: use GET, PUT or DELETE");
    if (refused != NULL)
        answer_status(answer, refused);
    else
        answer_tree(answer, 200, faults_show(server->faults));
}

static void handle_fill(struct request *request, struct answer *answer)
{
    cJSON *refused;
    if (!request->user->admin)
        refused = status_failure(403, "Forbidden", "fill: only administrators may do it");
    else if (strcmp(request->method, "POST") != 0)
        refused = status_failure(405, "MethodNotAllowed", "fill: use POST");
    else
        refused = fill_list(request->server, request->body, request->body_size);
    answer_status(answer, refused != NULL ? refused : status_success());
}

static void handle_path(struct request *request, struct answer *answer)
{
    if (strcmp(request->path, "/faults") == 0)
        handle_faults(request, answer);
    else if (strcmp(request->path, "/fill") == 0)
        handle_fill(request, answer);
    else
        discovery_handle(request, answer);
}

bool front_begin(struct request *request, struct answer *answer, struct fault *fault)
{
    *fault = (struct fault){0};
    cJSON *refused = NULL;
    if (request->user == NULL && !is_public(request->path))
        refused = status_failure(401, "Unauthorized", "Unauthorized");
    if (refused == NULL)
        refused = route_parse(request);
    if (refused == NULL && request->resource != NULL) {
        *fault = faults_strike(request->server->faults, request);
        refused = auth_check(request);
    }
    if (refused == NULL)
        return false;
    answer_status(answer, refused);
    audit_write(request, answer->code);
    return true;
}

static void answer_fault(struct answer *answer, int code, int retry_after)
{
    static const struct {
        int code;
        const char *reason, *message;
    } known[] = {
        {429, "TooManyRequests",
         "the server has received too many requests and has asked us to try again later"},
        {500, "InternalError", "Internal error occurred: injected fault"},
        {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
        {504, "Timeout", "Timeout: request did not complete within the allotted timeout"},
    };
    const char *reason = "", *message = "injected fault";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].code == code) {
            reason = known[i].reason;
            message = known[i].message;
        }
    }
    cJSON *status = status_failure(code, reason, "%s", message);
    if (retry_after > 0)
        tree_set_number(tree_make(status, "details"), "retryAfterSeconds", retry_after);
    answer_clear(answer);
    answer_status(answer, status);
    answer->retry_after = retry_after;
}

void front_run(struct request *request, struct answer *answer, const struct fault *fault)
{
    if (fault->status > 0)
        answer_fault(answer, fault->status, fault->retry_after);
    else if (request->resource != NULL)
        api_handle(request, answer);
    else
        handle_path(request, answer);
    if (answer->watcher != NULL)
        watcher_set_fault(answer->watcher, fault->watch);
    else if (request->resource != NULL)
        audit_write(request, answer->code);
    if (fault->commit_then_504)
        answer_fault(answer, 504, 0);
}
