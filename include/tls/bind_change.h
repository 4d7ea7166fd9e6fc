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
#include "tls/crt_list.h"
#include "tls/tls_conf.h"

/* Makes what the change concerns, beside what is in use; *uses grows by the number of lines that it
 * concerns. 0, or a negative reason with why (TLS_WHY_MAX): nothing has changed, and it is to be
 * settled. */
int tls_bind_prepare(struct tls_bind *b, const struct tls_change *change, unsigned int *uses,
	char *why) must_check;
/* Puts it in place, if there is any. Fails never. */
void tls_bind_exchange(struct tls_bind *b);
/* Frees what is not in place. */
void tls_bind_settle(struct tls_bind *b);

int tls_bind_names_list(const struct tls_bind *b, const struct tls_crt_list *list);
/* The line is that of the list's number `last`. Files that it names must have been read for the
 * configuration or made by a command. 0, or a negative reason with why (TLS_WHY_MAX). */
int tls_list_add_line(struct tls_bind *b, struct tls_conf *conf, struct tls_crt_list *list,
	struct tls_entry *e, const struct tls_list_line *from, char *why) must_check;
/* Frees the lines of this number of the list. */
void tls_list_remove_line(struct tls_bind *b, const struct tls_crt_list *list, unsigned int number,
	const struct tls_entry *e);

#endif
