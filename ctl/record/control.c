/* control: one caller at a time, who is there for as long as the recording is. What must stay true:
 * `berth run` never waits for a caller, a recording whose caller is gone ends, and who comes while
 * it lasts is told so at once. */
#include "ctl/record/control.h"
#include "ctl/child.h"
#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MS 2000 /* in which a caller says what it wants */

static bool path_of(const char *run_dir, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    int len = snprintf(at->sun_path, sizeof(at->sun_path), "%s/" CONTROL_SOCKET, run_dir);
    return len > 0 && (size_t)len < sizeof(at->sun_path);
}

void control_open(struct control *c, const char *run_dir)
{
    struct sockaddr_un at;
    *c = (struct control){.door = -1, .caller = -1, .until = MOMENT_NEVER};
    must(path_of(run_dir, &at)); /* as every socket's there, which was looked at */
    unlink(at.sun_path);         /* a former one's: the run directory is ours alone */
    c->door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->door >= 0 && bind(c->door, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
        chmod(at.sun_path, 0600) == 0 && listen(c->door, 4) == 0)
        return;
    log_warn("nothing can be recorded on demand| socket=%s error=\"%s\"", at.sun_path,
             strerror(errno));
    if (c->door >= 0)
        close(c->door);
    c->door = -1;
}

void control_close(struct control *c, const char *run_dir)
{
    struct sockaddr_un at;
    if (c->caller >= 0)
        close(c->caller);
    if (c->door >= 0)
        close(c->door);
    if (c->door >= 0 && path_of(run_dir, &at))
        unlink(at.sun_path);
    c->door = c->caller = -1;
}

int control_fd(const struct control *c)
{
    return c->caller >= 0 ? c->caller : c->door;
}

int control_door_fd(const struct control *c)
{
    return c->caller >= 0 && c->dir[0] != 0 ? c->door : -1;
}

struct moment control_deadline(const struct control *c)
{
    return c->caller >= 0 ? c->until : MOMENT_NEVER;
}

/* A line of ours is shorter than what a socket takes at once; who does not read it misses it. */
static void answer(int to, const char *what, const char *why)
{
    char line[CONTROL_LINE_MAX];
    int len = snprintf(line, sizeof(line), "%s%s\n", what, why);
    if (send(to, line, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_debug("who asked for a recording does not listen| error=\"%s\"", strerror(errno));
}

static enum control_wish hang_up(struct control *c)
{
    bool recorded = c->dir[0] != 0;
    close(c->caller);
    c->caller = -1;
    c->len = 0;
    c->dir[0] = 0;
    return recorded ? CONTROL_end : CONTROL_nothing;
}

static enum control_wish refuse_it(struct control *c, const char *why)
{
    answer(c->caller, "error ", why);
    return hang_up(c);
}

static void take_caller(struct control *c, struct moment now)
{
    struct ucred who = {0};
    socklen_t len = sizeof(who);
    c->caller = accept4(c->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (c->caller < 0)
        return;
    bool known = getsockopt(c->caller, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0;
    c->until = moment_after(now, span_of_ms(LINE_MS));
    if (known && (who.uid == geteuid() || who.uid == 0))
        return;
    log_warn("a recording is refused| uid=%d", known ? (int)who.uid : -1);
    refuse_it(c, "another user's");
}

/* "record SECONDS DIR" */
static enum control_wish take_line(struct control *c, struct moment now, const char *refuse)
{
    struct str rest = {c->line, (uint32_t)c->len - 1}, word = {NULL, 0}, seconds = {NULL, 0};
    int64_t most = 0;
    bool good = str_split(&rest, " ", &word) && str_is(word, "record") &&
                str_split(&rest, " ", &seconds) && str_to_i64(seconds, &most) && most > 0 &&
                most <= CONTROL_SECONDS && rest.len > 0 && rest.at[0] == '/' &&
                memchr(rest.at, 0, rest.len) == NULL;
    c->len = 0;
    if (!good)
        return refuse_it(c, "this is understood: record SECONDS /DIR");
    if (rest.len > CHILD_RECORD_DIR_MAX)
        return refuse_it(c, "the directory's name is too long");
    if (refuse != NULL)
        return refuse_it(c, refuse);
    char dir[sizeof(c->dir)];
    snprintf(dir, sizeof(dir), "%.*s", STR_ARG(rest));
    if (access(dir, W_OK | X_OK) != 0)
        return refuse_it(c, strerror(errno));
    memcpy(c->dir, dir, sizeof(dir));
    c->until = moment_after(now, span_of_seconds((double)most));
    answer(c->caller, "recording", "");
    return CONTROL_record;
}

/* Who comes while it is recorded for another would wait as long as that lasts. */
static void turn_away(const struct control *c)
{
    int other = accept4(c->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (other < 0)
        return;
    answer(other, "error ", "a recording is under way already");
    close(other);
}

static enum control_wish look_at_caller(struct control *c, struct moment now, const char *refuse)
{
    if (c->door >= 0 && c->caller < 0)
        take_caller(c, now);
    if (c->caller < 0)
        return CONTROL_nothing;
    if (moment_reached(now, c->until)) {
        answer(c->caller, c->dir[0] != 0 ? "ended" : "error ",
               c->dir[0] != 0 ? "" : "nothing was asked");
        return hang_up(c);
    }
    ssize_t got = recv(c->caller, c->line + c->len, sizeof(c->line) - c->len, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return CONTROL_nothing;
    if (got <= 0)
        return hang_up(c);
    c->len += (size_t)got;
    if (c->line[c->len - 1] == '\n')
        return take_line(c, now, refuse);
    return c->len < sizeof(c->line) ? CONTROL_nothing : refuse_it(c, "a line is too long");
}

enum control_wish control_look(struct control *c, struct moment now, const char *refuse)
{
    enum control_wish wish = look_at_caller(c, now, refuse);
    if (control_door_fd(c) >= 0) /* not before it is seen that the caller has gone */
        turn_away(c);
    return wish;
}
