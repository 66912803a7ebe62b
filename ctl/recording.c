/* recording: reads and writes the file behind `berth tap --record` and `--read`. What must stay
 * true: a length from the file is checked before memory is taken for it, and a file that was cut
 * short is still readable up to there. */
#include "ctl/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD      "BERTHTAP2\n"
#define HEAD_1    "BERTHTAP1\n" /* without counts of what was missed */
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

FILE *recording_create_new(const char *path, char *error, size_t room)
{
    struct stat s;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST && (stat(path, &s) != 0 || S_ISREG(s.st_mode))) {
        snprintf(error, room, "%s: is there already", path);
        return NULL;
    }
    if (fd >= 0)
        close(fd);
    return recording_create(path, error, room);
}

static void put_number(unsigned char at[4], uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(number >> (24 - 8 * i));
}

static uint32_t get_number(const unsigned char at[4])
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

bool recording_add(FILE *file, struct str tapped, uint32_t missed)
{
    unsigned char head[8];
    put_number(head, tapped.len);
    put_number(head + 4, missed);
    return fwrite(head, 1, 8, file) == 8 &&
           (tapped.len == 0 || fwrite(tapped.at, 1, tapped.len, file) == tapped.len);
}

FILE *recording_open(const char *path, bool *told, char *error, size_t room)
{
    char head[HEAD_LEN] = {0};
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        return NULL;
    }
    bool whole = fread(head, 1, HEAD_LEN, file) == HEAD_LEN;
    *told = memcmp(head, HEAD, HEAD_LEN) == 0;
    if (whole && (*told || memcmp(head, HEAD_1, HEAD_LEN) == 0))
        return file;
    snprintf(error, room, "%s: not a recording of berth tap", path);
    fclose(file);
    return NULL;
}

enum recording_step recording_next(FILE *file, bool told, struct buffer *tapped, uint32_t *missed)
{
    unsigned char head[8];
    size_t size = told ? 8 : 4, got = fread(head, 1, size, file);
    *missed = 0;
    if (got == 0 && feof(file))
        return RECORDING_end;
    if (got < size)
        return RECORDING_cut;
    size_t left = get_number(head);
    *missed = told ? get_number(head + 4) : 0;
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
