/*
 * Passwords of userlists (manual 3.4): a crypt(3) hash, or plain text. The hash is computed for
 * each check, on the worker itself: it is slow by design, from tens of microseconds to a second,
 * and the worker serves no other connection meanwhile.
 */
#ifndef TACIT_RULE_MATCH_PASSWORD_H
#define TACIT_RULE_MATCH_PASSWORD_H

#include "base/compiler.h"
#include "base/str.h"

/* Maximum length of a password: libcrypt's limit. */
#define PASSWORD_MAX 511

/* The error in a hash, NULL: valid. It computes the hash, which may be slow. Static. */
const char *password_hash_fault(const char *hash);
/* True if the password matches the hash. The time does not depend on how much of it is correct. */
int password_has_hash(struct str said, const char *hash);
/* The same for a plain text password. */
int password_is_text(struct str said, struct str text);

#endif
