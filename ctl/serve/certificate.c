/* certificate: X.509 by GnuTLS. What must stay true: a client's certificate is believed only with a
 * whole chain to an authority that was named, valid now, and meant for clients; and a certificate
 * that is made here is one that RFC 5280 allows, because Go's clients (the kubelet, Prometheus)
 * refuse any other. */
#include "ctl/serve/certificate.h"

#include "proto/base/moment.h"
#include "proto/base/random.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <string.h>

#define SECONDS_VALID (365L * 24 * 3600)
#define KEY_ID_MAX    64

static bool export_pem(int (*from)(void *, gnutls_x509_crt_fmt_t, gnutls_datum_t *), void *thing,
                       struct buffer *out)
{
    gnutls_datum_t pem = {NULL, 0};
    if (from(thing, GNUTLS_X509_FMT_PEM, &pem) < 0)
        return false;
    buffer_add(out, pem.data, pem.size);
    gnutls_free(pem.data);
    return true;
}

static int key_out(void *key, gnutls_x509_crt_fmt_t format, gnutls_datum_t *out)
{
    return gnutls_x509_privkey_export2(key, format, out);
}

static int certificate_out(void *certificate, gnutls_x509_crt_fmt_t format, gnutls_datum_t *out)
{
    return gnutls_x509_crt_export2(certificate, format, out);
}

void certificate_serial(uint64_t random, unsigned char serial[CERTIFICATE_SERIAL_SIZE])
{
    for (size_t i = 0; i < CERTIFICATE_SERIAL_SIZE; i++)
        serial[i] = (unsigned char)(random >> 8 * (CERTIFICATE_SERIAL_SIZE - 1 - i));
    serial[0] = (unsigned char)((serial[0] & 0x3f) | 0x40);
}

/* Whom it is for: localhost, both loopback addresses, and the address that is listened on unless
 * that is all of them. */
static int name_subjects(gnutls_x509_crt_t crt, const char *address)
{
    static const unsigned char loopback[] = {127, 0, 0, 1};
    static const char name[] = "localhost";
    struct in_addr four;
    struct in6_addr six;
    int failed = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
                                                      sizeof(name) - 1, GNUTLS_FSAN_SET);
    if (failed >= 0)
        failed = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, loopback, 4,
                                                      GNUTLS_FSAN_APPEND);
    if (failed >= 0)
        failed = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, &in6addr_loopback,
                                                      16, GNUTLS_FSAN_APPEND);
    if (failed >= 0 && inet_pton(AF_INET, address, &four) == 1 && four.s_addr != INADDR_ANY &&
        four.s_addr != htonl(INADDR_LOOPBACK))
        failed = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, &four, 4,
                                                      GNUTLS_FSAN_APPEND);
    if (failed >= 0 && inet_pton(AF_INET6, address, &six) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&six) &&
        !IN6_IS_ADDR_LOOPBACK(&six))
        failed = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, &six, 16,
                                                      GNUTLS_FSAN_APPEND);
    return failed;
}

/* As an authority, which it is for itself, it has a key identifier. */
static int name_key(gnutls_x509_crt_t crt)
{
    unsigned char id[KEY_ID_MAX];
    size_t size = sizeof(id);
    int failed = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA1, id, &size);
    return failed < 0 ? failed : gnutls_x509_crt_set_subject_key_id(crt, id, size);
}

/* All that stands in the certificate; the worst failure, or 0. */
static int describe(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *address)
{
    time_t now = (time_t)(moment_wall_us() / 1000000);
    unsigned char serial[CERTIFICATE_SERIAL_SIZE];
    int worst = 0;
    certificate_serial(random_seed(), serial);
    int results[] = {
        gnutls_x509_crt_set_key(crt, key),
        gnutls_x509_crt_set_version(crt, 3),
        gnutls_x509_crt_set_serial(crt, serial, sizeof(serial)),
        gnutls_x509_crt_set_activation_time(crt, now - 3600),
        gnutls_x509_crt_set_expiration_time(crt, now + SECONDS_VALID),
        gnutls_x509_crt_set_dn(crt, "CN=localhost", NULL),
        name_subjects(crt, address),
        gnutls_x509_crt_set_basic_constraints(crt, 1, -1),
        gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0),
        gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE | GNUTLS_KEY_KEY_CERT_SIGN),
        name_key(crt),
        gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0),
    };
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        worst = results[i] < worst ? results[i] : worst;
    return worst;
}

bool certificate_odd(struct str pem)
{
    unsigned char serial[64];
    size_t size = sizeof(serial);
    gnutls_x509_crt_t crt;
    gnutls_datum_t text = {(unsigned char *)pem.at, pem.len};
    if (gnutls_x509_crt_init(&crt) < 0)
        return false;
    bool read = gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM) >= 0 &&
                gnutls_x509_crt_get_serial(crt, serial, &size) >= 0;
    gnutls_x509_crt_deinit(crt);
    return read && size > 0 && serial[0] >= 0x80;
}

