/* document: prints MESSAGES.md from the tables that messages.def declares, or, with an argument,
 * the names that proto/clients has of them, so that none can tell another story than the code. */
#include "proto/messages.h"
#include "proto/names.h"

#include <stdio.h>
#include <string.h>

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

static void print_messages(struct buffer *out)
{
    buffer_add_text(out, "<!-- Made by `make docs` from proto/messages.def. -->\n"
                         "# Messages\n\n"
                         "Numbers and tags are never reused; unknown tags are skipped, absent "
                         "fields are zero. The bus contract is in bus/README.md.\n\n"
                         "## Messages\n\n");
    for (int number = 1; number < MSG_COUNT; number++)
        print_message(number, out);
    buffer_add_text(out, "## Records\n\n");
#define RECORD(name_, doc_)                                                                        \
    buffer_print(out, "### `%s`\n\n", name_##_record.name);                                        \
    codec_document(&name_##_record, out);
#include "proto/messages.def"
    buffer_add_text(out, "## Words\n\n");
#define WORDS(name_, prefix, doc)                                                                  \
    buffer_print(out, "### `%s`\n\n%s\n\n", name_##_words.name, doc);                              \
    codec_document_words(&name_##_words, out);
#include "proto/messages.def"
    while (out->len > 1 && out->at[out->len - 2] == '\n')
        out->len--;
}

static const struct {
    const char *name;
    void (*print)(struct buffer *out);
} kinds[] = {{"messages", print_messages},
             {"python", names_python},
             {"go", names_go},
             {"c", names_c},
             {"schema", names_schema}};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "messages";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(wanted, kinds[i].name) != 0)
            continue;
        struct buffer out = {0};
        kinds[i].print(&out);
        const bool whole = fwrite(out.at, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
        buffer_free(&out);
        return whole ? 0 : 1;
    }
    fprintf(stderr, "usage: document [messages|python|go|c|schema]\n");
    return 2;
}
