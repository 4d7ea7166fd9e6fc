#include "proxy/config/log_cfg.h"

#include "unit/proxy/log_rig.h"

#include <arpa/inet.h>

/* One `log` line in global. */
static const struct log_line *
one(struct cfg_world *w, const char *args)
{
	char text[512];

	snprintf(text, sizeof(text), "global\n log %s\n", args);
	cfg_world_read(w, text);
	if (w->diag.nentry)
		print_error("%s: %s\n", args, w->diag.entry[0].text);
	assert_int_equal(w->diag.nentry, 0);
	return cfg_world_line(&w->proxies.log.lines, 0);
}

static void
targets_have_an_address_and_a_port(void **state)
{
	static const struct {
		const char *target;
		int family, port;
	} rows[] = {
		{ "127.0.0.1", AF_INET, 514 },	   { "127.0.0.1:5140", AF_INET, 5140 },
		{ "127.0.0.1:0", AF_INET, 514 },   { "udp@127.0.0.1:99", AF_INET, 99 },
		{ "[::1]:5141", AF_INET6, 5141 },  { "::1:5142", AF_INET6, 5142 },
		{ "ipv6@::1:5143", AF_INET6, 5143 },
	};
	struct cfg_world w;
	const struct log_line *l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char args[64];

		snprintf(args, sizeof(args), "%s local0", rows[i].target);
		l = one(&w, args);
		assert_int_equal(l->dest.kind, LOG_DEST_SOCKET);
		assert_int_equal(l->dest.u.sa.sa_family, rows[i].family);
		assert_int_equal(ntohs(l->dest.u.in.sin_port), rows[i].port);
		assert_int_equal(l->dest.len, rows[i].family == AF_INET ? sizeof(l->dest.u.in) :
									  sizeof(l->dest.u.in6));
		cfg_world_fini(&w);
	}
	l = one(&w, "/dev/log local0");
	assert_int_equal(l->dest.u.sa.sa_family, AF_UNIX);
	assert_string_equal(l->dest.u.un.sun_path, "/dev/log");
	cfg_world_fini(&w);
	l = one(&w, "stdout format raw daemon");
	assert_int_equal(l->dest.kind, LOG_DEST_FD);
	assert_int_equal(l->dest.fd, 1);
	cfg_world_fini(&w);
	l = one(&w, "stderr daemon");
	assert_int_equal(l->dest.fd, 2);
	cfg_world_fini(&w);
	l = one(&w, "fd@17 daemon");
	assert_int_equal(l->dest.fd, 17);
	cfg_world_fini(&w);
}

static void
settings_of_a_log_line_are_stored(void **state)
{
	struct cfg_world w;
	const struct log_line *l = one(&w, "127.0.0.1 local7");

	(void)state;
	assert_int_equal(l->facility, 23);
	assert_int_equal(l->form, LOG_FORM_LOCAL);
	assert_int_equal(l->level, LOG_LEVEL_DEBUG);
	assert_int_equal(l->minlevel, LOG_LEVEL_EMERG);
	assert_int_equal(l->max_len, 1024);
	cfg_world_fini(&w);
	l = one(&w, "127.0.0.1 len 65535 format rfc5424 user notice err");
	assert_int_equal(l->facility, 1);
	assert_int_equal(l->form, LOG_FORM_RFC5424);
	assert_int_equal(l->level, LOG_LEVEL_NOTICE);
	assert_int_equal(l->minlevel, LOG_LEVEL_ERR);
	assert_int_equal(l->max_len, 65535);
	cfg_world_fini(&w);
}

