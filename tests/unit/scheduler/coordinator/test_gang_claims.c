/* test_gang_claims: ResourceClaims of groups of scheduling.k8s.io: pods share what one of them is
 * given in the same attempt, and nobody else does; and with DRAWorkloadResourceClaims claims that
 * are the group's own. */
#include "proto/base/log.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define IN_TREE "scheduling.k8s.io"
#define CRD     "scheduling.x-k8s.io"

static struct side *s;
static bool groups_have_claims = true; /* DRAWorkloadResourceClaims */

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static void shape(struct profile *p)
{
    static struct str filters[] = {TEXT("NodeResourcesFit"), TEXT("DynamicResources")};
    static struct str devices[] = {TEXT("DynamicResources")};
    static struct str post_filter[] = {TEXT("DynamicResources"), TEXT("DefaultPreemption")};
    p->pre_filter = (struct strs){2, filters};
    p->filter = (struct strs){2, filters};
    p->reserve = (struct strs){1, devices};
    p->pre_bind = (struct strs){1, devices};
    p->post_filter = (struct strs){2, post_filter};
    p->features.workload_claims = groups_have_claims;
}

#define CLAIM_C "{name=\"gpu\" claim=\"c\"}"
#define CLAIM_D "{name=\"more\" claim=\"d\"}"

/* The group is there, with these claims. */
static void see_group(const char *claims)
{
    sees(s,
         "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
         "uid=\"u-group\" min_member=2 device_claims=[%s]}",
         claims);
}

/* Two nodes of 4000 with one device each, and claims c and d that want one. */
static void begin(int release)
{
    batch_in_tree = true;
    batch_release = release;
    batch_shape = shape;
    s = side_new(0, TIE_BREAK_first);
    for (int i = 0; i < 2; i++)
        sees(s,
             "node_set node={name=\"n%d\" allocatable=[{name=\"cpu\" amount=4000} "
             "{name=\"memory\" amount=8589934592} {name=\"pods\" amount=110}]}",
             i);
    side_begins(s);
    see_group("");
    sees(s, "device_class_set device_class={name=\"gpu\"}");
    for (int i = 0; i < 2; i++)
        sees(s,
             "resource_slice_set slice={name=\"s%d\" driver=\"d.example\" pool=\"n%d\" "
             "pool_generation=1 pool_slices=1 node_name=\"n%d\" devices=[{name=\"g0\"}]}",
             i, i, i);
    for (int name = 'c'; name <= 'd'; name++)
        sees(s,
             "resource_claim_set resource_claim={namespace_name=\"default\" name=\"%c\" "
             "uid=\"u-%c\" resource_version=1 requests=[{name=\"r\" exactly=true asks=[{name=\"r\" "
             "class_name=\"gpu\" mode=\"ExactCount\" count=1}]}] document=\"{}\"}",
             name, name);
}

static int stop(void **state)
{
    (void)state;
    side_free(&s);
    batch_in_tree = false;
    batch_shape = NULL;
    batch_release = 36;
    groups_have_claims = true;
    return 0;
}

static char said_of_group[16384];

static void add_member(const char *api, int i, int cpu, const char *claims)
{
    char *text = said_of_group;
    size_t len = strlen(text);
    snprintf(text + len, sizeof(said_of_group) - len,
             "{pod={uid=\"u-g-%d\" namespace_name=\"default\" name=\"g-%d\" "
             "scheduler_name=\"default-scheduler\" gang=\"g\" gang_api=\"%s\" "
             "request=[{name=\"cpu\" amount=%d}] score_request=[{name=\"cpu\" amount=%d}] "
             "usage=[{name=\"cpu\" amount=%d}] device_claims=[%s]} attempts=1 cycle=%d} ",
             i, i, api, cpu, cpu, cpu, claims, i + 1);
}

/* Members g-0, g-1 … all of which are needed. */
static void begin_group(const char *api, int count)
{
    snprintf(said_of_group, sizeof(said_of_group),
             "gang_attempt group={api=\"%s\" namespace_name=\"default\" name=\"g\" "
             "uid=\"u-group\" min_member=%d} needed=%d members=[",
             api, count, count);
}

static void end_group(void)
{
    strcat(said_of_group, "]");
    struct message m = side_message(s, said_of_group);
    hears(s, queue, &m, false);
    settle(s);
}

static void group(const char *api, int count, int cpu, const char *claims)
{
    begin_group(api, count);
    for (int i = 0; i < count; i++)
        add_member(api, i, cpu, claims);
    end_group();
}

static void expect_said(enum message_type type, const char *part, int count)
{
    int got = 0;
    const char *text;
    for (int i = 0; (text = said(s, type, i)) != NULL; i++)
        got += strstr(text, part) != NULL;
    if (got == count)
        return;
    for (size_t i = 0; i < s->told_count; i++)
        print_message("%s %s\n", message_info[s->told[i].type].record->name, s->told[i].text);
    fail_msg("%d of %s, not %d", got, part, count);
}

