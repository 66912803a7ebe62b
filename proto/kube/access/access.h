/* access: what kube_config_load found out; for the client and its credentials only. */
#ifndef KUBE_ACCESS_ACCESS_H
#define KUBE_ACCESS_ACCESS_H

#include "proto/base/buffer.h"
#include "proto/kube/access/client.h"

/* An exec credential plugin of a kubeconfig's user. */
struct kube_exec {
    char *command;     /* looked up in PATH when it has no slash */
    char *api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
    char **args;       /* with the command first, ends with NULL */
    char **env;        /* NAME=value, added to ours, ends with NULL */
    char *install_hint;
    bool cluster_info; /* provideClusterInfo */
};

/* Strings are NULL and buffers are empty when not given. */
struct kube_config {
    char *source;  /* the kubeconfig's path, or "in-cluster service account" */
    char *cluster; /* names inside the kubeconfig, for messages */
    char *user;
    char *server;      /* https://host:port[/prefix], without a slash at the end */
    char *server_name; /* tls-server-name: checked in the certificate instead of the host */
    bool insecure;     /* insecure-skip-tls-verify */
    char *ca_file;
    struct buffer ca; /* inline data, PEM */
    char *cert_file, *key_file;
    struct buffer cert, key;
    char *token;
    char *token_file;
    char *username, *password;
    struct kube_exec *exec;
};

/* Reads a token file: its text without surrounding blanks, or NULL with a line in error. */
char *kube_token_read(const char *path, char *error, size_t room);
/* A whole small file (up to 1 MiB) appended to out. */
bool kube_file_read(const char *path, struct buffer *out, char *error, size_t room);

#endif
