/* Servers that are added and removed at run time: their line, their ids, the balancing, the
 * memory. */

#include "proxy/backend/balance.h"
#include "proxy/config/server_add.h"
#include "proxy/model/persist_conf.h"
#include "proxy/model/server_list.h"
#include "unit/proxy/proxies_rig.h"

static struct world w;
static struct proxy *be;
static char why[CFG_DIAG_TEXT_MAX];

static void
begin(const char *lines)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), WORLD_DEFAULTS "backend b\n default-server weight 7\n%s",
		lines);
	world_good(&w, text);
	assert_int_equal(proxies_shard(&w.proxies, 2), 0);
	be = proxies_find(&w.proxies, "b", PROXY_BE);
	assert_non_null(be);
}

static void
end(void)
{
	world_fini(&w);
}

/* The words of a server line, separated by a space each. NULL: the error is in `why`. */
static struct server *
add(const char *line)
{
	char copy[512], *rest = copy, *argv[SERVER_LINE_MAX];
	struct server_line l = { .proxies = &w.proxies,
		.registry = &w.registry,
		.env = &w.env,
		.be = be,
		.argv = argv };
	struct cfg_diag d;
	struct server *s;

	(void)snprintf(copy, sizeof(copy), "%s", line);
	while ((argv[l.argc] = strsep(&rest, " ")) != NULL)
		l.argc++;
	cfg_diag_init(&d, 0);
	s = server_add(&l, &d);
	(void)snprintf(why, sizeof(why), "%s", d.nentry ? d.entry[0].text : "");
	cfg_diag_fini(&d);
	return s;
}

static void
assert_refused(const char *line, const char *text)
{
	unsigned int n = be->n_servers;

	assert_null(add(line));
	assert_non_null(strstr(why, text));
	assert_int_equal(be->n_servers, n);
}

static void
a_new_server_is_in_maintenance(void **st)
{
	struct server *s;

	(void)st;
	begin(" server s1 10.0.0.1:80\n server s2 10.0.0.2:80\n");
	s = add("n1 10.0.0.3:80 maxconn 5");
	assert_non_null(s);
	assert_int_equal(s->admin, SERVER_MAINT_FORCED);
	assert_int_equal(s->id, 3);
	assert_int_equal(s->has_own_id, 0);
	/* Not the 7 of default-server. */
	assert_int_equal(s->uweight, 1);
	assert_int_equal(s->conf.maxconn, 5);
	assert_int_equal(be->n_servers, 3);
	assert_int_equal(be->lb.cap, 3);
	assert_int_equal(be->lb.n, 2);
	s = add("n2 10.0.0.4:80 enabled weight 9 id 77");
	assert_non_null(s);
	assert_int_equal(s->admin, SERVER_READY);
	assert_int_equal(s->id, 77);
	assert_int_equal(s->has_own_id, 1);
	assert_int_equal(be->lb.n, 3);
	assert_ptr_equal(be->lb.group[2], s);
	s = add("n3 nowhere.invalid:80 enabled");
	assert_non_null(s);
	assert_int_equal(s->admin, SERVER_MAINT_UNRESOLVED);
	end();
}

static void
the_lowest_free_id_is_taken(void **st)
{
	struct server *s;

	(void)st;
	begin(" server s1 10.0.0.1:80\n server s2 10.0.0.2:80 id 5\n");
	assert_int_equal(add("a 10.0.0.3:80")->id, 2);
	s = add("b 10.0.0.3:80");
	assert_int_equal(s->id, 3);
	assert_int_equal(add("c 10.0.0.3:80")->id, 4);
	assert_int_equal(add("d 10.0.0.3:80")->id, 6);
	server_remove(&w.proxies, s);
	assert_int_equal(add("e 10.0.0.3:80")->id, 3);
	end();
}

static void
bad_lines_change_nothing(void **st)
{
	(void)st;
	begin(" server s1 10.0.0.1:80 check\n");
	assert_refused("n! 10.0.0.3:80", "character '!' is not permitted in server name 'n!'.");
	assert_refused("n 10.0.0.3:80 resolvers x",
		"'resolvers' option is not accepted for dynamic server");
	assert_refused("n 10.0.0.3:80 init-addr none",
		"'init-addr' option is not accepted for dynamic server");
	assert_refused("n 10.0.0.3:80 weigth 3", "unknown keyword 'weigth'");
	assert_refused("n 10.0.0.3:80 weight 300", "300");
	assert_refused("n 10.0.0.3:80 weight", "'weight' expects <number>.");
	assert_refused("n 10.0.0.3:80 id 1", "custom id 1 already used by server 's1'");
	assert_refused(
		"n 10.0.0.3:80 track nope", "unable to find required server 'nope' for tracking.");
	assert_refused("n 10.0.0.3:80 check track s1",
		"unable to enable checks and tracking at the same time!");
	assert_refused("n 10.0.0.3 check", "has neither service port nor check port");
	/* A look-up of a name would block. */
	assert_refused("n 10.0.0.3:80 source localhost", "localhost");
	assert_refused("n 10.0.0.3:80 check addr localhost", "localhost");
	assert_non_null(add("n 10.0.0.3:80 track s1"));
	assert_refused("m 10.0.0.3:80 track n",
		"unable to use b/n for tracking as it is a dynamic server.");
	end();
}

