/* query_fields: which fields a query may name and what may be asked of them. The one idea: a path
 * leads from a set of records to the set of those that its next part holds, so what there is is
 * read from the tables that messages.def makes, and a new message needs nothing here. What must
 * stay true: a name that no message has is refused, with the one that was meant if it is near. */
#include "ctl/schema.h"
#include "ctl/tap/query_inside.h"
#include "proto/base/must.h"

#include <string.h>

#define RECORDS_MAX 1024
#define NAMES_MAX   4096

/* clang-format off */
static const struct {
    const char *name;
    bool number;
} own_names[QUERY_OWN_COUNT] = {
    [QUERY_field] = {NULL, false},
    [QUERY_message] = {"message", false},
    [QUERY_from] = {"from", false},
    [QUERY_to] = {"to", false},
    [QUERY_tap] = {"tap", false},
    [QUERY_pod] = {"pod", false},
    [QUERY_node] = {"node", false},
    [QUERY_attempt] = {"attempt", true},
    [QUERY_term] = {"term", true},
    [QUERY_generation] = {"generation", true},
    [QUERY_epoch] = {"epoch", true},
    [QUERY_sequence] = {"sequence", true},
    [QUERY_link] = {"link", true},
    [QUERY_sent_us] = {"sent_us", true},
    [QUERY_bytes] = {"bytes", true},
};
/* clang-format on */

const char *query_own_name(enum query_own own)
{
    return own_names[own].name;
}

bool query_own_is_number(enum query_own own)
{
    return own_names[own].number;
}

/* ---- sets of records ---- */

struct records {
    uint32_t count;
    const struct record *at[RECORDS_MAX];
};

static void add_record(struct records *set, const struct record *r)
{
    uint32_t i = 0;
    while (i < set->count && set->at[i] != r)
        i++;
    if (i < set->count)
        return;
    must(set->count < RECORDS_MAX);
    set->at[set->count++] = r;
}

static void add_messages(struct records *set)
{
    for (int type = 1; type < MSG_COUNT; type++)
        if (message_info[type].record != NULL)
            add_record(set, message_info[type].record);
}

/* And what these hold, and so on: the set grows while it is walked. */
static void add_held(struct records *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->at[i]->field_count; k++)
            if (set->at[i]->fields[k].of != NULL)
                add_record(set, set->at[i]->fields[k].of);
}

/* What the fields of that name hold. */
static void step(const struct records *from, struct str part, struct records *to)
{
    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        for (size_t k = 0; k < from->at[i]->field_count; k++) {
            const struct field *f = &from->at[i]->fields[k];
            if (f->of != NULL && str_is(part, f->name))
                add_record(to, f->of);
        }
}

static unsigned kinds_of(const struct records *set, struct str part)
{
    unsigned kinds = 0;
    for (uint32_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->at[i]->field_count; k++)
            if (str_is(part, set->at[i]->fields[k].name))
                kinds |= 1u << set->at[i]->fields[k].kind;
    return kinds;
}

/* The records of which the path's last part is a field. False when a part before leads nowhere. */
static bool holders(const struct query_node *node, struct records *set, uint32_t *part)
{
    static struct records next; /* one thread; too large for the stack twice */
    set->count = 0;
    add_messages(set);
    if (!node->from_root)
        add_held(set);
    for (*part = 0; *part + 1 < node->part_count; ++*part) {
        step(set, node->parts[*part], &next);
        if (next.count == 0)
            return false;
        *set = next;
    }
    return kinds_of(set, node->parts[*part]) != 0;
}

/* ---- names ---- */

static const char *const *names_of(const struct records *set, bool own, struct arena *a)
{
    const char **names = arena_take(a, sizeof(*names) * (NAMES_MAX + QUERY_OWN_COUNT + 1));
    size_t count = 0;
    for (int i = 1; own && i < QUERY_OWN_COUNT; i++)
        names[count++] = own_names[i].name;
    for (uint32_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->at[i]->field_count && count < NAMES_MAX; k++)
            names[count++] = set->at[i]->fields[k].name;
    names[count] = NULL;
    return names;
}

static struct str unknown(const struct query_node *node, const struct records *set, uint32_t part,
                          struct arena *a)
{
    struct str name = node->parts[part];
    bool first = part == 0 && !node->from_root;
    struct str meant = schema_suggest(name, names_of(set, first && node->part_count == 1, a), a);
    if (kinds_of(set, name) != 0)
        return arena_print(a, "\"%.*s\" has no fields of its own", STR_ARG(name));
    if (part > 0)
        return arena_print(a, "\"%.*s\" has no field \"%.*s\"%.*s", STR_ARG(node->parts[part - 1]),
                           STR_ARG(name), STR_ARG(meant));
    return arena_print(a, "no message has a field \"%.*s\"%.*s", STR_ARG(name), STR_ARG(meant));
}

bool query_resolve(struct query_node *node, struct arena *a, struct str *why, uint32_t *part)
{
    static struct records set;
    node->own = QUERY_field;
    for (int i = 1; node->part_count == 1 && !node->from_root && i < QUERY_OWN_COUNT; i++)
        if (str_is(node->parts[0], own_names[i].name))
            node->own = (enum query_own)i;
    if (node->own != QUERY_field || holders(node, &set, part))
        return true;
    *why = unknown(node, &set, *part, a);
    return false;
}

/* ---- what may be asked ---- */

