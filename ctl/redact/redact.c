/* redact: `berth record --redact`: notes all names in a recording, draws others, changes them in
 * everything that cores were told and said, and has the result played back. What must stay true:
 * there is a file only if no name was found in it, and the programs themselves say of every life
 * that it comes out identical: so decisions are the same under other names. */
#include "ctl/redact/redact.h"

#include "ctl/record/gather.h"
#include "ctl/record/member.h"
#include "ctl/redact/life.h"
#include "ctl/redact/names.h"
#include "ctl/redact/order.h"
#include "proto/journal/archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRAWS 4

struct work {
    struct redaction *redaction;
    struct names *names;
    struct archive *made;
    struct buffer *error;
    const char *life; /* that is being written */
    bool learned;     /* a number that was not known */
};

static bool fail(const struct work *w, const char *what, const char *why)
{
    buffer_print(w->error, "%s: %s", what, why);
    return false;
}

static bool is_about(const struct member *m)
{
    return strcmp(m->name, GATHER_ABOUT) == 0;
}

/* ---- each member of a file ---- */

static bool each_member(struct work *w, const char *path,
                        bool (*visit)(struct work *w, struct member *m))
{
    char why[512];
    const char *wrong = NULL;
    struct member m = {.fd = -1};
    struct archive *a = archive_open(path, why, sizeof(why));
    bool good = a != NULL;
    if (!good)
        buffer_add_text(w->error, why);
    while (good && member_next(a, &m, &wrong)) {
        good = visit(w, &m);
        member_free(&m);
    }
    if (good && wrong != NULL)
        good = fail(w, path, wrong);
    archive_free(&a);
    return good;
}

static bool note(struct work *w, struct member *m)
{
    if (is_about(m))
        return true;
    if (m->len > UINT32_MAX)
        return fail(w, m->name, "is longer than 4 GiB");
    return life_take(w->names, (struct str){m->bytes, (uint32_t)m->len}) ||
           fail(w, m->name, "is no journal");
}

/* ---- the other names ---- */

static bool put(void *context, struct str piece)
{
    const struct work *w = context;
    struct str left = names_left(w->names, piece);
    if (left.len == 0)
        return archive_add(w->made, piece.at, piece.len);
    buffer_print(w->error, "%s: a name is left in it: %.*s", w->life, STR_ARG(left));
    return false;
}

/* "scheduler.1": a process may be called as its host is. */
static void change_name(const struct work *w, const struct member *m, char *name)
{
    memcpy(name, m->name, sizeof(m->name));
    names_take(w->names, str_of(name), TEXT_derived, false);
}

static bool write_about(struct work *w, const struct member *m)
{
    struct str rest = {m->bytes, (uint32_t)m->len};
    static const char redacted[] = "{\"redacted\":true,";
    if (!archive_begin(w->made, m->name) || rest.len < 2 || *rest.at != '{' ||
        !archive_add(w->made, redacted, sizeof(redacted) - 1) ||
        !archive_add(w->made, rest.at + 1, rest.len - 1))
        return fail(w, w->redaction->to, "what it is about cannot be written");
    return true;
}

static bool write_life(struct work *w, struct member *m)
{
    char name[sizeof(m->name)];
    if (is_about(m))
        return write_about(w, m);
    change_name(w, m, name);
    char *own = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_PRIVATE, m->fd, 0);
    if (own == MAP_FAILED)
        return fail(w, m->name, strerror(errno));
    struct str bytes = {own, (uint32_t)m->len};
    w->life = m->name;
    bool good =
        archive_begin(w->made, name) && life_take(w->names, bytes) && life_write(bytes, put, w);
    munmap(own, m->len);
    if (!good && w->error->len == 0)
        return fail(w, m->name, "cannot be written");
    return good;
}

/* ---- the proof ---- */

/* A core makes a hash of its configuration, which has names in it, and others are told that: what
 * it becomes the core itself says (proto/journal/compare.c). */
static bool learn(const struct work *w, const char *said)
{
    static const char *const fields[] = {" differs in hash: ", " differs in extenders_hash: "};
    static const char before[] = ", and was ";
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const char *at = strstr(said, fields[i]);
        char *end = NULL;
        if (at == NULL)
            continue;
        uint64_t becomes = (uint64_t)strtoll(at + strlen(fields[i]), &end, 10);
        if (strncmp(end, before, sizeof(before) - 1) == 0)
            return names_learn_number(
                w->names, (uint64_t)strtoll(end + sizeof(before) - 1, NULL, 10), becomes);
    }
    return false;
}

