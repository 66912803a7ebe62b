/* url: absolute URLs and paths, as Go's net/url splits them. */
#ifndef CEL_URL_H
#define CEL_URL_H

#include "scheduler/cel/pool.h"

struct url {
    struct str text; /* as Go writes it back: what two are compared by */
    struct str scheme, host, path, query;
};

/* url.ParseRequestURI: false and *error, in its words, for what is none. */
bool url_check(struct pool *p, struct str text, struct str *error);
/* url.Parse of what url_check takes: NULL and *error for the few texts that it still refuses. */
const struct url *url_parse(struct pool *p, struct str text, struct str *error);
/* url.QueryUnescape; false for what is not well escaped. */
bool url_unescape_query(struct pool *p, struct str text, struct str *out);

#endif
