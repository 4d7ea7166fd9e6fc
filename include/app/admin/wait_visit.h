/* Questions to all workers for a condition of `wait`. */
#ifndef TACIT_APP_ADMIN_WAIT_VISIT_H
#define TACIT_APP_ADMIN_WAIT_VISIT_H

#include "app/admin/wait_cond.h"

struct admin_conn;

/* Asks the next worker, and returns 1; 0: all were asked. A step of a walk whose state begins with
 * *a. */
int wait_ask_next(struct admin_conn *c, struct wait_asking *a) must_check;

#endif
