/* messages: a walk through msgpack by the declarations of messages.def. What must stay true: a
 * length is compared with what is left before it is believed, and a text of which nothing is known
 * is read as something said. */
#include "ctl/redact/messages.h"

#include "ctl/redact/documents.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/base64.h"

#include <stdlib.h>
#include <string.h>

/* ---- what fields are ---- */

struct row {
    const char *field;
    enum text_class class;
};

/* By the fields' names, whatever record they are of, in the order of bytes. Others are something
 * said. */
static const struct row rows[] = {
    {"attacher", TEXT_name},
    {"attributes_class", TEXT_name},
    {"best_node", TEXT_name},
    {"binding_conditions", TEXT_name},
    {"binding_failure_conditions", TEXT_name},
    {"capacity_key", TEXT_key},
    {"claim", TEXT_name},
    {"claim_name", TEXT_name},
    {"claim_namespace", TEXT_name},
    {"claim_uid", TEXT_name},
    {"claims", TEXT_name},
    {"class_name", TEXT_name},
    {"condition_types", TEXT_option},
    {"container", TEXT_name},
    {"containers", TEXT_name},
    {"device", TEXT_name},
    {"disrupted", TEXT_name},
    {"distinct_attribute", TEXT_key},
    {"driver", TEXT_key},
    {"error", TEXT_hosts},
    {"exclusive", TEXT_name},
    {"extended_name", TEXT_name},
    {"extended_resource", TEXT_key},
    {"gang", TEXT_name},
    {"gates", TEXT_name},
    {"group", TEXT_name},
    {"group_uid", TEXT_name},
    {"handle", TEXT_name},
    {"holder", TEXT_name},
    {"identity", TEXT_name},
    {"image", TEXT_name},
    {"images", TEXT_name},
    {"instance", TEXT_name},
    {"key", TEXT_key},
    {"leaves", TEXT_name},
    {"match_attribute", TEXT_key},
    {"match_label_keys", TEXT_key},
    {"message", TEXT_hosts},
    {"migrated", TEXT_key},
    {"monitors", TEXT_name},
    {"name", TEXT_name},
    {"names", TEXT_name},
    {"namespace_name", TEXT_name},
    {"namespaces", TEXT_name},
    {"needed", TEXT_name},
    {"needed_by_disks", TEXT_name},
    {"node", TEXT_name},
    {"node_name", TEXT_name},
    {"nodes", TEXT_name},
    {"nominated_node", TEXT_name},
    {"occupied_by", TEXT_name},
    {"only", TEXT_name},
    {"owner_api", TEXT_option},
    {"owner_group", TEXT_name},
    {"owner_kind", TEXT_option},
    {"owner_name", TEXT_name},
    {"owner_uid", TEXT_name},
    {"owners", TEXT_name},
    {"parent", TEXT_name},
    {"pool", TEXT_name},
    {"provisioner", TEXT_key},
    {"releasing", TEXT_name},
    {"request", TEXT_name},
    {"requests", TEXT_name},
    {"reserved_for", TEXT_name},
    {"reserved_groups", TEXT_name},
    {"resource", TEXT_key},
    {"resource_claims", TEXT_name},
    {"resources", TEXT_key},
    {"room_claims", TEXT_name},
    {"scheduler_name", TEXT_name},
    {"schedulers", TEXT_name},
    {"score_error", TEXT_hosts},
    {"selected_node", TEXT_name},
    {"selectors", TEXT_expression},
    {"serves", TEXT_name},
    {"service_affinity", TEXT_key},
    {"service_anti_affinity", TEXT_key},
    {"share_id", TEXT_name},
    {"siblings", TEXT_name},
    {"spec_class", TEXT_name},
    {"stalest", TEXT_name},
    {"template", TEXT_name},
    {"topology_key", TEXT_key},
    {"turned_away", TEXT_name},
    {"uid", TEXT_name},
    {"value", TEXT_name},
    {"values", TEXT_name},
    {"volume", TEXT_name},
    {"volume_name", TEXT_name},
};

