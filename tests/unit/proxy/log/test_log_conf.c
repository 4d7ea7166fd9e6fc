#include "proxy/log/log_conf.h"

#include "unit/proxy/log_rig.h"

static int
finish(struct cfg_world *w)
{
	int r = 0;

	if (log_global_finish(&w->proxies.log, &w->diag) < 0)
		return -1;
	list_each(it, &w->proxies.all) r |=
		proxy_log_finish(list_entry(it, struct proxy, link), &w->proxies.log,
			&w->proxies, &w->diag);
	return r;
}

static void
test_global_lines_come_after_its_own(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w, "defaults\n log global\n"
			   "frontend a\n log stdout user\n option tcplog\n"
			   "frontend b\n no log\n"
			   "global\n log fd@5 local1\n log fd@6 local2\n");
	assert_int_equal(finish(&w), 0);
	assert_int_equal(w.diag.nentry, 0);
	p = cfg_world_proxy_at(&w, 0);
	assert_int_equal(cfg_world_line(&p->logs, 0)->dest.fd, 1);
	assert_int_equal(cfg_world_line(&p->logs, 1)->dest.fd, 5);
	assert_int_equal(cfg_world_line(&p->logs, 2)->dest.fd, 6);
	assert_null(cfg_world_line(&p->logs, 3));
	assert_non_null(p->log.format);
	p = cfg_world_proxy_at(&w, 1);
	assert_null(cfg_world_line(&p->logs, 0));
	assert_null(p->log.format);
	cfg_world_fini(&w);
}

/* All three formats are compiled; the names they use must exist. */
static void
test_formats_beside_the_line(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w, "defaults\n log fd@5 format rfc5424 user\n error-log-format \"%ci e\"\n"
			   " log-format-sd \"[a b=%cp]\"\nfrontend a\nbackend b\n");
	assert_int_equal(finish(&w), 0);
	assert_int_equal(w.diag.nentry, 0);
	p = cfg_world_proxy_at(&w, 0);
	assert_non_null(p->log.error.fmt);
	assert_non_null(p->log.sd.fmt);
	assert_null(p->log.format);
	p = cfg_world_proxy_at(&w, 1);
	assert_null(p->log.error.text);
	assert_null(p->log.sd.fmt);
	cfg_world_fini(&w);
	cfg_world_read(&w, "frontend a\n log fd@5 user\n log-format-sd x\n");
	assert_int_equal(finish(&w), 0);
	assert_non_null(strstr(w.diag.entry[0].text, "no log address of it has the format "
						     "rfc5424"));
	cfg_world_fini(&w);
	cfg_world_read(&w, "frontend a\n log fd@5 user\n log-format %[nbsrv(none)]\n"
			   " error-log-format %[nbsrv(none)]\n log-format-sd %HM\n");
	assert_int_equal(finish(&w), -1);
	/* One error for each format, and the warning. */
	assert_int_equal(w.diag.count[CFG_ALERT], 3);
	cfg_world_fini(&w);
}

/* JSON has no format; in mode tcp it is tcplog. */
static void
test_json(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w, "defaults\n log fd@5 user\n option httplog json\n"
			   "frontend a\nfrontend b\nfrontend c\n option httplog clf\n"
			   "frontend d\n log-format x\n");
	for (int i = 0; i < 4; i++)
		cfg_world_proxy_at(&w, i)->mode = i == 1 ? PROXY_TCP : PROXY_HTTP;
	assert_int_equal(finish(&w), 0);
	assert_int_equal(w.diag.nentry, 1);
	assert_non_null(strstr(w.diag.entry[0].text, "not usable with frontend 'b'"));
	p = cfg_world_proxy_at(&w, 0);
	assert_true(p->log.json);
	assert_null(p->log.format);
	for (int i = 1; i < 4; i++) {
		p = cfg_world_proxy_at(&w, i);
		assert_false(p->log.json);
		assert_non_null(p->log.format);
	}
	cfg_world_fini(&w);
}

