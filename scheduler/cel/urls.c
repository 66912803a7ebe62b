/* urls: what expressions call of URLs (Kubernetes' url library). What must stay true: a text is a
 * URL when a request could be made with it, an absolute one or a path; only then is it taken apart,
 * with its fragment, which gives two chances to refuse it. */
#include "scheduler/cel/url.h"

#include "scheduler/cel/functions.h"
#include "scheduler/cel/text.h"

#define PARAMETERS_MAX 10000u /* Go's limit; a query of more has none */

struct value fn_is_url(const struct call *c)
{
    struct str error = {NULL, 0};
    return value_bool(url_check(c->pool, c->args[0].text, &error));
}

struct value fn_string_to_url(const struct call *c)
{
    struct str error = {NULL, 0}, text = c->args[0].text;
    const struct url *url =
        url_check(c->pool, text, &error) ? url_parse(c->pool, text, &error) : NULL;
    if (url != NULL)
        return (struct value){.kind = V_url, .url = url};
    return (struct value){.kind = V_error,
                          .text = pool_print(c->pool,
                                             "URL parse error during conversion from string: %.*s",
                                             STR_ARG(error))};
}

struct value fn_url_scheme(const struct call *c)
{
    return value_string(c->args[0].url->scheme);
}

struct value fn_url_host(const struct call *c)
{
    return value_string(c->args[0].url->host);
}

struct value fn_url_escaped_path(const struct call *c)
{
    return value_string(c->args[0].url->path);
}

/* The last colon with nothing but digits behind it; the end when there is none. */
static uint32_t port_at(struct str host)
{
    uint32_t at = host.len;
    while (at > 0 && host.at[at - 1] >= '0' && host.at[at - 1] <= '9')
        at--;
    return at > 0 && host.at[at - 1] == ':' ? at - 1 : host.len;
}

struct value fn_url_hostname(const struct call *c)
{
    struct str host = c->args[0].url->host;
    host = text_first(host, port_at(host));
    if (host.len > 1 && host.at[0] == '[' && host.at[host.len - 1] == ']')
        host = (struct str){host.at + 1, host.len - 2};
    return value_string(host);
}

struct value fn_url_port(const struct call *c)
{
    struct str host = c->args[0].url->host;
    uint32_t at = port_at(host);
    return value_string(at == host.len ? STR_LITERAL("") : text_from(host, at + 1));
}

/* What stands before the mark; *rest is behind it. */
static struct str cut(struct str *rest, char mark)
{
    struct str whole = *rest;
    int64_t at = str_find(whole, mark);
    *rest = at < 0 ? (struct str){"", 0} : text_from(whole, (uint32_t)at + 1);
    return at < 0 ? whole : text_first(whole, (uint32_t)at);
}

/* A list of texts by name; what is not well escaped, or has a semicolon, is left out. */
struct value fn_url_query(const struct call *c)
{
    struct value map = cel_map_empty(c->pool, 4), list;
    struct str rest = c->args[0].url->query;
    uint32_t count = 1;
    for (uint32_t i = 0; i < rest.len; i++)
        count += rest.at[i] == '&';
    while (count <= PARAMETERS_MAX && rest.len > 0) {
        struct str item = cut(&rest, '&'), name;
        if (item.len == 0 || str_find(item, ';') >= 0)
            continue;
        name = cut(&item, '=');
        if (!url_unescape_query(c->pool, name, &name) || !url_unescape_query(c->pool, item, &item))
            continue;
        if (!cel_map_find(map, value_string(name), &list))
            list = list_new(c->pool, 1);
        list = list_append(c->pool, list, value_string(item));
        map = cel_map_put(c->pool, map, value_string(name), list);
    }
    return map;
}
