/* coordinator, devices: a bind carries what its claims are given; what is in flight is taken once
 * and given back by whatever ends badly, and decisions are the same with any number of workers. */
#define EXTRA_PRE_FILTER " \"DynamicResources\""
#define EXTRA_FILTER     " \"DynamicResources\""
#define EXTRA_SCORE      " {name=\"DynamicResources\" weight=2}"
#define POST_FILTER                                                                                \
    "reserve=[\"DynamicResources\"] pre_bind=[\"DynamicResources\"] "                              \
    "post_filter=[\"DynamicResources\"] device_binding_timeout_ms=600000 "
#define MORE_PROFILES                                                                              \
    " {scheduler_name=\"without\" pre_filter=[\"NodeResourcesFit\"] "                              \
    "filter=[\"NodeResourcesFit\"]}"                                                               \
    " {scheduler_name=\"unfiltered\" pre_filter=[\"NodeResourcesFit\" \"DynamicResources\"] "      \
    "filter=[\"NodeResourcesFit\"] reserve=[\"DynamicResources\"] "                                \
    "pre_bind=[\"DynamicResources\"]}" SCORED("least", "LeastAllocated")                           \
        SCORED("most", "MostAllocated")
#define SCORED(name, strategy)                                                                     \
    " {scheduler_name=\"" name "\" pre_filter=[\"NodeResourcesFit\" \"DynamicResources\"] "        \
    "filter=[\"NodeResourcesFit\" \"DynamicResources\"] reserve=[\"DynamicResources\"] "           \
    "pre_bind=[\"DynamicResources\"] score=[{name=\"NodeResourcesFit\" weight=1}] "                \
    "fit_strategy=\"" strategy "\" fit_resources=[{name=\"example.com/gpu\" amount=1}]}"
#include "proto/base/random.h"
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

/* ---- what there is ---- */

#define NOBODY "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable"

/* A pool of its own on a node, whose devices these are. */
static void slice(const char *name, const char *devices)
{
    stream("resource_slice_set slice={name=\"s-%s\" driver=\"d.example\" pool=\"%s\" "
           "pool_generation=1 pool_slices=1 node_name=\"%s\" devices=[%s]}",
           name, name, name, devices);
}

static void claim_that(const char *name, const char *requests)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" "
           "uid=\"u-%s\" resource_version=1 requests=[%s]}",
           name, name, requests);
}

#define ONE_GPU                                                                                    \
    "{name=\"r\" exactly=true asks=[{name=\"r\" class_name=\"gpu\" mode=\"ExactCount\" count=1}]}"

static void claim(const char *name)
{
    claim_that(name, ONE_GPU);
}

static void show_allocated(const char *name, const char *device)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" "
           "uid=\"u-%s\" resource_version=2 requests=[%s] allocated=true devices=[{request=\"r\" "
           "driver=\"d.example\" pool=\"a\" device=\"%s\"}]}",
           name, name, ONE_GPU, device);
}

static void attempt_with(const char *pod, const char *claim_name, int cycle)
{
    char more[128];
    snprintf(more, sizeof(more), "device_claims=[{name=\"gpu\" claim=\"%s\"}]", claim_name);
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text(pod, 100, more), cycle);
}

/* One device on node a, and claims that want one. */
static void begin(void)
{
    lead(5);
    stream("device_class_set device_class={name=\"gpu\"}");
    slice("a", "{name=\"g0\"}");
    claim("c");
    claim("d");
}

static void assert_bound_with(const char *pod, const char *claim_name, const char *device)
{
    struct message m;
    if (!take(BINDER, MSG_bind, &m)) {
        bool said = take(BINDER, MSG_pod_failed, &m);
        fail_msg("%s is not bound: %.*s", pod, said ? (int)m.pod_failed.message.len : 0,
                 said ? m.pod_failed.message.at : "");
    }
    assert_true(str_is(m.bind.name, pod));
    assert_int_equal(m.bind.allocations.count, 1);
    assert_true(str_is(m.bind.allocations.at[0].claim, claim_name));
    assert_true(str_is(m.bind.allocations.at[0].devices.at[0].device, device));
}

