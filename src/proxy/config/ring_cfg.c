/* The section ring. Main thread, while the configuration is read. */
#include "proxy/config/ring_cfg.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "net/addr.h"
#include "proxy/model/eval_scratch.h"
#include "proxy/model/proxies.h"
#include "proxy/model/ring_conf.h"
#include "rule/sample/expr.h"

/* Timeouts of rings that stream addresses make, as HAProxy's. */
#define IMPLICIT_CONNECT_MS 1000
#define IMPLICIT_SERVER_MS 5000

/* --- servers --------------------------------------------------------------------------------- */

/*
 * Servers of rings. Main thread, while the configuration is read; what they name for TLS is
 * read when all of it is known.
 */

/* Bytes for the texts of the evaluation. */
#define SNI_TEXTS_MAX 4096

static int
parse_log_proto(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	static const struct cfg_enum protocols[] = { { "legacy", 0, NULL },
		{ "octet-count", 1, NULL }, { 0 } };

	return cfg_arg_enum(ctx, i + 1, protocols, &s->conf.counts_octets) < 0 ? -1 : 2;
}

/* --- the name that is asked for --- */

/* Nothing of a connection is known: the expression is evaluated now. 1: it has a value, 0: none,
 * -1: memory is out. */
static int
evaluate_sni(const struct rule_expr *e, struct sys *sys, struct ring_server *s)
{
	struct eval_scratch scratch;
	struct sample_ctx cx;
	struct sample name;
	int r = 0;

	if (eval_scratch_init(&scratch, SNI_TEXTS_MAX, sys) < 0)
		return -1;
	memset(&cx, 0, sizeof(cx));
	cx.arena = &scratch.arena;
	cx.regex = scratch.regex;
	cx.random = &scratch.random;
	cx.sys = sys;
	if (rule_expr_eval_as(e, &cx, SAMPLE_STR, &name) == 1) {
		mem_free(s->tls_conf.sni);
		s->tls_conf.sni = mem_strndup(name.u.str.p, name.u.str.len);
		r = s->tls_conf.sni ? 1 : -1;
	}
	eval_scratch_fini(&scratch);
	return r;
}

static int
parse_ring_sni(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	const struct proxies *ps = ctx->root;
	struct rule_vocab v = ps->vocab;
	const char *text = cfg_arg(ctx, i + 1);
	struct rule_expr *e = NULL;
	struct rule_err why = { 0 };
	size_t used;
	int r;

	if (i + 1 >= ctx->argc || strncmp(text, "str(", 4) != 0)
		return cfg_error(ctx, i + 1,
			"'server %s' : 'sni' : in a ring the name is a constant: str(<name>).",
			s->name);
	/* Tables of a map would outlive its expression. */
	v.files = NULL;
	if (rule_expr_parse(&v, text, strlen(text), 0, 0, &e, &used, &why) < 0)
		return cfg_error(
			ctx, i + 1, "'server %s' : 'sni' : %s.", s->name, why.text);
	r = evaluate_sni(e, ps->files.sys, s);
	rule_expr_free(&e);
	if (r < 0)
		return cfg_nomem(ctx);
	if (!r || !s->tls_conf.sni[0])
		return cfg_error(
			ctx, i + 1, "'server %s' : 'sni' : the name is empty.", s->name);
	return 2;
}

/* --- options --- */

static int
parse_tls_setting(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	const char *name = cfg_arg(ctx, i);
	int args = tls_settings_args(TLS_AT_SERVER, name);
	char why[TLS_WHY_MAX];

	if (args < 0)
		return cfg_error(ctx, i,
			"'server %s' : '%s' : in a ring a server has the options log-proto, ssl, "
			"sni and those of TLS only.",
			s->name, name);
	if (i + args >= ctx->argc)
		return cfg_error(ctx, i, "'server %s' : '%s' expects an argument.", s->name, name);
	if (tls_settings_set(&s->tls_conf.set, TLS_AT_SERVER, name, cfg_arg(ctx, i + 1), why) < 0)
		return cfg_error(ctx, i + args, "'server %s' : '%s' : %s.", s->name, name, why);
	return 1 + args;
}

