/* certificate: the server's own certificate, and whose certificate a client brought. */
#ifndef SERVE_CERTIFICATE_H
#define SERVE_CERTIFICATE_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/messages.h"

#include <gnutls/gnutls.h>

/* A key and a certificate for localhost, its addresses and the one that is listened on ("" or an
 * unspecified one: no more than these) that it signs itself, as PEM; made anew with each start and
 * kept nowhere, as kube-scheduler does without --cert-dir. False with one line in why. */
bool certificate_make(const char *address, struct buffer *certificate, struct buffer *key,
                      struct buffer *why);

/* The serial number of a certificate, as the bytes of a DER integer, the greatest first: positive,
 * never zero, and in as few bytes as it can be, whatever the random number is. */
#define CERTIFICATE_SERIAL_SIZE 8
void certificate_serial(uint64_t random, unsigned char serial[CERTIFICATE_SERIAL_SIZE]);

/* True for a certificate in PEM whose serial number is negative: clients in Go refuse it. */
bool certificate_odd(struct str pem);

/* True when the client of the session brought a certificate; it is then imported, and *chain has
 * certificate_drop to be called for. */
struct client_chain {
    gnutls_x509_crt_t at[8];
    unsigned count;
};
bool certificate_of(gnutls_session_t session, struct client_chain *chain);
void certificate_drop(struct client_chain *chain);
/* True when an authority in the PEM text vouches for it, for a client, now. */
bool certificate_signed_by(const struct client_chain *chain, struct str authorities);
/* Its common name, the last if there are several, and its organisations, in the arena. It takes a
 * while when there are thousands: to be asked once an authority vouched for it. */
void certificate_subject(const struct client_chain *chain, struct str *name, struct strs *groups,
                         struct arena *a);

#endif
