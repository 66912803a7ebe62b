/* curve: key files through CZMQ's certificates. The one idea: the directory is the list of who may
 * connect, read at every handshake. What must stay true: a secret never leaves its file but into
 * struct curve_keys, and no error text holds one. */
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

bool curve_load(struct curve_keys *keys, const char *dir, char *error, size_t room)
{
    static const char *const names[] = {"server", "client"};
    char *const publics[] = {keys->server_public, keys->client_public};
    char *const secrets[] = {keys->server_secret, keys->client_secret};
    *keys = (struct curve_keys){0};
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX];
        zcert_t *cert =
            key_path(path, sizeof(path), dir, names[i]) ? zcert_load(path) : (zcert_t *)NULL;
        if (cert == NULL) {
            snprintf(error, room, "curve directory %s: no %s.key (make the keys with: berth keys)",
                     dir, names[i]);
            return false;
        }
        warn_if_readable(path);
        memcpy(publics[i], zcert_public_txt(cert), CURVE_KEY_ROOM - 1);
        /* Without a secret CZMQ gives forty zeros. */
        if (strspn(zcert_secret_txt(cert), "0") < CURVE_KEY_ROOM - 1)
            memcpy(secrets[i], zcert_secret_txt(cert), CURVE_KEY_ROOM - 1);
        zcert_destroy(&cert);
    }
    if (keys->client_secret[0] == 0) {
        snprintf(error, room, "curve directory %s: no client.key_secret", dir);
        return false;
    }
    return true;
}

bool curve_make(const char *dir, const char *name, char *error, size_t room)
{
    char path[PATH_MAX], secret[PATH_MAX + 8];
    if (!key_path(path, sizeof(path), dir, name)) {
        snprintf(error, room, "%s: path too long", dir);
        return false;
    }
    snprintf(secret, sizeof(secret), "%s_secret", path);
    if (access(path, F_OK) == 0 || access(secret, F_OK) == 0) {
        snprintf(error, room, "%s: exists already", path);
        return false;
    }
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        snprintf(error, room, "%s: %s", dir, strerror(errno));
        return false;
    }
    zcert_t *cert = zcert_new();
    mode_t before = umask(0077);
    bool saved = cert != NULL && zcert_save_public(cert, path) == 0 &&
                 zcert_save_secret(cert, secret) == 0 && chmod(secret, 0600) == 0;
    umask(before);
    if (!saved)
        snprintf(error, room, "%s: cannot write: %s", path, strerror(errno));
    zcert_destroy(&cert);
    return saved;
}

static bool is_client_file(const char *name)
{
    size_t len = strlen(name);
    return len >= 10 && strncmp(name, "client", 6) == 0 && strcmp(name + len - 4, ".key") == 0;
}

bool curve_is_client(const char *dir, const unsigned char key[32])
{
    DIR *entries = opendir(dir);
    if (entries == NULL)
        return false;
    bool found = false;
    for (struct dirent *e = readdir(entries); e && !found; e = readdir(entries)) {
        char path[PATH_MAX];
        if (!is_client_file(e->d_name) ||
            (size_t)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= sizeof(path))
            continue;
        zcert_t *cert = zcert_load(path);
        found = cert != NULL && memcmp(zcert_public_key(cert), key, 32) == 0;
        zcert_destroy(&cert);
    }
    closedir(entries);
    return found;
}
