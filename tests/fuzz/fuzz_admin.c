/*
 * Any bytes sent to the admin socket, in pieces, on a worker that runs on the fake kernel and has a
 * session open: on a connection of the socket, or on one that the master passes. Sessions come and
 * go meanwhile, and a ring gets their log lines; time passes for commands that wait; the client
 * may read slowly, or leave before it has its answer. Answers contain no NUL, but for those that
 * ask for it, and end with a line or a prompt; a level cannot change what it is not permitted to
 * change; and after the client has closed nothing of it is left.
 *
 * The process is the same one for SAME_RUNS runs, while it accepts sessions: most of a run would be
 * its start otherwise. So commands find what earlier runs have left. In the directory
 * TACIT_FUZZ_RUNS, if it is set, `admin-NN` are the inputs since the start of the process: the
 * program with all of them as arguments repeats what it did.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/config/modules.h"
#include "app/process/process.h"
#include "base/mem.h"
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
#define RELAY_PORT 1002
#define SAME_RUNS 32

/* Bits of the first byte: how the client behaves. */
enum { ENDS_SIDE = 4, IS_RELAYED = 8, TAKES_SLOWLY = 16, LEAVES = 32, HAS_MODES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_modules_register(struct cfg_registry *reg, const char **culprit);
int __wrap_modules_register(struct cfg_registry *reg, const char **culprit);

static const char text[] =
	"global\n nbthread 1\n stats socket ipv4@127.0.0.1:1001 level admin\n stats timeout 5s\n"
	"ring r\n format raw\n size 16384\n"
	"defaults\n log ring@r local0\n option tcplog\n"
	" timeout connect 5s\n timeout client 5s\n timeout server 5s\n"
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
	unsigned int runs; /* that this process has had; 0: there is none */
	uint64_t state;    /* by state_now() before the run */
};

static struct scene c;
static char answer[ANSWER_MAX + 1];
static size_t answer_len;
static int was_reset; /* the client has sent bytes in vain: that takes back what it has not read */

static void
check(int ok)
{
	if (!ok)
		abort();
}

