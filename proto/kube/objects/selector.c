/* selector: what labels may look like and which nodes or objects a selector picks. The one idea:
 * checking and matching are the same walk, so a term that upstream finds in error matches nothing
 * here. What must stay true: texts are upstream's to the letter. */
#include "proto/kube/objects/selector.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN   63
#define PREFIX_MAX_LEN 253
#define NAME_RULE                                                                                  \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character"
#define NAME_REGEX "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define SUBDOMAIN_TEXT                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

static void add(struct buffer *why, const char *separator, const char *text)
{
    if (why == NULL)
        return;
    if (why->len > 0)
        buffer_add_text(why, separator);
    buffer_add_text(why, text);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* NAME_REGEX, and not empty. */
static bool is_name(struct str s)
{
    if (s.len == 0 || !is_word(s.at[0]) || !is_word(s.at[s.len - 1]))
        return false;
    for (uint32_t i = 0; i < s.len; i++)
        if (!is_word(s.at[i]) && s.at[i] != '-' && s.at[i] != '_' && s.at[i] != '.')
            return false;
    return true;
}

/* Lower-case labels of letters, digits and inner dashes, joined by dots. */
static bool is_subdomain(struct str s)
{
    bool at_start = true;
    char last = '-';
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool word = is_word(c) && !(c >= 'A' && c <= 'Z');
        if (!word && (at_start || (c != '-' && c != '.') || (c == '.' && last == '-')))
            return false;
        at_start = c == '.';
        last = c;
    }
    return s.len > 0 && last != '-' && last != '.';
}

bool kube_label_key_explain(struct str key, struct buffer *why)
{
    struct buffer own = {0};
    struct str name = key;
    int64_t slash = str_find(key, '/');
    if (slash >= 0) {
        struct str prefix = {key.at, (uint32_t)slash};
        name = (struct str){key.at + slash + 1, key.len - (uint32_t)slash - 1};
        if (str_find(name, '/') >= 0) {
            add(why, "; ",
                "a valid label key " NAME_RULE " (e.g. 'MyName',  or 'my.name',  or '123-abc', "
                "regex used for validation is '" NAME_REGEX
                "') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
            return false;
        }
        if (prefix.len == 0)
            add(&own, "; ", "prefix part must be non-empty");
        else if (prefix.len > PREFIX_MAX_LEN)
            add(&own, "; ", "prefix part must be no more than 253 bytes");
        if (prefix.len > 0 && !is_subdomain(prefix))
            add(&own, "; ", "prefix part " SUBDOMAIN_TEXT);
    }
    if (name.len == 0)
        add(&own, "; ", "name part must be non-empty");
    else if (name.len > NAME_MAX_LEN)
        add(&own, "; ", "name part must be no more than 63 bytes");
    if (!is_name(name))
        add(&own, "; ",
            "name part " NAME_RULE " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
            "validation is '" NAME_REGEX "')");
    bool good = own.len == 0;
    if (!good)
        add(why, "; ", own.at);
    buffer_free(&own);
    return good;
}

bool kube_label_value_explain(struct str value, struct buffer *why)
{
    bool good = kube_label_value_valid(value);
    if (value.len > NAME_MAX_LEN)
        add(why, "; ", "must be no more than 63 bytes");
    if (value.len > 0 && !is_name(value))
        add(why, "; ",
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
            "or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            "'my_value',  or '12345', regex used for validation is '(" NAME_REGEX ")?')");
    return good;
}

bool kube_label_key_valid(struct str key)
{
    int64_t slash = str_find(key, '/');
    struct str name = key;
    if (slash >= 0) {
        struct str prefix = {key.at, (uint32_t)slash};
        name = (struct str){key.at + slash + 1, key.len - (uint32_t)slash - 1};
        if (prefix.len > PREFIX_MAX_LEN || !is_subdomain(prefix))
            return false;
    }
    return name.len <= NAME_MAX_LEN && is_name(name); /* is_name refuses a second slash */
}

bool kube_label_value_valid(struct str value)
{
    return value.len == 0 || (value.len <= NAME_MAX_LEN && is_name(value));
}

bool kube_label_find(const struct label *labels, uint32_t count, struct str key, struct str *value)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_compare(labels[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || !str_equal(labels[low].key, key))
        return false;
    *value = labels[low].value;
    return true;
}

/* ---- requirements ---- */

enum kube_operator kube_operator_of(struct str name)
{
    static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
    for (int i = 0; i < OPERATOR_unknown; i++)
        if (str_is(name, names[i]))
            return (enum kube_operator)i;
    return OPERATOR_unknown;
}

/* Where faults go, and under which path. */
struct faults {
    const char *path, *list; /* such as "…preference" and "matchExpressions"; NULL: just fields */
    uint32_t index;
    struct buffer *out; /* may be NULL */
    uint32_t count;
};

static void fault(struct faults *f, const char *field, const char *text, const char *detail)
{
    f->count++;
    if (f->out == NULL)
        return;
    if (f->out->len > 0)
        buffer_add_text(f->out, ", ");
    if (f->list != NULL)
        buffer_print(f->out, "%s%s%s[%u].", f->path, f->path[0] ? "." : "", f->list, f->index);
    buffer_print(f->out, "%s: %s%s", field, text, detail);
}

static void add_quoted(struct buffer *out, struct str s)
{
    buffer_add_text(out, "\"");
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.at[i] == '"' || s.at[i] == '\\')
            buffer_print(out, "\\%c", s.at[i]);
        else if ((unsigned char)s.at[i] < ' ')
            buffer_print(out, "\\x%02x", (unsigned char)s.at[i]);
        else
            buffer_add(out, &s.at[i], 1);
    }
    buffer_add_text(out, "\"");
}

