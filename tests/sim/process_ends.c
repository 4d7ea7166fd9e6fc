#include "sim/process_world.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sbuf.h"
#include "sim/h2_wire.h"
#include "sim/tls_wire.h"
#include "spop/spop.h"

#define CLIENTS 1024
#define SERVERS 8
#define SERVED 2048
#define NAME 24
#define TEXT 8192
#define ANSWER 65536
#define SHOWN 1000 /* bytes of a text that are noted, and of what a connection brings */
#define SHOWN_SHORT 100

struct end_client {
	struct process_ends *e;
	char name[NAME];
	struct fake_sock *s;
	struct wire *wire; /* NULL: plain bytes */
	int is_tls, is_shaken;
	unsigned int port;
	const char *only; /* of an answer: the lines with this text; NULL: all of it */
	int is_over;
};

struct end_server {
	struct process_ends *e;
	struct process_server_plan plan;
	struct fake_sock *listener; /* NULL: it has none */
	unsigned int n;             /* connections so far */
};

/* A connection to a server. */
struct served {
	struct end_server *srv;
	struct fake_sock *s;
	struct wire *wire;   /* NULL: plain bytes */
	unsigned int number; /* from 1 */
	char got[TEXT];      /* of the request that is not complete */
	size_t len;
	int is_over;
	const char *answer;  /* that is due */
	int hangs_up;
	int will_read;       /* at the next time that its plan says */
};

struct names {
	struct process_ends *e;
	struct fake_sock *s;
	unsigned int port, ttl;
	char addresses[200];
	int is_silent;
};

struct process_ends {
	struct process_world *w;
	struct fake *k;
	struct end_client client[CLIENTS];
	unsigned int n_clients;
	struct end_server server[SERVERS];
	unsigned int n_servers;
	struct served *served[SERVED];
	unsigned int n_served;
	struct fake_sock *log, *unix_log, *notify;
	struct names names;
	struct process_tls *tls; /* NULL: it is not used */
};

/* --- texts --- */

/* The first `most` bytes as one line: an end of a line becomes a bar. */
static const char *
one_line(const char *p, size_t len, size_t most, char out[SHOWN + 8])
{
	size_t n = 0;

	while (len && (p[len - 1] == '\n' || p[len - 1] == '\r'))
		len--;
	for (size_t i = 0; i < len && n < most; i++) {
		if (p[i] == '\r')
			continue;
		if (p[i] == '\n') {
			memcpy(out + n, " | ", 3);
			n += 3;
		} else {
			out[n++] = p[i] >= ' ' && p[i] < 127 ? p[i] : '?';
		}
	}
	if (n >= most) {
		memcpy(out + n, "...", 3);
		n += 3;
	}
	out[n] = '\0';
	return out;
}

/* --- clients --- */

static void
client_ends(struct end_client *c, const char *how)
{
	if (how)
		process_world_note(c->e->w, "%s %s", c->name, how);
	c->is_over = 1;
	fake_peer_close(c->s);
}

static void
note_lines(struct end_client *c, char *text, size_t len)
{
	char shown[SHOWN + 8];

	text[len] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, c->only))
			process_world_note(c->e->w, "%s gets \"%s\"", c->name,
				one_line(line, strlen(line), SHOWN, shown));
}

/* An admin socket answers with no text when there is nothing to say. */
static void
note_text(struct end_client *c, char *text, size_t len)
{
	char shown[SHOWN + 8];

	if (c->only)
		note_lines(c, text, len);
	else if (c->port == PROCESS_WORLD_ADMIN && len == 1 && text[0] == '\n')
		return;
	else
		process_world_note(c->e->w, "%s gets \"%s\"", c->name,
			one_line(text, len,
				c->port == PROCESS_WORLD_ADMIN ? SHOWN : SHOWN_SHORT, shown));
}

static void
note_handshake(struct end_client *c)
{
	(void)wire_flush(c->wire, c->s);
	if (!c->is_tls || c->is_shaken || !tls_wire_is_shaken(c->wire))
		return;
	c->is_shaken = 1;
	process_world_note(c->e->w, "%s %s", c->name,
		tls_wire_is_resumed(c->wire) ? "resumes a session" : "has a new session");
}