/* Each configuration gets a copy of one table: sorting the words takes longer than a run. */
int
__wrap_modules_register(struct cfg_registry *reg, const char **culprit)
{
	static struct cfg_registry all;

	if (!all.nmodule)
		check(__real_modules_register(&all, culprit) == 0);
	*reg = all;
	reg->kw = mem_resize(NULL, all.kwcap, sizeof(*reg->kw));
	check(reg->kw != NULL);
	memcpy(reg->kw, all.kw, all.nkw * sizeof(*reg->kw));
	return 0;
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

static int
has_conn(void)
{
	return !list_is_empty(&c.proc.admin->conns);
}

static void
turn(void)
{
	check(loop_turn(process_loop(&c.proc), 1) == 0);
	(void)fake_run_due(c.k);
}

/* A connection as the master passes one. */
static struct fake_sock *
pass_relay(int level, unsigned int modes)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(RELAY_PORT),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct fake_sock *origin = fake_origin(c.k, RELAY_PORT, 1), *end;
	int fd = (int)sys_socket(&c.sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)sys_connect(&c.sys, fd, (const struct sockaddr *)&to, sizeof(to));
	check(sys_connect(&c.sys, fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
	end = fake_origin_accept(origin);
	fake_peer_close(origin);
	admin_service.serve(c.proc.admin, fd,
		&(struct cli_rights){ .level = (enum bind_level)level, .modes = modes });
	return end;
}

/* A session that ends at once: the ring gets a line. */
static void
come_and_go(void)
{
	fake_peer_close(fake_client(c.k, FRONT_PORT));
}

static void
start_process(void)
{
	memset(&c, 0, sizeof(c));
	c.nobody.fd = -1;
	c.report.to = stderr;
	c.k = fake_new();
	fake_set_buffers(c.k, 8192, 8192);
	sys_init(&c.sys, &sys_fake, c.k);
	load();
	check(process_init(&c.proc, &c.sys, &c.cfg, &c.report, &c.nobody) == 0);
	process_open_log(&c.proc, "fuzz");
	c.proc.service = &admin_service;
	c.proc.limits = (struct limits){ .maxconn = 16, .fds = 64, .table = 64 };
	check(process_bind(&c.proc) == 0 && process_start(&c.proc) == 0);
	(void)fake_origin(c.k, ORIGIN_PORT, 4 * SAME_RUNS);
	turn();
}

/* True while the current command waits: for a time, or for events. */
static int
is_waiting(void)
{
	return has_conn() && list_first(&c.proc.admin->conns, struct admin_conn, link)->wake_ms;
}

/* Lets it end. 0: it was none, or waits for events: a client ends these. */
static int
pass_time(void)
{
	if (!is_waiting() ||
		list_first(&c.proc.admin->conns, struct admin_conn, link)->wake_ms == TIMER_NEVER)
		return 0;
	fake_advance(c.k, 10 * 86400 * FAKE_SEC);
	return 1;
}

static void
end_process(void)
{
	process_fini(&c.proc);
	config_fini(&c.cfg);
	check(fake_fds(c.k) == 0);
	fake_free(&c.k);
	c.runs = 0;
}

/* Returns a sum of all that only the level admin may change. */
static uint64_t
state_now(void)
{
	uint64_t sum = process_first(&c.proc)->trace.level + 31 * fake_fds(c.k);

	list_each(it, &c.cfg.proxies.all) {
		const struct proxy *px = list_entry(it, struct proxy, link);

		list_each(at, &px->servers) {
			const struct server *s = list_entry(at, struct server, link);

			check(s->uweight >= 0 && s->uweight <= SERVER_WEIGHT_MAX);
			sum = 31 * (31 * sum + (uint64_t)s->admin) + (uint64_t)s->uweight + 1;
		}
	}
	return sum;
}

/* True if a session is open, and a connection of the socket. */
static int
connect_both(int level, int how)
{
	list_first(&c.cfg.global.admin_binds, struct bind_conf, link)->level =
		(enum bind_level)level;
	c.client = fake_client(c.k, FRONT_PORT);
	if (how & IS_RELAYED)
		c.admin = pass_relay(level, how & HAS_MODES ? 3u << ADMIN_MODE_EXPERIMENTAL : 0);
	else
		c.admin = fake_client(c.k, ADMIN_PORT);
	for (int i = 0; i < 8 && !(process_sessions(&c.proc) && has_conn()); i++)
		turn();
	return process_sessions(&c.proc) == 1 && has_conn();
}

/* Nothing of both is left. */
static void
close_both(void)
{
	/* A wait continues without its client. */
	fake_peer_close(c.admin);
	for (int i = 0; i < 500 && (i < 2 || has_conn()); i++) {
		(void)pass_time();
		turn();
	}
	check(!has_conn() && c.proc.admin->n == 0);
	check(!fake_abuse(c.k, FAKE_BAD_FD) && !fake_abuse(c.k, FAKE_RECV_ZERO));
	engine_kill_all(&process_first(&c.proc)->engine);
	turn();
	check(process_sessions(&c.proc) == 0);
}

static void
open_scene(int level, int how)
{
	if (!c.runs)
		start_process();
	c.state = state_now();
	if (!connect_both(level, how)) {
		check(c.runs > 0);
		close_both();
		end_process();
		start_process();
		c.state = state_now();
		check(connect_both(level, how));
	}
	c.runs++;
}

static void
close_scene(int level)
{
	close_both();
	check(level == BIND_ADMIN || state_now() == c.state);
	if (c.runs == SAME_RUNS)
		end_process();
}

/* Reads at most this much of what is available: 0 after the daemon has closed. */
static int
take(size_t most)
{
	long n = 1;

	while (n > 0 && most) {
		n = fake_peer_recv(
			c.admin, answer + answer_len, MIN(most, ANSWER_MAX - answer_len));
		if (n > 0) {
			answer_len += (size_t)n;
			most -= (size_t)n;
		}
	}
	was_reset |= n == -ECONNRESET;
	check(answer_len < ANSWER_MAX);
	return n > 0 || n == -EAGAIN;
}

/* Sends it in pieces; a daemon that closes early has sent a reason. */
static void
play(const uint8_t *p, size_t len, size_t piece, int how)
{
	size_t was = 1, half = len / 2;
	int left = TURNS_MAX;

	answer_len = 0;
	was_reset = 0;
	while (len && --left) {
		long n = fake_peer_send(c.admin, p, piece < len ? piece : len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n != -EAGAIN) {
			was_reset = 1;
			break;
		} else {
			(void)pass_time();
		}
		if (len < half) {
			come_and_go();
			half = 0;
		}
		turn();
		if (!take(how & TAKES_SLOWLY ? 100 : SIZE_MAX))
			break;
	}
	if (how & ENDS_SIDE)
		fake_peer_shut(c.admin);
	come_and_go();
	for (int quiet = 0; quiet < 4 && --left && !(how & LEAVES && is_waiting());) {
		was = answer_len;
		turn();
		if (!take(SIZE_MAX))
			break;
		quiet = was == answer_len && !pass_time() ? quiet + 1 : 0;
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
save_run(const uint8_t *data, size_t size)
{
	const char *dir = getenv("TACIT_FUZZ_RUNS");
	char path[512];
	FILE *f;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/admin-%02u", dir, c.runs);
	f = fopen(path, "wb");
	check(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int level = size ? data[0] % 3 : BIND_ADMIN, how = size ? data[0] : 0;
	size_t piece = size > 1 ? (size_t)data[1] * 4 + 1 : 1;

	open_scene(level, how);
	save_run(data, size);
	if (size > 2) {
		play(data + 2, size - 2, piece, how);
		answer[answer_len] = '\0';
		check(memmem(data, size, "events", 6) || !memchr(answer, 0, answer_len));
		check(was_reset || is_waiting() || ends_well());
	}
	close_scene(level);
	return 0;
}
