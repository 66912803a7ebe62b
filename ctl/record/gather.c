/* gather: a directory of journals, each life a file, into one archive. What must stay true: what is
 * gathered is what was written; the archive is there as a whole or not at all. */
#include "ctl/record/gather.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/journal/entry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIVES_MAX 4096
#define TAIL_MAX  512 /* bytes: more than an end or a gap takes */

struct life {
    char name[ARCHIVE_NAME_MAX + 1]; /* of the file */
    size_t stem;                     /* of its name: the process */
    long number;                     /* from 1 */
};

struct lives {
    struct life *at;
    size_t count;
};

static int by_process(const void *one, const void *other)
{
    const struct life *a = one, *b = other;
    size_t len = a->stem < b->stem ? a->stem : b->stem;
    int order = memcmp(a->name, b->name, len);
    if (order != 0 || a->stem != b->stem)
        return order != 0 ? order : a->stem < b->stem ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* NAME.N.rec */
static bool is_life(const char *name, struct life *life)
{
    char *end;
    size_t len = strlen(name);
    if (len > ARCHIVE_NAME_MAX || len < 7 || strcmp(name + len - 4, ".rec") != 0)
        return false;
    memcpy(life->name, name, len + 1);
    const char *dot = memrchr(name, '.', len - 4);
    if (dot == NULL || dot == name)
        return false;
    life->stem = (size_t)(dot - name);
    life->number = strtol(dot + 1, &end, 10);
    return end == name + len - 4 && end > dot + 1;
}

static struct lives find(const char *dir)
{
    struct lives lives = {memory_take_array(LIVES_MAX, sizeof(struct life)), 0};
    DIR *entries = opendir(dir);
    const struct dirent *e;
    while (entries != NULL && lives.count < LIVES_MAX && (e = readdir(entries)) != NULL)
        lives.count += is_life(e->d_name, &lives.at[lives.count]);
    if (entries != NULL)
        closedir(entries);
    qsort(lives.at, lives.count, sizeof(*lives.at), by_process);
    return lives;
}

/* Of its process there is no later one. */
static bool is_last(const struct lives *lives, size_t i)
{
    const struct life *a = &lives->at[i], *b = a + 1;
    return i + 1 == lives->count || a->stem != b->stem || memcmp(a->name, b->name, a->stem) != 0;
}

static int open_life(const char *dir, const struct life *life)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", dir, life->name);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

/* An end has no fields but its kind, a gap those two: so the last block begins where it says. */
static bool has_end(int fd, off_t size)
{
    char tail[TAIL_MAX];
    off_t from = size > TAIL_MAX ? size - TAIL_MAX : 0;
    ssize_t got = pread(fd, tail, sizeof(tail), from);
    for (ssize_t at = 0; at + 4 < got; at++) {
        struct journal_cursor c = {tail + at, tail + got};
        struct journal_entry e;
        if (journal_read(&c, &e) == JOURNAL_STEP_entry && c.at == c.end &&
            (e.kind == JOURNAL_end || e.kind == JOURNAL_gap))
            return true;
    }
    return false;
}

struct gathered gather_look(const char *dir)
{
    struct gathered what = {0};
    struct lives lives = find(dir);
    for (size_t i = 0; i < lives.count; i++) {
        struct stat s;
        int fd = open_life(dir, &lives.at[i]);
        bool known = fd >= 0 && fstat(fd, &s) == 0;
        what.lives++;
        what.raw += known ? (uint64_t)s.st_size : 0;
        what.unended += is_last(&lives, i) && !(known && has_end(fd, s.st_size));
        if (fd >= 0)
            close(fd);
    }
    memory_free(lives.at);
    return what;
}

static bool add_file(struct archive *a, int fd, uint64_t *raw)
{
    static char piece[1 << 16];
    ssize_t got;
    while ((got = read(fd, piece, sizeof(piece))) > 0) {
        *raw += (uint64_t)got;
        if (!archive_add(a, piece, (size_t)got))
            return false;
    }
    return got == 0;
}

static bool add_all(const char *dir, struct archive *a, struct gathered *what)
{
    struct lives lives = find(dir);
    bool good = true;
    for (size_t i = 0; i < lives.count && good; i++) {
        struct life *life = &lives.at[i];
        int fd = open_life(dir, life);
        life->name[strlen(life->name) - 4] = 0;
        good = fd >= 0 && archive_begin(a, life->name) && add_file(a, fd, &what->raw);
        what->lives++;
        if (fd >= 0)
            close(fd);
    }
    memory_free(lives.at);
    return good;
}

/* Why the archive cannot be put in its place; empty: it was. */
static void place(const char *made, const char *path, char *why, size_t room)
{
    struct stat s;
    if (lstat(path, &s) == 0)
        snprintf(why, room, "is there already");
    else if (rename(made, path) != 0)
        snprintf(why, room, "%s", strerror(errno));
}

bool gather(const char *dir, const char *path, struct str about, struct gathered *what,
            struct buffer *error)
{
    char made[1024], why[256] = "";
    *what = (struct gathered){0};
    snprintf(made, sizeof(made), "%s.new", path);
    struct archive *a = archive_create(made, why, sizeof(why));
    if (a == NULL) {
        buffer_add_text(error, why);
        return false;
    }
    if (!archive_begin(a, GATHER_ABOUT) || !archive_add(a, about.at, about.len) ||
        !add_all(dir, a, what))
        snprintf(why, sizeof(why), "%s", strerror(errno));
    what->packed = archive_size(a) + 1;
    if (archive_finish(&a, why, sizeof(why)) && why[0] == 0)
        place(made, path, why, sizeof(why));
    if (why[0] == 0)
        return true;
    buffer_print(error, "%s: %s", path, why);
    unlink(made);
    return false;
}

void gather_remove(const char *dir)
{
    struct lives lives = find(dir);
    for (size_t i = 0; i < lives.count; i++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", dir, lives.at[i].name);
        unlink(path);
    }
    rmdir(dir);
    memory_free(lives.at);
}
