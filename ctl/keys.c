/* keys: `berth keys`, which makes the CURVE key pairs of an instance: one for its doors, and one
 * for each kind of process to connect with. What must stay true: it never replaces a key that is
 * there. */
#include "ctl/commands.h"
#include "proto/bus/curve.h"
#include "proto/bus/options.h"

#include <stdio.h>
#include <string.h>

struct keys {
    const char *dir, *name;
    enum process role;
};

static bool take_dir(void *state, const char *value)
{
    ((struct keys *)state)->dir = value;
    return *value != 0;
}

static bool take_role(void *state, const char *value)
{
    ((struct keys *)state)->role = process_of(str_of(value));
    return ((struct keys *)state)->role != 0;
}

/* Part of a file name. */
static bool take_name(void *state, const char *value)
{
    ((struct keys *)state)->name = value;
    return *value != 0 && strlen(value) <= CURVE_NAME_ROOM - 16 && value[0] != '.' &&
           strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
               strlen(value);
}

static const struct own_option keys_options[] = {
    {"dir", "DIR", "where the keys lie; also given as the last argument", take_dir},
    {"role", "KIND",
     "make one more pair, KIND-NAME, for a watcher, queue, scheduler, worker, binder, extender, "
     "plugin or tool",
     take_role},
    {"name", "NAME", "its name", take_name},
    {NULL, NULL, NULL, NULL},
};

static bool make(const char *dir, const char *name)
{
    char error[512];
    if (!curve_make(dir, name, error, sizeof(error))) {
        fprintf(stderr, "berth keys: %s\n", error);
        return false;
    }
    printf("%s/%s.key\n%s/%s.key_secret\n", dir, name, dir, name);
    return true;
}

static bool is_whole(const char *dir, const char *name)
{
    bool broken = curve_broken(dir, name);
    if (broken)
        fprintf(stderr,
                "berth keys: %s/%s.key, %s.key_secret: one of them is empty: remove both, and run "
                "this again\n",
                dir, name, name);
    return !broken;
}

/* Those that are not there yet: so keys of an older berth, which had no kind, are added to. */
static int make_all(const char *dir)
{
    int made = 0;
    bool whole = true;
    for (int i = -1; i < PROCESS_COUNT; i++) {
        const char *name = i < 0 ? "server" : process_name((enum process)(1 << i));
        if (curve_exists(dir, name)) {
            whole &= is_whole(dir, name);
            continue;
        }
        if (!make(dir, name))
            return 1;
        made++;
    }
    if (curve_exists(dir, "client"))
        fprintf(stderr, "berth keys: %s/client*.key are used no more: remove them\n", dir);
    if (made == 0 && whole)
        fprintf(stderr, "berth keys: %s: all keys exist already\n", dir);
    return made > 0 && whole ? 0 : 1;
}

int command_keys(int argc, char **argv)
{
    struct keys keys = {0};
    struct options_table table = {.program = "berth keys",
                                  .usage =
                                      "make CURVE keys in a directory: berth keys [options] DIR",
                                  .options = keys_options,
                                  .state = &keys};
    /* The directory is the one argument without a dash, at the end. */
    if (argc > 1 && argv[argc - 1][0] != '-' &&
        (argc == 2 || argv[argc - 2][0] != '-' || strchr(argv[argc - 2], '=')))
        keys.dir = argv[--argc];
    options_read(&table, argc, argv);
    if (keys.dir == NULL) {
        fprintf(stderr, "berth keys: which directory? (berth keys DIR)\n");
        return 1;
    }
    if ((keys.role == 0) != (keys.name == NULL)) {
        fprintf(stderr, "berth keys: --role and --name go together\n");
        return 1;
    }
    if (keys.name == NULL)
        return make_all(keys.dir);
    char name[CURVE_NAME_ROOM + 16];
    snprintf(name, sizeof(name), "%s-%s", process_name(keys.role), keys.name);
    return make(keys.dir, name) ? 0 : 1;
}
