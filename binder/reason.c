/* reason: an answer is good, busy, doubtful or a refusal, and at most one of these. Its words are
 * the message of the Status in it, else the client's error, else the bare number; never empty, so
 * that whoever reads it learns at least where to look. */
#include "binder/reason.h"
#include "proto/kube/writes/writes.h"

bool answer_is_good(const struct kube_response *response)
{
    return response->status >= 200 && response->status < 300;
}

bool answer_is_busy(const struct kube_response *response)
{
    return response->status == 401 || response->status == 429 || response->status == 503 ||
           (response->status == 0 && !response->maybe_done);
}

bool answer_is_doubtful(const struct kube_response *response)
{
    return response->maybe_done || (response->status >= 500 && response->status != 503);
}

bool answer_is_open(const struct kube_response *response)
{
    return response->maybe_done || response->status == 502;
}

void reason_of(const struct kube_response *response, struct buffer *out)
{
    struct arena a = {0};
    struct writes_status status;
    buffer_reset(out);
    writes_status_read(response->body, &status, &a);
    if (status.message.len > 0)
        buffer_add_str(out, status.message);
    else if (response->status == 0 && *response->error)
        buffer_add_text(out, response->error);
    else
        buffer_print(out, "the API server answered %d", response->status);
    arena_free(&a);
}
