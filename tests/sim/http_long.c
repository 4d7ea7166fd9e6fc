#include "sim/http_book.h"

#include <stdio.h>

#include "base/compiler.h"

char
http_long_byte(size_t at)
{
	return (char)('a' + at % 23);
}

static size_t
add_rule(struct http_long *l, size_t n, const char *place, size_t len)
{
	n += (size_t)snprintf(l->lines + n, sizeof(l->lines) - n, "%s add-header X-Long ", place);
	assert(n + len + 2 < sizeof(l->lines));
	for (size_t i = 0; i < len; i++)
		l->lines[n++] = http_long_byte(i);
	l->lines[n++] = '\n';
	l->lines[n] = '\0';
	return n;
}

/* One field, or several. Returns the number of bytes of their values. */
static size_t
add_rules(struct http_long *l, struct dice *d, const char *place, size_t most, size_t *n)
{
	unsigned int fields = 1 + dice(d, 3);
	size_t all = 0;

	if (dice_is(d, 4))
		return 0;
	for (unsigned int i = 0; i < fields; i++) {
		size_t len = 1 + dice(d, (uint32_t)(most / fields));

		*n = add_rule(l, *n, place, len);
		all += len;
	}
	return all;
}

void
http_long_configure(struct http_long *l, struct dice *d, size_t bufsize, int kind)
{
	size_t most = kind ? bufsize - HTTP_LONG_REST : bufsize + 200, n = 0;
	int loose = !kind && dice_is(d, 2);

	*l = (struct http_long){ .any = 1, .exact = kind };
	if (loose)
		n = (size_t)snprintf(l->lines, sizeof(l->lines),
			"http-request strict-mode off\nhttp-response strict-mode off\n");
	/* A message that has passed strictly is whole. */
	l->exact |= !loose;
	l->up = add_rules(l, d, "http-request", most, &n);
	l->down = add_rules(l, d, "http-response", most, &n);
}
