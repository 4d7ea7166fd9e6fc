/* Sends alerts by email: one over each connection, one connection of each mailer. On the first
 * worker; nothing here waits. */
#include "proxy/check/mailer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wall.h"
#include "event/profile.h"
#include "event/timer.h"
#include "net/conn.h"
#include "net/outbound.h"
#include "net/smtp.h"
#include "proxy/model/mailers.h"
#include "proxy/model/proxies.h"
#include "proxy/model/server.h"

/* Times that a connection is read in one turn. */
#define MAILER_ROUNDS 8
#define MAILER_READ 512
#define SUBJECT "[HAProxy Alert] "

struct alert {
	struct list link;        /* in mailer_run.queue */
	uint64_t expires_ms;
	struct smtp_mail mail;
	char data[];
};

enum mailer_state {
	MAILER_IDLE,
	MAILER_PAUSING,
	MAILER_CONNECTING,
	MAILER_TALKING
};

struct mailer_run {
	struct engine *e;
	const struct mailers_conf *of;
	const struct mailer_conf *conf;
	const char *node;
	enum mailer_state state;
	struct list queue;       /* struct alert; the first one is being sent */
	unsigned int n;
	struct conn conn;
	struct smtp smtp;
	struct timer timer;      /* of the pause or the attempt */
	struct sbuf out;
	size_t out_at;
	uint32_t pause_ms;       /* the next one */
	struct wall wall;
	int has_failed;          /* which was reported; since then nothing was sent */
	unsigned int dropped;    /* since it was last reported */
	uint64_t got;            /* bytes of replies, of all connections */
};

static void open_mailer(struct mailer_run *m);

/* --- messages -------------------------------------------------------------------------------- */

static void report_mailer(struct mailer_run *m, enum log_level level, const char *fmt, ...)
	fmt_printf(3, 4);

static void
report_mailer(struct mailer_run *m, enum log_level level, const char *fmt, ...)
{
	const struct engine *e = m->e;
	char what[256], text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	(void)snprintf(text, sizeof(text), "mailers '%s': mailer '%s': %s", m->of->name,
		m->conf->name, what);
	if (e->hooks.on_notice)
		e->hooks.on_notice(m->e, 0, text);
	log_msg(e->log, level, "%s", text);
}

/* The first failure since an email was taken. */
static void
report_unsent(struct mailer_run *m, const char *what, const char *why)
{
	if (m->has_failed)
		return;
	m->has_failed = 1;
	report_mailer(m, LOG_LEVEL_WARNING, "%s: %s.", what, why);
}

static void
report_recovery(struct mailer_run *m)
{
	if (m->has_failed || m->dropped)
		report_mailer(m, LOG_LEVEL_NOTICE, "an alert was sent. Dropped before: %u.",
			m->dropped);
	m->has_failed = 0;
	m->dropped = 0;
}

/* --- the queue ------------------------------------------------------------------------------- */

static void
free_alert(struct mailer_run *m, struct alert *a)
{
	list_remove(&a->link);
	m->n--;
	mem_free(a);
}

static struct alert *
first_alert(const struct mailer_run *m)
{
	return list_is_empty(&m->queue) ? NULL : list_first(&m->queue, struct alert, link);
}

static void
drop_expired(struct mailer_run *m)
{
	uint64_t now_ms = loop_now_ms(m->e->loop);

	list_each_safe(it, &m->queue) {
		struct alert *a = list_entry(it, struct alert, link);

		if (a->expires_ms > now_ms)
			continue;
		free_alert(m, a);
		m->dropped++;
	}
}

/* Moves alerts to the recipient of the first one behind all others; their order stays. */
static void
yield_to_others(struct mailer_run *m)
{
	const char *to = first_alert(m)->mail.to;
	struct list later;

	list_init(&later);
	list_each_safe(it, &m->queue)
		if (strcmp(list_entry(it, struct alert, link)->mail.to, to) == 0) {
			list_remove(it);
			list_append(&later, it);
		}
	list_move_all(&later, &m->queue);
}

/* --- the connection -------------------------------------------------------------------------- */

