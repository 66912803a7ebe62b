/* trace: lines on stdout, and a hash of them all, by which two runs are compared. What must stay
 * true: the hash is of what a line would say, and nobody writes a line that is not printed; that
 * would be a good part of a run. */
#include "tests/simulation/trace.h"

#include "proto/base/must.h"
#include "proto/base/str.h"
#include "tests/simulation/clock.h"
#include "tests/simulation/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int trace_level;
static uint64_t hash;

void trace_reset(void)
{
    hash = 1469598103934665603u;
}

uint64_t trace_hash(void)
{
    return hash;
}

static void mix(uint64_t number)
{
    hash = (hash ^ number) * 1099511628211u;
    hash ^= hash >> 29;
}

/* What %s says, of which a line may want so many bytes at most. */
static void mix_text(const char *text, size_t most)
{
    mix(str_hash((struct str){text, (uint32_t)strnlen(text, most)}));
}

static void mix_number(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    mix(bits);
}

/* The conversions that lines of this program have: at is behind the sign of per cent. Returns what
 * is behind the conversion. */
static const char *mix_argument(const char *at, va_list *args)
{
    char *end = (char *)at;
    size_t most = *at == '.' ? strtoul(at + 1, &end, 10) : UINT32_MAX;
    bool wide = strncmp(end, "ll", 2) == 0;
    at = wide ? end + 2 : end;
    switch (*at) {
    case 's': mix_text(va_arg(*args, const char *), most); break;
    case 'd':
    case 'u': mix(wide ? va_arg(*args, uint64_t) : va_arg(*args, unsigned)); break;
    case 'c': mix((uint64_t)va_arg(*args, int)); break;
    case 'g': mix_number(va_arg(*args, double)); break;
    case '%': break;
    default: must(!"a trace has a conversion that its hash does not know");
    }
    return at + 1;
}

static void mix_line(const char *format, va_list *args)
{
    for (const char *at = format; *at != 0;) {
        size_t plain = strcspn(at, "%");
        mix(str_hash((struct str){at, (uint32_t)plain}));
        at += plain;
        if (*at == '%')
            at = mix_argument(at + 1, args);
    }
    mix((uint64_t)clock_now());
}

static void print_line(const char *format, va_list args)
{
    printf("%10.3f ", (double)clock_now() / 1e9);
    vprintf(format, args);
    printf("\n");
}

static void note_line(const char *format, va_list args)
{
    char line[5000];
    vsnprintf(line, sizeof(line), format, args);
    note_add(line);
}

void trace(int level, const char *format, ...)
{
    va_list args, noted, again;
    va_start(args, format);
    va_copy(noted, args);
    va_copy(again, args);
    mix_line(format, &args);
    va_end(args);
    if (level == 1 && note_is_wanted())
        note_line(format, noted);
    va_end(noted);
    if (level <= trace_level)
        print_line(format, again);
    va_end(again);
}
