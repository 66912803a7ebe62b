/* filing: tokens for what is a name or an amount: taints, room, ports, claims, disks, drivers.
 *
 * What must stay true: file and seek of one filing take the same kinds of token, and what a hint
 * looks at only on one side (a namespace, a class of size) is in the token of both or of none. */
#include "queue/filing.h"

#include "queue/hint.h"

uint64_t token_of(char kind, struct str a, struct str b)
{
    uint64_t hash = (str_hash(a) ^ (uint64_t)kind) * UINT64_C(0x9e3779b97f4a7c15);
    if (b.len > 0)
        hash = ((hash ^ hash >> 29) + str_hash(b)) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

void tokens_add(struct tokens *t, uint64_t token)
{
    if (t->count == TOKENS_MAX)
        t->all = true;
    else
        t->at[t->count++] = token;
}

static void add(struct tokens *t, char kind, struct str a, struct str b)
{
    tokens_add(t, token_of(kind, a, b));
}

#define NO_TEXT ((struct str){NULL, 0})

static void seek_nobody(const struct event *event, struct tokens *out)
{
    (void)event;
    (void)out;
}

static void file_nowhere(const struct pod *pod, struct tokens *out)
{
    (void)pod;
    (void)out;
}

const struct filing filed_together = {NULL, NULL};
const struct filing filed_nowhere = {file_nowhere, seek_nobody};

/* ---- pods on nodes ---- */

static void file_own_node(const struct pod *pod, struct tokens *out)
{
    if (pod->resize_deferred)
        add(out, 'n', pod->node_name, NO_TEXT);
}

static void seek_own_node(const struct event *event, struct tokens *out)
{
    add(out, 'n', event->new_node != NULL ? event->new_node->name : event->new_pod->node_name,
        NO_TEXT);
}

const struct filing filed_by_own_node = {file_own_node, seek_own_node};

/* ---- taints: a node's first one that matters must be tolerated like all others ---- */

static void file_tolerations(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->tolerations.count; i++) {
        struct str key = pod->tolerations.at[i].key;
        out->all = out->all || key.len == 0;
        add(out, 'x', key, NO_TEXT);
    }
}

static void seek_taint(const struct event *event, struct tokens *out)
{
    const struct node *node = event->new_node;
    for (uint32_t i = 0; i < node->taints.count; i++) {
        const struct taint *taint = &node->taints.at[i];
        if (str_is(taint->effect, "NoSchedule") || str_is(taint->effect, "NoExecute")) {
            add(out, 'x', taint->key, NO_TEXT);
            return;
        }
    }
    out->all = true; /* nothing to tolerate */
}

const struct filing filed_by_toleration = {file_tolerations, seek_taint};

/* ---- room: a pod is filed under the size class of what is scarcest of its request ---- */

/* Bits of the amount: a node of a class has room only for pods of that class and those below. */
static uint64_t class_token(struct str resource, int bits)
{
    return token_of('r', resource, NO_TEXT) + (uint64_t)bits;
}

static int bits_of(int64_t amount)
{
    return amount <= 0 ? 0 : 64 - __builtin_clzll((unsigned long long)amount);
}

#define SCARCE 64 /* of no amount that everybody has */

/* How hard an amount is to find, for a comparison of resources: nodes have about 4 GiB a core;
 * what has another name is on few nodes. */
static int scarcity(const struct quantity *q)
{
    if (str_is(q->name, "cpu"))
        return bits_of(q->amount);
    if (str_is(q->name, "memory"))
        return bits_of(q->amount) - 22;
    return str_is(q->name, "ephemeral-storage") ? bits_of(q->amount) - 26 : SCARCE;
}

/* NULL: nothing is asked for. */
static const struct quantity *scarcest_of(const struct pod *pod, bool common)
{
    const struct quantity *scarcest = NULL;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        const struct quantity *q = &pod->request.at[i];
        if (q->amount > 0 && !(common && scarcity(q) == SCARCE) &&
            (scarcest == NULL || scarcity(q) > scarcity(scarcest)))
            scarcest = q;
    }
    return scarcest;
}

/* What has a name of its own may be had from devices, too, on nodes that do not have it: so by what
 * else is asked for as well. */
static void file_request(const struct pod *pod, struct tokens *out)
{
    const struct quantity *scarcest = scarcest_of(pod, false);
    if (scarcest != NULL)
        tokens_add(out, class_token(scarcest->name, bits_of(scarcest->amount)));
    if (scarcest != NULL && scarcity(scarcest) == SCARCE)
        scarcest = scarcest_of(pod, true);
    if (scarcest == NULL)
        out->all = true;
    else
        tokens_add(out, class_token(scarcest->name, bits_of(scarcest->amount)));
}

