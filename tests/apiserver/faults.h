/* The fault menu: rules that spoil chosen requests, set at start or by PUT /faults. */
#ifndef APISERVER_FAULTS_H
#define APISERVER_FAULTS_H

#include "server.h"
#include "watch.h"

/* What happens to one request; all zero: nothing. */
struct fault {
    int delay_ms;
    int status, retry_after; /* answered instead of doing anything */
    bool drop, hang;
    bool commit_then_504, commit_then_drop;
    struct watch_fault watch;
};

struct faults *faults_new(void);
void faults_free(struct faults *faults);
/* Replaces the rules; a Status that names rule and field when one is wrong, and then keeps the old.
 * Rules on watches act on running streams too, and `compact` acts at once. */
cJSON *faults_set(struct server *server, const char *json, size_t size);
void faults_clear(struct server *server);
/* {"rules": […]} with how often each has struck. */
cJSON *faults_show(const struct faults *faults);
/* The first rule that matches and strikes, counted; nothing when none does. */
struct fault faults_strike(struct faults *faults, const struct request *request);

#endif
