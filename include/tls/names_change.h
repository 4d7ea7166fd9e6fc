/*
 * A change of a table of names (tls/names.h) at the cost of the names that it concerns: they are
 * made ready beside the table, and put in place while no one looks names up.
 *
 *	names_change_init(&c, table); names_change_remove(...); names_change_add(...); ...
 *	(all workers paused) names_change_apply(&c);
 *	names_change_fini(&c);
 *
 * First worker. Only one change of a table is prepared at a time.
 */
#ifndef TACIT_TLS_NAMES_CHANGE_H
#define TACIT_TLS_NAMES_CHANGE_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"
#include "tls/names.h"

struct tls_names_change {
	struct tls_names *table;
	struct list edits;               /* one per name */
	struct name_index exact, wild;   /* of these */
	struct tls_edit *fallback;       /* NULL: it stays */
	struct name_index more_exact, more_wild; /* with more room; all zeros: there is room */
};

void names_change_init(struct tls_names_change *c, struct tls_names *table);
/* The pattern is from now on, or no more, for this line. 0 or -ERR_NOMEM. */
int names_change_add(struct tls_names_change *c, const char *pattern, struct tls_line *line)
	must_check;
int names_change_remove(struct tls_names_change *c, const char *pattern, struct tls_line *line)
	must_check;
/* Clients that ask for no known name get this line no more. 0 or -ERR_NOMEM. */
int names_change_remove_fallback(struct tls_names_change *c, struct tls_line *line) must_check;
/* The last step before it is put in place: room in the table. 0 or -ERR_NOMEM. */
int names_change_make_room(struct tls_names_change *c) must_check;
/* The first line that the table will have for clients that ask for no known name; NULL: none. */
struct tls_line *names_change_first(const struct tls_names_change *c);
/* Puts it in place. Fails never. */
void names_change_apply(struct tls_names_change *c);
/* Frees what is not in place. */
void names_change_fini(struct tls_names_change *c);

#endif
