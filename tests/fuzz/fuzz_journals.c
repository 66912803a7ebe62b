/* fuzz_journals: any bytes as a journal that somebody brings: opening and reading refuse it or come
 * to its end, and what was read is written and read again as the same. An even first byte leaves
 * the rest as the whole file, an odd one as what stands behind a good head. */
#include "proto/base/must.h"
#include "proto/journal/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct journal_entry *e)
{
    static struct buffer bytes;
    struct journal_entry again;
    buffer_reset(&bytes);
    journal_put(&bytes, e);
    struct journal_cursor c = {bytes.at, bytes.at + bytes.len};
    must(journal_read(&c, &again) == JOURNAL_STEP_entry && c.at == c.end);
    must(codec_equal(&journal_entry_record, e, &again));
}

static void read_all(const char *bytes, size_t len)
{
    static struct buffer text;
    struct journal_cursor c = {bytes, bytes + len};
    struct journal_head head;
    struct journal_entry e, before = {.kind = JOURNAL_message, .type = MSG_hello};
    struct arena a = {.limit = 64 * len + 65536};
    enum journal_step step = JOURNAL_STEP_end;
    if (journal_start(&c, &head, &a) == NULL)
        while ((step = journal_read(&c, &e)) == JOURNAL_STEP_entry) {
            check_again(&e);
            buffer_reset(&text);
            compare_explain(&e, &before, &text);
            must(text.len > 0);
            before = e;
        }
    must(c.at <= bytes + len && (step != JOURNAL_STEP_end || c.at == bytes || c.at == c.end));
    must(journal_whole(bytes, len) <= len);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buffer file;
    if (size < 1)
        return 0;
    buffer_reset(&file);
    if (data[0] % 2 == 1)
        journal_put_head(&file, &(struct journal_head){.process = STR_LITERAL("queue")});
    buffer_add(&file, data + 1, size - 1);
    read_all(file.at, file.len);
    return 0;
}
