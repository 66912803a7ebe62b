/* network: what expressions call of addresses and networks (Kubernetes' ip and cidr libraries).
 * What must stay true: no value is an IPv4 address mapped into IPv6, nor one with a zone; both are
 * refused when they are read, so that equal addresses are equal values. */
#include "scheduler/cel/address.h"
#include "scheduler/cel/functions.h"
#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"

static struct value of_address(struct pool *p, enum value_kind kind, const struct address *a)
{
    struct address *kept = pool_take(p, sizeof(*kept));
    *kept = *a;
    return (struct value){.kind = kind, .address = kept};
}

static struct value failed(struct str text)
{
    return (struct value){.kind = V_error, .text = text};
}

/* netip's words about a text that is no address. */
static struct str fault_of(struct pool *p, struct str s, const struct address_reading *r)
{
    struct str quoted = text_quoted(p, s);
    if (r->at.len == 0)
        return pool_print(p, "ParseAddr(%.*s): %s", STR_ARG(quoted), r->why);
    return pool_print(p, "ParseAddr(%.*s): %s (at %.*s)", STR_ARG(quoted), r->why,
                      STR_ARG(text_quoted(p, r->at)));
}

static struct value read_ip(struct pool *p, struct str s)
{
    struct address_reading r;
    if (!address_read(s, &r))
        return failed(pool_print(p,
                                 "IP Address %.*s parse error during conversion from string: %.*s",
                                 STR_ARG(text_quoted(p, s)), STR_ARG(fault_of(p, s, &r))));
    if (r.zoned)
        return failed(pool_print(p, "IP address %.*s with zone value is not allowed",
                                 STR_ARG(text_quoted(p, s))));
    if (address_is_mapped(&r.address))
        return failed(pool_print(p, "IPv4-mapped IPv6 address %.*s is not allowed",
                                 STR_ARG(text_quoted(p, s))));
    return of_address(p, V_ip, &r.address);
}

/* The length of a prefix: digits without a leading zero. */
static bool read_bits(struct str s, uint32_t *bits)
{
    int64_t number = 0;
    if ((s.len > 1 && (s.at[0] < '1' || s.at[0] > '9')) || !number_parse_int(s, &number))
        return false;
    *bits = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    return true;
}

static struct value no_network(struct pool *p, struct str text)
{
    const char *words = "network address parse error during conversion from string";
    return failed(pool_print(p, "%s: %.*s", words, STR_ARG(text)));
}

static struct value no_prefix(struct pool *p, struct str s, struct str why)
{
    const char *words = "network address parse error during conversion from string";
    return no_network(p, pool_print(p, "%s: netip.ParsePrefix(%.*s): %.*s", words,
                                    STR_ARG(text_quoted(p, s)), STR_ARG(why)));
}

static struct value read_cidr(struct pool *p, struct str s)
{
    struct address_reading r;
    uint32_t slash = s.len;
    while (slash > 0 && s.at[slash - 1] != '/')
        slash--;
    if (slash == 0)
        return no_prefix(p, s, STR_LITERAL("no '/'"));
    struct str address = text_first(s, slash - 1), bits = text_from(s, slash);
    if (!address_read(address, &r))
        return no_prefix(p, s, fault_of(p, address, &r));
    if (r.zoned)
        return no_prefix(p, s, STR_LITERAL("IPv6 zones cannot be present in a prefix"));
    if (!read_bits(bits, &r.address.bits))
        return no_prefix(
            p, s, pool_print(p, "bad bits after slash: %.*s", STR_ARG(text_quoted(p, bits))));
    if (r.address.bits > 8 * address_bytes(&r.address))
        return no_prefix(p, s, STR_LITERAL("prefix length out of range"));
    if (address_is_mapped(&r.address))
        return no_network(p, pool_print(p, "IPv4-mapped IPv6 address %.*s is not allowed",
                                        STR_ARG(text_quoted(p, s))));
    return of_address(p, V_cidr, &r.address);
}

static struct value printed(struct pool *p, const struct address *a, bool network)
{
    struct buffer b = {0};
    address_print(&b, a);
    if (network)
        buffer_print(&b, "/%u", a->bits);
    struct str text = arena_copy(p->arena, buffer_str(&b));
    buffer_free(&b); /* before anything may stop the work */
    return value_string(text.at != NULL ? text : STR_LITERAL("?"));
}

