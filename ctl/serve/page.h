/* page: what is answered below /ui, and /explain: the page's files, the questions that it asks, and
 * who is signed in. Everything that is known of the cluster is asked of `berth` (errands.h,
 * live.h); here nothing is decided and nothing is kept. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "ctl/serve/access.h"
#include "ctl/serve/http.h"

struct page;

struct page_options {
    bool ui;               /* false: only /explain */
    const char *recording; /* shown in place of what is there now; NULL: none; borrowed */
    /* How `berth` finds the processes; borrowed: --endpoint=…, --curve-dir=…, up to a NULL. */
    const char *const *doors;
    int epoll_fd;
};

#define PAGE_DOORS_MAX 90

struct page *page_new(const struct page_options *options);
void page_free(struct page **page);

/* Whether the request is one for here. */
bool page_is_for(const struct page *p, const struct http_request *r);
/* Before it is permitted: who asks, by the session or by what was signed in with, and for what
 * right: to read, as nothing here does anything else. False: it is answered already. */
bool page_begin(struct page *p, struct moment now, struct http_request *r,
                struct access_question *question);
/* It is not permitted, and the answer says so: for a browser with a form to sign in. */
void page_refused(struct page *p, struct http_request *r);
/* It is permitted. True when the answer is there. */
bool page_answer(struct page *p, struct moment now, struct http_request *r);

/* For http_options. */
ssize_t page_more(struct page *p, struct moment now, struct http_request *r, char *to, size_t room);
bool page_has_more(struct page *p, struct moment now, struct http_request *r);
void page_ended(struct page *p, struct http_request *r);

/* Does what is due; true when a request that waits may have its answer now. */
bool page_work(struct page *p, struct moment now, struct moment *next);

#endif
