/* crowd: who is connected, how long each may take, and who has to go when there is no room.
 *
 * A newcomer is always let in. When more than CROWD_MAX are connected, one that nobody knows goes:
 * of the origin that has the most of these, the one that came first; so a flood from one place
 * ends its own connections, and a probe, which needs a connection for some milliseconds, comes
 * through. Whoever was let through with a name stays, as long as at least CROWD_STRANGERS places
 * are left to the others, and in any case while it is being answered. A stranger that is being
 * answered is spared for CROWD_SPARED_MS, while such are fewer than half of the strangers: who
 * takes its answer slowly, or not at all, holds no place against a newcomer. */
#ifndef SERVE_CROWD_H
#define SERVE_CROWD_H

#include "ctl/serve/origin.h"
#include "proto/base/moment.h"

#define CROWD_MAX       256
#define CROWD_STRANGERS 32
#define CROWD_ROOM      320 /* until those that have to go are gone */

#define CROWD_FIRST_MS  10000  /* from the connection to the end of the first request's headers */
#define CROWD_BODY_MS   10000  /* from there to the end of its body */
#define CROWD_ANSWER_MS 120000 /* to take the answer */
#define CROWD_SPARED_MS 2000   /* of these, a stranger does not have to go */
#define CROWD_IDLE_MS   90000  /* from one answer to the next request's headers, as upstream's */

struct guest {
    enum { GUEST_none, GUEST_silent, GUEST_asking, GUEST_waiting, GUEST_answered } state;
    bool known;   /* was let through with a name */
    bool leaving; /* has to go; counts no more */
    int fd;
    void *of; /* the caller's */
    struct origin origin;
    struct moment came, deadline;
    struct moment spared; /* until then, while it is being answered */
};

/* Zero-initialise. A guest stays where it is until it has left. */
struct crowd {
    struct guest at[CROWD_ROOM];
    uint32_t count;
};

/* NULL: not even room for it to be asked to leave. */
struct guest *crowd_enter(struct crowd *crowd, const struct origin *origin, int fd,
                          struct moment now);
void crowd_leave(struct crowd *crowd, struct guest *guest);
/* The headers of a request are here; all of it is; its answer is being sent, and known says whether
 * the caller was let through with a name; that has ended. */
void crowd_asks(struct guest *guest, struct moment now);
void crowd_waits(struct guest *guest);
void crowd_answered(struct guest *guest, bool known, struct moment now);
void crowd_ended(struct guest *guest, struct moment now);

/* Who has to go, now marked as leaving: because its time is over, or because there are too many.
 * NULL: nobody. */
struct guest *crowd_late(struct crowd *crowd, struct moment now);
struct guest *crowd_surplus(struct crowd *crowd, struct moment now);
/* When crowd_late is to be asked next. */
struct moment crowd_next(const struct crowd *crowd);

#endif
