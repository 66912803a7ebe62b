/* page: two small automata, one a form. The one idea: what is around the items is kept and is, with
 * an empty list in their place, an answer that the readers of answers understand; an item that lies
 * whole in a piece is handed out in place. What must stay true: no more is kept than what came, and
 * no more than max of it. */
#include "proto/kube/watch/page.h"

#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"

#include <string.h>

#define MAGIC    4  /* bytes in front of protobuf */
#define HEAD_MAX 20 /* bytes of a field's number and its length */

enum state {
    STATE_around, /* JSON: not in the items; protobuf: in the envelope */
    STATE_items,
    STATE_whole, /* JSON: the metadata comes behind the items */
    STATE_ended
};

void page_feed(struct page *p, struct str piece)
{
    must(p->rest.len == 0);
    p->rest = piece;
}

static void pass(struct page *p, uint32_t len)
{
    p->rest.at += len;
    p->rest.len -= len;
}

/* Moves up to len bytes of the piece behind what is torn. */
static void gather(struct page *p, size_t len)
{
    struct str head = {p->rest.at, p->rest.len < len ? p->rest.len : (uint32_t)len};
    buffer_add_str(&p->torn, head);
    pass(p, head.len);
}

/* ---- JSON ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Follows strings and brackets over one byte. True when it closes a container. */
static bool follow(struct page *p, char c)
{
    if (p->quoted) {
        bool ends = !p->escaped && c == '"';
        p->escaped = !p->escaped && c == '\\';
        p->quoted = !ends;
        return false;
    }
    p->quoted = c == '"';
    p->depth += c == '{' || c == '[';
    if (c != '}' && c != ']')
        return false;
    p->depth -= p->depth > 0;
    return true;
}

static bool name_is(const struct page *p, const char *name)
{
    size_t len = strlen(name);
    return p->name_end - p->name_at == len && memcmp(p->kept.at + p->name_at, name, len) == 0;
}

static enum page_step around(struct page *p)
{
    if (p->kept.len >= p->max)
        return PAGE_too_long;
    char c = *p->rest.at;
    bool own = p->depth == 1, was_quoted = p->quoted;
    buffer_add(&p->kept, &c, 1);
    pass(p, 1);
    if (p->depth == 0 && c != '{' && !is_blank(c))
        return PAGE_malformed;
    if (own && !was_quoted && c == '[' && name_is(p, "items")) {
        p->state = p->metadata ? STATE_items : STATE_whole;
        p->depth += p->state == STATE_whole;
        return PAGE_more;
    }
    bool ended = follow(p, c) && p->depth == 0;
    if (own && !was_quoted && p->quoted)
        p->name_at = p->kept.len;
    else if (own && was_quoted && !p->quoted)
        p->name_end = p->kept.len - 1;
    p->metadata |= own && !was_quoted && c == '{' && name_is(p, "metadata");
    if (ended)
        p->state = STATE_ended;
    return PAGE_more;
}

/* A page of which all is kept; only its end is looked for. */
static enum page_step whole(struct page *p)
{
    uint32_t i = 0;
    while (i < p->rest.len && p->state == STATE_whole)
        if (follow(p, p->rest.at[i++]) && p->depth == 0)
            p->state = STATE_ended;
    if (p->kept.len + i > p->max)
        return PAGE_too_long;
    buffer_add_str(&p->kept, (struct str){p->rest.at, i});
    pass(p, i);
    return PAGE_more;
}

/* Where the next byte in the piece stands that matters: in a string a quote, or a backslash before
 * it. */
static uint32_t skip_plain(const struct page *p, uint32_t i)
{
    uint32_t left = p->rest.len - i;
    if (!p->quoted || p->escaped)
        return i;
    const char *from = p->rest.at + i, *quote = memchr(from, '"', left);
    uint32_t plain = quote != NULL ? (uint32_t)(quote - from) : left;
    const char *escape = memchr(from, '\\', plain);
    return escape != NULL ? i + (uint32_t)(escape - from) : i + plain;
}

/* The list as it is so far, closed. */
static struct str json_head(struct page *p)
{
    size_t len = p->kept.len;
    buffer_add_text(&p->kept, "]}");
    struct str text = buffer_str(&p->kept);
    p->kept.len = len; /* the bytes stay in place until more is kept */
    return text;
}

