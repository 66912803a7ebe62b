/* sessions: a table of names and tokens. What must stay true: names come from the kernel's source
 * of randomness and are compared in constant time, and a token that is forgotten is overwritten. */
#include "ctl/serve/sessions.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

struct session {
    char name[SESSION_NAME]; /* "": the place is free */
    char *token;
    struct moment used;
};

struct sessions {
    struct session at[SESSIONS_MAX];
};

struct sessions *sessions_new(void)
{
    return memory_take(sizeof(struct sessions));
}

static void forget(struct session *one)
{
    if (one->token != NULL)
        explicit_bzero(one->token, strlen(one->token));
    memory_free(one->token);
    explicit_bzero(one, sizeof(*one));
}

void sessions_free(struct sessions **sessions)
{
    if (*sessions == NULL)
        return;
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        forget(&(*sessions)->at[i]);
    memory_free(*sessions);
    *sessions = NULL;
}

void sessions_add(struct sessions *s, struct moment now, struct str token, char name[SESSION_NAME])
{
    unsigned char bytes[(SESSION_NAME - 1) / 2];
    struct session *place = &s->at[0];
    for (size_t i = 0; i < SESSIONS_MAX && place->name[0] != 0; i++)
        if (s->at[i].name[0] == 0 || s->at[i].used.ns < place->used.ns)
            place = &s->at[i];
    ssize_t got;
    while ((got = getrandom(bytes, sizeof(bytes), 0)) < 0 && errno == EINTR) {
    }
    must(got == (ssize_t)sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(name + 2 * i, 3, "%02x", bytes[i]);
    forget(place);
    memcpy(place->name, name, SESSION_NAME);
    place->token = str_copy(token);
    place->used = now;
}

/* In the same time whatever is different. */
static bool same(const char *a, const char *b)
{
    unsigned char differs = 0;
    for (size_t i = 0; i < SESSION_NAME - 1; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return differs == 0;
}

static struct session *find(struct sessions *s, const char *cookies)
{
    struct str rest = str_of(cookies), piece;
    while (rest.len > 0 && str_split(&rest, ";", &piece)) {
        piece = str_trim(piece);
        const size_t front = sizeof(SESSION_COOKIE "=") - 1;
        if (!str_starts_with(piece, SESSION_COOKIE "=") || piece.len != front + SESSION_NAME - 1)
            continue;
        for (size_t i = 0; i < SESSIONS_MAX; i++)
            if (s->at[i].name[0] != 0 && same(s->at[i].name, piece.at + front))
                return &s->at[i];
    }
    return NULL;
}

struct str sessions_token(struct sessions *s, struct moment now, const char *cookies)
{
    struct session *one = find(s, cookies);
    if (one != NULL && moment_reached(now, moment_after(one->used, span_of_ms(SESSIONS_IDLE_MS)))) {
        forget(one);
        one = NULL;
    }
    if (one == NULL)
        return (struct str){NULL, 0};
    one->used = now;
    return str_of(one->token);
}

void sessions_end(struct sessions *s, const char *cookies)
{
    struct session *one = find(s, cookies);
    if (one != NULL)
        forget(one);
}