/* Without memory for a timer nothing would end it: false. */
static int
set_mailer_timer(struct mailer_run *m, uint32_t ms)
{
	uint64_t at = timer_key_after(loop_now_ms(m->e->loop), ms);

	return timer_set(loop_timers(m->e->loop), &m->timer, at) >= 0;
}

static void
close_mailer(struct mailer_run *m)
{
	timer_stop(loop_timers(m->e->loop), &m->timer);
	conn_close_late(&m->conn);
	sbuf_reset(&m->out);
	m->out_at = 0;
	m->state = MAILER_IDLE;
}

/* The alert is sent again later, after a pause; without memory for that, with the next alert. */
static void
retry_alert(struct mailer_run *m, const char *why)
{
	close_mailer(m);
	report_unsent(m, "an alert cannot be sent, tacit tries again", why);
	if (set_mailer_timer(m, m->pause_ms))
		m->state = MAILER_PAUSING;
	m->pause_ms = MIN(m->pause_ms * 2, (uint32_t)MAILER_RETRY_MAX_MS);
}

/* The alert is not sent again, but what waits behind it is sent. */
static void
give_up_alert(struct mailer_run *m, const char *why)
{
	close_mailer(m);
	free_alert(m, first_alert(m));
	m->dropped++;
	report_unsent(m, "an alert is dropped", why);
	open_mailer(m);
}

/* The connection has ended, or time is up. */
static void
end_attempt(struct mailer_run *m, const char *why)
{
	if (m->state == MAILER_TALKING && m->smtp.step >= SMTP_QUIT) {
		close_mailer(m);
		open_mailer(m);
	} else if (m->state == MAILER_TALKING && m->smtp.step == SMTP_BODY && !m->out.len &&
		!m->out.failed) {
		give_up_alert(m, "the mail was sent, and no reply has come");
	} else {
		retry_alert(m, why);
	}
}

/* Ends a dialogue that the server has refused for good. If the server has not seen the email yet,
 * it is tried again later: otherwise all emails that wait would be given up at once. */
static void
end_refused(struct mailer_run *m)
{
	const char *why = m->smtp.n_reply ? m->smtp.reply_text : "the server does not speak SMTP";

	if (m->smtp.step < SMTP_FROM || (m->smtp.step == SMTP_FROM && m->out.len))
		retry_alert(m, why);
	else
		give_up_alert(m, why);
}

/* A reply has come, or a part of one. 1, or 0: the connection has been closed. */
static int
apply_reply(struct mailer_run *m, enum smtp_result r)
{
	switch (r) {
	case SMTP_TAKEN:
		free_alert(m, first_alert(m));
		m->pause_ms = MAILER_RETRY_MS;
		report_recovery(m);
		return 1;
	case SMTP_LATER:
		if (m->smtp.step >= SMTP_FROM)
			yield_to_others(m);
		retry_alert(m, m->smtp.reply_text);
		return 0;
	case SMTP_REFUSED:
	case SMTP_WRONG:
		end_refused(m);
		return 0;
	case SMTP_MORE:
		break;
	}
	if (m->smtp.step < SMTP_OVER)
		return 1;
	end_attempt(m, "");
	return 0;
}

/* 1: something came, 0: nothing did, -1: the connection has been closed. */
static int
read_replies(struct mailer_run *m)
{
	char in[MAILER_READ];
	size_t got;

	if (!conn_is_ready(&m->conn, DIR_R))
		return 0;
	switch (conn_recv(&m->conn, in, sizeof(in), &got)) {
	case IO_OK:
		m->got += got;
		return apply_reply(m, smtp_take(&m->smtp, in, got)) ? 1 : -1;
	case IO_AGAIN:
		return 0;
	case IO_EOF:
		end_attempt(m, "the server has closed the connection");
		return -1;
	case IO_ERR:
		break;
	}
	end_attempt(m, err_text(-m->conn.err));
	return -1;
}

/* 1, or 0: the connection has been closed. */
static int
send_commands(struct mailer_run *m)
{
	if (m->out.failed)
		end_attempt(m, err_text(-ERR_NOMEM));
	else if (m->out.len && conn_send_sbuf(&m->conn, &m->out, &m->out_at) == IO_ERR)
		end_attempt(m, err_text(-m->conn.err));
	else
		return 1;
	return 0;
}

