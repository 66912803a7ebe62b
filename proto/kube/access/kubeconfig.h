/* kubeconfig: finds and reads kubeconfig files, strictly. */
#ifndef KUBE_ACCESS_KUBECONFIG_H
#define KUBE_ACCESS_KUBECONFIG_H

#include "proto/kube/access/access.h"

/* Fills config from a list of files separated by ':' (the first one that defines a name wins, as
 * in kubectl). Files that do not exist are skipped when there are several. False with one line in
 * error that names file and field. */
bool kubeconfig_read(struct kube_config *config, const char *paths, char *error, size_t room);

#endif
