#include <stdio.h>
#include <string.h>

#include "net/listener.h"
#include "net/listener_key.h"
#include "net/shards.h"
#include "net/sockbuf.h"
#include "unit/test.h"

static struct bind_conf bind_conf;
static struct listener ln;

static int
setup(void **st)
{
	(void)st;
	memset(&bind_conf, 0, sizeof(bind_conf));
	bind_conf.uid = (uid_t)-1;
	bind_conf.gid = (gid_t)-1;
	listener_init(&ln, &bind_conf);
	return 0;
}

static void
set_addr(const char *text)
{
	struct addr_spec spec;
	const char *why;

	assert_int_equal(addr_parse(text, ADDR_ALLOW_UNIX, &spec, &why), 0);
	ln.addr = spec.addr;
	addr_set_port(&ln.addr, spec.port_lo);
}

static const char *
key(void)
{
	static char text[LISTENER_KEY_MAX];

	listener_key(&ln, text);
	return text;
}

static void
the_address_and_what_is_settled_with_it(void **st)
{
	(void)st;
	set_addr("127.0.0.1:80");
	assert_string_equal(key(), "127.0.0.1:80");
	/* set on the socket at any time: the same socket can be used */
	bind_conf.defer_accept = bind_conf.tfo = 1;
	bind_conf.mode = 0600;
	assert_string_equal(key(), "127.0.0.1:80");
	bind_conf.transparent = bind_conf.v4v6 = 1;
	strcpy(bind_conf.interface, "eth0");
	assert_string_equal(key(), "127.0.0.1:80,interface=eth0,v4v6,transparent");
	bind_conf.netns = "b,c";
	assert_string_equal(key(), "127.0.0.1:80,namespace=b%2cc,interface=eth0,v4v6,transparent");
	bind_conf.netns = NULL;
	bind_conf.v6only = 1;
	set_addr("[::1]:443");
	assert_string_equal(key(), "[::1]:443,interface=eth0,v6only,transparent");
}

/* A socket keeps its protocol, and buffers of a fixed size stay so. */
static void
the_protocol_and_fixed_buffers(void **st)
{
	struct sockbuf sizes = { .notsent = 4096 };

	(void)st;
	set_addr("127.0.0.1:80");
	ln.sockbuf = &sizes;
	assert_string_equal(key(), "127.0.0.1:80");
	sizes.rcv = 8192;
	assert_string_equal(key(), "127.0.0.1:80,rcvbuf");
	sizes.snd = 16384;
	ln.is_mptcp = 1;
	assert_string_equal(key(), "127.0.0.1:80,mptcp,rcvbuf,sndbuf");
}

static void
a_port_of_the_kernels_choice_is_not_named(void **st)
{
	struct listener copy;

	(void)st;
	set_addr("127.0.0.1:4711");
	ln.any_port = 1;
	assert_string_equal(key(), "127.0.0.1:0");
	/* nor for its copies, which asked for the port of the first */
	copy = ln;
	ln.any_port = 0;
	ln.first = &copy;
	assert_string_equal(key(), "127.0.0.1:0");
}

static void
sockets_of_one_address_are_counted(void **st)
{
	struct listener copies[3];
	struct listener_group g = { .n = 4, .of = { &ln, &copies[0], &copies[1], &copies[2] } };
	char text[LISTENER_KEY_MAX];

	(void)st;
	set_addr("127.0.0.1:80");
	ln.group = &g;
	for (int i = 0; i < 3; i++) {
		copies[i] = ln;
		copies[i].first = &ln;
	}
	copies[0].lead = &ln;
	listener_key(&ln, text);
	assert_string_equal(text, "127.0.0.1:80");
	listener_key(&copies[1], text);
	assert_string_equal(text, "127.0.0.1:80,shard=1");
	listener_key(&copies[2], text);
	assert_string_equal(text, "127.0.0.1:80,shard=2");
}

static void
bind_lines_with_one_address_are_counted(void **st)
{
	struct listener copy;

	(void)st;
	set_addr("127.0.0.1:80");
	ln.twin = 2;
	assert_string_equal(key(), "127.0.0.1:80,twin=2");
	/* the copies of the second line belong to it */
	copy = ln;
	ln.twin = 0;
	ln.first = &copy;
	assert_string_equal(key(), "127.0.0.1:80,twin=2");
}

static void
a_path_is_one_word(void **st)
{
	char path[200];

	(void)st;
	set_addr("unix@/run/a b,c%\n");
	assert_string_equal(key(), "unix@/run/a%20b%2cc%25%0a");
	bind_conf.mode = 0660;
	bind_conf.uid = 5;
	bind_conf.gid = 0;
	assert_string_equal(key(), "unix@/run/a%20b%2cc%25%0a,mode=660,uid=5,gid=0");
	assert_int_equal(listener_key_path(key(), path, sizeof(path)), 0);
	assert_string_equal(path, "/run/a b,c%\n");
	assert_true(listener_key_path(key(), path, 6) < 0);
	assert_int_equal(listener_key_path("unix@/a%2", path, sizeof(path)), 0);
	assert_string_equal(path, "/a%2");
	assert_true(listener_key_path("127.0.0.1:80", path, sizeof(path)) < 0);
	set_addr("abns@x");
	assert_true(listener_key_path(key(), path, sizeof(path)) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_address_and_what_is_settled_with_it, setup),
		cmocka_unit_test_setup(the_protocol_and_fixed_buffers, setup),
		cmocka_unit_test_setup(a_port_of_the_kernels_choice_is_not_named, setup),
		cmocka_unit_test_setup(sockets_of_one_address_are_counted, setup),
		cmocka_unit_test_setup(bind_lines_with_one_address_are_counted, setup),
		cmocka_unit_test_setup(a_path_is_one_word, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
