/* live: a ring of lines, each an event with a number. A reader is a place in it. Who has nothing
 * yet begins at the next line that is the whole cluster, and the helper is asked for one.
 *
 * What must stay true: a reader gets each line whole, in order, or its stream ends; who was left
 * behind is not told differences of what he does not have; and what is kept is bounded, however
 * slowly anybody reads. */
#include "ctl/serve/live.h"

#include "ctl/serve/helper.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define AGAIN_MS   500  /* between two wishes for the whole */
#define RESTART_MS 1000 /* between two lives of the helper */
#define FRONT_MAX  80

enum line_kind { LINE_change, LINE_whole, LINE_again };

struct line {
    enum line_kind kind;
    size_t len;
    char text[];
};

struct live_reader {
    bool used, has_whole;
    uint64_t next; /* number of the line that it is at */
    size_t offset; /* of that event, bytes that it has got */
    struct moment until, said;
};

struct live_stream {
    char *const *argv;
    int epoll_fd;
    uint64_t life; /* in ids, so that another life's are not taken for ours */
    struct line *lines[LIVE_LINES_MAX];
    uint64_t first, end; /* numbers: the oldest that is kept, and behind the newest */
    size_t bytes;
    struct live_reader readers[LIVE_READERS_MAX];
    size_t reader_count;
    struct helper helper;
    bool wanted; /* the whole was asked for, and has not come */
    struct moment wanted_at, start_at, linger_until;
    struct buffer said;
    size_t searched; /* bytes of said without a line's end */
};

struct live_stream *live_stream_new(char *const *argv, int epoll_fd)
{
    struct live_stream *l = memory_take(sizeof(*l));
    l->argv = argv;
    l->epoll_fd = epoll_fd;
    l->life = random_seed();
    l->helper = HELPER_NONE;
    l->first = l->end = 1;
    return l;
}

static void drop_oldest(struct live_stream *l)
{
    struct line **at = &l->lines[l->first++ % LIVE_LINES_MAX];
    l->bytes -= (*at)->len;
    memory_free(*at);
    *at = NULL;
}

void live_stream_free(struct live_stream **stream)
{
    struct live_stream *l = *stream;
    if (l == NULL)
        return;
    while (l->first < l->end)
        drop_oldest(l);
    helper_free(&l->helper);
    buffer_free(&l->said);
    memory_free(l);
    *stream = NULL;
}

/* ---- readers ---- */

static void want_whole(struct live_stream *l)
{
    l->wanted = true;
}

/* Of the event that the reader had last: "LIFE-NUMBER" in hexadecimal and decimal. */
static uint64_t number_of(const struct live_stream *l, const char *last)
{
    char *end;
    uint64_t life = strtoull(last, &end, 16);
    if (end == last || *end != '-' || life != l->life)
        return 0;
    const char *digits = end + 1;
    uint64_t number = strtoull(digits, &end, 10);
    return end > digits && *end == 0 ? number : 0;
}

struct live_reader *live_join(struct live_stream *l, struct moment now, const char *last)
{
    struct live_reader *r = NULL;
    for (size_t i = 0; i < LIVE_READERS_MAX && r == NULL; i++)
        if (!l->readers[i].used)
            r = &l->readers[i];
    if (r == NULL)
        return NULL;
    uint64_t number = number_of(l, last);
    *r = (struct live_reader){.used = true,
                              .next = l->end,
                              .said = now,
                              .until = moment_after(now, span_of_seconds(LIVE_SECONDS))};
    r->has_whole = l->helper.pid != 0 && number >= l->first && number < l->end;
    if (r->has_whole)
        r->next = number + 1;
    else
        want_whole(l);
    l->reader_count++;
    return r;
}

void live_leave(struct live_stream *l, struct live_reader **reader)
{
    if (*reader == NULL)
        return;
    (*reader)->used = false;
    l->reader_count--;
    *reader = NULL;
}

static const struct line *line_at(const struct live_stream *l, uint64_t number)
{
    return l->lines[number % LIVE_LINES_MAX];
}

static bool is_for(const struct live_reader *r, const struct line *line)
{
    return line->kind == LINE_whole || r->has_whole == (line->kind == LINE_change);
}

/* The line that it is told next; NULL: none yet. */
static const struct line *next_line(const struct live_stream *l, const struct live_reader *r,
                                    uint64_t *number)
{
    uint64_t at = r->next > l->first ? r->next : l->first;
    while (at < l->end && !is_for(r, line_at(l, at)))
        at++;
    *number = at;
    return at < l->end ? line_at(l, at) : NULL;
}

static bool is_over(const struct live_reader *r, struct moment now)
{
    return moment_reached(now, r->until);
}

static bool is_quiet(const struct live_reader *r, struct moment now)
{
    return moment_reached(now, moment_after(r->said, span_of_ms(LIVE_QUIET_MS)));
}

bool live_has_more(struct live_stream *l, const struct live_reader *r, struct moment now)
{
    uint64_t number;
    return r->next < l->first || next_line(l, r, &number) != NULL || is_over(r, now) ||
           is_quiet(r, now);
}

/* Of front, text and back, what is behind offset. */
static size_t put_pieces(const struct str *pieces, size_t offset, char *to, size_t room)
{
    size_t put = 0;
    for (int i = 0; i < 3; i++) {
        if (offset >= pieces[i].len) {
            offset -= pieces[i].len;
            continue;
        }
        size_t more = pieces[i].len - offset < room - put ? pieces[i].len - offset : room - put;
        memcpy(to + put, pieces[i].at + offset, more);
        put += more;
        offset = 0;
        if (put == room)
            break;
    }
    return put;
}

