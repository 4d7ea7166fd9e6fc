/*
 * Any bytes sent to the master's socket, in pieces, with a worker process behind it that answers at
 * once or late, much or little, in pieces, or not at all, and a client that may be slow to read or
 * leave. Nothing is left afterwards. The same bytes in one piece get the same answers, whatever
 * the pieces were: what a line means does not depend on when its bytes come.
 *
 * An input is a head of HEAD bytes, which set how both ends behave, and the bytes of the client.
 */
#include <stdint.h>

#include "app/process/master_link.h"
#include "unit/app/master_rig.h"

enum { HEAD = 12, SCRIPT = 4 };
#define RELAYS_MAX 8
#define TURNS_MAX 100000
#define PIECES_MAX 64
#define ANSWER_MAX (8u << 20)

/* Bits of the first byte of the head. */
enum {
	TAKES_SLOWLY = 4,
	ENDS_SIDE = 8,     /* the client ends its side behind the bytes */
	LEAVES = 16,       /* it goes before it has the answer */
	RELOADS_LATE = 32,
	IDLES = 64,        /* a minute passes in the middle */
	REFUSES = 128
};

/* The worker process's end of a relay. */
struct answerer {
	struct fake_sock *end;   /* NULL: closed */
	uint8_t how;
	unsigned int wait;       /* turns before it sends more */
	size_t left;             /* bytes of its answer */
	int has_read;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __wrap_master_reload(struct master *m);

static struct master_rig rig;
static const uint8_t *head;
static struct answerer all[RELAYS_MAX];
static char answer[2][ANSWER_MAX];
static unsigned int reload_in; /* turns until the reload ends; 0: there is none */
static int passed_client;      /* its connection has gone to the worker process */

#define check master_rig_check

void
__wrap_master_reload(struct master *m)
{
	m->n_reloads++;
	if (head[0] & RELOADS_LATE)
		reload_in = 3;
	else
		m->cli.on_reload(m, m->n_reloads, 0);
}

static void
take_relay(struct master_rig *r, struct fake_sock *end, const char *text)
{
	struct answerer *a = NULL;

	check(strncmp(text, MASTER_CLI, strlen(MASTER_CLI)) == 0);
	for (size_t i = 0; i < ARRAY_LEN(all) && !a; i++)
		a = all[i].end ? NULL : &all[i];
	check(a != NULL);
	*a = (struct answerer){ .end = end, .how = head[SCRIPT + r->n_relays % (HEAD - SCRIPT)] };
	a->wait = a->how & 3;
	a->left = (a->how >> 4) * ((a->how & 12) == 8 ? 2500u : 10u);
}

/* Answers some more. A worker process reads the command before it closes, unless it dies. */
static void
answer_on(struct answerer *a)
{
	static char text[16384];
	char got[4096];
	size_t piece = a->how & 4 ? 37 : sizeof(text);
	long n;

	if (a->wait) {
		a->wait--;
		return;
	}
	while ((n = fake_peer_recv(a->end, got, sizeof(got))) > 0)
		a->has_read = 1;
	if (!text[0])
		memset(text, 'a', sizeof(text));
	piece = MIN(piece, a->left);
	n = piece ? fake_peer_send(a->end, text, piece) : 0;
	if (n > 0)
		a->left -= (size_t)n;
	a->wait = a->how & 3;
	if (!a->left || (n < 0 && n != -EAGAIN)) {
		fake_peer_close(a->end);
		a->end = NULL;
	}
}

static void
turn(void)
{
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].end)
			answer_on(&all[i]);
	if (reload_in && !--reload_in)
		rig.m.cli.on_reload(&rig.m, rig.m.n_reloads, 1);
	master_rig_turn(&rig);
}

static int
is_busy(void)
{
	int busy = reload_in > 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		busy |= all[i].end != NULL;
	return busy;
}

/* Reads at most this much of what is available: 0 after the master has closed. */
static int
take(char *to, size_t *len, size_t most)
{
	long n = 1;

	while (most && n > 0) {
		n = fake_peer_recv(rig.client, to + *len, MIN(most, ANSWER_MAX - *len));
		if (n > 0) {
			*len += (size_t)n;
			most -= (size_t)n;
		}
		check(*len < ANSWER_MAX);
	}
	return n > 0 || n == -EAGAIN;
}

/* Sends it in pieces of this size; returns the length of the answers. */
static size_t
play(char *to, const uint8_t *p, size_t len, size_t piece, int is_slow)
{
	int left = TURNS_MAX, is_open = 1, quiet = 0;
	size_t got = 0, half = len / 2;

	while (len && --left && is_open && rig.client_fd >= 0) {
		long n = fake_peer_send(rig.client, p, MIN(piece, len));

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n != -EAGAIN) {
			break;
		}
		if (is_slow && head[0] & IDLES && len < half) {
			fake_advance(rig.k, 61 * FAKE_SEC);
			half = 0;
		}
		turn();
		is_open = take(to, &got, is_slow ? 100 : SIZE_MAX);
	}
	if (head[0] & ENDS_SIDE && is_open)
		fake_peer_shut(rig.client);
	while (is_open && quiet < 4 && --left) {
		size_t was = got;

		if (is_slow && head[0] & LEAVES && is_busy())
			break;
		turn();
		is_open = take(to, &got, SIZE_MAX);
		quiet = was == got && !is_busy() ? quiet + 1 : 0;
	}
	check(left > 0);
	return got;
}

static size_t
run(char *to, const uint8_t *p, size_t len, size_t piece, int is_slow)
{
	static const char *const levels[] = { "user", "operator", "admin", "admin" };
	size_t got;

	memset(all, 0, sizeof(all));
	reload_in = 0;
	rig.on_relay = take_relay;
	rig.refuses = !!(head[0] & REFUSES);
	master_rig_open(&rig, levels[head[0] & 3],
		is_slow && head[0] & TAKES_SLOWLY ? 2048 : 1 << 20);
	got = play(to, p, len, piece, is_slow);
	fake_peer_close(rig.client);
	rig.client_is_gone = 1;
	for (int i = 0; i < 1000 && (rig.m.cli.n || is_busy()); i++) {
		turn();
		fake_advance(rig.k, FAKE_SEC);
	}
	passed_client |= rig.has_passed_client;
	master_rig_close(&rig);
	return got;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n, whole, piece;

	if (size < HEAD)
		return 0;
	head = data;
	piece = (size_t)data[1] * (data[2] & 1 ? 1 : 64) + 1;
	data += HEAD;
	size -= HEAD;
	piece = MAX(piece, size / PIECES_MAX);
	passed_client = 0;
	n = run(answer[0], data, size, piece, 1);
	check(!memchr(answer[0], 0, n));
	/* With the connection go the answers that were not sent yet. */
	if (head[0] & (LEAVES | IDLES) || passed_client)
		return 0;
	check(!n || answer[0][n - 1] == '\n' || answer[0][n - 1] == ' ' || answer[0][n - 1] == 'a');
	whole = run(answer[1], data, size, SIZE_MAX, 0);
	check(n == whole && memcmp(answer[0], answer[1], n) == 0);
	return 0;
}