/* In an item, whose beginning may be torn. */
static enum page_step json_item(struct page *p, struct str *text)
{
    uint32_t i = 0;
    bool ended = false;
    while ((i = skip_plain(p, i)) < p->rest.len && !ended)
        ended = follow(p, p->rest.at[i++]) && p->depth == 1;
    if (p->torn.len + i > p->max)
        return PAGE_too_long;
    if (p->torn.len == 0 && ended) {
        *text = (struct str){p->rest.at, i};
        pass(p, i);
        return PAGE_item;
    }
    gather(p, i);
    if (!ended)
        return PAGE_more;
    *text = buffer_str(&p->torn);
    p->lent = true;
    return PAGE_item;
}

static enum page_step items(struct page *p, struct str *text)
{
    if (p->depth > 1)
        return json_item(p, text);
    char c = *p->rest.at;
    if (c == '{' && !p->headed) {
        p->headed = true;
        *text = json_head(p);
        return PAGE_head;
    }
    if (c == '{')
        return json_item(p, text);
    pass(p, 1);
    if (c == ']' && p->kept.len >= p->max)
        return PAGE_too_long;
    if (c == ']') {
        buffer_add(&p->kept, &c, 1);
        p->state = STATE_around;
        return PAGE_more;
    }
    return is_blank(c) || c == ',' ? PAGE_more : PAGE_malformed;
}

static enum page_step next_json(struct page *p, struct str *text)
{
    enum page_step step = PAGE_more;
    while (step == PAGE_more && p->rest.len > 0) {
        switch ((enum state)p->state) {
        case STATE_around: step = around(p); break;
        case STATE_items: step = items(p, text); break;
        case STATE_whole: step = whole(p); break;
        case STATE_ended:
            if (!is_blank(*p->rest.at))
                return PAGE_malformed;
            pass(p, 1);
            break;
        }
    }
    return step;
}

/* ---- protobuf ---- */

/* The next n bytes in one place; false while they have not all come. */
static bool want(struct page *p, size_t n, const unsigned char **bytes)
{
    if (p->torn.len == 0 && p->rest.len >= n) {
        *bytes = (const unsigned char *)p->rest.at;
        return true;
    }
    gather(p, n - p->torn.len);
    *bytes = (const unsigned char *)p->torn.at;
    return p->torn.len == n;
}

/* What was wanted last is done with. */
static void consume(struct page *p, size_t n)
{
    if (p->torn.len > 0)
        p->torn.len = 0;
    else
        pass(p, (uint32_t)n);
}

/* The number that some bytes are. */
static uint64_t varint(const unsigned char *at, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len && i < 10; i++)
        value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
    return value;
}

/* What stands behind a field's number: PAGE_item when the bytes are a whole head of n bytes. */
static enum page_step read_head(struct page *p, const unsigned char *bytes, size_t n)
{
    size_t tag_len = 1;
    while (tag_len < n && bytes[tag_len - 1] >= 0x80)
        tag_len++;
    if (bytes[n - 1] >= 0x80 || tag_len > 5)
        return tag_len > 5 ? PAGE_malformed : PAGE_more;
    uint64_t tag = varint(bytes, tag_len), wire = tag & 7;
    p->field = (uint32_t)(tag >> 3);
    p->need = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    p->numbered = wire != 2; /* nothing that is wanted */
    if (wire == 1 || wire == 5)
        return PAGE_item;
    if (wire != 0 && wire != 2)
        return PAGE_malformed;
    if (tag_len == n)
        return PAGE_more; /* its length, or the number itself, comes */
    p->need = wire == 2 ? varint(bytes + tag_len, n - tag_len) : 0;
    return PAGE_item;
}

/* A field's number and length. PAGE_item: it is there. */
static enum page_step take_head(struct page *p)
{
    const unsigned char *bytes;
    for (size_t n = p->torn.len > 0 ? p->torn.len : 1; n <= HEAD_MAX; n++) {
        if (p->state == STATE_items && n > p->left)
            return PAGE_malformed;
        if (!want(p, n, &bytes))
            return PAGE_more;
        enum page_step step = read_head(p, bytes, n);
        if (step == PAGE_more)
            continue;
        consume(p, n);
        p->left -= p->state == STATE_items ? n : 0;
        p->opened = true;
        return step;
    }
    return PAGE_malformed;
}

