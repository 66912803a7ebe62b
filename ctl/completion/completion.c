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

/* What is offered a line, with a tab before its doc; :file and :dir leave it to the shell. Most
 * bashes split words at '=', and then complete what is behind it; the others want all of it. */
static const char bash_script[] =
    "_berth() {\n"
    "    local line head= cur=${COMP_WORDS[COMP_CWORD]}\n"
    "    case $cur in\n"
    "    =) cur= ;;\n"
    "    -*=*) head=${cur%%=*}=; cur=${cur#*=} ;;\n"
    "    esac\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -P "
    "\"$head\" -- \"$cur\") ;;\n"
    "        :dir) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -P "
    "\"$head\" -- \"$cur\") ;;\n"
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
    "        :file) compset -P '-*='; _files ;;\n"
    "        :dir) compset -P '-*='; _files -/ ;;\n"
    "        ?*) found+=(\"${line/$'\\t'/:}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#found )) && _describe -V berth found\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _berth ]; then _berth \"$@\"; else compdef _berth berth; fi\n";

static char **typed; /* behind the command's name, up to the word that is to be completed */
static int typed_count;
static const char *word = "", *before; /* that word, and the option before it; NULL: none */
static bool behind_equal;              /* word is what is behind the option's '=' */
static struct str head;                /* the option and its '=', if the shell has both as one */
static bool taken;                     /* before is an option that takes the word as its value */

void completion_offer(const char *text, const char *doc)
{
    if (strncmp(text, word, strlen(word)) == 0)
        printf("%.*s%s%s%s\n", STR_ARG(head), text, doc != NULL ? "\t" : "",
               doc != NULL ? doc : "");
}

/* ---- values ---- */

static bool is_file(const char *value)
{
    return strcmp(value, "FILE") == 0 || strcmp(value, "PATH") == 0;
}

static bool has_capital(struct str text)
{
    for (uint32_t i = 0; i < text.len; i++)
        if (text.at[i] >= 'A' && text.at[i] <= 'Z')
            return true;
    return false;
}

/* The words of a set as they stand in --help: a|b|c, or [a|b|c] where none is needed. Of N|auto[:N]
 * it is auto: what is in capitals stands for something else. */
static void offer_set(const char *set)
{
    struct str rest = str_of(set + (set[0] == '[')), one;
    while (str_split(&rest, "|", &one)) {
        char text[64];
        one.len = (uint32_t)strcspn(one.at, "|[]");
        snprintf(text, sizeof(text), "%.*s", STR_ARG(one));
        if (!has_capital(one))
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

/* Is that how the option is written, but for a value behind its '='? */
static bool is_written(const struct own_option *o, const char *as)
{
    const char *name = as[0] == '-' ? as + 1 + (as[1] == '-') : "";
    size_t len = strcspn(name, "=");
    return len == strlen(o->name) && strncmp(name, o->name, len) == 0;
}

static const struct own_option *value_of; /* the option before the word, when it takes a value */

static void find_before(const struct own_option *o)
{
    if (o->value != NULL && (o->value[0] != '[' || behind_equal) && before != NULL &&
        is_written(o, before)) {
        taken = true;
        value_of = o;
    }
}

#define OPTIONS_MAX 256
static const struct own_option *options[OPTIONS_MAX];
static int option_count;

/* ---- words ---- */

/* What stands where no option does: as the first word if after is NULL, else only behind that word,
 * or behind any. */
#define ANY ""
static const struct place {
    const char *command, *after, *offered;
} places[] = {
    {"simulate", NULL, ":file"},     {"simulate", ANY, ":file"},   {"replay", NULL, ":file"},
    {"import", NULL, "openb|audit"}, {"import", "audit", ":file"}, {"debug", NULL, "pod"},
    {"explain", NULL, "pod"},        {"keys", NULL, ":dir"},
};

static bool takes_next(const char *as)
{
    for (int i = 0; i < option_count; i++)
        if (is_written(options[i], as))
            return options[i]->value != NULL && options[i]->value[0] != '[';
    return false;
}

/* The last one before that which is to be completed, of those that are no options and no values of
 * any; NULL: there is none. */
static const char *word_before(void)
{
    const char *found = NULL;
    for (int i = 0; i + 1 < typed_count; i++) {
        bool option = typed[i][0] == '-' && typed[i][1] != 0;
        if (!option)
            found = typed[i];
        else if (i + 1 < typed_count && strcmp(typed[i + 1], "=") == 0)
            i += 2;
        else if (strchr(typed[i], '=') == NULL && takes_next(typed[i]))
            i++;
    }
    return found;
}

static bool offer_word(void)
{
    const char *after = word_before();
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && typed_count > 0; i++) {
        const struct place *p = &places[i];
        bool here = p->after == NULL
                        ? after == NULL
                        : after != NULL && (p->after[0] == 0 || strcmp(p->after, after) == 0);
        if (!here || strcmp(p->command, typed[-1]) != 0)
            continue;
        if (p->offered[0] == ':')
            puts(p->offered);
        else
            offer_set(p->offered);
        return true;
    }
    return false;
}

/* All have been told: now it is known whether the word is a value. */
static void end(void)
{
    if (taken)
        offer_values(value_of);
    if (taken || behind_equal || (word[0] != '-' && offer_word()))
        return;
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

/* What is behind an option's '=': --opt=value as one word or, as bash has it, as up to three. */
static void find_equal(void)
{
    const char *equal = word[0] == '-' ? strchr(word, '=') : NULL;
    bool last = strcmp(word, "=") == 0;
    const char *option = equal != NULL             ? word
                         : last && typed_count > 1 ? before
                         : typed_count > 2 && before && strcmp(before, "=") == 0
                             ? typed[typed_count - 3]
                             : NULL;
    if (option == NULL || option[0] != '-')
        return;
    behind_equal = true;
    before = option;
    if (equal != NULL)
        head = (struct str){word, (uint32_t)(equal + 1 - word)};
    word = equal != NULL ? equal + 1 : last ? "" : word;
}

void completion_begin(int count, char **words)
{
    typed = words;
    typed_count = count > 0 ? count : 0;
    word = count > 0 ? words[count - 1] : "";
    before = count > 1 ? words[count - 2] : NULL;
    taken = behind_equal = false;
    head = (struct str){NULL, 0};
    find_equal();
    if (!behind_equal && before != NULL && strchr(before, '=') != NULL)
        before = NULL; /* it has its value */
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
