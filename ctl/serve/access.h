/* access: who asks, and whether they may: kube-scheduler's delegated authentication and
 * authorisation.
 *
 * A caller is known by a client certificate of the cluster's authority, by what a front proxy says
 * of it, or by a bearer token that the API server knows (TokenReview); all others are
 * system:anonymous. Whoever is in system:masters may do everything, everybody may see the paths
 * that are always allowed, and of the rest the API server decides (SubjectAccessReview). Answers
 * are remembered for a while. access_ask never waits: it says ACCESS_wait until the API server has
 * answered.
 *
 * Strangers cost others nothing: what is remembered is bounded with room of its own for what was
 * refused (recall.h), and of the questions that are under way at once each origin has its share,
 * and callers whose token was good before have places of their own (origin.h). Who gets no turn
 * waits for three seconds and is then told that there are too many: ACCESS_busy. */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include "ctl/serve/origin.h"
#include "ctl/serve/recall.h"
#include "proto/base/moment.h"
#include "proto/kube/access/client.h"
#include "proto/kube/writes/reviews.h"

struct access;

struct access_options {
    struct kube_client *authentication, *authorization; /* NULL: there is none */
    struct span token_ttl, allowed_ttl, denied_ttl;
    const char *always_allowed; /* paths, with commas between; "*" at an end matches the rest */
    bool skip_lookup;           /* the ConfigMap is not read */
    bool need_lookup;           /* without the ConfigMap nothing is served */
    struct str client_ca;       /* PEM of a file that was named; else empty */
    struct review_config proxy; /* of flags; counts when its proxy_ca is not empty */
};

struct access *access_new(const struct access_options *options);
void access_free(struct access **access);

/* Since when a request is looked at, for the metrics; zero-initialise, and keep it from one asking
 * about a request to the next. */
struct access_wait {
    struct moment began, known; /* known: who asks; 0: not yet */
    struct moment queued;       /* since when it waits for its turn; 0: it does not */
    bool missed;                /* the token was not remembered */
    bool named;                 /* the caller was let through, and is not anonymous */
    bool token_hashed, anonymous_hashed;
    unsigned char token_key[RECALL_KEY_SIZE], anonymous_key[RECALL_KEY_SIZE];
};

/* A request, as far as it says who asks and for what. */
struct access_question {
    const char *method, *path;
    struct origin from;
    struct str token; /* bearer token; empty: none */
    /* Of the client certificate: */
    enum { CERTIFICATE_none, CERTIFICATE_client, CERTIFICATE_proxy, CERTIFICATE_bad } certificate;
    struct review_user subject; /* its common name and organisations */
    struct review_user spoken;  /* CERTIFICATE_proxy: whom it speaks for; name empty: for nobody */
    struct access_wait *wait;   /* NULL: it is never asked again */
};

enum access_verdict {
    ACCESS_wait,
    ACCESS_granted,
    ACCESS_unknown,
    ACCESS_refused,
    ACCESS_failed,
    ACCESS_busy
};

/* unknown: 401; busy: 429; refused: 403 and failed: 500, with the text to say in why. */
enum access_verdict access_ask(struct access *access, struct moment now,
                               const struct access_question *question, struct buffer *why);

/* Grows with each answer of the API server: whoever waits should ask again. */
uint64_t access_answers(const struct access *access);

/* Sets the gauges: tokens that the API server is being asked about. */
void access_measure(const struct access *access);

/* Reads the ConfigMap when it is due; returns when it wants to be called again. */
struct moment access_tick(struct access *access, struct moment now);
/* Authorities of client certificates, PEM; they change when the generation does. */
struct str access_client_ca(const struct access *access);
struct str access_proxy_ca(const struct access *access);
unsigned access_generation(const struct access *access);
const struct review_config *access_config(const struct access *access);

#endif
