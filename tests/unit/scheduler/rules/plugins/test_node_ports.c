/* NodePorts: sockets collide by protocol, port and address, and are freed with the pod. */
#include "tests/unit/scheduler/cluster.h"

#define NO "NodePorts U: node(s) didn't have free ports for the requested pod ports"

static void sockets_collide_by_protocol_port_and_address(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *used_ip, *wanted_ip, *protocol;
        int64_t port;
        const char *ruling;
    } table[] = {
        {"0.0.0.0", "0.0.0.0", "TCP", 80, NO},   {"0.0.0.0", "10.0.0.1", "TCP", 80, NO},
        {"10.0.0.1", "0.0.0.0", "TCP", 80, NO},  {"10.0.0.1", "10.0.0.1", "TCP", 80, NO},
        {"10.0.0.1", "10.0.0.2", "TCP", 80, ""}, {"0.0.0.0", "0.0.0.0", "UDP", 80, ""},
        {"0.0.0.0", "0.0.0.0", "TCP", 81, ""},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        begin(c);
        put_node(c, make_node(c, "n1", 1000, GIB));
        struct pod *used = make_pod(c, "used", 0, 0), *wants = make_pod(c, "wants", 0, 0);
        add_port(c, used, table[i].used_ip, "TCP", 80);
        put_pod(c, used, "n1");
        add_port(c, wants, "0.0.0.0", "SCTP", 9);
        add_port(c, wants, table[i].wanted_ip, table[i].protocol, table[i].port);
        assert_string_equal(ruling_on(c, wants, "n1"), table[i].ruling);
    }
}

static void a_port_is_free_when_its_pod_is_gone(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    struct pod *used = make_pod(c, "used", 0, 0), *wants = make_pod(c, "wants", 0, 0);
    add_port(c, used, "0.0.0.0", "TCP", 80);
    add_port(c, wants, "0.0.0.0", "TCP", 80);
    put_pod(c, used, "n1");
    assert_string_equal(ruling_on(c, wants, "n1"), NO);
    shard_pod_gone(c->shard, used->uid);
    assert_string_equal(ruling_on(c, wants, "n1"), "");
}

/* Upstream's set of used ports does not count; preemption's dry runs depend on it. */
static void one_of_two_pods_on_a_port_frees_it(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    struct pod *a = make_pod(c, "a", 0, 0), *b = make_pod(c, "b", 0, 0);
    struct pod *wants = make_pod(c, "wants", 0, 0);
    add_port(c, a, "0.0.0.0", "TCP", 80);
    add_port(c, b, "0.0.0.0", "TCP", 80);
    add_port(c, wants, "0.0.0.0", "TCP", 80);
    put_pod(c, a, "n1");
    put_pod(c, b, "n1");
    shard_pod_gone(c->shard, a->uid);
    assert_string_equal(ruling_on(c, wants, "n1"), "");
}

/* What its node's other pods took meanwhile stays as it is. */
static void a_pod_is_told_with_ports_that_stay_free(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    struct pod *a = make_pod(c, "a", 0, 0), *one = make_pod(c, "one", 0, 0);
    struct pod *other = make_pod(c, "other", 0, 0);
    add_port(c, a, "0.0.0.0", "TCP", 80);
    add_port(c, a, "0.0.0.0", "TCP", 81);
    add_port(c, one, "0.0.0.0", "TCP", 80);
    add_port(c, other, "0.0.0.0", "TCP", 81);
    struct shard_pod told = {.pod = *on_node(a, "n1"), .freed = {1, one->ports.at}};
    for (int i = 0; i < 2; i++) {
        told.in_place = i > 0;
        shard_pod_told(c->shard, &told);
        assert_string_equal(ruling_on(c, one, "n1"), "");
        assert_string_equal(ruling_on(c, other, "n1"), NO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(sockets_collide_by_protocol_port_and_address),
        CLUSTER_TEST(a_port_is_free_when_its_pod_is_gone),
        CLUSTER_TEST(one_of_two_pods_on_a_port_frees_it),
        CLUSTER_TEST(a_pod_is_told_with_ports_that_stay_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
