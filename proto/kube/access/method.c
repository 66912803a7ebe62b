/* method: the names of methods, for requests and for what is counted of them. What must stay true:
 * they stand in the order of the enum. */
#include "proto/kube/access/method.h"

const char *kube_method_name(enum kube_method method)
{
    static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    return names[method];
}
