/*
 * A change of a bind line that serves:
 *
 *	r = tls_bind_prepare(b, &change, &uses, why);
 *	(all workers paused) tls_bind_exchange(b);
 *	tls_bind_settle(b);
 *
 * Handshakes that have begun keep what they have. First worker.
 */
#ifndef TACIT_TLS_BIND_CHANGE_H
#define TACIT_TLS_BIND_CHANGE_H

#include "base/compiler.h"
#include "tls/bind.h"
#include "tls/change.h"

/* Makes what the change concerns, beside what is in use; *uses grows by the number of lines that it
 * concerns. 0, or a negative reason with why (TLS_WHY_MAX): nothing has changed, and it is to be
 * settled. */
int tls_bind_prepare(struct tls_bind *b, const struct tls_change *change, unsigned int *uses,
	char *why) must_check;
/* Puts it in place, if there is any. Fails never. */
void tls_bind_exchange(struct tls_bind *b);
/* Frees what is not in place. */
void tls_bind_settle(struct tls_bind *b);

#endif
