/* files: the page's files, which are part of the program (ctl/page). */
#ifndef SERVE_FILES_H
#define SERVE_FILES_H

#include "proto/base/str.h"

struct file {
    const char *path, *type;
    struct str bytes;
};

/* By its path; false: there is none. */
bool files_find(const char *path, struct file *file);
/* The form to sign in with; it is shown to those who may not see the page. */
struct str files_sign_in(void);

#endif
