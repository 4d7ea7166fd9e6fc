/* Recognizes the forms of a request target and splits an authority. Pure. */
#include "http/target.h"

#include "base/err.h"
#include "http/scan.h"

#define PORT_DIGITS 5
#define PORT_MAX 65535

static int
begins_with(struct str s, struct str with)
{
	return s.len >= with.len && strncasecmp(s.p, with.p, with.len) == 0;
}

/* Length of the part before the path of an absolute target; 0: not absolute. */
static struct str
scheme_of(struct str target)
{
	static const struct str schemes[] = { STR("http://"), STR("https://") };

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (begins_with(target, schemes[i]))
			return schemes[i];
	return STR("");
}

static struct str
authority_part(struct str target, struct str scheme)
{
	struct str a = { target.p + scheme.len, 0 };

	while (scheme.len + a.len < target.len && a.p[a.len] != '/' && a.p[a.len] != '?')
		a.len++;
	return a;
}

static enum http_form
of_connect(struct str target, struct str *authority)
{
	struct str host, port;

	if (http_authority_split(target, &host, &port) || !host.len || !port.len)
		return HTTP_FORM_NONE;
	*authority = target;
	return HTTP_FORM_AUTHORITY;
}

enum http_form
http_target_form(enum http_method method, struct str target, struct str *authority)
{
	struct str scheme, host, port;

	*authority = STR("");
	if (method == HTTP_CONNECT)
		return of_connect(target, authority);
	if (!target.len)
		return HTTP_FORM_NONE;
	if (target.p[0] == '/')
		return HTTP_FORM_ORIGIN;
	if (str_is(target, STR("*")))
		return method == HTTP_OPTIONS ? HTTP_FORM_ASTERISK : HTTP_FORM_NONE;
	scheme = scheme_of(target);
	if (!scheme.len)
		return HTTP_FORM_NONE;
	*authority = authority_part(target, scheme);
	if (http_authority_split(*authority, &host, &port) || !host.len)
		return HTTP_FORM_NONE;
	return HTTP_FORM_ABSOLUTE;
}

/* The length of "[...]", or 0. The address itself is not checked. */
static size_t
bracketed_length(struct str s)
{
	size_t i = 1, colons = 0;

	while (i < s.len && (http_is(s.p[i], HTTP_C_HEX) || s.p[i] == ':' || s.p[i] == '.'))
		colons += s.p[i++] == ':';
	return i < s.len && s.p[i] == ']' && colons >= 2 ? i + 1 : 0;
}

/* Length of a registered name; '%' must be followed by two digits. */
static size_t
reg_name_length(struct str s)
{
	size_t i = http_scan_name(s.p, s.len);

	while (s.len - i > 2 && s.p[i] == '%' && http_is(s.p[i + 1], HTTP_C_HEX) &&
		http_is(s.p[i + 2], HTTP_C_HEX)) {
		i += 3;
		i += http_scan_name(s.p + i, s.len - i);
	}
	return i;
}

int
http_authority_split(struct str authority, struct str *host, struct str *port)
{
	unsigned int number = 0;
	size_t i;

	*host = *port = STR("");
	if (authority.len && authority.p[0] == '[') {
		i = bracketed_length(authority);
		if (!i)
			return -ERR_SYNTAX;
	} else {
		i = reg_name_length(authority);
	}
	*host = (struct str){ authority.p, i };
	if (i == authority.len)
		return 0;
	if (authority.p[i++] != ':' || authority.len - i > PORT_DIGITS)
		return -ERR_SYNTAX;
	*port = (struct str){ authority.p + i, authority.len - i };
	for (; i < authority.len; i++) {
		if (!http_is(authority.p[i], HTTP_C_DIGIT))
			return -ERR_SYNTAX;
		number = 10 * number + (unsigned int)(authority.p[i] - '0');
	}
	return number > PORT_MAX ? -ERR_SYNTAX : 0;
}

int
http_host_fits(struct str host, enum http_form form, struct str target, struct str authority)
{
	struct str a_host, a_port, h_host, h_port, usual;

	if (form != HTTP_FORM_ABSOLUTE && form != HTTP_FORM_AUTHORITY)
		return 1;
	if (http_authority_split(authority, &a_host, &a_port) ||
		http_authority_split(host, &h_host, &h_port) || !str_is_nocase(a_host, h_host))
		return 0;
	if (form == HTTP_FORM_AUTHORITY)
		usual = a_port;
	else
		usual = scheme_of(target).len == sizeof("https://") - 1 ? STR("443") : STR("80");
	return str_is(a_port.len ? a_port : usual, h_port.len ? h_port : usual);
}
