/* Keywords of forwarded addresses. Main thread, while the configuration is read. */
#include "proxy/config/forward_cfg.h"

#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/model/proxy.h"

static int
take_header(struct cfg_ctx *ctx, int i, struct forward_option *o)
{
	if (i >= ctx->argc)
		return cfg_error(
			ctx, i, "'%s header' expects <header_name> as argument.", cfg_kw_name(ctx));
	if (!http_name_is_valid(str_of(cfg_arg(ctx, i))))
		return cfg_error(ctx, i, "'%s header' : '%s' is not a valid header name.",
			cfg_kw_name(ctx), cfg_arg(ctx, i));
	return cfg_arg_dup(ctx, i, &o->header);
}

enum { WORD_EXCEPT, WORD_HEADER, WORD_IF_NONE };

static const struct cfg_enum added_words[] = {
	{ "except <network>", WORD_EXCEPT, "Not for clients of this network; of originalto not for "
		"connections to it." },
	{ "header <name>", WORD_HEADER, "Another name of the field." },
	{ "if-none", WORD_IF_NONE, "With forwardfor: not if the request has the field already." },
	{ 0 },
};

/* option forwardfor|originalto [except <net>] [header <name>] [if-none]: a line replaces all
 * settings of an earlier one. */
static int
parse_address(struct cfg_ctx *ctx)
{
	enum forward_kind kind = (enum forward_kind)ctx->kw->arg;
	struct forward_option *o = &((struct proxy *)ctx->obj)->forward.to[kind];

	mem_free(o->header);
	*o = (struct forward_option){ .on = 1 };
	for (int i = 0; i < ctx->argc; i++) {
		int word = cfg_arg_word(ctx, i, added_words);

		if (word == WORD_EXCEPT) {
			if (++i >= ctx->argc || forward_net_parse(cfg_arg(ctx, i), &o->except) < 0)
				return cfg_error(ctx, i,
					"'%s except' expects <address>[/mask] as argument.",
					cfg_kw_name(ctx));
		} else if (word == WORD_HEADER) {
			if (take_header(ctx, ++i, o))
				return -1;
		} else if (word == WORD_IF_NONE && kind == FORWARD_FOR) {
			o->if_none = 1;
		} else {
			return cfg_error(ctx, i,
				"'%s' only supports optional values: 'except'%s 'header'%s.",
				cfg_kw_name(ctx), kind == FORWARD_FOR ? "," : " and",
				kind == FORWARD_FOR ? " and 'if-none'" : "");
		}
	}
	return 0;
}

static const struct cfg_enum parts[] = {
	{ "proto", FORWARDED_PROTO, "The protocol of the client: http, or https "
		"over TLS." },
	{ "host", FORWARDED_HOST, "The field Host." },
	{ "by", FORWARDED_BY, "The address that the client connected to." },
	{ "by_port", FORWARDED_BY_PORT, "Its port, behind by." },
	{ "for", FORWARDED_FOR, "The client's address." },
	{ "for_port", FORWARDED_FOR_PORT, "Its port, behind for." },
	{ 0 },
};

static int
parse_forwarded(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	unsigned int got = 0;
	int part;

	for (int i = 0; i < ctx->argc; i++) {
		const char *word = cfg_arg(ctx, i);
		size_t len = strlen(word);

		if (len > 5 && strcmp(word + len - 5, "-expr") == 0)
			return cfg_error(
				ctx, i, "'option forwarded' : '%s' is not supported", word);
		if (cfg_arg_enum(ctx, i, parts, &part))
			return -1;
		got |= (unsigned int)part;
	}
	if (!got)
		got = FORWARDED_PROTO | FORWARDED_FOR;
	if ((got & FORWARDED_BY_PORT) && !(got & FORWARDED_BY))
		return cfg_error(ctx, 0, "'option forwarded' : 'by_port' requires 'by'");
	if ((got & FORWARDED_FOR_PORT) && !(got & FORWARDED_FOR))
		return cfg_error(ctx, 0, "'option forwarded' : 'for_port' requires 'for'");
	p->forward.forwarded = got;
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "option forwardfor",
		.dflt = "off",
		.values = added_words,
		.sections = CFG_PROXIES,
		.max = CFG_ANY,
		.parse = parse_address,
		.arg = FORWARD_FOR,
		.syntax = "[except <network>] [header <name>] [if-none]",
		.doc = "Adds X-Forwarded-For with the client's address to requests." },
	{ .name = "option forwarded",
		.dflt = "off; without a word: proto for",
		.values = parts,
		.sections = CFG_BE,
		.max = CFG_ANY,
		.parse = parse_forwarded,
		.syntax = "[proto] [host] [by] [by_port] [for] [for_port]",
		.doc = "Adds Forwarded (RFC 7239) to requests." },
	{ .name = "option originalto",
		.dflt = "off",
		.values = added_words,
		.sections = CFG_PROXIES,
		.max = CFG_ANY,
		.parse = parse_address,
		.arg = FORWARD_ORIGINAL_TO,
		.syntax = "[except <network>] [header <name>]",
		.doc = "Adds X-Original-To with the destination of the client's connection to "
			"requests." },
	{ 0 },
};

const struct cfg_module forward_cfg_module = {
	.name = "forward",
	.kws = kws,
};
