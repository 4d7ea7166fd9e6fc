/* Captured texts of a session or a transaction. On the session's worker; a text that does not
 * fit its slot is cut. */
#include "proxy/sample/capture.h"

#include <string.h>

#include "http/cookie.h"
#include "proxy/sample/capture_int.h"

/* --- texts --- */

/* NULL: it cannot be stored. */
static const struct capture_slot *
find_slot(const struct stream *s, enum capture_kind kind, unsigned int i)
{
	const struct capture_conf *c = &s->sess->fe->captures;

	return s->captures && i < c->n[kind] ? &c->slot[kind][i] : NULL;
}

static char *
slot_place(const struct stream *s, const struct capture_slot *slot)
{
	return (char *)s->captures + slot->at;
}

void
capture_put(const struct stream *s, enum capture_kind kind, unsigned int i, struct str text)
{
	const struct capture_slot *slot = find_slot(s, kind, i);
	size_t n;

	if (!slot)
		return;
	n = MIN(text.len, slot->max);
	/* A rule may copy a capture onto itself. */
	if (n)
		memmove(slot_place(s, slot), text.p, n);
	s->captures->len[slot->nth] = (uint32_t)n;
}

int
capture_get(const struct stream *s, enum capture_kind kind, unsigned int i, struct str *out)
{
	const struct capture_slot *slot = find_slot(s, kind, i);

	if (!slot || s->captures->len[slot->nth] == CAPTURE_NONE)
		return 0;
	*out = (struct str){ slot_place(s, slot), s->captures->len[slot->nth] };
	return 1;
}

/* --- input --- */

/* The last field with this name that is not dropped, or NULL. */
static const struct http_field *
last_of(const struct http_head *h, struct str name)
{
	const struct http_field *last = NULL;

	for (int at = http_find(h, name, 0); at >= 0;
		at = http_find(h, name, (unsigned int)at + 1))
		last = &h->field[at];
	return last;
}

void
capture_fields(const struct stream *s, const struct http_head *h)
{
	const struct capture_conf *c = &s->sess->fe->captures;
	enum capture_kind kind = h->kind == HTTP_REQUEST ? CAPTURE_REQUEST : CAPTURE_RESPONSE;

	if (!s->captures)
		return;
	for (unsigned int i = 0; i < c->n[kind]; i++) {
		const char *name = c->slot[kind][i].name;
		const struct http_field *f = name ? last_of(h, str_of(name)) : NULL;

		if (f)
			capture_put(s, kind, i, f->value);
	}
}

void
capture_drop_fields(const struct stream *s, enum capture_kind kind)
{
	const struct capture_conf *c = &s->sess->fe->captures;

	if (!s->captures)
		return;
	for (unsigned int i = 0; i < c->n[kind]; i++)
		if (c->slot[kind][i].name)
			s->captures->len[c->slot[kind][i].nth] = CAPTURE_NONE;
}

/* True if "name=value" begins with this text. */
static int
name_begins(const struct http_cookie *c, const char *with)
{
	size_t n = strlen(with);

	if (n <= c->name.len)
		return memcmp(c->name.p, with, n) == 0;
	return memcmp(c->name.p, with, c->name.len) == 0 && with[c->name.len] == '=' &&
		n - c->name.len - 1 <= c->value.len &&
		memcmp(c->value.p, with + c->name.len + 1, n - c->name.len - 1) == 0;
}

static void
keep_cookie(const struct stream *s, unsigned int i, const struct http_cookie *c)
{
	const struct capture_slot *slot = find_slot(s, CAPTURE_COOKIE, i);
	const struct str part[] = { c->name, STR("="), c->value };
	size_t len = 0;

	for (size_t k = 0; k < ARRAY_LEN(part); k++) {
		size_t n = MIN(part[k].len, slot->max - len);

		if (n)
			memcpy(slot_place(s, slot) + len, part[k].p, n);
		len += n;
	}
	s->captures->len[slot->nth] = (uint32_t)len;
}

void
capture_cookie(const struct stream *s, const struct http_head *h)
{
	unsigned int i = h->kind == HTTP_REQUEST ? 0 : 1;
	const struct capture_slot *slot = find_slot(s, CAPTURE_COOKIE, i);
	struct http_cookie_walk walk = { 0 };
	struct http_cookie c;

	if (!slot)
		return;
	while (i == 0 ? http_cookie_next(h, &walk, &c) : http_set_cookie_next(h, &walk, &c))
		if (name_begins(&c, slot->name)) {
			keep_cookie(s, i, &c);
			return;
		}
}
