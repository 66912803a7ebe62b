/* Who is asking (tokens, client certificates), and what --deny forbids them. */
#ifndef APISERVER_AUTH_H
#define APISERVER_AUTH_H

#include "server.h"

struct auth *auth_new(void);
void auth_free(struct auth *auth);
/* Reads rows "token,user,uid[,\"group,group\"]"; false with one line in why. From then on a request
 * without a known token or certificate is refused. */
bool auth_read_tokens(struct auth *auth, const char *path, struct buffer *why);
/* Client certificates count as well; alone they make the same demand. */
void auth_demand(struct auth *auth);
/* Adds "VERB:RESOURCE[,VERB:RESOURCE…]"; "*" matches all; false when malformed. */
bool auth_deny(struct auth *auth, const char *rules);

/* header is the Authorization header or NULL. NULL means: not authenticated. */
const struct user *auth_by_header(struct auth *auth, const char *header);
const struct user *auth_by_token(const struct auth *auth, const char *token);
/* The user of a verified certificate: common name and organisations. Kept by auth. */
const struct user *auth_by_certificate(struct auth *auth, const char *name, char **groups,
                                       size_t group_count);
/* resource is "pods" or "pods/binding". */
bool auth_allows(const struct auth *auth, const struct user *user, const char *verb,
                 const char *resource);
/* NULL, or the 403. */
cJSON *auth_check(const struct request *request);
/* The token of the first administrator, or of the first user; NULL without a token file. */
const char *auth_first_token(const struct auth *auth);

#endif