/* The option at argument i: its number of words, or -1 after an error. */
static int
parse_ring_server_option(struct cfg_ctx *ctx, int i, struct ring_server *s)
{
	const char *name = cfg_arg(ctx, i);

	if (strcmp(name, "log-proto") == 0)
		return parse_log_proto(ctx, i, s);
	if (!s->tls_conf.where.file)
		s->tls_conf.where = cfg_arg_where(ctx, i);
	if (strcmp(name, "ssl") == 0) {
		s->tls_conf.is_on = 1;
		s->tls_conf.where = cfg_arg_where(ctx, i);
		return 1;
	}
	if (strcmp(name, "sni") == 0)
		return parse_ring_sni(ctx, i, s);
	return parse_tls_setting(ctx, i, s);
}

static int
parse_ring_server_options(struct cfg_ctx *ctx, struct ring_server *s)
{
	int n;

	for (int i = 2; i < ctx->argc; i += n) {
		n = parse_ring_server_option(ctx, i, s);
		if (n < 0)
			return -1;
	}
	if (s->tls_conf.where.file && !s->tls_conf.is_on)
		cfg_diag_add(ctx->diag, CFG_WARNING, &s->tls_conf.where,
			"'server %s' : options of TLS have no effect without 'ssl'.", s->name);
	return 0;
}

/* `server` of the section ctx->obj, a struct ring_conf: 0, or -1 after cfg_error(). */
static int
ring_server_cfg_parse(struct cfg_ctx *ctx)
{
	const unsigned int flags = ADDR_ALLOW_NAME | ADDR_ALLOW_UNIX | ADDR_WANT_PORT;
	struct ring_server *s;
	struct addr_spec spec;
	const char *why, *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, 1, buf);
	if (!text)
		return -1;
	if (addr_parse(text, flags, &spec, &why) < 0)
		return cfg_error(ctx, 1, "'server %s' : '%.200s' : %s.", cfg_arg(ctx, 0), text,
			why);
	s = ring_conf_add_server(ctx->obj, cfg_arg(ctx, 0));
	if (!s)
		return cfg_nomem(ctx);
	s->conf.addr = spec.addr;
	return parse_ring_server_options(ctx, s);
}

/* --- the section --- */

static int
ring_name_is_taken(const char *name)
{
	static const char *const own[] = { "stdout", "stderr", "buf0" };

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(name, own[i]) == 0)
			return 1;
	return 0;
}

static int
begin_ring(struct cfg_ctx *ctx)
{
	struct list *rings = &((struct proxies *)ctx->root)->log.rings;
	struct ring_conf *c = ring_conf_find(rings, ctx->name);

	if (ring_name_is_taken(ctx->name) || (c && c->is_declared))
		return cfg_error(ctx, 0, "sink named '%s' already exists.", ctx->name);
	if (!c)
		c = ring_conf_add(rings, ctx->name);
	if (!c)
		return cfg_nomem(ctx);
	c->is_declared = 1;
	c->where = cfg_arg_where(ctx, 0);
	ctx->obj = c;
	return 0;
}

/* The text may consist of several unquoted words; HAProxy takes the first one. */
static int
parse_ring_description(struct cfg_ctx *ctx)
{
	struct ring_conf *c = ctx->obj;
	struct sbuf text;
	int r;

	sbuf_init(&text, 0);
	for (int i = 0; i < ctx->argc; i++)
		sbuf_addf(&text, i ? " %s" : "%s", cfg_arg(ctx, i));
	mem_free(c->description);
	r = text.failed ? -1 : mem_copy_string(&c->description, text.p);
	sbuf_fini(&text);
	return r < 0 ? cfg_nomem(ctx) : 0;
}

