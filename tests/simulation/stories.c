/* stories: each brings about one situation, at times that its dice choose. What must stay true: a
 * story that ends in a calm begins with the end of all faults, so that it alone is to blame. */
#include "tests/simulation/stories.h"

#include "tests/simulation/calls.h"
#include "tests/simulation/calm.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/users.h"
#include "tests/simulation/wires.h"
#include "tests/simulation/world.h"

#include <stdio.h>
#include <string.h>

#define FORGOTTEN (125 * SECOND) /* who has left a group counts so long for "never in part" */

static void wait_for(int64_t length)
{
    world_run(clock_now() + length);
}

/* ---- an instance that is missing ---- */

/* Nothing else ails the system: progress.c sees whether the other instance takes over. */
static bool begin_alone(const struct action *x)
{
    struct action burst = *x;
    burst.kind = DO_create_burst;
    world_heal();
    if (!faults_do(x))
        return false;
    (void)users_do(&burst);
    return true;
}

static bool lose_host(const struct action *x)
{
    if (!begin_alone(x))
        return false;
    for (int g = 0; g < GROUPS; g++)
        if (world_host(g)->down_until > clock_now())
            world_run(world_host(g)->down_until);
    return true;
}

static bool strand_leader(const struct action *x)
{
    if (!begin_alone(x))
        return false;
    wait_for(FAULTS_STRANDED);
    return true;
}

/* The leader's host is suspended, and wakes as pods come: it decides before it hears that it leads
 * no more. */
static bool wake_to_work(const struct action *x)
{
    const struct proc *leader = world_leader();
    struct action suspend = *x, work = *x;
    struct node_fact *node = facts_any_node(x->c / 300);
    if (leader == NULL)
        return false;
    suspend.kind = DO_suspend_host;
    suspend.a = (uint32_t)leader->group;
    work.kind = DO_create_burst;
    const int64_t *until = &world_host(leader->group)->suspended_until;
    if (!faults_do(&suspend))
        return false;
    world_run(*until - 20 * MS);
    for (uint32_t i = 0; i < 4; i++) {
        if (x->a % 3 == 0 || node == NULL || !users_fill_node(node))
            (void)users_do(&work);
        wait_for(x->c % 300 * MS);
    }
    return true;
}

/* ---- what is heard late ---- */

static void schedulers_hear_late(int64_t until)
{
    for (uint32_t i = 0; i < wires_connections(); i++)
        if (strstr(wires_name(i), "scheduler>watcher") != NULL)
            wires_hold(i, until);
}

/* Watchers hear nothing until nobody may decide any more on what they told, while pods whose
 * Bindings are refused are tried again and again. */
static bool go_blind(const struct action *x)
{
    struct action burst = *x;
    burst.kind = DO_create_burst;
    world_heal();
    wait_for(3 * SECOND);
    weather()->rejected = 100;
    bool begun = users_do(&burst);
    wait_for(200 * MS + x->c % 1000 * MS);
    weather()->blind = true;
    wait_for(70 * SECOND + x->c / 1000 % 40000 * MS);
    world_heal();
    wait_for(3 * SECOND);
    calm(false);
    return begun;
}

/* In both instances. */
static void fall(enum process kind)
{
    for (int g = 0; g < GROUPS; g++)
        if (world_find(g, kind) != NULL)
            proc_kill(world_find(g, kind));
}

/* Whatever happens while a pod is decided is heard, though nothing happens behind it. In one of
 * four cases schedulers hear of it so much later than queues that they decide without it; in
 * another one queues fall, and begin anew with a pod of which they do not know the past. */
static bool change_late(const struct action *x)
{
    world_heal();
    if (!users_late_begin(x))
        return false;
    wires_latency(10 * MS, 10 * MS + x->c % 600 * MS);
    wait_for(x->c / 600 % 1500 * MS);
    int64_t until = clock_now() + 3 * SECOND;
    if (x->b / 65536 % 4 == 1) {
        until += x->b / 262144 % 4000 * MS;
        schedulers_hear_late(until);
    } else if (x->b / 65536 % 4 == 2) {
        fall(QUEUE);
    }
    users_late_change(x);
    world_run(until);
    calm(false);
    users_late_end(x);
    return true;
}

/* Who makes room is offered again before its victim is known to have gone: the API server answers
 * nobody for a time, and queues fall in it. */
static bool make_room_late(const struct action *x)
{
    world_heal();
    if (!users_room_begin(x))
        return false;
    wait_for(3 * SECOND);
    bool asked = users_room_ask(true);
    if (asked) {
        weather()->unanswered = 100;
        wait_for(x->c % 1500 * MS);
        fall(QUEUE);
        if (x->a % 4 == 0)
            wait_for(x->c / 1500 % 4000 * MS);
        weather()->unanswered = 0;
        wait_for(3 * SECOND);
        calm(false);
    }
    users_room_end();
    return asked;
}

