/* zpages: the two pages that tell what this is and how it was started. Text is what a person gets;
 * JSON or YAML is for whoever names the kind in Accept, as upstream: "application/json;v=v1beta1;
 * g=config.k8s.io;as=Flagz", and CBOR where the gate CBORServingAndStorage is on. What must stay
 * true: of a flag that is given several times the last counts, or, of those that may be, all; and
 * every flag of kube-scheduler is on the page. */
#include "ctl/serve/zpages.h"

#include "proto/base/json_string.h"
#include "proto/base/must.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define HEADER                                                                                     \
    "\nkube-scheduler %s\nWarning: This endpoint is not meant to be machine parseable, has no "    \
    "formatting compatibility guarantees and is for debugging purposes only.\n"
#define OWN_VERSION "+berth." OPTIONS_VERSION /* behind that of kube-scheduler */

/* ---- who wants what ---- */

enum form { FORM_none, FORM_text, FORM_v1alpha1, FORM_v1beta1 };

enum media { MEDIA_json, MEDIA_yaml, MEDIA_cbor, MEDIA_none };

static const char *const media_types[] = {"application/json", "application/yaml",
                                          "application/cbor"};

struct wish {
    enum form form;
    enum media media; /* for what is wrong with it, too */
    bool cbor;        /* may be had */
};

static enum media media_of(struct str type, bool cbor)
{
    for (int i = MEDIA_json; i < MEDIA_none; i++)
        if (str_is(type, media_types[i]) && (i != MEDIA_cbor || cbor))
            return (enum media)i;
    return MEDIA_none;
}

/* One of Accept's alternatives; says in which media what is wrong with it is told. */
static enum form form_of(struct str one, const char *kind, struct wish *wish)
{
    struct str rest = one, part, type = {NULL, 0};
    bool group = false, named = false;
    enum form form = FORM_none;
    while (str_split(&rest, ";", &part)) {
        part = str_trim(part);
        if (type.at == NULL)
            type = part;
        group |= str_is(part, "g=config.k8s.io");
        named |=
            str_starts_with(part, "as=") && str_is((struct str){part.at + 3, part.len - 3}, kind);
        form = str_is(part, "v=v1beta1")    ? FORM_v1beta1
               : str_is(part, "v=v1alpha1") ? FORM_v1alpha1
                                            : form;
    }
    enum media media = media_of(type, wish->cbor);
    wish->media = media == MEDIA_none ? MEDIA_json : media;
    if (media != MEDIA_none)
        return group && named ? form : FORM_none;
    return str_is(type, "text/plain") || str_is(type, "text/*") || str_is(type, "*/*") ? FORM_text
                                                                                       : FORM_none;
}

static struct wish wanted(const struct zpage *z, const char *kind)
{
    struct str rest = str_of(z->accept), one;
    struct wish wish = {.form = *z->accept == 0 ? FORM_text : FORM_none, .cbor = z->cbor};
    while (wish.form == FORM_none && str_split(&rest, ",", &one))
        wish.form = form_of(str_trim(one), kind, &wish);
    return wish;
}

/* What out holds is JSON. */
static void end_document(const struct wish *wish, struct buffer *out)
{
    struct arena memory = {0};
    struct str error = {0};
    if (wish->media == MEDIA_json) {
        buffer_add_text(out, "\n");
        return;
    }
    struct str text = {out->at, (uint32_t)out->len};
    struct kube_json *json = kube_json_parse(text, &error, &memory);
    must(json != NULL);
    buffer_reset(out);
    (wish->media == MEDIA_yaml ? kube_json_write_yaml : kube_json_write_cbor)(json, out);
    kube_json_free(&json);
    arena_free(&memory);
}

static int not_acceptable(const struct wish *wish, const char **type, struct buffer *out)
{
    *type = media_types[wish->media];
    buffer_print(out,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                 "\"Failure\",\"message\":\"only the following media types are accepted: "
                 "application/json, application/yaml, text/plain%s\","
                 "\"reason\":\"NotAcceptable\",\"code\":406}",
                 wish->cbor ? ", application/cbor" : "");
    end_document(wish, out);
    return 406;
}

/* The media type with what was asked for. */
static const char *type_of(const struct wish *wish, const char *kind)
{
    static char types[MEDIA_none][2][2][72];
    bool alpha = wish->form == FORM_v1alpha1, flags = strcmp(kind, "Flagz") == 0;
    char *type = types[wish->media][alpha][flags];
    if (*type == 0)
        snprintf(type, sizeof(types[0][0][0]), "%s;g=config.k8s.io;v=%s;as=%s",
                 media_types[wish->media], alpha ? "v1alpha1" : "v1beta1", kind);
    return type;
}

static void begin_json(struct buffer *out, const struct wish *wish, const char *kind,
                       const char **type, const char **warning)
{
    *type = type_of(wish, kind);
    if (wish->form == FORM_v1alpha1)
        *warning = strcmp(kind, "Flagz") == 0
                       ? "299 - \"This version of the flagz endpoint is deprecated. Please use a "
                         "newer version.\""
                       : "299 - \"This version of the statusz endpoint is deprecated. Please use a "
                         "newer version.\"";
    buffer_print(out,
                 "{\"kind\":\"%s\",\"apiVersion\":\"config.k8s.io/%s\",\"metadata\":{\"name\":"
                 "\"kube-scheduler\"}",
                 kind, wish->form == FORM_v1alpha1 ? "v1alpha1" : "v1beta1");
}

/* ---- /flagz ---- */

enum shape { SHAPE_TEXT, SHAPE_LIST, SHAPE_TIME };

