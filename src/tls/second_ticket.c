/* Answers to OpenSSL about tickets, and when the second one is sent. */
#include "second_ticket.h"

#include "tls/hello_name.h"

enum second_ticket {
	NOT_OWED, /* there was no first one, or both were sent */
	OWED,
	ANSWERED, /* the same, and data was sent */
	DUE       /* and then the client has sent more */
};

/* OpenSSL makes a ticket. A client that resumes gets one for the one it has used. */
static int
on_ticket(SSL *ssl, void *arg)
{
	const struct tls_io *io = arg;
	struct tls *t = io->cur;

	if (t && !t->x.is_up && SSL_version(ssl) == TLS1_3_VERSION && !SSL_session_reused(ssl))
		t->second_ticket = OWED;
	return 1;
}

/* Decides about a ticket that was decrypted, or not: one for another name is as none. */
static SSL_TICKET_RETURN
on_ticket_read(SSL *ssl, SSL_SESSION *session, const unsigned char *key_name unused,
	size_t len unused, SSL_TICKET_STATUS status, void *arg unused)
{
	if ((status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) ||
		!tls_hello_match_session(ssl, session))
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

void
second_ticket_enable(SSL_CTX *ctx, struct tls_io *io)
{
	(void)SSL_CTX_set_num_tickets(ctx, 1);
	(void)SSL_CTX_set_session_ticket_cb(ctx, on_ticket, on_ticket_read, io);
}

void
second_ticket_on_read(struct tls *t)
{
	if (t->second_ticket == ANSWERED)
		t->second_ticket = DUE;
}

void
second_ticket_on_write(struct tls *t)
{
	if (t->second_ticket == OWED) {
		t->second_ticket = ANSWERED;
	} else if (t->second_ticket == DUE) {
		t->second_ticket = NOT_OWED;
		/* The ticket leaves in front of the data. */
		(void)SSL_new_session_ticket(t->ssl);
	}
}
