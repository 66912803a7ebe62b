/* story: the one idea: frames are kept in order of time until an attempt has its end, and then told
 * together. An attempt begins with the queue's message and ends with its outcome, or with the next
 * one where the outcome was not heard.
 *
 * What must stay true: a hole is told where it is; an attempt is told once, whole; what is kept is
 * bounded, and what that leaves out is told. */
#include "ctl/tap/story.h"

#include "ctl/tap/brief.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/bus/frame.h"

#include <inttypes.h>
#include <string.h>

#define FRAMES_MAX 20000
#define BYTES_MAX  (64u << 20)
#define TAIL_US    20000 /* what comes so soon behind the outcome is its doing */
#define CLOCK_US   2000000
#define QUIET_US   1000000 /* between attempts: then what was said is told */

enum role { ROLE_other, ROLE_begin, ROLE_end };

struct kept {
    int64_t at_us;
    enum role role;
    int64_t number, cycle; /* begin: which attempt it is; end: the cycle that it ends */
    bool shown, fulfils;
    uint32_t missed;
    struct buffer tapped;
};

struct story {
    struct story_options options;
    struct kept *kept; /* FRAMES_MAX, in order of time */
    uint32_t count;
    size_t bytes;
    uint64_t left_out;
    int64_t told;     /* number of the last attempt that was told; 0: none */
    bool open;        /* and its outcome is not heard yet */
    int64_t begun_us; /* when it began */
    struct buffer pod;
    struct buffer line;
};

struct story *story_new(const struct story_options *options)
{
    struct story *story = memory_take(sizeof(*story));
    story->options = *options;
    story->kept = memory_take(sizeof(*story->kept) * FRAMES_MAX);
    return story;
}

void story_free(struct story **story)
{
    if (*story == NULL)
        return;
    for (uint32_t i = 0; i < (*story)->count; i++)
        buffer_free(&(*story)->kept[i].tapped);
    memory_free((*story)->kept);
    buffer_free(&(*story)->pod);
    buffer_free(&(*story)->line);
    memory_free(*story);
    *story = NULL;
}

/* ---- taking ---- */

