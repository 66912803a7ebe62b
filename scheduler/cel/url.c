/* url: URLs taken apart and put together. What must stay true: which characters stay as they are is
 * each part's own matter, as in Go's net/url, and what is escaped in the source of a path or
 * fragment in another way than Go would do it stays as it was written, so that equal URLs are equal
 * texts. */
#include "scheduler/cel/url.h"

#include "scheduler/cel/address.h"
#include "scheduler/cel/text.h"

#include <string.h>

enum part { IN_PATH, IN_HOST, IN_ZONE, IN_USER, IN_QUERY, IN_FRAGMENT };

struct parts {
    struct pool *pool;
    struct str *error;
    struct str scheme, opaque, host, query;
    struct str user, password;
    bool has_user, has_password, force_query, omit_host;
    struct str path, raw_path, fragment, raw_fragment; /* raw: as written */
};

static bool refuse(struct parts *u, struct str why)
{
    *u->error = why;
    return false;
}

/* ---- characters ---- */

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool stays(char c, enum part part)
{
    if (is_alphanumeric(c) || is_one_of(c, "-_.~"))
        return true;
    switch (part) {
    case IN_HOST:
    case IN_ZONE: return is_one_of(c, "!$&'()*+,;=:[]<>\"");
    case IN_PATH: return is_one_of(c, "$&+,/:;=@");
    case IN_USER: return is_one_of(c, "$&+,;=");
    case IN_FRAGMENT: return is_one_of(c, "$&+,/:;=?@!()*");
    default: return false;
    }
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool bad_escape(struct pool *p, struct str s, struct str *error)
{
    struct str three = text_first(s, s.len < 3 ? s.len : 3);
    *error = pool_print(p, "invalid URL escape %.*s", STR_ARG(text_quoted(p, three)));
    return false;
}

/* The byte that two hexadecimal digits are. */
static char byte_of(const char *digits)
{
    return (char)((unsigned)hex_of(digits[0]) << 4 | (unsigned)hex_of(digits[1]));
}

/* What begins with % may stand in this part. */
static bool escape_fits(struct str s, enum part part)
{
    if (s.len < 3 || hex_of(s.at[1]) < 0 || hex_of(s.at[2]) < 0)
        return false;
    char c = byte_of(s.at + 1);
    bool percent = s.at[1] == '2' && s.at[2] == '5';
    if (part == IN_HOST)
        return percent || hex_of(s.at[1]) >= 8;
    return part != IN_ZONE || percent || c == ' ' || stays(c, IN_HOST);
}

static bool unescape(struct pool *p, struct str s, enum part part, struct str *out,
                     struct str *error)
{
    char *at = pool_take(p, (size_t)s.len + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool host = part == IN_HOST || part == IN_ZONE;
        if (c == '%') {
            if (!escape_fits(text_from(s, i), part))
                return bad_escape(p, text_from(s, i), error);
            c = byte_of(s.at + i + 1);
            i += 2;
        } else if (c == '+' && part == IN_QUERY) {
            c = ' ';
        } else if (host && (unsigned char)c < 0x80 && !stays(c, part)) {
            *error = pool_print(p, "invalid character %.*s in host name",
                                STR_ARG(text_quoted(p, (struct str){&s.at[i], 1})));
            return false;
        }
        at[len++] = c;
    }
    *out = (struct str){at, len};
    return true;
}

static struct str escaped(struct pool *p, struct str s, enum part part)
{
    char *at = pool_take(p, 3 * (size_t)s.len + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (stays((char)c, part)) {
            at[len++] = (char)c;
            continue;
        }
        at[len++] = '%';
        at[len++] = "0123456789ABCDEF"[c >> 4];
        at[len++] = "0123456789ABCDEF"[c & 15];
    }
    return (struct str){at, len};
}

/* A path or fragment as it is written back: as it was, if nothing in it had to be escaped. */
static struct str written(struct pool *p, struct str plain, struct str raw, enum part part)
{
    bool valid = raw.len > 0;
    for (uint32_t i = 0; i < raw.len && valid; i++)
        valid = is_one_of(raw.at[i], "!$&'()*+,;=:@[]%") || stays(raw.at[i], part);
    if (valid)
        return raw;
    return part == IN_PATH && str_is(plain, "*") ? plain : escaped(p, plain, part);
}

/* ---- authority ---- */

static int64_t last_of(struct str s, char c)
{
    for (uint32_t i = s.len; i > 0; i--)
        if (s.at[i - 1] == c)
            return i - 1;
    return -1;
}

static bool is_port(struct str s)
{
    if (s.len > 0 && s.at[0] != ':')
        return false;
    for (uint32_t i = 1; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return true;
}

static bool bad_port(struct parts *u, struct str port)
{
    return refuse(u, pool_print(u->pool, "invalid port %.*s after host",
                                STR_ARG(text_quoted(u->pool, port))));
}

/* netip's words about what stands in brackets. */
static bool bad_address(struct parts *u, struct str name, const struct address_reading *r)
{
    struct pool *p = u->pool;
    struct str at = r->at.len == 0 ? STR_LITERAL("")
                                   : pool_print(p, " (at %.*s)", STR_ARG(text_quoted(p, r->at)));
    return refuse(u, pool_print(p, "invalid host: ParseAddr(%.*s): %s%.*s",
                                STR_ARG(text_quoted(p, name)), r->why, STR_ARG(at)));
}

/* [address%25zone]:port */
static bool read_bracketed(struct parts *u, struct str host)
{
    struct pool *p = u->pool;
    int64_t end = last_of(host, ']');
    struct address_reading r;
    if (end < 0)
        return refuse(u, STR_LITERAL("missing ']' in host"));
    struct str port = text_from(host, (uint32_t)end + 1), zone = {"", 0};
    struct str name = text_first(text_from(host, 1), (uint32_t)end - 1);
    if (!is_port(port))
        return bad_port(u, port);
    int64_t percent = text_find(name, STR_LITERAL("%25"));
    if (percent >= 0) {
        zone = text_from(name, (uint32_t)percent);
        name = text_first(name, (uint32_t)percent);
    }
    if (!unescape(p, name, IN_HOST, &name, u->error) ||
        !unescape(p, zone, IN_ZONE, &zone, u->error))
        return false;
    name = pool_print(p, "%.*s%.*s", STR_ARG(name), STR_ARG(zone));
    if (!address_read(name, &r))
        return bad_address(u, name, &r);
    if (!r.address.six)
        return refuse(u, STR_LITERAL("invalid IP-literal"));
    u->host = pool_print(p, "[%.*s]%.*s", STR_ARG(name), STR_ARG(port));
    return true;
}

static bool read_host(struct parts *u, struct str host)
{
    int64_t bracket = last_of(host, '['), colon = str_find(host, ':');
    if (bracket > 0)
        return refuse(u, STR_LITERAL("invalid IP-literal"));
    if (bracket == 0)
        return read_bracketed(u, host);
    if (colon >= 0 && !str_is(u->scheme, "http") && !str_is(u->scheme, "https"))
        colon = last_of(host, ':'); /* lists of hosts, as databases have them */
    if (colon >= 0 && !is_port(text_from(host, (uint32_t)colon)))
        return bad_port(u, text_from(host, (uint32_t)colon));
    return unescape(u->pool, host, IN_HOST, &u->host, u->error);
}

static bool read_user(struct parts *u, struct str info)
{
    int64_t colon = str_find(info, ':');
    for (uint32_t i = 0; i < info.len; i++)
        if (!is_alphanumeric(info.at[i]) && !is_one_of(info.at[i], "-._:~!$&'()*+,;=%@"))
            return refuse(u, STR_LITERAL("net/url: invalid userinfo"));
    u->has_user = true;
    u->has_password = colon >= 0;
    struct str name = u->has_password ? text_first(info, (uint32_t)colon) : info;
    if (!unescape(u->pool, name, IN_USER, &u->user, u->error))
        return false;
    return !u->has_password ||
           unescape(u->pool, text_from(info, (uint32_t)colon + 1), IN_USER, &u->password, u->error);
}

static bool read_authority(struct parts *u, struct str authority)
{
    int64_t at = last_of(authority, '@');
    if (!read_host(u, at < 0 ? authority : text_from(authority, (uint32_t)at + 1)))
        return false;
    return at < 0 || read_user(u, text_first(authority, (uint32_t)at));
}

/* ---- the whole ---- */

static bool starts(struct str s, const char *with)
{
    size_t len = strlen(with);
    return s.len >= len && memcmp(s.at, with, len) == 0;
}

/* What stands before the first colon, in small letters, if it may be a scheme; *rest is behind. */
static bool read_scheme(struct parts *u, struct str text, struct str *rest)
{
    uint32_t i = 0;
    *rest = text;
    while (i < text.len && (is_alphanumeric(text.at[i]) || is_one_of(text.at[i], "+-.")) &&
           (i > 0 || (is_alphanumeric(text.at[0]) && text.at[0] > '9')))
        i++;
    if (i == text.len || text.at[i] != ':')
        return true;
    if (i == 0)
        return refuse(u, STR_LITERAL("missing protocol scheme"));
    char *lower = pool_take(u->pool, i);
    for (uint32_t k = 0; k < i; k++)
        lower[k] = (char)(text.at[k] >= 'A' && text.at[k] <= 'Z' ? text.at[k] + 32 : text.at[k]);
    u->scheme = (struct str){lower, i};
    *rest = text_from(text, i + 1);
    return true;
}

static void cut_query(struct parts *u, struct str *rest)
{
    int64_t mark = str_find(*rest, '?');
    if (mark < 0)
        return;
    u->query = text_from(*rest, (uint32_t)mark + 1);
    u->force_query = u->query.len == 0;
    *rest = text_first(*rest, (uint32_t)mark);
}

static bool read_path(struct parts *u, struct str path)
{
    if (!unescape(u->pool, path, IN_PATH, &u->path, u->error))
        return false;
    u->raw_path = path;
    if (str_equal(path, escaped(u->pool, u->path, IN_PATH)))
        u->raw_path.len = 0;
    return true;
}

/* What does not begin with a slash: true when it is refused or all that there is. */
static bool is_rootless(struct parts *u, struct str rest, bool request, bool *good)
{
    int64_t slash = str_find(rest, '/');
    *good = true;
    if (slash == 0)
        return false;
    if (u->scheme.len > 0) {
        u->opaque = rest;
        return true;
    }
    if (request)
        *good = refuse(u, STR_LITERAL("invalid URI for request"));
    else if (str_find(slash < 0 ? rest : text_first(rest, (uint32_t)slash), ':') >= 0)
        *good = refuse(u, STR_LITERAL("first path segment in URL cannot contain colon"));
    return !*good;
}

static bool read(struct parts *u, struct str text, bool request)
{
    struct str rest = text;
    bool good = true;
    for (uint32_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f)
            return refuse(u, STR_LITERAL("net/url: invalid control character in URL"));
    if (text.len == 0 && request)
        return refuse(u, STR_LITERAL("empty url"));
    if (str_is(text, "*")) {
        u->path = text;
        return true;
    }
    if (!read_scheme(u, text, &rest))
        return false;
    cut_query(u, &rest);
    if (is_rootless(u, rest, request, &good))
        return good;
    if ((u->scheme.len > 0 || (!request && !starts(rest, "///"))) && starts(rest, "//")) {
        struct str authority = text_from(rest, 2);
        int64_t slash = str_find(authority, '/');
        rest = slash < 0 ? STR_LITERAL("") : text_from(authority, (uint32_t)slash);
        authority = slash < 0 ? authority : text_first(authority, (uint32_t)slash);
        if (!read_authority(u, authority))
            return false;
    } else if (u->scheme.len > 0 && starts(rest, "/")) {
        u->omit_host = true;
    }
    return read_path(u, rest);
}

static struct str user_text(const struct parts *u)
{
    struct str name = escaped(u->pool, u->user, IN_USER);
    if (!u->has_password)
        return pool_print(u->pool, "%.*s@", STR_ARG(name));
    return pool_print(u->pool, "%.*s:%.*s@", STR_ARG(name),
                      STR_ARG(escaped(u->pool, u->password, IN_USER)));
}

/* Scheme, user and host, with what stands between them. */
static struct str head_text(const struct parts *u)
{
    struct pool *p = u->pool;
    struct str head =
        u->scheme.len > 0 ? pool_print(p, "%.*s:", STR_ARG(u->scheme)) : STR_LITERAL("");
    bool named = u->host.len > 0 || u->has_user;
    if (u->opaque.len > 0)
        return pool_print(p, "%.*s%.*s", STR_ARG(head), STR_ARG(u->opaque));
    if ((u->scheme.len == 0 && !named) || (u->omit_host && !named))
        return head;
    struct str user = u->has_user ? user_text(u) : STR_LITERAL("");
    struct str host = escaped(p, u->host, IN_HOST);
    return pool_print(p, "%.*s%s%.*s%.*s", STR_ARG(head), named || u->path.len > 0 ? "//" : "",
                      STR_ARG(user), STR_ARG(host));
}

/* As url.String(): the path of what has a host begins with a slash, or there is none. */
static struct str whole_text(const struct parts *u)
{
    struct pool *p = u->pool;
    struct str head = head_text(u);
    struct str path =
        u->opaque.len > 0 ? STR_LITERAL("") : written(p, u->path, u->raw_path, IN_PATH);
    struct str text = pool_print(p, "%.*s%.*s%s%.*s", STR_ARG(head), STR_ARG(path),
                                 u->force_query || u->query.len > 0 ? "?" : "", STR_ARG(u->query));
    if (u->fragment.len == 0)
        return text;
    return pool_print(p, "%.*s#%.*s", STR_ARG(text),
                      STR_ARG(written(p, u->fragment, u->raw_fragment, IN_FRAGMENT)));
}

static bool told(struct pool *p, struct str text, struct str *error)
{
    *error = pool_print(p, "parse %.*s: %.*s", STR_ARG(text_quoted(p, text)), STR_ARG(*error));
    return false;
}

bool url_check(struct pool *p, struct str text, struct str *error)
{
    struct parts u = {.pool = p, .error = error};
    return read(&u, text, true) || told(p, text, error);
}

const struct url *url_parse(struct pool *p, struct str text, struct str *error)
{
    struct parts u = {.pool = p, .error = error};
    int64_t hash = str_find(text, '#');
    struct str before = hash < 0 ? text : text_first(text, (uint32_t)hash);
    if (!read(&u, before, false)) {
        told(p, before, error);
        return NULL;
    }
    if (hash >= 0) {
        u.raw_fragment = text_from(text, (uint32_t)hash + 1);
        if (!unescape(p, u.raw_fragment, IN_FRAGMENT, &u.fragment, error)) {
            told(p, text, error);
            return NULL;
        }
        if (str_equal(u.raw_fragment, escaped(p, u.fragment, IN_FRAGMENT)))
            u.raw_fragment.len = 0;
    }
    struct url *url = pool_take(p, sizeof(*url));
    url->text = whole_text(&u);
    url->scheme = u.scheme;
    url->host = u.host;
    url->path = written(p, u.path, u.raw_path, IN_PATH);
    url->query = u.query;
    return url;
}

bool url_unescape_query(struct pool *p, struct str text, struct str *out)
{
    struct str error = {NULL, 0};
    return unescape(p, text, IN_QUERY, out, &error);
}
