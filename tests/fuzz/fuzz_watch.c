/* fuzz_watch: any bytes as what an API server answers to lists and streams to a watch, in pieces of
 * any size. What must hold: nothing is told outside a list or a watch, deletions come from watches
 * alone, every line is found whatever the pieces, an object as it came is the object that is told,
 * and the reflector always wants to go on. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/watch/frames.h"
#include "proto/kube/watch/lines.h"
#include "proto/kube/watch/page.h"
#include "proto/kube/watch/reflector.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct owner {
    const struct reflector *reflector;
    bool listing;
    uint64_t listed, told, lists;
};

static void on_begin(void *context)
{
    struct owner *o = context;
    o->listing = true;
}

static void on_end(void *context)
{
    struct owner *o = context;
    must(o->listing);
    o->listing = false;
    o->lists++;
}

/* As it came it is the same object. */
static void check_document(const struct owner *o, const struct kube_json *object)
{
    struct buffer body = {0};
    struct arena a = {0};
    if (reflector_document(o->reflector, &body)) {
        struct kube_json *again = kube_answer_parse(buffer_str(&body), NULL, &a);
        must(again != NULL);
        must(str_equal(kube_json_text(kube_json_path(again, "metadata.name")),
                       kube_json_text(kube_json_path(object, "metadata.name"))));
        kube_json_free(&again);
    }
    buffer_free(&body);
    arena_free(&a);
}

static void on_object(void *context, const struct kube_json *object, bool listed)
{
    struct owner *o = context;
    must(object != NULL && listed == o->listing);
    check_document(o, object);
    o->listed += listed;
    o->told += !listed;
}

static void on_deleted(void *context, const struct kube_json *object)
{
    struct owner *o = context;
    must(object != NULL && !o->listing);
    o->told++;
}

/* The part of the input up to the next tab, which JSON can do without; protobuf then ends early. */
static struct str take_part(struct str *rest)
{
    int64_t end = str_find(*rest, '\t');
    struct str part = {rest->at, end < 0 ? rest->len : (uint32_t)end};
    uint32_t used = part.len + (end >= 0);
    rest->at += used;
    rest->len -= used;
    return part;
}

static void stream(struct reflector *r, struct moment now, uint64_t number, struct str part)
{
    uint32_t step = part.len > 0 ? 1 + (unsigned char)part.at[0] : 1;
    while (part.len > 0) {
        struct str piece = {part.at, part.len < step ? part.len : step};
        reflector_data(r, now, number, piece);
        part.at += piece.len;
        part.len -= piece.len;
    }
}

/* Each part of the input answers one request; its first byte picks the status of a list. */
static void answer(struct reflector *r, struct moment now, const struct reflector_request *request,
                   struct str part)
{
    static const int statuses[] = {200, 200, 200, 200, 410, 403, 404, 500, 0};
    struct kube_response response = {.status = 200, .error = "", .retry_after_s = -1};
    if (request->watch) {
        stream(r, now, request->number, part);
    } else if (part.len > 0 && part.at[0] != '{') {
        response.status = statuses[(unsigned char)part.at[0] % 9];
        response.body = (struct str){part.at + 1, part.len - 1};
    } else {
        response.body = part;
    }
    if (response.status == 0)
        response.error = "no answer";
    if (response.status == 200 && response.body.len % 2 == 1) {
        stream(r, now, request->number, response.body);
        response.body = (struct str){NULL, 0};
    }
    reflector_response(r, now, request->number, &response);
}

static void play(struct str rest, bool protobuf)
{
    struct owner owner = {.listing = false};
    uint64_t ticket = 0;
    struct moment now = {1000000000};
    struct reflector *r = reflector_new(&(struct reflector_options){.name = "pods",
                                                                    .kind = "Pod",
                                                                    .path = "/api/v1/pods",
                                                                    .protobuf = protobuf,
                                                                    .catch_up_from = 1,
                                                                    .context = &owner,
                                                                    .list_begin = on_begin,
                                                                    .object = on_object,
                                                                    .deleted = on_deleted,
                                                                    .list_end = on_end});
    owner.reflector = r;
    struct reflector_request request;
    while (rest.len > 0) {
        if (reflector_next(r, now, &request))
            answer(r, now, &request, take_part(&rest));
        if (ticket <= reflector_lists_ended(r) && rest.len % 3 == 0)
            ticket = reflector_catch_up(r);
        struct moment next = reflector_deadline(r);
        must(next.ns < MOMENT_NEVER.ns);
        now = moment_reached(now, next) ? now : next;
    }
    struct reflector_status status = reflector_status(r);
    must(status.events >= owner.told && status.lists >= owner.lists);
    reflector_free(&r);
}

