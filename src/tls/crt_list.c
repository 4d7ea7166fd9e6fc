/* Lines of a crt-list. Main thread, or the first worker for a command. */
#include "tls/crt_list.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "tls/cert_files.h"

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
	int args = tls_settings_args(TLS_AT_CRT_LIST, word[0]), r;
	char said[TLS_WHY_MAX];

	if (strcmp(word[0], "npn") == 0)
		return bad_line(why, "NPN is obsolete and not supported; use 'alpn'");
	if (args < 0) {
		(void)snprintf(why, TLS_WHY_MAX, "unknown ssl keyword %.100s", word[0]);
		return -ERR_UNKNOWN;
	}
	if (args > n - 1) {
		(void)snprintf(why, TLS_WHY_MAX, "ssl args out of '[]' for %.100s", word[0]);
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
	out->has_options = 0;
	memset(&out->own, 0, sizeof(out->own));
	if (n < 0)
		return bad_line(why, "too many words");
	if (n == 0 || out->words[0][0] == '#')
		return 0;
	out->path = out->words[0];
	if (out->path[0] == '[')
		return bad_line(why, "file must start with a cert");
	if (n > 1 && out->words[1][0] == '[') {
		r = take_list_options(out, 1, n, why);
		if (r < 0)
			return r;
		at += r;
		out->has_options = 1;
	}
	out->filter = out->words + at;
	out->n_filters = (unsigned int)(n - at);
	return 0;
}

/* --- options as text --- */

static void
put_option(struct sbuf *out, const char *name, const char *value)
{
	if (value)
		sbuf_addf(out, "%s%s %s", out->len ? " " : "", name, value);
}

static void
put_flag(struct sbuf *out, const struct tls_settings *own, unsigned int flag, const char *name)
{
	if (own->flags & flag)
		sbuf_addf(out, "%s%s", out->len ? " " : "", name);
}

static void
put_alpn(struct sbuf *out, const struct tls_bytes *alpn)
{
	for (size_t i = 0; i < alpn->len; i += 1u + alpn->p[i]) {
		sbuf_adds(out, i ? "," : "alpn ");
		sbuf_add(out, (const char *)alpn->p + i + 1, alpn->p[i]);
	}
}

static void
put_file(struct sbuf *out, const char *name, const char *base, const char *file)
{
	char *path = file ? tls_path(file[0] == '@' ? NULL : base, file) : NULL;

	put_option(out, name, path);
	mem_free(path);
}

char *
tls_list_options(const struct tls_settings *own, const char *ca_base)
{
	static const char *const verify[] = { [TLS_VERIFY_NONE] = "none",
		[TLS_VERIFY_OPTIONAL] = "optional", [TLS_VERIFY_REQUIRED] = "required" };
	struct sbuf b;
	char *text;

	sbuf_init(&b, 0);
	put_alpn(&b, &own->alpn);
	put_flag(&b, own, TLS_NO_ALPN, "no-alpn");
	put_option(&b, "verify", verify[own->verify]);
	put_flag(&b, own, TLS_NO_CA_NAMES, "no-ca-names");
	put_flag(&b, own, TLS_WANTS_0RTT, "allow-0rtt");
	put_file(&b, "ca-file", ca_base, own->ca_file);
	put_file(&b, "ca-verify-file", ca_base, own->ca_verify_file);
	put_file(&b, "crl-file", ca_base, own->crl_file);
	put_option(&b, "ciphers", own->ciphers);
	put_option(&b, "ciphersuites", own->ciphersuites);
	put_option(&b, "curves", own->curves);
	put_option(&b, "sigalgs", own->sigalgs);
	put_option(&b, "client-sigalgs", own->client_sigalgs);
	put_option(&b, "ssl-min-ver", tls_version_word(own->min));
	put_option(&b, "ssl-max-ver", tls_version_word(own->max));
	text = b.failed ? NULL : mem_strndup(b.p ? b.p : "", b.len);
	sbuf_fini(&b);
	return text;
}