/* The claim has the device of a node, and is reserved as said. */
static void see_allocated(const char *claim, const char *node, const char *reserved)
{
    sees(s,
         "resource_claim_set resource_claim={namespace_name=\"default\" name=\"%s\" uid=\"u-%s\" "
         "resource_version=7 allocated=true has_terms=true terms=[{fields=[{key=\"metadata.name\" "
         "operator_name=\"In\" values=[\"%s\"]}]}] devices=[{request=\"r\" "
         "driver=\"d.example\" pool=\"%s\" device=\"g0\"}] %s}",
         claim, claim, node, node, reserved);
}

#define OF_GROUP "reserved_for=[\"u-group\"] reserved_groups=[\"g\"]"

static void bind_ends(int member, const char *how)
{
    hear(s, binder,
         "bind_result uid=\"u-g-%d\" namespace_name=\"default\" name=\"g-%d\" node_name=\"n0\" %s",
         member, member, how);
    settle(s);
}

static void pods_share_what_one_of_them_is_given(void **state)
{
    (void)state;
    begin(37);
    group(IN_TREE, 3, 1000, CLAIM_C);
    expect_said(MSG_bind, "node_name=\"n0\"", 3); /* where the device is, though n1 is empty */
    expect_said(MSG_bind, "shared=true", 3);
    expect_said(MSG_bind, "document=", 0); /* who is not the first has to read it */
    expect_said(MSG_bind, "uid=\"u-c\" devices=[{request=\"r\" driver=\"d.example\" pool=\"n0\"",
                3);
    expect_said(MSG_group_failed, "scheduled=true", 1);
}

static void who_does_not_fit_beside_the_devices_has_no_place(void **state)
{
    (void)state;
    begin(37);
    group(IN_TREE, 2, 3000, CLAIM_C);
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_pod_failed, "1 Insufficient cpu, 1 resourceclaim not available on the node", 1);
    forget_told(s);
    group(IN_TREE, 1, 3000, CLAIM_D); /* and nothing of it is left in use */
    expect_said(MSG_bind, "pool=\"n0\"", 1);
    expect_said(MSG_bind, "document=\"{}\"", 1);
}

/* Upstream looks there for no node that reaches them, binds the first, and the others' binds fail.
 */
static void in_1_36_no_group_starts_in_part_for_its_devices(void **state)
{
    (void)state;
    begin(36);
    group(IN_TREE, 2, 3000, CLAIM_C);
    expect_said(MSG_bind, "", 0);
    forget_told(s);
    group(IN_TREE, 2, 2000, CLAIM_C);
    expect_said(MSG_bind, "node_name=\"n0\"", 2);
    expect_said(MSG_bind, "shared=true", 2);
}

/* Room for both can be made on the node, but there is one device: who looks behind the first member
 * finds it taken. */
static void nobody_is_evicted_for_devices_that_are_not_there(void **state)
{
    (void)state;
    for (int devices = 1; devices <= 2; devices++) {
        begin(36);
        sees(s, "resource_slice_set slice={name=\"s1\" driver=\"d.example\" pool=\"n1\" "
                "pool_generation=1 pool_slices=1 node_name=\"n1\"}");
        sees(s,
             "resource_slice_set slice={name=\"s0\" driver=\"d.example\" pool=\"n0\" "
             "pool_generation=1 pool_slices=1 node_name=\"n0\" devices=[{name=\"g0\"} %s]}",
             devices == 2 ? "{name=\"g1\"}" : "");
        sees(s, "pod_set pod={uid=\"u-v\" namespace_name=\"default\" name=\"v\" "
                "node_name=\"n0\" priority=-5 request=[{name=\"cpu\" amount=3000}] "
                "usage=[{name=\"cpu\" amount=3000}]}");
        begin_group(IN_TREE, 2);
        add_member(IN_TREE, 0, 2000, CLAIM_C);
        add_member(IN_TREE, 1, 2000, CLAIM_D);
        end_group();
        expect_said(MSG_bind, "", 0);
        expect_said(MSG_preempt, "name=\"v\"", devices - 1);
        if (devices == 1)
            stop(state);
    }
}

