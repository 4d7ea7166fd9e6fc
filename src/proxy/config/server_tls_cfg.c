/* Options of servers about TLS. Main thread, while the configuration is read; files are read when
 * all of it is known. */
#include "proxy/config/server_tls_cfg.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/model/proxies.h"
#include "proxy/model/server.h"

static struct server_tls_conf *
tls_of_target(struct cfg_ctx *ctx, void *obj)
{
	struct server_tls_conf *c = &((struct server_target *)obj)->conf->tls;

	c->where = cfg_arg_where(ctx, -1);
	return c;
}

static int
opt_server_ssl(struct cfg_ctx *ctx, void *obj)
{
	struct server_tls_conf *c = tls_of_target(ctx, obj);

	c->is_off = !ctx->opt->arg && (c->is_on || c->is_off);
	c->is_on = (int)ctx->opt->arg;
	return 0;
}

static int
opt_check_ssl(struct cfg_ctx *ctx, void *obj)
{
	tls_of_target(ctx, obj)->check = (enum server_check_tls)ctx->opt->arg;
	return 0;
}

static int
opt_server_setting(struct cfg_ctx *ctx, void *obj)
{
	struct server_tls_conf *c = tls_of_target(ctx, obj);
	char why[TLS_WHY_MAX];

	if (tls_settings_set(&c->set, TLS_AT_SERVER, ctx->opt->name, cfg_arg(ctx, 0), why) < 0)
		return cfg_error(
			ctx, 0, "'%s' : '%s' : %s.", cfg_kw_name(ctx), ctx->opt->name, why);
	return 0;
}

static int
opt_no_verifyhost(struct cfg_ctx *ctx, void *obj)
{
	struct server_tls_conf *c = tls_of_target(ctx, obj);

	mem_free(c->set.verifyhost);
	c->set.verifyhost = NULL;
	return 0;
}

static int
opt_sni(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_dup(ctx, 0, &tls_of_target(ctx, obj)->sni);
}

static int
opt_sni_auto(struct cfg_ctx *ctx, void *obj)
{
	tls_of_target(ctx, obj)->sni_auto = (uint8_t)ctx->opt->arg;
	return 0;
}

static int
opt_check_sni_auto(struct cfg_ctx *ctx, void *obj)
{
	tls_of_target(ctx, obj)->check_sni_auto = (uint8_t)ctx->opt->arg;
	return 0;
}

static int
opt_check_sni(struct cfg_ctx *ctx, void *obj)
{
	return cfg_arg_dup(ctx, 0, &tls_of_target(ctx, obj)->check_sni);
}

static int
opt_check_alpn(struct cfg_ctx *ctx, void *obj)
{
	struct server_tls_conf *c = tls_of_target(ctx, obj);
	char why[TLS_WHY_MAX];

	if (tls_alpn_parse(cfg_arg(ctx, 0), &c->check_alpn, why) < 0)
		return cfg_error(
			ctx, 0, "'%s' : '%s' : %s.", cfg_kw_name(ctx), ctx->opt->name, why);
	return 0;
}

#define OPT(n, args, fn, a, syn, text, ...)                                 \
	{                                                                   \
		.name = n, .min = args, .max = args, .parse = fn, .arg = a, \
		.syntax = syn, .doc = text, __VA_ARGS__                     \
	}
#define SETTING(n, args, syn, text, ...) \
	OPT(n, args, opt_server_setting, 0, syn, text, __VA_ARGS__)
