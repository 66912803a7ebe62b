/* file: two buffers: one that is being written (aio, so that a thread of the C library waits for
 * the disk and not the core), and the journal's, which grows meanwhile. What must stay true: the
 * file holds whole entries up to its end, unless the process is killed while it is written. */
#include "proto/journal/file.h"

#include "proto/base/log.h"
#include "proto/base/must.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAITING_MAX (64u << 20) /* bytes that wait for the disk */
#define GAP_ROOM    256         /* bytes: what a gap takes at most */

static struct {
    int fd; /* -1: none is open */
    struct journal *journal;
    struct buffer writing;
    size_t written; /* of these */
    off_t at;       /* where they begin in the file */
    off_t spare;    /* before that: behind a whole entry, with GAP_ROOM from there on */
    bool busy, failed;
    bool ending; /* its last entry is made: it is closed once that is written */
    struct aiocb request;
} file = {.fd = -1};

/* ---- writing ---- */

static bool begin(void)
{
    file.request = (struct aiocb){.aio_fildes = file.fd,
                                  .aio_buf = file.writing.at + file.written,
                                  .aio_nbytes = file.writing.len - file.written,
                                  .aio_offset = file.at + (off_t)file.written};
    file.request.aio_sigevent.sigev_notify = SIGEV_NONE;
    file.busy = aio_write(&file.request) == 0;
    return file.busy;
}

/* Of the file with so much of what is under way. */
static off_t behind_which_is_room(size_t written)
{
    if (written < GAP_ROOM)
        return file.spare;
    return file.at + (off_t)journal_whole(file.writing.at, written - GAP_ROOM);
}

/* Back to a whole entry behind which there is room for the gap. */
static bool fail(int error)
{
    struct buffer gap = {0};
    char reason[128];
    file.failed = true;
    snprintf(reason, sizeof(reason), "cannot write: %s", strerror(error));
    journal_put(&gap, &(struct journal_entry){.kind = JOURNAL_gap, .error = str_of(reason)});
    off_t whole = behind_which_is_room(file.written);
    bool told = ftruncate(file.fd, whole) == 0 &&
                pwrite(file.fd, gap.at, gap.len, whole) == (ssize_t)gap.len;
    log_error("the recording ends here| error=\"%s\" bytes=%lld%s", strerror(error),
              (long long)whole, told ? "" : " note=\"its last entry may be cut\"");
    buffer_free(&gap);
    return false;
}

/* Looks at what is under way; false when it went wrong. */
static bool look(void)
{
    int error = file.busy ? aio_error(&file.request) : 0;
    if (!file.busy || error == EINPROGRESS)
        return true;
    ssize_t got = aio_return(&file.request);
    file.busy = false;
    if (got <= 0)
        return fail(error != 0 ? error : EIO);
    file.written += (size_t)got;
    return file.written == file.writing.len || begin() || fail(errno);
}

/* Nothing of it is under way any more. */
static void close_file(void)
{
    journal_use(NULL);
    must_first(NULL);
    close(file.fd);
    buffer_free(&file.writing);
    journal_free(&file.journal);
    file.fd = -1;
    file.ending = false;
}

static bool push(void *state, struct buffer *bytes)
{
    (void)state;
    if (file.failed || !look())
        return false;
    if (file.busy || bytes->len == 0)
        return true;
    struct buffer empty = file.writing;
    file.spare = behind_which_is_room(file.writing.len);
    file.at += (off_t)file.writing.len;
    file.writing = *bytes;
    file.written = 0;
    *bytes = empty;
    buffer_reset(bytes);
    return begin() || fail(errno);
}

static bool put_at(const struct buffer *bytes, off_t at)
{
    return pwrite(file.fd, bytes->at, bytes->len, at) == (ssize_t)bytes->len;
}

/* A broken invariant ends the process: on what it broke is the last entry. What is under way is
 * written once more, as nobody waits for it. */
static void last_words(void)
{
    const struct buffer *rest = journal_bytes(file.journal);
    off_t behind = file.at + (off_t)file.writing.len;
    if (file.failed || !put_at(&file.writing, file.at) || !put_at(rest, behind))
        log_error("the recording ends before its life does");
}

bool journal_file_create(const char *path, const struct journal_head *head, char *error,
                         size_t room)
{
    must(file.fd < 0);
    file.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file.fd < 0) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        return false;
    }
    file.journal = journal_new(
        head, &(struct journal_options){.most = WAITING_MAX, .bodies = true, .push = push});
    journal_use(file.journal);
    atexit(journal_file_close);
    must_first(last_words);
    return true;
}

void journal_file_end(void)
{
    if (file.fd < 0 || file.ending)
        return;
    journal_finish(file.journal);
    file.ending = true;
    journal_file_flush();
}

bool journal_file_flush(void)
{
    journal_flush();
    bool behind =
        file.ending && !file.failed && (file.busy || journal_bytes(file.journal)->len > 0);
    if (file.ending && !behind && !file.busy)
        close_file();
    return file.ending;
}

void journal_file_close(void)
{
    if (file.fd < 0)
        return;
    struct moment now = moment_now(), until = moment_after(now, span_of_ms(JOURNAL_FILE_WAIT_MS));
    journal_finish(file.journal);
    journal_use(file.journal);
    for (; !moment_reached(now, until); now = moment_now()) {
        journal_flush();
        if (!file.busy)
            break;
        const struct aiocb *const one[] = {&file.request};
        int64_t ms = span_ms(moment_since(until, now)) + 1;
        aio_suspend(one, 1, &(struct timespec){ms / 1000, ms % 1000 * 1000000});
    }
    if (!file.busy) {
        close_file();
        return;
    }
    journal_use(NULL); /* the disk may still be reading what there is */
    must_first(NULL);
    close(file.fd);
    file.fd = -1;
}

/* ---- reading ---- */

struct journal *journal_file_play(const char *path, char *error, size_t room)
{
    struct stat s = {0};
    char why[256];
    struct journal *j = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool there = fd >= 0 && fstat(fd, &s) == 0;
    size_t len = there ? (size_t)s.st_size : 0;
    void *bytes = len > 0 ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (!there || bytes == MAP_FAILED)
        snprintf(error, room, "%s: %s", path, strerror(errno));
    else if ((j = journal_play(bytes, len, why, sizeof(why))) == NULL)
        snprintf(error, room, "%s: %s", path, why);
    if (fd >= 0)
        close(fd);
    journal_use(j);
    return j;
}
