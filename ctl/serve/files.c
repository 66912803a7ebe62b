/* files: the assembler puts them into the program as they are, so that there is nothing to install
 * and nothing to read at run time. What must stay true: only what is listed here is handed out. */
#include "ctl/serve/files.h"

#include <stddef.h>
#include <string.h>

#define FILE_BYTES(name, path)                                                                     \
    __asm__(".section .rodata\n" #name "_begin:\n.incbin \"" path "\"\n" #name "_end:\n.byte 0\n"  \
            ".previous\n");                                                                        \
    extern const char name##_begin[], name##_end[]

FILE_BYTES(file_index, "ctl/page/index.html");
FILE_BYTES(file_sign_in, "ctl/page/sign-in.html");
FILE_BYTES(file_icon, "ctl/page/icon.svg");
FILE_BYTES(file_style, "ctl/page/page.css");
FILE_BYTES(file_page, "ctl/page/page.js");
FILE_BYTES(file_state, "ctl/page/state.js");
FILE_BYTES(file_map, "ctl/page/map.js");
FILE_BYTES(file_plots, "ctl/page/plots.js");
FILE_BYTES(file_ask, "ctl/page/ask.js");
FILE_BYTES(file_past, "ctl/page/past.js");

#define HTML   "text/html; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE  "text/css; charset=utf-8"

static const struct {
    const char *path, *type, *begin, *end;
} files[] = {
    {"/ui/", HTML, file_index_begin, file_index_end},
    {"/ui/icon.svg", "image/svg+xml", file_icon_begin, file_icon_end},
    {"/ui/page.css", STYLE, file_style_begin, file_style_end},
    {"/ui/page.js", SCRIPT, file_page_begin, file_page_end},
    {"/ui/state.js", SCRIPT, file_state_begin, file_state_end},
    {"/ui/map.js", SCRIPT, file_map_begin, file_map_end},
    {"/ui/plots.js", SCRIPT, file_plots_begin, file_plots_end},
    {"/ui/ask.js", SCRIPT, file_ask_begin, file_ask_end},
    {"/ui/past.js", SCRIPT, file_past_begin, file_past_end},
};

bool files_find(const char *path, struct file *file)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (strcmp(files[i].path, path) == 0) {
            *file = (struct file){files[i].path,
                                  files[i].type,
                                  {files[i].begin, (uint32_t)(files[i].end - files[i].begin)}};
            return true;
        }
    return false;
}

struct str files_sign_in(void)
{
    return (struct str){file_sign_in_begin, (uint32_t)(file_sign_in_end - file_sign_in_begin)};
}
