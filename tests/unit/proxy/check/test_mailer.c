/*
 * Mailers over the fake kernel: SMTP servers that are good, slow, dead, busy or wrong; then each of
 * these with its k-th system call failing, for all k and each way that call can fail, and with its
 * k-th allocation failing. An alert arrives once or, when a failure has a part in it, not at all;
 * none arrives twice, nothing leaks, and alerts that follow the failures arrive.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/poller.h"
#include "fake/kernel.h"
#include "net/smtp.h"
#include "proxy/check/mailer.h"
#include "proxy/model/mailers.h"
#include "proxy/model/proxies.h"
#include "proxy/model/server.h"
#include "sim/faults.h"
#include "unit/test.h"

#define PORT 25
#define ALERTS 3        /* of the scenario; one more follows the failures */
#define CONNS_MAX 64
#define TALK_MAX 4096
#define PLAYED (20 * FAKE_SEC)
#define AFTER (700 * FAKE_SEC)
#define TURNS_MAX 20000
#define ERRORS_MAX 8
#define AGAIN 3
#define REPORTS_MAX 5

/* Tricks of the server in place of one of its replies, over the first connections. */
enum trick {
	GOOD,
	PIECES,   /* a byte now, the rest 5 ms later */
	BUSY,     /* 4xx */
	REFUSES,  /* 5xx */
	NONSENSE,
	EARLY,    /* this reply and the next one at once */
	ENDLESS,  /* a reply that never ends */
	CLOSES,
	RESETS,
	SILENT,
	DEAD,     /* the connection is refused */
	FAR_AWAY  /* nothing comes back */
};

struct scenario {
	const char *name;
	enum trick trick;
	unsigned int step;     /* of which reply */
	unsigned int conns;    /* of which connections: the first ones */
	unsigned int arrive;   /* alerts of the scenario that arrive when nothing fails */
	unsigned int one_way;  /* ms */
};

static const struct scenario scenarios[] = {
	{ "good", GOOD, 0, 0, 3, 0 },
	{ "far", GOOD, 0, 0, 3, 40 },
	{ "greeting in pieces", PIECES, SMTP_GREETING, 9, 3, 0 },
	{ "last reply in pieces", PIECES, SMTP_BODY, 9, 3, 7 },
	{ "busy", BUSY, SMTP_GREETING, 2, 3, 0 },
	{ "busy for the recipient", BUSY, SMTP_TO, 1, 3, 7 },
	{ "busy with the mail", BUSY, SMTP_BODY, 1, 3, 0 },
	{ "refuses the client", REFUSES, SMTP_GREETING, 2, 3, 0 },
	{ "refuses HELO", REFUSES, SMTP_HELO, 1, 3, 7 },
	{ "refuses the sender", REFUSES, SMTP_FROM, 1, 2, 0 },
	{ "refuses the mail", REFUSES, SMTP_BODY, 2, 1, 7 },
	{ "refuses QUIT", REFUSES, SMTP_QUIT, 9, 3, 0 },
	{ "nonsense", NONSENSE, SMTP_GREETING, 1, 3, 0 },
	{ "nonsense for the mail", NONSENSE, SMTP_FROM, 1, 2, 0 },
	{ "early", EARLY, SMTP_GREETING, 1, 3, 0 },
	{ "early for MAIL", EARLY, SMTP_HELO, 1, 3, 0 },
	{ "early for RCPT", EARLY, SMTP_FROM, 1, 2, 0 },
	{ "endless", ENDLESS, SMTP_DATA, 1, 2, 0 },
	{ "closes", CLOSES, SMTP_GREETING, 1, 3, 0 },
	{ "closes instead of DATA", CLOSES, SMTP_DATA, 2, 3, 7 },
	{ "closes with the mail", CLOSES, SMTP_BODY, 1, 2, 0 },
	{ "closes after the mail", CLOSES, SMTP_QUIT, 9, 3, 0 },
	{ "resets", RESETS, SMTP_TO, 1, 3, 0 },
	{ "resets with the mail", RESETS, SMTP_BODY, 1, 2, 7 },
	{ "silent", SILENT, SMTP_GREETING, 1, 3, 0 },
	{ "silent with the mail", SILENT, SMTP_BODY, 1, 2, 0 },
	{ "silent after the mail", SILENT, SMTP_QUIT, 2, 3, 0 },
	{ "dead", DEAD, 0, 2, 3, 7 },
	{ "far away", FAR_AWAY, 0, 1, 3, 7 },
};