/* All lines of text, joined by '|', cut from pieces of this size. */
static void cut(struct str text, uint32_t step, struct buffer *out)
{
    struct lines lines = {.max = 64};
    enum lines_step found = LINES_more;
    struct str line;
    buffer_reset(out);
    while (text.len > 0 && found != LINES_too_long) {
        struct str piece = {text.at, text.len < step ? text.len : step};
        lines_feed(&lines, piece);
        while ((found = lines_next(&lines, &line)) == LINES_line) {
            must(line.len > 0 && line.len <= lines.max && str_find(line, '\n') < 0);
            buffer_add_str(out, line);
            buffer_add_text(out, "|");
        }
        must(lines.torn.len <= lines.max);
        text.at += piece.len;
        text.len -= piece.len;
    }
    if (found == LINES_too_long)
        buffer_add_text(out, "!");
    lines_free(&lines);
}

/* All frames, behind each other, cut from pieces of this size. */
static void cut_frames(struct str text, uint32_t step, struct buffer *out)
{
    struct frames frames = {.max = 200};
    enum frames_step found = FRAMES_more;
    struct str frame;
    buffer_reset(out);
    while (text.len > 0 && found != FRAMES_too_long) {
        struct str piece = {text.at, text.len < step ? text.len : step};
        frames_feed(&frames, piece);
        while ((found = frames_next(&frames, &frame)) == FRAMES_frame) {
            must(frame.len <= frames.max);
            buffer_print(out, "|%u:", frame.len);
            buffer_add_str(out, frame);
        }
        must(frames.torn.len <= frames.max + 4);
        text.at += piece.len;
        text.len -= piece.len;
    }
    frames_free(&frames);
}

/* All that a page is cut into, cut from pieces of this size. */
static void cut_page(struct str text, uint32_t step, struct buffer *out)
{
    struct page page = {.max = 200};
    enum page_step found = PAGE_more;
    struct str part;
    buffer_reset(out);
    while (text.len > 0 && found <= PAGE_item) {
        struct str piece = {text.at, text.len < step ? text.len : step};
        page_feed(&page, piece);
        while ((found = page_next(&page, &part)) == PAGE_head || found == PAGE_item) {
            must(found == PAGE_head || part.len <= page.max);
            buffer_print(out, "|%d:", (int)found);
            buffer_add_str(out, part);
        }
        must(page.torn.len <= page.max + 20 && page.kept.len <= page.max);
        text.at += piece.len;
        text.len -= piece.len;
    }
    if (found <= PAGE_item && page_end(&page, &part))
        buffer_add_str(out, part);
    page_free(&page);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    log_open("fuzz", LOG_LEVEL_error);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buffer whole, pieces;
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, (uint32_t)size - 1};
    play(text, false);
    play(text, true);
    cut_frames(text, text.len + 1, &whole);
    cut_frames(text, 1 + data[0] % 64, &pieces);
    must(whole.len == pieces.len &&
         (whole.len == 0 || memcmp(whole.at, pieces.at, whole.len) == 0));
    cut_page(text, text.len + 1, &whole);
    cut_page(text, 1 + data[0] % 64, &pieces);
    must(whole.len == pieces.len &&
         (whole.len == 0 || memcmp(whole.at, pieces.at, whole.len) == 0));
    cut(text, text.len + 1, &whole);
    cut(text, 1 + data[0] % 64, &pieces);
    /* A line that is too long may be noticed before its end came: what was found before agrees. */
    size_t common = whole.len < pieces.len ? whole.len : pieces.len;
    common -= common > 0 && (whole.at[whole.len - 1] == '!' || pieces.at[pieces.len - 1] == '!');
    must(common == 0 || memcmp(whole.at, pieces.at, common) == 0);
    return 0;
}
