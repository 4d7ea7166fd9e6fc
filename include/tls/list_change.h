/*
 * A change of a list, for each bind line that names it: lines are added, or marked, then the change
 * is prepared and exchanged (tls/bind_change.h), and then it is kept or undone. First worker.
 */
#ifndef TACIT_TLS_LIST_CHANGE_H
#define TACIT_TLS_LIST_CHANGE_H

#include "base/compiler.h"
#include "tls/bind.h"
#include "tls/crt_list.h"
#include "tls/crt_lists.h"
#include "tls/tls_conf.h"

int tls_bind_names_list(const struct tls_bind *b, const struct tls_crt_list *list);
/* The line is that of the list's number `last`. Files that it names must have been read for the
 * configuration or made by a command. 0, or a negative reason with why (TLS_WHY_MAX). */
int tls_list_add_line(struct tls_bind *b, struct tls_conf *conf, struct tls_crt_list *list,
	struct tls_entry *e, const struct tls_list_line *from, char *why) must_check;
/* Frees the lines of this number of the list. */
void tls_list_remove_line(struct tls_bind *b, const struct tls_crt_list *list, unsigned int number,
	const struct tls_entry *e);

#endif