static void
pump_mailer(struct mailer_run *m)
{
	int got = 1;

	for (int i = 0; i < MAILER_ROUNDS && got > 0; i++) {
		got = read_replies(m);
		if (got >= 0 && !send_commands(m))
			return;
	}
	if (got >= 0)
		conn_want(&m->conn, m->out.len ? EV_R | EV_W : EV_R);
}

static void
on_mailer_io(void *owner, int fd, uint32_t ev)
{
	struct mailer_run *m = owner;
	int err = 0;

	(void)fd;
	if (ev & EV_SPIN)
		err = ELOOP;
	else if (m->state == MAILER_CONNECTING)
		err = conn_take_error(&m->conn);
	if (err) {
		end_attempt(m, err_text(-err));
		return;
	}
	if (m->state == MAILER_CONNECTING && !(ev & EV_W))
		return;
	m->state = MAILER_TALKING;
	pump_mailer(m);
}
PROFILE_NAME(on_mailer_io, mailer_io)

static int
connect_mailer(struct mailer_run *m)
{
	struct outbound o = { .to = &m->conf->addr, .options = OUTBOUND_NAGLE };
	int r;

	conn_init(&m->conn);
	r = outbound_open(&m->conn, m->e->loop, &o, on_mailer_io, m);
	if (r >= 0)
		outbound_await(&m->conn);
	return r;
}

/* Begins to send the first alert, if there is one. */
static void
open_mailer(struct mailer_run *m)
{
	const struct alert *a;
	int r;

	drop_expired(m);
	a = first_alert(m);
	if (!a)
		return;
	smtp_begin(&m->smtp, &a->mail, &m->out);
	r = connect_mailer(m);
	if (r < 0)
		retry_alert(m, err_text(r));
	else if (!set_mailer_timer(m, m->of->timeout_ms))
		retry_alert(m, err_text(-ERR_NOMEM));
	else
		m->state = MAILER_CONNECTING;
}

static void
on_mailer_timer(struct timer *t)
{
	struct mailer_run *m = container_of(t, struct mailer_run, timer);

	if (m->state == MAILER_PAUSING) {
		m->state = MAILER_IDLE;
		open_mailer(m);
	} else {
		end_attempt(m, "'timeout mail' has expired");
	}
}
PROFILE_NAME(on_mailer_timer, mailer_timer)

/* --- alerts ---------------------------------------------------------------------------------- */

/* NULL without memory. */
static struct alert *
make_alert(struct mailer_run *m, const struct email_conf *c, struct str text)
{
	const struct smtp_mail mail = { .from = c->text[EMAIL_FROM], .to = c->text[EMAIL_TO],
		.helo = c->text[EMAIL_HOST] ? c->text[EMAIL_HOST] : m->node };
	int64_t now_s = (int64_t)(loop_wall_ns(m->e->loop) / 1000000000u);
	struct alert *a = NULL;
	struct sbuf b;

	sbuf_init(&b, 0);
	smtp_put_mail(&b, &mail, wall_local(&m->wall, now_s), SUBJECT, text);
	if (!b.failed)
		a = mem_zalloc(sizeof(*a) + b.len);
	if (a) {
		memcpy(a->data, b.p, b.len);
		a->mail = mail;
		a->mail.data = (struct str){ a->data, b.len };
		a->expires_ms = loop_now_ms(m->e->loop) + MAILER_EXPIRES_MS;
	}
	sbuf_fini(&b);
	return a;
}

static void
queue_alert(struct mailer_run *m, const struct email_conf *c, struct str text)
{
	struct alert *a = m->n < MAILER_QUEUE_MAX ? make_alert(m, c, text) : NULL;

	if (!a) {
		m->dropped++;
		report_unsent(m, "an alert is dropped",
			m->n < MAILER_QUEUE_MAX ? err_text(-ERR_NOMEM) : "too many wait");
		return;
	}
	list_append(&m->queue, &a->link);
	m->n++;
	if (m->state == MAILER_IDLE)
		open_mailer(m);
}