static void assert_failed(const char *message)
{
    struct message m;
    if (!take(BINDER, MSG_pod_failed, &m))
        fail_msg("nobody failed");
    if (!str_is(m.pod_failed.message, message))
        fail_msg("said %.*s", STR_ARG(m.pod_failed.message));
}

static void bind_fails(const char *pod, const char *more)
{
    say(binder,
        "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"a\" "
        "plugin=\"DynamicResources\" message=\"it failed\" %s",
        pod, pod, more);
}

/* The device cannot be had. */
static void assert_taken(const char *pod, const char *claim_name, int cycle)
{
    attempt_with(pod, claim_name, cycle);
    assert_failed(NOBODY);
}

/* ---- a decision ---- */

static void a_bind_brings_the_claim_as_it_was_told(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"c\" uid=\"u-c\" "
           "resource_version=2 requests=[" ONE_GPU "] document=\"{2}\"}");
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.allocations.count, 1);
    assert_true(str_is(m.bind.allocations.at[0].document, "{2}"));
    bind_fails("p", "");
    attempt_with("q", "d", 2); /* nothing is known of how that one came */
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.allocations.at[0].document.len, 0);
}

static void a_bind_says_what_claims_are_given(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_int_equal(m.bind.device_claims.count, 1);
    assert_int_equal(m.bind.device_timeout_ms, 600000);
    assert_true(m.bind.set_nominated);
    assert_int_equal(m.bind.allocations.count, 1);
    const struct device_allocation *given = &m.bind.allocations.at[0];
    assert_true(str_is(given->claim, "c"));
    assert_true(str_is(given->uid, "u-c"));
    assert_int_equal(given->devices.count, 1);
    assert_true(str_is(given->devices.at[0].request, "r"));
    assert_true(str_is(given->devices.at[0].driver, "d.example"));
    assert_true(str_is(given->devices.at[0].pool, "a"));
    assert_true(str_is(given->devices.at[0].device, "g0"));
    assert_true(given->has_terms); /* the pool is the node's */
    assert_int_equal(given->terms.count, 1);
    assert_taken("q", "d", 2);
    attempt("r", 100, 3);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.allocations.count, 0);
    assert_int_equal(m.bind.device_timeout_ms, 0);
}

/* Where it is known already that the pod goes there, that is not written again. */
static void a_nomination_is_written_once(void **state)
{
    (void)state;
    struct message m;
    begin();
    say(queue, "attempt %s attempts=2 cycle=1",
        pod_text("p", 100, "nominated_node=\"a\" device_claims=[{name=\"x\" claim=\"c\"}]"));
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_false(m.bind.set_nominated);
}

/* A profile without the plugin leaves claims alone. */
static void who_does_not_allocate_does_not_reserve(void **state)
{
    (void)state;
    struct message m;
    begin();
    say(queue, "attempt pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" "
               "scheduler_name=\"without\" device_claims=[{name=\"x\" claim=\"c\"}]} cycle=1");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.device_claims.count, 0);
    assert_int_equal(m.bind.allocations.count, 0);
    assert_false(m.bind.set_nominated);
}

static void a_claim_that_is_named_twice_is_given_once(void **state)
{
    (void)state;
    struct message m;
    static const char *const both = "device_claims=[{name=\"x\" claim=\"c\"} "
                                    "{name=\"y\" claim=\"c\"}]";
    begin();
    say(queue, "attempt %s attempts=1 cycle=1", pod_text("p", 100, both));
    assert_failed(NOBODY); /* as upstream looks for devices for each of the two */
    slice("a", "{name=\"g0\"} {name=\"g1\"}");
    say(queue, "attempt %s attempts=2 cycle=2", pod_text("p", 100, both));
    assert_true(take(BINDER, MSG_bind, &m));
    assert_int_equal(m.bind.allocations.count, 1);
    assert_true(str_is(m.bind.allocations.at[0].devices.at[0].device, "g0"));
    assert_int_equal(m.bind.device_claims.count, 2);
    assert_false(m.bind.device_claims.at[0].unneeded);
    assert_true(m.bind.device_claims.at[1].unneeded);
    attempt_with("q", "d", 3);
    assert_bound_with("q", "d", "g1"); /* what was looked for in vain is nobody's */
}