static void
bad_log_lines_are_refused(void **state)
{
	static const struct {
		const char *line;
		unsigned int col;
		const char *says;
	} rows[] = {
		{ "log", 2, "'log' expects an address and a facility" },
		{ "log 127.0.0.1", 2, "'log' expects an address and a facility" },
		{ "log 127.0.0.1 local9", 16, "unknown facility 'local9'" },
		{ "log /dev/log format raw", 2,
		  "'log' expects a facility, such as local0 or daemon" },
		{ "log /dev/log format foo user", 22, "unknown format 'foo'" },
		{ "log /dev/log len 79 user", 19, "79" },
		{ "log /dev/log len 65536 user", 19, "65536" },
		{ "log /dev/log len -1 user", 19, "-1" },
		{ "log /dev/log len 4294967296 user", 19, "4294967296" },
		{ "log /dev/log len 10x user", 19, "10x" },
		{ "log /dev/log user inf", 20, "unknown level 'inf'" },
		{ "log /dev/log user info none", 25, "unknown level 'none'" },
		{ "log /dev/log user info info x", 30, "unexpected argument 'x'" },
		{ "log /dev/log sample 3:2 user", 22,
		  "sample '3:2': a range goes beyond the size" },
		{ "log /dev/log sample user", 22, "sample 'user': a range is" },
		{ "log ring@ user", 6, "'ring@' expects the name of a ring" },
		{ "log tcp@127.0.0.1:x user", 6, "tcp@127.0.0.1:x" },
		{ "log fd@x user", 6, "'fd@' expects a number (0..1048576), not 'x'" },
		{ "log fd@-1 user", 6, "'fd@' expects a number (0..1048576), not '-1'" },
		{ "log fd@99999999999999999999 user", 6, "'fd@' expects a number" },
		{ "log 127.0.0.1:99999 user", 6, "127.0.0.1:99999" },
		{ "log global", 6, "'log global' is not allowed in the 'global' section" },
		{ "no log x", 9, "'no log' expects no arguments" },
		{ "log-tag \"\"", 9, "'log-tag' expects <tag>" },
		{ "log-tag \"a\\nb\"", 10, "'log-tag' :" },
	};
	struct cfg_world w;
	char text[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text), "global\n %s\n", rows[i].line);
		cfg_world_read(&w, text);
		if (w.diag.nentry != 1 || !strstr(w.diag.entry[0].text, rows[i].says) ||
		    w.diag.entry[0].where.col != rows[i].col)
			fail_msg("%s: %u: %s (column %u)", rows[i].line, w.diag.nentry,
				w.diag.nentry ? w.diag.entry[0].text : "",
				w.diag.entry[0].where.col);
		assert_int_equal(w.diag.entry[0].sev, CFG_ALERT);
		assert_null(cfg_world_line(&w.proxies.log.lines, 0));
		cfg_world_fini(&w);
	}
}

static void
test_lines_are_bounded(void **state)
{
	char text[4096] = "global\n";
	struct cfg_world w;

	(void)state;
	for (int i = 0; i <= LOG_LINES_MAX; i++)
		strcat(text, " log 127.0.0.1 user\n");
	cfg_world_read(&w, text);
	assert_int_equal(w.diag.nentry, 1);
	assert_string_equal(w.diag.entry[0].text,
		"too many 'log' lines in one section; the limit is 32.");
	assert_non_null(cfg_world_line(&w.proxies.log.lines, LOG_LINES_MAX - 1));
	cfg_world_fini(&w);
}

static void
test_no_log_and_inheritance(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w,
		"global\n log 127.0.0.1 user\n log-tag all\n"
		"defaults\n log global\n log stdout daemon\n log-tag d\n option dontlognull\n"
		"frontend a\n"
		"frontend b\n no log\n log stderr user\n log-tag b\n no option dontlognull\n"
		"backend c\n");
	assert_int_equal(w.diag.nentry, 0);
	assert_string_equal(w.proxies.log.tag, "all");
	p = cfg_world_proxy_at(&w, 0);
	assert_true(p->options & OPT_LOG_GLOBAL);
	assert_true(p->options & OPT_DONTLOGNULL);
	assert_int_equal(cfg_world_line(&p->logs, 0)->dest.fd, 1);
	assert_null(cfg_world_line(&p->logs, 1));
	assert_string_equal(p->log.tag, "d");
	p = cfg_world_proxy_at(&w, 1);
	assert_false(p->options & (OPT_LOG_GLOBAL | OPT_DONTLOGNULL));
	assert_true(p->no_options & OPT_DONTLOGNULL);
	assert_int_equal(cfg_world_line(&p->logs, 0)->dest.fd, 2);
	assert_null(cfg_world_line(&p->logs, 1));
	assert_string_equal(p->log.tag, "b");
	assert_true(cfg_world_proxy_at(&w, 2)->options & OPT_LOG_GLOBAL);
	cfg_world_fini(&w);
}

