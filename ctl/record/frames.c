/* frames: all lives of a recording walked through side by side, the earliest entry first. What must
 * stay true: who a message went to is told as far as the life knows it: by the name under which it
 * heard from that peer. */
#include "ctl/record/frames.h"
#include "ctl/record/gather.h"
#include "ctl/record/member.h"
#include "ctl/recording.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/bus/frame.h"

#include <string.h>
#include <unistd.h>

#define LIVES_MAX 512

struct life {
    struct member member;
    struct journal_head head;
    struct arena memory; /* the head's */
    struct journal_cursor cursor;
    struct journal_entry next;
    bool has_next;
    int64_t wall_us, sequence;
    struct str said;   /* the body of what was said last */
    struct map *peers; /* "KIND NUMBER" to its name, a text */
};

struct lives {
    struct life *at;
    size_t count;
};

/* ---- one life ---- */

static void step(struct life *l)
{
    l->has_next = journal_read(&l->cursor, &l->next) == JOURNAL_STEP_entry;
    if (l->has_next)
        l->wall_us = (int64_t)((uint64_t)l->wall_us + (uint64_t)l->next.wall_us);
}

/* False: it is no journal. */
static bool begin(struct life *l)
{
    const struct member *m = &l->member;
    l->cursor = (struct journal_cursor){m->bytes, m->bytes + m->len};
    l->memory.limit = 64 * m->len + 65536;
    l->peers = map_new();
    if (m->process == 0 || journal_start(&l->cursor, &l->head, &l->memory) != NULL)
        return false;
    step(l);
    return true;
}

static void drop(struct life *l)
{
    size_t at = 0;
    void *name;
    while (map_next(l->peers, &at, NULL, &name))
        memory_free(name);
    map_free(&l->peers);
    arena_free(&l->memory);
    member_free(&l->member);
}

static void peer_key(const struct journal_entry *e, struct buffer *key)
{
    buffer_print(key, "%lld %lld", (long long)e->process, (long long)e->peer);
}

static void learn_peer(struct life *l, const struct journal_entry *e)
{
    struct buffer key = {0};
    peer_key(e, &key);
    if (e->name.len > 0 && map_get(l->peers, buffer_str(&key)) == NULL)
        map_set(l->peers, buffer_str(&key), str_copy(e->name));
    buffer_free(&key);
}

/* To all of a kind where no peer is named. */
static struct str peer_name(const struct life *l, const struct journal_entry *e)
{
    struct buffer key = {0};
    peer_key(e, &key);
    const char *name = map_get(l->peers, buffer_str(&key));
    buffer_free(&key);
    return str_of(name != NULL ? name : process_name((enum process)e->process));
}

/* ---- one frame ---- */

static bool travels(const struct journal_entry *e)
{
    return (e->kind == JOURNAL_delivery || e->kind == JOURNAL_message) && e->type > MSG_none &&
           e->type < MSG_COUNT && message_info[e->type].record != NULL && e->type != MSG_peer_up &&
           e->type != MSG_peer_down;
}

static bool add_frame(struct life *l, FILE *file, struct buffer *frame, struct buffer *tapped)
{
    const struct journal_entry *e = &l->next;
    bool sent = e->kind == JOURNAL_message;
    struct str body = e->body;
    if (sent && body.len == 0)
        body = l->said;
    if (sent)
        l->said = body;
    if (e->kind == JOURNAL_delivery)
        learn_peer(l, e);
    if (!travels(e) || body.len == 0)
        return true;
    frame_build(frame,
                &(struct envelope){.type = e->type,
                                   .link = ++l->sequence,
                                   .term = e->term,
                                   .generation = e->generation,
                                   .epoch = e->epoch,
                                   .sequence = e->sequence,
                                   .part = e->part,
                                   .sent_us = sent ? l->wall_us : e->sent_us},
                body);
    const struct tapped t = {.at_us = l->wall_us,
                             .process = l->head.process,
                             .instance =
                                 l->head.instance.len > 0 ? l->head.instance : l->head.process,
                             .sent = sent,
                             .peer_process = str_of(process_name((enum process)e->process)),
                             .peer_instance = sent ? peer_name(l, e) : e->name,
                             .tap_sequence = l->sequence,
                             .frame = buffer_str(frame)};
    buffer_reset(tapped);
    codec_encode(&tapped_record, &t, tapped);
    return recording_add(file, buffer_str(tapped), 0);
}

/* ---- all of them ---- */

static struct life *earliest(const struct lives *lives)
{
    struct life *first = NULL;
    for (size_t i = 0; i < lives->count; i++) {
        struct life *l = &lives->at[i];
        if (l->has_next && (first == NULL || l->wall_us < first->wall_us))
            first = l;
    }
    return first;
}

static bool merge(struct lives *lives, FILE *file)
{
    struct buffer frame = {0}, tapped = {0};
    bool good = true;
    for (struct life *l; good && (l = earliest(lives)) != NULL; step(l))
        good = add_frame(l, file, &frame, &tapped);
    buffer_free(&frame);
    buffer_free(&tapped);
    return good && fflush(file) == 0;
}

/* What is wrong with the archive; NULL: nothing. */
static const char *load(struct archive *a, struct lives *lives)
{
    const char *wrong = NULL;
    struct member m;
    while (lives->count < LIVES_MAX && member_next(a, &m, &wrong)) {
        struct life *l = &lives->at[lives->count];
        *l = (struct life){.member = m};
        if (begin(l))
            lives->count++;
        else
            drop(l);
    }
    return wrong;
}

bool frames_are_in(const char *path)
{
    char magic[sizeof(ARCHIVE_MAGIC) - 1];
    FILE *file = fopen(path, "rbe");
    bool are = file != NULL && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
               memcmp(magic, ARCHIVE_MAGIC, sizeof(magic) - 2) == 0;
    if (file != NULL)
        fclose(file);
    return are;
}

/* As recording_create makes one, where nobody else finds it. */
static FILE *make_file(char *error, size_t room)
{
    char path[64];
    int fd = member_nameless();
    if (fd < 0) {
        snprintf(error, room, "no room to unpack it");
        return NULL;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    FILE *made = recording_create(path, error, room);
    if (made != NULL)
        fclose(made);
    FILE *file = made != NULL ? fdopen(fd, "r+") : NULL;
    if (file == NULL)
        close(fd);
    else
        fseek(file, 0, SEEK_END);
    return file;
}

FILE *frames_open(const char *path, char *error, size_t room)
{
    struct archive *a = archive_open(path, error, room);
    FILE *file = a != NULL ? make_file(error, room) : NULL;
    if (file == NULL) {
        archive_free(&a);
        return NULL;
    }
    long start = ftell(file);
    struct lives lives = {memory_take_array(LIVES_MAX, sizeof(struct life)), 0};
    const char *wrong = load(a, &lives);
    if (wrong == NULL && !merge(&lives, file))
        wrong = "cannot be unpacked";
    for (size_t i = 0; i < lives.count; i++)
        drop(&lives.at[i]);
    memory_free(lives.at);
    archive_free(&a);
    if (wrong == NULL && fseek(file, start, SEEK_SET) == 0)
        return file;
    snprintf(error, room, "%s: %s", path, wrong != NULL ? wrong : "cannot be unpacked");
    fclose(file);
    return NULL;
}
