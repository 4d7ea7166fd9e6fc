/*
 * The names that the certificates of a bind line are for, as a client asks for one (SNI): exact
 * names first, then wildcards. Made by the main thread, or the first worker while the others are
 * paused; then workers only read. A change: tls/names.h.
 */
#ifndef TACIT_TLS_NAMES_H
#define TACIT_TLS_NAMES_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"

struct ssl_st;
struct ssl_session_st;

struct tls_names_change {
	struct tls_names *table;
	struct list edits;               /* one per name */
	struct name_index exact, wild;   /* of these */
	struct tls_edit *fallback;       /* NULL: it stays */
	struct name_index more_exact, more_wild; /* with more room; all zeros: there is room */
};

struct tls_line;
struct x509_st;

#define TLS_NAME_MAX 255 /* bytes of a name (RFC 1035) */

/* One name and the lines for it, in their order. */
struct tls_name {
	struct list link;
	char *name;            /* lower case; of a wildcard without its '*' */
	struct tls_line **line;
	unsigned int n, cap;
	unsigned int n_excluded; /* filters that began with '!' */
};

/* A parsed pattern. */
struct tls_pattern {
	char name[TLS_NAME_MAX + 1]; /* as in struct tls_name */
	int is_wild, is_excluded;
};

struct tls_names {
	struct list all;
	struct name_index exact, wild;
	struct tls_name fallback; /* for clients that ask for none of these names, or for none */
};

void tls_names_init(struct tls_names *t);
void tls_names_fini(struct tls_names *t);
/* A pattern for this line: "name", "*.name", or either with '!' before it. "!*" is ignored. 0 or
 * -ERR_NOMEM. */
int tls_names_add(struct tls_names *t, const char *pattern, struct tls_line *line) must_check;
/* A line for clients that ask for no known name. 0 or -ERR_NOMEM. */
int tls_names_add_fallback(struct tls_names *t, struct tls_line *line) must_check;
typedef int tls_name_fn(void *arg, const char *pattern, struct tls_line *line);
/* Calls fn for the subject's CN and the subjectAltNames, until it returns something else than 0,
 * which is returned. */
int tls_names_of_cert(struct x509_st *x, tls_name_fn *fn, void *arg, struct tls_line *line)
	must_check;
/* Adds the certificate's names. 0 or -ERR_NOMEM. */
int tls_names_add_cert(struct tls_names *t, struct x509_st *x, struct tls_line *line) must_check;
/* The lines for a name that a client asks for, in any case; NULL: none. */
const struct tls_name *tls_names_find(const struct tls_names *t, const char *name, size_t len);
/* The wildcard that covers a name that was found exactly, for kinds of keys that its own lines do
 * not have; NULL: none, or a filter excludes the name. */
const struct tls_name *tls_names_find_wider(const struct tls_names *t, const struct tls_name *n);

void names_change_init(struct tls_names_change *c, struct tls_names *table);
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

/* The pattern is from now on, or no more, for this line. 0 or -ERR_NOMEM. */
int names_change_add(struct tls_names_change *c, const char *pattern, struct tls_line *line)
	must_check;
int names_change_remove(struct tls_names_change *c, const char *pattern, struct tls_line *line)
	must_check;

/* The host name, not terminated; NULL: none. */
const char *tls_hello_name(struct ssl_st *ssl, size_t *len);
/* True if the session was made for the name that the client asks for now, or both without one. The
 * case counts: with TLS 1.2 the name of the session is what fetches show. */
int tls_hello_match_session(struct ssl_st *ssl, const struct ssl_session_st *session);

#endif
