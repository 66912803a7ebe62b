/* archive: members in pieces, each compressed by itself, so that neither side holds more than one
 * of them. The only place that knows zstd. What must stay true: no length of the file is believed
 * before it was compared with what there is room for. */
#include "proto/journal/archive.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL     3
#define MAGIC_LEN (sizeof(ARCHIVE_MAGIC) - 1)

struct archive {
    FILE *file;
    bool writes, open; /* open: a member is under way */
    int error;         /* errno of the first write that failed; 0: none did */
    const char *wrong; /* with what is read */
    uint64_t size;
    char name[ARCHIVE_NAME_MAX + 1];
    size_t len; /* bytes in piece that wait to be written */
    char *piece, *packed;
    size_t packed_room;
    ZSTD_CCtx *packer;
};

static struct archive *make(FILE *file, bool writes)
{
    struct archive *a = memory_take(sizeof(*a));
    a->file = file;
    a->writes = writes;
    a->packed_room = ZSTD_compressBound(ARCHIVE_PIECE);
    a->piece = memory_take(ARCHIVE_PIECE);
    a->packed = memory_take(a->packed_room);
    a->packer = writes ? ZSTD_createCCtx() : NULL;
    must(!writes || a->packer != NULL);
    if (writes) {
        ZSTD_CCtx_setParameter(a->packer, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(a->packer, ZSTD_c_checksumFlag, 1);
    }
    return a;
}

void archive_free(struct archive **archive)
{
    struct archive *a = *archive;
    if (a == NULL)
        return;
    if (a->file != NULL)
        fclose(a->file);
    ZSTD_freeCCtx(a->packer);
    memory_free(a->piece);
    memory_free(a->packed);
    memory_free(a);
    *archive = NULL;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* So that it is a plain file's name wherever it is unpacked. */
static bool good_name(const char *name)
{
    size_t len = strlen(name);
    return len > 0 && len <= ARCHIVE_NAME_MAX && strspn(name, LETTERS) > 0 &&
           strspn(name, LETTERS "-_.") == len;
}

/* ---- writing ---- */

static bool put(struct archive *a, const void *bytes, size_t len)
{
    if (a->error == 0 && fwrite(bytes, 1, len, a->file) != len)
        a->error = errno != 0 ? errno : EIO;
    a->size += len;
    return a->error == 0;
}

static bool put_block(struct archive *a, size_t len)
{
    unsigned char head[4];
    for (int i = 0; i < 4; i++)
        head[i] = (unsigned char)(len >> (24 - 8 * i));
    return put(a, head, sizeof(head)) && (len == 0 || put(a, a->packed, len));
}

static bool pack(struct archive *a)
{
    if (a->len == 0)
        return a->error == 0;
    size_t len = ZSTD_compress2(a->packer, a->packed, a->packed_room, a->piece, a->len);
    must(!ZSTD_isError(len)); /* there is room for any piece */
    a->len = 0;
    return put_block(a, len);
}

static bool end_member(struct archive *a)
{
    bool was_open = a->open;
    a->open = false;
    return !was_open || (pack(a) && put_block(a, 0));
}

struct archive *archive_create(const char *path, char *error, size_t room)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct archive *a = make(file, true);
    put(a, ARCHIVE_MAGIC, MAGIC_LEN);
    return a;
}

bool archive_begin(struct archive *a, const char *name)
{
    must(a->writes);
    if (!good_name(name) || !end_member(a))
        return false;
    size_t len = strlen(name);
    const unsigned char head[2] = {'M', (unsigned char)len};
    a->open = true;
    return put(a, head, sizeof(head)) && put(a, name, len);
}

bool archive_add(struct archive *a, const void *bytes, size_t len)
{
    must(a->writes && a->open);
    for (const char *at = bytes; len > 0;) {
        size_t some = ARCHIVE_PIECE - a->len < len ? ARCHIVE_PIECE - a->len : len;
        memcpy(a->piece + a->len, at, some);
        a->len += some;
        at += some;
        len -= some;
        if (a->len == ARCHIVE_PIECE && !pack(a))
            return false;
    }
    return a->error == 0;
}

bool archive_finish(struct archive **archive, char *error, size_t room)
{
    struct archive *a = *archive;
    must(a->writes);
    bool whole = end_member(a) && put(a, "E", 1) && fflush(a->file) == 0;
    if (whole && fsync(fileno(a->file)) != 0)
        whole = errno == EINVAL || errno == EROFS; /* what cannot be waited for: a pipe, a device */
    if (!whole)
        snprintf(error, room, "%s", strerror(a->error != 0 ? a->error : errno));
    archive_free(archive);
    return whole;
}

uint64_t archive_size(const struct archive *a)
{
    return a->size;
}

/* ---- reading ---- */

static bool get(struct archive *a, void *bytes, size_t len)
{
    if (a->wrong != NULL)
        return false;
    if (fread(bytes, 1, len, a->file) != len)
        a->wrong = ferror(a->file) ? "cannot be read" : "is cut off";
    a->size += len;
    return a->wrong == NULL;
}

struct archive *archive_open(const char *path, char *error, size_t room)
{
    char magic[MAGIC_LEN];
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct archive *a = make(file, false);
    bool read = get(a, magic, sizeof(magic));
    if (read && memcmp(magic, ARCHIVE_MAGIC, sizeof(magic)) == 0)
        return a;
    bool version = read && memcmp(magic, ARCHIVE_MAGIC, MAGIC_LEN - 2) == 0;
    snprintf(error, room, "%s: %s", path,
             version ? "is a recording of another version of berth"
                     : "is no recording of berth record");
    archive_free(&a);
    return NULL;
}

struct str archive_read(struct archive *a)
{
    unsigned char head[4];
    struct str none = {NULL, 0};
    must(!a->writes);
    if (!a->open || !get(a, head, sizeof(head)))
        return none;
    size_t len = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (len == 0) {
        a->open = false;
        return none;
    }
    if (len > a->packed_room) {
        a->wrong = "is broken: a block is too long";
        return none;
    }
    if (!get(a, a->packed, len))
        return none;
    size_t unpacked = ZSTD_decompress(a->piece, ARCHIVE_PIECE, a->packed, len);
    if (ZSTD_isError(unpacked) || unpacked == 0) {
        a->wrong = "is broken: a block cannot be unpacked";
        return none;
    }
    return (struct str){a->piece, (uint32_t)unpacked};
}

const char *archive_next(struct archive *a)
{
    unsigned char kind, len;
    while (a->open && a->wrong == NULL)
        archive_read(a);
    if (!get(a, &kind, 1))
        return NULL;
    if (kind == 'E')
        return NULL;
    if (kind != 'M') {
        a->wrong = "is broken: something that is no member";
        return NULL;
    }
    if (!get(a, &len, 1) || len > ARCHIVE_NAME_MAX || !get(a, a->name, len))
        len = 0;
    a->name[len] = 0;
    if (a->wrong == NULL && (strlen(a->name) != len || !good_name(a->name)))
        a->wrong = "is broken: a member has no name";
    a->open = a->wrong == NULL;
    return a->open ? a->name : NULL;
}

const char *archive_wrong(const struct archive *a)
{
    return a->wrong;
}
