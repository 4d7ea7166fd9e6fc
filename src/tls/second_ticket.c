/* When the second ticket is sent. */
#include "second_ticket.h"

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

void
second_ticket_enable(SSL_CTX *ctx, struct tls_io *io)
{
	(void)SSL_CTX_set_num_tickets(ctx, 1);
	(void)SSL_CTX_set_session_ticket_cb(ctx, on_ticket, NULL, io);
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
		/* It leaves in front of the data. */
		(void)SSL_new_session_ticket(t->ssl);
	}
}
