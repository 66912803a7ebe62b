/* facts: reading what processes say of themselves, and keeping what checks find. What must stay
 * true: of thousands of things alike a check names a few, and says how many there are.
 */
#include "ctl/doctor/facts.h"

#include "proto/base/buffer.h"
#include "proto/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_ROOM 1024

static struct finding *add(struct findings_list *out)
{
    if (out->count == out->room) {
        out->room = out->room * 2 + 16;
        out->at = memory_resize(out->at, out->room * sizeof(*out->at));
    }
    return &out->at[out->count++];
}

void find(struct findings_list *out, const struct check *check, struct str object, int64_t since_s,
          const char *format, ...)
{
    char text[TEXT_ROOM];
    va_list args;
    if (out->of_check++ >= FINDINGS_MOST)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    *add(out) = (struct finding){.check = check->name,
                                 .object = arena_copy(&out->memory, object),
                                 .since_s = since_s,
                                 .text = arena_copy(&out->memory, str_of(text)),
                                 .advice = check->advice};
}

static void look_with(const struct facts *f, const struct check *check, struct findings_list *out)
{
    out->of_check = 0;
    check->look(f, check, out);
    if (out->of_check <= FINDINGS_MOST)
        return;
    *add(out) = (struct finding){
        .check = check->name,
        .object = STR_LITERAL("more"),
        .since_s = -1,
        .text = arena_print(&out->memory, "the same of %u more", out->of_check - FINDINGS_MOST),
        .advice = check->advice};
}

void doctor_look(const struct facts *f, struct findings_list *out)
{
    for (size_t i = 0; i < process_check_count; i++)
        look_with(f, &process_checks[i], out);
    for (size_t i = 0; i < pod_check_count; i++)
        look_with(f, &pod_checks[i], out);
}

void findings_free(struct findings_list *out)
{
    memory_free(out->at);
    arena_free(&out->memory);
    *out = (struct findings_list){0};
}

/* ---- what a process says of itself ---- */

struct str status_line(const struct status *s, const char *key)
{
    for (uint32_t i = 0; i < s->lines.count; i++)
        if (str_is(s->lines.at[i].key, key))
            return s->lines.at[i].value;
    for (uint32_t i = 0; i < s->counters.count; i++)
        if (str_is(s->counters.at[i].key, key))
            return s->counters.at[i].value;
    return (struct str){NULL, 0};
}

struct str status_word(const struct status *s, const char *key, const char *field)
{
    struct str line = status_line(s, key);
    size_t len = strlen(field);
    for (uint32_t i = 0; i + len < line.len; i++) {
        bool begins = i == 0 || line.at[i - 1] == ' ';
        if (!begins || memcmp(line.at + i, field, len) != 0 || line.at[i + len] != '=')
            continue;
        struct str word = {line.at + i + len + 1, 0};
        while (word.at + word.len < line.at + line.len && word.at[word.len] != ' ')
            word.len++;
        return word;
    }
    return (struct str){NULL, 0};
}

int64_t status_number(const struct status *s, const char *key, const char *field)
{
    int64_t value;
    struct str word = *field != 0 ? status_word(s, key, field) : status_line(s, key);
    return str_to_i64(word, &value) ? value : -1;
}

bool is_same_life(const struct process_fact *p)
{
    return p->answered && p->answered_before && p->now.pid == p->before.pid;
}

int64_t grown(const struct process_fact *p, const char *key, const char *field)
{
    int64_t now = status_number(&p->now, key, field);
    int64_t before = status_number(&p->before, key, field);
    return is_same_life(p) && now > before && before >= 0 ? now - before : 0;
}

bool is_kind(const struct process_fact *p, enum process kind)
{
    return p->answered && str_is(p->now.process, process_name(kind));
}

bool is_settled(const struct facts *f, const struct process_fact *p)
{
    return p->answered && p->now.uptime_ms >= f->young_s * 1000;
}