static int compare(const void *key, const void *each)
{
    const struct row *row = each;
    return strcmp(key, row->field);
}

/* Records whose names are no names of the cluster, but of resources, plugins and the like. */
static bool names_things(const struct record *r)
{
    static const char *const of[] = {"quantity",    "score_plugin",   "bus_plugin",
                                     "plugin_back", "health_check",   "trace_span",
                                     "held_set",    "claim_overhead", "device_node_resource"};
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
        if (strcmp(r->name, of[i]) == 0)
            return false;
    return true;
}

static enum text_class class_of(const struct record *r, const struct field *f)
{
    if (strcmp(f->name, "name") == 0 && !names_things(r))
        return TEXT_words;
    if (strcmp(f->name, "text") == 0 && strcmp(r->name, "span_attribute") == 0)
        return TEXT_derived;
    if (strcmp(r->name, "trace_span") == 0) /* its numbers are random */
        return TEXT_words;
    if (strcmp(f->name, "text") == 0 && strcmp(r->name, "device_attribute") == 0)
        return TEXT_name;
    const struct row *row =
        bsearch(f->name, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]), compare);
    return row != NULL ? row->class : TEXT_words;
}

/* ---- texts ---- */

struct walk {
    struct names *names;
    const unsigned char *at, *end;
    const struct field *inside; /* whose records are being read */
};

/* Of fields that are labels as well, but of another kind. */
static void other_labels(const struct walk *w, enum text_class *class)
{
    static const struct row others[] = {{"avoided", TEXT_option},
                                        {"conditions", TEXT_option}, /* Ready is True */
                                        {"counters", TEXT_words},
                                        {"derived", TEXT_expression},
                                        {"lines", TEXT_words}};
    for (size_t i = 0; w->inside != NULL && i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(w->inside->name, others[i].field) == 0) {
            *class = others[i].class;
        }
}

/* In the place of a volume's handle, where there is none yet, scheduler/catalog/volumes.c says so.
 */
static struct str behind_sentence(struct str text)
{
    static const char sentence[] = "claim without a volume: ";
    uint32_t len = str_starts_with(text, sentence) ? sizeof(sentence) - 1 : 0;
    return (struct str){text.at + len, text.len - len};
}

/* Bytes as base64: changed inside, and as long as they were. */
static void take_base64(struct names *n, struct str text)
{
    struct buffer bytes = {0}, again = {0};
    if (base64_decode(text, &bytes)) {
        documents_any(n, buffer_str(&bytes), false);
        base64_encode(buffer_str(&bytes), &again);
        if (names_change(n) && again.len == text.len)
            memcpy((char *)text.at, again.at, again.len);
    }
    buffer_free(&bytes);
    buffer_free(&again);
}

static void take_text(const struct walk *w, const struct record *r, const struct field *f,
                      struct str text)
{
    struct names *n = w->names;
    bool document =
        f != NULL && (strcmp(f->name, "document") == 0 || strcmp(f->name, "parameters") == 0);
    if (document && text.len > 0 && *text.at != '{')
        take_base64(n, text);
    else if (document)
        documents_json(n, text);
    else if (f == NULL || f->kind != KIND_word) {
        enum text_class class = f != NULL ? class_of(r, f) : TEXT_words;
        other_labels(w, &class);
        names_take(n, behind_sentence(text), class, false);
    }
}

/* ---- msgpack ---- */

static uint64_t big_endian(const unsigned char *at, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value = value << 8 | at[i];
    return value;
}

enum shape { SHAPE_end, SHAPE_other, SHAPE_number, SHAPE_text, SHAPE_list, SHAPE_map };

/* Bytes of what follows the first one. */
static size_t rest_of(unsigned char c)
{
    static const unsigned char sizes[] = {
        0, 0, 0, 0, 1, 2, 4, 0, 0, 0, 4, 8, 1, 2, 4, 8, /* nil to uint64; ext are not written */
        1, 2, 4, 8, 0, 0, 0, 0, 0, 1, 2, 4, 2, 4, 2, 4,
    };
    return c >= 0xc0 && c < 0xe0 ? sizes[c - 0xc0] : 0;
}

