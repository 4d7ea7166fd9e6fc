/* Keywords of `global` that concern TLS. Main thread, while the configuration is read. */
#include "app/config/tls_cfg.h"

#include <string.h>

#include "app/config/config.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"

#define FIELD(name) ((intptr_t)offsetof(struct tls_conf, name))

static void *
tls_field(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return (char *)&c->tls + ctx->kw->arg;
}

static int
parse_tls_text(struct cfg_ctx *ctx)
{
	return cfg_arg_dup(ctx, 0, tls_field(ctx));
}

static int
parse_chain_path(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	c->tls.chains.where = cfg_arg_where(ctx, 0);
	return cfg_arg_dup(ctx, 0, &c->tls.chains.dir);
}

static int
parse_skip_self_issued(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	c->tls.chains.skip_self_issued = 1;
	return 0;
}

/* words: their values are the numbers of arguments. */
static int
parse_tls_options(struct cfg_ctx *ctx, struct tls_settings *s, unsigned int at,
	const struct cfg_enum *words)
{
	char why[TLS_WHY_MAX];

	for (int i = 0; i < ctx->argc;) {
		const char *name = cfg_arg(ctx, i);
		const struct cfg_enum *e = cfg_enum_find(words, name, strlen(name));

		if (!e)
			return cfg_error(
				ctx, i, "'%s' : unknown option '%s'.", cfg_kw_name(ctx), name);
		if (i + e->value >= ctx->argc)
			return cfg_error(ctx, i, "'%s' : '%s' expects an argument.",
				cfg_kw_name(ctx), name);
		if (tls_settings_set(s, at, name, cfg_arg(ctx, i + 1), why) < 0)
			return cfg_error(ctx, i, "'%s' : %s.", cfg_kw_name(ctx), why);
		i += 1 + e->value;
	}
	return 0;
}

#define VERSION_OPTIONS \
	{ "ssl-min-ver <version>", 1, "The lowest version." }, \
	{ "ssl-max-ver <version>", 1, "The highest version." }, \
	{ "force-sslv3", 0, "SSL 3.0 only." }, \
	{ "force-tlsv10", 0, "TLS 1.0 only." }, \
	{ "force-tlsv11", 0, "TLS 1.1 only." }, \
	{ "force-tlsv12", 0, "TLS 1.2 only." }, \
	{ "force-tlsv13", 0, "TLS 1.3 only." }, \
	{ "no-sslv3", 0, "Without SSL 3.0, as by default." }, \
	{ "no-tlsv10", 0, "Without TLS 1.0." }, \
	{ "no-tlsv11", 0, "Without TLS 1.1." }, \
	{ "no-tlsv12", 0, "Without TLS 1.2." }, \
	{ "no-tlsv13", 0, "Without TLS 1.3." }

static const struct cfg_enum bind_option_words[] = {
	VERSION_OPTIONS,
	{ "no-tls-tickets", 0, "Sessions are kept in memory instead of in tickets." },
	{ "tls-tickets", 0, "Undoes no-tls-tickets." },
	{ "prefer-client-ciphers", 0, "The client's order of ciphers counts." },
	{ "strict-sni", 0, "Clients that ask for no name or an unknown one are refused." },
	{ 0 },
};

static const struct cfg_enum server_option_words[] = {
	VERSION_OPTIONS,
	{ "no-tls-tickets", 0, "Session tickets are not asked for." },
	{ "tls-tickets", 0, "Undoes no-tls-tickets." },
	{ 0 },
};

static int
parse_bind_options(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return parse_tls_options(
		ctx, &c->tls.bind_defaults, TLS_AT_BIND_DEFAULTS, bind_option_words);
}

static int
parse_server_options(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return parse_tls_options(
		ctx, &c->tls.server_defaults, TLS_AT_SERVER_DEFAULTS, server_option_words);
}

static const struct cfg_enum extra_files[] = {
	{ "none", 0, "None." },
	{ "all", TLS_EXTRA_ALL, "All of these." },
	{ "bundle", TLS_EXTRA_BUNDLE, "<file>.rsa, .dsa and .ecdsa: certificates of several "
		"types for one name." },
	{ "sctl", TLS_EXTRA_SCTL, "<file>.sctl: signed certificate timestamps." },
	{ "ocsp", TLS_EXTRA_OCSP, "<file>.ocsp: an OCSP response." },
	{ "issuer", TLS_EXTRA_ISSUER, "<file>.issuer: the certificate that OCSP needs." },
	{ "key", TLS_EXTRA_KEY, "<file>.key: the private key." },
	{ 0 },
};

