/* A process that becomes the command of an external check. */
#ifndef TACIT_APP_PROCESS_CHECK_COMMAND_H
#define TACIT_APP_PROCESS_CHECK_COMMAND_H

#include "base/compiler.h"
#include "proxy/check/external_msg.h"

struct sys;

/*
 * In a process just forked: resets its signals and executes the command. Its death follows that of
 * its parent. Returns only if it was not executed: -errno.
 */
int check_command_exec(struct sys *sys, const struct external_request *q) must_check;

#endif
