/* A client of SMTP. Pure. A server that replies before it gets a command has failed. */
#include "net/smtp.h"

#include <string.h>

#include "base/wall.h"

#define REPLY_CODE 3

static int
is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

int
smtp_word_is_valid(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!is_printable(*p) || strchr(" <>", *p))
			return 0;
	return *text != '\0';
}

/* --- the email --- */

static void
put_printable(struct sbuf *b, struct str text)
{
	for (size_t i = 0; i < MIN(text.len, (size_t)SMTP_TEXT_MAX); i++)
		sbuf_addc(b, is_printable(text.p[i]) ? text.p[i] : '?');
}

void
smtp_put_mail(struct sbuf *b, const struct smtp_mail *m, const struct tm *date, const char *subject,
	struct str text)
{
	sbuf_addf(b, "From: %s\r\nTo: %s\r\nDate: ", m->from, m->to);
	wall_add_mail(b, date);
	sbuf_addf(b, "\r\nSubject: %s", subject);
	put_printable(b, text);
	sbuf_adds(b, "\r\n\r\n");
	/* A line with a dot alone ends the email (4.5.2). */
	if (text.len && text.p[0] == '.')
		sbuf_addc(b, '.');
	put_printable(b, text);
	sbuf_adds(b, "\r\n\r\n.\r\n");
}

/* --- the dialogue --- */

void
smtp_begin(struct smtp *s, const struct smtp_mail *m, struct sbuf *out)
{
	memset(s, 0, sizeof(*s));
	s->mail = m;
	s->out = out;
}

/* Handles a positive reply to a command: writes the next command. */
static enum smtp_result
give_next_command(struct smtp *s)
{
	const struct smtp_mail *m = s->mail;
	struct sbuf *out = s->out;

	s->step = (enum smtp_step)(s->step + 1);
	switch (s->step) {
	case SMTP_GREETING:
	case SMTP_OVER:
		break;
	case SMTP_HELO:
		sbuf_addf(out, "HELO %s\r\n", m->helo);
		break;
	case SMTP_FROM:
		sbuf_addf(out, "MAIL FROM:<%s>\r\n", m->from);
		break;
	case SMTP_TO:
		sbuf_addf(out, "RCPT TO:<%s>\r\n", m->to);
		break;
	case SMTP_DATA:
		sbuf_adds(out, "DATA\r\n");
		break;
	case SMTP_BODY:
		sbuf_add(out, m->data.p, m->data.len);
		break;
	case SMTP_QUIT:
		sbuf_adds(out, "QUIT\r\n");
		return SMTP_TAKEN;
	}
	return SMTP_MORE;
}

/* Handles a complete reply. */
static enum smtp_result
take_reply(struct smtp *s, int code)
{
	int wanted = s->step == SMTP_DATA ? 3 : 2;

	/* The email was taken before: the reply to QUIT may be any. */
	if (s->step == SMTP_QUIT || code / 100 == wanted)
		return give_next_command(s);
	return code / 100 == 4 ? SMTP_LATER : code / 100 == 5 ? SMTP_REFUSED : SMTP_WRONG;
}

static int
reply_code(const char *line)
{
	int code = 0;

	for (size_t i = 0; i < REPLY_CODE; i++) {
		if (line[i] < '0' || line[i] > '9')
			return -1;
		code = code * 10 + (line[i] - '0');
	}
	return code;
}

/* A line of a reply is complete: all lines have the same code, and the last one no hyphen. */
static enum smtp_result
take_reply_line(struct smtp *s)
{
	int code = s->at >= REPLY_CODE ? reply_code(s->line) : -1;
	char next = s->at > REPLY_CODE ? s->line[REPLY_CODE] : ' ';

	s->at = 0;
	if (code < 0 || (s->code && code != s->code) || !strchr(" -\r", next))
		return SMTP_WRONG;
	s->code = code;
	if (next == '-')
		return SMTP_MORE;
	s->code = 0;
	s->n = 0;
	return take_reply(s, code);
}

/* Notes a byte of the reply, and of its first line what a message shows. */
static void
note_byte(struct smtp *s, char c)
{
	if (s->n++ == 0)
		s->n_reply = 0;
	if (s->at < sizeof(s->line))
		s->line[s->at] = c;
	if (!s->code && s->n_reply < SMTP_SHOWN_MAX && c != '\r' && c != '\n')
		s->reply_text[s->n_reply++] = is_printable(c) ? c : '?';
	s->reply_text[s->n_reply] = '\0';
	s->at++;
}

enum smtp_result
smtp_take(struct smtp *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		enum smtp_result r = SMTP_MORE;

		if (s->step == SMTP_OVER)
			return SMTP_MORE;
		if (p[i] != '\n') {
			note_byte(s, p[i]);
			if (s->n > SMTP_REPLY_MAX)
				return SMTP_WRONG;
			continue;
		}
		s->n++;
		r = take_reply_line(s);
		if (r > SMTP_TAKEN || s->step == SMTP_OVER)
			return r;
		/* The reply is complete, and more follows. */
		if (!s->n && i + 1 < n)
			return s->step == SMTP_QUIT ? r : SMTP_WRONG;
		if (r == SMTP_TAKEN)
			return r;
	}
	return SMTP_MORE;
}
