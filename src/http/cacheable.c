/* Reads what a response permits caches (RFC 9111, 3 and 5.2.2), as HAProxy does. */
#include "http/cacheable.h"

#include "base/compiler.h"

/* Unless the response says otherwise. */
static int
is_kept_by_default(const struct http_head *res)
{
	static const unsigned int kept[] = {
		200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501
	};

	if (res->method != HTTP_GET && res->method != HTTP_HEAD && res->method != HTTP_OPTIONS &&
		res->method != HTTP_TRACE)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (kept[i] == res->status)
			return 1;
	return 0;
}

static int
starts_nocase(struct str text, struct str with)
{
	return text.len >= with.len && str_is_nocase((struct str){ text.p, with.len }, with);
}

/* True if a directive forbids to keep the cookie, or anything of the response. */
static int
forbids_keeping(struct str directive)
{
	static const char *const no[] = { "private", "no-cache", "no-store", "max-age=0",
		"s-maxage=0" };
	const struct str list = STR("no-cache=\"set-cookie");

	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (str_is_nocase(directive, str_of(no[i])))
			return 1;
	return directive.len > list.len && starts_nocase(directive, list) &&
		(directive.p[list.len] == '"' || directive.p[list.len] == ',');
}

static int
is_age(struct str directive)
{
	static const char *const ages[] = { "max-age", "s-maxage" };

	for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
		struct str name = str_of(ages[i]);

		if (starts_nocase(directive, name) &&
			(directive.len == name.len || directive.p[name.len] == '='))
			return 1;
	}
	return 0;
}

/* Applies the lists of Cache-Control to *keeps. has_age: there is max-age or s-maxage. */
static void
read_cache_control(const struct http_head *res, int *keeps, int *has_age)
{
	for (int i = http_find_id(res, HTTP_F_CACHE_CONTROL, 0); i >= 0;
		i = http_find_id(res, HTTP_F_CACHE_CONTROL, (unsigned int)i + 1)) {
		struct str rest = res->field[i].value, one;

		while (http_list_next(&rest, &one)) {
			*has_age |= is_age(one);
			if (forbids_keeping(one))
				*keeps = 0;
			else if (str_is_nocase(one, STR("public")))
				*keeps = 1;
		}
	}
}

static int
says_pragma_no_cache(const struct http_head *res)
{
	for (int i = http_find_id(res, HTTP_F_PRAGMA, 0); i >= 0;
		i = http_find_id(res, HTTP_F_PRAGMA, (unsigned int)i + 1))
		if (str_is_nocase(res->field[i].value, STR("no-cache")))
			return 1;
	return 0;
}

int
http_shares_cookie(const struct http_head *res)
{
	int keeps, has_age = 0;

	if (http_find_id(res, HTTP_F_SET_COOKIE, 0) < 0 &&
		http_find(res, STR("Set-Cookie2"), 0) < 0)
		return 0;
	keeps = is_kept_by_default(res);
	read_cache_control(res, &keeps, &has_age);
	return keeps && !says_pragma_no_cache(res) &&
		(has_age || http_find_id(res, HTTP_F_EXPIRES, 0) >= 0 ||
			http_find(res, STR("ETag"), 0) >= 0 ||
			http_find(res, STR("Last-Modified"), 0) >= 0);
}