static void the_better_alternative_decides(void **state)
{
    (void)state;
    struct message m;
    lead(5);
    stream("device_class_set device_class={name=\"gpu\"}");
    stream("device_class_set device_class={name=\"none\" selectors=[\"device.driver == 'o'\"]}");
    slice("a", "{name=\"g0\"}");
    stream("resource_slice_set slice={name=\"s-b\" driver=\"o\" pool=\"b\" pool_generation=1 "
           "pool_slices=1 node_name=\"b\" devices=[{name=\"h0\"}]}");
    claim_that("c", "{name=\"r\" asks=[{name=\"best\" class_name=\"none\" count=1} {name=\"good\" "
                    "class_name=\"gpu\" count=1}]}");
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m)); /* a has more room */
    assert_true(str_is(m.bind.node_name, "b"));
    assert_true(str_is(m.bind.allocations.at[0].devices.at[0].request, "r/best"));
}

static void devices_for_all_nodes_do_not_care_which(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("object_gone kind=\"ResourceSlice\" name=\"s-a\"");
    stream("resource_slice_set slice={name=\"net\" driver=\"d.example\" pool=\"net\" "
           "pool_generation=1 pool_slices=1 all_nodes=true devices=[{name=\"n0\"}]}");
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.allocations.at[0].devices.at[0].device, "n0"));
    assert_false(m.bind.allocations.at[0].has_terms);
    assert_taken("q", "d", 2);
}

static void what_a_selector_fails_with_ends_the_attempt(void **state)
{
    (void)state;
    struct message m;
    begin();
    stream("device_class_set device_class={name=\"odd\" "
           "selectors=[\"device.attributes['d.example'].no == 1\"]}");
    claim_that("e", "{name=\"r\" exactly=true asks=[{class_name=\"odd\" mode=\"ExactCount\" "
                    "count=1}]}");
    attempt_with("p", "e", 1);
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_int_equal(m.pod_failed.reason, REASON_scheduler_error);
    assert_true(
        str_starts_with(m.pod_failed.message, "running \"DynamicResources\" filter plugin: "));
    assert_true(take(QUEUE, MSG_outcome, &m));
    assert_true(m.outcome.result == OUTCOME_error);
    attempt_with("q", "c", 2);
    assert_bound_with("q", "c", "g0");
}

static void a_class_that_is_not_there_turns_away(void **state)
{
    (void)state;
    begin();
    stream("object_gone kind=\"DeviceClass\" name=\"gpu\"");
    attempt_with("p", "c", 1);
    assert_failed("0/2 nodes are available: request r: device class gpu does not exist. no new "
                  "claims to deallocate");
}

/* ---- what is given back ---- */

static void a_failed_bind_gives_devices_back(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    assert_taken("q", "d", 2);
    bind_fails("p", "code=500");
    assert_failed("running PreBind plugin \"DynamicResources\": it failed");
    assert_true(take(QUEUE, MSG_plugin_back, &m)); /* it wakes q: no object has changed */
    assert_true(str_is(m.plugin_back.name, "DynamicResources"));
    attempt_with("q", "d", 2);
    assert_bound_with("q", "d", "g0");
}

static void what_was_written_stays_until_the_watch_shows_it(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    bind_fails("p", "code=500 allocated=[\"u-c\"]");
    assert_false(take(QUEUE, MSG_plugin_back, &m));
    assert_failed("running PreBind plugin \"DynamicResources\": it failed");
    assert_taken("q", "d", 2);
    show_allocated("c", "g0");
    assert_taken("q", "d", 3);
    claim("c"); /* deallocated */
    attempt_with("q", "d", 4);
    assert_bound_with("q", "d", "g0");
}

