/* Shared by the files of the commands about TLS. First worker. */
#ifndef TACIT_APP_ADMIN_ADMIN_TLS_INT_H
#define TACIT_APP_ADMIN_ADMIN_TLS_INT_H

#include "app/admin/admin_int.h"
#include "tls/change.h"
#include "tls/tls_conf.h"

struct tls_conf *admin_tls_conf(const struct admin_conn *c);

/* Called for each bind line that accepts TLS. Not 0: no more. */
typedef int admin_tls_bind_fn(struct bind_conf *b, struct proxy *p, void *arg);
int admin_tls_each_bind(struct admin_conn *c, admin_tls_bind_fn *fn, void *arg);

/*
 * Puts a change in place everywhere: made while the workers run, exchanged while they are paused.
 * *uses: the certificates of lines and servers that it concerns. 0, or a negative reason with why
 * (TLS_WHY_MAX), and nothing has changed.
 */
int admin_tls_apply(struct admin_conn *c, const struct tls_change *change, unsigned int *uses,
	char *why) must_check;
/* A dot for each. */
void admin_tls_dots(struct admin_conn *c, unsigned int uses);

#endif
