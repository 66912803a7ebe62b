/* sessions: who has signed in at the page. A browser cannot send a bearer token by itself, so it
 * gets a random name for it in a cookie, and the token stays here, in memory. It is asked about as
 * if it had been sent with each request: a session grants nothing by itself. */
#ifndef SERVE_SESSIONS_H
#define SERVE_SESSIONS_H

#include "proto/base/moment.h"
#include "proto/base/str.h"

#define SESSIONS_MAX     256               /* the one that was not used for longest gives way */
#define SESSIONS_IDLE_MS INT64_C(43200000) /* twelve hours */
#define SESSION_NAME     65                /* 64 hexadecimal digits and a zero */
#define SESSION_COOKIE   "__Secure-berth"

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions **sessions);

/* A new one for this token; its name. */
void sessions_add(struct sessions *s, struct moment now, struct str token, char name[SESSION_NAME]);
/* The token of the session that the Cookie header names; empty: of none. Valid until the next call.
 */
struct str sessions_token(struct sessions *s, struct moment now, const char *cookies);
/* Forgets it, if there is one. */
void sessions_end(struct sessions *s, const char *cookies);

#endif
