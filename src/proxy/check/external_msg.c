/* Requests to the helper of external checks as bytes. Pure; a message that does not hold exactly
 * the strings that its head announces is rejected. */
#include "proxy/check/external_msg.h"

#include <stdarg.h>
#include <string.h>

#include "base/err.h"

void
external_msg_begin(struct sbuf *out, enum external_request_kind kind, uint32_t id,
	unsigned int n_args, unsigned int n_env)
{
	struct external_request_head h = { (uint32_t)kind, id, n_args, n_env };

	sbuf_add(out, (const char *)&h, sizeof(h));
}

void
external_msg_add(struct sbuf *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(out, fmt, ap);
	va_end(ap);
	sbuf_addc(out, '\0');
}

/* The next n strings between *at and end. */
static int
read_strings(const char **at, const char *end, uint32_t n, const char **out)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *nul = memchr(*at, '\0', (size_t)(end - *at));

		if (!nul)
			return -ERR_SYNTAX;
		out[i] = *at;
		*at = nul + 1;
	}
	out[n] = NULL;
	return 0;
}

int
external_msg_read(const char *msg, size_t len, struct external_request *out)
{
	const char *at = msg + sizeof(struct external_request_head), *end = msg + len;
	struct external_request_head h;

	if (len < sizeof(h))
		return -ERR_SYNTAX;
	memcpy(&h, msg, sizeof(h));
	if (h.kind > EXTERNAL_KILL || h.n_args > EXTERNAL_ARGS_MAX || h.n_env > EXTERNAL_ENV_MAX ||
		(h.kind == EXTERNAL_RUN) != (h.n_args > 0))
		return -ERR_SYNTAX;
	out->kind = (enum external_request_kind)h.kind;
	out->id = h.id;
	if (read_strings(&at, end, h.n_args, out->args) < 0 ||
		read_strings(&at, end, h.n_env, out->env) < 0 || at != end)
		return -ERR_SYNTAX;
	return 0;
}
