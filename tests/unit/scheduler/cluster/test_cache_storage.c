/* cache, storage: workers hear of pods' volumes and of nodes' limits, again when something behind
 * them changes and only then; the catalog hears which claims are in use. */
#include "scheduler/cluster/cache.h"
#include "tests/unit/scheduler/storage.h"

#define TEXT(s) str_of(s)

struct hearing {
    struct cluster *c;
    struct cache *cache;
    struct buffer heard; /* since it was last read: one word a message */
};

static void hear(void *context, uint32_t worker, const struct message *m)
{
    struct hearing *h = context;
    (void)worker;
    if (m->type == MSG_shard_pod || m->type == MSG_shard_nominated) {
        bool on_it = m->type == MSG_shard_pod;
        const struct pod *p = on_it ? &m->shard_pod.pod : &m->shard_nominated.pod;
        buffer_print(&h->heard, "%s%.*s(", on_it ? "" : "+", STR_ARG(p->name));
        for (uint32_t i = 0; i < p->attached.count; i++)
            buffer_print(&h->heard, "%s%.*s/%.*s", i > 0 ? "," : "",
                         STR_ARG(p->attached.at[i].driver), STR_ARG(p->attached.at[i].handle));
        buffer_print(&h->heard, "%s) ", p->attach_problem.len > 0 ? "!" : "");
        for (uint32_t i = 0; on_it && i < m->shard_pod.freed.count; i++)
            buffer_print(&h->heard, "-%lld ", (long long)m->shard_pod.freed.at[i].port);
    } else if (m->type == MSG_shard_storage) {
        const struct shard_storage *s = &m->shard_storage;
        buffer_print(&h->heard, "%.*s[", STR_ARG(s->node_name));
        for (uint32_t i = 0; i < s->drivers.count; i++)
            if (s->drivers.at[i].limited)
                buffer_print(&h->heard, "%.*s<=%lld ", STR_ARG(s->drivers.at[i].driver),
                             (long long)s->drivers.at[i].count);
        for (uint32_t i = 0; i < s->attached.count; i++)
            buffer_print(&h->heard, "%.*s ", STR_ARG(s->attached.at[i].handle));
        buffer_print(&h->heard, "%s] ", s->has_csi_node ? "" : "none");
    } else if (m->type == MSG_shard_node) {
        buffer_print(&h->heard, "%.*s ", STR_ARG(m->shard_node.node.name));
    }
}

static void heard(struct hearing *h, const char *what)
{
    assert_str(buffer_str(&h->heard), what);
    buffer_reset(&h->heard);
}

static void object(struct hearing *h, const char *text)
{
    struct message m = message_of(h->c, text);
    catalog_take(h->c->catalog, &m);
    cache_object(h->cache, &m);
}

static void put(struct hearing *h, struct pod *p, const char *node)
{
    cache_pod_set(h->cache, on_node(p, node));
}

static struct hearing *hearing_new(struct cluster *c)
{
    struct hearing *h = arena_take(&c->arena, sizeof(*h));
    h->c = c;
    h->cache =
        cache_new(&(struct cache_options){.tell = hear, .context = h, .catalog = c->catalog});
    cache_worker_join(h->cache, 1, 1);
    return h;
}

static void hearing_free(struct hearing *h)
{
    cache_free(&h->cache);
    buffer_free(&h->heard);
}

static void pods_are_told_again_when_their_volumes_change(void **state)
{
    struct hearing *h = hearing_new(*state);
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    put(h, with_claim(h->c, "p", "c"), "n1");
    put(h, with_claim(h->c, "q", NULL), "n1");
    heard(h, "n1 p() q() ");
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" class_name=\"s\"}");
    object(h, "claim_set claim={namespace_name=\"other\" name=\"c\" class_name=\"s\"}");
    heard(h, "");
    object(h, "storage_class_set storage_class={name=\"s\" provisioner=\"d\"}");
    heard(h, "p(d/claim without a volume: default/c) ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    heard(h, "");
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    heard(h, "p(d/h) ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\" "
              "capacity=5}");
    heard(h, "");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"i\"}");
    heard(h, "p(d/i) ");
    object(h, "object_gone kind=\"PersistentVolume\" name=\"v\"");
    heard(h, "p() ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"i\"}");
    heard(h, "p(d/i) ");
    object(h, "object_gone kind=\"PersistentVolumeClaim\" namespace_name=\"default\" name=\"c\"");
    heard(h, "p() ");
    hearing_free(h);
}