/* engine.hooks.on_alert. The log's message ends with a full stop, the alert does not. A process
 * that ends sends none: after a reload another one checks the same servers. */
static void
send_alert(struct engine *e, const struct server *s, enum log_level level, const char *text)
{
	const struct email_conf *c = s->be->email;
	struct str what = str_of(text);

	if (!c || !c->to || level > c->level || e->stop_ms)
		return;
	if (what.len && what.p[what.len - 1] == '.')
		what.len--;
	list_each(it, &c->to->mailers) {
		struct mailer_run *m = list_entry(it, struct mailer_conf, link)->run;

		if (m)
			queue_alert(m, c, what);
	}
}

/* --- the process ----------------------------------------------------------------------------- */

static int
start_mailer(struct engine *e, const struct mailers_conf *of, struct mailer_conf *conf,
	const char *node)
{
	struct mailer_run *m = mem_zalloc(sizeof(*m));

	if (!m)
		return -ERR_NOMEM;
	m->e = e;
	m->of = of;
	m->conf = conf;
	m->node = smtp_word_is_valid(node) ? node : "localhost";
	m->pause_ms = MAILER_RETRY_MS;
	list_init(&m->queue);
	conn_init(&m->conn);
	sbuf_init(&m->out, 0);
	timer_init(&m->timer, on_mailer_timer);
	conf->run = m;
	return 0;
}

int
mailers_start(struct engine *e, struct proxies *ps, const char *node)
{
	list_each(it, &ps->mailers) {
		struct mailers_conf *c = list_entry(it, struct mailers_conf, link);

		if (!c->is_used)
			continue;
		list_each(mt, &c->mailers)
			if (start_mailer(e, c, list_entry(mt, struct mailer_conf, link), node) < 0)
				return -ERR_NOMEM;
	}
	return 0;
}

void
mailers_begin(struct engine *e, const struct proxies *ps)
{
	if (mailers_descriptors(ps))
		e->hooks.on_alert = send_alert;
}

static int
mailer_is_busy(const struct mailer_run *m)
{
	return m && m->n && m->state >= MAILER_CONNECTING;
}

int
mailers_are_busy(const struct proxies *ps)
{
	list_each(it, (struct list *)(uintptr_t)&ps->mailers)
		list_each(mt, &list_entry(it, struct mailers_conf, link)->mailers)
			if (mailer_is_busy(list_entry(mt, struct mailer_conf, link)->run))
				return 1;
	return 0;
}

uint64_t
mailers_received(const struct proxies *ps)
{
	uint64_t n = 0;

	list_each(it, (struct list *)(uintptr_t)&ps->mailers)
		list_each(mt, &list_entry(it, struct mailers_conf, link)->mailers) {
			const struct mailer_run *m = list_entry(mt, struct mailer_conf, link)->run;

			n += m ? m->got : 0;
		}
	return n;
}

static void
stop_mailer(struct mailer_run *m)
{
	close_mailer(m);
	m->dropped += m->n;
	if (m->dropped)
		report_mailer(m, LOG_LEVEL_WARNING, "alerts that were not sent: %u.", m->dropped);
	list_each_safe(it, &m->queue)
		free_alert(m, list_entry(it, struct alert, link));
	sbuf_fini(&m->out);
	mem_free(m);
}

void
mailers_stop(struct engine *e, struct proxies *ps)
{
	e->hooks.on_alert = NULL;
	list_each(it, &ps->mailers)
		list_each(mt, &list_entry(it, struct mailers_conf, link)->mailers) {
			struct mailer_conf *c = list_entry(mt, struct mailer_conf, link);

			if (c->run)
				stop_mailer(c->run);
			c->run = NULL;
		}
}

unsigned int
mailers_descriptors(const struct proxies *ps)
{
	unsigned int n = 0;

	list_each(it, (struct list *)(uintptr_t)&ps->mailers) {
		const struct mailers_conf *c = list_entry(it, const struct mailers_conf, link);

		list_each(mt, (struct list *)(uintptr_t)&c->mailers)
			n += (unsigned int)c->is_used;
	}
	return n;
}