static void other_claims_are_given_beside_it(void **state)
{
    (void)state;
    begin(37);
    sees(s, "resource_slice_set slice={name=\"s0\" driver=\"d.example\" pool=\"n0\" "
            "pool_generation=1 pool_slices=1 node_name=\"n0\" devices=[{name=\"g0\"} "
            "{name=\"g1\"}]}");
    begin_group(IN_TREE, 2);
    add_member(IN_TREE, 0, 1000, CLAIM_C);
    add_member(IN_TREE, 1, 1000, CLAIM_C " " CLAIM_D);
    end_group();
    expect_said(MSG_bind,
                "{claim=\"c\" uid=\"u-c\" devices=[{request=\"r\" driver=\"d.example\" "
                "pool=\"n0\" device=\"g0\"}]",
                2);
    expect_said(MSG_bind,
                "{claim=\"d\" uid=\"u-d\" devices=[{request=\"r\" driver=\"d.example\" "
                "pool=\"n0\" device=\"g1\"}]",
                1);
}

/* It is in use until the last of them has ended. */
static void it_is_free_when_all_binds_have_failed(void **state)
{
    (void)state;
    begin(37);
    group(IN_TREE, 2, 1000, CLAIM_C);
    expect_said(MSG_bind, "", 2);
    bind_ends(0, "code=500 message=\"no\" plugin=\"DynamicResources\"");
    expect_said(MSG_plugin_back, "DynamicResources", 0);
    bind_ends(1, "code=500 message=\"no\" plugin=\"DynamicResources\"");
    expect_said(MSG_plugin_back, "DynamicResources", 1);
}

/* Only a group of kube-scheduler's own API is one cycle upstream. */
static void pods_of_other_groups_wait_for_each_other(void **state)
{
    (void)state;
    begin(37);
    group(CRD, 2, 1000, CLAIM_C);
    expect_said(MSG_bind, "", 0);
    expect_said(MSG_pod_failed, "resource claim default/c is in the process of being allocated", 1);
}

/* ---- claims of a PodGroup ---- */

static void a_bind_says_which_claims_are_the_groups(void **state)
{
    (void)state;
    for (int on = 0; on <= 1; on++) {
        groups_have_claims = on != 0;
        begin(37);
        see_group(CLAIM_C);
        sees(s, "resource_slice_set slice={name=\"s0\" driver=\"d.example\" pool=\"n0\" "
                "pool_generation=1 pool_slices=1 node_name=\"n0\" devices=[{name=\"g0\"} "
                "{name=\"g1\"}]}");
        group(IN_TREE, 2, 1000, CLAIM_C " " CLAIM_D);
        expect_said(MSG_bind, "claim=\"c\" for_group=true}", on ? 2 : 0);
        expect_said(MSG_bind, "claim=\"d\"}]", 2);
        expect_said(MSG_bind, "group=\"g\" group_uid=\"u-group\"", on ? 2 : 0);
        stop(state);
    }
    begin(37);
}

static void a_claim_may_be_made_for_the_group(void **state)
{
    (void)state;
#define MADE "{name=\"gpu\" claim=\"c\" generated=true template=\"t\"}"
    static const char *const owners[] = {"owner_uid=\"u-group\" owner_group=\"g\"",
                                         "owner_uid=\"u-other\" owner_group=\"h\""};
    for (int on = 0; on <= 1; on++)
        for (int owner = 0; owner <= 1; owner++) {
            groups_have_claims = on != 0;
            begin(37);
            see_group(CLAIM_C);
            see_allocated("c", "n0", owners[owner]);
            group(IN_TREE, 1, 1000, MADE);
            expect_said(MSG_bind, "", on && owner == 0);
            expect_said(MSG_pod_failed,
                        "ResourceClaim default/c was not created for Pod default/g-0 (Pod is not "
                        "owner)",
                        !on);
            expect_said(MSG_pod_failed,
                        "ResourceClaim default/c was not created for Pod default/g-0 (neither Pod "
                        "nor PodGroup g is the owner)",
                        on && owner == 1);
            stop(state);
        }
    begin(37);
}

/* The first pod was to have the device on one node, the second does not fit there: upstream says
 * that the claim is deallocated, though it never had anything. */
static void devices_of_the_same_attempt_are_given_up_in_words_alone(void **state)
{
    (void)state;
    for (int on = 0; on <= 1; on++) {
        groups_have_claims = on != 0;
        begin(37);
        see_group(CLAIM_C);
        sees(s, "pod_set pod={uid=\"u-v\" namespace_name=\"default\" name=\"v\" "
                "node_name=\"n1\" priority=-5 request=[{name=\"cpu\" amount=1000}] "
                "usage=[{name=\"cpu\" amount=1000}]}");
        group(IN_TREE, 2, 3000, CLAIM_C);
        expect_said(MSG_bind, "", 0);
        expect_said(MSG_group_failed,
                    on ? "deallocation of PodGroup ResourceClaim completed, pod group preemption"
                       : "deallocation and deletion of ResourceClaims completed, pod group",
                    1);
        expect_said(MSG_claim_release, "", 0);
        stop(state);
    }
    begin(37);
}

