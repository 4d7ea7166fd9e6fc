/* Error pages with formats. Compiled on the main thread, written on the session's worker, in
 * its arena. */
#include "proxy/model/error_page.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/status.h"

struct error_page *
error_page_new(unsigned int status)
{
	struct error_page *p = mem_zalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->status = status;
	return p;
}

struct error_page *
error_page_get(struct error_page *p)
{
	p->refs++;
	return p;
}

void
error_page_put(struct error_page **pp)
{
	struct error_page *p = *pp;

	*pp = NULL;
	if (!p || --p->refs)
		return;
	for (unsigned int i = 0; i < p->n; i++) {
		mem_free(p->hdr[i].name);
		rule_fmt_free(&p->hdr[i].value);
	}
	rule_fmt_free(&p->fmt);
	mem_free(p->type);
	mem_free(p->text);
	mem_free(p);
}

int
error_page_add_hdr(struct error_page *p, const char *name, struct rule_fmt *value)
{
	struct error_page_hdr *h = &p->hdr[p->n];

	h->value = value;
	h->name = mem_strdup(name);
	p->n++;
	return h->name ? 0 : -ERR_NOMEM;
}

int
error_page_check(struct error_page *p, void *root, struct rule_err *why)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (rule_fmt_check(p->hdr[i].value, root, why) < 0)
			return -1;
	return p->fmt ? rule_fmt_check(p->fmt, root, why) : 0;
}

static int
add_page_field(struct http_head *head, struct str name, struct str value)
{
	return http_add(head, name, value) < 0 ? -1 : 0;
}

int
error_page_make(const struct error_page *p, struct sample_ctx *cx, struct http_head *head,
	struct str *body)
{
	struct str value;
	char *digits;

	head->version = HTTP_1_1;
	head->status = p->status;
	head->reason = str_of(http_status_reason(p->status));
	head->n = 0;
	for (unsigned int i = 0; i < p->n; i++) {
		if (rule_fmt_text(p->hdr[i].value, cx, &value) < 0 || !http_value_is_valid(value))
			return -1;
		/* As in replies of rules: an empty value means no header. */
		if (value.len && add_page_field(head, str_of(p->hdr[i].name), value) < 0)
			return -1;
	}
	*body = (struct str){ p->text, p->len };
	if (p->fmt && rule_fmt_text(p->fmt, cx, body) < 0)
		return -1;
	digits = arena_get(cx->arena, HTTP_LENGTH_DIGITS);
	if (!digits || http_set_length(head, body->len, digits) < 0)
		return -1;
	return body->len ? add_page_field(head, STR("Content-Type"), str_of(p->type)) : 0;
}