static void
on_client(struct fake *k, void *client)
{
	struct end_client *c = client;
	char buf[ANSWER];
	long r;

	(void)k;
	if (c->is_over)
		return;
	if (!fake_peer_is_connected(c->s) && !(fake_peer_poll(c->s) & EPOLLHUP))
		return;
	if (c->wire)
		note_handshake(c);
	while ((r = wire_recv(c->wire, c->s, buf, sizeof(buf) - 1)) > 0)
		note_text(c, buf, (size_t)r);
	if (c->wire)
		note_handshake(c);
	if (r == 0)
		client_ends(c, c->port == PROCESS_WORLD_ADMIN ? NULL : "sees the end");
	else if (r == -ECONNREFUSED)
		client_ends(c, "is refused");
	else if (r != -EAGAIN)
		client_ends(c, "is reset");
}

/* The longest name has room. */
static struct end_client *
client_new(struct process_ends *e, const char *name, unsigned int port)
{
	struct end_client *c = &e->client[e->n_clients++];

	assert(e->n_clients < CLIENTS && strlen(name) < NAME);
	c->e = e;
	memcpy(c->name, name, strlen(name) + 1);
	c->port = port;
	c->s = fake_client(e->k, port);
	fake_peer_notify(c->s, 0, on_client, c);
	return c;
}

void
process_client_connects(struct process_ends *e, const char *name, unsigned int port,
	enum process_client_kind kind)
{
	struct end_client *c = client_new(e, name, port);

	if (kind == PROCESS_CLIENT_PLAIN)
		return;
	if (kind == PROCESS_CLIENT_H2) {
		c->wire = h2_wire_new();
		return;
	}
	process_ends_use_tls(e);
	c->is_tls = 1;
	c->wire = process_tls_wire(e->tls, kind == PROCESS_CLIENT_RESUMES);
}

static struct end_client *
client_of(struct process_ends *e, const char *name)
{
	for (unsigned int i = e->n_clients; i-- > 0;)
		if (strcmp(e->client[i].name, name) == 0)
			return &e->client[i];
	return NULL;
}

int
process_client_sends(struct process_ends *e, const char *name, const char *text)
{
	struct end_client *c = client_of(e, name);

	if (!c)
		return -1;
	if (!c->is_over)
		(void)wire_send(c->wire, c->s, text, strlen(text));
	return 0;
}

int
process_client_leaves(struct process_ends *e, const char *name, enum process_leaving how)
{
	struct end_client *c = client_of(e, name);

	if (!c)
		return -1;
	if (c->is_over)
		return 0;
	if (how == PROCESS_CLIENT_SHUTS) {
		fake_peer_shut(c->s);
		return 0;
	}
	c->is_over = 1;
	if (how == PROCESS_CLIENT_RESETS)
		fake_peer_reset(c->s);
	else
		fake_peer_close(c->s);
	return 0;
}

void
process_admin_asks(struct process_ends *e, const char *command, const char *only)
{
	struct end_client *c = client_new(e, "admin", PROCESS_WORLD_ADMIN);
	char line[TEXT];

	c->only = only;
	snprintf(line, sizeof(line), "%s\n", command);
	(void)fake_peer_send(c->s, line, strlen(line));
	fake_peer_shut(c->s);
}

/* --- servers --- */

static void
served_notes(const struct served *d, const char *what)
{
	if (!d->srv->plan.is_quiet)
		process_world_note(d->srv->e->w, "%u#%u %s", d->srv->plan.port, d->number, what);
}

static void
served_ends(struct served *d, const char *how)
{
	served_notes(d, how);
	d->is_over = 1;
	fake_peer_close(d->s);
}

static void
send_ocsp(const struct served *d)
{
	char out[TEXT];
	size_t n = process_tls_ocsp(d->srv->e->tls, d->srv->plan.ocsp / FAKE_SEC, out, TEXT);

	(void)fake_peer_send(d->s, out, n);
}

