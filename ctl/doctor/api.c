/* api: lists of objects' metadata, page by page. The one idea: the API server is asked for metadata
 * alone, and where it does not know how, objects come whole, whose metadata is in the same place.
 * What must stay true: a list is whole or it is none, and each request has an end.
 */
#include "ctl/doctor/api.h"

#include "proto/base/memory.h"
#include "proto/bus/options.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/objects/objects.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define PAGE       500
#define THINGS_MAX 5000000
#define METADATA   "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

struct page {
    bool done;
    int status;
    struct buffer body;
    char error[256];
};

static void on_done(void *context, const struct kube_response *r)
{
    struct page *page = context;
    page->done = true;
    page->status = r->status;
    buffer_add_str(&page->body, r->body);
    snprintf(page->error, sizeof(page->error), "%s", r->error);
}

bool api_open(struct api *api, const char *kubeconfig, const char *master, struct span timeout)
{
    api->timeout = timeout;
    api->config = kube_config_load(kubeconfig, master, api->error, sizeof(api->error));
    if (api->config != NULL)
        api->client = kube_client_new(
            api->config,
            &(struct kube_client_options){.user_agent = "berth-compare/" OPTIONS_VERSION},
            api->error, sizeof(api->error));
    return api->client != NULL;
}

void api_close(struct api *api)
{
    kube_client_free(&api->client);
    kube_config_free(&api->config);
}

/* Its end comes, because it has a timeout. */
static void get(struct api *api, struct str path, struct page *page)
{
    kube_client_send(api->client, &(struct kube_request){.method = KUBE_GET,
                                                         .channel = KUBE_CHANNEL_write,
                                                         .path = path,
                                                         .accept = METADATA,
                                                         .timeout = api->timeout,
                                                         .context = page,
                                                         .done = on_done});
    while (!page->done) {
        struct pollfd fd = {.fd = kube_client_fd(api->client), .events = POLLIN};
        struct moment now = moment_now(), due = kube_client_deadline(api->client, now);
        int64_t ms = moment_reached(now, due) ? 0 : span_ms(moment_since(due, now)) + 1;
        (void)poll(&fd, 1, ms < 100 ? (int)ms : 100);
        kube_client_work(api->client, moment_now());
    }
}

static const char *selector_of(struct str path)
{
    for (size_t i = 0; i < kube_resource_count; i++)
        if (str_is(path, kube_resources[i].path))
            return kube_resources[i].field_selector;
    return NULL;
}

static void escape(struct buffer *out, struct str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain)
            buffer_add(out, &c, 1);
        else
            buffer_print(out, "%%%02X", c);
    }
}

static void add_thing(struct api_list *list, const struct kube_json *object, struct arena *a)
{
    const struct kube_json *meta = kube_json_get(object, "metadata");
    struct str space = kube_json_text(kube_json_get(meta, "namespace"));
    struct str name = kube_json_text(kube_json_get(meta, "name"));
    struct held_thing thing = {.uid = arena_copy(a, kube_json_text(kube_json_get(meta, "uid")))};
    (void)str_to_i64(kube_json_text(kube_json_get(meta, "resourceVersion")), &thing.version);
    thing.name =
        arena_print(a, "%.*s%s%.*s", STR_ARG(space), space.len > 0 ? "/" : "", STR_ARG(name));
    if (list->count == list->room) {
        struct held_thing *more = arena_take(a, (list->room * 2 + PAGE) * sizeof(*more));
        if (list->count > 0)
            memcpy(more, list->things, list->count * sizeof(*more));
        list->things = more;
        list->room = list->room * 2 + PAGE;
    }
    list->things[list->count++] = thing;
}

/* PodList, PartialObjectMetadataList; of no objects some have no items at all. */
static bool is_list(struct str kind)
{
    return kind.len > 4 && memcmp(kind.at + kind.len - 4, "List", 4) == 0;
}

/* False: it is no page of a list. next becomes where the next one begins, empty: it was the last.
 */
static bool read_page(struct str body, struct api_list *list, struct buffer *next, struct arena *a)
{
    struct arena memory = {0};
    struct kube_json *json = kube_json_parse(body, NULL, &memory);
    const struct kube_json *items = kube_json_get(json, "items");
    bool good = is_list(kube_json_text(kube_json_get(json, "kind"))) &&
                (items == NULL || kube_json_is_array(items));
    for (const struct kube_json *i = kube_json_first(items); good && i != NULL;
         i = kube_json_next(i))
        add_thing(list, i, a);
    buffer_reset(next);
    buffer_add_str(next, kube_json_text(kube_json_path(json, "metadata.continue")));
    kube_json_free(&json);
    arena_free(&memory);
    return good && list->count < THINGS_MAX;
}

static void say_error(struct api *api, struct str path, const struct page *page)
{
    if (page->status == 0)
        snprintf(api->error, sizeof(api->error), "%.*s: %s", STR_ARG(path), page->error);
    else if (page->status == 200)
        snprintf(api->error, sizeof(api->error), "%.*s: is no list", STR_ARG(path));
    else
        snprintf(api->error, sizeof(api->error), "%.*s: status %d", STR_ARG(path), page->status);
    api->silent = api->silent || page->status == 0;
}

bool api_list(struct api *api, struct str path, struct api_list *list, struct arena *a)
{
    struct buffer next = {0}, url = {0};
    const char *selector = selector_of(path);
    bool good = true;
    *list = (struct api_list){0};
    do {
        struct page page = {0};
        buffer_reset(&url);
        buffer_print(&url, "%.*s?limit=%d", STR_ARG(path), PAGE);
        if (selector != NULL && *selector != 0) {
            buffer_add_text(&url, "&fieldSelector=");
            escape(&url, str_of(selector));
        }
        if (next.len > 0) {
            buffer_add_text(&url, "&continue=");
            escape(&url, buffer_str(&next));
        }
        get(api, buffer_str(&url), &page);
        good = page.status == 200 && read_page(buffer_str(&page.body), list, &next, a);
        if (!good)
            say_error(api, path, &page);
        buffer_free(&page.body);
    } while (good && next.len > 0);
    buffer_free(&next);
    buffer_free(&url);
    return good;
}
