/* The section crt-store, of HAProxy 3. Main thread, while the configuration is read; its files are
 * read when all of it is known. */
#include "app/config/crt_store_cfg.h"

#include <string.h>

#include "app/config/config.h"
#include "cfg/ctx.h"
#include "tls/crt_list.h"

static int
begin_crt_store(struct cfg_ctx *ctx)
{
	struct config *c = ctx->root;
	struct tls_crt_store *s = tls_crt_store_find(&c->tls.crt_stores, ctx->name);

	if (s && ctx->name[0])
		return cfg_error(ctx, 0, "crt-store '%s' already exists.", ctx->name);
	ctx->obj = s ? s : tls_crt_store_add(&c->tls.crt_stores, ctx->name);
	return ctx->obj ? 0 : cfg_nomem(ctx);
}

static int
parse_store_base(struct cfg_ctx *ctx)
{
	struct tls_crt_store *s = ctx->obj;

	return cfg_arg_dup(ctx, 0, ctx->kw->arg ? &s->key_base : &s->crt_base);
}

/* The place of a parameter's value; NULL: it is unknown. */
static char **
load_value(struct tls_load *l, const char *name)
{
	static const char *const files[TLS_CERT_FILES] = { [TLS_CERT_CRT] = "crt",
		[TLS_CERT_KEY] = "key", [TLS_CERT_ISSUER] = "issuer", [TLS_CERT_OCSP] = "ocsp",
		[TLS_CERT_SCTL] = "sctl" };

	if (strcmp(name, "alias") == 0)
		return &l->alias;
	for (unsigned int i = 0; i < TLS_CERT_FILES; i++)
		if (strcmp(name, files[i]) == 0)
			return &l->path.of[i];
	return NULL;
}

static int
take_ocsp_update(struct cfg_ctx *ctx, struct tls_load *l, int i)
{
	const char *value = cfg_arg(ctx, i + 1);

	if (l->ocsp_update)
		return cfg_error(ctx, i, "'load' : 'ocsp-update' is given twice.");
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return cfg_error(ctx, *value ? i + 1 : i,
			"'load' : 'ocsp-update' expects 'on' or 'off'.");
	l->ocsp_update = strcmp(value, "on") == 0 ? TLS_OCSP_ON : TLS_OCSP_OFF;
	return 0;
}

static int
take_load_value(struct cfg_ctx *ctx, struct tls_load *l, int i)
{
	const char *name = cfg_arg(ctx, i);
	char **to = load_value(l, name);

	if (strcmp(name, "ocsp-update") == 0)
		return take_ocsp_update(ctx, l, i);
	if (!to)
		return cfg_error(ctx, i,
			"'load' : unknown parameter '%s'; crt, key, ocsp, issuer, sctl, alias "
			"and ocsp-update are known.",
			name);
	if (*to)
		return cfg_error(ctx, i, "'load' : '%s' is given twice.", name);
	if (!*cfg_arg(ctx, i + 1))
		return cfg_error(ctx, i, "'load' : '%s' expects an argument.", name);
	return cfg_arg_dup(ctx, i + 1, to);
}

static int
parse_load(struct cfg_ctx *ctx)
{
	struct tls_load *l = tls_crt_store_add_load(ctx->obj);

	if (!l)
		return cfg_nomem(ctx);
	l->where = cfg_arg_where(ctx, 0);
	for (int i = 0; i < ctx->argc; i += 2)
		if (take_load_value(ctx, l, i))
			return -1;
	if (!l->path.of[TLS_CERT_CRT])
		return cfg_error(ctx, ctx->argc, "'load' : 'crt' is missing.");
	return 0;
}

static const struct cfg_section sections[] = {
	{ .name = "crt-store",
		.bit = CFG_CRT_STORE,
		.flags = CFG_SEC_OPTNAME,
		.begin = begin_crt_store,
		.doc = "Certificates with their files, and the names that crt and lines of a "
		       "crt-list call them by." },
	{ 0 },
};

static const struct cfg_kw kws[] = {
	{ .name = "crt-base",
		.dflt = "that of the section global",
		.sections = CFG_CRT_STORE,
		.min = 1,
		.max = 1,
		.parse = parse_store_base,
		.syntax = "<directory>",
		.doc = "Directory of files that are named without one, except for keys; it counts "
		       "instead of that of global." },
	{ .name = "key-base",
		.dflt = "that of the section global",
		.sections = CFG_CRT_STORE,
		.min = 1,
		.max = 1,
		.parse = parse_store_base,
		.arg = 1,
		.syntax = "<directory>",
		.doc = "Directory of keys that are named without one; it counts instead of that "
			"of global." },
	{ .name = "load",
		.dflt = "none",
		.example = "crt-store site\n"
			"    crt-base /etc/tacit/certs\n"
			"    key-base /etc/tacit/certs\n"
			"    load crt www.pem key www.key alias www",
		.sections = CFG_CRT_STORE,
		.min = 2,
		.max = CFG_ANY,
		.parse = parse_load,
		.syntax = "crt <file> [key <file>] [ocsp <file>] [issuer <file>] [sctl <file>] "
			  "[alias <name>] [ocsp-update on|off]",
		.doc = "A certificate. A key of its own counts instead of that in crt; files that "
		       "are not named are looked for beside crt (see ssl-load-extra-files). Other "
		       "lines call it @<store>/<name>, by its alias or else by its crt as written "
		       "here; without an alias that of a store without a name is called by its "
		       "path. ocsp-update as on a bind line: it counts where neither the bind line "
		       "nor the line of a crt-list says, and before ocsp-update.mode. Places that "
		       "say different things for one certificate are an error." },
	{ 0 },
};

const struct cfg_module crt_store_cfg_module = {
	.name = "crt-store",
	.kws = kws,
	.sections = sections,
};
