/* replay: `berth replay`, which plays every life of a recording to the core that it is of, and says
 * whether that decides the same. What must stay true: identical is said of what was compared, to
 * the byte, and of nothing else; what a recording lacks is named. */
#include "ctl/record/about.h"
#include "ctl/record/contrast.h"
#include "ctl/record/gather.h"
#include "ctl/record/member.h"
#include "ctl/record/pace.h"
#include "ctl/record/record.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/bus/options.h"
#include "proto/kube/documents/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNNING_MAX 8
#define KEPT_MAX    256  /* lives of the scheduler */
#define ROWS_MAX    100  /* pods that are listed as text */
#define FIRST_MAX   8192 /* bytes of the first difference that are kept */

struct replay {
    const char *path;
    char folder[400];
    bool json, svg;
    const char *config;  /* NULL: it is decided as it was; else the file of another one */
    double speed;        /* 0: as fast as it can */
    struct member *kept; /* the scheduler's lives, with config; all, with speed */
    size_t kept_count;
    struct member running[RUNNING_MAX]; /* the first one first */
    size_t running_count;
    struct map *nodes;            /* where pods went then */
    struct buffer about, members; /* members: as JSON */
    unsigned lives, alike, partly;
    uint64_t entries, decisions;
    int64_t began_us, ended_us;
    double seconds;
    char first_at[40]; /* the time of the first difference, as text, which sorts */
    char first[FIRST_MAX];
};

/* ---- options ---- */

static bool take_output(void *state, const char *value)
{
    struct replay *r = state;
    r->json = strcmp(value, "json") == 0;
    r->svg = strcmp(value, "svg") == 0;
    return r->json || r->svg || strcmp(value, "text") == 0;
}

static bool take_programs(void *state, const char *value)
{
    struct replay *r = state;
    snprintf(r->folder, sizeof(r->folder), "%s", value);
    return *value != 0 && strlen(value) < sizeof(r->folder);
}

static bool take_config(void *state, const char *value)
{
    ((struct replay *)state)->config = value;
    return true;
}

static bool take_speed(void *state, const char *value)
{
    return options_speed(value, &((struct replay *)state)->speed);
}

static bool take_file(void *state, const char *value)
{
    struct replay *r = state;
    bool first = r->path == NULL;
    r->path = value;
    return first;
}

static const struct own_option table[] = {
    {"config", "FILE", "decide the same day with this configuration; \"\": with all defaults",
     take_config},
    {"o", "text|json|svg", "output format (default text); svg: with --config", take_output},
    {"programs", "DIR", "play it to the programs in DIR (default: where berth lies)",
     take_programs},
    {"speed", "N", "N times as fast as it was (1: as it was), and show decisions as they come",
     take_speed},
    {NULL, NULL, NULL, NULL},
};

/* ---- one life ---- */

/* "entry 17, 2026-…Z: …": a difference has a time, and the first of them is the one to look at. */
static void note_difference(struct replay *r, const struct member *m)
{
    static const char entry[] = "entry ";
    struct buffer whose = {0};
    const char *comma = m->said.len > 0 ? strstr(m->said.at, ", ") : NULL;
    const char *end = comma != NULL ? strstr(comma, "Z: ") : NULL;
    char at[sizeof(r->first_at)] = "";
    if (end != NULL && end - comma < (ptrdiff_t)sizeof(at))
        snprintf(at, sizeof(at), "%.*s", (int)(end + 1 - comma - 2), comma + 2);
    if (r->first[0] != 0 && strcmp(at, r->first_at) >= 0)
        return;
    snprintf(r->first_at, sizeof(r->first_at), "%s", at);
    if (m->said.len > 0 && strncmp(m->said.at, entry, sizeof(entry) - 1) == 0)
        about_say(m, strtoull(m->said.at + sizeof(entry) - 1, NULL, 10), r->nodes, &whose);
    snprintf(r->first, sizeof(r->first), "%s%.*s: %s", m->name, STR_ARG(buffer_str(&whose)),
             m->said.len > 0 ? m->said.at : "?");
    buffer_free(&whose);
}

static void add_json(struct replay *r, const struct member *m)
{
    buffer_print(&r->members, "%s{\"life\":", r->members.len > 0 ? "," : "");
    json_string(&r->members, str_of(m->name));
    buffer_print(&r->members,
                 ",\"identical\":%s,\"entries\":%" PRIu64 ",\"decisions\":%" PRIu64
                 ",\"seconds\":%.3f,\"says\":",
                 m->alike ? "true" : "false", m->entries, m->decisions, m->seconds);
    json_string(&r->members, buffer_str(&m->said));
    buffer_add_text(&r->members, "}");
}

