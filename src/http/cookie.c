/* Reads and rewrites Cookie and Set-Cookie fields. Pure: slices of the caller's text. */
#include "http/cookie.h"

#include "base/err.h"

/* The bytes before the next separator; in a value, separators in quotes are ignored. */
static size_t
word_length(struct str s, int comma)
{
	int quoted = 0, in_value = 0;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (quoted && c == '\\')
			i++;
		else if (in_value && c == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (c == ';' || (comma && c == ','))
			return i;
		else if (c == '=')
			in_value = 1;
	}
	return s.len;
}

/* Parses name=value; 0 if it is invalid. */
static int
take_pair(struct str word, struct http_cookie *out)
{
	const char *equal = word.len ? memchr(word.p, '=', word.len) : NULL;

	if (!equal)
		return 0;
	out->name = str_trim((struct str){ word.p, (size_t)(equal - word.p) });
	out->value = str_trim((struct str){ equal + 1, (size_t)(word.p + word.len - equal - 1) });
	return 1;
}

int
http_cookie_next(const struct http_head *req, struct http_cookie_walk *w, struct http_cookie *out)
{
	struct str word;

	do {
		while (!w->rest.len) {
			w->place = http_find_id(req, HTTP_F_COOKIE, w->from);
			if (w->place < 0)
				return 0;
			w->from = (unsigned int)w->place + 1;
			w->rest = req->field[w->place].value;
		}
		word = (struct str){ w->rest.p, word_length(w->rest, 1) };
		w->rest.len -= MIN(word.len + 1, w->rest.len);
		w->rest.p += word.len + 1;
		out->place = w->place;
	} while (!take_pair(word, out));
	return 1;
}

int
http_set_cookie_next(const struct http_head *res, struct http_cookie_walk *w,
	struct http_cookie *out)
{
	struct str value;

	do {
		out->place = http_find_id(res, HTTP_F_SET_COOKIE, w->from);
		if (out->place < 0)
			return 0;
		w->from = (unsigned int)out->place + 1;
		value = res->field[out->place].value;
		value.len = word_length(value, 0);
	} while (!take_pair(value, out));
	return 1;
}

/* --- editing --- */

/* Removes the bytes from p to end of the field's text, which is writable. */
static void
cut_out(struct http_field *f, const char *p, const char *end)
{
	char *text = (char *)(uintptr_t)f->value.p;
	size_t before = (size_t)(p - f->value.p);
	size_t behind = f->value.len - (size_t)(end - f->value.p);

	memmove(text + before, end, behind);
	f->value = str_trim((struct str){ text, before + behind });
}

static inline int
is_separator(char c)
{
	return c == ';' || c == ',' || str_is_blank(c);
}

/* Removes a cookie with its separator; drops a field that becomes empty. */
static void
remove_cookie(struct http_field *f, const struct http_cookie *c)
{
	const char *first = f->value.p, *last = first + f->value.len;
	const char *p = c->name.p, *end = c->value.p + c->value.len;

	while (end < last && is_separator(*end))
		end++;
	/* The last cookie is removed with the separator before it. */
	while (p > first && (end == last ? is_separator(p[-1]) : str_is_blank(p[-1])))
		p--;
	if (p == first && end == last) {
		f->dropped = 1;
		return;
	}
	if (p > first && end < last)
		p = c->name.p;
	cut_out(f, p, end);
}

/* Continues the iteration behind the removed text, which is the end of the new field value. */
static void
walk_on(struct http_cookie_walk *w, const struct http_field *f)
{
	size_t left = f->dropped ? 0 : MIN(w->rest.len, f->value.len);

	w->rest = (struct str){ f->value.p + f->value.len - left, left };
}

void
http_cookie_erase(struct http_head *req, struct http_cookie_walk *w, const struct http_cookie *c)
{
	struct http_field *f = &req->field[c->place];

	while (w->rest.len && is_separator(w->rest.p[0])) {
		w->rest.p++;
		w->rest.len--;
	}
	remove_cookie(f, c);
	walk_on(w, f);
}

void
http_cookie_cut(struct http_head *req, struct http_cookie_walk *w, const struct http_cookie *c,
	size_t n)
{
	struct http_field *f = &req->field[c->place];

	assert(n <= c->value.len);
	cut_out(f, c->value.p, c->value.p + n);
	walk_on(w, f);
}
