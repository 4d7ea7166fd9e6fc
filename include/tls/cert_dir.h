/* Directories of certificates. Main thread, while the configuration is read. */
#ifndef TACIT_TLS_CERT_DIR_H
#define TACIT_TLS_CERT_DIR_H

#include "base/compiler.h"

struct sys;

/* The files of a directory that hold certificates, sorted by bytes. */
struct tls_dir {
	char **path; /* from mem_alloc(), as each path */
	unsigned int n, cap;
};

/* True if a directory's file is a certificate of its own. */
typedef int tls_dir_filter(const char *name);
/* Not hidden, and not one of the files beside a certificate. */
int tls_is_cert_name(const char *name);
/* 0, or a negative reason with nothing in *out. */
int tls_dir_read(struct sys *sys, const char *dir, tls_dir_filter *is_wanted, struct tls_dir *out)
	must_check;
void tls_dir_free(struct tls_dir *d);

#endif
