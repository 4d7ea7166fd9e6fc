/* Reads the challenges of a response (RFC 9110, 11.6 and 11.7). Sans-I/O. */
#include "http/auth.h"

#include "base/compiler.h"

/* The first word of a list element: a scheme, or a parameter name. */
static struct str
first_word(struct str element)
{
	size_t n = 0;

	while (n < element.len && element.p[n] != ' ' && element.p[n] != '\t')
		n++;
	return (struct str){ element.p, n };
}

static int
lists_scheme(const struct http_head *res, enum http_field_id id)
{
	for (int i = http_find_id(res, id, 0); i >= 0;
		i = http_find_id(res, id, (unsigned int)i + 1)) {
		struct str rest = res->field[i].value, one;

		while (http_list_next(&rest, &one)) {
			struct str word = first_word(one);

			if (str_is_nocase(word, STR("NTLM")) ||
				str_is_nocase(word, STR("Negotiate")))
				return 1;
		}
	}
	return 0;
}

int
http_auth_binds_connection(const struct http_head *res)
{
	switch (res->status) {
	case 401:
		return lists_scheme(res, HTTP_F_WWW_AUTHENTICATE);
	case 407:
		return lists_scheme(res, HTTP_F_PROXY_AUTHENTICATE);
	default:
		return 0;
	}
}
