/* decode: what the watcher makes of bytes that an API server sent, for tests/wire/run. The one
 * idea: a recorded list and a recorded watch go through the reflector and the table of kinds, as
 * they do in the watcher, and the messages that come out are printed. What must stay true: nothing
 * here knows which form the bytes have; the reflector finds out. */
#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/codec.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/watch/reflector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN ((struct moment){1000000000})

struct teller {
    const struct kube_resource *kind;
    struct arena arena;
    struct buffer text;
    bool silent;
    uint64_t told;
};

static void tell(struct teller *t, const char *what, const struct kube_json *object)
{
    struct message m = {0};
    struct str key = {0}, error = {0};
    bool good = t->kind->set(object, &m, &key, &t->arena, &error);
    t->told++;
    if (!good && !t->silent)
        printf("%s unreadable: %.*s\n", what, STR_ARG(error));
    if (good && !t->silent) {
        buffer_reset(&t->text);
        codec_print(message_info[m.type].record, message_body_const(&m), &t->text);
        printf("%s %.*s %.*s\n", what, STR_ARG(key), STR_ARG(buffer_str(&t->text)));
    }
    arena_reset(&t->arena);
}

static void on_object(void *context, const struct kube_json *object, bool listed)
{
    tell(context, listed ? "listed" : "set", object);
}

static void on_deleted(void *context, const struct kube_json *object)
{
    tell(context, "deleted", object);
}

static struct str read_file(const char *path)
{
    struct buffer text = {0};
    char piece[65536];
    size_t len;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    while ((len = fread(piece, 1, sizeof(piece), file)) > 0)
        buffer_add(&text, piece, len);
    fclose(file);
    return buffer_str(&text);
}

/* Custom resources have no protobuf. */
static const struct kube_resource *find_kind(const char *kind)
{
    for (size_t i = 0; i < kube_resource_count; i++)
        if (strcmp(kube_resources[i].kind, kind) == 0 && kube_resources[i].offer < KUBE_custom)
            return &kube_resources[i];
    return NULL;
}

static struct reflector *listen_to(struct teller *t)
{
    return reflector_new(&(struct reflector_options){.name = t->kind->name,
                                                     .kind = t->kind->kind,
                                                     .path = t->kind->path,
                                                     .protobuf = true,
                                                     .context = t,
                                                     .object = on_object,
                                                     .deleted = on_deleted});
}

/* False when the reflector does not go on as it does after what is well. */
static bool play(struct reflector *r, struct str list, struct str stream, uint32_t step)
{
    struct moment now = BEGIN;
    struct reflector_request request;
    if (!reflector_next(r, now, &request) || request.watch)
        return false;
    reflector_response(r, now, request.number,
                       &(struct kube_response){.status = 200, .body = list, .error = ""});
    if (!reflector_next(r, now, &request) || !request.watch)
        return false;
    while (stream.len > 0) {
        struct str piece = {stream.at, stream.len < step ? stream.len : step};
        reflector_data(r, now, request.number, piece);
        stream.at += piece.len;
        stream.len -= piece.len;
    }
    return reflector_status(r).state == REFLECTOR_watching;
}

int main(int argc, char **argv)
{
    const struct kube_resource *kind = argc < 4 ? NULL : find_kind(argv[1]);
    if (kind == NULL) {
        fprintf(stderr, "usage: decode KIND LIST STREAM [TIMES]\n");
        return 2;
    }
    log_open("decode", LOG_LEVEL_warn);
    struct str list = read_file(argv[2]), stream = read_file(argv[3]);
    int64_t times = 1;
    if (argc > 4 && !str_to_i64(str_of(argv[4]), &times))
        return 2;
    struct teller t = {.kind = kind, .silent = argc > 4};
    bool good = true;
    struct reflector_status status = {0};
    struct reflector_request next;
    bool lists = false; /* again, at once */
    for (int64_t i = 0; i < times; i++) {
        struct reflector *r = listen_to(&t);
        good = play(r, list, stream, t.silent ? UINT32_MAX : 1009) && good;
        status = reflector_status(r);
        lists = reflector_next(r, BEGIN, &next) && !next.watch;
        reflector_free(&r);
    }
    printf("form=%s version=%lld events=%llu bookmarks=%llu malformed=%llu told=%llu lists=%s "
           "good=%s\n",
           status.protobuf ? "protobuf" : "json", (long long)status.version,
           (unsigned long long)status.events, (unsigned long long)status.bookmarks,
           (unsigned long long)status.malformed, (unsigned long long)t.told, lists ? "yes" : "no",
           good ? "yes" : "no");
    return good ? 0 : 1;
}