/* Somebody else may have given the claim its devices; which is not known yet. */
static void a_claim_that_is_not_as_known_stays_taken(void **state)
{
    (void)state;
    begin();
    slice("a", "{name=\"g0\"} {name=\"g1\"}");
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    bind_fails("p", "code=409");
    assert_failed("running PreBind plugin \"DynamicResources\": it failed");
    attempt_with("q", "d", 2);
    assert_bound_with("q", "d", "g1");
    show_allocated("c", "g1"); /* then it is this one that is doubled, and the first is free */
    claim("e");
    attempt_with("r", "e", 3);
    assert_bound_with("r", "e", "g0");
}

static void what_the_watch_never_shows_ends_with_a_barrier(void **state)
{
    (void)state;
    struct message m;
    begin();
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    bind_fails("p", "code=0 allocated=[\"u-c\"]");
    assert_failed("running PreBind plugin \"DynamicResources\": it failed");
    tick_after(9000);
    assert_false(take(WATCHER, MSG_barrier, &m));
    tick_after(1000);
    assert_true(take(WATCHER, MSG_barrier, &m));
    tick_after(1000);
    stream("view synced=true");
    assert_taken("q", "d", 2);
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_true(take(QUEUE, MSG_plugin_back, &m)); /* no object tells who waits for it */
    assert_true(str_is(m.plugin_back.name, "DynamicResources"));
    attempt_with("q", "d", 3);
    assert_bound_with("q", "d", "g0");
}

static void allocations_are_counted_once(void **state)
{
    (void)state;
    begin();
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    show_allocated("c", "g0"); /* the watch is faster than the answer */
    assert_taken("q", "d", 2);
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201 allocated=[\"u-c\"]");
    assert_taken("q", "d", 3);
    claim("c"); /* once taken, once given back */
    attempt_with("q", "d", 4);
    assert_bound_with("q", "d", "g0");
}

static void a_bound_pod_keeps_its_devices_before_the_watch_shows_them(void **state)
{
    (void)state;
    begin();
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    say(binder, "bind_result uid=\"u-p\" namespace_name=\"default\" name=\"p\" node_name=\"a\" "
                "bound=true code=201 allocated=[\"u-c\"]");
    assert_taken("q", "d", 2);
    show_allocated("c", "g0");
    assert_taken("q", "d", 3);
    stream("object_gone kind=\"ResourceClaim\" namespace_name=\"default\" name=\"c\"");
    attempt_with("q", "d", 4);
    assert_bound_with("q", "d", "g0");
}

static void lost_leadership_gives_devices_back(void **state)
{
    (void)state;
    begin();
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "g0");
    say(binder, "leadership leading=false lead_term=5 identity=\"me\" holder=\"you\"");
    lead(6);
    attempt_with("q", "d", 2);
    assert_bound_with("q", "d", "g0");
}

/* A former life's bind has written its claim: that is seen before anything is decided. */
static void a_restart_sees_what_was_written(void **state)
{
    (void)state;
    struct message m;
    say(binder, "leadership leading=true lead_term=5 identity=\"me\" holder=\"me\" "
                "in_flight=[{uid=\"u-o\" node_name=\"a\"}]");
    stream("device_class_set device_class={name=\"gpu\"}");
    slice("a", "{name=\"g0\"}");
    claim("c");
    claim("d");
    attempt_with("q", "d", 2);
    assert_false(take(WATCHER, MSG_barrier, &m));
    say(binder, "bind_result uid=\"u-o\" namespace_name=\"default\" name=\"o\" node_name=\"a\" "
                "message=\"the scheduler was restarted\" allocated=[\"u-c\"]");
    assert_true(take(WATCHER, MSG_barrier, &m));
    assert_false(take(BINDER, MSG_bind, &m));
    show_allocated("c", "g0");
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
    assert_failed(NOBODY);
}

