/* Responses that rules make: written by the session's worker, and freed. The written text comes
 * out of the arena or is static. */
#include "rule/action/answer.h"

#include <stdio.h>

#include "base/mem.h"
#include "http/head.h"
#include "http/status.h"
#include "rule/action/answer_int.h"

static void
free_str(struct str *s)
{
	mem_free((char *)(uintptr_t)s->p);
	*s = (struct str){ NULL, 0 };
}

void
answer_free(struct answer **ap)
{
	struct answer *a = *ap;

	if (!a)
		return;
	for (unsigned int i = 0; i < ARRAY_LEN(a->hdr); i++) {
		free_str(&a->hdr[i].name);
		rule_fmt_free(&a->hdr[i].fmt);
	}
	free_str(&a->type);
	free_str(&a->body);
	free_str(&a->section);
	http_reply_put(&a->reply);
	rule_fmt_free(&a->fmt);
	mem_free(a);
	*ap = NULL;
}

/* In a defaults section it may be checked more than once. */
static int
find_page(struct answer *a, const void *root, struct rule_err *why)
{
	const char *reason = "it has no page";
	struct http_reply *page = a->page(root, a->section.p, a->status, &reason);

	http_reply_put(&a->reply);
	if (page) {
		a->reply = http_reply_get(page);
		return 0;
	}
	why->at = 0;
	snprintf(why->text, sizeof(why->text), "http-errors section '%.60s', status %u: %s",
		a->section.p, a->status, reason);
	return -1;
}

int
answer_check(struct answer *a, void *root, struct rule_err *why)
{
	if (a->source == FROM_SECTION && find_page(a, root, why) < 0)
		return -1;
	for (unsigned int i = 0; i < a->n_hdr; i++)
		if (rule_fmt_check(a->hdr[i].fmt, root, why) < 0)
			return -1;
	return a->fmt ? rule_fmt_check(a->fmt, root, why) : 0;
}

int
answer_field(struct rule_outcome *v, struct str name, struct str value)
{
	return http_add(v->head, name, value) < 0 ? -1 : 0;
}

int
answer_length(struct sample_ctx *cx, struct rule_outcome *v)
{
	char *digits;

	if (http_status_has_no_body(v->status))
		return 0;
	digits = arena_get(cx->arena, HTTP_LENGTH_DIGITS);
	return digits && http_set_length(v->head, v->body.len, digits) == 0 ? 0 : -1;
}

void
answer_begin(struct rule_outcome *v, unsigned int status)
{
	v->has_answer = 1;
	v->is_empty = 0;
	v->status = status;
	v->body = (struct str){ NULL, 0 };
	v->head->version = HTTP_1_1;
	v->head->status = status;
	v->head->reason = str_of(http_status_reason(status));
	v->head->framing = HTTP_BODY_NONE;
	v->head->n = 0;
}

enum rule_result
answer_failed(struct rule_outcome *v)
{
	v->what = RULE_END_ERROR;
	v->status = 500;
	v->has_answer = 0;
	v->failed_rewrites++;
	return RULE_FINAL;
}

static int
write_reply(const struct http_reply *reply, struct rule_outcome *v)
{
	v->is_empty = reply->status == 0;
	if (v->is_empty)
		return 0;
	v->status = reply->status;
	v->body = reply->body;
	return http_reply_head(reply, HTTP_CONN_UNSAID, v->head) < 0 ? -1 : 0;
}

int
answer_write(const struct answer *a, struct sample_ctx *cx, struct rule_outcome *v)
{
	struct str value;

	answer_begin(v, a->status);
	if (a->source == FROM_ERRORFILE || a->source == FROM_SECTION)
		return write_reply(a->reply, v);
	for (unsigned int i = 0; i < a->n_hdr; i++) {
		if (act_write(a->hdr[i].fmt, cx, &value) < 0 || !act_is_value(value))
			return -1;
		/* As in HAProxy: an empty value means no header. */
		if (value.len && answer_field(v, a->hdr[i].name, value) < 0)
			return -1;
	}
	v->body = a->body;
	if (a->source == FROM_FORMAT && act_write(a->fmt, cx, &v->body) < 0)
		return -1;
	if (answer_length(cx, v) < 0)
		return -1;
	return v->body.len ? answer_field(v, STR("Content-Type"), a->type) : 0;
}
