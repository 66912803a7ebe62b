/* keys: `berth keys`, which makes the CURVE key pairs that the processes of an instance share when
 * they talk over tcp. What must stay true: it never replaces a key that is there. */
#include "ctl/commands.h"
#include "proto/bus/curve.h"
#include "proto/bus/options.h"

#include <stdio.h>
#include <string.h>

struct keys {
    const char *dir, *client;
};

static bool take_dir(void *state, const char *value)
{
    ((struct keys *)state)->dir = value;
    return *value != 0;
}

/* Part of a file name that must begin with "client". */
static bool take_client(void *state, const char *value)
{
    ((struct keys *)state)->client = value;
    return *value != 0 && strlen(value) <= 64 && value[0] != '.' &&
           strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
               strlen(value);
}

static const struct own_option keys_options[] = {
    {"dir", "DIR", "where the keys lie; also given as the last argument", take_dir},
    {"client", "NAME", "make one more client pair, client-NAME, that the doors accept",
     take_client},
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
    if (keys.client == NULL)
        return make(keys.dir, "server") && make(keys.dir, "client") ? 0 : 1;
    char name[80];
    snprintf(name, sizeof(name), "client-%s", keys.client);
    return make(keys.dir, name) ? 0 : 1;
}
