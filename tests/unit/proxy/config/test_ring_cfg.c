/* Sections ring, and what log lines make of them. */
#include "unit/proxy/log_rig.h"

#include "proxy/model/ring_conf.h"

static struct ring_conf *
ring_of(struct cfg_world *w, const char *name)
{
	struct ring_conf *c = ring_conf_find(&w->proxies.log.rings, name);

	assert_non_null(c);
	return c;
}

static void
every_keyword_is_kept(void **state)
{
	struct cfg_world w;
	const struct ring_conf *c;
	const struct ring_server *s;

	(void)state;
	cfg_world_read(&w, "global\n log ring@my.ring:1 local7\n"
			   "ring my.ring:1\n description some words\n format rfc5424\n"
			   " maxlen 1200\n size 32764\n backing-file some/file\n"
			   " timeout connect 5s\n timeout server 10s\n"
			   " server a 127.0.0.1:6514 ssl verify required ca-file /a/file"
			   " sni str(A.example),lower log-proto octet-count crt /b\n"
			   " server b /some/path\n");
	assert_int_equal(log_global_finish(&w.proxies.log, &w.diag), 0);
	assert_int_equal(w.diag.nentry, 0);
	c = ring_of(&w, "my.ring:1");
	assert_string_equal(c->description, "some words");
	assert_int_equal(c->ring.maxlen, 1200);
	assert_int_equal(c->ring.size, 32764);
	assert_string_equal(c->backing_file, "some/file");
	assert_int_equal(c->backing_where.line, 8);
	assert_int_equal(c->backing_where.col, 15);
	assert_int_equal(ring_confs_descriptors(&w.proxies.log.rings), 3);
	s = list_first(&c->servers, struct ring_server, link);
	assert_string_equal(s->name, "a");
	assert_int_equal(s->conf.counts_octets, 1);
	assert_int_equal(s->conf.connect_ms, 5000);
	assert_int_equal(s->conf.server_ms, 10000);
	assert_int_equal(addr_port(&s->conf.addr), 6514);
	assert_int_equal(s->tls_conf.is_on, 1);
	assert_string_equal(s->tls_conf.sni, "a.example");
	assert_string_equal(s->tls_conf.set.ca_file, "/a/file");
	assert_string_equal(s->tls_conf.set.crt, "/b");
	assert_int_equal(s->tls_conf.set.verify, TLS_VERIFY_REQUIRED);
	assert_int_equal(s->tls_conf.where.col, 26);
	assert_int_equal(ring_confs_use_tls(&w.proxies.log.rings), 1);
	s = list_entry(s->link.next, struct ring_server, link);
	assert_int_equal(s->conf.counts_octets, 0);
	assert_int_equal(s->tls_conf.is_on, 0);
	assert_int_equal(addr_family(&s->conf.addr), AF_UNIX);
	/* The line has the ring's format. */
	assert_ptr_equal(cfg_world_line(&w.proxies.log.lines, 0)->dest.ring, &c->ring);
	assert_int_equal(cfg_world_line(&w.proxies.log.lines, 0)->form, LOG_FORM_RFC5424);
	cfg_world_fini(&w);
}

static void
defaults_are_haproxys(void **state)
{
	struct cfg_world w;
	const struct ring_conf *c;

	(void)state;
	cfg_world_read(&w, "ring r\nglobal\n log-send-hostname\n log ring@r format iso local0\n");
	assert_int_equal(log_global_finish(&w.proxies.log, &w.diag), 0);
	c = ring_of(&w, "r");
	assert_int_equal(c->ring.form, LOG_FORM_RAW);
	assert_int_equal(c->ring.maxlen, 1024);
	assert_int_equal(c->ring.size, 16384);
	assert_int_equal(ring_confs_use_tls(&w.proxies.log.rings), 0);
	assert_int_equal(cfg_world_line(&w.proxies.log.lines, 0)->form, LOG_FORM_RAW);
	cfg_world_fini(&w);
}

