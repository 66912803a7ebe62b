/* Helpers without knowledge of Kubernetes on top of proto/base: shared bytes, chance, base64,
 * files.
 *
 * The one idea: what the server stores and sends is a blob, counted and never changed, so that the
 * store, its history and every watcher share one copy. Only the random generator keeps state. */
#include "support.h"

#include "proto/base/random.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

char *memory_string(const char *string)
{
    return memory_copy(string, strlen(string));
}

int64_t clock_ms(void)
{
    return moment_now().ns / 1000000;
}

char *time_seconds_text(int64_t wall_us, char out[static TIME_TEXT])
{
    moment_print_seconds(wall_us, out, TIME_TEXT);
    return out;
}

char *time_micro_text(int64_t wall_us, char out[static TIME_TEXT])
{
    moment_print_micros(wall_us, out, TIME_TEXT);
    return out;
}

int64_t time_parse_us(const char *text)
{
    int64_t us;
    return moment_parse_wall(text, strlen(text), &us) ? us : -1;
}

static struct random *generator(void)
{
    static struct random state;
    static bool seeded;
    if (!seeded)
        state.state = random_seed();
    seeded = true;
    return &state;
}

uint64_t chance_below(uint64_t below)
{
    return random_below(generator(), below);
}

double chance_fraction(void)
{
    return random_fraction(generator());
}

char *chance_uid(char out[static 37])
{
    uint64_t a = random_next(generator()), b = random_next(generator());
    snprintf(out, 37, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffffU, (unsigned)a & 0xfffU,
             ((unsigned)(b >> 48) & 0x3fffU) | 0x8000U,
             (unsigned long long)(b & 0xffffffffffffULL));
    return out;
}

struct blob *blob_new(const char *bytes, size_t size)
{
    struct blob *blob = memory_resize(NULL, sizeof *blob + size + 1);
    blob->refs = 1;
    blob->size = size;
    if (size > 0)
        memcpy(blob->bytes, bytes, size);
    blob->bytes[size] = 0;
    return blob;
}

struct blob *blob_keep(struct blob *blob)
{
    blob->refs++;
    return blob;
}

void blob_drop(struct blob *blob)
{
    if (blob == NULL)
        return;
    must(blob->refs > 0);
    if (--blob->refs == 0)
        memory_free(blob);
}

char *file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return NULL;
    struct buffer text = {0};
    char chunk[4096];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        buffer_add(&text, chunk, got);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed) {
        buffer_free(&text);
        errno = failed;
        return NULL;
    }
    buffer_add(&text, "", 0);
    if (size != NULL)
        *size = text.len;
    return text.at;
}

static const char base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const char *bytes, size_t size)
{
    char *out = memory_take((size + 2) / 3 * 4 + 1);
    char *to = out;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = (uint32_t)(unsigned char)bytes[i] << 16;
        if (i + 1 < size)
            group |= (uint32_t)(unsigned char)bytes[i + 1] << 8;
        if (i + 2 < size)
            group |= (uint32_t)(unsigned char)bytes[i + 2];
        *to++ = base64_letters[group >> 18];
        *to++ = base64_letters[group >> 12 & 63];
        *to++ = (char)(i + 1 < size ? base64_letters[group >> 6 & 63] : '=');
        *to++ = (char)(i + 2 < size ? base64_letters[group & 63] : '=');
    }
    return out;
}

char *base64_decode(const char *string, size_t *size)
{
    char *out = memory_take(strlen(string) + 1);
    size_t used = 0;
    uint32_t bits = 0;
    int count = 0;
    for (; *string && *string != '='; string++) {
        const char *letter = strchr(base64_letters, *string);
        if (letter == NULL) {
            memory_free(out);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)(letter - base64_letters);
        if ((count += 6) >= 8)
            out[used++] = (char)(bits >> (count -= 8) & 0xff);
    }
    if (size != NULL)
        *size = used;
    return out;
}
