/* config_duration: durations in Go's words, which are upstream's in files and messages. */
#ifndef KUBE_CONFIG_CONFIG_DURATION_H
#define KUBE_CONFIG_CONFIG_DURATION_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"

/* Adds the duration as Go prints it: 1m30s, 1.5s, 100ms, 0s. */
void config_duration_print(struct span span, struct buffer *out);

#endif