/* The file belongs to the process: it is opened at the start. */
static int
parse_backing_file(struct cfg_ctx *ctx)
{
	const struct list *rings = &((struct proxies *)ctx->root)->log.rings;
	const char *path = cfg_arg(ctx, 0);
	struct ring_conf *c = ctx->obj;

	if (!*path)
		return cfg_error(ctx, 0, "'backing-file' expects <path>.");
	if (c->backing_file)
		return cfg_error(ctx, 0,
			"'backing-file' already specified for ring '%s' (was '%s').", c->name,
			c->backing_file);
	list_each(it, (struct list *)(uintptr_t)rings) {
		const struct ring_conf *other = list_entry(it, const struct ring_conf, link);

		if (other->backing_file && strcmp(other->backing_file, path) == 0)
			return cfg_error(ctx, 0,
				"'backing-file' : ring '%s' has this file already.", other->name);
	}
	c->backing_where = cfg_arg_where(ctx, 0);
	return cfg_arg_dup(ctx, 0, &c->backing_file);
}

static int
parse_ring_format(struct cfg_ctx *ctx)
{
	struct ring_conf *c = ctx->obj;
	int form = log_form_parse(cfg_arg(ctx, 0));

	if (form < 0)
		return cfg_error(ctx, 0, "unknown format '%s'.", cfg_arg(ctx, 0));
	c->ring.form = (enum log_form)form;
	return 0;
}

static int
parse_maxlen(struct cfg_ctx *ctx)
{
	struct ring_conf *c = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 1, LOG_LEN_MAX, &n) < 0)
		return -1;
	c->ring.maxlen = (unsigned int)n;
	return 0;
}

static int
parse_ring_size(struct cfg_ctx *ctx)
{
	struct ring_conf *c = ctx->obj;
	uint64_t n;

	/* A smaller one would have HAProxy's default instead, and be an error. */
	if (cfg_arg_size(ctx, 0, LOG_RING_DEFAULT_SIZE, LOG_RING_SIZE_MAX, &n) < 0)
		return -1;
	c->ring.size = (size_t)n;
	return 0;
}

static int
parse_ring_timeout(struct cfg_ctx *ctx)
{
	struct ring_conf *c = ctx->obj;

	return cfg_arg_timeout(ctx, 0, ctx->kw->arg ? &c->server_ms : &c->connect_ms);
}

#define KW(n, most, fn, a, syn, text, ...)                                           \
	{                                                                            \
		.name = n, .sections = CFG_RING, .min = 1, .max = most, .parse = fn, \
		.arg = a, .syntax = syn, .doc = text, __VA_ARGS__                    \
	}

static const struct cfg_kw kws[] = {
	KW("backing-file", 1, parse_backing_file, 0, "<path>",
		"The messages are also in this file, as lines, and stay there however the process "
		"ends. A previous file gets the suffix .bak. See 'Rings in files'.",
		.dflt = "none"),
	KW("description", CFG_ANY, parse_ring_description, 0, "<text>",
		"Text for 'show events'.",
		.dflt = "the ring's name"),
	KW("format", 1, parse_ring_format, 0, "<format>",
		"Format of the messages of this ring, as of 'log'. It replaces that of the "
		"'log' lines.",
		.dflt = "raw"),
	KW("maxlen", 1, parse_maxlen, 0, "<length>",
		"Longest message with its header; longer ones are truncated.",
		.dflt = "1024"),
	{ .name = "server",
		.dflt = "none",
		.sections = CFG_RING,
		.min = 2,
		.max = CFG_ANY,
		.parse = ring_server_cfg_parse,
		.syntax = "<name> <address>:<port> [log-proto legacy|octet-count] "
			  "[ssl [<option>...]]",
		.doc = "A syslog server that gets the messages of this ring over TCP or a unix "
		       "stream socket: each with a line feed (legacy, the default), or with its "
		       "length before it (octet-count). With ssl it gets them over TLS (RFC "
		       "5425, which asks for octet-count); then the options of TLS of other "
		       "servers are valid too, and sni takes a constant name: str(<name>). A "
		       "broken connection is opened again after 1 s, and after up to 30 s while "
		       "that fails. A server that is connected and does not read makes new "
		       "messages be dropped. While it is not connected the oldest messages are "
		       "overwritten. DroppedLogs counts both. What the kernel had taken when a "
		       "connection broke may be lost. When the process ends a server has 2 s for "
		       "the rest, more while it takes some of it, 10 s in all; what it does not "
		       "take is reported." },
	KW("size", 1, parse_ring_size, 0, "<size>",
		"Bytes of memory for messages, and of the file, at least 16384.",
		.dflt = "16384"),
	KW("timeout connect", 1, parse_ring_timeout, 0, "<time>",
		"Time for a connection to a server and its TLS handshake.",
		.dflt = "what the kernel allows, and 30 s for the handshake"),
	KW("timeout server", 1, parse_ring_timeout, 1, "<time>",
		"Time in which a server has to take some of the bytes that wait for it.",
		.dflt = "none"),
	{ 0 },
};

