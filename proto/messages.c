/* messages: the descriptor tables that messages.def declares, and small look-ups in them. Nothing
 * is written here by hand that the .def could say. */
#include "proto/messages.h"

/* clang-format off */

/* The sets of words, each with its table. */
#define WORDS(name, prefix, doc) static const struct words_entry name##_list[] = {
#define WORD(name, prefix, id, text, doc) {{text, sizeof(text) - 1}, doc},
#define WORDS_END(name_) };                                                  \
    const struct words name_##_words = {                                     \
        #name_, name_##_list, sizeof(name_##_list) / sizeof(name_##_list[0])};
#include "proto/messages.def"

/* First pass: name every record, so that lists may point at one declared later. */
#define MESSAGE(number, name, from, to, fence, doc) static const struct record name##_record;
#include "proto/messages.def"

/* Second pass: the fields of each; the last entry only closes the table. */
#define RECORD(name, doc) static const struct field name##_fields[] = {
#define MESSAGE(number, name, from, to, fence, doc) RECORD(name, doc)
#define FIELD(owner, tag, kind, name, doc) \
    {tag, KIND_##kind, offsetof(struct owner, name), NULL, NULL, #name, doc},
#define LIST(owner, tag, record, name, doc) \
    {tag, KIND_list, offsetof(struct owner, name), &record##_record, NULL, #name, doc},
#define ONE(owner, tag, record, name, doc) \
    {tag, KIND_one, offsetof(struct owner, name), &record##_record, NULL, #name, doc},
#define ONE_OF(owner, tag, words, name, doc) \
    {tag, KIND_word, offsetof(struct owner, name), NULL, &words##_words, #name, doc},
#define END(owner) {0, 0, 0, NULL, NULL, NULL, NULL}};
#include "proto/messages.def"

/* Third pass: the records themselves. */
#define DESCRIPTOR(name_, doc_)                                             \
    const struct record name_##_record = {                                  \
        .name = #name_, .doc = (doc_),                                      \
        .size = sizeof(struct name_), .fields = name_##_fields,             \
        .field_count = sizeof(name_##_fields) / sizeof(name_##_fields[0]) - 1};
#define RECORD(name, doc) DESCRIPTOR(name, doc)
#define MESSAGE(number, name, from, to, fence, doc) static DESCRIPTOR(name, doc)
#include "proto/messages.def"

const struct message_info message_info[MSG_COUNT] = {
#define MESSAGE(number, name, from_, to_, fence_, doc) \
    [MSG_##name] = {.record = &name##_record, .from = (from_), .to = (to_), .fence = (fence_)},
#include "proto/messages.def"
};
/* clang-format on */

static const char *const process_names[PROCESS_COUNT] = {"watcher", "queue", "scheduler", "worker",
                                                         "binder",  "tool",  "extender",  "plugin"};

const char *process_name(enum process process)
{
    for (int i = 0; i < PROCESS_COUNT; i++)
        if ((int)process == 1 << i)
            return process_names[i];
    return "?";
}

enum process process_of(struct str name)
{
    for (int i = 0; i < PROCESS_COUNT; i++)
        if (str_is(name, process_names[i]))
            return (enum process)(1 << i);
    return (enum process)0;
}

/* Every member of the union starts at the same address. */
void *message_body(struct message *m)
{
    return &m->hello;
}

const void *message_body_const(const struct message *m)
{
    return &m->hello;
}

enum message_type message_type_of(struct str name)
{
    for (int type = 1; type < MSG_COUNT; type++)
        if (message_info[type].record != NULL && str_is(name, message_info[type].record->name))
            return (enum message_type)type;
    return MSG_none;
}
