/* A kubeconfig for this server. */
#ifndef APISERVER_KUBECONFIG_H
#define APISERVER_KUBECONFIG_H

#include "support.h"

struct kubeconfig {
    const char *address; /* host:port */
    const char *ca_pem;  /* NULL: plain http */
    const char *token;   /* NULL: nobody asks */
};

/* False with errno set. */
bool kubeconfig_write(const char *path, const struct kubeconfig *config);

#endif
