/* zones: how far a zone is from UTC at some time, by the system's time zone database; as Go's
 * package time finds it, for the fields of a timestamp in a zone by name. */
#ifndef CEL_ZONES_H
#define CEL_ZONES_H

#include "scheduler/cel/pool.h"

/* Seconds east of UTC in the zone by that name, at so many seconds since 1970. False: *error says
 * why there is none, in Go's words. A file is read at each call. */
bool zones_offset(struct pool *p, struct str name, int64_t seconds, int64_t *offset,
                  struct str *error);

/* The same in a file of the database (RFC 8536); false when it is malformed. */
bool zones_offset_in(struct str file, int64_t seconds, int64_t *offset);

#endif