static const char *const good_reply[] = { "220 hi\r\n", "250-x\r\n250 y\r\n", "250 ok\r\n",
	"250 ok\r\n", "354 go\r\n", "250 queued\r\n", "221 bye\r\n" };

struct mail_conn {
	struct fake_sock *s;
	unsigned int step;       /* the next reply */
	int has_trick, is_closed;
	int is_for_other;        /* not for the recipient of `busy_for` */
	int was_taken;           /* the whole email came and got a good reply, or none */
	uint64_t n_replied;      /* bytes of replies */
	size_t n;
	char got[TALK_MAX];
};

static struct world {
	const struct scenario *sc;
	struct fake *k;
	struct sys sys;
	struct loop *loop;
	struct engine e;
	struct proxies ps;
	struct mailers_conf section;
	struct mailer_conf mailer;
	struct email_conf email;
	struct proxy px;
	struct server srv;
	struct fake_sock *origin;
	struct mail_conn conn[CONNS_MAX];
	unsigned int n_conns, n_opened, n_sent;
	unsigned int arrived[ALERTS + 1];
	const char *busy_for;    /* the only recipient that tricks are for, NULL: all */
	const char *helo;
	char order[32];          /* the numbers of alerts as they arrive */
	char why[300];
} w;

static void
fault(const char *what, unsigned int n)
{
	if (!w.why[0])
		snprintf(w.why, sizeof(w.why), "%s (%u)", what, n);
}

/* --- the SMTP server --- */

static void
send_text(struct mail_conn *c, const char *text, size_t n)
{
	if (c->is_closed)
		return;
	(void)fake_peer_send(c->s, text, n);
	c->n_replied += n;
}

static void
send_rest(struct fake *k, void *arg)
{
	struct mail_conn *c = arg;
	const char *text = good_reply[c->step - 1];

	(void)k;
	send_text(c, text + 1, strlen(text) - 1);
}

static void
close_conn(struct mail_conn *c, int resets)
{
	c->is_closed = 1;
	if (resets)
		fake_peer_reset(c->s);
	else
		fake_peer_close(c->s);
}

static void
play_trick(struct mail_conn *c)
{
	const char *text = good_reply[c->step - 1];

	switch (w.sc->trick) {
	case PIECES:
		send_text(c, text, 1);
		fake_after(w.k, 5 * FAKE_MS, send_rest, c);
		break;
	case BUSY:
		send_text(c, "450 later\r\n", 11);
		break;
	case REFUSES:
		send_text(c, "550-no\r\n550 no\r\n", 16);
		break;
	case NONSENSE:
		send_text(c, "HTTP/1.1 400 Bad request\r\n", 26);
		break;
	case EARLY:
		send_text(c, text, strlen(text));
		send_text(c, "250 ok\r\n", 8);
		break;
	case ENDLESS:
		for (unsigned int i = 0; i < 1000; i++)
			send_text(c, "354-go on\r\n", 11);
		break;
	case CLOSES:
	case RESETS:
		close_conn(c, w.sc->trick == RESETS);
		break;
	case GOOD:
	case SILENT:
	case DEAD:
	case FAR_AWAY:
		break;
	}
}

static void
give_reply(struct mail_conn *c)
{
	const char *text = good_reply[c->step];
	int tricks = c->has_trick && c->step == w.sc->step && !c->is_for_other;

	c->step++;
	if (c->step == SMTP_BODY + 1)
		c->was_taken = !tricks || w.sc->trick == PIECES || w.sc->trick >= CLOSES;
	if (tricks)
		play_trick(c);
	else
		send_text(c, text, strlen(text));
}

