/* The query of a request for metrics. Pure. Parameters and names that are not known are ignored, as
 * in HAProxy, scopes are not. */
#include "app/promex/promex_query.h"

#include <string.h>

#define EVERYTHING (~0u)

/* Percent-decoding in place. */
static void
decode_text(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '%' && str_hex_digit(s[1]) >= 0 && str_hex_digit(s[2]) >= 0) {
			*to++ = (char)(str_hex_digit(s[1]) << 4 | str_hex_digit(s[2]));
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* The first one replaces the default; an empty one stands for none. */
static int
add_scope(const char *word, struct promex_query *q, int *is_first)
{
	static const char *const words[] = { "global", "frontend", "listener", "backend",
		"server" };

	if (*is_first || !*word)
		q->scopes = 0;
	*is_first = 0;
	if (strcmp(word, "*") == 0)
		q->scopes = EVERYTHING;
	for (unsigned int i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0) {
			q->scopes |= 1u << i;
			return 0;
		}
	/* There are no stick tables. */
	return !*word || strcmp(word, "*") == 0 || strcmp(word, "sticktable") == 0 ? 0 : -1;
}

/* The scope that the name begins with, and the rest of the name; METRIC_SCOPES: none. */
static enum metric_scope
split_metric_name(const char *name, const char **rest)
{
	struct str prefix = STR("haproxy_");
	enum metric_scope scope = SCOPE_GLOBAL;

	if (strncmp(name, prefix.p, prefix.len) != 0)
		return METRIC_SCOPES;
	name += prefix.len;
	for (; scope < METRIC_SCOPES; scope++) {
		size_t n = strlen(metric_scope_name(scope));

		if (strncmp(name, metric_scope_name(scope), n) == 0 && name[n] == '_') {
			*rest = name + n + 1;
			break;
		}
	}
	return scope;
}

static void
mark_metric(const char *name, uint8_t *bits)
{
	const char *rest;
	enum metric_scope scope = split_metric_name(name, &rest);

	for (unsigned int i = 0; scope < METRIC_SCOPES && i < metric_count(); i++) {
		struct metric m = metric_at(i);

		if (metric_has_scope(&m, scope) && strcmp(m.name, rest) == 0)
			bits[i] |= (uint8_t)(1u << scope);
	}
}

static void
add_names(char *list, struct promex_query *q)
{
	char *name, *at = list;

	while ((name = strsep(&at, ",")) != NULL) {
		if (*name == '-') {
			mark_metric(name + 1, q->left_out);
		} else if (*name) {
			q->has_names = 1;
			mark_metric(name, q->named);
		}
	}
}

static int
take_parameter(char *word, struct promex_query *q, int *is_first_scope)
{
	char *value = word, *name = strsep(&value, "=");

	decode_text(name);
	if (value)
		decode_text(value);
	if (strcmp(name, "scope") == 0)
		return value ? add_scope(value, q, is_first_scope) : -1;
	if (strcmp(name, "metrics") == 0 && value)
		add_names(value, q);
	else if (strcmp(name, "no-maint") == 0)
		q->no_maint = 1;
	else if (strcmp(name, "server-histograms") == 0)
		q->server_histograms = 1;
	return 0;
}

int
promex_query_parse(char *target, struct promex_query *out)
{
	char *word, *at = strchr(target, '?');
	int is_first_scope = 1;

	*out = (struct promex_query){ .scopes = EVERYTHING };
	if (!at)
		return 0;
	at++;
	while ((word = strsep(&at, "&")) != NULL)
		if (take_parameter(word, out, &is_first_scope) < 0)
			return -1;
	return 0;
}

int
promex_wants(const struct promex_query *q, enum metric_scope scope, unsigned int i)
{
	unsigned int bit = 1u << scope;
	struct metric m = metric_at(i);

	int is_extra = m.form == METRIC_LATENCY && scope == SCOPE_SERVER && !q->server_histograms;
	int is_wanted = q->has_names ? (q->named[i] & bit) != 0 : !is_extra;

	return is_wanted && (q->scopes & bit) && metric_has_scope(&m, scope) &&
		!(q->left_out[i] & bit);
}