static void a_group_that_fails_gives_devices_back(void **state)
{
    (void)state;
    struct message m;
    char first[1024], second[1024];
    begin();
    snprintf(first, sizeof(first), "%s",
             pod_text("g1", 100, "device_claims=[{name=\"gpu\" claim=\"c\"}]"));
    snprintf(second, sizeof(second), "%s",
             pod_text("g2", 100, "device_claims=[{name=\"gpu\" claim=\"d\"}]"));
    say(queue,
        "gang_attempt group={api=\"scheduling.x-k8s.io\" namespace_name=\"default\" name=\"g\" "
        "uid=\"g\" min_member=2} needed=2 members=[{%s cycle=1} {%s cycle=2}]",
        first, second);
    assert_false(take(BINDER, MSG_bind, &m)); /* there is one device */
    assert_true(take(BINDER, MSG_pod_failed, &m));
    assert_true(take(BINDER, MSG_pod_failed, &m));
    attempt_with("q", "d", 3);
    assert_bound_with("q", "d", "g0");
}

/* ---- what changes while a decision is under way ---- */

static void devices_that_go_meanwhile_are_looked_for_anew(void **state)
{
    (void)state;
    begin();
    slice("b", "{name=\"h0\"}");
    w.paused = true;
    attempt_with("p", "c", 1);
    stream("object_gone kind=\"ResourceSlice\" name=\"s-a\"");
    resume();
    assert_bound_with("p", "c", "h0");
}

static void a_claim_that_is_allocated_meanwhile_is_left_alone(void **state)
{
    (void)state;
    struct message m;
    begin();
    w.paused = true;
    attempt_with("p", "c", 1);
    show_allocated("c", "g0");
    resume();
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_int_equal(m.bind.device_claims.count, 1);
    assert_int_equal(m.bind.allocations.count, 0);
    assert_int_equal(m.bind.relied_on.count, 1);
    assert_true(str_is(m.bind.relied_on.at[0].claim, "c"));
    assert_true(str_is(m.bind.relied_on.at[0].uid, "u-c"));
    assert_int_equal(m.bind.relied_on.at[0].devices.count, 1);
    assert_true(str_is(m.bind.relied_on.at[0].devices.at[0].device, "g0"));
}

static void show_allocated_on(const char *name, const char *node_name, const char *device)
{
    stream("resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" "
           "uid=\"u-%s\" resource_version=3 requests=[%s] allocated=true devices=[{request=\"r\" "
           "driver=\"d.example\" pool=\"%s\" device=\"%s\"}] has_terms=true "
           "terms=[{fields=[{key=\"metadata.name\" operator_name=\"In\" values=[\"%s\"]}]}]}",
           name, name, ONE_GPU, node_name, device, node_name);
}

/* Its devices were taken back and it was given others while workers were asked. */
static void a_claim_that_moves_meanwhile_takes_the_pod_along(void **state)
{
    (void)state;
    struct message m;
    begin();
    slice("b", "{name=\"h0\"}");
    show_allocated_on("c", "a", "g0");
    w.paused = true;
    attempt_with("p", "c", 1);
    show_allocated_on("c", "b", "h0");
    resume();
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "b"));
    assert_int_equal(m.bind.relied_on.count, 1);
    assert_true(str_is(m.bind.relied_on.at[0].devices.at[0].device, "h0"));
}

/* A profile that does not filter by claims binds wherever the pod fits, and does not decide for
 * ever anew because the claim is for other nodes. */
static void who_does_not_filter_is_not_held_up_by_where_claims_are(void **state)
{
    (void)state;
    struct message m;
    begin();
    slice("b", "{name=\"h0\"}");
    show_allocated_on("c", "b", "h0");
    node("b", 1);
    say(queue, "attempt pod={uid=\"u-p\" namespace_name=\"default\" name=\"p\" "
               "scheduler_name=\"unfiltered\" request=[{name=\"cpu\" amount=100}] "
               "device_claims=[{name=\"x\" claim=\"c\"}]} cycle=1");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_int_equal(m.bind.relied_on.count, 0);
}

