/* The structs and the tagged union that messages.def declares. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "proto/codec.h"

/* The kinds of process, as bits so that messages.def can name several. TOOL is berth itself. */
enum process {
    WATCHER = 1 << 0,
    QUEUE = 1 << 1,
    SCHEDULER = 1 << 2,
    WORKER = 1 << 3,
    BINDER = 1 << 4,
    TOOL = 1 << 5,
    EXTENDER = 1 << 6,
    PLUGIN = 1 << 7, /* of a configuration; not one of ours */
    ANY = (1 << 8) - 1
};

#define PROCESS_COUNT 8

/* "watcher", …; "?" for anything that is not exactly one kind. */
const char *process_name(enum process process);
/* 0 when the name is unknown. */
enum process process_of(struct str name);

enum fence { OPEN, FENCED };

/* clang-format off */
#define CTYPE_bool bool
#define CTYPE_i64 int64_t
#define CTYPE_str struct str
#define CTYPE_strs struct strs

/* The sets of words first, as records hold their values. */
#define WORDS(name, prefix, doc) extern const struct words name##_words; enum name { prefix##_none,
#define WORD(name, prefix, id, text, doc) prefix##_##id,
#define WORDS_END(name) };
#include "proto/messages.def"

/* Fields stand in the order of their tags, whatever the padding. */
/* NOLINTBEGIN(clang-analyzer-optin.performance.Padding) */
#define RECORD(name, doc) struct name {
#define MESSAGE(number, name, from, to, fence, doc) struct name { char nothing_;
#define FIELD(owner, tag, kind, name, doc) CTYPE_##kind name;
#define LIST(owner, tag, record, name, doc) struct { uint32_t count; struct record *at; } name;
#define ONE(owner, tag, record, name, doc) struct record name;
#define ONE_OF(owner, tag, words, name, doc) enum words name;
#define END(owner) };
#include "proto/messages.def"
/* NOLINTEND(clang-analyzer-optin.performance.Padding) */

/* The tags by name, for whoever looks into an encoded record: TAG_pod_name. */
#define FIELD(owner, tag, kind, name, doc)  TAG_##owner##_##name = (tag),
#define LIST(owner, tag, record, name, doc) TAG_##owner##_##name = (tag),
#define ONE(owner, tag, record, name, doc)  TAG_##owner##_##name = (tag),
#define ONE_OF(owner, tag, words, name, doc) TAG_##owner##_##name = (tag),
enum message_tag {
#include "proto/messages.def"
    TAG_none = 0
};

#define MESSAGE(number, name, from, to, fence, doc) MSG_##name = (number),
enum message_type {
    MSG_none = 0,
#include "proto/messages.def"
    MSG_COUNT = 133 /* above every number; the compiler complains when it is not */
};

/* One received or outgoing message: read .type, then the member of that name. */
struct message {
    enum message_type type;
    union {
#define MESSAGE(number, name, from, to, fence, doc) struct name name;
#include "proto/messages.def"
    };
};

/* Descriptors of records that are used outside of a message too. */
#define RECORD(name, doc) extern const struct record name##_record;
#include "proto/messages.def"
/* clang-format on */

struct message_info {
    const struct record *record; /* NULL: no message has this number */
    enum process from, to;
    enum fence fence;
};

/* Indexed by message_type; numbers between messages have a NULL record. */
extern const struct message_info message_info[MSG_COUNT];

/* The address of the member of the union, for the codec. */
void *message_body(struct message *m);
const void *message_body_const(const struct message *m);
/* MSG_none when no message has that name. */
enum message_type message_type_of(struct str name);

#endif
