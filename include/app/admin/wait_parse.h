/* The words of a condition of the admin command `wait`. */
#ifndef TACIT_APP_ADMIN_WAIT_PARSE_H
#define TACIT_APP_ADMIN_WAIT_PARSE_H

#include "app/admin/wait_cond.h"

/* Reads the value of a WAIT_VALUE. 0, or -1 after a message: its server is gone. */
int wait_value_read(struct admin_conn *c, const struct wait_cond *cond, struct wait_seen *out)
	must_check;

struct admin_conn;

/* 0, or -1 after a message. argv: the words behind the delay. */
int wait_cond_parse(struct admin_conn *c, int argc, char **argv, struct wait_cond *out) must_check;

#endif
