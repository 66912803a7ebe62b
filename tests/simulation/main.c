/* sim: the whole system in one program, in virtual time, hurt in every way that a seed draws. This
 * file only reads the command line; README.md has the words, seeds.c runs. */
#include "tests/simulation/seeds.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void usage(void)
{
    puts("usage: sim [--first SEED] [--seeds N] [--steps N] [--without NAMES] [--seconds N]\n"
         "           [--shrink RUNS] [--trace LEVEL] [--keep N,N,…] [--commit ID] [--stop] "
         "[--twice]\n"
         "           [--no-table]");
    exit(2);
}

static void read_options(struct seeds_options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"first", 1, NULL, 'f'},   {"seeds", 1, NULL, 'n'},  {"steps", 1, NULL, 's'},
        {"without", 1, NULL, 'w'}, {"trace", 1, NULL, 't'},  {"shrink", 1, NULL, 'k'},
        {"keep", 1, NULL, 'K'},    {"commit", 1, NULL, 'c'}, {"seconds", 1, NULL, 'l'},
        {"stop", 0, NULL, 'x'},    {"twice", 0, NULL, '2'},  {"no-table", 0, NULL, 'T'},
        {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (c) {
        case 'f': o->first = strtoull(optarg, NULL, 10); break;
        case 'n': o->seeds = strtoull(optarg, NULL, 10); break;
        case 's': o->steps = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'w': o->without = optarg; break;
        case 't': o->trace = (int)strtol(optarg, NULL, 10); break;
        case 'k': o->shrink_runs = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'K': o->keep = optarg; break;
        case 'c': o->commit = optarg; break;
        case 'l': o->seconds = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 'x': o->stop = true; break;
        case '2': o->twice = true; break;
        case 'T': o->table = false; break;
        default: usage();
        }
    }
}

int main(int argc, char **argv)
{
    struct seeds_options options = {
        .first = 1, .seeds = 20, .steps = 2000, .without = "", .commit = "unknown", .table = true};
    read_options(&options, argc, argv);
    return seeds_run(&options) > 0 ? 1 : 0;
}
