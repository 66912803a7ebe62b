/* ended: the files NAME.ended of a run directory, written by the supervisor and read by whoever
 * asks how an instance is. What must stay true: there is one only while its process has not lived
 * long since, and nobody reads half of it.
 */
#include "ctl/ended.h"

#include "proto/base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENDING ".ended"

/* NAME.pid becomes NAME.ended, with more behind it. False: it is too long. */
static bool path_of(const char *pid_file, const char *more, char *path, size_t room)
{
    size_t len = strlen(pid_file);
    len -= len > 4 && strcmp(pid_file + len - 4, ".pid") == 0 ? 4 : 0;
    return snprintf(path, room, "%.*s" ENDING "%s", (int)len, pid_file, more) < (int)room;
}

void ended_note(const char *pid_file, unsigned times, int wait_status)
{
    char path[256], made[256];
    bool signaled = WIFSIGNALED(wait_status);
    if (!path_of(pid_file, "", path, sizeof(path)) ||
        !path_of(pid_file, ".new", made, sizeof(made)))
        return;
    FILE *f = fopen(made, "we");
    bool good =
        f != NULL && fprintf(f, "%u %s %d\n", times, signaled ? "signal" : "status",
                             signaled ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status)) > 0;
    if (f != NULL)
        good = fclose(f) == 0 && good;
    if (!good || rename(made, path) != 0)
        unlink(made);
}

void ended_forget(const char *pid_file)
{
    char path[256];
    if (path_of(pid_file, "", path, sizeof(path)))
        unlink(path);
}

/* "7 status 1\n": how often, and of what the last time. */
static bool read_line(struct str line, struct ended *e)
{
    struct str times, what;
    int64_t count, number;
    if (!str_split(&line, " ", &times) || !str_split(&line, " ", &what) ||
        !str_to_i64(times, &count) || count < 1 || count > UINT32_MAX || !str_to_i64(line, &number))
        return false;
    bool signaled = str_is(what, "signal");
    e->times = (unsigned)count;
    snprintf(e->how, sizeof(e->how), "%s %d", signaled ? "by signal" : "with status", (int)number);
    return signaled || str_is(what, "status");
}

static bool read_one(const char *run_dir, const char *file, struct ended *e)
{
    char path[512], line[64];
    size_t len = strlen(file), more = sizeof(ENDING) - 1;
    if (len <= more || len - more >= sizeof(e->name) || strcmp(file + len - more, ENDING) != 0)
        return false;
    snprintf(e->name, sizeof(e->name), "%.*s", (int)(len - more), file);
    snprintf(path, sizeof(path), "%s/%s", run_dir, file);
    FILE *f = fopen(path, "re");
    bool good =
        f != NULL && fgets(line, sizeof(line), f) != NULL && read_line(str_trim(str_of(line)), e);
    if (f != NULL)
        fclose(f);
    return good;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct ended *)one)->name, ((const struct ended *)other)->name);
}

size_t ended_read(const char *run_dir, struct ended *at, size_t room)
{
    DIR *entries = opendir(run_dir);
    size_t count = 0;
    if (entries == NULL)
        return 0;
    for (struct dirent *e = readdir(entries); e != NULL && count < room; e = readdir(entries))
        count += read_one(run_dir, e->d_name, &at[count]);
    closedir(entries);
    if (count > 0)
        qsort(at, count, sizeof(*at), by_name);
    return count;
}
