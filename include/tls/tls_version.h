/* The version of OpenSSL that the program was built with, and what it has loaded. */
#ifndef TACIT_TLS_TLS_VERSION_H
#define TACIT_TLS_TLS_VERSION_H

struct sbuf;

extern const char *const tls_version_name;   /* "OpenSSL 3.0.17 1 Jul 2025" */
extern const char *const tls_version_number; /* "3.0.17" */

/* A line for each provider of algorithms that is loaded. First worker. */
void tls_show_providers(struct sbuf *out);

#endif
