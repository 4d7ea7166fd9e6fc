/* Parts of a certificate by the names of commands: "cert.pem", "cert.pem.key". First worker. */
#ifndef TACIT_TLS_CERT_PART_H
#define TACIT_TLS_CERT_PART_H

#include "base/compiler.h"
#include "tls/store.h"

enum tls_part { TLS_PART_PEM, TLS_PART_KEY, TLS_PART_ISSUER, TLS_PART_SCTL, TLS_PART_OCSP };

/* The entry that a name is a part of, and which; NULL: unknown. del_ext: the part's ending may
 * stand in place of ".crt" (ssl-load-extra-del-ext). */
struct tls_entry *tls_part_find(const struct tls_store *s, const char *name, int del_ext,
	enum tls_part *part);
/* Replaces the part: PEM, or base64 of SCTL and OCSP. 0, or a negative reason with why
 * (TLS_WHY_MAX). */
int tls_part_set(struct tls_cert *c, enum tls_part part, const char *text, char *why) must_check;

#endif
