/* import: `berth import`, what happened elsewhere as a recording. */
#ifndef CTL_IMPORT_IMPORT_H
#define CTL_IMPORT_IMPORT_H

int command_import(int argc, char **argv);

#endif