static void
note_arrival(char number)
{
	size_t n = strlen(w.order);

	w.arrived[(unsigned int)(number - '0') % (ALERTS + 1)]++;
	if (n < sizeof(w.order) - 1)
		w.order[n] = number;
}

/* True if the command, or the email, before this reply has come. */
static int
is_asked(struct mail_conn *c)
{
	const char *end = c->step == SMTP_BODY ? "\r\n.\r\n" : "\r\n";
	const char *at = c->step == SMTP_GREETING ? c->got : strstr(c->got, end);
	size_t used;

	if (!at)
		return 0;
	used = c->step == SMTP_GREETING ? 0 : (size_t)(at - c->got) + strlen(end);
	if (c->step == SMTP_BODY) {
		const char *number = strstr(c->got, "Subject: [HAProxy Alert] alert ");

		if (number)
			note_arrival(number[31]);
		else
			fault("a mail without its subject", w.n_conns);
	}
	if (c->step == SMTP_HELO && strncmp(c->got, w.helo, strlen(w.helo)) != 0)
		fault("another HELO", w.n_conns);
	if (c->step == SMTP_TO)
		c->is_for_other = w.busy_for && !strstr(c->got, w.busy_for);
	memmove(c->got, c->got + used, c->n - used + 1);
	c->n -= used;
	return 1;
}

static void
serve(struct fake *k, void *arg)
{
	struct mail_conn *c = arg;
	long n = 0;

	(void)k;
	while (!c->is_closed && c->n < TALK_MAX - 1 &&
		(n = fake_peer_recv(c->s, c->got + c->n, TALK_MAX - 1 - c->n)) > 0) {
		c->n += (size_t)n;
		c->got[c->n] = '\0';
	}
	while (!c->is_closed && c->step <= SMTP_QUIT && is_asked(c))
		give_reply(c);
	if (!c->is_closed && n != -EAGAIN)
		close_conn(c, 0);
}

static void
accept_mail(struct fake *k, void *arg)
{
	struct fake_sock *s;

	(void)arg;
	while ((s = fake_origin_accept(w.origin)) && w.n_conns < CONNS_MAX) {
		struct mail_conn *c = &w.conn[w.n_conns++];

		c->s = s;
		c->has_trick = w.n_opened <= w.sc->conns;
		fake_peer_notify(s, 0, serve, c);
		serve(k, c);
	}
}

static void
choose_route(struct fake *k, unsigned int port, void *arg)
{
	int tricks = w.n_opened++ < w.sc->conns;

	(void)arg;
	fake_route(k, port, tricks && w.sc->trick == DEAD ? FAKE_REFUSED
			: tricks && w.sc->trick == FAR_AWAY ? FAKE_BLACKHOLE
			: w.sc->one_way ? FAKE_FAR : FAKE_NEAR, w.sc->one_way * FAKE_MS);
}

/* --- the process --- */

static int
open_world(const struct scenario *sc)
{
	const struct loop_config lc = { .poller = &poller_epoll, .mode = INTEREST_EDGE,
		.max_fd = 64, .max_events = 8, .lazy = 1 };
	int why = 0;

	memset(&w, 0, sizeof(w));
	w.sc = sc;
	w.helo = "HELO node\r\n";
	w.k = fake_new();
	sys_init(&w.sys, &sys_fake, w.k);
	w.loop = loop_new(&w.sys, &lc, &why);
	assert_non_null(w.loop);
	w.e.loop = w.loop;
	w.e.sys = &w.sys;
	list_init(&w.ps.mailers);
	w.section = (struct mailers_conf){ .name = (char *)(uintptr_t)"m", .timeout_ms = 2000,
		.is_used = 1 };
	list_init(&w.section.mailers);
	list_append(&w.ps.mailers, &w.section.link);
	w.mailer.name = (char *)(uintptr_t)"one";
	w.mailer.addr = (struct addr){ .len = sizeof(w.mailer.addr.u.in),
		.u.in.sin_family = AF_INET };
	w.mailer.addr.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	addr_set_port(&w.mailer.addr, PORT);
	list_append(&w.section.mailers, &w.mailer.link);
	w.email = (struct email_conf){ .level = LOG_LEVEL_ALERT, .to = &w.section,
		.text = { (char *)(uintptr_t)"a@b", (char *)(uintptr_t)"c@d" } };
	w.px.email = &w.email;
	w.srv.be = &w.px;
	w.origin = fake_origin(w.k, PORT, 8);
	fake_peer_notify(w.origin, 0, accept_mail, NULL);
	fake_on_connect(w.k, choose_route, NULL);
	why = mailers_start(&w.e, &w.ps, "node");
	/* States that a previous process has left are restored. */
	assert_null(w.e.hooks.on_alert);
	mailers_begin(&w.e, &w.ps);
	return why;
}

