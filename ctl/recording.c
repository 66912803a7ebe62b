/* recording: reads and writes the file behind `berth tap --record` and `--read`. What must stay
 * true: a length from the file is checked before memory is taken for it, and a file that was cut
 * short is still readable up to there. */
#include "ctl/recording.h"

#include <errno.h>
#include <string.h>

#define HEAD      "BERTHTAP1\n"
#define HEAD_LEN  10
#define FRAME_MAX (130u << 20)

FILE *recording_create(const char *path, char *error, size_t room)
{
    FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(HEAD, 1, HEAD_LEN, file) != HEAD_LEN) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return NULL;
    }
    return file;
}

bool recording_add(FILE *file, struct str tapped)
{
    const unsigned char len[4] = {(unsigned char)(tapped.len >> 24),
                                  (unsigned char)(tapped.len >> 16),
                                  (unsigned char)(tapped.len >> 8), (unsigned char)tapped.len};
    return fwrite(len, 1, 4, file) == 4 && fwrite(tapped.at, 1, tapped.len, file) == tapped.len;
}

FILE *recording_open(const char *path, char *error, size_t room)
{
    char head[HEAD_LEN] = {0};
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (fread(head, 1, HEAD_LEN, file) == HEAD_LEN && memcmp(head, HEAD, HEAD_LEN) == 0)
        return file;
    snprintf(error, room, "%s: not a recording of berth tap", path);
    fclose(file);
    return NULL;
}

enum recording_step recording_next(FILE *file, struct buffer *tapped)
{
    unsigned char head[4];
    size_t got = fread(head, 1, 4, file);
    if (got == 0 && feof(file))
        return RECORDING_end;
    if (got < 4)
        return RECORDING_cut;
    size_t left = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (left > FRAME_MAX)
        return RECORDING_broken;
    buffer_reset(tapped);
    while (left > 0) { /* grows with what is there, not with what the length says */
        char part[65536];
        size_t want = left < sizeof(part) ? left : sizeof(part);
        got = fread(part, 1, want, file);
        buffer_add(tapped, part, got);
        if (got < want)
            return RECORDING_cut;
        left -= got;
    }
    return RECORDING_frame;
}
