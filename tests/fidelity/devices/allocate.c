/* allocate: asks berth's device allocator by lines of JSON on stdin, a line of answers on stdout
 * for each; see cases.h. tests/fidelity/devices/differ.py compares it with upstream's. */
#include "tests/fidelity/devices/cases.h"

#include "proto/base/memory.h"

#include <stdio.h>

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    struct buffer out = {0};
    while ((len = getline(&line, &room, stdin)) > 0) {
        struct dra_case c;
        struct str error = {0};
        buffer_reset(&out);
        if (case_read(&c, (struct str){line, (uint32_t)len}, &error))
            case_answer(&c, &out);
        else
            buffer_print(&out, "\"%.*s\"", STR_ARG(error));
        printf("%.*s\n", (int)out.len, out.at);
        case_free(&c);
    }
    buffer_free(&out);
    memory_free(line);
    return 0;
}