static void
run(uint64_t ns)
{
	uint64_t until = fake_now(w.k) + ns;
	unsigned int turns = 0;

	while (fake_now(w.k) < until && !w.why[0]) {
		if (++turns > TURNS_MAX)
			fault("no end", turns);
		faults_apply(1);
		(void)!loop_turn(w.loop, (int)((until - fake_now(w.k)) / FAKE_MS) + 1);
		faults_apply(0);
		fake_run_due(w.k);
	}
}

static void
alert(void)
{
	char text[64];

	snprintf(text, sizeof(text), "alert %u.", w.n_sent++);
	faults_apply(1);
	w.e.hooks.on_alert(&w.e, &w.srv, LOG_LEVEL_ALERT, text);
	faults_apply(0);
}

static void
alert_in_time(struct fake *k, void *arg)
{
	(void)k;
	(void)arg;
	alert();
}

static void
close_world(void)
{
	mailers_stop(&w.e, &w.ps);
	(void)!loop_turn(w.loop, 0);
	loop_free(&w.loop);
	if (fake_fds(w.k))
		fault("a descriptor is open", fake_fds(w.k));
	fake_free(&w.k);
}

/* --- torture --- */

struct broken {
	uint64_t call;       /* the nth one, 0: none */
	unsigned int choice; /* of its errors */
	uint64_t alloc;      /* the nth one, 0: none */
	unsigned int again;
};

struct outcome {
	uint64_t calls, allocs;
	enum sys_call failed;
};

static void
judge(const struct broken *b)
{
	unsigned int taken = 0;
	uint64_t received = 0;

	for (unsigned int i = 0; i < ALERTS; i++) {
		/* One that is refused at its end has come, and comes again if that was busy. */
		unsigned int most = w.sc->trick == BUSY && w.sc->step == SMTP_BODY ? 2 : 1;

		if (w.arrived[i] > most)
			fault("an alert has arrived twice", i);
	}
	for (unsigned int i = 0; i < w.n_conns; i++)
		taken += (unsigned int)w.conn[i].was_taken;
	/* Not the greeting of a connection that was closed before it came. */
	for (unsigned int i = 0; i < w.n_conns; i++)
		received += w.conn[i].step > SMTP_QUIT ? w.conn[i].n_replied : 0;
	/* The email that a server without a reply has got counts as one that is dropped. */
	if (w.sc->trick >= CLOSES && w.sc->step == SMTP_BODY)
		taken -= MIN(taken, w.sc->conns);
	if (!b->call && !b->alloc && taken != w.sc->arrive + 1)
		fault("mails that were taken", taken);
	if (!b->call && !b->alloc && w.sc->trick == GOOD && mailers_received(&w.ps) != received)
		fault("bytes of replies", (unsigned int)mailers_received(&w.ps));
	if (w.arrived[ALERTS] != 1)
		fault("the alert after the failures has arrived so often", w.arrived[ALERTS]);
	if (!b->call && fake_abuse(w.k, FAKE_BUSY))
		fault("the loop is busy", 0);
}

