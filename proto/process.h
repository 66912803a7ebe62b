/* process: what the kernel says of this process. */
#ifndef PROCESS_H
#define PROCESS_H

/* Sets process_* and berth_process_* (metrics.def) from /proc/self. */
void process_measure(void);

#endif
