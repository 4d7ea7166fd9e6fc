#include "proxy/log_format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/log_alias.h"
#include "proxy/session.h"

struct node {
	log_put_fn *put;      /* NULL: text */
	unsigned int flags;
	const char *text;     /* into log_format.text */
	size_t len;
};

struct log_format {
	enum log_stage stage;
	unsigned int n;
	char *text;           /* what stands between the variables, all in one */
	struct node node[];
};

struct compiler {
	const char *p;        /* what is left */
	const char *start;
	struct log_format *f;
	unsigned int room;    /* nodes in f */
	char *text_end;       /* of what f->text holds */
	unsigned int flags;   /* set by %{...}o for all that follow */
	struct log_format_err *why;
};

static int fail(struct compiler *c, int reason, const char *fmt, ...) fmt_printf(3, 4);

static int
fail(struct compiler *c, int reason, const char *fmt, ...)
{
	va_list ap;

	c->why->at = (size_t)(c->p - c->start);
	va_start(ap, fmt);
	(void)vsnprintf(c->why->text, sizeof(c->why->text), fmt, ap);
	va_end(ap);
	return -reason;
}

/* NULL after a failure that was reported. */
static struct node *
add_node(struct compiler *c)
{
	if (c->f->n < c->room)
		return &c->f->node[c->f->n++];
	(void)fail(c, ERR_FULL, "more than %u parts", c->room);
	return NULL;
}

/* Text up to the next variable; blanks in a row are one, as they only separate words. */
static int
compile_text(struct compiler *c)
{
	struct node *nd = add_node(c);

	if (!nd)
		return -ERR_FULL;
	nd->text = c->text_end;
	while (*c->p && (*c->p != '%' || c->p[1] == '%')) {
		if (*c->p == '%')
			c->p++;
		if (*c->p != ' ' || nd->len == 0 || nd->text[nd->len - 1] != ' ') {
			*c->text_end++ = *c->p;
			nd->len++;
		}
		c->p++;
	}
	return 0;
}

static unsigned int
flag_bit(char name)
{
	switch (name) {
	case 'Q':
		return LOG_FLAG_QUOTE;
	case 'X':
		return LOG_FLAG_HEX;
	case 'E':
		return LOG_FLAG_ESCAPE;
	default:
		return 0;
	}
}

/* "{+Q,-X}" */
static int
compile_flags(struct compiler *c, unsigned int *flags)
{
	for (c->p++; *c->p != '}'; c->p++) {
		char sign = *c->p;
		unsigned int bit;

		if (!sign)
			return fail(c, ERR_SYNTAX, "'}' is missing");
		if (sign == ',')
			continue;
		if (sign != '+' && sign != '-')
			return fail(c, ERR_SYNTAX, "'+' or '-' is expected before a flag");
		bit = flag_bit(*++c->p);
		if (!bit)
			return fail(c, ERR_UNKNOWN, "unknown flag; there are Q, X and E");
		*flags = sign == '+' ? *flags | bit : *flags & ~bit;
	}
	c->p++;
	return 0;
}

static int
is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int
compile_alias(struct compiler *c, size_t len, unsigned int flags)
{
	const struct log_alias *a = log_alias_find(c->p, len);
	struct node *nd;

	if (!a)
		return fail(c, ERR_UNKNOWN,
			    "no variable is called '%%%.*s'; a '%%' itself is written as '%%%%'",
			    (int)MIN(len, (size_t)32), c->p);
	if (!a->put)
		return fail(c, ERR_UNSUPPORTED, "variable '%%%s' %s", a->name, a->why);
	nd = add_node(c);
	if (!nd)
		return -ERR_FULL;
	nd->put = a->put;
	nd->flags = flags;
	c->f->stage = MAX(c->f->stage, a->stage);
	return 0;
}

static int
compile_variable(struct compiler *c)
{
	unsigned int flags = c->flags;
	size_t len = 0;
	int r = 0;

	c->p++;
	if (*c->p == '{')
		r = compile_flags(c, &flags);
	if (r < 0)
		return r;
	if (*c->p == '[')
		return fail(c, ERR_UNSUPPORTED, "expressions '%%[...]' are not supported");
	while (is_name_char(c->p[len]))
		len++;
	if (len == 0)
		return fail(c, ERR_SYNTAX, "the name of a variable is missing after '%%'");
	if (len == 1 && *c->p == 'o')
		c->flags = flags;
	else
		r = compile_alias(c, len, flags);
	c->p += len;
	return r;
}

int
log_format_compile(const char *text, struct log_format **out, struct log_format_err *why)
{
	struct compiler c = { .p = text, .start = text, .why = why };
	size_t len = strlen(text);
	int r = 0;

	*out = NULL;
	/* A node takes at least one byte of the text. */
	c.room = (unsigned int)MIN(len, (size_t)LOG_FORMAT_NODES_MAX);
	c.f = mem_zalloc(sizeof(*c.f) + c.room * sizeof(c.f->node[0]));
	if (!c.f)
		return fail(&c, ERR_NOMEM, "out of memory");
	c.f->text = c.text_end = mem_alloc(len + 1);
	if (!c.f->text)
		r = fail(&c, ERR_NOMEM, "out of memory");
	while (r == 0 && *c.p)
		r = *c.p == '%' && c.p[1] != '%' ? compile_variable(&c) : compile_text(&c);
	if (r < 0)
		log_format_free(&c.f);
	*out = c.f;
	return r;
}

void
log_format_free(struct log_format **f)
{
	if (!*f)
		return;
	mem_free((*f)->text);
	mem_free(*f);
	*f = NULL;
}

enum log_stage
log_format_stage(const struct log_format *f)
{
	return f->stage;
}

/* A blank separates: there is none at the start, and not two where %o, which writes nothing,
 * stands. */
static void
add_text(struct sbuf *out, size_t start, const struct node *nd)
{
	size_t skip = nd->len > 0 && nd->text[0] == ' ' &&
		      (out->len == start || out->p[out->len - 1] == ' ');

	sbuf_add(out, nd->text + skip, nd->len - skip);
}

void
log_format_render(const struct log_format *f, const struct session *s, const struct log_context *cx,
		  struct sbuf *out)
{
	struct log_render r = { .s = s, .cx = cx, .out = out };
	size_t start = out->len;

	for (unsigned int i = 0; i < f->n; i++) {
		const struct node *nd = &f->node[i];

		if (!nd->put) {
			add_text(out, start, nd);
			continue;
		}
		r.flags = nd->flags;
		nd->put(&r);
	}
}

static void
put_alias(struct log_render *r, const char *name)
{
	log_alias_find(name, strlen(name))->put(r);
}

void
log_format_render_default(const struct session *s, const struct log_context *cx, struct sbuf *out)
{
	struct log_render r = { .s = s, .cx = cx, .out = out };

	sbuf_adds(out, "Connect ");
	if (addr_family(&s->peer) != AF_UNIX) {
		sbuf_adds(out, "from ");
		put_alias(&r, "ci");
		sbuf_addc(out, ':');
		put_alias(&r, "cp");
		sbuf_addc(out, ' ');
	}
	sbuf_adds(out, "to ");
	put_alias(&r, "fi");
	sbuf_addc(out, ':');
	put_alias(&r, "fp");
	sbuf_adds(out, " (");
	put_alias(&r, "f");
	sbuf_adds(out, "/TCP)");
}
