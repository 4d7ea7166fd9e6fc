/*
 * Any bytes sent to the admin socket, in pieces, on a worker that runs on the fake kernel and has a
 * session open. Answers contain no NUL and end with a line or a prompt; a level cannot change what
 * it is not permitted to change; and after the client has closed nothing of it is left.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/process.h"
#include "cfg/reader.h"
#include "fake/kernel.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/session/session.h"
#include "proxy/config/proxy_life.h"

#define ADMIN_PORT 1001
#define FRONT_PORT 1000
#define ORIGIN_PORT 2000
#define TURNS_MAX 20000
#define ANSWER_MAX (16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
	"global\n nbthread 1\n stats socket ipv4@127.0.0.1:1001 level admin\n stats timeout 5s\n"
	"defaults\n timeout connect 5s\n timeout client 5s\n timeout server 5s\n"
	"listen l\n bind 127.0.0.1:1000\n server s 127.0.0.1:2000 weight 9\n"
	" acl a src 10.0.0.0/8 1.2.3.4\n acl p dst_port -u 7 gt 1024\n use_backend b if a p\n"
	"backend b\n balance static-rr\n server c 127.0.0.1:2001 weight 9\n";

struct scene {
	struct fake *k;
	struct sys sys;
	struct config cfg;
	struct report report;
	struct notify nobody;
	struct process proc;
	struct fake_sock *admin, *client;
};

static struct scene c;
static char answer[ANSWER_MAX + 1];
static size_t answer_len;

static void
check(int ok)
{
	if (!ok)
		abort();
}

static void
load(void)
{
	static const char *const none[] = { NULL };
	struct cfg_facts facts;
	struct cfg_reader_opts opts = { .root = &c.cfg, .registry = &c.cfg.registry,
					.diag = &c.cfg.diag, .env = &c.cfg.env, .facts = &facts };
	struct cfg_reader r;

	check(config_init(&c.cfg, none) == 0);
	config_facts(&c.cfg, &facts);
	cfg_reader_init(&r, &opts);
	check(cfg_reader_text(&r, "t.cfg", text, strlen(text)) == 0);
	check(cfg_reader_end(&r) == 0);
	cfg_reader_fini(&r);
	check(proxies_finish(&c.cfg.proxies, &c.cfg.diag) == 0);
	check(proxies_shard(&c.cfg.proxies, 1) == 0);
}

static void
turn(void)
{
	check(loop_turn(process_loop(&c.proc), 1) == 0);
	(void)fake_run_due(c.k);
}

static void
open_scene(int level)
{
	struct bind_conf *b;

	memset(&c, 0, sizeof(c));
	c.nobody.fd = -1;
	c.report.to = stderr;
	c.k = fake_new();
	fake_set_buffers(c.k, 8192, 8192);
	sys_init(&c.sys, &sys_fake, c.k);
	load();
	b = list_first(&c.cfg.global.admin_binds, struct bind_conf, link);
	b->level = (enum bind_level)level;
	check(process_init(&c.proc, &c.sys, &c.cfg, &c.report, &c.nobody) == 0);
	c.proc.service = &admin_service;
	c.proc.limits = (struct limits){ .maxconn = 16, .fds = 64, .table = 64 };
	check(process_bind(&c.proc) == 0 && process_start(&c.proc) == 0);
	(void)fake_origin(c.k, ORIGIN_PORT, 16);
	turn();
	c.client = fake_client(c.k, FRONT_PORT);
	c.admin = fake_client(c.k, ADMIN_PORT);
	for (int i = 0; i < 8 && !(process_sessions(&c.proc) && c.proc.admin->n); i++)
		turn();
	check(process_sessions(&c.proc) == 1 && c.proc.admin->n == 1);
}

static void
close_scene(void)
{
	fake_peer_close(c.admin);
	for (int i = 0; i < 8; i++)
		turn();
	check(c.proc.admin->n == 0);
	check(!fake_abuse(c.k, FAKE_BAD_FD) && !fake_abuse(c.k, FAKE_RECV_ZERO));
	engine_kill_all(&process_first(&c.proc)->engine);
	turn();
	check(process_sessions(&c.proc) == 0);
	process_fini(&c.proc);
	config_fini(&c.cfg);
	check(fake_fds(c.k) == 0);
	fake_free(&c.k);
}

/* Reads what is available: 0 after the daemon has closed. */
static int
take(void)
{
	long n;

	do {
		n = fake_peer_recv(c.admin, answer + answer_len, ANSWER_MAX - answer_len);
		if (n > 0)
			answer_len += (size_t)n;
	} while (n > 0);
	check(answer_len < ANSWER_MAX);
	return n == -EAGAIN;
}

/* Sends it in pieces; a daemon that closes early has sent a reason. */
static void
play(const uint8_t *p, size_t len, size_t piece, int shut)
{
	size_t was = 1;
	int left = TURNS_MAX;

	answer_len = 0;
	while (len && --left) {
		long n = fake_peer_send(c.admin, p, piece < len ? piece : len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n != -EAGAIN) {
			break;
		}
		turn();
		if (!take())
			break;
	}
	if (shut)
		fake_peer_shut(c.admin);
	for (int quiet = 0; quiet < 4 && --left;) {
		was = answer_len;
		turn();
		if (!take())
			break;
		quiet = was == answer_len ? quiet + 1 : 0;
	}
	check(left > 0);
}

/* Ends with an empty line, or in prompt mode with a prompt for a command or for a line of a
 * payload. */
static int
ends_well(void)
{
	size_t len = answer_len;

	while (len > 2 && memcmp(answer + len - 2, "+ ", 2) == 0)
		len -= 2;
	return !len || answer[len - 1] == '\n' ||
		(len > 2 && memcmp(answer + len - 3, "\n> ", 3) == 0);
}

static void
look_at_servers(int level)
{
	list_each(it, &c.cfg.proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		list_each(at, &px->servers) {
			const struct server *s = list_entry(at, struct server, link);

			check(s->uweight >= 0 && s->uweight <= SERVER_WEIGHT_MAX);
			if (level < BIND_ADMIN)
				check(s->admin == SERVER_READY && s->uweight == s->conf.weight);
		}
	}
	if (level < BIND_ADMIN)
		check(process_first(&c.proc)->trace.level == TRACE_OFF);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int level = size ? data[0] % 3 : BIND_ADMIN;
	size_t piece = size > 1 ? (size_t)data[1] * 4 + 1 : 1;

	open_scene(level);
	if (size > 2) {
		play(data + 2, size - 2, piece, data[0] & 4);
		answer[answer_len] = '\0';
		check(!memchr(answer, 0, answer_len));
		check(ends_well());
		look_at_servers(level);
	}
	close_scene();
	return 0;
}
