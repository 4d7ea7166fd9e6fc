/* The program from the command line to the exit code. */
#ifndef TACIT_APP_MAIN_START_H
#define TACIT_APP_MAIN_START_H

#include "base/compiler.h"

/* The whole program. environment: NULL-terminated, as environ. */
int start_main(int argc, char *const *argv, const char *const *environment);

#endif