static ssize_t put_line(struct live_stream *l, struct live_reader *r, const struct line *line,
                        char *to, size_t room)
{
    char front[FRONT_MAX];
    int len = snprintf(front, sizeof(front),
                       "retry: 500\nid: %016" PRIx64 "-%" PRIu64 "\ndata: ", l->life, r->next);
    const struct str pieces[3] = {
        {front, (uint32_t)len}, {line->text, (uint32_t)line->len}, STR_LITERAL("\n\n")};
    size_t all = (size_t)len + line->len + 2;
    size_t put = put_pieces(pieces, r->offset, to, room);
    r->offset += put;
    if (r->offset == all) {
        r->offset = 0;
        r->next++;
        r->has_whole = true;
    }
    return (ssize_t)put;
}

/* Who is behind what is kept has lost something; in the middle of a line he cannot even be told. */
static bool fell_behind(struct live_stream *l, struct live_reader *r)
{
    if (r->next >= l->first)
        return true;
    if (r->offset > 0)
        return false;
    r->has_whole = false;
    r->next = l->end;
    want_whole(l);
    return true;
}

ssize_t live_read(struct live_stream *l, struct live_reader *r, struct moment now, char *to,
                  size_t room)
{
    uint64_t number;
    if (!fell_behind(l, r))
        return -1;
    const struct line *line = next_line(l, r, &number);
    if (r->offset == 0) {
        if (is_over(r, now))
            return -1;
        r->next = number;
    }
    if (line != NULL) {
        r->said = now;
        return put_line(l, r, line, to, room);
    }
    if (!is_quiet(r, now) || room < 4)
        return 0;
    r->said = now;
    static const char quiet[4] = {':', ' ', '\n', '\n'};
    memcpy(to, quiet, sizeof(quiet));
    return sizeof(quiet);
}

/* ---- the helper ---- */

static enum line_kind kind_of(struct str text)
{
    return str_starts_with(text, "{\"kind\":\"whole\"")   ? LINE_whole
           : str_starts_with(text, "{\"kind\":\"again\"") ? LINE_again
                                                          : LINE_change;
}

static void add_line(struct live_stream *l, struct str text)
{
    struct line *line = memory_take(sizeof(*line) + text.len + 1u);
    line->kind = kind_of(text);
    line->len = text.len;
    memcpy(line->text, text.at, text.len);
    while (l->first < l->end &&
           (l->end - l->first == LIVE_LINES_MAX || l->bytes + text.len > LIVE_BYTES_MAX))
        drop_oldest(l);
    l->lines[l->end++ % LIVE_LINES_MAX] = line;
    l->bytes += text.len;
    if (line->kind != LINE_change)
        l->wanted = false;
}

static bool take_lines(struct live_stream *l)
{
    size_t from = 0;
    bool any = false;
    const char *end;
    while (l->searched < l->said.len &&
           (end = memchr(l->said.at + l->searched, '\n', l->said.len - l->searched)) != NULL) {
        size_t at = (size_t)(end - l->said.at);
        add_line(l, (struct str){l->said.at + from, (uint32_t)(at - from)});
        l->searched = from = at + 1;
        any = true;
    }
    if (from > 0)
        memmove(l->said.at, l->said.at + from, l->said.len - from);
    l->said.len -= from;
    l->searched = l->said.len;
    return any;
}

static void start(struct live_stream *l, struct moment now)
{
    l->start_at = moment_after(now, span_of_ms(RESTART_MS));
    buffer_reset(&l->said);
    l->searched = 0;
    l->wanted = false; /* it begins with the whole */
    if (!helper_start(&l->helper, l->argv))
        return;
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? l->helper.out : l->helper.err;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
            helper_kill(&l->helper);
    }
}

static void stop(struct live_stream *l)
{
    helper_free(&l->helper);
    while (l->first < l->end)
        drop_oldest(l);
    buffer_free(&l->said);
    l->searched = 0;
}

static void ask_for_whole(struct live_stream *l, struct moment now)
{
    if (!l->wanted || !moment_reached(now, l->wanted_at))
        return;
    l->wanted_at = moment_after(now, span_of_ms(AGAIN_MS));
    if (write(l->helper.in, "\n", 1) != 1)
        log_warn("berth follow does not listen");
}

static bool is_left(struct live_stream *l, struct moment now)
{
    if (l->reader_count > 0)
        l->linger_until = moment_after(now, span_of_ms(LIVE_LINGER_MS));
    return moment_reached(now, l->linger_until);
}

bool live_work(struct live_stream *l, struct moment now, struct moment *next)
{
    int status;
    bool news = false;
    *next = MOMENT_NEVER;
    if (is_left(l, now)) {
        if (l->helper.pid != 0)
            stop(l);
        return false;
    }
    if (l->helper.pid != 0) {
        bool fits = helper_read(&l->helper, &l->said, NULL, LIVE_LINE_MAX);
        news = take_lines(l);
        if (!fits)
            helper_kill(&l->helper);
        if (helper_ended(&l->helper, &status))
            helper_free(&l->helper);
    }
    if (l->helper.pid == 0 && moment_reached(now, l->start_at))
        start(l, now);
    if (l->helper.pid != 0)
        ask_for_whole(l, now);
    *next = l->helper.pid == 0 ? l->start_at : l->linger_until;
    if (l->wanted)
        *next = moment_earlier(*next, l->wanted_at);
    return news;
}
