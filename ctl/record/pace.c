/* pace: each scheduler writes what it says into a pipe. What must stay true: a decision is shown
 * when the core has said it again and it was the same; nobody waits for who is slow to be shown. */
#include "ctl/record/pace.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct listener {
    int fd; /* -1: it has said all */
    struct buffer bytes;
};

/* ---- one decision ---- */

struct decided {
    const char *what, *sentence; /* for programs, for people */
    struct str space, name, node, message;
};

/* False: it is none. */
static bool read_decision(const struct message *m, struct decided *d)
{
    const struct pod *pod = m->type == MSG_preempt ? &m->preempt.pod : &m->pod_failed.pod;
    *d = (struct decided){.space = pod->namespace_name, .name = pod->name};
    switch (m->type) {
    case MSG_bind:
        *d = (struct decided){"bind",       "goes to",         m->bind.namespace_name,
                              m->bind.name, m->bind.node_name, {0}};
        return true;
    case MSG_preempt:
        d->what = "preempt";
        d->sentence = "gets room on";
        d->node = m->preempt.node_name;
        return true;
    case MSG_pod_failed:
        d->what = "failed";
        d->sentence = "is not placed:";
        d->message = m->pod_failed.message;
        return true;
    default: return false;
    }
}

static void print_text(const struct decided *d, const char *when)
{
    struct str rest = d->message.len > 0 ? d->message : d->node;
    printf("%s  %.*s/%.*s %s %.*s\n", when, STR_ARG(d->space), STR_ARG(d->name), d->sentence,
           STR_ARG(rest));
}

static void print_json(const struct decided *d, const char *when)
{
    struct buffer out = {0};
    buffer_print(&out, "{\"at\":\"%s\",\"decision\":\"%s\",\"namespace\":", when, d->what);
    json_string(&out, d->space);
    buffer_add_text(&out, ",\"name\":");
    json_string(&out, d->name);
    buffer_print(&out, ",\"%s\":", d->message.len > 0 ? "message" : "node");
    json_string(&out, d->message.len > 0 ? d->message : d->node);
    printf("%.*s}\n", STR_ARG(buffer_str(&out)));
    buffer_free(&out);
}

static void show(const struct pace *p, const struct journal_entry *e)
{
    char when[32];
    struct arena memory = {0};
    struct message m;
    struct decided d;
    if ((e->type == MSG_bind || e->type == MSG_preempt || e->type == MSG_pod_failed) &&
        member_decode(e, e->body, &m, &memory) && read_decision(&m, &d)) {
        moment_print_micros(e->wall_us, when, sizeof(when));
        if (p->json)
            print_json(&d, when);
        else
            print_text(&d, when);
        fflush(stdout);
    }
    arena_free(&memory);
}

/* ---- all of them ---- */

static void hear(const struct pace *p, struct listener *l)
{
    char piece[65536];
    ssize_t got = read(l->fd, piece, sizeof(piece));
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close(l->fd);
        l->fd = -1;
        return;
    }
    buffer_add(&l->bytes, piece, (size_t)got);
    struct journal_cursor c = {l->bytes.at, l->bytes.at + l->bytes.len};
    struct journal_entry e;
    while (journal_read(&c, &e) == JOURNAL_STEP_entry)
        show(p, &e);
    size_t used = (size_t)(c.at - l->bytes.at);
    memmove(l->bytes.at, l->bytes.at + used, l->bytes.len - used);
    l->bytes.len -= used;
}

static void hear_all(const struct pace *p, struct listener *all, size_t count)
{
    struct pollfd *fds = memory_take_array(count + 1, sizeof(*fds));
    for (size_t open = 1; open > 0;) {
        open = 0;
        for (size_t i = 0; i < count; i++) {
            fds[i] = (struct pollfd){.fd = all[i].fd, .events = POLLIN};
            open += all[i].fd >= 0;
        }
        if (open == 0 || poll(fds, count, -1) < 0)
            continue;
        for (size_t i = 0; i < count; i++)
            if (all[i].fd >= 0 && fds[i].revents != 0)
                hear(p, &all[i]);
    }
    memory_free(fds);
}

static int64_t beginning(const struct pace *p)
{
    int64_t first = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->lives[i].began_us != 0 && (first == 0 || p->lives[i].began_us < first))
            first = p->lives[i].began_us;
    return first;
}

static bool start(const struct pace *p, struct member *m, struct listener *l, int64_t from_us)
{
    int ends[2] = {-1, -1};
    m->speed = p->speed;
    m->from_us = from_us;
    l->fd = -1;
    if (m->process == SCHEDULER && pipe2(ends, O_CLOEXEC) != 0)
        return false;
    m->told = ends[1] > 0 ? ends[1] : 0;
    l->fd = ends[0];
    member_start(m, p->folder);
    if (ends[1] >= 0)
        close(ends[1]);
    m->told = 0;
    return true;
}

bool pace_play(const struct pace *p)
{
    struct listener *all = memory_take_array(p->count + 1, sizeof(*all));
    int64_t from_us = beginning(p);
    bool good = true;
    for (size_t i = 0; i < p->count; i++)
        good = start(p, &p->lives[i], &all[i], from_us) && good;
    if (!good)
        fprintf(stderr, "berth replay: not all lives can be listened to: %s\n", strerror(errno));
    hear_all(p, all, p->count);
    for (size_t i = 0; i < p->count; i++)
        buffer_free(&all[i].bytes);
    memory_free(all);
    return good;
}
