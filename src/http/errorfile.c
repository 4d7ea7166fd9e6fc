/* Checks the response of an error file and splits it. Main thread, while the configuration is
 * read. */
#include "http/errorfile.h"

#include "base/err.h"
#include "base/mem.h"
#include "http/h1_parse.h"

/*
 * Copies the head of a message with CRLF line ends to out, which has room for twice the text.
 * Returns its length; *used is the length in the source. 0 if there is no empty line.
 */
static size_t
normalise_lines(struct str text, char *out, size_t *used)
{
	size_t n = 0, line = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] != '\n') {
			out[n++] = text.p[i];
			line++;
			continue;
		}
		if (n && out[n - 1] == '\r') {
			n--;
			line--;
		}
		out[n++] = '\r';
		out[n++] = '\n';
		if (!line) {
			*used = i + 1;
			return n;
		}
		line = 0;
	}
	return 0;
}

static int
parse_head(const char *head, size_t len, struct str body, struct http_head *h, const char **why)
{
	struct h1_parser p = { 0 };
	unsigned int kept = 0;
	size_t used;

	if (h1_parse_response(&p, head, len, h, &used) != HTTP_COMPLETE || used != len) {
		*why = p.bad ? http_bad_text((enum http_bad)p.bad) : "incomplete head";
		return -ERR_SYNTAX;
	}
	if (h->status < 200 || (body.len && http_status_has_no_body(h->status)))
		*why = "a status that has no body, or is none to end with";
	else if (http_find_id(h, HTTP_F_TRANSFER_ENCODING, 0) >= 0)
		*why = "a body in chunks is not supported";
	else if (h->framing == HTTP_BODY_LENGTH && h->length != body.len)
		*why = "Content-Length is not the length of the body";
	else
		*why = NULL;
	for (unsigned int i = 0; i < h->n; i++)
		if (!http_field_is_framing((enum http_field_id)h->field[i].id))
			h->field[kept++] = h->field[i];
	h->n = kept;
	return *why ? -ERR_SYNTAX : 0;
}

int
http_errorfile(struct str text, struct http_reply **out, const char **why)
{
	struct http_field field[HTTP_REPLY_FIELDS];
	struct http_head h;
	size_t n, used = 0;
	struct str body;
	char *head;
	int rc;

	if (!text.len)
		return http_reply_make(0, text, NULL, 0, text, out);
	head = mem_alloc(2 * text.len);
	if (!head)
		return -ERR_NOMEM;
	n = normalise_lines(text, head, &used);
	body = (struct str){ text.p + used, text.len - used };
	http_head_init(&h, HTTP_RESPONSE, field, HTTP_REPLY_FIELDS - 1);
	*why = "there is no empty line after the head";
	rc = n ? parse_head(head, n, body, &h, why) : -ERR_SYNTAX;
	if (rc == 0)
		rc = http_reply_make(h.status, h.reason, field, h.n, body, out);
	mem_free(head);
	return rc;
}
