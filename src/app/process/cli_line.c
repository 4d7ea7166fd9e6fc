/* Lines of the admin socket and of the master's, which have the same form. Pure. */
#include "app/process/cli_line.h"

#include <string.h>

/* True if a line of this length ends with the word "<<". */
static int
wants_payload(const char *line, size_t len)
{
	return len >= 2 && line[len - 1] == '<' && line[len - 2] == '<' &&
		(len == 2 || line[len - 3] == ' ' || line[len - 3] == '\t');
}

size_t
cli_line_len(const char *in, size_t have, int eof, size_t *payload)
{
	const char *nl = have ? memchr(in, '\n', have) : NULL;
	const char *end, *at;
	size_t len;

	*payload = 0;
	if (!nl)
		return eof ? have : 0;
	len = (size_t)(nl - in);
	if (len && in[len - 1] == '\r')
		len--;
	if (!wants_payload(in, len))
		return (size_t)(nl - in) + 1;
	*payload = (size_t)(nl - in) + 1;
	end = in + have;
	for (at = in + *payload; at < end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			return 0;
		if (nl == at || (nl == at + 1 && *at == '\r'))
			return (size_t)(nl - in) + 1;
	}
	return 0;
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
cli_line_drop(struct sbuf *in, size_t len)
{
	if (!len)
		return;
	memmove(in->p, in->p + len, in->len - len);
	in->len -= len;
}
