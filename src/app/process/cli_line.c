/* Lines of the admin socket and of the master's, which have the same form. Pure. */
#include "app/process/cli_line.h"

#include <string.h>

#include "base/sbuf.h"
#include "net/listener.h"

/* True if a line of this length ends with the word "<<". */
static int
wants_payload(const char *line, size_t len)
{
	return len >= 2 && line[len - 1] == '<' && line[len - 2] == '<' &&
		(len == 2 || line[len - 3] == ' ' || line[len - 3] == '\t');
}

/* The length of the command when the empty line behind its payload has come. */
static size_t
payload_end(const char *in, size_t have, struct cli_scan *s)
{
	while (s->at < have) {
		const char *at = in + s->at, *nl = memchr(at, '\n', have - s->at);

		if (!nl)
			return 0;
		if (nl == at || (nl == at + 1 && *at == '\r'))
			return (size_t)(nl - in) + 1;
		s->at = (size_t)(nl - in) + 1;
		s->lines++;
	}
	return 0;
}

size_t
cli_line_len(const char *in, size_t have, int eof, struct cli_scan *s)
{
	const char *nl;
	size_t len;

	if (s->payload)
		return payload_end(in, have, s);
	nl = have ? memchr(in, '\n', have) : NULL;
	if (!nl)
		return eof ? have : 0;
	len = (size_t)(nl - in);
	if (len && in[len - 1] == '\r')
		len--;
	if (!wants_payload(in, len))
		return (size_t)(nl - in) + 1;
	s->payload = s->at = (size_t)(nl - in) + 1;
	s->lines = 1;
	return payload_end(in, have, s);
}

int
cli_line_is_long(const char *in, size_t have, size_t len)
{
	size_t n = len ? len : have;

	if (n <= CLI_LINE_MAX)
		return 0;
	return n > CLI_LINE_MAX + CLI_PAYLOAD_MAX || !memchr(in, '\n', CLI_LINE_MAX);
}

char *
cli_line_begin(char *in, size_t len, size_t payload)
{
	size_t words = payload ? payload : len;

	if (payload)
		in[len - 1] = '\0';
	while (words && (in[words - 1] == '\n' || in[words - 1] == '\r'))
		words--;
	/* Without the "<<". */
	in[payload ? words - 2 : words] = '\0';
	return payload ? in + payload : NULL;
}

void
cli_line_drop(struct sbuf *in, size_t len, struct cli_scan *s)
{
	*s = (struct cli_scan){ .payload = 0 };
	sbuf_cut_front(in, len);
}

/* --- modes ----------------------------------------------------------------------------------- */

/* Severities in front of messages. Pure. */

void
cli_add_severity(struct sbuf *out, enum bind_severity form, int severity)
{
	static const char *const names[] = { "emerg", "alert", "crit", "err",
					     "warning", "notice", "info", "debug" };

	if (form == BIND_SEVERITY_NUMBER)
		sbuf_addf(out, "[%d]: ", severity);
	else if (form == BIND_SEVERITY_STRING)
		sbuf_addf(out, "[%s]: ", names[severity]);
}
