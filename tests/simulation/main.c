/* sim: the whole system in one program, in virtual time, hurt in every way that a seed draws. This
 * file only reads the command line; README.md has the words, seeds.c runs. */
#include "tests/simulation/seeds.h"

#include "proto/base/memory.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS_UNSET UINT64_MAX

static void usage(void)
{
    puts("usage: sim [--first SEED] [--seeds N] [--steps N] [--without NAMES] [--seconds N]\n"
         "           [--shrink RUNS] [--scripts FOLDER] [--trace LEVEL] [--commit ID] [--stop] "
         "[--twice]\n"
         "           [--no-table] [--hashes] [--record DIR] [--jobs N]\n"
         "       sim --script FILE … [--trace LEVEL], and seeds as above when --seeds is given");
    exit(2);
}

static void read_options(struct seeds_options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"first", 1, NULL, 'f'},    {"seeds", 1, NULL, 'n'},  {"steps", 1, NULL, 's'},
        {"without", 1, NULL, 'w'},  {"trace", 1, NULL, 't'},  {"shrink", 1, NULL, 'k'},
        {"script", 1, NULL, 'p'},   {"commit", 1, NULL, 'c'}, {"seconds", 1, NULL, 'l'},
        {"scripts", 1, NULL, 'S'},  {"stop", 0, NULL, 'x'},   {"twice", 0, NULL, '2'},
        {"no-table", 0, NULL, 'T'}, {"hashes", 0, NULL, 'H'}, {"record", 1, NULL, 'r'},
        {"jobs", 1, NULL, 'j'},     {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (c) {
        case 'f': o->first = strtoull(optarg, NULL, 10); break;
        case 'n': o->seeds = strtoull(optarg, NULL, 10); break;
        case 's': o->steps = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'w': o->without = optarg; break;
        case 't': o->trace = (int)strtol(optarg, NULL, 10); break;
        case 'k': o->shrink_runs = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'p': o->scripts[o->script_count++] = optarg; break;
        case 'S': o->store = optarg; break;
        case 'c': o->commit = optarg; break;
        case 'l': o->seconds = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'x': o->stop = true; break;
        case '2': o->twice = true; break;
        case 'r': o->record = optarg; break;
        case 'j': o->jobs = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'T': o->table = false; break;
        case 'H': o->hashes = true; break;
        default: usage();
        }
    }
}

int main(int argc, char **argv)
{
    struct seeds_options options = {.first = 1,
                                    .seeds = SEEDS_UNSET,
                                    .steps = 2000,
                                    .without = "",
                                    .commit = "unknown",
                                    .table = true};
    options.scripts = memory_take_array((size_t)argc, sizeof(*options.scripts));
    read_options(&options, argc, argv);
    if (options.seeds == SEEDS_UNSET)
        options.seeds = options.script_count > 0 ? 0 : 20;
    uint64_t findings = seeds_run(&options);
    memory_free(options.scripts);
    return findings > 0 ? 1 : 0;
}
