/* Errors of a verification by name, as HAProxy's manual has them: "X509_V_ERR_CERT_HAS_EXPIRED". */
#ifndef TACIT_TLS_VERIFY_NAMES_H
#define TACIT_TLS_VERIFY_NAMES_H

#include <stddef.h>

/* The number of an error, given as one or as a name; -1: unknown. */
int tls_verify_error_number(const char *text, size_t len);
/* The name of an error, or NULL. */
const char *tls_verify_error_name(int error);

#endif
