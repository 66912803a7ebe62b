/* completion: `berth completion`, and what its scripts ask. The one idea: the shell asks berth
 * itself, which has each command tell its options from the same tables that it reads them by, so
 * that nothing is said twice.
 *
 * What must stay true: nothing is run, asked or written while somebody types. */
#include "ctl/completion/completion.h"

#include "proto/bus/options.h"
#include "proto/messages.h"

#include <stdio.h>
#include <string.h>

/* What is offered a line, with a tab before its doc; :file and :dir leave it to the shell. */
static const char bash_script[] =
    "_berth() {\n"
    "    local line cur=${COMP_WORDS[COMP_CWORD]}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "
    "\"$cur\") ;;\n"
    "        :dir) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "
    "\"$cur\") ;;\n"
    "        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done < <(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _berth berth\n";

static const char zsh_script[] =
    "#compdef berth\n"
    "_berth() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in \"${(@f)$(\"$words[1]\" __complete \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "        :file) _files ;;\n"
    "        :dir) _files -/ ;;\n"
    "        ?*) found+=(\"${line/$'\\t'/:}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#found )) && _describe -V berth found\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _berth ]; then _berth \"$@\"; else compdef _berth berth; fi\n";

static const char *word = "", *before; /* the last word, and that before it; NULL: none */
static bool taken;                     /* before is an option that takes the word as its value */

void completion_offer(const char *text, const char *doc)
{
    if (strncmp(text, word, strlen(word)) == 0)
        printf("%s%s%s\n", text, doc != NULL ? "\t" : "", doc != NULL ? doc : "");
}

/* ---- values ---- */

static bool is_file(const char *value)
{
    return strcmp(value, "FILE") == 0 || strcmp(value, "PATH") == 0;
}

/* The words of a set as they stand in --help: a|b|c. */
static void offer_set(const char *set)
{
    struct str rest = str_of(set), one;
    while (str_split(&rest, "|", &one)) {
        char text[64];
        snprintf(text, sizeof(text), "%.*s", STR_ARG(one));
        completion_offer(text, NULL);
    }
}

static void offer_messages(void)
{
    for (int i = 0; i < MSG_COUNT; i++)
        if (message_info[i].record != NULL)
            completion_offer(message_info[i].record->name, NULL);
}

static void offer_processes(void)
{
    for (int i = 0; i < PROCESS_COUNT; i++)
        completion_offer(process_name((enum process)(1 << i)), NULL);
}

static void offer_values(const struct own_option *o)
{
    if (is_file(o->value))
        puts(":file");
    else if (strcmp(o->value, "DIR") == 0)
        puts(":dir");
    else if (strcmp(o->name, "message") == 0)
        offer_messages();
    else if (strcmp(o->name, "process") == 0 || strcmp(o->name, "role") == 0)
        offer_processes();
    else if (strcmp(o->name, "tie-break") == 0)
        offer_set("random|round-robin|first");
    else if (strcmp(o->name, "release") == 0)
        offer_set("1.36|1.37");
    else if (strchr(o->value, '|') != NULL)
        offer_set(o->value);
}

/* ---- options ---- */

static bool is_before(const struct own_option *o)
{
    const char *name = before != NULL && before[0] == '-' ? before + 1 + (before[1] == '-') : NULL;
    return name != NULL && strcmp(name, o->name) == 0;
}

static const struct own_option *value_of; /* the option before the word, when it takes a value */

static void find_before(const struct own_option *o)
{
    if (o->value != NULL && o->value[0] != '[' && is_before(o)) {
        taken = true;
        value_of = o;
    }
}

#define OPTIONS_MAX 256
static const struct own_option *options[OPTIONS_MAX];
static int option_count;

/* All have been told: now it is known whether the word is a value. */
static void end(void)
{
    if (taken) {
        offer_values(value_of);
        return;
    }
    for (int i = 0; i < option_count; i++) {
        char text[80];
        snprintf(text, sizeof(text), "%s%s", options[i]->name[1] ? "--" : "-", options[i]->name);
        completion_offer(text, options[i]->doc);
    }
    completion_offer("--help", "this text");
}

static void each(const struct own_option *o)
{
    if (o == NULL) {
        end();
        return;
    }
    find_before(o);
    if (option_count < OPTIONS_MAX)
        options[option_count++] = o;
}

void completion_begin(int count, char **words)
{
    word = count > 0 ? words[count - 1] : "";
    before = count > 1 ? words[count - 2] : NULL;
    taken = false;
    options_list_only(each);
}

static bool take_shell(void *state, const char *name)
{
    const char **script = state;
    bool bash = strcmp(name, "bash") == 0;
    if (*script != NULL || (!bash && strcmp(name, "zsh") != 0))
        return false;
    *script = bash ? bash_script : zsh_script;
    return true;
}

int command_completion(int argc, char **argv)
{
    static const struct own_option none[] = {{NULL, NULL, NULL, NULL}};
    const char *script = NULL;
    const struct options_table table = {
        .program = "berth completion",
        .usage = "print what the shell is to read: berth completion bash|zsh",
        .options = none,
        .state = &script,
        .word = take_shell};
    options_read(&table, argc, argv);
    if (script == NULL)
        fputs("berth completion: bash or zsh? (--help tells more)\n", stderr);
    else
        fputs(script, stdout);
    return script != NULL ? 0 : 1;
}
