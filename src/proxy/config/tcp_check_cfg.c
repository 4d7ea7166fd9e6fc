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
	static const struct cfg_enum names[] = { { "comment", 0, NULL }, { 0 } };
	static const struct check_word rows[] = { { 1, check_cfg_comment, 0 } };
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
	return rc < 0 ? -1 : check_cfg_words(ctx, 1, names, rows, r);
}

static int
take_binary_fmt(struct cfg_ctx *ctx, int i, struct check_rule *r, intptr_t arg unused)
{
	return check_cfg_expect_text_fmt(ctx, i, r, CHECK_MATCH_BINARY);
}

enum {
	TCP_STRING = CHECK_EXPECT_OWN,
	TCP_STRING_LF,
	TCP_RSTRING,
	TCP_BINARY,
	TCP_BINARY_LF,
	TCP_RBINARY
};

static const struct cfg_enum tcp_expect_words[] = {
	{ "string <text>", TCP_STRING, "The bytes contain the text." },
	{ "string-lf <fmt>", TCP_STRING_LF, "They contain the text that the format makes." },
	{ "rstring <regex>", TCP_RSTRING, "They match." },
	{ "binary <hex>", TCP_BINARY, "They contain these bytes." },
	{ "binary-lf <fmt>", TCP_BINARY_LF, "They contain the bytes whose hexadecimal digits the "
		"format makes." },
	{ "rbinary <regex>", TCP_RBINARY, "Their hexadecimal digits match." },
	CHECK_EXPECT_NAMES,
	{ 0 },
};

static int
parse_tcp_check_expect(struct cfg_ctx *ctx)
{
	static const struct check_word rows[] = {
		CHECK_EXPECT_ROWS,
		[TCP_STRING] = { 1, check_cfg_expect_text, CHECK_MATCH_STRING },
		[TCP_STRING_LF] = { 1, check_cfg_expect_text_fmt, CHECK_MATCH_STRING },
		[TCP_RSTRING] = { 1, check_cfg_expect_regex, CHECK_MATCH_RSTRING },
		[TCP_BINARY] = { 1, check_cfg_expect_text, CHECK_MATCH_BINARY },
		[TCP_BINARY_LF] = { 1, take_binary_fmt, 0 },
		[TCP_RBINARY] = { 1, check_cfg_expect_regex, CHECK_MATCH_RBINARY },
	};

	return check_cfg_parse_expect(ctx, tcp_expect_words, rows, 0);
}

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
		.doc = "Bytes that the server has to send." },
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