/* The head of the next value: what it is, and its number, or how long it is. */
static enum shape take_head(struct walk *w, uint64_t *value)
{
    if (w->at == w->end)
        return SHAPE_end;
    unsigned char c = *w->at++;
    size_t rest = rest_of(c);
    if ((size_t)(w->end - w->at) < rest)
        return SHAPE_end;
    *value = c < 0x80 ? c : big_endian(w->at, rest);
    w->at += rest;
    if (c >= 0x80 && c < 0xc0) {
        *value = c < 0xa0 ? c & 0xf : c & 0x1f;
        return c < 0x90 ? SHAPE_map : c < 0xa0 ? SHAPE_list : SHAPE_text;
    }
    if ((c >= 0xc4 && c <= 0xc6) || (c >= 0xd9 && c <= 0xdb))
        return SHAPE_text;
    if (c == 0xdc || c == 0xdd)
        return SHAPE_list;
    if (c == 0xde || c == 0xdf)
        return SHAPE_map;
    return c < 0x80 || (c >= 0xcc && c <= 0xcf) ? SHAPE_number : SHAPE_other;
}

static const struct field *field_of(const struct record *r, uint64_t tag)
{
    for (size_t i = 0; r != NULL && i < r->field_count; i++)
        if (r->fields[i].tag == tag)
            return &r->fields[i];
    return NULL;
}

/* A hash of what has names in it: in the eight bytes that most have. */
static void take_number(const struct walk *w, const struct field *f, uint64_t value)
{
    bool hash =
        f != NULL && (strcmp(f->name, "hash") == 0 || strcmp(f->name, "extenders_hash") == 0);
    uint64_t becomes = hash && names_change(w->names) ? names_number(w->names, value) : value;
    unsigned char *at = (unsigned char *)w->at;
    if (value > UINT32_MAX && becomes > UINT32_MAX)
        for (int i = 1; i <= 8; i++, becomes >>= 8)
            at[-i] = (unsigned char)becomes;
}

/* Records nest as they are declared; who nests deeper is not read. NOLINTBEGIN(misc-no-recursion)
 */
static bool take_value(struct walk *w, const struct record *r, const struct field *f, int depth);

static bool take_map(struct walk *w, const struct record *r, uint64_t count, int depth)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tag = 0;
        enum shape key = take_head(w, &tag);
        if (key == SHAPE_end)
            return false;
        if (!take_value(w, r, key == SHAPE_number ? field_of(r, tag) : NULL, depth))
            return false;
    }
    return true;
}

static bool take_value(struct walk *w, const struct record *r, const struct field *f, int depth)
{
    uint64_t len = 0;
    enum shape shape = take_head(w, &len);
    const struct record *of = f != NULL ? f->of : NULL;
    if (shape == SHAPE_end || depth > CODEC_DEPTH_MAX)
        return false;
    if (shape == SHAPE_map) {
        const struct field *outside = w->inside;
        w->inside = f;
        bool good = take_map(w, of, len, depth + 1);
        w->inside = outside;
        return good;
    }
    for (uint64_t i = 0; shape == SHAPE_list && i < len; i++)
        if (!take_value(w, r, f, depth + 1))
            return false;
    if (shape == SHAPE_number && len > UINT32_MAX && names_change(w->names))
        take_number(w, f, len);
    if (shape == SHAPE_text) {
        if (len > (uint64_t)(w->end - w->at))
            return false;
        take_text(w, r, f, (struct str){(const char *)w->at, (uint32_t)len});
        w->at += len;
    }
    return true;
}

void messages_take(struct names *n, const struct record *r, struct str encoded)
{
    const unsigned char *at = (const unsigned char *)encoded.at;
    struct walk w = {n, at, at + encoded.len, NULL};
    uint64_t count = 0;
    if (take_head(&w, &count) == SHAPE_map)
        take_map(&w, r, count, 1);
}
/* NOLINTEND(misc-no-recursion) */