/* Devices on a node that is not there: the group gives them up, as nothing of it is on a node. */
static void a_group_gives_its_devices_up(void **state)
{
    (void)state;
    static const char *const reserved[] = {"", OF_GROUP,
                                           "reserved_for=[\"u-group\" \"u\"] "
                                           "reserved_groups=[\"g\"]"};
    static const char *const said[] = {
        "deallocation and deletion of ResourceClaims completed, pod group preemption",
        "deallocation of PodGroup ResourceClaim completed, pod group preemption",
        "ResourceClaim unreserved for PodGroup\""};
    for (int i = 0; i < 3; i++) {
        begin(37);
        see_group(CLAIM_C);
        see_allocated("c", "n9", reserved[i]);
        sees(s, "pod_set pod={uid=\"u-v\" namespace_name=\"default\" name=\"v\" "
                "node_name=\"n1\" priority=-5 request=[{name=\"cpu\" amount=4000}] "
                "usage=[{name=\"cpu\" amount=4000}]}");
        group(IN_TREE, 1, 1000, CLAIM_C);
        expect_said(MSG_group_failed, said[i], 1);
        expect_said(MSG_claim_release, "what=\"deallocate\"", i < 2);
        expect_said(MSG_claim_release, "what=\"unreserve\"", i == 2);
        expect_said(MSG_claim_release, "group_uid=\"u-group\"", i > 0);
        stop(state);
    }
    begin(37);
}

static void a_group_with_a_pod_on_a_node_keeps_its_claims(void **state)
{
    (void)state;
    begin(37);
    see_group(CLAIM_C);
    see_allocated("c", "n9", OF_GROUP);
    sees(s, "pod_set pod={uid=\"u-v\" namespace_name=\"default\" name=\"v\" node_name=\"n1\" "
            "priority=-5}");
    sees(s, "pod_set pod={uid=\"u-old\" namespace_name=\"default\" name=\"old\" "
            "node_name=\"n0\" gang=\"g\" gang_api=\"" IN_TREE "\" request=[{name=\"cpu\" "
            "amount=4000}] usage=[{name=\"cpu\" amount=4000}]}");
    group(IN_TREE, 1, 1000, CLAIM_C);
    expect_said(MSG_group_failed, "deallocation and deletion of ResourceClaims completed", 1);
    expect_said(MSG_claim_release, "", 0);
}

/* What it cannot tell ends the attempt. */
static void a_claim_of_the_group_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    begin(37);
    sees(s, "pod_group_set group={api=\"" IN_TREE "\" namespace_name=\"default\" name=\"g\" "
            "uid=\"u-group\" min_member=2 device_claims=[{name=\"x\" generated=true "
            "template=\"t\"}]}");
    group(IN_TREE, 1, 5000, CLAIM_D);
    expect_said(MSG_group_failed,
                "error in \\\"DynamicResources\\\" PodGroupPostFilter plugins: PodGroup default/g: "
                "ResourceClaim not created yet",
                1);
}

/* 1.36 has each pod look for a reservation of the group, and deallocates nothing of it. */
static void in_1_36_a_pod_takes_the_reservation_back(void **state)
{
    (void)state;
    for (int on = 0; on <= 1; on++) {
        groups_have_claims = on != 0;
        begin(36);
        see_group(CLAIM_C);
        see_allocated("c", "n9", OF_GROUP);
        group(IN_TREE, 2, 1000, CLAIM_C);
        expect_said(MSG_pod_failed,
                    "2 resourceclaim not available on the node. ResourceClaim unreserved for "
                    "PodGroup\"",
                    on ? 2 : 0);
        expect_said(MSG_pod_failed, "still not schedulable", on ? 0 : 2);
        expect_said(MSG_claim_release, "what=\"unreserve\"", on);
        expect_said(MSG_claim_release, "group_uid=\"u-group\"", on);
        stop(state);
    }
    begin(36);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, stop)
    const struct CMUnitTest tests[] = {
        TEST(pods_share_what_one_of_them_is_given),
        TEST(who_does_not_fit_beside_the_devices_has_no_place),
        TEST(in_1_36_no_group_starts_in_part_for_its_devices),
        TEST(nobody_is_evicted_for_devices_that_are_not_there),
        TEST(other_claims_are_given_beside_it),
        TEST(it_is_free_when_all_binds_have_failed),
        TEST(pods_of_other_groups_wait_for_each_other),
        TEST(a_bind_says_which_claims_are_the_groups),
        TEST(a_claim_may_be_made_for_the_group),
        TEST(devices_of_the_same_attempt_are_given_up_in_words_alone),
        TEST(a_group_gives_its_devices_up),
        TEST(a_group_with_a_pod_on_a_node_keeps_its_claims),
        TEST(a_claim_of_the_group_that_is_not_there_is_an_error),
        TEST(in_1_36_a_pod_takes_the_reservation_back),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