static void
answer_is_due(struct fake *k, void *served)
{
	struct served *d = served;

	(void)k;
	if (d->is_over)
		return;
	if (d->srv->plan.ocsp)
		send_ocsp(d);
	else
		(void)wire_send(d->wire, d->s, d->answer, strlen(d->answer));
	if (d->hangs_up)
		served_ends(d, "hangs up");
}

/* A head of HTTP, or a line. */
static int
is_request(const struct served *d)
{
	if (strstr(d->got, " HTTP/"))
		return strstr(d->got, "\r\n\r\n") != NULL;
	return d->len && d->got[d->len - 1] == '\n';
}

/* --- servers that are agents of SPOE --- */

struct agent_answer {
	struct served *to;
	size_t len;
	char bytes[256];
};

static void
agent_answer_is_due(struct fake *k, void *answer)
{
	struct agent_answer *a = answer;

	(void)k;
	if (!a->to->is_over)
		(void)fake_peer_send(a->to->s, a->bytes, a->len);
	free(a);
}

static void
put_item(struct sbuf *b, const char *name, enum spop_value_type type, int64_t n, const char *text)
{
	const struct spop_value v = { .type = type, .n = n, .text = str_of(text) };

	spop_put_text(b, str_of(name));
	spop_put_value(b, &v);
}

static void
answer_frame(struct served *d, const struct spop_frame *f)
{
	struct agent_answer *a = calloc(1, sizeof(*a));
	int is_hello = f->type == SPOP_HAPROXY_HELLO;
	struct sbuf b;
	size_t at;

	assert(a);
	a->to = d;
	sbuf_init_fixed(&b, a->bytes, sizeof(a->bytes));
	at = spop_begin_frame(
		&b, is_hello ? SPOP_AGENT_HELLO : SPOP_ACK, f->stream_id, f->frame_id);
	if (is_hello) {
		put_item(&b, "version", SPOP_STRING, 0, "2.0");
		put_item(&b, "max-frame-size", SPOP_UINT32, 4096, "");
		put_item(&b, "capabilities", SPOP_STRING, 0, "pipelining");
	} else {
		sbuf_add(&b, "\1\3\2", 3);
		put_item(&b, "v", SPOP_STRING, 0, "yes");
	}
	spop_end_frame(&b, at);
	a->len = b.len;
	fake_after(d->srv->e->k, is_hello ? 0 : d->srv->plan.after, agent_answer_is_due, a);
}

static void
take_frame_of_proxy(struct served *d, const uint8_t *p, size_t n)
{
	struct spop_frame f;
	int is_valid = spop_read_frame(p, n, &f) == SPOP_OK;

	assert(is_valid);
	served_notes(d, f.type == SPOP_HAPROXY_HELLO ? "is greeted"
			: f.type == SPOP_NOTIFY	     ? "is asked"
						     : "is left");
	if (f.type == SPOP_HAPROXY_HELLO || (f.type == SPOP_NOTIFY && !d->srv->plan.is_mute))
		answer_frame(d, &f);
}

static void
take_frames_of_proxy(struct served *d, const char *buf, size_t n)
{
	assert(d->len + n < TEXT);
	memcpy(d->got + d->len, buf, n);
	d->len += n;
	while (d->len >= SPOP_LENGTH &&
		d->len - SPOP_LENGTH >= spop_length((const uint8_t *)d->got)) {
		size_t whole = SPOP_LENGTH + spop_length((const uint8_t *)d->got);

		take_frame_of_proxy(
			d, (const uint8_t *)d->got + SPOP_LENGTH, whole - SPOP_LENGTH);
		memmove(d->got, d->got + whole, d->len - whole);
		d->len -= whole;
	}
}

static void
take_text(struct served *d, const char *buf, size_t n)
{
	const struct process_server_plan *plan = &d->srv->plan;
	char shown[SHOWN + 8];

	if (plan->is_agent) {
		take_frames_of_proxy(d, buf, n);
		return;
	}
	if (!plan->is_quiet)
		process_world_note(d->srv->e->w, "%u#%u gets \"%s\"", plan->port, d->number,
			one_line(buf, n, SHOWN_SHORT, shown));
	assert(d->len + n < TEXT);
	memcpy(d->got + d->len, buf, n);
	d->len += n;
	d->got[d->len] = '\0';
	if (!is_request(d))
		return;
	d->len = 0;
	d->got[0] = '\0';
	if (!plan->answer && !plan->ocsp)
		return;
	d->answer = plan->answer;
	d->hangs_up = plan->hangs_up;
	fake_after(d->srv->e->k, plan->after, answer_is_due, d);
}