static bool play(struct work *w, struct member *m)
{
    if (is_about(m))
        return true;
    member_start(m, w->redaction->programs);
    member_finish(m);
    w->redaction->lives++;
    if (m->alike)
        return true;
    const char *said = m->said.len > 0 ? m->said.at : "its program says nothing";
    w->learned = learn(w, said) || w->learned;
    if (w->error->len == 0)
        buffer_print(w->error, "%s: with other names it is not decided the same: %s", m->name,
                     said);
    return true;
}

/* Whether the recording itself comes out identical; else it cannot be seen what names do to it. */
static bool play_original(struct work *w, struct member *m)
{
    if (is_about(m))
        return true;
    member_start(m, w->redaction->programs);
    member_finish(m);
    return m->alike || fail(w, m->name, "is not decided as it was even with its own names");
}

/* ---- all of it ---- */

static bool write_all(struct work *w, const char *path)
{
    char why[256];
    w->made = archive_create(path, why, sizeof(why));
    if (w->made == NULL)
        return fail(w, path, why);
    bool good = each_member(w, w->redaction->from, write_life);
    bool whole = archive_finish(&w->made, why, sizeof(why));
    struct stat s; /* the last member is packed as it ends */
    w->redaction->packed = whole && stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
    return good && (whole || fail(w, path, why));
}

/* Once more with what was learned, as long as something is. */
static bool write_and_play(struct work *w, const char *path)
{
    bool good;
    do {
        w->learned = false;
        w->redaction->lives = 0;
        unlink(path);
        buffer_reset(w->error);
        good = write_all(w, path) && each_member(w, path, play) && w->error->len == 0;
    } while (!good && w->learned);
    return good;
}

/* Nothing is said of names that is not their doing. */
static void blame(struct work *w)
{
    struct buffer difference = {0};
    buffer_add_str(&difference, buffer_str(w->error));
    buffer_reset(w->error);
    if (each_member(w, w->redaction->from, play_original))
        buffer_add_str(w->error, buffer_str(&difference));
    buffer_free(&difference);
}

/* Names that are words may be why. */
static void hint(const struct work *w)
{
    struct buffer words = {0};
    names_ambiguous(w->names, &words);
    if (words.len > 0)
        buffer_print(
            w->error,
            "\nnames that berth says as words as well may be why; with --stays they stay as "
            "they are: %.*s",
            STR_ARG(buffer_str(&words)));
    buffer_free(&words);
}

/* Hash tables lie otherwise under other names. Where a core goes through one in its order, some
 * made-up names give another order than others: they are drawn anew, at last with the UIDs as they
 * were, by which most tables go. */
static bool make(struct work *w, const char *path)
{
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        w->redaction->uids_stay = draw >= DRAWS / 2;
        if (w->redaction->uids_stay)
            names_keep_uids(w->names);
        names_draw(w->names,
                   w->redaction->seed != ORDER_SECRET ? w->redaction->seed + draw : ORDER_SECRET);
        w->redaction->names = names_count(w->names);
        if (write_and_play(w, path))
            return true;
        if (w->redaction->lives == 0)
            return false;
    }
    blame(w);
    hint(w);
    return false;
}

static void let_stay(struct work *w)
{
    struct str word, rest = str_of(w->redaction->stays != NULL ? w->redaction->stays : "");
    while (str_split(&rest, ",", &word))
        if (word.len > 0)
            names_stay(w->names, word);
}

static bool is_free(const struct work *w, const char *path)
{
    struct stat s;
    return lstat(path, &s) != 0 || fail(w, path, "is there already");
}

bool redact(struct redaction *r, struct buffer *error)
{
    char made[1024];
    struct work w = {.redaction = r, .names = names_new(), .error = error};
    bool fits = snprintf(made, sizeof(made), "%s.new", r->to) < (int)sizeof(made);
    let_stay(&w);
    bool good = fits ? is_free(&w, r->to) && is_free(&w, made) && each_member(&w, r->from, note)
                     : fail(&w, r->to, "is too long a name");
    if (good) {
        good = make(&w, made) && is_free(&w, r->to) &&
               (rename(made, r->to) == 0 || fail(&w, r->to, strerror(errno)));
        if (!good)
            unlink(made);
    }
    names_free(&w.names);
    return good;
}