/* What the pod was decided on goes along, whatever has become of the claim since. */
static void a_bind_that_is_sent_again_says_what_it_was_decided_on(void **state)
{
    (void)state;
    struct message m;
    begin();
    show_allocated("c", "g0");
    attempt_with("p", "c", 1);
    assert_true(take(BINDER, MSG_bind, &m));
    show_allocated_on("c", "b", "h0");
    for (int i = 0; i < 3; i++)
        say(binder, "leadership leading=true lead_term=5 identity=\"me\"");
    assert_true(take(BINDER, MSG_bind, &m));
    assert_true(str_is(m.bind.node_name, "a"));
    assert_true(str_is(m.bind.relied_on.at[0].devices.at[0].device, "g0"));
}

static void a_claim_that_goes_meanwhile_turns_away(void **state)
{
    (void)state;
    begin();
    w.paused = true;
    attempt_with("p", "c", 1);
    stream("object_gone kind=\"ResourceClaim\" namespace_name=\"default\" name=\"c\"");
    resume();
    assert_failed("0/2 nodes are available: could not find ResourceClaim \"default/c\". no new "
                  "claims to deallocate");
}

static void snapshots_take_away_what_they_do_not_show(void **state)
{
    (void)state;
    begin();
    int64_t at = w.sequence; /* all of it stands at one place */
    stream("snapshot_begin");
    w.sequence = at;
    node("a", 4000);
    w.sequence = at;
    node("b", 2000);
    w.sequence = at;
    stream("device_class_set device_class={name=\"gpu\"}");
    w.sequence = at;
    slice("b", "{name=\"h0\"}");
    w.sequence = at;
    claim("c");
    w.sequence = at;
    stream("snapshot_end");
    attempt_with("p", "c", 1);
    assert_bound_with("p", "c", "h0");
    attempt_with("q", "d", 2);
    assert_failed("0/2 nodes are available: could not find ResourceClaim \"default/d\". no new "
                  "claims to deallocate");
}

/* ---- any number of workers ---- */

static void add_random_things(struct random *r)
{
    char devices[400] = "", name[16];
    stream("device_class_set device_class={name=\"gpu\"}");
    for (int n = 0; n < 8; n++) {
        snprintf(name, sizeof(name), "n%d", n);
        node(name, 1000 + (int)random_below(r, 4) * 1000);
        devices[0] = 0;
        for (uint64_t i = random_below(r, 4); i > 0; i--)
            snprintf(devices + strlen(devices), sizeof(devices) - strlen(devices),
                     "{name=\"g%d\"} ", (int)i);
        if (devices[0] != 0)
            slice(name, devices);
    }
    stream("resource_slice_set slice={name=\"net\" driver=\"d.example\" pool=\"net\" "
           "pool_generation=1 pool_slices=1 all_nodes=true devices=[{name=\"n0\"} {name=\"n1\"}]}");
}

/* What becomes of 25 pods, in words. */
static void play(uint64_t seed, uint32_t workers, struct buffer *out)
{
    struct random r = {seed};
    struct message m;
    assert_int_equal(start(NULL), 0);
    for (uint32_t k = workers; k < WORKERS; k++)
        die(k);
    lead(5);
    add_random_things(&r);
    for (int i = 0; i < 25; i++) {
        char name[16];
        snprintf(name, sizeof(name), "c%d", i);
        char requests[200];
        snprintf(requests, sizeof(requests),
                 "{name=\"r\" exactly=true asks=[{class_name=\"gpu\" mode=\"ExactCount\" "
                 "count=%d}]}",
                 1 + (int)random_below(&r, 2));
        claim_that(name, requests);
        attempt_with(name, name, i + 1);
        if (take(BINDER, MSG_bind, &m)) {
            buffer_print(out, "%.*s:", STR_ARG(m.bind.node_name));
            for (uint32_t k = 0; k < m.bind.allocations.at[0].devices.count; k++)
                buffer_print(out, " %.*s", STR_ARG(m.bind.allocations.at[0].devices.at[k].device));
            buffer_add_text(out, "\n");
        } else if (take(BINDER, MSG_pod_failed, &m)) {
            buffer_print(out, "%.*s\n", STR_ARG(m.pod_failed.message));
        }
    }
    stop(NULL);
}

