/* The keyword tcp-check. Main thread, while the configuration is read. */
#include <string.h>

#include "proxy/config/check_cfg.h"
#include "proxy/config/check_rule_cfg.h"
#include "proxy/model/proxy.h"

enum send_as { SEND_TEXT, SEND_FMT, SEND_HEX, SEND_HEX_FMT };

/* The keyword's arg is an enum send_as. */
static int
parse_tcp_check_send(struct cfg_ctx *ctx)
{
	static const struct check_word words[] = {
		{ "comment", 1, check_cfg_comment, 0, NULL },
		{ NULL, 0, NULL, 0, NULL },
	};
	const intptr_t data = offsetof(struct check_rule, u.send.data);
	enum send_as as = (enum send_as)ctx->kw->arg;
	struct check_rule *r = check_cfg_add(ctx, CHECK_RULE_SEND);
	int rc;

	if (!r)
		return -1;
	if (!*cfg_arg(ctx, 0))
		return cfg_error(ctx, 0, "'%s' expects a text.", cfg_kw_name(ctx));
	r->u.send.hex = as == SEND_HEX_FMT;
	if (as == SEND_TEXT)
		rc = check_cfg_text(ctx, 0, r, data);
	else if (as == SEND_HEX)
		rc = check_cfg_text_hex(ctx, 0, r, data);
	else
		rc = check_cfg_text_fmt(ctx, 0, r, data);
	return rc < 0 ? -1 : check_cfg_words(ctx, 1, words, r);
}

static int
take_binary_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return check_cfg_expect_text_fmt(ctx, i, r, CHECK_MATCH_BINARY);
}

static int
parse_tcp_check_expect(struct cfg_ctx *ctx)
{
	static const struct check_word words[] = {
		CHECK_EXPECT_WORDS,
		{ "binary", 1, check_cfg_expect_text, CHECK_MATCH_BINARY, NULL },
		{ "binary-lf", 1, take_binary_fmt, 0, NULL },
		{ "rbinary", 1, check_cfg_expect_regex, CHECK_MATCH_RBINARY, NULL },
		{ "rstring", 1, check_cfg_expect_regex, CHECK_MATCH_RSTRING, NULL },
		{ "string", 1, check_cfg_expect_text, CHECK_MATCH_STRING, NULL },
		{ "string-lf", 1, check_cfg_expect_text_fmt, CHECK_MATCH_STRING, NULL },
		{ NULL, 0, NULL, 0, NULL },
	};

	return check_cfg_parse_expect(ctx, words, 0);
}

static const struct cfg_enum tcp_expect_words[] = {
	{ "string <text>", 0, "The bytes contain the text." },
	{ "string-lf <fmt>", 0, "They contain the text that the format makes." },
	{ "rstring <regex>", 0, "They match." },
	{ "binary <hex>", 0, "They contain these bytes." },
	{ "binary-lf <fmt>", 0, "They contain the bytes whose hexadecimal digits the format "
		"makes." },
	{ "rbinary <regex>", 0, "Their hexadecimal digits match." },
	CHECK_EXPECT_VALUES,
	{ "!", 0, "The response must not match." },
	{ 0 },
};

#define SEND(n, as, args, text, ...)                                            \
	{                                                                       \
		.name = "tcp-check " n, .sections = CFG_BE, .min = 1, .max = 3, \
		.parse = parse_tcp_check_send, .arg = as,                       \
		.syntax = args " [comment <text>]", .doc = text, __VA_ARGS__    \
	}

static const struct cfg_kw kws[] = {
	CHECK_RULE_KWS("tcp-check"),
	{ .name = "tcp-check expect",
		.dflt = "none",
		.values = tcp_expect_words,
		.example = "tcp-check connect\n"
			"tcp-check send PING\\r\\n\n"
			"tcp-check expect string +PONG",
		.sections = CFG_BE,
		.min = 1,
		.max = CFG_ANY,
		.parse = parse_tcp_check_expect,
		.syntax = "[<option>...] [!] <match> <pattern>",
		.doc = "What the server has to send." },
	SEND("send", SEND_TEXT, "<text>", "Sends a text.",
		.dflt = "none"),
	SEND("send-binary", SEND_HEX, "<hex>", "Sends bytes, given in hexadecimal.",
		.dflt = "none"),
	SEND("send-binary-lf", SEND_HEX_FMT, "<fmt>", "Sends bytes, formatted in hexadecimal.",
		.dflt = "none"),
	SEND("send-lf", SEND_FMT, "<fmt>", "Sends a formatted text.",
		.dflt = "none"),
	{ 0 },
};

const struct cfg_module tcp_check_cfg_module = { .name = "tcp-check", .kws = kws };