/* Upstream looks volumes up anew and does not touch its pods; only a pod's update takes its ports.
 */
static void a_volume_takes_no_port_and_an_update_does(void **state)
{
    struct hearing *h = hearing_new(*state);
    struct pod *p = with_claim(h->c, "p", "c"), *gone = make_pod(h->c, "gone", 0, 0);
    add_port(h->c, p, "0.0.0.0", "TCP", 80);
    add_port(h->c, p, "0.0.0.0", "TCP", 81);
    add_port(h->c, gone, "0.0.0.0", "TCP", 80);
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    put(h, p, "n1");
    put(h, gone, "n1");
    cache_pod_gone(h->cache, gone->uid);
    heard(h, "n1 p() gone() ");
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    heard(h, "p(d/h) -80 ");
    put(h, p, "n1"); /* of what workers look at nothing is another */
    heard(h, "p(d/h) ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"i\"}");
    heard(h, "p(d/i) ");
    hearing_free(h);
}

static void everybody_who_shares_a_volume_is_told(void **state)
{
    struct hearing *h = hearing_new(*state);
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    object(h, "claim_set claim={namespace_name=\"default\" name=\"d\" volume_name=\"v\"}");
    struct pod *gone = with_claim(h->c, "gone", "c");
    put(h, with_claim(h->c, "p", "c"), "n1");
    put(h, gone, "n1");
    put(h, with_claim(h->c, "q", "d"), "n1");
    cache_pod_gone(h->cache, gone->uid);
    heard(h, "n1 p() gone() q() ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    heard(h, "q(d/h) p(d/h) ");
    hearing_free(h);
}

static void an_ephemeral_claim_of_another_pod_is_a_problem(void **state)
{
    struct hearing *h = hearing_new(*state);
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    struct pod *p = with_claim(h->c, "p", NULL);
    add_volume(h->c, p, "ephemeral", "p-v");
    put(h, p, "n1");
    heard(h, "n1 p() ");
    object(h, "claim_set claim={namespace_name=\"default\" name=\"p-v\" owner_uid=\"x\"}");
    heard(h, "p(!) ");
    hearing_free(h);
}

#define LIMIT(node, count)                                                                         \
    "csi_node_set csi_node={name=\"" node "\" drivers=[{driver=\"d\" limited=true count=" #count   \
    "} {driver=\"free\"}]}"
#define ATTACHED(name, node, volume)                                                               \
    "attachment_set attachment={name=\"" name "\" attacher=\"d\" node_name=\"" node                \
    "\" volume_name=\"" volume "\"}"

static void nodes_are_told_what_limits_them(void **state)
{
    struct hearing *h = hearing_new(*state);
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    heard(h, "n1 ");
    object(h, LIMIT("n1", 3));
    object(h, LIMIT("n1", 3));
    object(h, LIMIT("n2", 3));
    heard(h, "n1[d<=3 ] ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    object(h, ATTACHED("a", "n1", "v"));
    heard(h, "n1[d<=3 h ] ");
    object(h, ATTACHED("same", "n1", "v"));
    object(h, ATTACHED("nothing", "n1", "w"));
    object(h, "attachment_set attachment={name=\"other\" attacher=\"e\" node_name=\"n1\" "
              "volume_name=\"v\"}");
    heard(h, "");
    object(h, "volume_set volume={name=\"w\" source=\"csi\" driver=\"x\" handle=\"g\"}");
    heard(h, "n1[d<=3 g h ] ");
    object(h, ATTACHED("nothing", "n2", "w"));
    heard(h, "n1[d<=3 h ] ");
    object(h, "object_gone kind=\"VolumeAttachment\" name=\"a\"");
    heard(h, "");
    object(h, "object_gone kind=\"VolumeAttachment\" name=\"same\"");
    heard(h, "n1[d<=3 ] ");
    cache_node_set(h->cache, make_node(h->c, "n2", 1000, GIB));
    heard(h, "n2 n2[d<=3 g ] ");
    object(h, "object_gone kind=\"CSINode\" name=\"n1\"");
    heard(h, "n1[none] ");
    cache_worker_join(h->cache, 1, 1);
    heard(h, "n1 n2 n2[d<=3 g ] ");
    hearing_free(h);
}

static void a_snapshot_without_them_ends_limits_and_volumes(void **state)
{
    struct hearing *h = hearing_new(*state);
    struct node *n = make_node(h->c, "n1", 1000, GIB);
    struct pod *p = with_claim(h->c, "p", "c");
    cache_node_set(h->cache, n);
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    object(h, LIMIT("n1", 3));
    object(h, ATTACHED("a", "n1", "v"));
    put(h, p, "n1");
    heard(h, "n1 n1[d<=3 ] n1[d<=3 h ] p(d/h) ");
    cache_snapshot_begin(h->cache);
    catalog_snapshot_begin(h->c->catalog);
    cache_node_set(h->cache, n);
    put(h, p, "n1");
    object(h, LIMIT("n1", 3));
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    heard(h, "");
    catalog_snapshot_end(h->c->catalog);
    cache_snapshot_end(h->cache);
    heard(h, "p() n1[d<=3 ] ");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    heard(h, "p(d/h) ");
    hearing_free(h);
}

static bool in_use(struct hearing *h)
{
    return catalog_claim_in_use(h->c->catalog, TEXT("default"), TEXT("c"));
}

static void claims_are_in_use_on_known_nodes(void **state)
{
    struct hearing *h = hearing_new(*state);
    struct pod *p = with_claim(h->c, "p", "c"), *e = with_claim(h->c, "e", NULL);
    add_volume(h->c, e, "ephemeral", "c");
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    put(h, e, "n1"); /* ephemeral ones are not counted */
    assert_false(in_use(h));
    assert_true(cache_assume(h->cache, p, TEXT("n1")));
    assert_true(in_use(h));
    assert_true(cache_forget(h->cache, p->uid));
    assert_false(in_use(h));
    put(h, p, "n2"); /* a ghost */
    assert_false(in_use(h));
    cache_node_set(h->cache, make_node(h->c, "n2", 1000, GIB));
    assert_true(in_use(h));
    cache_node_gone(h->cache, TEXT("n2"));
    assert_false(in_use(h));
    cache_node_set(h->cache, make_node(h->c, "n2", 1000, GIB));
    put(h, p, "n1"); /* moved */
    assert_true(in_use(h));
    cache_pod_gone(h->cache, p->uid);
    assert_false(in_use(h));
    hearing_free(h);
}

static void nominated_pods_come_with_their_volumes(void **state)
{
    struct hearing *h = hearing_new(*state);
    cache_node_set(h->cache, make_node(h->c, "n1", 1000, GIB));
    object(h, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"h\"}");
    cache_nominate(h->cache, with_claim(h->c, "p", "c"), TEXT("n1"));
    heard(h, "n1 +p(d/h) ");
    cache_flush(h->cache);
    heard(h, "");
    object(h, "volume_set volume={name=\"v\" source=\"csi\" driver=\"d\" handle=\"k\"}");
    heard(h, ""); /* once, before the next decision, whatever else changes until then */
    cache_flush(h->cache);
    heard(h, "+p(d/k) ");
    cache_flush(h->cache);
    heard(h, "");
    hearing_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(pods_are_told_again_when_their_volumes_change),
        CLUSTER_TEST(a_volume_takes_no_port_and_an_update_does),
        CLUSTER_TEST(everybody_who_shares_a_volume_is_told),
        CLUSTER_TEST(an_ephemeral_claim_of_another_pod_is_a_problem),
        CLUSTER_TEST(nodes_are_told_what_limits_them),
        CLUSTER_TEST(a_snapshot_without_them_ends_limits_and_volumes),
        CLUSTER_TEST(claims_are_in_use_on_known_nodes),
        CLUSTER_TEST(nominated_pods_come_with_their_volumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