static const struct kube_flag {
    const char *name, *standard;
    enum shape shape;
} flags[] = {
#define KUBE_FLAG(name, standard, kind) {name, standard, SHAPE_##kind},
#include "ctl/serve/flagz.def"
#undef KUBE_FLAG
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

static const char *value_in(const char *given, const char *name)
{
    size_t len = strlen(name);
    return strncmp(given, name, len) == 0 && given[len] == '=' ? given + len + 1 : NULL;
}

/* What stands between those of a list that were given one by one. */
static const char *between(const struct kube_flag *f)
{
    return strcmp(f->name, "tls-sni-cert-key") == 0 ? ";" : ",";
}

static void show(const struct zpage *z, const struct kube_flag *f, struct buffer *out)
{
    const char *last = NULL;
    struct buffer list = {0};
    struct span time;
    for (size_t i = 0; i < z->given_count; i++) {
        const char *value = value_in(z->given[i], f->name);
        if (value == NULL)
            continue;
        last = value;
        if (*value != 0)
            buffer_print(&list, "%s%s", list.len > 0 ? between(f) : "", value);
    }
    if (last == NULL)
        buffer_add_text(out, f->standard);
    else if (f->shape == SHAPE_LIST)
        buffer_print(out, "[%s]", list.len > 0 ? list.at : "");
    else if (f->shape == SHAPE_TIME && config_duration_parse(str_of(last), &time))
        config_duration_print(time, out);
    else
        buffer_add_text(out, last);
    buffer_free(&list);
}

struct shown {
    const char *name;
    struct buffer value;
};

static bool is_known(const char *given)
{
    for (size_t i = 0; i < FLAGS; i++)
        if (value_in(given, flags[i].name) != NULL)
            return true;
    return false;
}

static int compare_shown(const void *a, const void *b)
{
    return strcmp(((const struct shown *)a)->name, ((const struct shown *)b)->name);
}

static void put_flags(const struct shown *shown, size_t count, bool json, struct buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = shown[i].value.len > 0 ? shown[i].value.at : "";
        if (!json) {
            buffer_print(out, "%s=%s\n", shown[i].name, value);
            continue;
        }
        buffer_add_text(out, i > 0 ? "," : "");
        json_string(out, str_of(shown[i].name));
        buffer_add_text(out, ":");
        json_string(out, str_of(value));
    }
}

/* kube-scheduler's, and those that berth has besides. */
static size_t collect(const struct zpage *z, struct shown *shown, size_t room)
{
    static char names[64][48]; /* of berth's own */
    size_t count = 0, own = 0;
    for (; count < FLAGS; count++) {
        shown[count] = (struct shown){.name = flags[count].name};
        show(z, &flags[count], &shown[count].value);
    }
    for (size_t i = 0; i < z->given_count && own < 64 && count < room; i++) {
        const char *equal = strchr(z->given[i], '=');
        if (equal == NULL || is_known(z->given[i]))
            continue;
        snprintf(names[own], sizeof(names[own]), "%.*s", (int)(equal - z->given[i]), z->given[i]);
        shown[count] = (struct shown){.name = names[own++]};
        buffer_add_text(&shown[count++].value, equal + 1);
    }
    qsort(shown, count, sizeof(*shown), compare_shown);
    return count;
}

int zpages_flags(const struct zpage *z, const char **type, const char **warning, struct buffer *out)
{
    struct shown shown[FLAGS + 64];
    const struct wish wish = wanted(z, "Flagz");
    if (wish.form == FORM_none)
        return not_acceptable(&wish, type, out);
    size_t count = collect(z, shown, FLAGS + 64);
    if (wish.form == FORM_text) {
        buffer_print(out, HEADER, "flagz");
        put_flags(shown, count, false, out);
    } else {
        begin_json(out, &wish, "Flagz", type, warning);
        buffer_add_text(out, ",\"flags\":{");
        put_flags(shown, count, true, out);
        buffer_add_text(out, "}}");
        end_document(&wish, out);
    }
    for (size_t i = 0; i < count; i++)
        buffer_free(&shown[i].value);
    return 200;
}

/* ---- /statusz ---- */

static const char *const paths[] = {"/configz", "/flagz",   "/healthz",
                                    "/livez",   "/metrics", "/readyz"};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

int zpages_status(const struct zpage *z, const char **type, const char **warning,
                  struct buffer *out)
{
    const struct wish wish = wanted(z, "Statusz");
    struct tm parts;
    char text[64];
    time_t start = (time_t)z->start_s;
    long long up = (long long)(span_ms(z->up) / 1000);
    if (wish.form == FORM_none)
        return not_acceptable(&wish, type, out);
    gmtime_r(&start, &parts);
    if (wish.form == FORM_text) {
        strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &parts);
        buffer_print(
            out,
            HEADER
            "\nStarted: %s\nUp: %lld hr %02lld min %02lld sec\nGo version: none (gcc " __VERSION__
            ")\nBinary version: %s" OWN_VERSION "\nEmulation version: %s\nPaths:",
            "statusz", text, up / 3600, up / 60 % 60, up % 60, z->release->full,
            z->release->version);
        for (size_t i = 0; i < PATHS; i++)
            buffer_print(out, " %s", paths[i]);
        buffer_add_text(out, "\n");
        return 200;
    }
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    begin_json(out, &wish, "Statusz", type, warning);
    buffer_print(
        out,
        ",\"startTime\":\"%s\",\"uptimeSeconds\":%lld,\"goVersion\":\"none (gcc " __VERSION__
        ")\",\"binaryVersion\":\"%s" OWN_VERSION "\",\"emulationVersion\":\"%s\",\"paths\":[",
        text, up, z->release->full, z->release->version);
    for (size_t i = 0; i < PATHS; i++)
        buffer_print(out, "%s\"%s\"", i > 0 ? "," : "", paths[i]);
    buffer_add_text(out, "]}");
    end_document(&wish, out);
    return 200;
}