static int
play(const struct scenario *sc, const struct broken *b, struct outcome *out)
{
	assert_int_equal(open_world(sc), 0);
	out->calls = fake_calls(w.k);
	if (b->call)
		fake_torture(w.k, out->calls + b->call, b->choice);
	fake_fail_again(w.k, b->again);
	faults_set(b->alloc);
	faults_set_again(b->again);
	alert();
	alert();
	fake_after(w.k, 3 * FAKE_SEC, alert_in_time, NULL);
	run(PLAYED);
	out->calls = fake_calls(w.k) - out->calls;
	out->allocs = faults_counted();
	out->failed = fake_failed_call(w.k);
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	faults_set(0);
	alert();
	run(AFTER);
	judge(b);
	close_world();
	return w.why[0] != '\0';
}

static int
report(const struct broken *b)
{
	print_message("%s: call %llu, error %u, allocation %llu, %u times more: %s\n", w.sc->name,
		(unsigned long long)b->call, b->choice, (unsigned long long)b->alloc, b->again,
		w.why);
	return 1;
}

static int
fail_calls(const struct scenario *sc, uint64_t calls, unsigned int again)
{
	struct broken b = { .again = again };
	struct outcome out;
	int bad = 0;

	for (b.call = 1; b.call <= calls; b.call += test_every())
		for (b.choice = 0; b.choice < ERRORS_MAX && bad < REPORTS_MAX; b.choice++) {
			int is_bad = play(sc, &b, &out);

			if (out.failed == SYS_CALLS)
				break;
			bad += is_bad ? report(&b) : 0;
		}
	return bad;
}

static void
test_torture(void **state)
{
	const struct scenario *sc = *state;
	struct broken b = { 0 };
	struct outcome clean, out;
	int bad = 0;

	if (play(sc, &b, &clean))
		fail_msg("%s: %s", sc->name, w.why);
	assert_true(clean.calls > 20 && clean.allocs > 2);
	bad += fail_calls(sc, clean.calls, 0);
	bad += fail_calls(sc, clean.calls, AGAIN);
	for (b.again = 0; b.again <= AGAIN; b.again += AGAIN)
		for (b.alloc = 1; b.alloc <= clean.allocs && bad < REPORTS_MAX;
			b.alloc += test_every())
			if (play(sc, &b, &out))
				bad += report(&b);
	assert_int_equal(bad, 0);
}

/* An SMTP server that never answers: the queue has an end, and alerts expire in it. */
static void
test_the_queue_is_bounded(void **state)
{
	static const struct scenario never = { "never", FAR_AWAY, 0, UINT32_MAX, 0, 7 };

	(void)state;
	assert_int_equal(open_world(&never), 0);
	for (unsigned int i = 0; i < MAILER_QUEUE_MAX + 50; i++)
		w.e.hooks.on_alert(&w.e, &w.srv, LOG_LEVEL_ALERT, "alert 0.");
	run(AFTER);
	/* A try lasts 2 s, and pauses grow to 60 s. */
	assert_true(w.n_opened >= 14 && w.n_opened <= 20);
	w.sc = &scenarios[0];
	w.n_sent = 1;
	alert();
	run(AFTER);
	assert_int_equal(w.arrived[0], 0);
	assert_int_equal(w.arrived[1], 1);
	close_world();
	assert_string_equal(w.why, "");
}

/* One that refuses each client is asked again after a pause, and not at once for each alert. */
static void
test_a_refused_client_waits(void **state)
{
	static const struct scenario sc = { "always", REFUSES, SMTP_GREETING, UINT32_MAX, 0, 0 };

	(void)state;
	assert_int_equal(open_world(&sc), 0);
	for (unsigned int i = 0; i < 50; i++)
		w.e.hooks.on_alert(&w.e, &w.srv, LOG_LEVEL_ALERT, "alert 0.");
	run(PLAYED);
	/* After 1, 3, 7 and 15 s. */
	assert_int_equal(w.n_opened, 5);
	close_world();
	assert_string_equal(w.why, "");
}

