/* said: the phrases before names in errors of the client of the API server (proto/kube/access) and
 * of libcurl, and what CEL has around them. What must stay true: what stands behind a phrase is
 * found even if it looks like any word. */
#include "ctl/redact/said.h"

#include <string.h>

/* A longer phrase stands before one that it begins with. */
static const struct phrase {
    const char *before, *ends[2]; /* ends: with the first of these signs, or with that text */
    bool path;
} phrases[] = {
    {"://", {" /:\"'", NULL}, false},
    {"certificate authority ", {"", " cannot be used"}, true},
    {"client certificate of exec plugin ", {"", " cannot be used"}, true},
    {"client certificate ", {"", " cannot be used"}, true},
    {"exec plugin ", {"", NULL}, true},
    {"of cluster \"", {"\"", NULL}, false},
    {"of user \"", {"\"", NULL}, false},
    {"subject name '", {"'", NULL}, false},
    {" /", {" ,\"'", NULL}, true},
    {"\"/", {"\"", NULL}, true},
    {"'/", {"'", NULL}, true},
};

static bool is_at(struct str text, uint32_t at, const char *what)
{
    size_t len = strlen(what);
    return text.len - at >= len && memcmp(text.at + at, what, len) == 0;
}

/* Each of them also ends with a colon and a blank. */
static uint32_t end_of(struct str text, uint32_t at, const struct phrase *p)
{
    while (at < text.len && !is_at(text, at, ": ") && strchr(p->ends[0], text.at[at]) == NULL &&
           (p->ends[1] == NULL || !is_at(text, at, p->ends[1])))
        at++;
    return at;
}

static const struct phrase *phrase_at(struct str text, uint32_t at)
{
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
        if (is_at(text, at, phrases[i].before))
            return &phrases[i];
    return NULL;
}

bool said_next(struct str text, uint32_t *at, struct str *name, bool *path)
{
    for (uint32_t i = *at; i < text.len; i++) {
        const struct phrase *p = phrase_at(text, i);
        if (p == NULL)
            continue;
        uint32_t from = i + (uint32_t)strlen(p->before);
        *at = end_of(text, from, p);
        *name = (struct str){text.at + from, *at - from};
        *path = p->path;
        return true;
    }
    return false;
}

uint32_t said_by_others(struct str text)
{
    static const char *const phrase[] = {"exited with status ", "was ended by signal "};
    for (uint32_t i = 0; i < text.len; i++) {
        const char *p = is_at(text, i, phrase[0]) ? phrase[0] : phrase[1];
        uint32_t at = i + (uint32_t)strlen(p);
        if (!is_at(text, i, p))
            continue;
        while (at < text.len && text.at[at] >= '0' && text.at[at] <= '9')
            at++;
        if (is_at(text, at, ": "))
            return at;
    }
    return text.len;
}

/* ---- expressions ---- */

static bool is_identifier(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static uint32_t end_of_literal(struct str text, uint32_t at)
{
    char quote = text.at[at - 1];
    while (at < text.len && text.at[at] != quote)
        at++;
    return at;
}

bool said_in_expression(struct str text, uint32_t *at, struct str *name)
{
    for (uint32_t i = *at; i < text.len; i++) {
        bool literal = text.at[i] == '"' || text.at[i] == '\'';
        uint32_t from = literal ? i + 1 : i + 2, end = from;
        if (!literal && !is_at(text, i, "]."))
            continue;
        if (literal)
            end = end_of_literal(text, from);
        while (!literal && end < text.len && is_identifier(text.at[end]))
            end++;
        bool call = !literal && is_at(text, end, "(");
        *at = literal && end < text.len ? end + 1 : end;
        while (literal && end > from && text.at[end - 1] == '\\') /* JSON has it before a quote */
            end--;
        *name = (struct str){text.at + from, call ? 0 : end - from};
        return true;
    }
    return false;
}
