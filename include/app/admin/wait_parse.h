/* The words of a condition of the admin command `wait`. */
#ifndef TACIT_APP_ADMIN_WAIT_PARSE_H
#define TACIT_APP_ADMIN_WAIT_PARSE_H

#include "app/admin/wait_cond.h"

struct admin_conn;

/* 0, or -1 after a message. argv: the words behind the delay. */
int wait_cond_parse(struct admin_conn *c, int argc, char **argv, struct wait_cond *out) must_check;
/* "eq" and the like. */
const char *wait_op_name(enum wait_op op);

#endif
