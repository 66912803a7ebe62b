/* From verb to handler. Everything before (routes, users, faults) and after (sending) is elsewhere.
 *
 * The one idea: one table, one line a verb; the two exceptions, computed resources and bindings,
 * are decided before it. */
#include "api.h"

#include <string.h>

typedef void verb_handler(struct request *request, struct answer *answer);

static const struct {
    const char *verb;
    verb_handler *handle;
} verbs[] = {
    {"get", api_get},       {"list", api_list},
    {"watch", api_watch},   {"create", api_create},
    {"update", api_update}, {"patch", api_patch},
    {"delete", api_delete}, {"deletecollection", api_delete_collection},
};

static void refuse_method(struct answer *answer)
{
    answer_status(
        answer, status_failure(405, "MethodNotAllowed",
                               "the server does not allow this method on the requested resource"));
}

void api_handle(struct request *request, struct answer *answer)
{
    bool create = strcmp(request->verb, "create") == 0;
    if (request->resource->flags & COMPUTED) {
        reviews_create(request, answer);
        return;
    }
    bool binding = strcmp(request->subresource, "binding") == 0;
    if (binding != (create && *request->subresource != 0)) {
        refuse_method(answer);
        return;
    }
    if (binding) {
        pods_bind(request, answer);
        return;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].verb, request->verb) == 0) {
            verbs[i].handle(request, answer);
            return;
        }
    }
    refuse_method(answer);
}
