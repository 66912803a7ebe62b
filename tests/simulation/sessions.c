/* sessions: who connects starts sessions and says nothing else before the door has answered the
 * last hello: else the two count different sessions, and one of them has heard of an end and a
 * beginning of which the other knows nothing. */
#include "tests/simulation/sessions.h"

#include "proto/bus/frame.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"

/* The session of a hello; -1: it is another frame. */
static int64_t session_of(struct str frame)
{
    struct envelope envelope;
    struct byte_cursor body;
    struct arena memory = {0};
    struct message m;
    int64_t session = -1;
    if (is_pack(frame) || frame_open(frame, &envelope, &body) != REFUSED_nothing ||
        envelope.type != MSG_hello)
        return -1;
    if (frame_decode(&envelope, body, &m, &memory) == REFUSED_nothing)
        session = m.hello.session;
    arena_free(&memory);
    return session;
}

void sessions_said(struct sessions *s, const struct proc *p, struct str frame)
{
    int64_t session = session_of(frame);
    if (session >= 0)
        s->asked = session;
    else if (s->asked == 0 || s->answered != s->asked)
        violated("the last hello is answered first",
                 "%s goes on in session %lld of a link, and the last that it has begun is %lld",
                 p->door, (long long)s->answered, (long long)s->asked);
}

/* One of session 0 asks for another, or refuses. While nothing is owed none can be an answer. */
void sessions_heard(struct sessions *s, struct str frame)
{
    int64_t session = s->answered != s->asked ? session_of(frame) : -1;
    if (session <= 0)
        return;
    if (session != s->asked)
        cover("bus", "late answer to a hello");
    s->answered = session;
}
