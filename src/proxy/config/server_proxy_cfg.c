/* Options of servers about PROXY headers. Main thread, while the configuration is read, or the
 * first worker when it adds a server. */
#include "proxy/config/server_proxy_cfg.h"

#include <stdlib.h>
#include <string.h>

#include "cfg/value.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/model/server.h"
#include "rule/sample/fmt.h"

/* arg: the bits, and 1 behind them to set them. */
static int
opt_proxy_header(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	unsigned int bits = (unsigned int)ctx->opt->arg >> 1;

	if (ctx->opt->arg & 1)
		t->conf->proxy_header |= bits;
	else
		t->conf->proxy_header &= ~bits;
	return 0;
}

/* Their bits; parts of the field about TLS imply that field. */
static const struct cfg_enum v2_words[] = {
	{ "authority", SERVER_PROXY_AUTHORITY,
		"The authority of the client's PROXY header, or the name that the "
		"client asks for with TLS." },
	{ "crc32c", SERVER_PROXY_CRC32C, "A checksum." },
	{ "unique-id", SERVER_PROXY_UNIQUE_ID, "The frontend's unique-id-format." },
	{ "ssl", SERVER_PROXY_SSL,
		"Facts about TLS of the client's connection, as with send-proxy-v2-ssl." },
	{ "cert-cn", SERVER_PROXY_SSL | SERVER_PROXY_SSL_CN,
		"In the field of ssl: the common name of the client's certificate." },
	{ "ssl-cipher", SERVER_PROXY_SSL | SERVER_PROXY_SSL_CIPHER,
		"In the field of ssl: the cipher." },
	{ "cert-sig", SERVER_PROXY_SSL | SERVER_PROXY_CERT_SIG,
		"In the field of ssl: the algorithm of the signature of the "
		"frontend's certificate." },
	{ "cert-key", SERVER_PROXY_SSL | SERVER_PROXY_CERT_KEY,
		"In the field of ssl: the algorithm of the key of the frontend's "
		"certificate." },
	{ 0 },
};

/* As in HAProxy several lists add up, and any option has a header sent. */
static int
opt_proxy_v2_options(struct cfg_ctx *ctx, void *obj)
{
	struct server_target *t = obj;
	const char *p = cfg_arg(ctx, 0);

	for (;;) {
		size_t n = strcspn(p, ",");
		const struct cfg_enum *e = cfg_enum_find(v2_words, p, n);

		if (!e)
			return cfg_error(ctx, 0,
				"'proxy-v2-options' : '%.*s' : proxy v2 option not implemented.",
				(int)MIN(n, (size_t)60), p);
		t->conf->proxy_header |= (unsigned int)e->value;
		p += n;
		if (!*p++)
			return 0;
	}
}

/* When a connection is made the request's head has been written already: variables are left. */
#define SCOPE SAMPLE_AT_CONN

static int
parse_tlv_type(struct cfg_ctx *ctx, int64_t *type)
{
	const char *p;
	size_t n;
	char text[16], *end;

	if (cfg_opt_parens(ctx, &p, &n) < 0 || n == 0 || n >= sizeof(text))
		return -1;
	memcpy(text, p, n);
	text[n] = '\0';
	if (strncmp(text, "0x", 2) != 0)
		return cfg_value_int(text, 0, 255, type, NULL);
	*type = (int64_t)strtoul(text + 2, &end, 16);
	return n > 2 && !*end && *type >= 0 && *type <= 255 ? 0 : -1;
}

static int
opt_proxy_v2_tlv(struct cfg_ctx *ctx, void *obj)
{
	struct server_tlv **list = &((struct server_target *)obj)->conf->tlvs;
	const struct rule_vocab *v = &((struct proxies *)ctx->root)->vocab;
	struct cfg_where where = cfg_arg_where(ctx, 0);
	struct rule_err why = { 0 };
	struct rule_fmt *f;
	int64_t type;

	if (parse_tlv_type(ctx, &type) < 0)
		return cfg_error(ctx, -1,
			"'%s' expects a type of 0 to 255 in parentheses, such as (0xE0).",
			ctx->opt->name);
	if (server_tlvs_count(*list) == SERVER_TLVS_MAX)
		return cfg_error(ctx, -1, "'%s' : too many fields; the limit is %d.",
			ctx->opt->name, SERVER_TLVS_MAX);
	if (rule_fmt_compile(v, cfg_arg(ctx, 0), RULE_FMT_RAW, SCOPE, &f, &why) < 0) {
		where.col += (unsigned int)why.at;
		cfg_diag_add(ctx->diag, CFG_ALERT, &where, "'%s' : %s", ctx->opt->name, why.text);
		return -1;
	}
	rule_fmt_free(&f);
	if (server_tlv_add(list, (uint8_t)type, cfg_arg(ctx, 0), &where) < 0)
		return cfg_nomem(ctx);
	return 0;
}