static void
streams_make_rings_in_the_format_of_their_line(void **state)
{
	struct cfg_world w;
	const struct ring_conf *c;
	const struct ring_server *s;

	(void)state;
	cfg_world_read(&w, "global\n log tcp@127.0.0.1 local0\n log-send-hostname\n"
			   " log uxst@/a/path len 60000 format iso local0\n");
	assert_int_equal(log_global_finish(&w.proxies.log, &w.diag), 0);
	if (w.diag.nentry)
		fail_msg("%s", w.diag.entry[0].text);
	c = ring_of(&w, "ring#1");
	assert_string_equal(c->description,
		"created from logserver declared into 't.cfg' at line 2");
	assert_int_equal(c->ring.form, LOG_FORM_RFC3164);
	s = list_first(&c->servers, struct ring_server, link);
	assert_int_equal(addr_port(&s->conf.addr), 514);
	assert_int_equal(s->conf.connect_ms, 1000);
	assert_int_equal(s->conf.server_ms, 5000);
	c = ring_of(&w, "ring#2");
	assert_int_equal(c->ring.form, LOG_FORM_ISO);
	assert_int_equal(c->ring.maxlen, 60000);
	assert_in_range(c->ring.size, 60004, 70000);
	cfg_world_fini(&w);
}

/* The last report. */
static const char *
report_of(const char *text, struct cfg_world *w)
{
	static char out[512];

	cfg_world_read(w, text);
	(void)!log_global_finish(&w->proxies.log, &w->diag);
	assert_true(w->diag.nentry > 0);
	snprintf(out, sizeof(out), "%s", w->diag.entry[w->diag.nentry - 1].text);
	return out;
}

static void
mistakes_are_reported(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "global\n log ring@none local0\n", "there is no section 'ring none'" },
		{ "ring a\nring a\n", "sink named 'a' already exists" },
		{ "ring stdout\n", "sink named 'stdout' already exists" },
		{ "ring a\n format js\n", "unknown format 'js'" },
		{ "ring a\n maxlen 0\n", "maxlen" },
		{ "ring a\n size 16383\n", "size" },
		{ "ring a\n maxlen 20000\n",
			"ring 'a' event max length '20000' exceeds size, forced to size '16380'" },
		{ "ring a\n backing-file /x\n backing-file /y\n",
			"'backing-file' already specified for ring 'a' (was '/x')" },
		{ "ring a\n backing-file /x\nring b\n backing-file /x\n",
			"ring 'a' has this file already" },
		{ "ring a\n backing-file\n", "backing-file" },
		{ "ring a\n backing-file \"\"\n", "'backing-file' expects <path>" },
		{ "ring a\n server s 127.0.0.1\n", "'server s' : '127.0.0.1'" },
		{ "ring a\n server s udp@127.0.0.1:1\n", "'server s'" },
		{ "ring a\n server s 127.0.0.1:1 check\n",
			"'server s' : 'check' : in a ring a server has the options log-proto" },
		{ "ring a\n server s 127.0.0.1:1 ssl check-sni x\n", "'check-sni' : in a ring" },
		{ "ring a\n server s 127.0.0.1:1 ssl ca-file\n", "'ca-file' expects" },
		{ "ring a\n server s 127.0.0.1:1 ssl verify maybe\n", "'server s' : 'verify' : " },
		{ "ring a\n server s 127.0.0.1:1 ssl sni\n", "a constant: str(<name>)" },
		{ "ring a\n server s 127.0.0.1:1 ssl sni ssl_fc_sni\n", "a constant: str(<name>)" },
		{ "ring a\n server s 127.0.0.1:1 ssl sni str(a),none\n", "'none'" },
		{ "ring a\n server s 127.0.0.1:1 ssl sni str()\n", "the name is empty" },
		{ "ring a\n server s 127.0.0.1:1 verify none\n",
			"'server s' : options of TLS have no effect without 'ssl'" },
		{ "ring a\n server s 127.0.0.1:1 log-proto\n", "log-proto" },
		{ "ring a\n server s 127.0.0.1:1 log-proto x\n", "'x'" },
		{ "ring a\n timeout check 3s\n", "timeout" },
	};
	struct cfg_world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *says = report_of(rows[i].text, &w);

		if (!strstr(says, rows[i].says))
			fail_msg("%s: '%s' is not in '%s'", rows[i].text, rows[i].says, says);
		cfg_world_fini(&w);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_keyword_is_kept),
		cmocka_unit_test(defaults_are_haproxys),
		cmocka_unit_test(streams_make_rings_in_the_format_of_their_line),
		cmocka_unit_test(mistakes_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
