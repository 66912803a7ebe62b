/* doctor: `berth doctor`, what is silently wrong; and `berth compare`, who holds something else
 * than the others. */
#ifndef CTL_DOCTOR_DOCTOR_H
#define CTL_DOCTOR_DOCTOR_H

int command_doctor(int argc, char **argv);
int command_compare(int argc, char **argv);

#endif
