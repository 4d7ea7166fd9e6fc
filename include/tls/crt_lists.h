/*
 * Crt-lists, and directories of certificates, which are lists without options: what commands change
 * on all bind lines that name them. Main thread, or the first worker.
 */
#ifndef TACIT_TLS_CRT_LISTS_H
#define TACIT_TLS_CRT_LISTS_H

#include "base/compiler.h"
#include "base/list.h"
#include "tls/bind.h"
#include "tls/crt_list.h"

/* A crt-list. Never freed before the set. */
struct tls_crt_list {
	struct list link;         /* in the order of names */
	char *name;
	int is_directory;
	unsigned int last;        /* number of its last line */
};

/* NULL: unknown. A directory may be written with '/' at its end. */
struct tls_crt_list *tls_crt_lists_find_path(const struct list *lists, const char *path);
/* The list of this name, which is new if there is none. NULL when memory is out. */
struct tls_crt_list *tls_crt_lists_take(struct list *lists, const char *name) must_check;
void tls_crt_lists_free(struct list *lists);
/* Copies the fields of a line of a list. 0 or -ERR_NOMEM. */
int tls_line_fill(struct tls_line *l, struct tls_bind *b, struct tls_crt_list *list,
	const struct tls_list_line *from) must_check;

#endif
