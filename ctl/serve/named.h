/* named: certificates for some names (--tls-sni-cert-key), chosen in the handshake. There is one
 * set a process, since GnuTLS asks without saying for whom. */
#ifndef SERVE_NAMED_H
#define SERVE_NAMED_H

#include "ctl/serve/http.h"

#include <gnutls/abstract.h>

/* Takes the certificates of the options, the one for all others included. False with one line in
 * why. */
bool named_load(const struct http_options *options, struct buffer *why);
void named_free(void);
/* A gnutls_certificate_retrieve_function2: the certificate for the name that the client wants. */
int named_choose(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                 const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                 gnutls_pcert_st **chain, unsigned *chain_length, gnutls_privkey_t *key);
/* True when a pattern is for that name: the same, or "*." and one label less. Letters' case does
 * not count. */
bool named_matches(struct str pattern, struct str name);

#endif
