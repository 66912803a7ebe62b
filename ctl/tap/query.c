/* query: reads the text of a query into nodes. The one idea: names, operators and values are
 * checked where they stand, so that a query that is accepted can be fulfilled by some message. What
 * must stay true: text, nesting and the number of nodes are bounded; every error names a column. */
#include "ctl/tap/query_inside.h"
#include "proto/base/memory.h"

#include <string.h>

enum token_kind { TOKEN_end, TOKEN_word, TOKEN_text, TOKEN_operator, TOKEN_open, TOKEN_close };

struct parser {
    struct query *query;
    const char *start, *at;
    struct {
        enum token_kind kind;
        const char *from;
        struct str text; /* of a text in quotes what is between them */
        enum query_operator op;
    } token;
    struct buffer *error;
    uint32_t *column;
    int depth;
};

/* Names the first mistake, at this place of the text. */
static bool fail(struct parser *p, const char *at, struct str why)
{
    uint32_t column = 1;
    for (const char *c = p->start; c < at; c++)
        column += ((unsigned char)*c & 0xc0) != 0x80; /* not the rest of a character */
    if (p->error->len > 0)
        return false;
    buffer_print(p->error, "column %u: %.*s", column, STR_ARG(why));
    *p->column = column;
    return false;
}

static bool fail_here(struct parser *p, const char *why)
{
    return fail(p, p->token.from, str_of(why));
}

/* ---- tokens ---- */

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != 0 && strchr("_-+./:", c) != NULL) || ((unsigned char)c & 0x80) != 0;
}

static bool take_quoted(struct parser *p)
{
    char quote = *p->at++, *bytes = arena_take(&p->query->arena, strlen(p->at) + 1);
    uint32_t len = 0;
    while (*p->at != 0 && *p->at != quote) {
        if (*p->at == '\\' && (p->at[1] == quote || p->at[1] == '\\'))
            p->at++;
        bytes[len++] = *p->at++;
    }
    if (*p->at == 0)
        return fail(p, p->token.from, str_of("this text has no end"));
    p->at++;
    p->token.kind = TOKEN_text;
    p->token.text = (struct str){bytes, len};
    return true;
}

static bool take_operator(struct parser *p)
{
    static const struct {
        const char *text, *instead;
        enum query_operator op;
    } operators[] = {{"==", NULL, QUERY_equal},
                     {"!=", NULL, QUERY_unequal},
                     {"<=", NULL, QUERY_at_most},
                     {">=", NULL, QUERY_at_least},
                     {"&&", "write and in place of &&", QUERY_is_set},
                     {"||", "write or in place of ||", QUERY_is_set},
                     {"!~", "write not FIELD ~ VALUE in place of !~", QUERY_is_set},
                     {"=~", "write ~ in place of =~", QUERY_is_set},
                     {"<", NULL, QUERY_less},
                     {">", NULL, QUERY_greater},
                     {"~", NULL, QUERY_like},
                     {"=", "write == in place of =", QUERY_is_set},
                     {"!", "write not in place of !", QUERY_is_set}};
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        size_t len = strlen(operators[i].text);
        if (strncmp(p->at, operators[i].text, len) != 0)
            continue;
        if (operators[i].instead != NULL)
            return fail(p, p->at, str_of(operators[i].instead));
        p->token.kind = TOKEN_operator;
        p->token.op = operators[i].op;
        p->at += len;
        return true;
    }
    return fail(p, p->at,
                arena_print(&p->query->arena,
                            "'%c' makes no sense here; texts with such signs stand in quotes",
                            *p->at));
}

static bool take_token(struct parser *p)
{
    while (*p->at != 0 && strchr(" \t\r\n", *p->at) != NULL)
        p->at++;
    p->token.from = p->at;
    p->token.text = (struct str){p->at, 0};
    if (*p->at == 0 || *p->at == '(' || *p->at == ')') {
        p->token.kind = *p->at == 0 ? TOKEN_end : *p->at == '(' ? TOKEN_open : TOKEN_close;
        p->at += *p->at != 0;
        return true;
    }
    if (*p->at == '"' || *p->at == '\'')
        return take_quoted(p);
    if (!is_word_byte(*p->at))
        return take_operator(p);
    while (is_word_byte(*p->at))
        p->at++;
    p->token.kind = TOKEN_word;
    p->token.text.len = (uint32_t)(p->at - p->token.from);
    return true;
}

static bool is_keyword(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_word && str_is(p->token.text, word);
}

/* ---- nodes ---- */

static bool new_node(struct parser *p, enum query_kind kind, uint16_t *node)
{
    struct query *q = p->query;
    if (q->node_count == QUERY_NODES_MAX)
        return fail_here(p, "the query is too long");
    *node = q->node_count++;
    q->nodes[*node] = (struct query_node){.kind = kind};
    return true;
}

/* "pod.name", as its parts. */
static bool take_path(struct parser *p, struct query_node *node)
{
    struct str rest = p->token.text, part;
    while (str_split(&rest, ".", &part)) {
        if (node->part_count == 0 && !node->from_root && str_is(part, "body") && rest.len > 0) {
            node->from_root = true;
            continue;
        }
        if (part.len == 0 || node->part_count == QUERY_PARTS_MAX)
            return fail_here(p, "a field is expected: a name, or names with dots between them");
        node->parts[node->part_count++] = part;
    }
    struct str why;
    uint32_t wrong = 0;
    return query_resolve(node, &p->query->arena, &why, &wrong) ||
           fail(p, node->parts[wrong].at, why);
}