/* Who is being bound is made smaller; nothing else tells who waits for the room. */
static bool shrink_late(const struct action *x)
{
    world_heal();
    if (!users_room_begin(x))
        return false;
    weather()->usual = weather()->most = 500 * MS + x->c % 1000 * MS;
    wait_for(x->c / 1000 % 800 * MS);
    bool asked = users_room_ask(false);
    if (asked) {
        wait_for(x->c / 800000 % 900 * MS);
        users_room_resize(true);
        wait_for(3 * SECOND);
        world_heal();
        wait_for(3 * SECOND);
        calm(false);
    }
    users_room_end();
    return asked;
}

/* Binders fall while a pod is being bound, whose Binding never arrived, and it is made larger than
 * any node; nothing else tells who waits for its room. */
static bool lose_binding(const struct action *x)
{
    world_heal();
    if (!users_room_begin(x))
        return false;
    weather()->lost = 100;
    wait_for(x->c % 1000 * MS);
    bool asked = users_room_ask(false);
    if (asked) {
        wait_for(100 * MS + x->c / 1000 % 1500 * MS);
        fall(BINDER);
        weather()->lost = 0;
        users_room_resize(false);
        wait_for(20 * SECOND);
        calm(false);
    }
    users_room_end();
    return asked;
}

/* A batch is given up, and its pods go before anybody decides them again. */
static bool abandon_batch(const struct action *x)
{
    struct action disturb = *x;
    char names[8][NAME_ROOM];
    uint32_t count = 0;
    world_heal();
    wires_latency(10 * MS, 10 * MS + x->c % 600 * MS);
    while (count < 8) {
        struct pod_fact p = users_pod_like(0, 1);
        if (!users_create(&p))
            break;
        snprintf(names[count++], NAME_ROOM, "%s", p.name);
    }
    wait_for(x->c / 600 % 2000 * MS);
    disturb.kind = x->a % 2 == 0 ? DO_reconfigure : DO_delete_node;
    (void)(faults_do(&disturb) || users_do(&disturb));
    for (uint32_t i = 0; i < count; i++)
        (void)users_delete_pod(names[i], 0);
    wait_for(3 * SECOND);
    calm(false);
    return count > 0;
}

/* ---- groups ---- */

/* One of a group that fits goes while the group is decided. */
static bool lose_member(const struct action *x)
{
    world_heal();
    if (!users_small_group(x, 3))
        return false;
    wires_latency(10 * MS, 10 * MS + x->c % 600 * MS);
    wait_for(x->c / 600 % 3000 * MS);
    (void)users_lose_members(1);
    wait_for(3 * SECOND);
    calm(false);
    users_end_small_group();
    return true;
}

/* All of a group that is on nodes go, and one comes: it must wait for others. */
static bool regrow_group(const struct action *x)
{
    world_heal();
    if (!users_small_group(x, 3))
        return false;
    wait_for(5 * SECOND);
    (void)users_lose_members(3);
    wait_for(FORGOTTEN);
    (void)users_add_member();
    wait_for(10 * SECOND);
    users_end_small_group();
    return true;
}

#define LOOKS 60 /* for room that a group makes; 50 ms each */

static bool wait_for_room(void)
{
    for (uint32_t looks = 0; looks < LOOKS && !users_group_has_room_made(); looks++)
        wait_for(50 * MS);
    return users_group_has_room_made();
}

/* What keeps a group from the room that it makes: schedulers fall and one of it goes, so that it is
 * not tried any more; the node becomes smaller, so that one of it is left over; or others complete
 * it, and all of it goes but one that waits for the room. */
static void disappoint(const struct action *x)
{
    switch (x->b % 3) {
    case 0:
        fall(SCHEDULER);
        (void)users_lose_members(1);
        break;
    case 1: users_room_tighten(3); break;
    default:
        users_add_small_members(2);
        wait_for(500 * MS + x->c % 2000 * MS);
        users_leave_one_member();
        break;
    }
}

static bool disappoint_group(const struct action *x)
{
    static const uint32_t least[] = {3, 2, 2}, pods[] = {3, 3, 2};
    bool made = false;
    world_heal();
    if (!users_room_begin(x))
        return false;
    wait_for(3 * SECOND);
    const struct pod_fact like = users_room_like(3);
    if (users_group_of(x, &like, pods[x->b % 3], least[x->b % 3])) {
        made = wait_for_room();
        if (made)
            disappoint(x);
        wait_for(3 * SECOND);
        calm(false);
        users_end_small_group();
    }
    users_room_end();
    return made;
}

bool stories_do(const struct action *x)
{
    switch (x->kind) {
    case DO_lose_host: return lose_host(x);
    case DO_strand_leader: return strand_leader(x);
    case DO_wake_to_work: return wake_to_work(x);
    case DO_change_late: return change_late(x);
    case DO_go_blind: return go_blind(x);
    case DO_make_room_late: return make_room_late(x);
    case DO_shrink_late: return shrink_late(x);
    case DO_lose_binding: return lose_binding(x);
    case DO_abandon_batch: return abandon_batch(x);
    case DO_lose_member: return lose_member(x);
    case DO_regrow_group: return regrow_group(x);
    case DO_disappoint_group: return disappoint_group(x);
    default: return false;
    }
}
