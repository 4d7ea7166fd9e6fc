/* Values of persistence cookies. Pure: slices of the field, or the caller's storage. */
#include "proxy/http1/persist_cookie.h"

#include <string.h>

#define DATE_LETTERS 5
#define PERIOD_BITS 2 /* a period is four seconds */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The text up to the bar; rest is what follows. */
static struct str
take_part(struct str *rest)
{
	const char *bar = rest->len ? memchr(rest->p, '|', rest->len) : NULL;
	size_t n = bar ? (size_t)(bar - rest->p) : rest->len;
	struct str part = { rest->p, n };

	rest->p += bar ? n + 1 : n;
	rest->len -= bar ? n + 1 : n;
	return part;
}

/* 0: not a date. */
static int64_t
read_date(struct str text)
{
	int64_t n = 0;

	if (text.len < DATE_LETTERS)
		return 0;
	for (int i = 0; i < DATE_LETTERS; i++) {
		const char *at = text.p[i] ? strchr(letters, text.p[i]) : NULL;

		if (!at)
			return 0;
		n = n << 6 | (at - letters);
	}
	return n << PERIOD_BITS;
}

static void
write_date(struct sbuf *out, int64_t s)
{
	int64_t n = s >> PERIOD_BITS;

	sbuf_addc(out, '|');
	for (int i = DATE_LETTERS - 1; i >= 0; i--)
		sbuf_addc(out, letters[n >> (6 * i) & 63]);
}

void
persist_cookie_read(const struct persist_conf *c, struct str value, struct persist_cookie *out)
{
	const char *end;

	out->last = out->first = 0;
	if (c->way == PERSIST_PREFIX) {
		end = value.len ? memchr(value.p, PERSIST_DELIMITER, value.len) : NULL;
		out->who = (struct str){ value.p, end ? (size_t)(end - value.p) : value.len };
		return;
	}
	out->who = take_part(&value);
	out->last = read_date(take_part(&value));
	out->first = read_date(take_part(&value));
}

/* Without a date it counts as new. */
static int
is_outside(int64_t date, unsigned int bound, int64_t now)
{
	return bound && date && (date > now + PERSIST_AHEAD_MAX_S || date + bound < now);
}

char
persist_cookie_age(const struct persist_conf *c, const struct persist_cookie *k, int64_t now)
{
	if (is_outside(k->first, c->max_life, now))
		return 'O';
	return is_outside(k->last, c->max_idle, now) ? 'E' : 0;
}

/* A last visit before the first one, an unexpected date, or a missing date. */
int
persist_cookie_is_due(const struct persist_conf *c, const struct persist_cookie *k, int64_t now)
{
	int late = k->last ? k->last >> PERIOD_BITS < now >> PERIOD_BITS : c->max_idle > 0;

	return late || (k->first != 0) != (c->max_life > 0);
}

void
persist_cookie_write(const struct persist_conf *c, const char *who, int64_t now, int64_t first,
	struct sbuf *out)
{
	sbuf_addf(out, "%s=%s", c->name, who ? who : "; Expires=Thu, 01-Jan-1970 00:00:01 GMT");
	if (who && (c->max_idle || c->max_life))
		write_date(out, now);
	if (who && c->max_life)
		write_date(out, first ? first : now);
	sbuf_adds(out, "; path=/");
	if (c->attrs)
		sbuf_adds(out, c->attrs);
}
