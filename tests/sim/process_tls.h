/*
 * TLS of a process world: the files site.pem (a certificate that names an OCSP responder at port
 * PROCESS_TLS_RESPONDER, its key, and its issuer) and ca.pem, clients, and what the responder says.
 * The program has to let OpenSSL see virtual time.
 */
#ifndef TACIT_SIM_PROCESS_TLS_H
#define TACIT_SIM_PROCESS_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "fake/kernel.h"
#include "fake/wire.h"

#define PROCESS_TLS_RESPONDER 2080

struct process_tls;

/* Makes the files, at this virtual time. */
struct process_tls *process_tls_new(struct fake *k);
void process_tls_free(struct process_tls **t);
/* A client's wire; `resumes` offers the last session that one has had. */
struct wire *process_tls_wire(struct process_tls *t, int resumes);
/* An HTTP response with an OCSP response from now on for this time; its length. */
size_t process_tls_ocsp(struct process_tls *t, uint64_t valid_s, char *out, size_t size);

#endif
