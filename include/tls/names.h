/*
 * The names that the certificates of a bind line are for, as a client asks for one (SNI): exact
 * names first, then wildcards. Made by the main thread, or the first worker while the others stand
 * still; then workers only read.
 */
#ifndef TACIT_TLS_NAMES_H
#define TACIT_TLS_NAMES_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"

struct tls_line;
struct x509_st;

#define TLS_NAME_MAX 255 /* bytes of a name (RFC 1035) */

/* One name and the lines for it, in their order. */
struct tls_name {
	struct list link;
	char *name;            /* lower case; of a wildcard without its '*' */
	struct tls_line **line;
	unsigned int n, cap;
	int is_excluded;       /* a filter began with '!' */
};

struct tls_names {
	struct list all;
	struct name_index exact, wild;
	struct tls_name fallback; /* for clients that ask for none of these names, or for none */
};

void tls_names_init(struct tls_names *t);
void tls_names_fini(struct tls_names *t);
/* Each has what the other had. */
void tls_names_exchange(struct tls_names *a, struct tls_names *b);
/* A pattern for this line: "name", "*.name", or either with '!' before it. "!*" is ignored. 0 or
 * -ERR_NOMEM. */
int tls_names_add(struct tls_names *t, const char *pattern, struct tls_line *line) must_check;
/* A line for clients that ask for no known name. 0 or -ERR_NOMEM. */
int tls_names_add_fallback(struct tls_names *t, struct tls_line *line) must_check;
/* The subject's CN and the subjectAltNames. 0 or -ERR_NOMEM. */
int tls_names_add_cert(struct tls_names *t, struct x509_st *x, struct tls_line *line) must_check;
/* The lines for a name that a client asks for, in any case; NULL: none. */
const struct tls_name *tls_names_find(const struct tls_names *t, const char *name, size_t len);

#endif
