/* The version of OpenSSL that the program was built with. Constant data. */
#ifndef TACIT_TLS_TLS_VERSION_H
#define TACIT_TLS_TLS_VERSION_H

extern const char *const tls_version_name;   /* "OpenSSL 3.0.17 1 Jul 2025" */
extern const char *const tls_version_number; /* "3.0.17" */

#endif
