/* The converter debug (manual 7.3.1): the sample as a line of a ring, of stdout or of stderr. The
 * line passes the worker's log sink, so that no worker waits for its reader. */
#include "proxy/sample/fetch.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "proxy/model/proxies.h"
#include "proxy/model/ring_conf.h"

/* 0, or -1: there is no such destination. */
static int
lead_to_fd(struct log_line *l, const char *name)
{
	if (strcmp(name, "stdout") == 0)
		l->dest.fd = STDOUT_FILENO;
	else if (strcmp(name, "stderr") == 0)
		l->dest.fd = STDERR_FILENO;
	else
		return -1;
	l->dest.kind = LOG_DEST_FD;
	l->form = LOG_FORM_RAW;
	return 0;
}

/* Opens the ring buf0: it is among the other rings, or made here. 0, or -1 without memory. */
static int
open_buf0(struct list *rings)
{
	struct ring_conf *c = ring_conf_buf0(rings);

	return c && log_ring_open(&c->ring) == 0 ? 0 : -1;
}

static int
check_debug(struct rule_args *a, void *root, const char **why)
{
	struct list *rings = &((struct proxies *)root)->log.rings;
	const char *name = a->arg[1].type == ARG_END ? "buf0" : a->arg[1].text.p;
	struct log_line *l;
	struct ring_conf *c;

	/* Rules of a defaults section are checked with each proxy. */
	if (a->arg[1].ref)
		return 0;
	l = mem_zalloc(sizeof(*l));
	a->bad = 1;
	a->arg[1].ref = l;
	*why = err_text(-ERR_NOMEM);
	if (!l || (strcmp(name, "buf0") == 0 && open_buf0(rings) < 0))
		return -1;
	log_line_init(l);
	if (lead_to_fd(l, name) == 0)
		return 0;
	c = ring_conf_find(rings, name);
	*why = "the destination is stdout, stderr, buf0 or the name of a section 'ring'";
	if (!c)
		return -1;
	l->dest.kind = LOG_DEST_RING;
	l->dest.ring = &c->ring;
	l->form = c->ring.form;
	return 0;
}

static void
free_debug(struct rule_args *a)
{
	mem_free(a->arg[1].ref);
	a->arg[1].ref = NULL;
}

/* In HAProxy's form, of the most important level as there. */
static void
show_sample(struct sample_ctx *cx, const struct log_line *to, struct str prefix, struct sample *s)
{
	struct log_line l = *to;
	const char *type = sample_type_word(s->type);
	struct log_message m = { 0 };
	struct sbuf b;

	sbuf_init(&b, 0);
	sbuf_adds(&b, "[debug] ");
	if (prefix.len)
		sbuf_add(&b, prefix.p, prefix.len);
	sbuf_addf(&b, ": type=%s ", type);
	if (sample_cast(s, SAMPLE_STR, cx->arena)) {
		sbuf_adds(&b, "(undisplayable)");
	} else {
		sbuf_addc(&b, '<');
		sample_add_printable(&b, s->u.str, LOG_LEN_MAX);
		sbuf_addc(&b, '>');
	}
	m.text = (struct str){ b.p, b.len };
	l.max_len = (unsigned int)MIN(b.len, LOG_LEN_MAX);
	if (!b.failed)
		log_line_send(cx->sink, &l, LOG_LEVEL_EMERG, &m);
	sbuf_fini(&b);
}

static int
conv_debug(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	size_t mark = arena_mark(cx->arena);
	struct sample shown = *s;

	if (cx->sink && a->arg[1].ref)
		show_sample(cx, a->arg[1].ref, a->arg[0].text, &shown);
	arena_release(cx->arena, mark);
	return 1;
}

const struct rule_conv debug_convs[] = {
	{ .name = "debug",
		.arg = { ARG_STR, ARG_STR },
		.in = SAMPLE_ANY,
		.out = SAMPLE_ANY,
		.conv = conv_debug,
		.check = check_debug,
		.free = free_debug,
		.syntax = "[<prefix>[,<destination>]]",
		.doc = "Shows the sample, which it does not change, with the prefix before it. The "
			"destination is stdout, stderr, or a ring that 'show events' prints; the "
			"default is the ring buf0." },
	{ .name = NULL },
};
