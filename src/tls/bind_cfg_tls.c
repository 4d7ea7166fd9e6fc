/* The options of bind lines that concern TLS. Main thread, while the configuration is read; files
 * are read when all of it is known. */
#include "tls/bind_cfg_tls.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "net/listener.h"
#include "tls/bind.h"

/* The line's TLS, made for its first option. */
static struct tls_bind *
take_tls(struct cfg_ctx *ctx, struct bind_conf *b)
{
	if (!b->tls) {
		b->tls = tls_bind_new();
		b->tls_free = tls_bind_free;
		if (!b->tls)
			(void)cfg_nomem(ctx);
		else
			b->tls->where = b->where;
	}
	return b->tls;
}

static int
opt_bind_ssl(struct cfg_ctx *ctx, void *obj)
{
	struct tls_bind *t = take_tls(ctx, obj);

	if (!t)
		return -1;
	t->is_on = 1;
	return 0;
}

static int
opt_tls_setting(struct cfg_ctx *ctx, void *obj)
{
	struct tls_bind *t = take_tls(ctx, obj);
	char why[TLS_WHY_MAX];

	if (!t)
		return -1;
	if (tls_settings_set(&t->set, TLS_AT_BIND, ctx->opt->name, cfg_arg(ctx, 0), why) < 0)
		return cfg_error(
			ctx, 0, "'%s' : '%s' : %s.", cfg_kw_name(ctx), ctx->opt->name, why);
	return 0;
}

/* A certificate's file, a directory of them, or a list. */
static int
opt_tls_source(struct cfg_ctx *ctx, void *obj)
{
	struct tls_bind *t = take_tls(ctx, obj);
	struct tls_source *s = t ? mem_zalloc(sizeof(*s)) : NULL;

	if (!s)
		return t ? cfg_nomem(ctx) : -1;
	s->kind = (enum tls_source_kind)ctx->opt->arg;
	s->where = cfg_arg_where(ctx, 0);
	if (cfg_arg_dup(ctx, 0, &s->path)) {
		mem_free(s);
		return -1;
	}
	list_append(&t->sources, &s->link);
	return 0;
}

static int
opt_ticket_keys(struct cfg_ctx *ctx, void *obj)
{
	struct tls_bind *t = take_tls(ctx, obj);

	return t ? cfg_arg_dup(ctx, 0, &t->ticket_file) : -1;
}

#define SETTING(n, args, syn, text, ...)                                       \
	{                                                                      \
		.name = n, .min = args, .max = args, .parse = opt_tls_setting, \
		.syntax = syn, .doc = text, __VA_ARGS__                        \
	}
#define SOURCE(n, v, syn, text, ...)                                              \
	{                                                                         \
		.name = n, .min = 1, .max = 1, .parse = opt_tls_source, .arg = v, \
		.syntax = syn, .doc = text, __VA_ARGS__                           \
	}
#define HINT(n, why) { .name = n, .min = 1, .max = 1, .class = CFG_HINT, .doc = why }

