/* document: prints MESSAGES.md from the tables that messages.def declares, so that the document
 * cannot tell another story than the code. */
#include "proto/messages.h"

#include <stdio.h>

static void print_set(enum process set, struct buffer *out)
{
    if (set == ANY) {
        buffer_add_text(out, "any");
        return;
    }
    const char *between = "";
    for (int i = 0; i < PROCESS_COUNT; i++) {
        if ((set & 1 << i) == 0)
            continue;
        buffer_print(out, "%s%s", between, process_name((enum process)(1 << i)));
        between = ", ";
    }
}

static void print_message(int number, struct buffer *out)
{
    const struct message_info *info = &message_info[number];
    if (info->record == NULL)
        return;
    buffer_print(out, "### %d `%s`\n\n", number, info->record->name);
    print_set(info->from, out);
    buffer_add_text(out, " → ");
    print_set(info->to, out);
    buffer_print(out, "%s\n\n", info->fence == FENCED ? " · fenced by term and generation" : "");
    codec_document(info->record, out);
}

int main(void)
{
    struct buffer out = {0};
    buffer_add_text(&out, "<!-- Made by `make docs` from proto/messages.def. -->\n"
                          "# Messages\n\n"
                          "Numbers and tags are never reused; unknown tags are skipped, absent "
                          "fields are zero. The bus contract is in bus/README.md.\n\n"
                          "## Messages\n\n");
    for (int number = 1; number < MSG_COUNT; number++)
        print_message(number, &out);
    buffer_add_text(&out, "## Records\n\n");
#define RECORD(name_, doc_)                                                                        \
    buffer_print(&out, "### `%s`\n\n", name_##_record.name);                                       \
    codec_document(&name_##_record, &out);
#include "proto/messages.def"
    buffer_add_text(&out, "## Words\n\n");
#define WORDS(name_, prefix, doc)                                                                  \
    buffer_print(&out, "### `%s`\n\n%s\n\n", name_##_words.name, doc);                             \
    codec_document_words(&name_##_words, &out);
#include "proto/messages.def"
    while (out.len > 1 && out.at[out.len - 2] == '\n')
        out.len--;
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
    return 0;
}
