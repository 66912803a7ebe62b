/* users: those who ask things of the API server without any delay. */
#ifndef TESTS_SIMULATION_USERS_H
#define TESTS_SIMULATION_USERS_H

#include "tests/simulation/facts_devices.h"
#include "tests/simulation/plan.h"

/* Asks the model at once. Returns the code; text: JSON or NULL. */
int users_ask(const char *method, const char *path, const char *type, const char *text);
/* The same with a path to be printed; a patch is a merge patch, all else JSON. */
int ask(const char *method, const char *text, const char *path_format, ...)
    __attribute__((format(printf, 3, 4)));
/* A pod that asks for some cpu and memory; it has no name yet that another pod had. */
struct pod_fact users_pod_like(uint32_t a, uint32_t b);
bool users_create(struct pod_fact *pod);
/* grace: seconds. */
bool users_delete_pod(const char *name, uint32_t grace);
/* By two numbers; false: it cannot be. */
bool users_resize_pod(struct pod_fact *pod, uint32_t size);
bool users_label_pod(const struct pod_fact *pod, uint32_t version);
/* Another one each time, for a name. */
uint32_t users_number(void);

bool users_close_node(struct node_fact *node, bool closed);

/* Pods that there are at a time, at most. */
uint32_t users_live_max(void);

#define TOO_LARGE 10000000 /* of cpu, for any node, however often it was made larger */

/* Of users_late.c: a pod that fits nowhere; then it does; then all is as it was before. */
bool users_late_begin(const struct action *action);
void users_late_change(const struct action *action);
void users_late_end(const struct action *action);
/* A pod takes what a node has left; then one comes that needs it, and may take it from the first,
 * if that is there; then the first is made smaller, or larger than any node, unless it is bound;
 * then both go. */
bool users_room_begin(const struct action *action);
bool users_room_ask(bool important);
void users_room_resize(bool smaller);
/* A pod that needs the first one's room, or a part of it; then the node loses such a part. */
struct pod_fact users_room_like(uint32_t part);
void users_room_tighten(uint32_t part);
void users_room_end(void);

/* Of users_groups.c. */
bool users_do_groups(const struct action *action);
void users_open_groups(const struct traits *traits);
/* All groups go. */
void users_end_groups(void);
/* A group of so many small pods, all of whom are needed; then some of it go; then one more comes;
 * then all of it goes. */
bool users_small_group(const struct action *action, uint32_t pods);
/* The same of pods like one, of whom only least are needed. */
bool users_group_of(const struct action *action, const struct pod_fact *like, uint32_t pods,
                    uint32_t least);
/* One of it waits for room that is being made. */
bool users_group_has_room_made(void);
/* So many come that fit anywhere; all go but one that waits for room. */
void users_add_small_members(uint32_t count);
void users_leave_one_member(void);
bool users_lose_members(uint32_t count);
bool users_add_member(void);
void users_end_small_group(void);
/* In a calm: groups that must start, and such as cannot; false: none are served, or there is no
 * room. Then they go. */
bool users_examine_groups(void);
void users_dismiss_groups(void);

/* Of users_devices.c. */
bool users_do_devices(const struct action *action);
void users_reset_devices(void);
/* All claims go. */
bool users_end_devices(void);
/* The claim goes, and another one of its name comes; not while a pod on a node has it. */
bool users_remake_claim(const struct device_claim_fact *claim);

/* Of users_volumes.c. */
bool users_do_volumes(const struct action *action);
void users_open_volumes(void);
void users_reset_volumes(void);
bool users_end_volumes(void);
/* What the pod's spec says of volumes, with a comma behind it. */
void users_add_volumes(struct buffer *json, const struct pod_fact *pod);
/* A local volume on a node; a: its size. */
bool users_make_local(const char *node, uint32_t a);
/* Pods that go nowhere else, each with a claim of its own, and local volumes for them. */
bool users_fill_node(const struct node_fact *node);
/* What a new node has of them. */
void users_furnish_node(struct node_fact *node, uint32_t a);

#endif
