/* Changes of TLS by commands. New contexts are built beside the live ones and swapped in while the
 * workers are paused. First worker. */
#ifndef TACIT_TLS_CHANGE_H
#define TACIT_TLS_CHANGE_H

struct tls_ca;
struct tls_crt_list;
struct tls_entry;

/* The entry, the CA or the list; the others are NULL. */
struct tls_change {
	struct tls_entry *entry;         /* a certificate, whose `next` is set */
	const struct tls_ca *ca;         /* a file with other contents than before */
	const struct tls_crt_list *list; /* a list with other lines */
	struct tls_entry *listed;        /* with a list: of its lines that come or leave */
};

#endif
