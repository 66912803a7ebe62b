/* named: which certificate is shown. As upstream, a name that was given with a certificate is
 * better than one that stands in it, and a whole name better than a pattern; who wants none of them
 * gets the certificate of --tls-cert-file.
 *
 * What must stay true: a client always gets a certificate, and the files are read once, before
 * anything is served. */
#include "ctl/serve/named.h"

#include "proto/base/memory.h"

#include <gnutls/x509.h>
#include <string.h>
#include <strings.h>

#define CHAIN_MAX 16

struct pair {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned length;
    gnutls_privkey_t key;
    gnutls_x509_crt_t first; /* to look for names in */
    struct strs names;       /* borrowed */
};

static struct {
    struct pair at[HTTP_NAMED_MAX + 1]; /* the first is for all others */
    size_t count;
} all;

static bool load(struct pair *p, const struct http_named *from)
{
    gnutls_datum_t certificate = {(unsigned char *)from->certificate.at, from->certificate.len};
    gnutls_datum_t key = {(unsigned char *)from->key.at, from->key.len};
    p->length = CHAIN_MAX;
    if (gnutls_pcert_list_import_x509_raw(p->chain, &p->length, &certificate, GNUTLS_X509_FMT_PEM,
                                          0) < 0) {
        p->length = 0;
        return false;
    }
    p->names = from->names;
    return gnutls_x509_crt_init(&p->first) >= 0 &&
           gnutls_x509_crt_import(p->first, &certificate, GNUTLS_X509_FMT_PEM) >= 0 &&
           gnutls_privkey_init(&p->key) >= 0 &&
           gnutls_privkey_import_x509_raw(p->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0) >= 0;
}

bool named_load(const struct http_options *o, struct buffer *why)
{
    struct http_named standard = {.certificate = str_of(o->certificate), .key = str_of(o->key)};
    named_free();
    for (size_t i = 0; o->named_count > 0 && i <= o->named_count; i++)
        if (!load(&all.at[all.count++], i == 0 ? &standard : &o->named[i - 1])) {
            buffer_print(why, "cannot serve: %s is not a usable pair of certificate and key",
                         i == 0 ? "--tls-cert-file" : "one of --tls-sni-cert-key");
            return false;
        }
    return true;
}

void named_free(void)
{
    for (; all.count > 0; all.count--) {
        struct pair *p = &all.at[all.count - 1];
        for (unsigned i = 0; i < p->length; i++)
            gnutls_pcert_deinit(&p->chain[i]);
        if (p->first != NULL)
            gnutls_x509_crt_deinit(p->first);
        if (p->key != NULL)
            gnutls_privkey_deinit(p->key);
        *p = (struct pair){0};
    }
}

bool named_matches(struct str pattern, struct str name)
{
    if (pattern.len > 2 && memcmp(pattern.at, "*.", 2) == 0) {
        const char *dot = memchr(name.at, '.', name.len);
        uint32_t skip = dot != NULL ? (uint32_t)(dot - name.at) : 0;
        if (skip == 0)
            return false;
        pattern = (struct str){pattern.at + 1, pattern.len - 1};
        name = (struct str){name.at + skip, name.len - skip};
    }
    return pattern.len == name.len && strncasecmp(pattern.at, name.at, name.len) == 0;
}

/* How well a pair is for a name: 0: not at all. */
static int fitness(const struct pair *p, struct str name)
{
    int best = 0;
    for (uint32_t i = 0; i < p->names.count; i++)
        if (named_matches(p->names.at[i], name)) {
            int fit = p->names.at[i].at[0] == '*' ? 3 : 4;
            best = fit > best ? fit : best;
        }
    if (p->names.count == 0 && gnutls_x509_crt_check_hostname(p->first, name.at))
        best = 2;
    return best;
}

/* The signature is GnuTLS's. */
/* NOLINTNEXTLINE(readability-function-size) */
int named_choose(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                 const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                 gnutls_pcert_st **chain, unsigned *chain_length, gnutls_privkey_t *key)
{
    char name[256];
    size_t len = sizeof(name) - 1, best = 0;
    unsigned kind = GNUTLS_NAME_DNS;
    int fit = 0;
    (void)authorities;
    (void)authority_count;
    (void)algorithms;
    (void)algorithm_count;
    if (gnutls_server_name_get(session, name, &len, &kind, 0) >= 0 && len < sizeof(name)) {
        name[len] = 0;
        for (size_t i = 1; i < all.count; i++) {
            int found = fitness(&all.at[i], str_of(name));
            best = found > fit ? i : best;
            fit = found > fit ? found : fit;
        }
    }
    *chain = all.at[best].chain;
    *chain_length = all.at[best].length;
    *key = all.at[best].key;
    return 0;
}
