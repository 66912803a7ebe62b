/* kept: files of keys. What must stay true: a name in the directory is that of a whole file, so
 * that a start whose disk was full, or that was killed, leaves nothing that the next one stumbles
 * over. */
#include "ctl/serve/kept.h"

#include "ctl/serve/certificate.h"
#include "ctl/serve/flags.h"
#include "proto/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (1 << 20)

struct kept_file {
    char path[SERVE_PATH_ROOM], new[SERVE_PATH_ROOM + 8];
};

bool kept_read(struct buffer *into, const char *flag, const char *path)
{
    char piece[4096];
    size_t got;
    FILE *file = path != NULL && *path != 0 ? fopen(path, "re") : NULL;
    if (path == NULL || *path == 0)
        return true;
    if (file == NULL) {
        log_error("--%s: cannot read %s: %s", flag, path, strerror(errno));
        return false;
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0 && into->len < FILE_MAX_BYTES)
        buffer_add(into, piece, got);
    bool good = !ferror(file) && into->len > 0;
    fclose(file);
    if (!good)
        log_error("--%s: %s is empty or cannot be read", flag, path);
    return good;
}

static bool say(const char *path)
{
    log_error("--cert-dir: cannot write %s: %s", path, strerror(errno));
    return false;
}

/* A disk that gets full takes a part first, and says why when it is asked to take the rest. */
static bool write_all(int fd, const struct buffer *text)
{
    for (size_t done = 0; done < text->len;) {
        ssize_t put = write(fd, text->at + done, text->len - done);
        if (put < 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

/* What an earlier start may have left is taken away first, whatever its mode is. */
static bool write_new(const struct kept_file *f, const struct buffer *text, mode_t mode)
{
    (void)unlink(f->new);
    int fd = open(f->new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool written = fd >= 0 && write_all(fd, text) && fsync(fd) == 0;
    if (fd >= 0 && close(fd) != 0)
        written = false;
    return written || say(f->new);
}

static bool rename_pair(const struct kept_file *certificate, const struct kept_file *key)
{
    if (rename(key->new, key->path) != 0)
        return say(key->path);
    if (rename(certificate->new, certificate->path) == 0)
        return true;
    say(certificate->path);
    (void)unlink(key->path);
    return false;
}

static void name_files(const char *dir, struct kept_file *certificate, struct kept_file *key)
{
    serve_kept_path(dir, ".crt", certificate->path);
    serve_kept_path(dir, ".key", key->path);
    snprintf(certificate->new, sizeof(certificate->new), "%s.new", certificate->path);
    snprintf(key->new, sizeof(key->new), "%s.new", key->path);
}

bool kept_pair(const char *dir, const char *address, struct buffer *certificate, struct buffer *key)
{
    struct kept_file crt_file, key_file;
    struct buffer why = {0};
    name_files(dir, &crt_file, &key_file);
    if (!serve_kept_whole(dir))
        return false;
    if (serve_kept_there(key_file.path))
        return kept_read(certificate, "cert-dir", crt_file.path) &&
               kept_read(key, "cert-dir", key_file.path);
    if (mkdir(dir, 0755) != 0 && errno != EEXIST) {
        log_error("--cert-dir: cannot make %s: %s", dir, strerror(errno));
        return false;
    }
    bool made = certificate_make(address, certificate, key, &why);
    if (!made)
        log_error("%s", why.at);
    buffer_free(&why);
    bool kept = made && write_new(&key_file, key, 0600) &&
                write_new(&crt_file, certificate, 0644) && rename_pair(&crt_file, &key_file);
    if (!kept) {
        (void)unlink(key_file.new);
        (void)unlink(crt_file.new);
    }
    return kept;
}
