/* packed: the codec's bytes are four times smaller than the structs they decode to, so a million
 * pods fit. What must stay true: what was packed here decodes again, always. */
#include "scheduler/table/packed.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

bool packed_set(struct packed *p, const struct record *r, const void *object)
{
    struct buffer bytes = {0};
    codec_encode(r, object, &bytes);
    must(bytes.len <= UINT32_MAX);
    if (p->bytes != NULL && p->len == bytes.len && memcmp(p->bytes, bytes.at, bytes.len) == 0) {
        buffer_free(&bytes);
        return false;
    }
    char *copy = memory_copy(bytes.at, bytes.len);
    packed_free(p);
    *p = (struct packed){copy, (uint32_t)bytes.len};
    buffer_free(&bytes);
    return true;
}

void packed_get(const struct packed *p, const struct record *r, void *object, struct arena *a)
{
    struct byte_cursor in = {(const uint8_t *)p->bytes, (const uint8_t *)p->bytes + p->len};
    bool whole = codec_decode(r, object, &in, a);
    must(whole);
}

void packed_free(struct packed *p)
{
    memory_free(p->bytes);
    *p = (struct packed){0};
}