static int
parse_extra_files(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	unsigned int all = 0;
	int one;

	for (int i = 0; i < ctx->argc; i++) {
		if (cfg_arg_enum(ctx, i, extra_files, &one))
			return -1;
		if ((one == 0 || one == TLS_EXTRA_ALL) && ctx->argc > 1)
			return cfg_error(ctx, i, "'%s' : '%s' cannot be combined with others.",
				cfg_kw_name(ctx), cfg_arg(ctx, i));
		all |= (unsigned int)one;
	}
	c->tls.files.extra = all;
	return 0;
}

static int
parse_del_ext(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	c->tls.files.del_ext = 1;
	return 0;
}

static const struct cfg_enum verify_names[] = {
	{ "none", 1, "Certificates of servers are not verified." },
	{ "required", 0, "They are." },
	{ 0 },
};

static int
parse_server_verify(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_enum(ctx, 0, verify_names, &c->tls.server_verify_none);
}

static void
drop_words(char **words, unsigned int n)
{
	while (n)
		mem_free(words[--n]);
	mem_free(words);
}

static int
parse_passphrase_cmd(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	unsigned int n = (unsigned int)ctx->argc;
	char **words = mem_zalloc((n + 1) * sizeof(*words));

	for (unsigned int i = 0; words && i < n; i++)
		if (cfg_arg_dup(ctx, (int)i, &words[i])) {
			drop_words(words, n);
			return -1;
		}
	tls_passphrases_clear(&c->tls.passphrases);
	c->tls.passphrases.cmd = words;
	return words ? 0 : cfg_error(ctx, 0, "'%s' : out of memory.", cfg_kw_name(ctx));
}

/* r, why: what the library says of the argument. The line is that of errors that follow. */
static int
took_algorithms(struct cfg_ctx *ctx, int r, const char *why)
{
	struct config *c = ctx->root;

	if (r < 0)
		return cfg_error(ctx, 0, "'%s' : %s.", cfg_kw_name(ctx), why);
	c->tls.algorithms = cfg_arg_where(ctx, 0);
	return 0;
}

static int
parse_provider(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	char why[TLS_WHY_MAX];
	int r = tls_provider_load(&c->tls.providers, cfg_arg(ctx, 0), why);

	return took_algorithms(ctx, r, why);
}

static int
parse_provider_path(struct cfg_ctx *ctx)
{
	char why[TLS_WHY_MAX];
	int r = tls_provider_search(cfg_arg(ctx, 0), why);

	return took_algorithms(ctx, r, why);
}

static int
parse_propquery(struct cfg_ctx *ctx)
{
	char why[TLS_WHY_MAX];
	int r = tls_algorithms_prefer(cfg_arg(ctx, 0), why);

	return took_algorithms(ctx, r, why);
}

static int
parse_key_updates(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_int(ctx, 0, 0, INT32_MAX, &c->tls.key_updates);
}

/* All settings of bind lines and servers inherit it; no option of a line sets another one. */
static int
parse_security_level(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	int level;

	if (cfg_arg_int(ctx, 0, 0, 5, &level))
		return -1;
	c->tls.bind_defaults.level = c->tls.server_defaults.level = level + 1;
	return 0;
}

static int
parse_default_dh(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_int(ctx, 0, 1024, 16384, &c->tls.default_dh);
}

static int
parse_cachesize(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_int(ctx, 0, 0, INT32_MAX, &c->tls.cache_size);
}

static int
parse_capture_size(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_int(ctx, 0, 0, UINT16_MAX, &c->tls.capture_size);
}

static const struct cfg_enum keylog_ways[] = {
	{ "off", 0, "They are not kept." },
	{ "on", 1, "They are kept; each connection needs some memory more." },
	{ 0 },
};

static int
parse_keylog(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_enum(ctx, 0, keylog_ways, &c->tls.keylog);
}

static int
parse_maxrecord(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;

	return cfg_arg_int(ctx, 0, 0, 16384, &c->tls.maxrecord);
}

static int
parse_lifetime(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	uint64_t ms;

	if (cfg_arg_time(ctx, 0, CFG_UNIT_S, 1000, CFG_TIME_MAX_MS, &ms))
		return -1;
	c->tls.lifetime_s = (uint32_t)(ms / 1000);
	return 0;
}

