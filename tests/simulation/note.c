/* note: makes of what was traced while an action was done a comment that a person reads. What must
 * stay true: a note is one line, of printable characters, and as long as it may be at most. */
#include "tests/simulation/note.h"

#include "proto/base/must.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define WORD_ROOM 64
#define WORDS_MAX 24

static struct note *into;

struct note *notes_new(uint32_t count)
{
    void *at = count == 0 ? NULL
                          : mmap(NULL, count * sizeof(struct note), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(at != MAP_FAILED);
    return at;
}

void notes_free(struct note *notes, uint32_t count)
{
    if (notes != NULL)
        munmap(notes, count * sizeof(*notes));
}

void note_into(struct note *note)
{
    into = note;
}

bool note_is_wanted(void)
{
    return into != NULL;
}

static void say(const char *text, size_t len)
{
    size_t have = strlen(into->text);
    for (size_t i = 0; i < len && have < sizeof(into->text) - 1; i++, have++) {
        into->text[have] = text[i];
        if (text[i] < ' ' || text[i] > '~')
            into->text[have] = ' ';
    }
    into->text[have] = 0;
}

/* ---- what users ask ---- */

/* Text between quotes, as far as there is room; returns what stands behind it. */
static const char *quoted(const char *at, char *out)
{
    const char *end = strchr(at + 1, '"');
    size_t len = end != NULL ? (size_t)(end - at - 1) : strlen(at + 1);
    snprintf(out, WORD_ROOM, "%.*s", (int)len, at + 1);
    return end != NULL ? end + 1 : at + 1 + len;
}

static bool is_of_interest(const char *key, const char *value)
{
    static const char *const dull[] = {"kind", "apiVersion", "image", "operator",
                                       "kubernetes.io/hostname"};
    for (size_t i = 0; i < sizeof(dull) / sizeof(dull[0]); i++)
        if (strcmp(key, dull[i]) == 0)
            return false;
    return strcmp(value, "default-scheduler") != 0;
}

/* Each key's first value, where that is no object. */
static void say_json(const char *at, const char *end)
{
    char keys[WORDS_MAX][WORD_ROOM], value[WORD_ROOM], word[2 * WORD_ROOM + 2];
    for (size_t count = 0; count < WORDS_MAX && (at = strchr(at, '"')) != NULL && at < end;) {
        bool known = false;
        at = quoted(at, keys[count]);
        if (*at != ':' || at[1] == '{' || at[1] == '[')
            continue;
        if (*++at == '"') {
            at = quoted(at, value);
        } else {
            size_t len = strcspn(at, ",}]");
            snprintf(value, sizeof(value), "%.*s", (int)len, at);
            at += len;
        }
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(keys[i], keys[count]) == 0;
        const char *slash = strrchr(keys[count], '/');
        if (!known && is_of_interest(keys[count], value))
            say(word, (size_t)snprintf(word, sizeof(word), " %s=%s",
                                       slash != NULL ? slash + 1 : keys[count], value));
        count += !known;
    }
}

/* What stands behind the version, and behind the namespace. */
static const char *end_of_path(const char *path)
{
    const char *version = strstr(path, "/v1");
    const char *rest = version != NULL ? strchr(version + 1, '/') : NULL;
    const char *space = strstr(path, "/default/");
    return space != NULL ? space + strlen("/default/") : rest != NULL ? rest + 1 : path;
}

static void say_request(const char *line)
{
    static const char *const verbs[][2] = {
        {"POST ", "creates "}, {"PATCH ", "changes "}, {"DELETE ", "deletes "}};
    const char *code = strstr(line, " -> ");
    const char *path = strchr(line, ' ');
    const char *end = path != NULL ? strchr(path + 1, ' ') : NULL;
    if (code == NULL || end == NULL) {
        say(line, strlen(line));
        return;
    }
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strncmp(line, verbs[i][0], strlen(verbs[i][0])) == 0)
            say(verbs[i][1], strlen(verbs[i][1]));
    path = end_of_path(path + 1);
    if (path < end)
        say(path, (size_t)(end - path));
    say_json(end, code);
    if (code[4] != '2')
        say(code, strlen(code));
}

void note_add(const char *line)
{
    static const char users[] = "users: ";
    if (into == NULL)
        return;
    if (into->text[0] != 0)
        say("; ", 2);
    if (strncmp(line, users, strlen(users)) == 0 && strchr(line, '/') != NULL)
        say_request(line + strlen(users));
    else
        say(line, strcspn(line, "\n"));
}
