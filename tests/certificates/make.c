/* make N: as many certificates as berth-serve makes for itself at a start, as PEM on the standard
 * output, one behind the other. Their serial numbers are random: what is wrong with one in two is
 * seen only among many. */
#include "ctl/serve/certificate.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    struct buffer certificate = {0}, key = {0}, why = {0};
    if (count <= 0) {
        fprintf(stderr, "usage: make N\n");
        return 2;
    }
    for (long i = 0; i < count; i++) {
        buffer_reset(&certificate);
        buffer_reset(&key);
        if (!certificate_make("192.0.2.7", &certificate, &key, &why)) {
            fprintf(stderr, "%s\n", why.at);
            return 1;
        }
        fwrite(certificate.at, 1, certificate.len, stdout);
    }
    buffer_free(&certificate);
    buffer_free(&key);
    buffer_free(&why);
    return 0;
}
