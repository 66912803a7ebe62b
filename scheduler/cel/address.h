/* address: IP addresses and networks, as Go's net/netip has them. */
#ifndef CEL_ADDRESS_H
#define CEL_ADDRESS_H

#include "proto/base/buffer.h"
#include "scheduler/cel/pool.h"

struct address {
    unsigned char bytes[16];
    bool six;      /* all 16 count, else the first 4 */
    uint32_t bits; /* of a network's prefix */
};

/* What a text is as an address. */
struct address_reading {
    struct address address;
    bool zoned;      /* it names a zone, which the address does not have */
    const char *why; /* it is none; netip's words, static */
    struct str at;   /* where, when that is told */
};

/* How many bytes count. */
static inline uint32_t address_bytes(const struct address *a)
{
    return a->six ? 16 : 4;
}
/* netip.ParseAddr: false when why is set. */
bool address_read(struct str s, struct address_reading *out);
/* As netip.Addr prints it, without the prefix's length. */
void address_print(struct buffer *b, const struct address *a);
bool address_equal(const struct address *a, const struct address *b);
/* An IPv4 address in the form ::ffff:a.b.c.d. */
bool address_is_mapped(const struct address *a);
/* All bytes that count, but for the last one, are zero, and that one is last. */
bool address_is_small(const struct address *a, unsigned char last);
/* The first bits of both are the same, and so are their kinds. */
bool address_shares(const struct address *a, const struct address *b, uint32_t bits);
/* Without what is behind the prefix. */
struct address address_masked(const struct address *a);

#endif
