/* contrast_print: a comparison as a table and as JSON. What must stay true: what is not shown is
 * counted. */
#include "ctl/record/contrast_inside.h"
#include "proto/base/json_string.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

static void print_counts(const char *what, uint64_t then, uint64_t own, uint64_t other)
{
    printf("%-32s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", what, then, own, other);
}

static void print_days(const struct compared *r)
{
    const struct day *t = &r->recorded, *own = &r->own, *new = &r->other;
    printf("\n%-32s %12s %12s %12s\n", "", "RECORDED", "MODEL", "WITH CONFIG");
    print_counts("pods that came", t->pods, own->pods, new->pods);
    print_counts("placed", t->placed, own->placed, new->placed);
    print_counts("left without a node", t->left, own->left, new->left);
    print_counts("preempted", t->evicted, own->evicted, new->evicted);
    printf("%-32s %12.3f %12.3f %12.3f\n", "wait, median, s", t->waits.p50, own->waits.p50,
           new->waits.p50);
    printf("%-32s %12.3f %12.3f %12.3f\n", "wait, 90 %, s", t->waits.p90, own->waits.p90,
           new->waits.p90);
    printf("%-32s %12.3f %12.3f %12.3f\n", "wait, 99 %, s", t->waits.p99, own->waits.p99,
           new->waits.p99);
    printf("%-32s %12s %12.1f %12.1f\n", "CPU asked for, mean, %", "", 100 * own->room.cpu,
           100 * new->room.cpu);
    printf("%-32s %12s %12.1f %12.1f\n", "memory asked for, mean, %", "", 100 * own->room.memory,
           100 * new->room.memory);
    printf("%-32s %12s %12.1f %12.1f\n", "fragmentation at the end, %", "",
           100 * own->room.fragmentation, 100 * new->room.fragmentation);
    printf("\nthe model puts %" PRIu64 " of %" PRIu64 " pods where they went\n", r->as_recorded,
           r->ours);
}

static struct str node_or_none(const struct fate *f)
{
    return f->node.len > 0 ? f->node : STR_LITERAL("<none>");
}

static void print_pair(const struct pair *p)
{
    char name[400];
    struct str before = node_or_none(p->before), now = node_or_none(p->now);
    snprintf(name, sizeof(name), "%.*s/%.*s", STR_ARG(p->now->space), STR_ARG(p->now->name));
    printf("%-44s %-20.*s %-20.*s%s%s%s%s", name, STR_ARG(before), STR_ARG(now),
           p->longer ? " waits longer" : "", p->sooner ? " waits less" : "",
           p->evicted ? " is preempted" : "", p->kept ? " is not preempted" : "");
    if (p->evicted)
        printf(" for %.*s", STR_ARG(p->now->evicted_by));
    printf("\n");
}

static void print_text(const struct contrast *c, const struct compared *r)
{
    print_days(r);
    printf("with the other configuration %" PRIu64 " pods go elsewhere, %" PRIu64
           " wait longer, %" PRIu64 " less, %" PRIu64 " more are preempted, %" PRIu64 " are not\n",
           r->elsewhere, r->longer, r->sooner, r->evicted, r->kept);
    if (r->count > 0)
        printf("\n%-44s %-20s %-20s\n", "POD", "MODEL", "WITH CONFIG");
    for (size_t i = 0; i < r->count && i < c->rows; i++)
        print_pair(&r->pairs[i]);
    if (r->count > c->rows)
        printf("and %zu more (-o json has all)\n", r->count - c->rows);
}

/* ---- JSON ---- */

static void add_day(struct buffer *out, const char *name, const struct day *d, bool room)
{
    buffer_print(
        out,
        "\"%s\":{\"pods\":%" PRIu64 ",\"placed\":%" PRIu64 ",\"left\":%" PRIu64
        ",\"preempted\":%" PRIu64 ",\"waitSeconds\":{\"p50\":%.6f,\"p90\":%.6f,\"p99\":%.6f}",
        name, d->pods, d->placed, d->left, d->evicted, d->waits.p50, d->waits.p90, d->waits.p99);
    if (room)
        buffer_print(out, ",\"cpu\":%.6f,\"memory\":%.6f,\"fragmentation\":%.6f", d->room.cpu,
                     d->room.memory, d->room.fragmentation);
    buffer_add_text(out, "}");
}

static void add_text(struct buffer *out, const char *name, struct str text)
{
    buffer_print(out, ",\"%s\":", name);
    json_string(out, text);
}

static void add_pair(struct buffer *out, const struct pair *p)
{
    buffer_add_text(out, "{\"uid\":");
    json_string(out, p->now->uid);
    add_text(out, "namespace", p->now->space);
    add_text(out, "name", p->now->name);
    add_text(out, "recorded", p->now->recorded);
    add_text(out, "model", p->before->node);
    add_text(out, "withConfig", p->now->node);
    if (p->now->evicted)
        add_text(out, "preemptedBy", p->now->evicted_by);
    const bool said[] = {p->elsewhere, p->longer, p->sooner, p->before->evicted, p->now->evicted};
    static const char *const names[] = {"elsewhere", "waitsLonger", "waitsLess", "preemptedModel",
                                        "preemptedWithConfig"};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        buffer_print(out, ",\"%s\":%s", names[i], said[i] ? "true" : "false");
    buffer_add_text(out, "}");
}

static void print_json(const struct compared *r)
{
    struct buffer out = {0};
    buffer_add_text(&out, "{");
    add_day(&out, "recorded", &r->recorded, false);
    buffer_add_text(&out, ",");
    add_day(&out, "model", &r->own, true);
    buffer_add_text(&out, ",");
    add_day(&out, "withConfig", &r->other, true);
    buffer_print(&out,
                 ",\"modelAsRecorded\":%" PRIu64 ",\"elsewhere\":%" PRIu64
                 ",\"waitLonger\":%" PRIu64 ",\"waitLess\":%" PRIu64 ",\"preempted\":%" PRIu64
                 ",\"notPreempted\":%" PRIu64 ",\"pods\":[",
                 r->as_recorded, r->elsewhere, r->longer, r->sooner, r->evicted, r->kept);
    for (size_t i = 0; i < r->count; i++) {
        buffer_add_text(&out, i > 0 ? "," : "");
        add_pair(&out, &r->pairs[i]);
    }
    buffer_add_text(&out, "]}\n");
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
}

void contrast_print(const struct contrast *c, const struct compared *r)
{
    if (c->svg)
        contrast_svg(r);
    else if (c->json)
        print_json(r);
    else
        print_text(c, r);
}