static void finish_first(struct replay *r)
{
    struct member *m = &r->running[0];
    member_finish(m);
    if (m->process == SCHEDULER)
        about_note(m, r->nodes);
    r->lives++;
    r->alike += m->alike;
    r->partly += m->alike && strstr(m->said.at, "up to ") != NULL;
    r->entries += m->entries;
    r->decisions += m->decisions;
    if (m->began_us != 0 && (r->began_us == 0 || m->began_us < r->began_us))
        r->began_us = m->began_us;
    if (m->ended_us > r->ended_us)
        r->ended_us = m->ended_us;
    if (!m->alike)
        note_difference(r, m);
    add_json(r, m);
    if (!r->json)
        printf("%-14s %s\n", m->name, m->said.len > 0 ? m->said.at : "gave no verdict");
    fflush(stdout);
    member_free(m);
    r->running_count--;
    memmove(m, m + 1, r->running_count * sizeof(*m));
}

/* As many at a time as there are processors; verdicts come in the file's order. */
static void play(struct replay *r, struct member *m)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = processors < 1 ? 1 : processors > RUNNING_MAX ? RUNNING_MAX : (size_t)processors;
    while (r->running_count >= most)
        finish_first(r);
    struct member *running = &r->running[r->running_count++];
    *running = *m;
    *m = (struct member){.fd = -1};
    member_start(running, r->folder);
}

/* Another configuration is asked of the scheduler's lives alone. */
static bool keep(struct replay *r, struct member *m)
{
    if (strcmp(m->name, GATHER_ABOUT) == 0)
        buffer_add(&r->about, m->bytes, m->len);
    if (r->config != NULL ? m->process != SCHEDULER : m->process == 0) {
        member_free(m);
        return true;
    }
    if (r->kept_count == KEPT_MAX) {
        fprintf(stderr, "berth replay: %s: has more than %d lives\n", r->path, KEPT_MAX);
        member_free(m);
        return false;
    }
    r->kept[r->kept_count++] = *m;
    return true;
}

static bool play_paced(struct replay *r)
{
    const struct pace p = {.lives = r->kept,
                           .count = r->kept_count,
                           .folder = r->folder,
                           .speed = r->speed,
                           .json = r->json};
    bool good = pace_play(&p);
    for (size_t i = 0; i < r->kept_count; i++) {
        r->running[r->running_count++] = r->kept[i];
        finish_first(r);
    }
    return good;
}

static bool contrast(struct replay *r)
{
    const struct contrast c = {.lives = r->kept,
                               .count = r->kept_count,
                               .config = r->config,
                               .json = r->json,
                               .svg = r->svg,
                               .rows = ROWS_MAX};
    bool shown = contrast_show(&c);
    for (size_t i = 0; i < r->kept_count; i++)
        member_free(&r->kept[i]);
    memory_free(r->kept);
    return shown;
}

static bool play_all(struct replay *r)
{
    char error[512];
    const char *wrong = NULL;
    struct member m;
    struct moment began = moment_now();
    struct archive *a = archive_open(r->path, error, sizeof(error));
    if (a == NULL) {
        fprintf(stderr, "berth replay: %s\n", error);
        return false;
    }
    bool on = true;
    while (on && member_next(a, &m, &wrong)) {
        if (r->config != NULL || r->speed > 0) {
            on = keep(r, &m);
            continue;
        }
        if (strcmp(m.name, GATHER_ABOUT) == 0)
            buffer_add(&r->about, m.bytes, m.len);
        else
            play(r, &m);
        member_free(&m);
    }
    member_free(&m);
    archive_free(&a);
    if (r->speed > 0 && r->config == NULL)
        on = play_paced(r) && on;
    while (r->running_count > 0)
        finish_first(r);
    r->seconds = (double)moment_since(moment_now(), began).ns / 1e9;
    if (wrong != NULL)
        fprintf(stderr, "berth replay: %s: %s\n", r->path, wrong);
    return on && wrong == NULL;
}

/* ---- the end ---- */

/* What ended it before its time, from memory of the arena; empty: nothing did, or it is not said.
 */
static struct str ended_early(const struct replay *r, struct arena *a)
{
    struct kube_json *about = kube_json_parse(buffer_str(&r->about), NULL, a);
    struct str by = arena_copy(a, kube_json_text(kube_json_get(about, "endedBy")));
    kube_json_free(&about);
    return str_is(by, "time") ? (struct str){0} : by;
}

