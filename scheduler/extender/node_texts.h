/* node_texts: all nodes as JSON, for extenders that want to be sent them whole. */
#ifndef SCHEDULER_EXTENDER_NODE_TEXTS_H
#define SCHEDULER_EXTENDER_NODE_TEXTS_H

#include "proto/kube/documents/json.h"

struct node_texts;

struct node_texts *node_texts_new(void);
void node_texts_free(struct node_texts **texts);
/* What is not set between begin and end does not exist. */
void node_texts_list_begin(struct node_texts *texts);
void node_texts_list_end(struct node_texts *texts);
/* Without metadata.managedFields, which kube-scheduler does not keep either. */
void node_texts_set(struct node_texts *texts, const struct kube_json *node);
void node_texts_remove(struct node_texts *texts, const struct kube_json *node);
/* Borrowed until it is set again. */
bool node_texts_get(const struct node_texts *texts, struct str name, struct str *text);
size_t node_texts_count(const struct node_texts *texts);
size_t node_texts_bytes(const struct node_texts *texts);

#endif
