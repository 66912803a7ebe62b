/* fault: what is wrong with an expression, printed as upstream prints it: in the order of the text,
 * each with its line and a mark below the place. At most a hundred are told, as upstream. */
#include "scheduler/cel/parse.h"
#include "scheduler/cel/text.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_MAX 100u

void fault_add(struct pool *p, struct faults *f, uint32_t at, struct str text)
{
    if (f->count == f->room) {
        uint32_t room = f->room == 0 ? 8 : 2 * f->room;
        struct fault *grown = pool_take_array(p, room, sizeof(*grown));
        if (f->count > 0)
            memcpy(grown, f->at, f->count * sizeof(*grown));
        f->at = grown;
        f->room = room;
    }
    f->at[f->count] = (struct fault){at, text, f->count};
    f->count++;
}

/* The line that the character stands in, its number and the character's place in it. */
static struct str line_of(struct str text, uint32_t at, uint32_t *line, uint32_t *column)
{
    if (text.len == 0)
        text.at = ""; /* an empty expression may come without a place */
    uint32_t begin = 0, end = 0, byte = text_offset(text, at);
    *line = 1;
    for (uint32_t i = 0; i < byte; i++)
        if (text.at[i] == '\n') {
            (*line)++;
            begin = i + 1;
        }
    for (end = begin; end < text.len && text.at[end] != '\n';)
        end++;
    *column = text_runes((struct str){text.at + begin, byte - begin});
    return (struct str){text.at + begin, end - begin};
}

static void print_one(struct buffer *b, const struct fault *f, struct str text)
{
    uint32_t line = 0, column = 0, len = 0, byte = 0;
    struct str source = line_of(text, f->at, &line, &column);
    buffer_print(b, "ERROR: <input>:%u:%u: %.*s\n | ", line, column + 1, STR_ARG(f->text));
    for (uint32_t i = 0; i < source.len; i++)
        buffer_add(b, source.at[i] == '\t' ? " " : source.at + i, 1);
    buffer_add_text(b, "\n | ");
    for (uint32_t i = 0; i < column && byte < source.len; i++, byte += len) {
        text_decode(text_from(source, byte), &len);
        buffer_add_text(b, len > 1 ? "\xef\xbc\x8e" : ".");
    }
    if (byte < source.len)
        text_decode(text_from(source, byte), &len);
    buffer_add_text(b, byte < source.len && len > 1 ? "\xef\xbc\xbe" : "^");
}

static int by_place(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void faults_print(struct buffer *b, struct faults *f, struct str text)
{
    if (f->count > 0)
        qsort(f->at, f->count, sizeof(*f->at), by_place);
    for (uint32_t i = 0; i < f->count && i < TOLD_MAX; i++) {
        buffer_add_text(b, i > 0 ? "\n" : "");
        print_one(b, &f->at[i], text);
    }
    if (f->count > TOLD_MAX)
        buffer_print(b, "\n%u more errors were truncated", f->count - TOLD_MAX);
}