static void seek_room(const struct event *event, struct tokens *out)
{
    const struct node *node = event->new_node;
    for (uint32_t i = 0; i < node->allocatable.count; i++)
        for (int bits = bits_of(node->allocatable.at[i].amount); bits > 0; bits--)
            tokens_add(out, class_token(node->allocatable.at[i].name, bits));
}

const struct filing filed_by_request = {file_request, seek_room};

static void file_resources(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->request.count; i++)
        if (pod->request.at[i].amount > 0)
            add(out, 'u', pod->request.at[i].name, NO_TEXT);
}

static void seek_resources(const struct event *event, struct tokens *out)
{
    const struct pod *old = event->old_pod;
    for (uint32_t i = 0; i < old->usage.count; i++)
        add(out, 'u', old->usage.at[i].name, NO_TEXT);
}

const struct filing filed_by_resource = {file_resources, seek_resources};

/* ---- ports ---- */

static void add_ports(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->ports.count; i++)
        tokens_add(out, token_of('p', pod->ports.at[i].protocol, NO_TEXT) +
                            (uint64_t)pod->ports.at[i].port);
}

static void seek_ports(const struct event *event, struct tokens *out)
{
    add_ports(event->old_pod, out);
}

const struct filing filed_by_port = {add_ports, seek_ports};

/* ---- disks and claims ---- */

/* What two pods cannot both have; an rbd image by its monitors, any of which may be shared. */
static void add_disks(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        const struct pod_volume *volume = &pod->volumes.at[i];
        uint64_t kind =
            token_of('v', pod->namespace_name, words_text(&volume_source_words, volume->kind));
        if (volume->kind != SOURCE_rbd)
            tokens_add(out, kind ^ token_of('v', volume->name, NO_TEXT));
        for (uint32_t k = 0; k < volume->monitors.count; k++)
            tokens_add(out, kind ^ token_of('v', volume->monitors.at[k], NO_TEXT));
    }
}

static void seek_disks(const struct event *event, struct tokens *out)
{
    add_disks(event->old_pod, out);
}

const struct filing filed_by_disk = {add_disks, seek_disks};

static void file_claims(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->claims.count; i++)
        add(out, 'c', pod->claims.at[i], pod->namespace_name);
}

static bool is_claim(const struct pod_volume *volume)
{
    return volume->kind == SOURCE_claim;
}

static void file_named_claims(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->volumes.count; i++)
        if (is_claim(&pod->volumes.at[i]))
            add(out, 'c', pod->volumes.at[i].name, pod->namespace_name);
}

static void seek_claim(const struct event *event, struct tokens *out)
{
    const struct claim *claim = event->new_object;
    add(out, 'c', claim->name, claim->namespace_name);
}

const struct filing filed_by_claim_used = {file_claims, seek_claim};
const struct filing filed_by_claim_named = {file_named_claims, seek_claim};

/* A claim's driver is not known here, nor that of a disk that cannot be translated. */
static void file_drivers(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        const struct pod_volume *volume = &pod->volumes.at[i];
        out->all = out->all || is_claim(volume) || volume->problem.len > 0;
        add(out, 'd', volume->driver, NO_TEXT);
    }
}

static void seek_attacher(const struct event *event, struct tokens *out)
{
    const struct attachment *gone = event->old_object;
    add(out, 'd', gone->attacher, NO_TEXT);
}

const struct filing filed_by_driver = {file_drivers, seek_attacher};

static void file_inline_drivers(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->volumes.count; i++)
        if (pod->volumes.at[i].kind == SOURCE_csi)
            add(out, 'i', pod->volumes.at[i].name, NO_TEXT);
}

static void seek_driver(const struct event *event, struct tokens *out)
{
    const struct csi_driver *driver = event->new_object;
    add(out, 'i', driver->name, NO_TEXT);
}

const struct filing filed_by_inline_driver = {file_inline_drivers, seek_driver};

/* ---- devices ---- */

static void file_device_claims(const struct pod *pod, struct tokens *out)
{
    for (uint32_t i = 0; i < pod->device_claims.count; i++)
        add(out, 'g', pod->device_claims.at[i].claim, pod->namespace_name);
}

static void seek_device_claim(const struct event *event, struct tokens *out)
{
    const struct resource_claim *old = event->old_object, *new = event->new_object;
    out->all = old != NULL && old->allocated && !new->allocated; /* devices for anybody */
    add(out, 'g', new->name, new->namespace_name);
}

const struct filing filed_by_devices = {file_device_claims, seek_device_claim};

static void seek_class(const struct event *event, struct tokens *out)
{
    const struct device_class *class = event->new_object;
    struct buffer name = {0};
    buffer_print(&name, "deviceclass.resource.kubernetes.io/%.*s", STR_ARG(class->name));
    add(out, 'u', buffer_str(&name), NO_TEXT);
    add(out, 'u', class->extended_resource, NO_TEXT);
    buffer_free(&name);
}

const struct filing filed_by_class = {file_resources, seek_class};
