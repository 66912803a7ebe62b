/* origin: where a connection comes from, as far as it counts together with others, and how many
 * questions to the API server may be under way for each.
 *
 * An IPv4 address is one origin, and so is a /64 of IPv6, since a host usually has all of it. Many
 * callers may share an origin (a node's probes, scrapers behind one NAT), so an origin is never
 * refused as such; it only waits for its turn, and gives way first when there is no room. */
#ifndef SERVE_ORIGIN_H
#define SERVE_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct origin {
    uint8_t at[16]; /* IPv4 as ::ffff:a.b.c.d; IPv6 without its last eight bytes */
};

/* NULL and other families: all of them are one origin. */
struct origin origin_of(const struct sockaddr *address);
bool origin_same(const struct origin *a, const struct origin *b);
/* Of the address, for people; room of at least 48. */
void origin_print(const struct origin *origin, char *out, size_t room);

#define TURNS_MAX       64 /* questions under way at once for callers that are not known */
#define TURNS_OF_ORIGIN 16 /* of these, for one origin */
#define TURNS_KNOWN     16 /* besides, for callers to whom the API server has said yes before */

/* Zero-initialise. */
struct turns {
    struct turn {
        struct origin origin;
        uint32_t count;
    } at[TURNS_MAX];
    uint32_t origins, strangers, known;
};

/* False: not yet. What was taken is given back with the same arguments. */
bool turns_take(struct turns *turns, const struct origin *origin, bool known);
void turns_give(struct turns *turns, const struct origin *origin, bool known);

#endif