static void decisions_are_the_same_with_any_number_of_workers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct buffer one = {0}, all = {0};
        play(seed, 1, &one);
        play(seed, WORKERS, &all);
        assert_string_equal(one.at, all.at);
        assert_non_null(strstr(one.at, ": g"));
        assert_non_null(strstr(one.at, "cannot allocate all claims"));
        buffer_free(&one);
        buffer_free(&all);
    }
}

/* ---- scores ---- */

static const char *node_chosen_by(const char *profile, int cycle)
{
    static char node[16];
    struct message m;
    say(queue,
        "attempt pod={uid=\"u-p%d\" namespace_name=\"default\" name=\"p%d\" scheduler_name=\"%s\" "
        "request=[{name=\"example.com/gpu\" amount=1}] "
        "score_request=[{name=\"example.com/gpu\" amount=1}] "
        "usage=[{name=\"example.com/gpu\" amount=1}] "
        "extended_asks=[{container=\"c\" resource=\"example.com/gpu\" amount=1}]} attempts=1 "
        "cycle=%d",
        cycle, cycle, profile, cycle);
    assert_true(take(BINDER, MSG_bind, &m));
    snprintf(node, sizeof(node), "%.*s", STR_ARG(m.bind.node_name));
    return node;
}

static void scores_count_devices_that_stand_for_a_resource(void **state)
{
    (void)state;
    begin();
    stream("device_class_set device_class={name=\"gpu\" extended_resource=\"example.com/gpu\"}");
    slice("a", "{name=\"g0\"} {name=\"g1\"} {name=\"g2\"}");
    slice("b", "{name=\"g0\"} {name=\"g1\"} {name=\"g2\"} {name=\"g3\"} {name=\"g4\"}");
    assert_string_equal(node_chosen_by("least", 1), "b"); /* 66 and 80 of 100 left */
    assert_string_equal(node_chosen_by("most", 2), "b");  /* 33 and 40 in use */
    assert_string_equal(node_chosen_by("least", 3), "a"); /* 66 and 40 left */
    assert_string_equal(node_chosen_by("most", 4), "a");  /* 66 and 60 in use */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bind_says_what_claims_are_given),
        TEST(a_bind_brings_the_claim_as_it_was_told),
        TEST(a_nomination_is_written_once),
        TEST(who_does_not_allocate_does_not_reserve),
        TEST(a_claim_that_is_named_twice_is_given_once),
        TEST(the_better_alternative_decides),
        TEST(devices_for_all_nodes_do_not_care_which),
        TEST(what_a_selector_fails_with_ends_the_attempt),
        TEST(a_class_that_is_not_there_turns_away),
        TEST(a_failed_bind_gives_devices_back),
        TEST(what_was_written_stays_until_the_watch_shows_it),
        TEST(a_claim_that_is_not_as_known_stays_taken),
        TEST(a_claim_that_moves_meanwhile_takes_the_pod_along),
        TEST(who_does_not_filter_is_not_held_up_by_where_claims_are),
        TEST(a_bind_that_is_sent_again_says_what_it_was_decided_on),
        TEST(what_the_watch_never_shows_ends_with_a_barrier),
        TEST(allocations_are_counted_once),
        TEST(a_bound_pod_keeps_its_devices_before_the_watch_shows_them),
        TEST(lost_leadership_gives_devices_back),
        TEST(a_restart_sees_what_was_written),
        TEST(a_group_that_fails_gives_devices_back),
        TEST(devices_that_go_meanwhile_are_looked_for_anew),
        TEST(a_claim_that_is_allocated_meanwhile_is_left_alone),
        TEST(a_claim_that_goes_meanwhile_turns_away),
        TEST(snapshots_take_away_what_they_do_not_show),
        TEST(scores_count_devices_that_stand_for_a_resource),
        cmocka_unit_test(decisions_are_the_same_with_any_number_of_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