static void
test_hostname_decides_what_no_format_means(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w,
		"global\n log fd@5 user\n log fd@6 format local user\n log-send-hostname x\n"
		"frontend a\n log global\n log fd@7 user\n log fd@8 format raw user\n");
	assert_int_equal(finish(&w), 0);
	assert_int_equal(cfg_world_line(&w.proxies.log.lines, 0)->form, LOG_FORM_RFC3164);
	assert_int_equal(cfg_world_line(&w.proxies.log.lines, 1)->form, LOG_FORM_LOCAL);
	p = cfg_world_proxy_at(&w, 0);
	assert_int_equal(cfg_world_line(&p->logs, 0)->form, LOG_FORM_RFC3164);
	assert_int_equal(cfg_world_line(&p->logs, 1)->form, LOG_FORM_RAW);
	assert_int_equal(cfg_world_line(&p->logs, 2)->form, LOG_FORM_RFC3164);
	assert_int_equal(cfg_world_line(&p->logs, 3)->form, LOG_FORM_LOCAL);
	cfg_world_fini(&w);
}

static void
test_format_without_a_target(void **state)
{
	struct cfg_world w;

	(void)state;
	cfg_world_read(&w, "frontend a\n option tcplog\n log global\nfrontend b\n log-format x\n"
			   "frontend c\nbackend d\n");
	assert_int_equal(finish(&w), 0);
	assert_int_equal(w.diag.nentry, 1);
	assert_int_equal(w.diag.entry[0].sev, CFG_WARNING);
	assert_string_equal(w.diag.entry[0].text,
			    "log format ignored for frontend 'a' since it has no log address.");
	assert_int_equal(w.diag.entry[0].places.n, 2);
	assert_int_equal(w.diag.entry[0].places.at[0].line, 2);
	assert_int_equal(w.diag.entry[0].places.at[1].line, 5);
	assert_null(cfg_world_proxy_at(&w, 0)->log.format);
	assert_null(cfg_world_proxy_at(&w, 1)->log.format);
	cfg_world_fini(&w);
}

static void
test_errors_of_a_format_without_a_target(void **state)
{
	struct cfg_world w;

	(void)state;
	cfg_world_read(&w, "frontend a\n log-format %[be_conn(nope)]\n");
	assert_int_equal(finish(&w), -1);
	assert_int_equal(w.diag.nentry, 1);
	assert_string_equal(w.diag.entry[0].text,
		"failed to parse log-format : 'be_conn': there is no such backend: 'nope', at byte "
		"9 of '%[be_conn(nope)]'");
	cfg_world_fini(&w);
}

/* A format in the defaults of frontends does not apply to their backends. */
static void
test_backends_have_no_format(void **state)
{
	struct cfg_world w;

	(void)state;
	cfg_world_read(&w, "defaults\n log stdout user\n log-format \"%ci\"\n option tcplog\n"
			   " log-format \"%cp\"\nfrontend a\nbackend b\n");
	assert_int_equal(finish(&w), 0);
	assert_int_equal(w.diag.nentry, 2);
	assert_string_equal(
		w.diag.entry[0].text, "'option tcplog' overrides line 3.");
	assert_string_equal(w.diag.entry[1].text, "'log-format' overrides line 4.");
	assert_string_equal(cfg_world_proxy_at(&w, 0)->log.format_text, "%cp");
	assert_null(cfg_world_proxy_at(&w, 1)->log.format_text);
	assert_null(cfg_world_proxy_at(&w, 1)->log.format);
	assert_non_null(cfg_world_line(&cfg_world_proxy_at(&w, 1)->logs, 0));
	cfg_world_fini(&w);
}

static void
test_hostname_and_tag(void **state)
{
	char tag[] = "t", host[] = "h", none[] = "";
	struct log_global g;
	struct log_ident id;

	(void)state;
	log_global_init(&g);
	log_global_ident(&g, "prog", "node1", 7, &id);
	assert_string_equal(id.tag, "prog");
	assert_null(id.hostname);
	assert_string_equal(id.node, "node1");
	assert_int_equal(id.pid, 7);
	g.tag = tag;
	g.hostname = none;
	log_global_ident(&g, "prog", "node1", 7, &id);
	assert_string_equal(id.tag, "t");
	assert_string_equal(id.hostname, "node1");
	g.hostname = host;
	log_global_ident(&g, "prog", "node1", 7, &id);
	assert_string_equal(id.hostname, "h");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_global_lines_come_after_its_own),
		cmocka_unit_test(test_formats_beside_the_line),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_hostname_decides_what_no_format_means),
		cmocka_unit_test(test_format_without_a_target),
		cmocka_unit_test(test_errors_of_a_format_without_a_target),
		cmocka_unit_test(test_backends_have_no_format),
		cmocka_unit_test(test_hostname_and_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
