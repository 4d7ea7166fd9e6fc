/* Lines of frontends with profiles: a configuration, and what each of its targets gets. */
#include "proxy/log/log_conf.h"

#include <sys/socket.h>
#include <unistd.h>

#include "unit/proxy/log_rig.h"

#include "proxy/model/http_txn.h"

#define TARGETS 3

struct world {
	struct log_world log;
	struct cfg_world cfg;
	struct sys sys;
	struct log_sink sink;
	struct log_entry e;
	int to[TARGETS], from[TARGETS];
};

static int
finish(struct cfg_world *w)
{
	int r = log_global_finish(&w->proxies.log, &w->diag);

	list_each(it, &w->proxies.all)
		r |= proxy_log_finish(list_entry(it, struct proxy, link), &w->proxies.log,
			&w->proxies, &w->diag);
	return r;
}

/* conf: its logs are %1$d to %3$d. */
static void
world_init(struct world *w, const char *conf)
{
	char text[2048];
	int sv[2];

	memset(w, 0, sizeof(*w));
	log_world_init(&w->log);
	for (int i = 0; i < TARGETS; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv), 0);
		w->to[i] = sv[0];
		w->from[i] = sv[1];
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), conf, w->to[0], w->to[1], w->to[2]);
#pragma GCC diagnostic pop
	cfg_world_read(&w->cfg, text);
	if (finish(&w->cfg) < 0 || w->cfg.diag.nentry)
		fail_msg("%s", w->cfg.diag.entry[0].text);
	sys_init(&w->sys, &sys_linux, NULL);
	log_sink_init(&w->sink, &w->sys, &w->log.id);
	w->log.engine.log = &w->sink;
	w->log.s.sess->fe = cfg_world_proxy_at(&w->cfg, 0);
	w->e = (struct log_entry){ .s = &w->log.s, .step = LOG_STEP_CLOSE,
		.level = LOG_LEVEL_INFO, .cx = w->log.cx };
}

static void
world_fini(struct world *w)
{
	log_sink_fini(&w->sink);
	cfg_world_fini(&w->cfg);
	for (int i = 0; i < TARGETS; i++) {
		close(w->to[i]);
		close(w->from[i]);
	}
}

/* The texts that the targets get of one line, each with its number before it. */
static const char *
sent(struct world *w, enum log_step step)
{
	static char all[4096];
	size_t n = 0;

	w->e.step = step;
	w->e.cx.step = log_steps[step].name;
	profile_lines_send(&w->e);
	log_flush(&w->sink);
	all[0] = '\0';
	for (int i = 0; i < TARGETS; i++) {
		char buf[2048];
		ssize_t got = recv(w->from[i], buf, sizeof(buf) - 1, MSG_DONTWAIT);

		if (got > 0)
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%d%.*s", i, (int)got, buf);
	}
	return all;
}

static void
each_target_has_its_own_text(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, "frontend f\n log-format \"all %%OG\"\n"
		       " log fd@%d format short local0\n"
		       " log fd@%d format short profile p local0\n"
		       " log fd@%d format raw profile q local0\n"
		       "log-profile p\n on close format \"p %%f\"\n on error drop\n"
		       "log-profile q\n on any drop\n on tcp-req-conn format \"q %%ci\"\n");
	assert_string_equal(sent(&w, LOG_STEP_CLOSE), "0<6>all close\n1<6>p f\n");
	assert_string_equal(sent(&w, LOG_STEP_ERROR), "0<6>all error\n");
	/* No `on` and no `any`: as if there was no profile. */
	assert_string_equal(sent(&w, LOG_STEP_ACCEPT), "0<6>all accept\n1<6>all accept\n");
	assert_string_equal(sent(&w, LOG_STEP_TCP_REQ_CONN),
		"0<6>all tcp-req-conn\n1<6>all tcp-req-conn\n2q 10.0.1.2\n");
	world_fini(&w);
}

/* The example of the manual: a step of its own takes no structured data of `any`. */
static void
data_and_tags_are_of_the_profile(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, "log-profile myprof\n log-tag custom-tag\n on error format \"%%ci: error\"\n"
		       " on connect drop\n on any sd \"custom-sd\"\n"
		       "frontend f\n log-format x\n log-tag normal\n log-format-sd [own]\n"
		       " log fd@%d format rfc5424 local0\n"
		       " log fd@%d format rfc5424 profile myprof local0\n"
		       " log fd@%d format priority profile myprof local0\n");
	assert_non_null(strstr(sent(&w, LOG_STEP_CLOSE), " normal 31185 - [own] x\n1<134>1 "));
	assert_non_null(strstr(
		sent(&w, LOG_STEP_CLOSE), " custom-tag 31185 - custom-sd x\n2<134>x\n"));
	assert_non_null(strstr(sent(&w, LOG_STEP_ERROR),
		" custom-tag 31185 - [own] 10.0.1.2: error\n2<134>10.0.1.2: error\n"));
	assert_null(strstr(sent(&w, LOG_STEP_CONNECT), "\n1"));
	world_fini(&w);
}

