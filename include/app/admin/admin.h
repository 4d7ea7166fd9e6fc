/*
 * The admin socket (`stats socket`, management manual 9.3): commands in lines, answers that end
 * with an empty line. One line and close, or a dialogue after `prompt`.
 */
#ifndef TACIT_APP_ADMIN_ADMIN_H
#define TACIT_APP_ADMIN_ADMIN_H

#include "base/compiler.h"

struct admin;
struct worker;

/* Takes over the accepting of all admin listeners of the process. NULL when memory is out. */
struct admin *admin_new(struct worker *w) must_check;
/* Closes its connections; the listeners are the process's. */
void admin_free(struct admin **a);
/* Connections open now. */
unsigned int admin_conns(const struct admin *a);

#endif