void
server_proxy_cfg_finish(struct server *s, const struct proxies *ps, struct cfg_diag *d)
{
	void *root = (void *)(uintptr_t)ps;
	struct rule_err why = { 0 };

	for (struct server_tlv *t = s->conf.tlvs; t; t = t->next)
		if (rule_fmt_compile(&ps->vocab, t->text, RULE_FMT_RAW, SCOPE, &t->fmt, &why) < 0 ||
			rule_fmt_check(t->fmt, root, &why) < 0)
			cfg_diag_add(d, CFG_ALERT, &t->where, "'set-proxy-v2-tlv-fmt' : %s",
				why.text);
}

#define V2_SSL (SERVER_PROXY_V2 | SERVER_PROXY_SSL)
#define V2_SSL_CN (V2_SSL | SERVER_PROXY_SSL_CN)

#define OPT(n, args, a, syn, text)                                                              \
	{                                                                                       \
		.name = n, .min = args, .max = args, .parse = opt_proxy_header, .arg = a,       \
		.syntax = syn, .doc = text                                                      \
	}

static const struct cfg_opt opts[] = {
	OPT("no-send-proxy", 0, SERVER_PROXY_V1 << 1, NULL, "Undoes send-proxy of the defaults."),
	OPT("no-send-proxy-v2", 0, SERVER_PROXY_V2 << 1, NULL,
		"Undoes send-proxy-v2 of the defaults."),
	OPT("no-send-proxy-v2-ssl", 0, V2_SSL << 1, NULL,
		"Undoes send-proxy-v2-ssl of the defaults."),
	OPT("no-send-proxy-v2-ssl-cn", 0, V2_SSL_CN << 1, NULL,
		"Undoes send-proxy-v2-ssl-cn of the defaults."),
	{ .name = "proxy-v2-options",
		.dflt = "none",
		.values = v2_words,
		.min = 1,
		.max = 1,
		.parse = opt_proxy_v2_options,
		.syntax = "<option>[,<option>]...",
		.doc = "Fields of a PROXY header of version 2 besides the addresses." },
	OPT("send-proxy", 0, SERVER_PROXY_V1 << 1 | 1, NULL,
		"Begins connections with a PROXY header of version 1, which has the client's "
		"address."),
	OPT("send-proxy-v2", 0, SERVER_PROXY_V2 << 1 | 1, NULL,
		"Begins connections with a PROXY header of version 2, which has the client's "
		"address."),
	OPT("send-proxy-v2-ssl", 0, V2_SSL << 1 | 1, NULL,
		"As send-proxy-v2, with a field that says whether the client's connection uses "
		"TLS, the version, and whether it has sent a certificate and which error that "
		"has."),
	OPT("send-proxy-v2-ssl-cn", 0, V2_SSL_CN << 1 | 1, NULL,
		"As send-proxy-v2-ssl, with the common name of the client's certificate."),
	{ .name = "set-proxy-v2-tlv-fmt",
		.dflt = "none",
		.min = 1,
		.max = 1,
		.in_parens = 1,
		.parse = opt_proxy_v2_tlv,
		.syntax = "(<type>) <format>",
		.doc = "A further field of PROXY headers of version 2: send-proxy-v2 sends them. "
		       "The format is evaluated for each connection, after the request's head was "
		       "written; what rules have put into variables is there. A field that makes "
		       "the header longer than 8192 bytes is left out." },
	{ 0 },
};

const struct cfg_module server_proxy_cfg_module = {
	.name = "server PROXY headers",
	.opts = { [CFG_OPT_SERVER] = opts },
};
