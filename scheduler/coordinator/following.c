/* following: the release that is decided as is the API server's, or the nearest one that there is a
 * table for. The one idea: here it is found out which one is wanted; whoever owns the configuration
 * reads it as of that one (live_config.c), and it takes the place of the former as a whole.
 *
 * What must stay true: nothing is decided before a release is known, and that takes SILENT_S at the
 * most behind the first snapshot; what was known stays until something else is told; and API
 * servers of two releases behind one address do not make it change to and fro without a pause. */
#include "scheduler/coordinator/following.h"

#include "proto/kube/objects/requests.h"
#include "proto/kube/release/release.h"
#include "proto/metrics.h"

#include <inttypes.h>
#include <stdio.h>

#define SILENT_S 10 /* without a version behind the first snapshot: taken for a new server */
#define PAUSE_S  30 /* between two changes */

static struct features features_taken(const struct coordinator *c)
{
    return c->frameworks.count > 0 ? c->frameworks.at[0].profile.features
                                   : (struct features){.release = 0};
}

static int64_t taken(const struct coordinator *c)
{
    return features_taken(c).release;
}

int64_t coordinator_release(const struct coordinator *c)
{
    return c->release.wanted != 0 ? c->release.wanted : taken(c);
}

bool coordinator_release_changes(const struct coordinator *c)
{
    return c->release.wanted != 0 && c->release.wanted != taken(c) && !c->release.refused;
}

bool following_is_open(const struct coordinator *c)
{
    return c->options.follows && (c->release.wanted == 0 || coordinator_release_changes(c));
}

static void want(struct coordinator *c, int64_t minor)
{
    c->release.wanted = minor;
    c->release.refused = false;
}

/* It may yet tell it. */
static void guess(struct coordinator *c, struct moment now)
{
    if (c->release.wanted != 0 || !c->stream.synced)
        return;
    if (c->release.silent_since.ns == 0)
        c->release.silent_since = now;
    if (!moment_reached(now, moment_after(c->release.silent_since, span_of_seconds(SILENT_S))))
        return;
    log_warn("the API server does not tell its version| taken=%s error=\"%s\"",
             release_of(RELEASE_NEWEST)->version, c->release.problem);
    want(c, RELEASE_NEWEST);
}

void following_look(struct coordinator *c, struct moment now)
{
    if (!c->options.follows)
        return;
    if (c->release.minor == 0) {
        guess(c, now);
        return;
    }
    const struct kube_release *nearest = release_of(c->release.minor);
    if (nearest->minor == c->release.wanted || !moment_reached(now, c->release.may_change))
        return;
    want(c, nearest->minor);
    c->release.may_change = moment_after(now, span_of_seconds(PAUSE_S));
    if (nearest->minor == c->release.minor)
        log_info("decides as the API server's release| release=%s", nearest->version);
    else
        log_warn("the API server's release is not known here, and taken for another one"
                 "| api_server=1.%" PRId64 " release=%s",
                 c->release.minor, nearest->version);
}

void following_hear(struct coordinator *c, const struct server_version *said)
{
    if (said->minor > 0) {
        c->release.minor = said->minor;
        snprintf(c->release.name, sizeof(c->release.name), "%.*s", STR_ARG(said->git_version));
    }
    snprintf(c->release.problem, sizeof(c->release.problem), "%.*s", STR_ARG(said->problem));
}

bool following_taken(struct coordinator *c, const char *left)
{
    c->release.refused = false;
    snprintf(c->release.left, sizeof(c->release.left), "%s", left != NULL ? left : "");
    struct features now = features_taken(c);
    bool again = c->release.pods_vary && !requests_same_count(&c->release.read_as, &now);
    c->release.pods_vary = c->release.pods_vary && !again;
    return again;
}

struct pod following_read(struct coordinator *c, const struct pod *pod)
{
    c->release.read_as = features_taken(c);
    c->release.pods_vary = c->release.pods_vary || requests_vary(pod);
    return requests_as_of(pod, &c->release.read_as);
}

void following_refused(struct coordinator *c)
{
    if (c->release.wanted != 0 && c->release.wanted != taken(c))
        c->release.refused = true;
}

/* ---- what it says of itself ---- */

static void note_skew(const struct coordinator *c, struct buffer *out)
{
    const char *as = release_of(taken(c))->version;
    if (c->release.refused)
        buffer_print(out, "the configuration is refused as of %s, taken as %s",
                     release_of(c->release.wanted)->version, as);
    else if (c->release.minor != 0 && c->release.minor != taken(c))
        buffer_print(out, "the API server is 1.%" PRId64 ", taken as %s", c->release.minor, as);
    else if (c->options.follows && c->release.minor == 0)
        buffer_print(out, "the API server does not tell its version, taken as %s", as);
}

void following_note(const struct coordinator *c, char *text, size_t room)
{
    struct buffer out = {0};
    if (taken(c) != 0)
        note_skew(c, &out);
    if (c->release.left[0] != 0)
        buffer_print(&out, "%sfeature gates without a place in %s are left out: %s",
                     out.len > 0 ? "; " : "", release_of(taken(c))->version, c->release.left);
    snprintf(text, room, "%s", out.len > 0 ? out.at : "");
    buffer_free(&out);
}

void following_status(const struct coordinator *c, struct buffer *lines)
{
    char note[400];
    following_note(c, note, sizeof(note));
    buffer_print(lines, "release=%s\n",
                 following_is_open(c) || taken(c) == 0 ? "unknown" : release_of(taken(c))->version);
    if (c->release.name[0] != 0)
        buffer_print(lines, "api_server=%s\n", c->release.name);
    else if (c->release.minor != 0)
        buffer_print(lines, "api_server=v1.%" PRId64 "\n", c->release.minor);
    else
        buffer_add_text(lines, "api_server=unknown\n");
    if (note[0] != 0)
        buffer_print(lines, "release_note=%s\n", note);
}

void following_observe(const struct coordinator *c)
{
    char note[400];
    bool open = following_is_open(c);
    following_note(c, note, sizeof(note));
    metric_check("release", open ? "the API server's version is not known yet" : "");
    metric_check_note("release", open ? "" : note);
    metric_release(open ? 0 : taken(c));
}