/* Alerts to a recipient that is refused for now delay none to others, and keep their order. */
static void
test_a_busy_recipient_is_alone(void **state)
{
	static const struct scenario sc = { "always", BUSY, SMTP_TO, 5, 0, 0 };
	static struct email_conf other;
	static struct proxy px;
	static struct server srv;

	(void)state;
	px.email = &other;
	srv.be = &px;
	assert_int_equal(open_world(&sc), 0);
	w.busy_for = "c@d";
	other = w.email;
	other.text[EMAIL_TO] = (char *)(uintptr_t)"e@f";
	for (unsigned int i = 0; i < 4; i++)
		alert();
	for (unsigned int i = 0; i < 3; i++)
		w.e.hooks.on_alert(&w.e, &srv, LOG_LEVEL_ALERT, i ? "alert 8." : "alert 7.");
	run(FAKE_SEC + FAKE_SEC / 2);
	assert_string_equal(w.order, "788");
	run(AFTER);
	assert_string_equal(w.order, "7880123");
	close_world();
	assert_string_equal(w.why, "");
}

/* Names of the kernel are any bytes. */
static void
test_a_node_without_a_valid_name(void **state)
{
	static const char *const names[] = { "", "two words", "a\r\nQUIT", "caf\xc3\xa9", "<a>" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(open_world(&scenarios[0]), 0);
		mailers_stop(&w.e, &w.ps);
		assert_int_equal(mailers_start(&w.e, &w.ps, names[i]), 0);
		mailers_begin(&w.e, &w.ps);
		w.helo = "HELO localhost\r\n";
		alert();
		run(PLAYED);
		assert_string_equal(w.order, "0");
		close_world();
		assert_string_equal(w.why, "");
	}
}

/* Configurations whose mailers are not used have no hook. */
static void
test_mailers_without_a_proxy(void **state)
{
	(void)state;
	assert_int_equal(open_world(&scenarios[0]), 0);
	mailers_stop(&w.e, &w.ps);
	w.section.is_used = 0;
	assert_int_equal(mailers_start(&w.e, &w.ps, "node"), 0);
	mailers_begin(&w.e, &w.ps);
	assert_null(w.e.hooks.on_alert);
	assert_null(w.mailer.run);
	close_world();
}

/* A less severe event, a proxy without alerts, and a process that ends. */
static void
test_what_is_no_alert(void **state)
{
	(void)state;
	assert_int_equal(open_world(&scenarios[0]), 0);
	w.e.hooks.on_alert(&w.e, &w.srv, LOG_LEVEL_NOTICE, "alert 0.");
	w.px.email = NULL;
	w.e.hooks.on_alert(&w.e, &w.srv, LOG_LEVEL_ALERT, "alert 0.");
	w.px.email = &w.email;
	w.e.stop_ms = 1;
	w.e.hooks.on_alert(&w.e, &w.srv, LOG_LEVEL_ALERT, "alert 0.");
	run(PLAYED);
	assert_int_equal(w.n_opened, 0);
	close_world();
	assert_string_equal(w.why, "");
}

int
main(void)
{
	static struct CMUnitTest tests[ARRAY_LEN(scenarios) + 6];
	const char *only = getenv("SCENARIO");
	unsigned int n = 0;

	for (unsigned int i = 0; i < ARRAY_LEN(scenarios); i++) {
		if (only && strcmp(only, scenarios[i].name) != 0)
			continue;
		tests[n] = (struct CMUnitTest)cmocka_unit_test(test_torture);
		tests[n].name = scenarios[i].name;
		tests[n++].initial_state = (void *)(uintptr_t)&scenarios[i];
	}
	if (!only) {
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_the_queue_is_bounded);
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_a_refused_client_waits);
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_a_busy_recipient_is_alone);
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_mailers_without_a_proxy);
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_a_node_without_a_valid_name);
		tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_what_is_no_alert);
	}
	return _cmocka_run_group_tests("torture of mailers", tests, n, NULL, NULL);
}