static bool compile(struct parser *p, struct query_node *node)
{
    char why[128], *pattern = str_copy(node->text);
    int failed = regcomp(&node->regex, pattern, REG_EXTENDED | REG_NOSUB);
    node->has_regex = failed == 0;
    if (failed != 0)
        (void)regerror(failed, NULL, why, sizeof(why));
    memory_free(pattern);
    return failed == 0 ||
           fail(p, p->token.from, arena_print(&p->query->arena, "no regular expression: %s", why));
}

static bool take_value(struct parser *p, struct query_node *node)
{
    struct str why;
    if (p->token.kind != TOKEN_word && p->token.kind != TOKEN_text)
        return fail_here(p, "a value is expected here");
    bool word = p->token.kind == TOKEN_word;
    node->text = p->token.text;
    node->is_number = word && str_to_i64(node->text, &node->number);
    if (word && (str_is(node->text, "true") || str_is(node->text, "false"))) {
        node->is_bool = true;
        node->number = str_is(node->text, "true");
    }
    if (!query_fits(node, &p->query->arena, &why))
        return fail(p, p->token.from, why);
    return (node->op != QUERY_like || compile(p, node)) && take_token(p);
}

static bool take_comparison(struct parser *p, uint16_t *made)
{
    if (p->token.kind != TOKEN_word || is_keyword(p, "and") || is_keyword(p, "or"))
        return fail_here(p, p->token.kind == TOKEN_text
                                ? "a field is expected here, and a text in quotes is a value"
                                : "a field is expected here");
    if (!new_node(p, QUERY_compare, made))
        return false;
    struct query_node *node = &p->query->nodes[*made];
    if (!take_path(p, node) || !take_token(p))
        return false;
    if (p->token.kind != TOKEN_operator)
        return true;
    node->op = p->token.op;
    return take_token(p) && take_value(p, node);
}

/* ---- what binds how ---- */

/* The recursion is bounded by QUERY_DEPTH_MAX. */
/* NOLINTBEGIN(misc-no-recursion) */

static bool take_either(struct parser *p, uint16_t *made);

static bool take_factor(struct parser *p, uint16_t *made)
{
    bool inner, negated = is_keyword(p, "not");
    if (!negated && p->token.kind != TOKEN_open)
        return take_comparison(p, made);
    if (p->depth == QUERY_DEPTH_MAX)
        return fail_here(p, "nested too deep");
    p->depth++;
    const char *opened = p->token.from;
    if (negated) {
        uint16_t child = 0;
        inner = new_node(p, QUERY_not, made) && take_token(p) && take_factor(p, &child);
        if (inner)
            p->query->nodes[*made].left = child;
    } else {
        inner = take_token(p) && take_either(p, made);
        if (inner && p->token.kind != TOKEN_close)
            inner = p->token.kind == TOKEN_end
                        ? fail(p, opened, str_of("this parenthesis is not closed"))
                        : fail_here(p, "\"and\", \"or\" or ) is expected here");
        inner = inner && take_token(p);
    }
    p->depth--;
    return inner;
}

/* One or more of what binds closer, with the word between them. */
static bool take_chain(struct parser *p, enum query_kind kind, uint16_t *made)
{
    bool both = kind == QUERY_and;
    const char *word = both ? "and" : "or";
    if (!(both ? take_factor(p, made) : take_chain(p, QUERY_and, made)))
        return false;
    while (is_keyword(p, word)) {
        uint16_t node = 0, right = 0, left = *made;
        if (!new_node(p, kind, &node) || !take_token(p) ||
            !(both ? take_factor(p, &right) : take_chain(p, QUERY_and, &right)))
            return false;
        p->query->nodes[node].left = left;
        p->query->nodes[node].right = right;
        *made = node;
    }
    return true;
}

static bool take_either(struct parser *p, uint16_t *made)
{
    return take_chain(p, QUERY_or, made);
}

/* NOLINTEND(misc-no-recursion) */

static bool parse(struct parser *p)
{
    if (strlen(p->start) > QUERY_TEXT_MAX)
        return fail(p, p->start + QUERY_TEXT_MAX, str_of("the query is too long"));
    if (!take_token(p) || !take_either(p, &p->query->root))
        return false;
    return p->token.kind == TOKEN_end ||
           fail_here(p, p->token.kind == TOKEN_close ? "this parenthesis was not opened"
                                                     : "\"and\" or \"or\" is expected here");
}

struct query *query_parse(const char *text, struct buffer *error, uint32_t *column)
{
    struct query *query = memory_take(sizeof(*query));
    query->text = str_copy(str_of(text));
    struct parser p = {
        .query = query, .start = query->text, .at = query->text, .error = error, .column = column};
    if (!parse(&p))
        query_free(&query);
    return query;
}

void query_free(struct query **query)
{
    if (*query == NULL)
        return;
    for (uint16_t i = 0; i < (*query)->node_count; i++)
        if ((*query)->nodes[i].has_regex)
            regfree(&(*query)->nodes[i].regex);
    arena_free(&(*query)->arena);
    memory_free((*query)->text);
    memory_free(*query);
    *query = NULL;
}

bool query_asks_attempts(const struct query *query)
{
    uint16_t i = 0;
    while (i < query->node_count && query->nodes[i].own != QUERY_attempt)
        i++;
    return i < query->node_count;
}