/* ---- addresses ---- */

struct value fn_string_to_ip(const struct call *c)
{
    return read_ip(c->pool, c->args[0].text);
}

struct value fn_is_ip(const struct call *c)
{
    return value_bool(read_ip(c->pool, c->args[0].text).kind == V_ip);
}

struct value fn_ip_to_string(const struct call *c)
{
    return printed(c->pool, c->args[0].address, false);
}

struct value fn_ip_is_canonical(const struct call *c)
{
    struct value ip = read_ip(c->pool, c->args[0].text);
    if (ip.kind == V_error)
        return ip;
    return value_bool(str_equal(printed(c->pool, ip.address, false).text, c->args[0].text));
}

struct value fn_ip_family(const struct call *c)
{
    return value_int(c->args[0].address->six ? 6 : 4);
}

static bool is_loopback(const struct address *a)
{
    return a->six ? address_is_small(a, 1) : a->bytes[0] == 127;
}

static bool is_multicast(const struct address *a)
{
    return a->six ? a->bytes[0] == 0xff : (a->bytes[0] & 0xf0) == 0xe0;
}

static bool is_link_local(const struct address *a)
{
    return a->six ? a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80
                  : a->bytes[0] == 169 && a->bytes[1] == 254;
}

static bool is_broadcast(const struct address *a)
{
    return !a->six && (a->bytes[0] & a->bytes[1] & a->bytes[2] & a->bytes[3]) == 255;
}

struct value fn_ip_is_unspecified(const struct call *c)
{
    return value_bool(address_is_small(c->args[0].address, 0));
}

struct value fn_ip_is_loopback(const struct call *c)
{
    return value_bool(is_loopback(c->args[0].address));
}

struct value fn_ip_is_link_local_multicast(const struct call *c)
{
    const struct address *a = c->args[0].address;
    return value_bool(a->six ? a->bytes[0] == 0xff && (a->bytes[1] & 0x0f) == 2
                             : a->bytes[0] == 224 && a->bytes[1] == 0 && a->bytes[2] == 0);
}

struct value fn_ip_is_link_local_unicast(const struct call *c)
{
    return value_bool(is_link_local(c->args[0].address));
}

struct value fn_ip_is_global_unicast(const struct call *c)
{
    const struct address *a = c->args[0].address;
    return value_bool(!address_is_small(a, 0) && !is_broadcast(a) && !is_loopback(a) &&
                      !is_multicast(a) && !is_link_local(a));
}

/* ---- networks ---- */

struct value fn_string_to_cidr(const struct call *c)
{
    return read_cidr(c->pool, c->args[0].text);
}

struct value fn_is_cidr(const struct call *c)
{
    return value_bool(read_cidr(c->pool, c->args[0].text).kind == V_cidr);
}

struct value fn_cidr_to_string(const struct call *c)
{
    return printed(c->pool, c->args[0].address, true);
}

struct value fn_cidr_ip(const struct call *c)
{
    struct address a = *c->args[0].address;
    a.bits = 0;
    return of_address(c->pool, V_ip, &a);
}

struct value fn_cidr_prefix_length(const struct call *c)
{
    return value_int(c->args[0].address->bits);
}

struct value fn_cidr_masked(const struct call *c)
{
    struct address a = address_masked(c->args[0].address);
    return of_address(c->pool, V_cidr, &a);
}

/* Of a text that is no address upstream keeps nothing but that the call does not fit. */
struct value fn_cidr_contains_ip(const struct call *c)
{
    struct value ip = c->args[1];
    if (ip.kind == V_string)
        ip = read_ip(c->pool, ip.text);
    if (ip.kind != V_ip)
        return value_no_overload();
    const struct address *network = c->args[0].address;
    return value_bool(address_shares(network, ip.address, network->bits));
}

struct value fn_cidr_contains_cidr(const struct call *c)
{
    struct value inner = c->args[1];
    if (inner.kind == V_string)
        inner = read_cidr(c->pool, inner.text);
    if (inner.kind != V_cidr)
        return inner;
    const struct address *network = c->args[0].address;
    return value_bool(network->bits <= inner.address->bits &&
                      address_shares(network, inner.address, network->bits));
}