static void
formats_are_inherited(void **state)
{
	struct cfg_world w;
	struct proxy *p;

	(void)state;
	cfg_world_read(&w, "defaults\n log-format \"%ci %s\"\n option logasap\n"
			   "frontend a\n"
			   "frontend b\n option tcplog\n"
			   "frontend c\n option tcplog\n log-format x\n no option logasap\n"
			   "frontend d\n log-format \"%ci %nope\"\n"
			   "frontend e\n log-format \"\"\n");
	assert_int_equal(w.diag.nentry, 3);
	assert_string_equal(
		w.diag.entry[0].text, "'log-format' overrides line 8.");
	assert_string_equal(w.diag.entry[1].text,
		"failed to parse log-format : no variable is called '%nope'; a '%' itself "
		"is written as '%%' (byte 6)");
	assert_int_equal(w.diag.entry[1].where.line, 12);
	assert_int_equal(w.diag.entry[1].where.col, 13);
	p = cfg_world_proxy_at(&w, 0);
	assert_string_equal(p->log.format_text, "%ci %s");
	assert_true(p->options & OPT_LOGASAP);
	p = cfg_world_proxy_at(&w, 1);
	assert_null(p->log.format_text);
	assert_int_equal(p->log.preset, LOG_PRESET_TCP);
	p = cfg_world_proxy_at(&w, 2);
	assert_string_equal(p->log.format_text, "x");
	assert_int_equal(p->log.preset, LOG_PRESET_NONE);
	assert_false(p->options & OPT_LOGASAP);
	cfg_world_fini(&w);
	cfg_world_read(&w,
		"defaults\n option httplog clf\nfrontend a\nfrontend b\n option httplog\n"
			   "frontend c\n option httplog json\nfrontend d\n option httplog xml\n");
	assert_int_equal(w.diag.nentry, 1);
	assert_non_null(strstr(w.diag.entry[0].text, "'xml' is not one of clf, json"));
	assert_int_equal(cfg_world_proxy_at(&w, 0)->log.preset, LOG_PRESET_CLF);
	assert_int_equal(cfg_world_proxy_at(&w, 1)->log.preset, LOG_PRESET_HTTP);
	assert_int_equal(cfg_world_proxy_at(&w, 2)->log.preset, LOG_PRESET_JSON);
	cfg_world_fini(&w);
}

static void
log_send_hostname_sets_the_node(void **state)
{
	struct cfg_world w;

	(void)state;
	cfg_world_read(&w, "global\n log-send-hostname\n");
	assert_int_equal(w.diag.nentry, 0);
	assert_string_equal(w.proxies.log.hostname, "");
	cfg_world_fini(&w);
	cfg_world_read(&w, "global\n log-send-hostname a\n log-send-hostname relay1\n");
	assert_string_equal(w.proxies.log.hostname, "relay1");
	cfg_world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_have_an_address_and_a_port),
		cmocka_unit_test(settings_of_a_log_line_are_stored),
		cmocka_unit_test(bad_log_lines_are_refused),
		cmocka_unit_test(test_lines_are_bounded),
		cmocka_unit_test(test_no_log_and_inheritance),
		cmocka_unit_test(formats_are_inherited),
		cmocka_unit_test(log_send_hostname_sets_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