static int
parse_on_off(struct cfg_ctx *ctx, int *on)
{
	*on = strcmp(cfg_arg(ctx, 0), "on") == 0;
	return *on || strcmp(cfg_arg(ctx, 0), "off") == 0
		? 0
		: cfg_error(ctx, 0, "'%s' : expects 'on' or 'off'.", cfg_kw_name(ctx));
}

static int
parse_ocsp_mode(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	int on;

	if (parse_on_off(ctx, &on))
		return -1;
	c->tls.ocsp.mode = on ? TLS_OCSP_ON : TLS_OCSP_OFF;
	return 0;
}

static int
parse_ocsp_disable(struct cfg_ctx *ctx)
{
	return parse_on_off(ctx, &((struct config *)ctx->root)->tls.ocsp.off);
}

static int
parse_ocsp_delay(struct cfg_ctx *ctx)
{
	struct tls_ocsp_conf *o = &((struct config *)ctx->root)->tls.ocsp;
	int is_max = strstr(ctx->kw->name, "maxdelay") != NULL;
	int s;

	if (cfg_arg_int(ctx, 0, 1, 365 * 86400, &s))
		return -1;
	*(is_max ? &o->max_s : &o->min_s) = (uint32_t)s;
	return 0;
}

/* The port of an HTTP proxy that is given without one. */
enum { HTTP_PROXY_PORT = 80 };

static int
parse_ocsp_proxy(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	const char *why = NULL, *text;
	char buf[CFG_ADDRESS_MAX];
	struct addr_spec spec;

	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, ADDR_ALLOW_NAME, &spec, &why) < 0)
		return cfg_error(ctx, 0, "'%s' : '%.200s' : %s.", cfg_kw_name(ctx), text, why);
	if (addr_is_any(&spec.addr))
		return cfg_error(ctx, 0, "'%s' : '%.200s' : the proxy needs an address.",
			cfg_kw_name(ctx), text);
	if (!spec.port_lo)
		addr_set_port(&spec.addr, HTTP_PROXY_PORT);
	c->tls.ocsp.proxy = spec.addr;
	return 0;
}

#define TEXT(n, fld, syn, text, ...)                                                    \
	{                                                                               \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1,                  \
		.parse = parse_tls_text, .syntax = syn, .arg = FIELD(fld), .doc = text, \
		__VA_ARGS__                                                             \
	}
#define KW(n, hi, fn, syn, text, ...)                                                \
	{                                                                            \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = hi, .parse = fn, \
		.syntax = syn, .doc = text, __VA_ARGS__                              \
	}
#define HINT(n, lo, why)                                                           \
	{ .name = n, .sections = CFG_GLOBAL, .min = lo, .max = lo, .class = CFG_HINT, \
	  .doc = why }