static void
read_served(struct fake *k, void *served)
{
	struct served *d = served;
	char buf[TEXT];
	long r;

	(void)k;
	d->will_read = 0;
	if (d->is_over)
		return;
	while ((r = wire_recv(d->wire, d->s, buf, sizeof(buf))) > 0)
		take_text(d, buf, (size_t)r);
	if (r == 0 && d->srv->plan.stays)
		served_notes(d, "sees the end");
	else if (r == 0)
		served_ends(d, "sees the end");
	else if (r != -EAGAIN)
		served_ends(d, "is reset");
}

static void
on_served(struct fake *k, void *served)
{
	struct served *d = served;

	if (d->will_read)
		return;
	d->will_read = d->srv->plan.reads > 0;
	if (d->will_read)
		fake_after(k, d->srv->plan.reads, read_served, d);
	else
		read_served(k, d);
}

static void
on_connection(struct fake *k, void *server)
{
	struct end_server *v = server;
	struct fake_sock *s;

	while (v->listener && (s = fake_origin_accept(v->listener))) {
		struct process_ends *e = v->e;
		struct served *d = calloc(1, sizeof(*d));

		assert(d && e->n_served < SERVED);
		e->served[e->n_served++] = d;
		d->srv = v;
		d->s = s;
		d->number = ++v->n;
		if (v->plan.h2)
			d->wire = h2_origin_wire_new(0);
		served_notes(d, "opens");
		fake_peer_notify(s, 0, on_served, d);
		if (v->plan.greeting)
			(void)fake_peer_send(s, v->plan.greeting, strlen(v->plan.greeting));
		on_served(k, d);
	}
}

static struct end_server *
server_of(struct process_ends *e, unsigned int port)
{
	unsigned int i = 0;

	while (i < e->n_servers && e->server[i].plan.port != port)
		i++;
	assert(i < SERVERS);
	if (i == e->n_servers) {
		e->n_servers++;
		e->server[i].e = e;
		e->server[i].plan.port = port;
	}
	return &e->server[i];
}

void
process_server_plays(struct process_ends *e, const struct process_server_plan *plan)
{
	struct end_server *v = server_of(e, plan->port);

	v->plan = *plan;
	if (v->listener)
		return;
	v->listener = fake_origin(e->k, plan->port, 128);
	fake_peer_notify(v->listener, 0, on_connection, v);
}

void
process_server_leaves(struct process_ends *e, unsigned int port, int closes)
{
	struct end_server *v = server_of(e, port);

	if (v->listener)
		fake_peer_close(v->listener);
	v->listener = NULL;
	for (unsigned int i = 0; closes && i < e->n_served; i++)
		if (e->served[i]->srv == v && !e->served[i]->is_over)
			served_ends(e->served[i], "is closed");
}

/* --- datagrams --- */

/* The length of a question behind the head of a message, or 0. */
static size_t
question_len(const uint8_t *p, size_t len)
{
	size_t at = 12;

	while (at < len && p[at])
		at += p[at] + 1u;
	return at + 5 <= len ? at + 5 - 12 : 0;
}

static size_t
add_address(uint8_t *to, const char *text, size_t len, unsigned int ttl)
{
	const uint8_t head[12] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, (uint8_t)(ttl >> 8), (uint8_t)ttl,
		0, 4 };
	char one[20];

	assert(len < sizeof(one));
	memcpy(one, text, len);
	one[len] = '\0';
	memcpy(to, head, sizeof(head));
	if (inet_pton(AF_INET, one, to + sizeof(head)) != 1)
		assert(!"an IPv4 address");
	return sizeof(head) + 4;
}

