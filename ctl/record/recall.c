/* recall: a copy of a life, cut where it stands at a time, with a question behind it. What must
 * stay true: the core is cut off between two things that it is told, never in the middle of one;
 * and an answer counts only of a core that has said the same up to there. */
#include "ctl/record/recall.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASKER UINT32_MAX /* a number that no peer of a life has had */

bool recall_time(const char *text, int64_t *us)
{
    const char *dot = strchr(text, '.');
    int64_t whole = 1000000;
    for (const char *at = dot != NULL ? dot + 1 : ""; *at >= '0' && *at <= '9' && whole > 1; at++)
        whole /= 10;
    if (!moment_parse_wall(text, strlen(text), us) || *us <= 0)
        return false;
    *us += whole - 1;
    return true;
}

/* A core is told it, and is done with all before. */
static bool is_told(int64_t kind)
{
    return kind == JOURNAL_delivery || kind == JOURNAL_turn || kind == JOURNAL_stop ||
           kind == JOURNAL_dump || kind == JOURNAL_end || kind == JOURNAL_gap;
}

struct recall_place recall_find(const struct member *life, int64_t until_us)
{
    struct journal_cursor c = {life->bytes, life->bytes + life->len};
    struct arena memory = {.limit = 64 * life->len + 65536};
    struct recall_place found = {0}, at = {0};
    struct journal_head head;
    struct journal_entry e;
    bool on = life->len > 0 && journal_start(&c, &head, &memory) == NULL;
    for (at.bytes = on ? (size_t)(c.at - life->bytes) : 0;
         on && journal_read(&c, &e) == JOURNAL_STEP_entry; at.entries++) {
        int64_t wall_us = (int64_t)((uint64_t)at.wall_us + (uint64_t)e.wall_us);
        if (is_told(e.kind))
            found = at;
        on = !is_told(e.kind) || wall_us <= until_us;
        if (e.kind == JOURNAL_end || e.kind == JOURNAL_gap)
            break;
        at.wall_us = wall_us;
        at.now_ns = (int64_t)((uint64_t)at.now_ns + (uint64_t)e.now_ns);
        at.bytes = (size_t)(c.at - life->bytes);
    }
    arena_free(&memory);
    return found;
}

/* The clocks go on to the time that is asked for. */
static void put_question(const struct recall *r, const struct recall_place *at, struct buffer *out)
{
    struct buffer body = {0};
    const struct message *m = r->question;
    int64_t later_us =
        r->until_us != RECALL_END && r->until_us > at->wall_us ? r->until_us - at->wall_us : 0;
    codec_encode(message_info[m->type].record, message_body_const(m), &body);
    journal_put(out, &(struct journal_entry){.kind = JOURNAL_delivery,
                                             .now_ns = later_us * 1000,
                                             .wall_us = later_us,
                                             .type = m->type,
                                             .process = TOOL,
                                             .peer = ASKER,
                                             .sent_us = at->wall_us + later_us,
                                             .received_us = at->wall_us + later_us,
                                             .name = STR_LITERAL("berth"),
                                             .body = buffer_str(&body)});
    buffer_free(&body);
}

static bool write_whole(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, bytes, len);
        if (done <= 0)
            return false;
        bytes += done;
        len -= (size_t)done;
    }
    return true;
}

static bool make_copy(const struct recall *r, struct member *copy)
{
    struct buffer question = {0};
    struct recall_place at = recall_find(r->life, r->until_us);
    put_question(r, &at, &question);
    copy->process = r->life->process;
    copy->fd = member_nameless();
    copy->answers = member_nameless();
    bool made = copy->fd >= 0 && copy->answers > 0 &&
                write_whole(copy->fd, r->life->bytes, at.bytes) &&
                write_whole(copy->fd, question.at, question.len);
    buffer_free(&question);
    return made;
}

/* The first message of that type to us. */
static bool read_answer(const struct recall *r, int fd, struct message *answer,
                        struct arena *memory)
{
    struct stat s;
    struct journal_entry e;
    bool found = false;
    size_t len = fstat(fd, &s) == 0 ? (size_t)s.st_size : 0;
    char *bytes = len > 0 ? mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        return false;
    for (struct journal_cursor c = {bytes, bytes + len};
         !found && journal_read(&c, &e) == JOURNAL_STEP_entry;)
        if (e.kind == JOURNAL_message && e.peer == ASKER && e.type == r->wanted) {
            struct arena own = {0};
            struct message m;
            found = member_decode(&e, e.body, &m, &own);
            *answer = (struct message){.type = m.type};
            if (found)
                codec_copy(message_info[m.type].record, message_body(answer), message_body(&m),
                           memory);
            arena_free(&own);
        }
    munmap(bytes, len);
    return found;
}

bool recall_ask(const struct recall *r, struct message *answer, struct arena *memory,
                struct str *error)
{
    struct member copy = {.fd = -1};
    struct str life = str_of(r->life->name);
    bool good = make_copy(r, &copy);
    if (!good)
        *error = arena_print(memory, "%.*s cannot be unpacked", STR_ARG(life));
    if (good) {
        member_start(&copy, r->folder);
        member_finish(&copy);
        good = copy.alike;
        if (!good)
            *error = arena_print(memory, "%.*s does not come out the same: %.*s", STR_ARG(life),
                                 STR_ARG(buffer_str(&copy.said)));
        else if (!(good = read_answer(r, copy.answers, answer, memory)))
            *error = arena_print(memory, "%.*s does not answer", STR_ARG(life));
    }
    if (copy.answers > 0)
        close(copy.answers);
    member_free(&copy);
    return good;
}