static const struct cfg_section sections[] = {
	{ .name = "ring",
		.bit = CFG_RING,
		.flags = CFG_SEC_NAMED,
		.begin = begin_ring,
		.doc = "The last messages of logs in memory: 'log ring@<name>' sends to it, 'show "
		       "events' of the stats socket shows them, and its servers get them over "
		       "TCP. The ring buf0 needs no section." },
	{ 0 },
};

const struct cfg_module ring_cfg_module = {
	.name = "ring",
	.kws = kws,
	.sections = sections,
};

/* --- targets of log lines --- */

static void
lead_to_ring(struct log_line *l, struct ring_conf *c)
{
	l->dest.kind = LOG_DEST_RING;
	l->dest.ring = &c->ring;
}

int
ring_cfg_name(struct cfg_ctx *ctx, const char *name, struct log_line *l)
{
	struct list *rings = &((struct proxies *)ctx->root)->log.rings;
	struct ring_conf *c = ring_conf_find(rings, name);

	if (!*name)
		return cfg_error(ctx, 0, "'log' : 'ring@' expects the name of a ring.");
	if (!c) {
		c = strcmp(name, "buf0") == 0 ? ring_conf_buf0(rings) : ring_conf_add(rings, name);
		if (!c)
			return cfg_nomem(ctx);
		c->where = cfg_arg_where(ctx, 0);
	}
	lead_to_ring(l, c);
	return 0;
}

/* Its number, as HAProxy counts them. */
static unsigned int
next_implicit(const struct list *rings)
{
	unsigned int n = 1;

	list_each(it, (struct list *)(uintptr_t)rings)
		n += list_entry(it, const struct ring_conf, link)->is_implicit != 0;
	return n;
}

static int
describe_implicit(struct ring_conf *c)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		"created from logserver declared into '%.400s' at line %u",
		c->where.file ? c->where.file->name : "?", c->where.line);
	return mem_copy_string(&c->description, text);
}

int
ring_cfg_implicit(struct cfg_ctx *ctx, const struct addr *to, struct log_line *l)
{
	struct list *rings = &((struct proxies *)ctx->root)->log.rings;
	struct ring_conf *c;
	struct ring_server *s;
	char name[32];

	(void)snprintf(name, sizeof(name), "ring#%u", next_implicit(rings));
	c = ring_conf_add(rings, name);
	s = c ? ring_conf_add_server(c, name) : NULL;
	if (!s)
		return cfg_nomem(ctx);
	c->is_declared = c->is_implicit = 1;
	c->where = cfg_arg_where(ctx, 0);
	c->connect_ms = IMPLICIT_CONNECT_MS;
	c->server_ms = IMPLICIT_SERVER_MS;
	c->ring.maxlen = l->max_len;
	c->ring.size = MAX(LOG_RING_DEFAULT_SIZE, l->max_len + LOG_RING_OVERHEAD);
	s->conf.addr = *to;
	lead_to_ring(l, c);
	return describe_implicit(c) < 0 ? cfg_nomem(ctx) : 0;
}