/* RFC 1035, 4.1. */
static void
answer_question(struct names *n, const uint8_t *ask, size_t len)
{
	uint8_t out[512] = { ask[0], ask[1], 0x81, 0x80, 0, 1 };
	size_t q = question_len(ask, len), used = 12 + q;
	const char *at = n->addresses;
	int is_ipv4 = q > 4 && ask[12 + q - 4] == 0 && ask[12 + q - 3] == 1;

	memcpy(out + 12, ask + 12, q);
	while (is_ipv4 && *at) {
		size_t l = strcspn(at, ",");

		used += add_address(out + used, at, l, n->ttl);
		out[7]++;
		at += l + (at[l] == ',');
	}
	(void)fake_peer_send(n->s, out, used);
}

static void
on_question(struct fake *k, void *names)
{
	struct names *n = names;
	uint8_t buf[512];
	long r;

	(void)k;
	while ((r = fake_peer_recv(n->s, buf, sizeof(buf))) > 12) {
		size_t q = question_len(buf, (size_t)r);

		process_world_note(n->e->w, "%u is asked for %s", n->port,
			q > 4 && buf[12 + q - 3] == 1    ? "A"
				: q > 4 && buf[12 + q - 3] == 28 ? "AAAA"
								 : "something else");
		if (q && !n->is_silent)
			answer_question(n, buf, (size_t)r);
	}
}

void
process_names_are(struct process_ends *e, unsigned int port, const char *addresses,
	unsigned int ttl)
{
	struct names *n = &e->names;

	n->e = e;
	n->port = port;
	n->ttl = ttl;
	n->is_silent = !addresses;
	snprintf(n->addresses, sizeof(n->addresses), "%s", addresses ? addresses : "");
	if (n->s)
		return;
	n->s = fake_receiver(e->k, port);
	fake_peer_notify(n->s, 0, on_question, n);
}

static void
note_messages(struct process_ends *e, struct fake_sock *s, const char *what)
{
	char buf[TEXT], shown[SHOWN + 8];
	long r;

	while ((r = fake_peer_recv(s, buf, sizeof(buf))) > 0)
		process_world_note(e->w, "%s: %s", what, one_line(buf, (size_t)r, SHOWN, shown));
}

static void
on_log(struct fake *k, void *ends)
{
	struct process_ends *e = ends;

	(void)k;
	note_messages(e, e->log, "log");
}

static void
on_unix_log(struct fake *k, void *ends)
{
	struct process_ends *e = ends;

	(void)k;
	note_messages(e, e->unix_log, "log");
}

void
process_logs_open(struct process_ends *e, const char *path)
{
	e->unix_log = fake_receiver_unix(e->k, path);
	fake_peer_notify(e->unix_log, 0, on_unix_log, e);
}

static void
on_notify(struct fake *k, void *ends)
{
	struct process_ends *e = ends;

	(void)k;
	note_messages(e, e->notify, "notify");
}

/* --- all of them --- */

struct process_ends *
process_ends_new(struct process_world *w)
{
	struct process_ends *e = calloc(1, sizeof(*e));

	assert(e);
	e->w = w;
	e->k = w->k;
	e->log = fake_receiver(w->k, PROCESS_WORLD_LOG);
	fake_peer_notify(e->log, 0, on_log, e);
	e->notify = fake_receiver_unix(w->k, PROCESS_WORLD_NOTIFY);
	fake_peer_notify(e->notify, 0, on_notify, e);
	return e;
}

void
process_ends_use_tls(struct process_ends *e)
{
	if (!e->tls)
		e->tls = process_tls_new(e->k);
}

void
process_ends_free(struct process_ends **ep)
{
	struct process_ends *e = *ep;

	for (unsigned int i = 0; i < e->n_served; i++) {
		wire_free(e->served[i]->wire);
		free(e->served[i]);
	}
	for (unsigned int i = 0; i < e->n_clients; i++)
		wire_free(e->client[i].wire);
	process_tls_free(&e->tls);
	free(e);
	*ep = NULL;
}

void
process_ends_leave(struct process_ends *e)
{
	for (unsigned int i = 0; i < e->n_clients; i++)
		if (!e->client[i].is_over) {
			e->client[i].is_over = 1;
			fake_peer_reset(e->client[i].s);
		}
}
