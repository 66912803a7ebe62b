/* method: what HTTP is to do with an object. */
#ifndef KUBE_ACCESS_METHOD_H
#define KUBE_ACCESS_METHOD_H

enum kube_method { KUBE_GET, KUBE_POST, KUBE_PUT, KUBE_PATCH, KUBE_DELETE };

/* "GET", … */
const char *kube_method_name(enum kube_method method);

#endif
