/* zpages: the two pages that tell what this is and how it was started. Text is what a person gets;
 * JSON is for whoever names the kind in Accept, as upstream: "application/json;v=v1beta1;
 * g=config.k8s.io;as=Flagz". What must stay true: of a flag that is given several times the last
 * counts, or, of those that may be, all; and every flag of kube-scheduler is on the page. */
#include "ctl/serve/zpages.h"

#include "proto/base/json_string.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define HEADER                                                                                     \
    "\nkube-scheduler %s\nWarning: This endpoint is not meant to be machine parseable, has no "    \
    "formatting compatibility guarantees and is for debugging purposes only.\n"
#define VERSION "1.36.3+berth." OPTIONS_VERSION

/* ---- who wants what ---- */

enum form { FORM_none, FORM_text, FORM_v1alpha1, FORM_v1beta1 };

/* One of Accept's alternatives. */
static enum form form_of(struct str one, const char *kind)
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
    if (str_is(type, "application/json"))
        return group && named ? form : FORM_none;
    return str_is(type, "text/plain") || str_is(type, "text/*") || str_is(type, "*/*") ? FORM_text
                                                                                       : FORM_none;
}

static enum form wanted(const char *accept, const char *kind)
{
    struct str rest = str_of(accept), one;
    enum form form = *accept == 0 ? FORM_text : FORM_none;
    while (form == FORM_none && str_split(&rest, ",", &one))
        form = form_of(str_trim(one), kind);
    return form;
}

static int not_acceptable(const char **type, struct buffer *out)
{
    *type = "application/json";
    buffer_add_text(out,
                    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                    "\"Failure\",\"message\":\"only the following media types are accepted: "
                    "application/json, text/plain\",\"reason\":\"NotAcceptable\",\"code\":406}\n");
    return 406;
}

static void begin_json(struct buffer *out, enum form form, const char *kind, const char **type,
                       const char **warning)
{
    *type = "application/json";
    if (form == FORM_v1alpha1)
        *warning = strcmp(kind, "Flagz") == 0
                       ? "299 - \"This version of the flagz endpoint is deprecated. Please use a "
                         "newer version.\""
                       : "299 - \"This version of the statusz endpoint is deprecated. Please use a "
                         "newer version.\"";
    buffer_print(out,
                 "{\"kind\":\"%s\",\"apiVersion\":\"config.k8s.io/%s\",\"metadata\":{\"name\":"
                 "\"kube-scheduler\"}",
                 kind, form == FORM_v1alpha1 ? "v1alpha1" : "v1beta1");
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
        if (strcmp(f->name, "tls-sni-cert-key") == 0)
            buffer_print(&list, "%s%s", list.len > 0 ? ";" : "", value);
    }
    if (last == NULL)
        buffer_add_text(out, f->standard);
    else if (f->shape == SHAPE_LIST)
        buffer_print(out, "[%s]", list.len > 0 ? list.at : last);
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
    enum form form = wanted(z->accept, "Flagz");
    if (form == FORM_none)
        return not_acceptable(type, out);
    size_t count = collect(z, shown, FLAGS + 64);
    if (form == FORM_text) {
        buffer_print(out, HEADER, "flagz");
        put_flags(shown, count, false, out);
    } else {
        begin_json(out, form, "Flagz", type, warning);
        buffer_add_text(out, ",\"flags\":{");
        put_flags(shown, count, true, out);
        buffer_add_text(out, "}}\n");
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
    enum form form = wanted(z->accept, "Statusz");
    struct tm parts;
    char text[64];
    time_t start = (time_t)z->start_s;
    long long up = (long long)(span_ms(z->up) / 1000);
    if (form == FORM_none)
        return not_acceptable(type, out);
    gmtime_r(&start, &parts);
    if (form == FORM_text) {
        strftime(text, sizeof(text), "%a %b %e %H:%M:%S UTC %Y", &parts);
        buffer_print(
            out,
            HEADER
            "\nStarted: %s\nUp: %lld hr %02lld min %02lld sec\nGo version: none (gcc " __VERSION__
            ")\nBinary version: " VERSION "\nEmulation version: 1.36\nPaths:",
            "statusz", text, up / 3600, up / 60 % 60, up % 60);
        for (size_t i = 0; i < PATHS; i++)
            buffer_print(out, " %s", paths[i]);
        buffer_add_text(out, "\n");
        return 200;
    }
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    begin_json(out, form, "Statusz", type, warning);
    buffer_print(
        out,
        ",\"startTime\":\"%s\",\"uptimeSeconds\":%lld,\"goVersion\":\"none (gcc " __VERSION__
        ")\",\"binaryVersion\":\"" VERSION "\",\"emulationVersion\":\"1.36\",\"paths\":[",
        text, up);
    for (size_t i = 0; i < PATHS; i++)
        buffer_print(out, "%s\"%s\"", i > 0 ? "," : "", paths[i]);
    buffer_add_text(out, "]}\n");
    return 200;
}
