/* health: one page for each group of checks, and one for each check. Whoever asks a whole group is
 * not told why a check fails, as upstream; the log and the check's own page say it. */
#include "ctl/serve/health.h"

#include <string.h>

static bool excludes(const struct health_question *q, const char *name)
{
    for (size_t i = 0; i < q->excluded_count; i++)
        if (strcmp(q->excluded[i], name) == 0)
            return true;
    return false;
}

static bool has(const struct health *checks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(checks[i].name, name) == 0)
            return true;
    return false;
}

static void warn_of_unknown(const struct health_question *q, const struct health *checks,
                            size_t count, struct buffer *out)
{
    size_t unknown = 0;
    for (size_t i = 0; i < q->excluded_count; i++) {
        if (has(checks, count, q->excluded[i]))
            continue;
        buffer_print(out, "%s\"%s\"",
                     unknown++ == 0 ? "warn: some health checks cannot be excluded: no matches for "
                                    : ",",
                     q->excluded[i]);
    }
    if (unknown > 0)
        buffer_add_text(out, "\n");
}

static int answer_one(const struct health *check, struct buffer *out)
{
    if (check->reason[0] == 0) {
        buffer_add_text(out, "ok");
        return 200;
    }
    buffer_print(out, "internal server error: %s\n", check->reason);
    return 500;
}

static int answer_all(const struct health_question *q, const struct health *checks, size_t count,
                      struct buffer *out)
{
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        if (excludes(q, checks[i].name)) {
            buffer_print(out, "[+]%s excluded: ok\n", checks[i].name);
        } else if (checks[i].reason[0] != 0) {
            buffer_print(out, "[-]%s failed: reason withheld\n", checks[i].name);
            failed = true;
        } else {
            buffer_print(out, "[+]%s ok%s%s\n", checks[i].name, checks[i].note[0] != 0 ? ": " : "",
                         checks[i].note);
        }
    }
    warn_of_unknown(q, checks, count, out);
    buffer_print(out, "%s check %s\n", q->group, failed ? "failed" : "passed");
    if (failed)
        return 500;
    if (!q->verbose) {
        buffer_reset(out);
        buffer_add_text(out, "ok");
    }
    return 200;
}

int health_answer(const struct health_question *q, const struct health *checks, size_t count,
                  struct buffer *out)
{
    const char *name = q->path + 1 + strlen(q->group);
    if (*name == 0 || strcmp(name, "/") == 0)
        return answer_all(q, checks, count, out);
    for (size_t i = 0; i < count; i++)
        if (*name == '/' && strcmp(name + 1, checks[i].name) == 0)
            return answer_one(&checks[i], out);
    buffer_add_text(out, "404 page not found\n");
    return 404;
}