static const struct cfg_kw kws[] = {
	TEXT("crt-base", files.crt_base, "<directory>",
		"Directory of certificates that are named without one, also in crt-lists.",
		.dflt = "none: names are relative to where tacit was started"),
	TEXT("ca-base", files.ca_base, "<directory>",
		"Directory of files of ca-file, ca-verify-file and crl-file that are named without "
		"one.",
		.dflt = "none: names are relative to where tacit was started"),
	TEXT("key-base", files.key_base, "<directory>",
		"Directory of keys that sections crt-store name without one.",
		.dflt = "none: names are relative to where tacit was started"),
	TEXT("ssl-default-bind-ciphers", bind_defaults.ciphers, "<list>",
		"Ciphers of bind lines that have no option ciphers.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-bind-ciphersuites", bind_defaults.ciphersuites, "<list>",
		"Cipher suites of TLS 1.3 of bind lines that have no option ciphersuites.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-bind-curves", bind_defaults.curves, "<list>",
		"Groups for the key exchange of bind lines that have no option curves.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-bind-sigalgs", bind_defaults.sigalgs, "<list>",
		"Signature algorithms of bind lines that have no option sigalgs.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-bind-client-sigalgs", bind_defaults.client_sigalgs, "<list>",
		"Signature algorithms of clients' certificates of bind lines that have no "
		"option client-sigalgs.",
		.dflt = "those of OpenSSL"),
	KW("ssl-default-bind-options", CFG_ANY, parse_bind_options, "<option>...",
		"Options of all bind lines that do not say otherwise.",
		.dflt = "none",
		.values = bind_option_words),
	TEXT("ssl-default-server-ciphers", server_defaults.ciphers, "<list>",
		"Ciphers of servers that have no option ciphers.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-server-ciphersuites", server_defaults.ciphersuites, "<list>",
		"Cipher suites of TLS 1.3 of servers that have no option ciphersuites.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-server-curves", server_defaults.curves, "<list>",
		"Groups for the key exchange of servers that have no option curves.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-server-sigalgs", server_defaults.sigalgs, "<list>",
		"Signature algorithms of servers that have no option sigalgs.",
		.dflt = "those of OpenSSL"),
	TEXT("ssl-default-server-client-sigalgs", server_defaults.client_sigalgs, "<list>",
		"Signature algorithms of clients' certificates of servers that have no option "
		"client-sigalgs.",
		.dflt = "those of OpenSSL"),
	KW("ssl-default-server-options", CFG_ANY, parse_server_options, "<option>...",
		"Options of all servers that do not say otherwise.",
		.dflt = "none",
		.values = server_option_words),
	TEXT("ssl-dh-param-file", dh_file, "<file>",
		"DH parameters for certificates whose file has none. Without them and without "
		"tune.ssl.default-dh-param there is no DHE.",
		.dflt = "none"),
	KW("issuers-chain-path", 1, parse_chain_path, "<directory>",
		"Files of chains. A certificate whose own file has none gets the one whose first "
		"certificate has issued it and has the key of its Authority Key Identifier; "
		"so do those that commands bring. A certificate that has issued itself gets none.",
		.dflt = "none"),
	{ .name = "ssl-skip-self-issued-ca",
		.sections = CFG_GLOBAL,
		.parse = parse_skip_self_issued,
		.doc = "Certificates of a chain that have issued themselves are not sent; they can "
		       "still be the issuer that OCSP needs." },
	KW("ssl-load-extra-files", CFG_ANY, parse_extra_files,
		"none | all | { bundle | sctl | ocsp | issuer | key }...",
		"Files that are read beside a certificate's if they exist.",
		.dflt = "all",
		.values = extra_files),
	{ .name = "ssl-load-extra-del-ext",
		.sections = CFG_GLOBAL,
		.parse = parse_del_ext,
		.doc = "The names of the files of ssl-load-extra-files have their ending "
			"instead of .crt." },
	KW("ocsp-update.mode", 1, parse_ocsp_mode, "on|off",
		"Whether OCSP responses are asked for where no bind line, line of a crt-list or "
		"line 'load' of a crt-store says (ocsp-update); certificates without a "
		"responder are left out.",
		.dflt = "off"),
	KW("ocsp-update.disable", 1, parse_ocsp_disable, "on|off",
		"Asks no responder; overrides all other settings.",
		.dflt = "off"),
	KW("ocsp-update.httpproxy", 1, parse_ocsp_proxy, "<address>[:<port>]",
		"An HTTP proxy that requests to OCSP responders go to, with the responder's "
		"whole URL; the proxy finds its address. It is spoken to over plain HTTP. Its "
		"own name is resolved at the start; without a port it is 80.",
		.dflt = "none"),
	KW("ocsp-update.mindelay", 1, parse_ocsp_delay, "<seconds>",
		"Least time between two requests for the response of a certificate, and the "
		"first pause after a failure: each further one is twice as long.",
		.dflt = "300"),
	KW("ocsp-update.maxdelay", 1, parse_ocsp_delay, "<seconds>",
		"Longest time between two requests; a response that expires earlier is asked "
		"for earlier.",
		.dflt = "3600"),
	KW("tune.ssl.ocsp-update.mindelay", 1, parse_ocsp_delay, "<seconds>",
		"Another name of ocsp-update.mindelay.",
		.dflt = "300"),
	KW("tune.ssl.ocsp-update.maxdelay", 1, parse_ocsp_delay, "<seconds>",
		"Another name of ocsp-update.maxdelay.",
		.dflt = "3600"),
	KW("ssl-passphrase-cmd", CFG_ANY, parse_passphrase_cmd, "<command> [<argument>...]",
		"A command that writes the passphrase of a private key to its standard output. "
		"It runs at the start, at a reload and for -c, for each file with an encrypted key "
		"that the passphrases written before do not decrypt. Its arguments are the path of "
		"this file and those given here. It runs with the rights of the starting process, "
		"in the environment of the configuration (setenv), and without a limit of time. "
		"The first line that it writes counts; the whole is at most 1024 bytes. An exit "
		"code that is not 0 is an error, and so is a passphrase that does not decrypt the "
		"key. All passphrases are erased from memory when the files have been read: "
		"'set ssl cert' takes keys that are not encrypted.",
		.dflt = "none: an encrypted key is an error",
		.example = "ssl-passphrase-cmd /etc/tacit/passphrase production"),
	KW("ssl-provider", 1, parse_provider, "<name>",
		"Loads a provider of algorithms into OpenSSL, in the order of these lines; "
		"\"show ssl providers\" lists them. OpenSSL loads its provider default by itself "
		"only if none is named, here or in openssl.cnf: name it, too.",
		.dflt = "those of openssl.cnf, or default"),
	KW("ssl-provider-path", 1, parse_provider_path, "<directory>",
		"Where the providers of the ssl-provider lines below are looked for, up to the "
		"next ssl-provider-path.",
		.dflt = "the environment variable OPENSSL_MODULES, or OpenSSL's directory"),
	KW("ssl-propquery", 1, parse_propquery, "<query>",
		"Properties that all algorithms must have, or should have if a '?' stands before "
		"them: property(7) of OpenSSL.",
		.dflt = "none",
		.example = "ssl-provider default\nssl-provider legacy\n"
			"ssl-propquery ?provider=default"),
	KW("ssl-security-level", 1, parse_security_level, "<number>",
		"OpenSSL's security level of all bind lines and servers, 0 to 5: which keys, "
		"signatures, groups and ciphers are strong enough, on both sides. Level 2 asks for "
		"112 bits of security (RSA of 2048 bits), level 3 for 128 (RSA of 3072 bits); "
		"SSL_CTX_set_security_level(3) has the others. A certificate that the level "
		"refuses is an error at the start. \"@SECLEVEL=n\" in the ciphers of a line, or "
		"in those of ssl-default-bind-ciphers, counts more.",
		.dflt = "that of OpenSSL: 2 in Debian"),
	KW("ssl-server-verify", 1, parse_server_verify, "none|required",
		"The value of verify for servers that have none.",
		.dflt = "required",
		.values = verify_names),
	KW("tune.ssl.default-dh-param", 1, parse_default_dh, "<bits>",
		"Size of the standard group for DHE, 2048 to 4096, if there are no other DH "
		"parameters; a smaller value means 2048.",
		.dflt = "none: there is no DHE without DH parameters"),
	KW("tune.ssl.cachesize", 1, parse_cachesize, "<number>",
		"Number of sessions that are kept for clients that resume them by an id instead "
		"of a ticket (see no-tls-tickets); all workers share them, and they do not "
		"outlive the process.",
		.dflt = "20000"),
	KW("tune.ssl.lifetime", 1, parse_lifetime, "<time>",
		"Time during which a session can be resumed, in seconds.",
		.dflt = "300"),
	KW("tune.ssl.capture-buffer-size", 1, parse_capture_size, "<bytes>",
		"Bytes that are kept of the lists in each client's hello, for "
		"ssl_fc_cipherlist_bin and its like.",
		.dflt = "0"),
	KW("tune.ssl.capture-cipherlist-size", 1, parse_capture_size, "<bytes>",
		"Another name of tune.ssl.capture-buffer-size.",
		.dflt = "0"),
	KW("tune.ssl.keylog", 1, parse_keylog, "on|off",
		"Keeps the secrets of each connection for ssl_fc_client_traffic_secret_0 and "
		"its like.",
		.dflt = "off",
		.values = keylog_ways),
	KW("tune.ssl.keyupdate-rate-limit", 1, parse_key_updates, "<number>",
		"How many updates of its keys (TLS 1.3) a client or a server may send in a second "
		"on a connection; one more ends the connection. An update costs its receiver more "
		"than its sender. 0: any number.",
		.dflt = "100"),
	KW("tune.ssl.maxrecord", 1, parse_maxrecord, "<bytes>",
		"Maximum size of a record that is sent, at least 512; 0 leaves it to the length "
		"of the transfer.",
		.dflt = "0"),
	KW("tune.ssl.hard-maxrecord", 1, parse_maxrecord, "<bytes>",
		"Another name of tune.ssl.maxrecord.",
		.dflt = "0"),
	HINT("tune.ssl.force-private-cache", 0, "there is one process"),
	HINT("tune.ssl.ssl-ctx-cache-size", 1, "no certificates are generated"),
	{ 0 },
};

const struct cfg_module tls_cfg_module = {
	.name = "tls",
	.kws = kws,
};
