/* errands: a table of them. What must stay true: at most ERRANDS_AT_ONCE run, in the order in which
 * they came, and whatever becomes of one it gives its place back. */
#include "ctl/serve/errands.h"

#include "ctl/serve/helper.h"
#include "proto/base/arena.h"
#include "proto/base/memory.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 20 /* until one that has closed its output has ended */

struct errand {
    int64_t number; /* 0: the place is free */
    enum { ERRAND_waits, ERRAND_runs, ERRAND_done } state;
    struct arena memory;
    char **argv;
    struct str input;
    struct helper helper;
    struct moment deadline;
    bool too_much;
    struct errand_answer answer;
};

struct errands {
    struct errand at[ERRANDS_MAX];
    int64_t last;
    int epoll_fd;
};

struct errands *errands_new(int epoll_fd)
{
    struct errands *e = memory_take(sizeof(*e));
    e->epoll_fd = epoll_fd;
    return e;
}

static void clear(struct errand *one)
{
    helper_free(&one->helper);
    arena_free(&one->memory);
    buffer_free(&one->answer.out);
    buffer_free(&one->answer.err);
    *one = (struct errand){.helper = HELPER_NONE};
}

void errands_free(struct errands **errands)
{
    if (*errands == NULL)
        return;
    for (size_t i = 0; i < ERRANDS_MAX; i++)
        if ((*errands)->at[i].number != 0)
            clear(&(*errands)->at[i]);
    memory_free(*errands);
    *errands = NULL;
}

int64_t errands_add(struct errands *e, struct moment now, const char *const *argv, struct str input)
{
    struct errand *one = NULL;
    for (size_t i = 0; i < ERRANDS_MAX && one == NULL; i++)
        if (e->at[i].number == 0)
            one = &e->at[i];
    if (one == NULL)
        return 0;
    size_t count = 0;
    while (argv[count] != NULL)
        count++;
    *one = (struct errand){.number = ++e->last, .helper = HELPER_NONE};
    one->argv = arena_take(&one->memory, (count + 1) * sizeof(*one->argv));
    for (size_t i = 0; i < count; i++)
        one->argv[i] = (char *)arena_copy(&one->memory, str_of(argv[i])).at;
    one->argv[count] = NULL;
    one->input = arena_copy(&one->memory, input);
    one->deadline = moment_after(now, span_of_ms(ERRANDS_TIME_MS));
    return one->number;
}

bool errands_take(struct errands *e, int64_t number, struct errand_answer *answer)
{
    *answer = (struct errand_answer){.finished = false};
    for (size_t i = 0; i < ERRANDS_MAX; i++) {
        struct errand *one = &e->at[i];
        if (one->number != number)
            continue;
        if (one->state != ERRAND_done)
            return false;
        *answer = one->answer;
        one->answer = (struct errand_answer){.finished = false};
        clear(one);
        return true;
    }
    return true;
}

/* A pipe takes as much as a request's body may have, so it is written at once. */
static bool start(struct errands *e, struct errand *one)
{
    if (!helper_start(&one->helper, one->argv))
        return false;
    bool written = one->input.len == 0 ||
                   write(one->helper.in, one->input.at, one->input.len) == (ssize_t)one->input.len;
    close(one->helper.in);
    one->helper.in = -1;
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? one->helper.out : one->helper.err;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        written = written && epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
    }
    one->state = ERRAND_runs;
    return written;
}

static void end(struct errand *one, struct moment now, bool finished, int status)
{
    helper_free(&one->helper);
    one->state = ERRAND_done;
    one->answer.finished = finished && WIFEXITED(status) && !one->too_much;
    one->answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    one->deadline = moment_after(now, span_of_ms(ERRANDS_KEEP_MS));
}

/* True when it has ended. */
static bool go_on(struct errand *one, struct moment now)
{
    int status = 0;
    struct helper *h = &one->helper;
    one->too_much |= !helper_read(h, &one->answer.out, &one->answer.err, ERRANDS_ANSWER);
    bool over = h->out < 0 && h->err < 0 && helper_ended(h, &status);
    if (!over && !moment_reached(now, one->deadline) && !one->too_much)
        return false;
    end(one, now, over, status);
    return true;
}

static struct errand *oldest_waiting(struct errands *e)
{
    struct errand *oldest = NULL;
    for (size_t i = 0; i < ERRANDS_MAX; i++) {
        struct errand *one = &e->at[i];
        if (one->number != 0 && one->state == ERRAND_waits &&
            (oldest == NULL || one->number < oldest->number))
            oldest = one;
    }
    return oldest;
}

static size_t running(const struct errands *e)
{
    size_t count = 0;
    for (size_t i = 0; i < ERRANDS_MAX; i++)
        count += e->at[i].number != 0 && e->at[i].state == ERRAND_runs;
    return count;
}

bool errands_work(struct errands *e, struct moment now, struct moment *next)
{
    bool news = false;
    struct errand *one;
    *next = MOMENT_NEVER;
    for (size_t i = 0; i < ERRANDS_MAX; i++) {
        one = &e->at[i];
        if (one->number != 0 && one->state == ERRAND_runs)
            news |= go_on(one, now);
        else if (one->number != 0 && moment_reached(now, one->deadline))
            one->state == ERRAND_done ? clear(one) : end(one, now, false, 0);
    }
    while (running(e) < ERRANDS_AT_ONCE && (one = oldest_waiting(e)) != NULL)
        if (!start(e, one)) {
            end(one, now, false, 0);
            news = true;
        }
    for (size_t i = 0; i < ERRANDS_MAX; i++) {
        one = &e->at[i];
        if (one->number != 0)
            *next = moment_earlier(*next, one->deadline);
        if (one->number != 0 && one->state == ERRAND_runs && one->helper.out < 0)
            *next = moment_earlier(*next, moment_after(now, span_of_ms(POLL_MS)));
    }
    return news;
}
