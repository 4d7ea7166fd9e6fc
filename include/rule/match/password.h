/*
 * Passwords as a userlist has them (manual 3.4): a hash of crypt(3), or the text itself. A hash is
 * made anew for each question, on the worker that asks: its methods are slow on purpose, from tens
 * of microseconds to a second, and nobody else is served meanwhile.
 */
#ifndef TACIT_RULE_MATCH_PASSWORD_H
#define TACIT_RULE_MATCH_PASSWORD_H

#include "base/compiler.h"
#include "base/str.h"

/* What somebody can say at most: libcrypt's limit. */
#define PASSWORD_MAX 511

/* What is wrong with a hash, NULL: nothing. It is tried, and so may take its time. Static. */
const char *password_hash_fault(const char *hash);
/* Is that the password of the hash? How long it takes says nothing of how much of it is right. */
int password_has_hash(struct str said, const char *hash);
/* The same of a password that is there as it is. */
int password_is_text(struct str said, struct str text);

#endif
