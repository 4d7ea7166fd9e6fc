/* Lines of a crt-list. Main thread, or the first worker for a command. */
#include "tls/crt_list.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

static int
bad_line(char *why, const char *text)
{
	(void)snprintf(why, TLS_WHY_MAX, "%s", text);
	return -ERR_SYNTAX;
}

/* Cuts the text at blanks; brackets are cut off their words. The number of words, or -1: too
 * many. */
static int
cut_words(char *text, char **word)
{
	int n = 0;

	for (char *p = text;;) {
		p += strspn(p, " \t\r\n");
		if (!*p)
			return n;
		if (n == TLS_LIST_WORDS_MAX)
			return -1;
		word[n++] = p;
		p += strcspn(p, " \t\r\n");
		if (*p)
			*p++ = '\0';
	}
}

/* One option with its argument; returns the words taken, or a negative reason. */
static int
take_list_option(struct tls_settings *own, char *const *word, int n, char *why)
{
	static const struct {
		const char *name, *reason;
	} never[] = {
		{ "allow-0rtt", "early data can be replayed, and is not supported" },
		{ "npn", "NPN is obsolete and not supported; use 'alpn'" },
	};
	int args = tls_settings_args(TLS_AT_CRT_LIST, word[0]), r;
	char said[TLS_WHY_MAX];

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (strcmp(word[0], never[i].name) == 0)
			return bad_line(why, never[i].reason);
	if (args < 0) {
		(void)snprintf(why, TLS_WHY_MAX, "unknown ssl keyword '%.100s'", word[0]);
		return -ERR_UNKNOWN;
	}
	if (args > n - 1) {
		(void)snprintf(why, TLS_WHY_MAX, "'%.100s' expects an argument", word[0]);
		return -ERR_SYNTAX;
	}
	r = tls_settings_set(own, TLS_AT_CRT_LIST, word[0], args ? word[1] : "", said);
	if (r < 0)
		(void)snprintf(why, TLS_WHY_MAX, "'%.60s' : %.400s", word[0], said);
	return r < 0 ? r : 1 + args;
}

/* The words between the brackets; returns the words taken, or a negative reason. */
static int
take_list_options(struct tls_list_line *out, int at, int n, char *why)
{
	char **word = out->words;
	int last = at;

	while (last < n && !strchr(word[last], ']'))
		last++;
	if (last == n)
		return bad_line(why, "missing ']' after the options");
	if (strcmp(strchr(word[last], ']'), "]") != 0)
		return bad_line(why, "a blank is missing after ']'");
	word[at]++;
	*strchr(word[last], ']') = '\0';
	for (int i = at; i <= last;) {
		int r = *word[i] ? take_list_option(&out->own, word + i, last - i + 1, why) : 1;

		if (r < 0)
			return r;
		i += r;
	}
	return last + 1 - at;
}

int
tls_list_line_parse(char *text, struct tls_list_line *out, char *why)
{
	int n = cut_words(text, out->words), at = 1, r;

	out->path = NULL;
	out->n_filters = 0;
	memset(&out->own, 0, sizeof(out->own));
	if (n < 0)
		return bad_line(why, "too many words");
	if (n == 0 || out->words[0][0] == '#')
		return 0;
	out->path = out->words[0];
	if (out->path[0] == '[')
		return bad_line(why, "a certificate is expected before '['");
	if (n > 1 && out->words[1][0] == '[') {
		r = take_list_options(out, 1, n, why);
		if (r < 0)
			return r;
		at += r;
	}
	out->filter = out->words + at;
	out->n_filters = (unsigned int)(n - at);
	return 0;
}
