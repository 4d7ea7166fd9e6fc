/* Variables in addresses. HAProxy expands them outside of quotes too, which its manual does not
 * mention: files of platforms that hand a port out say `bind *:$PORT`. Main thread, while the
 * configuration is read. */
#include "cfg/arg_address.h"

#include <string.h>

#include "cfg/ctx.h"
#include "cfg/env.h"
#include "cfg/lexer.h"

struct expansion {
	const struct cfg_env *env;
	char *buf;
	size_t len;
	int is_long;
};

static void
expand_text(struct expansion *e, const char *s, size_t n)
{
	if (n >= CFG_ADDRESS_MAX - e->len) {
		e->is_long = 1;
		return;
	}
	memcpy(e->buf + e->len, s, n);
	e->len += n;
	e->buf[e->len] = '\0';
}

static int
is_name_char(char c, int first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
		(!first && c >= '0' && c <= '9');
}

/* s is behind the dollar. Returns the bytes that were used; 0: this is no variable. */
static size_t
expand_name(struct expansion *e, const char *s)
{
	int braces = *s == '{';
	const char *from = s + braces, *value;
	char name[CFG_VAR_MAX + 1];
	size_t n = 0;

	while (is_name_char(from[n], n == 0))
		n++;
	if (n == 0 || n > CFG_VAR_MAX || (braces && from[n] != '}'))
		return 0;
	memcpy(name, from, n);
	name[n] = '\0';
	value = cfg_env_get(e->env, name);
	if (value)
		expand_text(e, value, strlen(value));
	return n + 2 * (size_t)braces;
}

const char *
cfg_arg_address(struct cfg_ctx *ctx, int i, char buf[CFG_ADDRESS_MAX])
{
	const char *s = cfg_arg(ctx, i);
	struct expansion e = { .env = ctx->env, .buf = buf };

	if (!ctx->env || !strchr(s, '$'))
		return s;
	buf[0] = '\0';
	while (*s) {
		size_t n = *s == '$' ? expand_name(&e, s + 1) : 0;

		if (n == 0)
			expand_text(&e, s, 1);
		s += n + 1;
	}
	if (!e.is_long)
		return buf;
	cfg_error(ctx, i,
		"'%s' : the address is too long with its variables; the limit is %d bytes.",
		cfg_kw_name(ctx), CFG_ADDRESS_MAX - 1);
	return NULL;
}
