/* Writes a kubeconfig that reaches this server, complete in one file.
 *
 * The one idea: it is written under another name and moved into place, so that whoever waits for
 * the file never reads half of it. With TLS the server's own certificate is the authority. */
#include "kubeconfig.h"

#include "proto/base/json_string.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void compose(const struct kubeconfig *config, struct buffer *out)
{
    buffer_print(out,
                 "apiVersion: v1\nkind: Config\ncurrent-context: apiserver\n"
                 "clusters:\n- name: apiserver\n  cluster:\n    server: %s://%s\n",
                 config->ca_pem != NULL ? "https" : "http", config->address);
    if (config->ca_pem != NULL) {
        char *encoded = base64_encode(config->ca_pem, strlen(config->ca_pem));
        buffer_print(out, "    certificate-authority-data: %s\n", encoded);
        memory_free(encoded);
    }
    buffer_add_text(
        out,
        "contexts:\n- name: apiserver\n  context:\n    cluster: apiserver\n    user: apiserver\n"
        "users:\n- name: apiserver\n  user:");
    if (config->token != NULL) {
        buffer_add_text(out, "\n    token: ");
        json_string(out, str_of(config->token));
        buffer_add_text(out, "\n");
    } else {
        buffer_add_text(out, " {}\n");
    }
}

bool kubeconfig_write(const char *path, const struct kubeconfig *config)
{
    struct buffer text = {0}, temporary = {0};
    compose(config, &text);
    buffer_print(&temporary, "%s.new", path);
    int fd = open(temporary.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool good = fd >= 0 && write(fd, text.at, text.len) == (ssize_t)text.len;
    int failed = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        failed = errno;
        good = false;
    }
    if (good && rename(temporary.at, path) != 0) {
        failed = errno;
        good = false;
    }
    buffer_free(&text);
    buffer_free(&temporary);
    errno = failed;
    return good;
}