static void
tracking_servers_follow(void **st)
{
	struct server *s, *s1;

	(void)st;
	begin(" server s1 10.0.0.1:80 check disabled\n");
	s1 = proxy_find_server(be, STR("s1"));
	s = add("n 10.0.0.3:80 track s1 enabled");
	assert_ptr_equal(s->track, s1);
	assert_int_equal(s->admin, SERVER_MAINT_TRACKED);
	assert_false(list_is_empty(&s1->trackers));
	server_remove(&w.proxies, s);
	assert_true(list_is_empty(&s1->trackers));
	end();
}

static void
memory_of_removed_servers_is_used_again(void **st)
{
	struct server *first, *s;

	(void)st;
	begin(" server s1 10.0.0.1:80\n");
	first = add("n 10.0.0.3:80 enabled");
	first->shard[1].stat.cum_sess = 9;
	first->errors = 3;
	server_remove(&w.proxies, first);
	assert_int_equal(be->n_servers, 1);
	assert_int_equal(be->lb.n, 1);
	/* Messages may still name it. */
	assert_ptr_equal(first->be, be);
	assert_non_null(first->shard);
	s = add("m 10.0.0.4:80");
	assert_ptr_equal(s, first);
	assert_string_equal(s->name, "m");
	assert_int_equal(s->shard[1].stat.cum_sess, 0);
	assert_int_equal(s->errors, 0);
	assert_ptr_not_equal(add("k 10.0.0.4:80"), first);
	end();
}

static void
cookies_are_indexed(void **st)
{
	struct server *s;
	unsigned int at, n;

	(void)st;
	begin(" mode http\n cookie C insert\n server s1 10.0.0.1:80 cookie c\n"
	      " server s2 10.0.0.2:80 cookie a\n");
	s = add("n 10.0.0.3:80 cookie b");
	at = persist_conf_find(&be->persist, STR("b"), &n);
	assert_int_equal(n, 1);
	assert_ptr_equal(be->persist.entry[at].srv, s);
	server_remove(&w.proxies, s);
	(void)persist_conf_find(&be->persist, STR("b"), &n);
	assert_int_equal(n, 0);
	at = persist_conf_find(&be->persist, STR("c"), &n);
	assert_int_equal(n, 1);
	assert_string_equal(be->persist.entry[at].srv->name, "s1");
	end();
}

static void
a_backend_may_begin_without_servers(void **st)
{
	struct server *s;

	(void)st;
	begin(" balance leastconn\n");
	s = add("n 10.0.0.3:80 enabled");
	assert_int_equal(be->lb.n, 1);
	server_remove(&w.proxies, s);
	assert_int_equal(be->lb.n, 0);
	assert_int_equal(be->lb.usable, 0);
	end();
}

/* --- walks --- */

/* The names that a walk sees, separated by a space each. */
static const char *
see(struct server_walk *walk, unsigned int n)
{
	static char text[128];

	text[0] = '\0';
	while (n-- > 0) {
		const struct server *s = server_walk_next(be, walk);

		if (!s)
			break;
		(void)strcat(strcat(text, s->name), " ");
	}
	return text;
}

static void
walks_see_each_server_once(void **st)
{
	struct server_walk walk = { 0 };

	(void)st;
	begin(" server a 10.0.0.1:80\n server b 10.0.0.1:80\n"
	      " server c 10.0.0.1:80\n server d 10.0.0.1:80\n");
	assert_string_equal(see(&walk, 2), "a b ");
	/* The next one, and one that was seen. */
	server_remove(&w.proxies, proxy_find_server(be, STR("c")));
	server_remove(&w.proxies, proxy_find_server(be, STR("a")));
	assert_non_null(add("e 10.0.0.3:80"));
	assert_string_equal(see(&walk, 9), "d e ");
	assert_non_null(add("f 10.0.0.3:80"));
	assert_string_equal(see(&walk, 9), "f ");
	assert_string_equal(see(&walk, 9), "");
	walk = (struct server_walk){ 0 };
	assert_string_equal(see(&walk, 9), "b d e f ");
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_server_is_in_maintenance),
		cmocka_unit_test(the_lowest_free_id_is_taken),
		cmocka_unit_test(bad_lines_change_nothing),
		cmocka_unit_test(tracking_servers_follow),
		cmocka_unit_test(memory_of_removed_servers_is_used_again),
		cmocka_unit_test(cookies_are_indexed),
		cmocka_unit_test(a_backend_may_begin_without_servers),
		cmocka_unit_test(walks_see_each_server_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