/* A message that is dropped is none of a sample's. */
static void
level_and_sample_count_per_target(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, "frontend f\n log-format x\n"
		       " log fd@%d format raw profile p local0 err\n"
		       " log fd@%d format raw sample 2:2 profile p local0\n"
		       " log fd@%d format short profile p local0 info notice\n"
		       "log-profile p\n on connect drop\n");
	assert_string_equal(sent(&w, LOG_STEP_CLOSE), "2<6>x\n");
	assert_string_equal(sent(&w, LOG_STEP_CONNECT), "");
	w.e.level = LOG_LEVEL_ERR;
	assert_string_equal(sent(&w, LOG_STEP_CLOSE), "0x\n1x\n2<5>x\n");
	world_fini(&w);
}

/* Without a request the default format has no line, but a profile's has. */
static void
an_error_is_written_where_a_profile_has_a_text(void **state)
{
	static struct world w;

	(void)state;
	world_init(&w, "frontend f\n log fd@%d format raw local0\n"
		       " log fd@%d format raw profile p local0\n"
		       " log fd@%d format raw profile q user\n"
		       "log-profile p\n on error format \"bad\"\nlog-profile q\n on any sd [x]\n");
	assert_true(profile_lines_exist(w.log.s.sess->fe, LOG_STEP_ERROR));
	assert_false(profile_lines_exist(w.log.s.sess->fe, LOG_STEP_CLOSE));
	assert_string_equal(sent(&w, LOG_STEP_ERROR), "1bad\n");
	assert_non_null(strstr(sent(&w, LOG_STEP_ACCEPT), "0Connect from "));
	world_fini(&w);
}

/* JSON is cut for the target that it is too long for, and for no other. */
static void
json_is_as_long_as_each_target_allows(void **state)
{
	static struct world w;
	static struct http_txn t;
	static char name[700];
	const char *all;

	(void)state;
	world_init(&w, "log-profile p\n log-tag t\n on connect format \"%%f\"\n"
		       "frontend f\n"
		       " log fd@%d format json profile p local0\n"
		       " log fd@%d len 2000 format raw profile p local0\n"
		       " log fd@%d len 2000 format raw local0\n");
	w.log.s.sess->fe->log.json = 1;
	memset(name, 'b', sizeof(name) - 1);
	w.log.be.name = name;
	t.head_ms = 1;
	w.log.s.txn = &t;
	all = sent(&w, LOG_STEP_CLOSE);
	assert_ptr_equal(strstr(all, "0{\"time\":"), all);
	assert_ptr_not_equal(strstr(all, "\"cut\":true}\n1{"), NULL);
	assert_non_null(strstr(all, "\"cut\":false}\n2{"));
	/* Where a profile has a text it is a text. */
	assert_non_null(strstr(sent(&w, LOG_STEP_CONNECT), "\"message\":\"f\"}\n1f\n2{\"time\":"));
	w.log.s.txn = NULL;
	world_fini(&w);
}

/* The point from which on the one line that a frontend writes by itself may be written. */
static void
the_line_waits_for_what_profiles_show(void **state)
{
	static const struct {
		const char *on;
		enum log_stage stage;
	} rows[] = {
		{ "on close format \"%ci\"", LOG_STAGE_END },
		{ "on close drop", LOG_STAGE_END },
		{ "on accept format \"%B\"", LOG_STAGE_ACCEPT },
		{ "on any format \"%ci\"", LOG_STAGE_ACCEPT },
		{ "on any format \"%s\"", LOG_STAGE_CONNECT },
		{ "on any sd \"[%B]\"", LOG_STAGE_END },
	};
	struct cfg_world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			"log-profile p\n %s\nglobal\n log fd@7 profile p user\n"
			"frontend f\n log global\n", rows[i].on);
		cfg_world_read(&w, text);
		assert_int_equal(finish(&w), 0);
		assert_true(cfg_world_proxy_at(&w, 0)->log.has_profiles);
		assert_int_equal(cfg_world_proxy_at(&w, 0)->log.profile_stage, rows[i].stage);
		cfg_world_fini(&w);
	}
}

/* A profile fits some frontends and not others: each of these is named, at the profile's format. */
static void
formats_are_compiled_for_each_frontend(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w, "frontend web\n log stdout profile p user\n log stderr profile p user\n"
			   "frontend mail\n log stdout profile p user\n"
			   "frontend news\n log stdout profile p user\n"
			   "log-profile p\n on close format \"x %HM\"\n"
			   " on response sd \"[%ST %HM]\"\n");
	p = cfg_world_proxy_at(&w, 0);
	p->mode = PROXY_HTTP;
	assert_int_equal(finish(&w), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 2);
	assert_non_null(strstr(w.diag.entry[0].text,
		"log-profile 'p' : 'on close format' does not fit frontend 'mail' : "));
	assert_non_null(strstr(w.diag.entry[1].text, "frontend 'news' : "));
	assert_int_equal(w.diag.entry[0].where.line, 9);
	assert_int_equal(w.diag.entry[0].where.col, 18);
	assert_non_null(p->logs.next);
	cfg_world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_target_has_its_own_text),
		cmocka_unit_test(data_and_tags_are_of_the_profile),
		cmocka_unit_test(level_and_sample_count_per_target),
		cmocka_unit_test(an_error_is_written_where_a_profile_has_a_text),
		cmocka_unit_test(json_is_as_long_as_each_target_allows),
		cmocka_unit_test(the_line_waits_for_what_profiles_show),
		cmocka_unit_test(formats_are_compiled_for_each_frontend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
