/*
 * Names of header fields as some clients or servers of HTTP/1 want to see them (manual,
 * h1-case-adjust). The owner changes it while the configuration is read; after that all threads
 * read it.
 */
#ifndef TACIT_HTTP_NAME_CASE_H
#define TACIT_HTTP_NAME_CASE_H

#include "base/compiler.h"
#include "base/str.h"

struct cased_name;

struct name_case {
	struct cased_name *name;
	unsigned int n, cap;
};

/* Makes an empty set of names; fini frees the names that were added. */
void name_case_init(struct name_case *c);
void name_case_fini(struct name_case *c);
/* This name is written like that. is_of_file: name_case_drop_file() forgets it. 0, -ERR_EXISTS if
 * it is there in some case, or -ERR_NOMEM. */
int name_case_add(struct name_case *c, struct str to, int is_of_file) must_check;
/* Forgets the names of a file. */
void name_case_drop_file(struct name_case *c);
/* Rewrites the names of a head of HTTP/1 in place, up to its empty line; what is not one, and a
 * body, stay as they are. */
void name_case_adjust(const struct name_case *c, char *head, size_t n);

#endif
