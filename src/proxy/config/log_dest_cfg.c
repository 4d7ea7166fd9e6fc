/* The target of a `log` line. Main thread, while the configuration is read. */
#include "proxy/config/log_dest_cfg.h"

#include <string.h>

#include "base/log.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "net/addr.h"
#include "proxy/config/ring_cfg.h"

#define FD_MAX 1048576 /* the kernel's maximum per process */

/* If s starts with prefix, sets *rest to the text after it. */
static int
skip_prefix(const char *s, const char *prefix, const char **rest)
{
	size_t n = strlen(prefix);

	if (strncmp(s, prefix, n) != 0)
		return 0;
	*rest = s + n;
	return 1;
}

/* stdout, stderr, fd@N: 1 if it was one of them. */
static int
parse_log_fd(struct cfg_ctx *ctx, const char *s, struct log_dest *out, int *bad)
{
	const char *number;
	int64_t fd;

	if (strcmp(s, "stdout") == 0)
		fd = 1;
	else if (strcmp(s, "stderr") == 0)
		fd = 2;
	else if (!skip_prefix(s, "fd@", &number))
		return 0;
	else if (cfg_value_int(number, 0, FD_MAX, &fd, NULL) < 0) {
		*bad = cfg_error(
			ctx, 0, "'fd@' expects a number (0..%d), not '%s'.", FD_MAX, number);
		return 1;
	}
	out->kind = LOG_DEST_FD;
	out->fd = (int)fd;
	return 1;
}

static const char *
without_prefix(const char *s)
{
	static const char *const dropped[] = { "udp@", "udp4@", "udp6@", "uxdg@", "dgram+",
		"uxst@" };

	for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
		if (skip_prefix(s, dropped[i], &s))
			break;
	return s;
}

static int
is_stream(const char *s)
{
	static const char *const streams[] = { "tcp@", "tcp4@", "tcp6@", "uxst@", "stream+" };
	const char *rest;

	for (size_t i = 0; i < ARRAY_LEN(streams); i++)
		if (skip_prefix(s, streams[i], &rest))
			return 1;
	return 0;
}

int
log_dest_parse(struct cfg_ctx *ctx, struct log_line *l)
{
	struct log_dest *out = &l->dest;
	char buf[CFG_ADDRESS_MAX];
	const char *s = cfg_arg_address(ctx, 0, buf), *why = NULL, *name;
	struct addr_spec spec;
	int bad = 0;

	if (!s)
		return -1;
	if (parse_log_fd(ctx, s, out, &bad))
		return bad;
	if (skip_prefix(s, "ring@", &name))
		return ring_cfg_name(ctx, name, l);
	if (addr_parse(without_prefix(s), ADDR_ALLOW_UNIX | ADDR_ALLOW_NAME, &spec, &why) < 0)
		return cfg_error(ctx, 0, "'%s': %s", s, why);
	if (spec.kind == ADDR_INET && addr_port(&spec.addr) == 0)
		addr_set_port(&spec.addr, LOG_PORT);
	if (is_stream(s))
		return ring_cfg_implicit(ctx, &spec.addr, l);
	out->kind = LOG_DEST_SOCKET;
	out->len = spec.addr.len;
	memcpy(&out->u, &spec.addr.u, MIN(sizeof(out->u), sizeof(spec.addr.u)));
	return 0;
}
