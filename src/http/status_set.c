/* Sets of status codes. Pure. */
#include "http/status_set.h"

#include <string.h>

static void
put_range(struct status_set *set, unsigned int from, unsigned int to, int is_in)
{
	for (unsigned int i = from - STATUS_SET_FIRST; i <= to - STATUS_SET_FIRST; i++) {
		uint64_t bit = UINT64_C(1) << (i % 64);

		set->bits[i / 64] = is_in ? set->bits[i / 64] | bit : set->bits[i / 64] & ~bit;
	}
}

void
status_set_client_errors(struct status_set *set)
{
	memset(set, 0, sizeof(*set));
	put_range(set, 400, 499, 1);
}

void
status_set_server_failures(struct status_set *set)
{
	memset(set, 0, sizeof(*set));
	put_range(set, 500, 599, 1);
	put_range(set, 501, 501, 0);
	put_range(set, 505, 505, 0);
}

/* Takes a code from the beginning of the text: the code, or 0. */
static unsigned int
take_code(struct str *text)
{
	unsigned int code = 0, n = 0;

	for (; n < text->len && text->p[n] >= '0' && text->p[n] <= '9' && n < 4; n++)
		code = code * 10 + (unsigned int)(text->p[n] - '0');
	text->p += n;
	text->len -= n;
	return code >= STATUS_SET_FIRST && code <= STATUS_SET_LAST ? code : 0;
}

/* Takes one range with its sign: 0, or -1. */
static int
take_codes(struct status_set *set, struct str *text, int *is_own)
{
	char sign = text->len && (*text->p == '+' || *text->p == '-') ? *text->p : '\0';
	unsigned int from, to;

	if (sign) {
		text->p++;
		text->len--;
	}
	from = to = take_code(text);
	if (from && text->len && *text->p == '-') {
		text->p++;
		text->len--;
		to = take_code(text);
	}
	if (!from || to < from)
		return -1;
	if (!sign && !*is_own)
		memset(set, 0, sizeof(*set));
	*is_own = 1;
	put_range(set, from, to, sign != '-');
	return 0;
}

int
status_set_parse(struct status_set *set, struct str text, int *is_own, const char **why)
{
	*why = "expects codes from 100 to 599 and ranges of them, separated by commas";
	do {
		if (take_codes(set, &text, is_own) < 0 || (text.len && *text.p != ','))
			return -1;
		text.p += text.len != 0;
		if (text.len && !--text.len)
			return -1;
	} while (text.len);
	return 0;
}