static void fault_values(struct faults *f, const struct requirement *r, const char *detail)
{
    struct buffer text = {0};
    bool listed = r->values.at != NULL;
    buffer_add_text(&text, listed ? "Invalid value: [" : "Invalid value: null");
    for (uint32_t i = 0; listed && i < r->values.count; i++) {
        if (i > 0)
            buffer_add_text(&text, ",");
        add_quoted(&text, r->values.at[i]);
    }
    buffer_add_text(&text, listed ? "]: " : ": ");
    fault(f, "values", text.at, detail);
    buffer_free(&text);
}

static void fault_text(struct faults *f, const char *field, struct str value, const char *detail)
{
    struct buffer text = {0};
    buffer_add_text(&text, "Invalid value: ");
    add_quoted(&text, value);
    buffer_add_text(&text, ": ");
    fault(f, field, text.at, detail);
    buffer_free(&text);
}

static void fault_operator(struct faults *f, struct str name, const char *supported)
{
    struct buffer text = {0};
    buffer_add_text(&text, "Unsupported value: ");
    add_quoted(&text, name);
    fault(f, "operator", text.at, supported);
    buffer_free(&text);
}

static void check_count(const struct requirement *r, enum kube_operator operation, struct faults *f)
{
    int64_t number = 0;
    if ((operation == OPERATOR_In || operation == OPERATOR_NotIn) && r->values.count == 0)
        fault_values(f, r, "for 'in', 'notin' operators, values set can't be empty");
    if ((operation == OPERATOR_Exists || operation == OPERATOR_DoesNotExist) &&
        r->values.count != 0)
        fault_values(f, r, "values set must be empty for exists and does not exist");
    if (operation != OPERATOR_Gt && operation != OPERATOR_Lt)
        return;
    if (r->values.count != 1)
        fault_values(f, r, "for 'Gt', 'Lt' operators, exactly one value is required");
    for (uint32_t i = 0; i < r->values.count; i++) {
        char field[32];
        snprintf(field, sizeof(field), "values[%u]", i);
        if (!str_to_i64(r->values.at[i], &number))
            fault_text(f, field, r->values.at[i],
                       "for 'Gt', 'Lt' operators, the value must be an integer");
    }
}

static void check_label(const struct requirement *r, struct faults *f)
{
    struct buffer why = {0};
    enum kube_operator operation = kube_operator_of(r->operator_name);
    if (operation == OPERATOR_unknown) {
        fault_operator(f, r->operator_name,
                       ": supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", "
                       "\"Gt\", \"Lt\"");
        return;
    }
    if (!kube_label_key_explain(r->key, &why))
        fault_text(f, "key", r->key, why.at);
    check_count(r, operation, f);
    for (uint32_t i = 0; i < r->values.count; i++) {
        char field[400];
        buffer_reset(&why);
        if (kube_label_value_explain(r->values.at[i], &why))
            continue;
        snprintf(field, sizeof(field), "values[%u][%.*s]", i,
                 r->key.len < 300 ? (int)r->key.len : 300, r->key.len ? r->key.at : "");
        fault_text(f, field, r->values.at[i], why.at);
    }
    buffer_free(&why);
}

static void check_field(const struct requirement *r, struct faults *f)
{
    enum kube_operator operation = kube_operator_of(r->operator_name);
    if (operation != OPERATOR_In && operation != OPERATOR_NotIn)
        fault_operator(f, r->operator_name, ": supported values: \"In\", \"NotIn\"");
    else if (r->values.count != 1)
        fault_values(f, r, "must have one element");
}