bool certificate_make(const char *address, struct buffer *certificate, struct buffer *key,
                      struct buffer *why)
{
    gnutls_x509_privkey_t private = NULL;
    gnutls_x509_crt_t crt = NULL;
    int failed = gnutls_x509_privkey_init(&private);
    if (failed >= 0)
        failed = gnutls_x509_privkey_generate(private, GNUTLS_PK_ECDSA,
                                              GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (failed >= 0)
        failed = gnutls_x509_crt_init(&crt);
    if (failed >= 0)
        failed = describe(crt, private, address);
    bool made = failed >= 0 && export_pem(key_out, private, key) &&
                export_pem(certificate_out, crt, certificate);
    if (!made)
        buffer_print(why, "cannot make a self-signed certificate: %s", gnutls_strerror(failed));
    if (crt != NULL)
        gnutls_x509_crt_deinit(crt);
    if (private != NULL)
        gnutls_x509_privkey_deinit(private);
    return made;
}

bool certificate_of(gnutls_session_t session, struct client_chain *chain)
{
    unsigned count = 0;
    const gnutls_datum_t *raw = gnutls_certificate_get_peers(session, &count);
    chain->count = 0;
    for (unsigned i = 0; raw != NULL && i < count && i < 8; i++) {
        if (gnutls_x509_crt_init(&chain->at[chain->count]) < 0)
            break;
        chain->count++;
        if (gnutls_x509_crt_import(chain->at[chain->count - 1], &raw[i], GNUTLS_X509_FMT_DER) < 0)
            break;
    }
    return raw != NULL && count > 0;
}

void certificate_drop(struct client_chain *chain)
{
    while (chain->count > 0)
        gnutls_x509_crt_deinit(chain->at[--chain->count]);
}

bool certificate_signed_by(const struct client_chain *chain, struct str authorities)
{
    gnutls_x509_trust_list_t list;
    gnutls_datum_t pem = {(unsigned char *)authorities.at, authorities.len};
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
    unsigned problems = 1;
    if (chain->count == 0 || authorities.len == 0 || gnutls_x509_trust_list_init(&list, 0) < 0)
        return false;
    bool verified =
        gnutls_x509_trust_list_add_trust_mem(list, &pem, NULL, GNUTLS_X509_FMT_PEM, 0, 0) > 0 &&
        gnutls_x509_trust_list_verify_crt2(list, (gnutls_x509_crt_t *)chain->at, chain->count,
                                           &purpose, 1, 0, &problems, NULL) >= 0 &&
        problems == 0;
    gnutls_x509_trust_list_deinit(list, 1);
    return verified;
}

/* The one attribute of a name; false past the last one. */
static bool attribute_at(gnutls_x509_dn_t dn, int *set, int *at, gnutls_x509_ava_st *out)
{
    if (gnutls_x509_dn_get_rdn_ava(dn, *set, (*at)++, out) >= 0)
        return true;
    *at = 1;
    return gnutls_x509_dn_get_rdn_ava(dn, ++*set, 0, out) >= 0;
}

/* Its text as it stands there, however long; what is neither ASCII nor UTF-8 has none. GnuTLS's own
 * text is RFC 4514's, with backslashes that are no part of a name. */
static struct str text_of(const gnutls_x509_ava_st *attribute)
{
    enum { TAG_utf8 = 12, TAG_numeric = 18, TAG_printable = 19, TAG_t61 = 20, TAG_ia5 = 22 };
    unsigned long tag = attribute->value_tag;
    struct str text = {(const char *)attribute->value.data, attribute->value.size};
    if (tag == TAG_utf8)
        return text;
    bool ascii = tag == TAG_numeric || tag == TAG_printable || tag == TAG_t61 || tag == TAG_ia5;
    for (uint32_t i = 0; ascii && i < text.len; i++)
        ascii = (unsigned char)text.at[i] < 0x80;
    return ascii ? text : (struct str){NULL, 0};
}

static bool is_attribute(const gnutls_x509_ava_st *attribute, const char *oid)
{
    return strcmp((const char *)attribute->oid.data, oid) == 0;
}

void certificate_subject(const struct client_chain *chain, struct str *name, struct strs *groups,
                         struct arena *a)
{
    gnutls_x509_dn_t dn;
    gnutls_x509_ava_st found;
    uint32_t count = 0;
    int set = 0, at = 0;
    *name = (struct str){NULL, 0};
    *groups = (struct strs){0, NULL};
    if (chain->count == 0 || gnutls_x509_crt_get_subject(chain->at[0], &dn) < 0)
        return;
    while (attribute_at(dn, &set, &at, &found))
        count += is_attribute(&found, GNUTLS_OID_X520_ORGANIZATION_NAME);
    groups->at = arena_take(a, count * sizeof(struct str));
    for (set = at = 0; attribute_at(dn, &set, &at, &found);) {
        if (is_attribute(&found, GNUTLS_OID_X520_COMMON_NAME))
            *name = arena_copy(a, text_of(&found)); /* the last one counts, as in Go */
        else if (is_attribute(&found, GNUTLS_OID_X520_ORGANIZATION_NAME))
            groups->at[groups->count++] = arena_copy(a, text_of(&found));
    }
}