/* As a body of its own. */
static struct str protobuf_head(struct page *p)
{
    buffer_reset(&p->body);
    buffer_add(&p->body, "k8s\0", MAGIC);
    size_t type = protobuf_open(&p->body, 1);
    buffer_add_str(&p->body, buffer_str(&p->type));
    protobuf_close(&p->body, type);
    size_t raw = protobuf_open(&p->body, 2), metadata = protobuf_open(&p->body, 1);
    buffer_add_str(&p->body, buffer_str(&p->kept));
    protobuf_close(&p->body, metadata);
    protobuf_close(&p->body, raw);
    return buffer_str(&p->body);
}

/* A whole field that is no item. */
static enum page_step keep(struct page *p, struct str bytes)
{
    struct buffer *to = p->state == STATE_items ? &p->kept : &p->type;
    bool kept = p->field == 1 && !p->numbered;
    if (kept && to->len + bytes.len > p->max)
        return PAGE_too_long; /* in pieces, each of them short enough */
    if (kept)
        buffer_add_str(to, bytes);
    bool encoded = p->state == STATE_around && p->field == 3 && bytes.len > 0;
    return encoded ? PAGE_malformed : PAGE_more; /* such as gzip, which we did not ask for */
}

static enum page_step take_field(struct page *p, struct str *text)
{
    const unsigned char *bytes;
    bool item = p->state == STATE_items && p->field == 2 && !p->numbered;
    if (item && !p->headed) {
        p->headed = true;
        *text = protobuf_head(p);
        return PAGE_head;
    }
    if (p->need > p->max)
        return PAGE_too_long;
    if (!want(p, p->need, &bytes))
        return PAGE_more;
    struct str whole = {(const char *)bytes, (uint32_t)p->need};
    enum page_step step = item ? PAGE_item : keep(p, whole);
    p->left -= p->state == STATE_items ? p->need : 0;
    p->opened = false;
    *text = whole;
    p->lent = item && p->torn.len > 0;
    if (!p->lent)
        consume(p, p->need);
    return step;
}

/* The bytes of the list follow. */
static void enter(struct page *p)
{
    p->state = STATE_items;
    p->left = p->need;
    p->opened = false;
    p->metadata = true;
}

static enum page_step next_field(struct page *p, struct str *text)
{
    enum page_step step = p->opened ? PAGE_item : take_head(p);
    if (step != PAGE_item)
        return step;
    if (p->state == STATE_around && p->field == 2 && !p->numbered) {
        enter(p);
        return PAGE_more;
    }
    if (p->state == STATE_items && p->need > p->left)
        return PAGE_malformed;
    return take_field(p, text);
}

static enum page_step next_protobuf(struct page *p, struct str *text)
{
    const unsigned char *bytes;
    enum page_step step = PAGE_more;
    if (!p->begun) {
        if (!want(p, MAGIC, &bytes))
            return PAGE_more;
        p->begun = memcmp(bytes, "k8s\0", MAGIC) == 0;
        consume(p, MAGIC);
        if (!p->begun)
            return PAGE_malformed;
    }
    while (step == PAGE_more && (p->rest.len > 0 || (p->opened && p->need == 0))) {
        if (p->state == STATE_items && p->left == 0 && !p->opened)
            p->state = STATE_around;
        step = next_field(p, text);
    }
    return step;
}

/* ---- both ---- */

enum page_step page_next(struct page *p, struct str *text)
{
    if (p->lent) {
        p->torn.len = 0;
        p->lent = false;
    }
    if (p->form == PAGE_unknown && p->rest.len > 0)
        p->form = *p->rest.at == 'k' ? PAGE_protobuf : PAGE_json; /* no JSON object begins so */
    return p->form == PAGE_protobuf ? next_protobuf(p, text) : next_json(p, text);
}

bool page_end(struct page *p, struct str *text)
{
    bool inside = p->torn.len > 0 || p->opened || p->rest.len > 0;
    if (p->form == PAGE_protobuf) {
        *text = protobuf_head(p);
        return !inside && p->metadata && p->left == 0;
    }
    *text = buffer_str(&p->kept);
    return !inside && p->state == STATE_ended;
}

void page_reset(struct page *p)
{
    struct page fresh = {
        .max = p->max, .torn = p->torn, .kept = p->kept, .type = p->type, .body = p->body};
    *p = fresh;
    buffer_reset(&p->torn);
    buffer_reset(&p->kept);
    buffer_reset(&p->type);
}

void page_free(struct page *p)
{
    buffer_free(&p->torn);
    buffer_free(&p->kept);
    buffer_free(&p->type);
    buffer_free(&p->body);
    *p = (struct page){.max = p->max};
}