static void name_pod(struct story *story, struct str space, struct str name)
{
    if (name.len == 0 || space.len == 0)
        return;
    buffer_reset(&story->pod);
    buffer_print(&story->pod, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

/* The pod's part of what the queue or its answerer says. */
static void find_role(struct story *story, struct tap_view *view, struct kept *k)
{
    const struct message *m = &view->message;
    if (m->type == MSG_attempt) {
        k->role = ROLE_begin;
        k->number = m->attempt.attempts;
        k->cycle = m->attempt.cycle;
        name_pod(story, m->attempt.pod.namespace_name, m->attempt.pod.name);
    }
    if (m->type == MSG_outcome) {
        k->role = ROLE_end;
        k->cycle = m->outcome.cycle;
        name_pod(story, m->outcome.namespace_name, m->outcome.name);
    }
    if (m->type != MSG_gang_attempt)
        return;
    for (uint32_t i = 0; i < m->gang_attempt.members.count; i++) {
        const struct gang_member *member = &m->gang_attempt.members.at[i];
        if (!tap_mentions_pod(&pod_record, &member->pod, &view->filter))
            continue;
        k->role = ROLE_begin;
        k->number = member->attempts;
        k->cycle = member->cycle;
        name_pod(story, member->pod.namespace_name, member->pod.name);
    }
}

/* When it was sent: taps mirror a frame somewhat later, each by as much as it is busy. A clock that
 * is far off is another machine's, or nonsense. */
static int64_t when_sent(const struct tap_view *view)
{
    int64_t sent = view->envelope.sent_us, mirrored = view->tapped.at_us;
    return sent > mirrored - CLOCK_US && sent < mirrored + CLOCK_US ? sent : mirrored;
}

void story_take(struct story *story, struct tap_view *view, const struct story_frame *frame)
{
    struct kept k = {.at_us = when_sent(view),
                     .shown = frame->shown,
                     .fulfils = frame->shown && view->fulfils,
                     .missed = frame->missed};
    if (view->refusal == NULL)
        find_role(story, view, &k);
    if (k.role == ROLE_other && !k.shown && k.missed == 0)
        return;
    if (story->count == FRAMES_MAX || story->bytes + frame->tapped.len > BYTES_MAX) {
        story->left_out++;
        return;
    }
    buffer_add_str(&k.tapped, frame->tapped);
    story->bytes += k.tapped.len;
    uint32_t at = story->count++;
    for (; at > 0 && story->kept[at - 1].at_us > k.at_us; at--)
        story->kept[at] = story->kept[at - 1];
    story->kept[at] = k;
}

/* ---- where a block ends ---- */

struct block {
    uint32_t count;      /* frames, from the first one kept */
    uint32_t begin, end; /* places of these; count: there is none */
    bool attempt;
};

/* The same attempt may be sent again, to a scheduler that has lost it: with another cycle. */
static bool begins_another(const struct story *story, const struct block *b, uint32_t at)
{
    const struct kept *k = &story->kept[at];
    if (at == 0 || k->role != ROLE_begin)
        return false;
    return b->begin > at || b->end < at || k->number == 0 ||
           k->number != story->kept[b->begin].number;
}

static bool ends(const struct story *story, const struct block *b, uint32_t at)
{
    bool known = b->begin > at; /* that of one whose begin was not heard */
    for (uint32_t i = b->begin; i < at; i++)
        known |= story->kept[i].role == ROLE_begin && story->kept[i].cycle == story->kept[at].cycle;
    return story->kept[at].role == ROLE_end && b->end > at && known;
}

/* The frame does not belong to what was said before, as so much time has passed. */
static bool is_late(const struct story *story, const struct block *b, uint32_t at)
{
    int64_t at_us = story->kept[at].at_us;
    if (b->end < at)
        return at_us > story->kept[b->end].at_us + TAIL_US;
    return at > 0 && b->begin > at && at_us > story->kept[at - 1].at_us + QUIET_US;
}

/* The first block of the frames up to that time. False: it is not complete. */
static bool find_block(const struct story *story, int64_t until_us, struct block *b)
{
    *b = (struct block){0, UINT32_MAX, UINT32_MAX, false};
    uint32_t i = 0;
    for (; i < story->count && story->kept[i].at_us <= until_us; i++) {
        if (is_late(story, b, i) || begins_another(story, b, i))
            break;
        if (story->kept[i].role == ROLE_begin && b->begin > i)
            b->begin = i;
        if (ends(story, b, i))
            b->end = i;
    }
    b->count = i;
    b->attempt = b->begin < i || b->end < i || story->open;
    if (i == 0)
        return false;
    if (until_us == INT64_MAX || (i < story->count && story->kept[i].at_us <= until_us))
        return true;
    if (b->end < i)
        return until_us > story->kept[b->end].at_us + TAIL_US;
    if (b->begin < i)
        return story->options.patience_us > 0 &&
               until_us > story->kept[0].at_us + story->options.patience_us;
    return until_us > story->kept[i - 1].at_us + QUIET_US;
}

/* ---- telling ---- */

static bool is_told(const struct story *story, const struct block *b, bool asks)
{
    bool shown = false, fulfils = false;
    for (uint32_t i = 0; i < b->count; i++) {
        shown |= story->kept[i].shown;
        fulfils |= story->kept[i].fulfils;
    }
    return shown && (fulfils || !asks);
}

/* How the attempt ended: a word and, where it is known, on which node. */
struct ending {
    struct str result, node;
    struct buffer room; /* of node */
    int64_t took_us;    /* -1: not known */
};

static void find_ending(struct story *story, struct tap_view *view, const struct block *b,
                        struct ending *ending)
{
    *ending = (struct ending){.result = str_of("under way"), .took_us = -1};
    for (uint32_t i = 0; i < b->count; i++) {
        tap_view_again(view, buffer_str(&story->kept[i].tapped));
        if (view->refusal == NULL && view->message.type == MSG_bind) {
            buffer_reset(&ending->room);
            buffer_add_str(&ending->room, view->message.bind.node_name);
        }
    }
    if (b->end >= b->count) {
        if (b->count < story->count && story->kept[b->count].role == ROLE_begin)
            ending->result = str_of("without an outcome");
        return;
    }
    tap_view_again(view, buffer_str(&story->kept[b->end].tapped));
    const struct outcome *o = &view->message.outcome;
    ending->result = words_text(&outcome_result_words, o->result);
    if (o->result == OUTCOME_bound && ending->room.len == 0)
        buffer_add_str(&ending->room, o->nominated_node);
    if (o->result == OUTCOME_bound)
        ending->node = buffer_str(&ending->room);
    if (b->begin < b->count)
        ending->took_us = story->kept[b->end].at_us - story->kept[b->begin].at_us;
    else if (story->open)
        ending->took_us = story->kept[b->end].at_us - story->begun_us;
}

static struct str pod_of(const struct story *story, const struct tap_view *view)
{
    return story->pod.len > 0 ? buffer_str(&story->pod) : view->filter.pod_uid;
}

/* "attempt 2", "attempt 2, continued", "before attempt 1", "after attempt 1" */
static void print_place(const struct story *story, const struct block *b, struct buffer *out)
{
    const struct kept *next = b->count < story->count ? &story->kept[b->count] : NULL;
    if (b->attempt && b->begin < b->count)
        buffer_print(out, "attempt %" PRId64, story->kept[b->begin].number);
    else if (story->open)
        buffer_print(out, "attempt %" PRId64 ", continued", story->told);
    else if (b->attempt)
        buffer_add_text(out, "an attempt whose begin was not heard");
    else if (story->told > 0)
        buffer_print(out, "after attempt %" PRId64, story->told);
    else if (next != NULL && next->role == ROLE_begin)
        buffer_print(out, "before attempt %" PRId64, next->number);
    else
        buffer_add_text(out, "between attempts");
}

static void print_ms(int64_t us, struct buffer *out)
{
    buffer_print(out, "%s%" PRId64 ".%03" PRId64, us < 0 ? "-" : "", (us < 0 ? -us : us) / 1000,
                 (us < 0 ? -us : us) % 1000);
}

static void print_heading(struct story *story, struct tap_view *view, const struct block *b,
                          struct buffer *out)
{
    struct ending ending;
    char when[40] = {0};
    struct str pod = pod_of(story, view);
    find_ending(story, view, b, &ending);
    moment_print_micros(story->kept[0].at_us, when, sizeof(when));
    buffer_print(out, "%.*s  ", STR_ARG(pod));
    print_place(story, b, out);
    if (b->attempt)
        buffer_print(out, "  %.*s%s%.*s", STR_ARG(ending.result), ending.node.len > 0 ? " on " : "",
                     STR_ARG(ending.node));
    if (ending.took_us >= 0) {
        buffer_add_text(out, "  in ");
        print_ms(ending.took_us, out);
        buffer_add_text(out, " ms");
    }
    buffer_print(out, "  %s\n", when);
    buffer_free(&ending.room);
}

static void print_message(struct tap_view *view, struct brief *brief, int64_t offset_us,
                          struct buffer *out)
{
    const struct tapped *t = &view->tapped;
    struct buffer words = {0}, who = {0};
    struct str peer = t->peer_instance.len > 0 ? t->peer_instance : str_of("?");
    struct str from = t->sent ? t->instance : peer, to = t->sent ? peer : t->instance;
    print_ms(offset_us, &words);
    buffer_print(&who, "%.*s>%.*s", STR_ARG(from), STR_ARG(to));
    buffer_print(out, "%12.*s  %-20.*s  ", STR_ARG(buffer_str(&words)), STR_ARG(buffer_str(&who)));
    if (view->refusal != NULL) {
        buffer_print(out, "%s cannot be decoded: %s\n", frame_type_name(view->envelope.type),
                     view->refusal);
    } else {
        buffer_reset(&words);
        brief_print(brief, &view->message, &words);
        buffer_print(out, "%-16s  %.*s", message_info[view->message.type].record->name,
                     STR_ARG(buffer_str(&words)));
        while (out->at[out->len - 1] == ' ')
            out->len--;
        buffer_add_text(out, "\n");
    }
    buffer_free(&words);
    buffer_free(&who);
}

static void print_text(struct story *story, struct tap_view *view, const struct block *b,
                       struct buffer *out)
{
    struct brief brief = {.filter = &view->filter, .nodes = story->options.nodes};
    print_heading(story, view, b, out);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct kept *k = &story->kept[i];
        if (k->missed > 0)
            buffer_print(out, "              %u messages, of whatever pods, were missed here\n",
                         k->missed);
        if (!k->shown)
            continue;
        tap_view_again(view, buffer_str(&k->tapped));
        print_message(view, &brief, k->at_us - story->kept[0].at_us, out);
    }
    if (story->left_out > 0)
        buffer_print(out, "              %" PRIu64 " messages more are left out: too many\n",
                     story->left_out);
    buffer_add_text(out, "\n");
}

static void print_json(struct story *story, struct tap_view *view, const struct block *b,
                       struct buffer *out)
{
    struct ending ending;
    char when[40] = {0};
    uint64_t missed = 0;
    const char *comma = "";
    find_ending(story, view, b, &ending);
    moment_print_micros(story->kept[0].at_us, when, sizeof(when));
    buffer_print(out, "{\"time\":\"%s\",\"pod\":", when);
    json_string(out, pod_of(story, view));
    buffer_add_text(out, ",\"place\":\"");
    print_place(story, b, out);
    buffer_add_text(out, "\"");
    if (b->attempt && (b->begin < b->count || story->open))
        buffer_print(out, ",\"attempt\":%" PRId64,
                     b->begin < b->count ? story->kept[b->begin].number : story->told);
    if (b->attempt) {
        buffer_add_text(out, ",\"result\":");
        json_string(out, ending.result);
    }
    if (ending.node.len > 0) {
        buffer_add_text(out, ",\"node\":");
        json_string(out, ending.node);
    }
    if (ending.took_us >= 0)
        buffer_print(out, ",\"took_us\":%" PRId64, ending.took_us);
    buffer_add_text(out, ",\"messages\":[");
    for (uint32_t i = 0; i < b->count; i++) {
        const struct kept *k = &story->kept[i];
        missed += k->missed;
        if (!k->shown)
            continue;
        tap_view_again(view, buffer_str(&k->tapped));
        buffer_add_text(out, comma);
        tap_view_print(view, true, out);
        out->len -= 2; /* } and the line end */
        buffer_print(out, ",\"offset_us\":%" PRId64 "}", k->at_us - story->kept[0].at_us);
        comma = ",";
    }
    buffer_print(out, "],\"missed\":%" PRIu64 ",\"left_out\":%" PRIu64 "}\n", missed,
                 story->left_out);
    buffer_free(&ending.room);
}

static void drop(struct story *story, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        story->bytes -= story->kept[i].tapped.len;
        buffer_free(&story->kept[i].tapped);
    }
    memmove(story->kept, story->kept + count, sizeof(*story->kept) * (story->count - count));
    story->count -= count;
    story->left_out = 0;
}

enum story_step story_next(struct story *story, struct tap_view *view, int64_t until_us,
                           struct buffer *out)
{
    struct block b;
    if (!find_block(story, until_us, &b))
        return STORY_nothing;
    if (is_told(story, &b, view->filter.query != NULL)) {
        if (story->options.json)
            print_json(story, view, &b, out);
        else
            print_text(story, view, &b, out);
    }
    bool begins = b.begin < b.count;
    if (begins) {
        story->told = story->kept[b.begin].number;
        story->begun_us = story->kept[b.begin].at_us;
        story->open = true;
    }
    if (b.end < b.count || (b.count < story->count && story->kept[b.count].role == ROLE_begin))
        story->open = false;
    drop(story, b.count);
    return begins || b.end < b.count ? STORY_attempt : STORY_between;
}