bool requirement_holds(const struct requirement *r, bool there, struct str value)
{
    int64_t number = 0, bound = 0;
    enum kube_operator operation = kube_operator_of(r->operator_name);
    switch (operation) {
    case OPERATOR_In: return there && strs_hold(r->values, value);
    case OPERATOR_NotIn: return !there || !strs_hold(r->values, value);
    case OPERATOR_Exists: return there;
    case OPERATOR_DoesNotExist: return !there;
    case OPERATOR_Gt:
    case OPERATOR_Lt:
        if (!there || !str_to_i64(value, &number) || !str_to_i64(r->values.at[0], &bound))
            return false;
        return operation == OPERATOR_Gt ? number > bound : number < bound;
    case OPERATOR_unknown: break;
    }
    return false;
}

/* ---- node selector terms ---- */

bool node_term_check(const struct node_term *term, const char *path, struct buffer *errors)
{
    struct faults f = {.path = path, .list = "matchExpressions", .out = errors};
    for (f.index = 0; f.index < term->expressions.count; f.index++)
        check_label(&term->expressions.at[f.index], &f);
    f.list = "matchFields";
    for (f.index = 0; f.index < term->fields.count; f.index++)
        check_field(&term->fields.at[f.index], &f);
    return f.count == 0;
}

bool node_term_matches(const struct node_term *term, const struct node *node, struct buffer *why)
{
    if (term->expressions.count + term->fields.count == 0 || !node_term_check(term, "", why))
        return false;
    for (uint32_t i = 0; i < term->expressions.count; i++) {
        const struct requirement *r = &term->expressions.at[i];
        struct str value = {0};
        bool there = kube_label_find(node->labels.at, node->labels.count, r->key, &value);
        if (!requirement_holds(r, there, value))
            return false;
    }
    /* A node without a name has no fields at all, and then fields are not looked at. */
    for (uint32_t i = 0; node->name.len > 0 && i < term->fields.count; i++) {
        const struct requirement *r = &term->fields.at[i];
        /* Any other field is the empty text, and a field is compared as if it were always there. */
        struct str value = str_is(r->key, "metadata.name") ? node->name : (struct str){0};
        if (!requirement_holds(r, true, value))
            return false;
    }
    return true;
}

bool node_labels_match(const struct node *node, const struct node_term *terms, uint32_t count)
{
    const struct node nameless = {.labels = node->labels};
    for (uint32_t i = 0; i < count; i++)
        if (node_term_matches(&terms[i], &nameless, NULL))
            return true;
    return false;
}

/* ---- label selectors ---- */

static bool check_requirement(const struct requirement *r, struct buffer *error)
{
    struct buffer text = {0};
    struct faults f = {.out = error == NULL ? NULL : &text};
    if (kube_operator_of(r->operator_name) > OPERATOR_DoesNotExist) {
        if (error != NULL) {
            add_quoted(error, r->operator_name);
            buffer_add_text(error, " is not a valid label selector operator");
        }
        return false;
    }
    check_label(r, &f);
    if (error != NULL && f.count > 0)
        buffer_print(error, f.count > 1 ? "[%s]" : "%s", text.at);
    buffer_free(&text);
    return f.count == 0;
}

bool label_selector_check(const struct selector *selector, struct buffer *error)
{
    for (uint32_t i = 0; i < selector->labels.count; i++) {
        const struct requirement r = {.key = selector->labels.at[i].key,
                                      .operator_name = STR_LITERAL("In"),
                                      .values = {1, &selector->labels.at[i].value}};
        if (!check_requirement(&r, error))
            return false;
    }
    for (uint32_t i = 0; i < selector->expressions.count; i++)
        if (!check_requirement(&selector->expressions.at[i], error))
            return false;
    return true;
}

bool label_selector_matches(const struct selector *selector, const struct label *labels,
                            uint32_t count)
{
    struct str value = {0};
    if (!selector->present || !label_selector_check(selector, NULL))
        return false;
    for (uint32_t i = 0; i < selector->labels.count; i++)
        if (!kube_label_find(labels, count, selector->labels.at[i].key, &value) ||
            !str_equal(value, selector->labels.at[i].value))
            return false;
    for (uint32_t i = 0; i < selector->expressions.count; i++) {
        const struct requirement *r = &selector->expressions.at[i];
        value = (struct str){0};
        bool there = kube_label_find(labels, count, r->key, &value);
        if (!requirement_holds(r, there, value))
            return false;
    }
    return true;
}
