/*
 * The client's half of SMTP (RFC 5321) as bytes, without a descriptor: one email from the server's
 * greeting to QUIT. Each command waits for the reply to the one before; it begins with HELO, not
 * EHLO, so that the server announces no extensions. The thread of its owner.
 */
#ifndef TACIT_NET_SMTP_H
#define TACIT_NET_SMTP_H

#include <time.h>

#include "base/sbuf.h"
#include "base/str.h"

#define SMTP_TEXT_MAX 900   /* bytes of a text in a header: lines have 998 at most (4.5.3.1.6) */
#define SMTP_SHOWN_MAX 128  /* bytes of a reply that a message shows */
#define SMTP_REPLY_MAX 8192 /* bytes of a whole reply */

/* The reply that is to come. */
enum smtp_step {
	SMTP_GREETING,
	SMTP_HELO,
	SMTP_FROM,
	SMTP_TO,
	SMTP_DATA,
	SMTP_BODY, /* the email was given to `out` */
	SMTP_QUIT, /* the server has taken the email */
	SMTP_OVER
};

enum smtp_result {
	SMTP_MORE,    /* wait for more bytes, and send `out` */
	SMTP_TAKEN,   /* the same; the server has just taken the email */
	SMTP_LATER,   /* it has refused for now: 4xx */
	SMTP_REFUSED, /* it has refused for good: 5xx */
	SMTP_WRONG    /* this is not SMTP */
};

/* Texts that smtp_word_is_valid() permits. They outlive the dialogue. */
struct smtp_mail {
	const char *helo, *from, *to;
	struct str data; /* smtp_put_mail() */
};

struct smtp {
	const struct smtp_mail *mail;
	struct sbuf *out;      /* commands; the owner sends and empties it */
	enum smtp_step step;
	int code;              /* of a reply with several lines; 0: this is its first line */
	size_t n;              /* bytes of the reply */
	size_t at;             /* and of its line */
	char line[4];          /* their first ones */
	size_t n_reply;
	char reply_text[SMTP_SHOWN_MAX + 1]; /* first line of the last reply, printable */
};

/* True if the text may be an address or the name of a host: printable ASCII without blanks and
 * angle brackets. */
int smtp_word_is_valid(const char *text);
/*
 * Appends an email with its head as it is sent, and the dot that ends it. The text is the end of
 * the subject, and the body. Bytes that are not printable ASCII are question marks, so nothing
 * adds a field or a line.
 */
void smtp_put_mail(struct sbuf *b, const struct smtp_mail *m, const struct tm *date,
	const char *subject, struct str text);
/* Begins: the server speaks first. m and out must outlive it. */
void smtp_begin(struct smtp *s, const struct smtp_mail *m, struct sbuf *out);
/* Takes bytes of the server. After SMTP_LATER and those that follow it is over. */
enum smtp_result smtp_take(struct smtp *s, const char *p, size_t n) must_check;

#endif