static const struct cfg_opt opts[] = {
	{ .name = "ssl", .parse = opt_bind_ssl, .doc = "Accepts TLS connections; needs crt." },
	SOURCE("crt", TLS_SOURCE_CRT, "<file|directory>",
		"PEM file with a certificate, its chain and its private key, in any order, or a "
		"directory of them. Files <file>.key, .issuer, .ocsp and .sctl are read too (see "
		"ssl-load-extra-files). A client gets the certificate for the name that it asks "
		"for (SNI): an exact name, else a wildcard, else the first certificate of the "
		"line. An ECDSA certificate and an RSA one may have the same names. "
		"'@<store>/<name>' is a certificate of a section crt-store.",
		.dflt = "none",
		.example = "bind :443 ssl crt /etc/tacit/certs/ strict-sni"),
	SOURCE("default-crt", TLS_SOURCE_DEFAULT_CRT, "<file>",
		"A certificate, with files as of crt; clients that ask for no name or an "
		"unknown one get it.",
		.dflt = "the first certificate of the line"),
	SOURCE("crt-list", TLS_SOURCE_LIST, "<file>",
		"File with lines '<file> [<option>...] <name>...': certificates with options of "
		"their own, in brackets, and the names that they are used for; '!<name>' excludes "
		"one.",
		.dflt = "none",
		.example = "www.pem [alpn http/1.1] www.example.org *.example.org\n"
			"shop.pem [verify required ca-file clients.pem] shop.example.org"),
	SETTING("alpn", 1, "<protocol>[,...]",
		"Protocols offered by ALPN, the preferred one first. In mode http a client that "
		"takes h2 speaks HTTP/2.",
		.dflt = "none",
		.example = "bind :443 ssl crt /etc/tacit/site.pem alpn h2,http/1.1"),
	SETTING("no-alpn", 0, NULL, "Offers no protocol by ALPN."),
	SETTING("ca-file", 1, "<file|directory>",
		"Certificates that clients' certificates are verified with; '@system-ca': those "
		"that the system trusts.",
		.dflt = "none"),
	SETTING("ca-verify-file", 1, "<file>",
		"More certificates that clients' certificates are verified with, besides "
		"ca-file; their names are not sent to clients.",
		.dflt = "none"),
	SETTING("crl-file", 1, "<file>",
		"Revocation lists, one for each certificate of the chain that is verified.",
		.dflt = "none"),
	SETTING("verify", 1, "none|optional|required",
		"Whether clients are asked for a certificate. One that cannot be verified ends "
		"the handshake.",
		.dflt = "none",
		.values = tls_bind_verify_words),
	SETTING("crt-ignore-err", 1, "all|<error>[,...]",
		"Errors of clients' certificates that do not end the handshake: all of them, or "
		"a list of numbers and names of OpenSSL, such as 10 or "
		"X509_V_ERR_CERT_HAS_EXPIRED.",
		.dflt = "none"),
	SETTING("ca-ignore-err", 1, "all|<error>[,...]",
		"Errors of the certificates above clients' that do not end the handshake, as in "
		"crt-ignore-err.",
		.dflt = "none"),
	SETTING("no-ca-names", 0, NULL, "Does not send clients the names of ca-file."),
	SETTING("ciphers", 1, "<list>", "Ciphers up to TLS 1.2, as in openssl-ciphers(1).",
		.dflt = "those of ssl-default-bind-ciphers, else of OpenSSL"),
	SETTING("ciphersuites", 1, "<list>", "Cipher suites of TLS 1.3.",
		.dflt = "those of ssl-default-bind-ciphersuites, else of OpenSSL"),
	SETTING("curves", 1, "<list>", "Groups for the key exchange, separated by colons.",
		.dflt = "those of ssl-default-bind-curves, else of OpenSSL"),
	SETTING("ecdhe", 1, "<group>",
		"One group for the key exchange; curves takes several.",
		.dflt = "that of curves"),
	SETTING("sigalgs", 1, "<list>", "Signature algorithms of handshakes.",
		.dflt = "those of ssl-default-bind-sigalgs, else of OpenSSL"),
	SETTING("client-sigalgs", 1, "<list>", "Signature algorithms of clients' certificates.",
		.dflt = "those of ssl-default-bind-client-sigalgs, else of OpenSSL"),
	SETTING("ssl-min-ver", 1, "<version>",
		"Lowest version of TLS.",
		.dflt = "TLSv1.2",
		.values = tls_version_words),
#include "tls/versions.tbl.h"
	SETTING("no-tls-tickets", 0, NULL, "Keeps sessions in memory instead of in tickets."),
	{ .name = "tls-ticket-keys",
		.dflt = "random keys",
		.min = 1,
		.max = 1,
		.parse = opt_ticket_keys,
		.syntax = "<file>",
		.doc = "Keys of session tickets, a line for each in base64: at least three, all of "
		       "48 bytes (AES-128) or all of 80 (AES-256). The last three decrypt tickets, "
		       "the last but one encrypts them. Several machines may share a file, and use "
		       "a new one without a reload (set ssl tls-key). "
		       "Without one all bind lines share random keys, which change every hour, or "
		       "after tune.ssl.lifetime if that is longer, and which outlive a reload (see "
		       "tune.reload.keep)." },
	SETTING("tls-tickets", 0, NULL, "Undoes no-tls-tickets of ssl-default-bind-options."),
	SETTING("prefer-client-ciphers", 0, NULL, "The client's order of ciphers counts."),
	SETTING("strict-sni", 0, NULL, "Refuses clients that ask for no name or an unknown one."),
	SETTING("no-strict-sni", 0, NULL, "Undoes strict-sni of ssl-default-bind-options."),
	SETTING("ocsp-update", 1, "on|off",
		"Asks the responders of the certificates for OCSP responses, before those "
		"expire. Lines that say different things for one certificate are an error, as a "
		"line that says 'off' is where another one follows an ocsp-update.mode that "
		"says 'on'. The responder is that of the certificate (authority information "
		"access) with a URL of http. Its address is that of /etc/hosts, as it was at "
		"the start, else 'resolvers default' finds it, unless there is an "
		"ocsp-update.httpproxy.",
		.dflt = "that of the certificate's line 'load' in a crt-store, else "
			"ocsp-update.mode"),
	{ .name = "allow-0rtt", .class = CFG_HINT,
		.doc = "early data can be replayed, so it is not accepted and clients do without" },
	HINT("npn", "NPN is obsolete, and clients use ALPN: see 'alpn'"),
	HINT("ca-sign-file", "certificates are not made at run time"),
	HINT("ca-sign-pass", "certificates are not made at run time"),
	{ .name = "generate-certificates", .class = CFG_UNSUPPORTED,
		.doc = "certificates are not made at run time." },
	{ 0 },
};

const struct cfg_module bind_cfg_tls_module = {
	.name = "bind-tls",
	.opts = { [CFG_OPT_BIND] = opts },
};
