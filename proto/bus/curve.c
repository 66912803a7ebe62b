/* curve: key files through CZMQ's certificates. The one idea: the directory is the list of who may
 * connect and as what, read at every handshake. What must stay true: a secret never leaves its file
 * but into struct curve_keys, and no error text holds one; a key's kind is its file's name, which
 * only the directory's owner gives. */
#include "proto/bus/curve.h"
#include "proto/base/log.h"

#include <czmq.h>
#include <sys/stat.h>

static bool key_path(char *out, size_t room, const char *dir, const char *name)
{
    return (size_t)snprintf(out, room, "%s/%s.key", dir, name) < room - 8;
}

/* A warning is all: mounted secrets often come with a wider mode that we cannot change. */
static void warn_if_readable(const char *path)
{
    char secret[PATH_MAX + 8];
    struct stat found;
    snprintf(secret, sizeof(secret), "%s_secret", path);
    if (stat(secret, &found) == 0 && (found.st_mode & 077))
        log_warn("secret key can be read by others|path=\"%s\" mode=%03o", secret,
                 (unsigned)found.st_mode & 0777);
}

/* False when there is no such file. */
static bool load_pair(const char *dir, const char *name, char public[CURVE_KEY_ROOM],
                      char secret[CURVE_KEY_ROOM])
{
    char path[PATH_MAX];
    zcert_t *cert = key_path(path, sizeof(path), dir, name) ? zcert_load(path) : (zcert_t *)NULL;
    if (cert == NULL)
        return false;
    warn_if_readable(path);
    memcpy(public, zcert_public_txt(cert), CURVE_KEY_ROOM - 1);
    /* Without a secret CZMQ gives forty zeros. */
    if (strspn(zcert_secret_txt(cert), "0") < CURVE_KEY_ROOM - 1)
        memcpy(secret, zcert_secret_txt(cert), CURVE_KEY_ROOM - 1);
    zcert_destroy(&cert);
    return true;
}

bool curve_load(struct curve_keys *keys, const char *dir, enum process kind, char *error,
                size_t room)
{
    *keys = (struct curve_keys){0};
    if (!load_pair(dir, "server", keys->server_public, keys->server_secret)) {
        snprintf(error, room, "curve directory %s: no server.key (make the keys with: berth keys)",
                 dir);
        return false;
    }
    load_pair(dir, process_name(kind), keys->own_public, keys->own_secret);
    return true;
}

void curve_say_missing(const char *dir, enum process kind, char *error, size_t room)
{
    const char *name = process_name(kind);
    if (curve_exists(dir, "client"))
        snprintf(
            error, room,
            "curve directory %s: no %s.key_secret; client.key is of an older berth, whose keys "
            "had no kind: run \"berth keys %s\" again",
            dir, name, dir);
    else
        snprintf(error, room, "curve directory %s: no %s.key with its %s.key_secret", dir, name,
                 name);
}

enum half { HALF_missing, HALF_empty, HALF_there };

static enum half half_at(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return errno == ENOENT || errno == ENOTDIR ? HALF_missing : HALF_there;
    return S_ISREG(found.st_mode) && found.st_size == 0 ? HALF_empty : HALF_there;
}

/* The public half and the secret one; both missing when the path is too long. */
static void halves_of(const char *dir, const char *name, enum half halves[2])
{
    char path[PATH_MAX], secret[PATH_MAX + 8];
    halves[0] = halves[1] = HALF_missing;
    if (!key_path(path, sizeof(path), dir, name))
        return;
    snprintf(secret, sizeof(secret), "%s_secret", path);
    halves[0] = half_at(path);
    halves[1] = half_at(secret);
}

bool curve_exists(const char *dir, const char *name)
{
    enum half halves[2];
    halves_of(dir, name, halves);
    return halves[0] == HALF_there || halves[1] == HALF_there;
}

bool curve_broken(const char *dir, const char *name)
{
    enum half halves[2];
    halves_of(dir, name, halves);
    return (halves[0] == HALF_empty && halves[1] == HALF_there) ||
           (halves[0] == HALF_there && halves[1] == HALF_empty);
}

/* CZMQ does not tell that a disk is full, so what was written is read: the public half while there
 * is no secret one, as that would be read in its place. */
static bool reads_as(const char *path, zcert_t *cert, bool secret)
{
    zcert_t *read = half_at(path) == HALF_there ? zcert_load(path) : NULL;
    bool same = read != NULL && streq(zcert_public_txt(read), zcert_public_txt(cert)) &&
                (!secret || streq(zcert_secret_txt(read), zcert_secret_txt(cert)));
    zcert_destroy(&read);
    if (!same)
        errno = 0; /* what it is now says nothing */
    return same;
}

static bool write_pair(zcert_t *cert, const char *path, const char *secret)
{
    (void)unlink(path);
    (void)unlink(secret);
    errno = 0;
    return zcert_save_public(cert, path) == 0 && reads_as(path, cert, false) &&
           zcert_save_secret(cert, secret) == 0 && reads_as(path, cert, true) &&
           chmod(secret, 0600) == 0;
}

bool curve_make(const char *dir, const char *name, char *error, size_t room)
{
    char path[PATH_MAX], secret[PATH_MAX + 8];
    if (!key_path(path, sizeof(path), dir, name)) {
        snprintf(error, room, "%s: path too long", dir);
        return false;
    }
    snprintf(secret, sizeof(secret), "%s_secret", path);
    if (curve_exists(dir, name)) {
        snprintf(error, room, "%s: exists already", path);
        return false;
    }
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        snprintf(error, room, "%s: %s", dir, strerror(errno));
        return false;
    }
    zcert_t *cert = zcert_new();
    mode_t before = umask(0077);
    bool saved = cert != NULL && write_pair(cert, path, secret);
    umask(before);
    if (!saved) {
        snprintf(error, room, "%s: cannot write: %s", path,
                 errno != 0 ? strerror(errno) : "not all of it was taken (is the disk full?)");
        (void)unlink(path);
        (void)unlink(secret);
    }
    zcert_destroy(&cert);
    return saved;
}

enum process curve_role(const char *name)
{
    return process_of((struct str){name, (uint32_t)strcspn(name, "-")});
}

/* The name without its ending, when it is that of a kind's public key. */
static bool is_role_file(const char *file, char name[CURVE_NAME_ROOM])
{
    size_t len = strlen(file);
    if (len <= 4 || len - 4 >= CURVE_NAME_ROOM || strcmp(file + len - 4, ".key") != 0)
        return false;
    memcpy(name, file, len - 4);
    name[len - 4] = 0;
    return curve_role(name) != 0;
}

bool curve_find(const char *dir, const unsigned char key[32], char name[CURVE_NAME_ROOM])
{
    DIR *entries = opendir(dir);
    if (entries == NULL)
        return false;
    bool found = false;
    for (struct dirent *e = readdir(entries); e && !found; e = readdir(entries)) {
        char path[PATH_MAX];
        if (!is_role_file(e->d_name, name) ||
            (size_t)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= sizeof(path))
            continue;
        zcert_t *cert = zcert_load(path);
        found = cert != NULL && memcmp(zcert_public_key(cert), key, 32) == 0;
        zcert_destroy(&cert);
    }
    closedir(entries);
    return found;
}