static const struct cfg_opt opts[] = {
	OPT("ssl", 0, opt_server_ssl, 1, NULL,
		"Connects with TLS. The server's certificate is verified with ca-file; a "
		"configuration without ca-file needs 'verify none'."),
	OPT("no-ssl", 0, opt_server_ssl, 0, NULL, "Connects without TLS, whatever the defaults "
		"say."),
	OPT("sni", 1, opt_sni, 0, "<expression>",
		"The name that is asked for (SNI), such as str(example.org), ssl_fc_sni or, in "
		"mode http, req.hdr(host). A connection is used again (http-reuse) for requests "
		"that ask for the same name only; upper and lower case differ. A name that no "
		"server can be asked for, of more than 255 bytes or with a NUL, ends the session "
		"without retries: with 503 in mode http, and with PC in the log.",
		.dflt = "none: no name is asked for",
		.example = "sni req.hdr(host),host_only"),
	OPT("check-ssl", 0, opt_check_ssl, SERVER_CHECK_TLS_ON, NULL,
		"Health checks use TLS, also with an address or a port of their own."),
	OPT("no-check-ssl", 0, opt_check_ssl, SERVER_CHECK_TLS_OFF, NULL,
		"Health checks do not use TLS."),
	OPT("check-alpn", 1, opt_check_alpn, 0, "<protocol>[,...]",
		"Protocols that health checks offer to the server by ALPN.",
		.dflt = "alpn"),
	OPT("check-sni", 1, opt_check_sni, 0, "<name>", "The name that health checks ask for.",
		.dflt = "none"),
	OPT("sni-auto", 0, opt_sni_auto, 1, NULL,
		"Without sni, the name that is asked for is the host of the request's field "
		"Host, in mode http."),
	OPT("no-sni-auto", 0, opt_sni_auto, 0, NULL, "Undoes sni-auto of the defaults."),
	OPT("check-sni-auto", 0, opt_check_sni_auto, 1, NULL,
		"Without check-sni, health checks by HTTP ask for the host of the field Host that "
		"they send."),
	OPT("no-check-sni-auto", 0, opt_check_sni_auto, 0, NULL,
		"Undoes check-sni-auto of the defaults."),
	SETTING("alpn", 1, "<protocol>[,...]",
		"Protocols offered to the server by ALPN. In mode http a server that takes h2 gets "
		"HTTP/2.",
		.dflt = "none"),
	SETTING("ca-file", 1, "<file|directory>",
		"Certificates that the server's certificate is verified with; '@system-ca': those "
		"that the system trusts.",
		.dflt = "none"),
	SETTING("crl-file", 1, "<file>",
		"Revocation lists, one for each certificate of the chain that is verified.",
		.dflt = "none"),
	SETTING("crt", 1, "<file>", "The certificate that is sent if the server asks for one.",
		.dflt = "none"),
	SETTING("verify", 1, "none|required",
		"Whether the server's certificate is verified.",
		.dflt = "required, or what ssl-server-verify says",
		.values = tls_server_verify_words),
	SETTING("verifyhost", 1, "<name>",
		"The name that the server's certificate has to be for if none is asked for (sni).",
		.dflt = "none: any name is accepted"),
	OPT("no-verifyhost", 0, opt_no_verifyhost, 0, NULL, "Undoes verifyhost of the defaults."),
	SETTING("ciphers", 1, "<list>", "Ciphers up to TLS 1.2, as in openssl-ciphers(1).",
		.dflt = "those of ssl-default-server-ciphers, else of OpenSSL"),
	SETTING("ciphersuites", 1, "<list>", "Cipher suites of TLS 1.3.",
		.dflt = "those of ssl-default-server-ciphersuites, else of OpenSSL"),
	SETTING("curves", 1, "<list>", "Groups for the key exchange, separated by colons.",
		.dflt = "those of ssl-default-server-curves, else of OpenSSL"),
	SETTING("sigalgs", 1, "<list>", "Signature algorithms of handshakes.",
		.dflt = "those of ssl-default-server-sigalgs, else of OpenSSL"),
	SETTING("client-sigalgs", 1, "<list>", "Signature algorithms of client certificates.",
		.dflt = "those of ssl-default-server-client-sigalgs, else of OpenSSL"),
	SETTING("ssl-min-ver", 1, "<version>",
		"Lowest version of TLS.",
		.dflt = "TLSv1.2",
		.values = tls_version_words),
#include "tls/versions.tbl.h"
	SETTING("no-tls-tickets", 0, NULL, "Does not ask for session tickets."),
	SETTING("tls-tickets", 0, NULL,
		"Undoes no-tls-tickets of the defaults."),
	SETTING("no-ssl-reuse", 0, NULL, "Does not resume sessions."),
	SETTING("ssl-reuse", 0, NULL, "Resumes sessions, whatever the defaults say."),
	{ .name = "allow-0rtt", .class = CFG_HINT,
		.doc = "early data can be replayed, so none is sent" },
	{ .name = "npn", .min = 1, .max = 1, .class = CFG_HINT,
		.doc = "NPN is obsolete, and servers use ALPN: see 'alpn'" },
	{ 0 },
};

const struct cfg_module server_tls_cfg_module = {
	.name = "server TLS",
	.opts = { [CFG_OPT_SERVER] = opts },
};