#define TEXTS   ((1u << KIND_str) | (1u << KIND_strs) | (1u << KIND_word))
#define NUMBERS (1u << KIND_i64)
#define BOOLS   (1u << KIND_bool)

static bool is_order(enum query_operator op)
{
    return op >= QUERY_less && op <= QUERY_at_least;
}

/* For a field that is one word of a set, and nothing else, the value has to be one of these. */
static bool is_word(const struct query_node *node, const struct records *set, struct arena *a,
                    struct str *meant)
{
    const char **texts = arena_take(a, sizeof(*texts) * (NAMES_MAX + 1));
    size_t count = 0;
    uint32_t number;
    for (uint32_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->at[i]->field_count; k++) {
            const struct field *f = &set->at[i]->fields[k];
            if (f->words == NULL || !str_is(node->parts[node->part_count - 1], f->name))
                continue;
            if (words_find(f->words, node->text, &number))
                return true;
            for (uint32_t w = 0; w < f->words->count && count < NAMES_MAX; w++)
                texts[count++] = f->words->at[w].text.at;
        }
    texts[count] = NULL;
    *meant = schema_suggest(node->text, texts, a);
    return false;
}

/* Names of processes are free, but one that is nearly that of a kind is a mistake. */
static struct str misspelt_kind(struct str text, struct arena *a)
{
    const char *kinds[PROCESS_COUNT + 1] = {0};
    for (int i = 0; i < PROCESS_COUNT; i++) {
        kinds[i] = process_name((enum process)(1 << i));
        if (str_starts_with(text, kinds[i]))
            return (struct str){NULL, 0};
    }
    return schema_suggest(text, kinds, a);
}

static struct str misspelt_message(struct str text, struct arena *a)
{
    const char *names[MSG_COUNT + 1];
    size_t count = 0;
    for (int type = 1; type < MSG_COUNT; type++)
        if (message_info[type].record != NULL)
            names[count++] = message_info[type].record->name;
    names[count] = NULL;
    return arena_print(a, "there is no message \"%.*s\"%.*s", STR_ARG(text),
                       STR_ARG(schema_suggest(text, names, a)));
}

static bool fits_own(const struct query_node *node, struct arena *a, struct str *why)
{
    const char *name = own_names[node->own].name;
    bool exact = node->op == QUERY_equal || node->op == QUERY_unequal;
    if (own_names[node->own].number && node->op == QUERY_like)
        *why = arena_print(a, "%s is a number, and ~ is for texts", name);
    else if (own_names[node->own].number && !node->is_number)
        *why = arena_print(a, "%s is a number, and \"%.*s\" is none", name, STR_ARG(node->text));
    else if (!own_names[node->own].number && is_order(node->op))
        *why = arena_print(a, "%s is a text, which is not less or greater: ==, != and ~ are for it",
                           name);
    else if (node->own == QUERY_message && exact && message_type_of(node->text) == MSG_none)
        *why = misspelt_message(node->text, a);
    else if ((node->own == QUERY_from || node->own == QUERY_to || node->own == QUERY_tap) &&
             exact && misspelt_kind(node->text, a).len > 0)
        *why = arena_print(a, "there is no process \"%.*s\"%.*s", STR_ARG(node->text),
                           STR_ARG(misspelt_kind(node->text, a)));
    return why->len == 0;
}

static struct str needs_a_field(const struct query_node *node, const struct records *set,
                                struct arena *a)
{
    static struct records held;
    struct str name = node->parts[node->part_count - 1];
    step(set, name, &held);
    return arena_print(a, "\"%.*s\" is a record; name one of its fields, such as %.*s.%s",
                       STR_ARG(name), STR_ARG(name),
                       held.count > 0 && held.at[0]->field_count > 0 ? held.at[0]->fields[0].name
                                                                     : "…");
}

bool query_fits(const struct query_node *node, struct arena *a, struct str *why)
{
    static struct records set;
    uint32_t part;
    *why = (struct str){NULL, 0};
    if (node->op == QUERY_is_set)
        return true;
    if (node->own != QUERY_field)
        return fits_own(node, a, why);
    (void)holders(node, &set, &part);
    struct str name = node->parts[part], meant = {NULL, 0};
    unsigned kinds = kinds_of(&set, name);
    if ((kinds & (TEXTS | NUMBERS | BOOLS)) == 0)
        *why = needs_a_field(node, &set, a);
    else if (node->op == QUERY_like && (kinds & TEXTS) == 0)
        *why = arena_print(a, "%.*s is no text, and ~ is for texts", STR_ARG(name));
    else if (is_order(node->op) && (kinds & NUMBERS) == 0)
        *why = arena_print(a, "%.*s is no number, and < <= > >= are for numbers", STR_ARG(name));
    else if ((is_order(node->op) || (kinds & (TEXTS | BOOLS)) == 0) && !node->is_number)
        *why = arena_print(a, "%.*s is a number, and \"%.*s\" is none", STR_ARG(name),
                           STR_ARG(node->text));
    else if ((kinds & (TEXTS | NUMBERS)) == 0 && !node->is_bool)
        *why = arena_print(a, "%.*s is true or false, and \"%.*s\" is neither", STR_ARG(name),
                           STR_ARG(node->text));
    else if (kinds == 1u << KIND_word && node->op != QUERY_like && !is_word(node, &set, a, &meant))
        *why = arena_print(a, "%.*s is never \"%.*s\"%.*s", STR_ARG(name), STR_ARG(node->text),
                           STR_ARG(meant));
    return why->len == 0;
}
