/* options: the command line that all processes share.
 *
 *   --run-dir DIR         private directory of ipc sockets          (default: $BERTH_RUN_DIR or
 *                                                                    $XDG_RUNTIME_DIR/berth or
 * /run/berth)
 *   --name NAME           instance name                             (default: the kind's name)
 *   --listen URL          the door; ipc:// or tcp://                (default: ipc in the run dir)
 *   --tap URL             the tap                                   (default: ipc in the run dir)
 *   --peer KIND=URL       where another process's door is; once for each kind
 *   --curve-dir DIR       CURVE keys (made by `berth keys`)
 *   --allow-plain-tcp     tcp without CURVE beyond loopback
 *   --config FILE         KubeSchedulerConfiguration
 *   --generation N        config generation                         (default 1)
 *   -v N, --v N, --log-level LEVEL
 *   --logging-format FORMAT   text or json                          (default: text)
 *   --beat FD:SLOT        from berth run: where it sees that the loop turns
 *   --help, --version
 *
 * and those of processes with a core:
 *   --record FILE         takes down in FILE all that the core is told and reads, and what it says
 *   --replay FILE         plays such a file back, and compares
 *   --answers FILE        with --replay: a file for what is said to a tool behind its last entry
 *   --said FILE           with --replay: a file for all that is said, as it is
 *   --speed N             with --replay: N times as fast as it was, not as fast as it can
 *   --from US             with --speed: microseconds since 1970 from which on that counts
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "proto/bus/bus.h"

#define OPTIONS_VERSION "0.1.0"

/* One option of a process's own. take gets the value ("" for a flag without one) and returns false
 * to refuse it. */
struct own_option {
    const char *name;  /* without dashes */
    const char *value; /* what the value is called in --help; NULL: a flag; "[…]": only after =,
                        * and "" without, as kube-scheduler's boolean flags have it */
    const char *doc;
    bool (*take)(void *state, const char *value);
};

struct options_spec {
    enum process self;
    enum process peers;           /* kinds this process connects to (a set) */
    const struct own_option *own; /* ends with a NULL name; may be NULL */
    void *own_state;              /* given to each take() */
    const char *usage;            /* one line: what the program is */
};

/* What is played back, and how. */
struct replay_options {
    const char *path;    /* NULL: nothing is */
    const char *answers; /* where what is said at its end to a tool goes; NULL: nowhere */
    const char *said;    /* where all that is said goes; NULL: nowhere */
    double speed;        /* times as fast as it was; 0: as fast as it can */
    int64_t from_us;     /* with it: the wall clock when it begins; 0: the first entry's */
};

struct options {
    struct bus_options bus;
    const char *config_path; /* NULL: none */
    struct replay_options replay;
};

/* Reads argv (both `--name value` and `--name=value`), own options included (table ends with a NULL
 * name), opens the log. Prints help or version and exits 0, or names the bad argument and exits 1.
 * peers_wanted: the kinds this process connects to; their endpoints default to the run dir. */
void options_parse(struct options *options, const struct options_spec *spec, int argc, char **argv);
/* With --replay FILE among the arguments: puts the journal in the file in force, which must be of a
 * process of these kinds, and what that was started with becomes part of the arguments, before what
 * is given now. To be called before anything looks at them. Names what is wrong and exits 1. */
void options_replay(enum process kinds, int *argc, char ***argv);

/* Reads a whole number, or one with a fraction ("2.5"; no exponent, no "inf"), between these
 * bounds. False: it is none or lies outside, and the options' reader, when the take() then refuses,
 * says which are wanted. */
bool options_number(const char *value, int64_t least, int64_t most, int64_t *number);
bool options_decimal(const char *value, double least, double most, double *number);
/* A speed of --speed: 0.01 to 1,000,000. */
bool options_speed(const char *value, double *speed);

/* The options of a program that is no process of the bus (a command of berth). */
struct options_table {
    const char *program, *usage;      /* "berth tap", one line */
    const struct own_option *options; /* ends with a NULL name */
    void *state;                      /* given to each take() */
    const struct own_option *more;    /* read behind them, so what both have is the first's; NULL */
    void *more_state;
    const char *error; /* where a take() says why it refused; NULL: none says so */
    /* Takes an argument that is no option ("-" alone is none, and nothing behind "--" is), wherever
     * it stands; false: no such is wanted (any more). NULL: none is. */
    bool (*word)(void *state, const char *word);
    int bad_status; /* the exit status when an argument is bad; 0: 1, as kube-scheduler's */
};

/* Reads argv[1] and on by one table, with the same rules, --help and --version as options_parse.
 * A bad argument exits with the table's bad_status. A word is given as it stands in argv, and lives
 * as long. */
void options_read(const struct options_table *table, int argc, char **argv);

/* From now on options_read tells what options there are instead of reading any, then NULL, and
 * exits 0. For completion in shells. */
void options_list_only(void (*each)(const struct own_option *option));

/* The list with commas that a flag makes which may be given in parts: what there is, and more.
 * Either may be empty, and list NULL where nothing was given before; the text lives in memory, or
 * is one of the two. */
const char *options_joined(struct arena *memory, const char *list, const char *more);

/* The run directory when none is named: $BERTH_RUN_DIR, $XDG_RUNTIME_DIR/berth or /run/berth. */
const char *options_run_dir(void);

#endif