/* Of several files; 0: there is only this one. */
static int64_t part_of(const struct replay *r)
{
    struct arena a = {0};
    struct kube_json *about = kube_json_parse(buffer_str(&r->about), NULL, &a);
    int64_t part = 0;
    if (!kube_json_i64(kube_json_get(about, "part"), &part))
        part = 0;
    kube_json_free(&about);
    arena_free(&a);
    return part;
}

static void print_text(const struct replay *r, double recorded)
{
    printf("\n%u of %u lives identical: %" PRIu64 " entries, %" PRIu64
           " decisions, %.1f s recorded, played in %.2f s (%.0f times real time)\n",
           r->alike, r->lives, r->entries, r->decisions, recorded, r->seconds,
           r->seconds > 0 ? recorded / r->seconds : 0);
    struct arena a = {0};
    struct str early = ended_early(r, &a);
    int64_t part = part_of(r);
    if (part > 1)
        printf("this is part %" PRId64 " of a recording: nothing is said of those before\n", part);
    if (str_is(early, GATHER_ROTATED))
        printf("the recording goes on in another file, with new lives, of which nothing is said\n");
    else if (early.len > 0)
        printf("the recording ended before its time, by: %.*s; nothing is known of what followed\n",
               STR_ARG(early));
    arena_free(&a);
    if (r->partly > 0)
        printf("%u of them are not whole, and identical as far as they go\n", r->partly);
    if (r->first[0] != 0)
        printf("the first difference: %s\n", r->first);
}

static void print_json(const struct replay *r, double recorded)
{
    struct buffer out = {0};
    buffer_print(&out,
                 "{\"identical\":%s,\"lives\":%u,\"alike\":%u,\"partly\":%u,\"entries\":%" PRIu64
                 ",\"decisions\":%" PRIu64 ",\"recordedSeconds\":%.3f,\"playedSeconds\":%.3f",
                 r->alike == r->lives ? "true" : "false", r->lives, r->alike, r->partly, r->entries,
                 r->decisions, recorded, r->seconds);
    if (r->first[0] != 0) {
        buffer_add_text(&out, ",\"firstDifference\":");
        json_string(&out, str_of(r->first));
    }
    struct arena a = {0};
    struct str early = ended_early(r, &a);
    if (early.len > 0) {
        buffer_add_text(&out, ",\"endedBy\":");
        json_string(&out, early);
    }
    arena_free(&a);
    if (part_of(r) > 0)
        buffer_print(&out, ",\"part\":%" PRId64, part_of(r));
    buffer_print(&out, ",\"members\":[%.*s]}\n", STR_ARG(buffer_str(&r->members)));
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
}

static void free_all(struct replay *r)
{
    size_t at = 0;
    void *node;
    while (map_next(r->nodes, &at, NULL, &node))
        memory_free(node);
    map_free(&r->nodes);
    buffer_free(&r->about);
    buffer_free(&r->members);
}

int command_replay(int argc, char **argv)
{
    static struct replay r;
    options_read(&(struct options_table){.program = "berth replay",
                                         .usage = "FILE: play a recording back, and compare what "
                                                  "is decided",
                                         .options = table,
                                         .state = &r,
                                         .word = take_file},
                 argc, argv);
    if (r.path == NULL) {
        fprintf(stderr, "berth replay: which FILE? (--help tells more)\n");
        return 1;
    }
    r.nodes = map_new();
    r.kept = memory_take_array(KEPT_MAX, sizeof(*r.kept));
    if (r.config != NULL && r.speed > 0) {
        fprintf(stderr, "berth replay: --speed and --config: the model takes no time\n");
        return 1;
    }
    if (r.svg && r.config == NULL) {
        fprintf(stderr,
                "berth replay: -o svg: there is a picture of a comparison (--config) alone\n");
        return 1;
    }
    bool whole = member_programs("berth replay", r.folder, sizeof(r.folder)) && play_all(&r);
    if (r.config != NULL) {
        bool shown = contrast(&r);
        free_all(&r);
        return shown && whole ? 0 : 1;
    }
    memory_free(r.kept);
    double recorded = r.ended_us > r.began_us ? (double)(r.ended_us - r.began_us) / 1e6 : 0;
    if (r.json)
        print_json(&r, recorded);
    else if (r.lives > 0)
        print_text(&r, recorded);
    free_all(&r);
    return whole && r.lives > 0 && r.alike == r.lives ? 0 : 1;
}
