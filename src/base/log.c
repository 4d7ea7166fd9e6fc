/* Log lines of one worker: formatted into the sink's memory, which is written out once per turn.
 * A line is never longer than its target allows and holds no control character but tabs. */
#include "base/log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log_ring.h"
#include "base/mem.h"

/* --- targets --------------------------------------------------------------------------------- */

/*
 * A log destination of a sink, and sending to it without blocking.
 *
 * Datagrams are sent with an address on an unconnected socket: when a syslog daemon restarts,
 * the next message reaches it and nothing has to be reopened. A pipe or terminal is set
 * non-blocking; a line that was written in part is completed by the next write, so that a full pipe
 * loses only whole lines.
 */

/* A message in the sink's memory, followed by len bytes; records start at multiples of 8. */
struct log_rec {
	uint32_t target; /* index in sink.target */
	uint32_t len;
};
#define LOG_REC_SPACE(len) ((sizeof(struct log_rec) + (size_t)(len) + 7u) & ~(size_t)7u)

struct log_target {
	struct log_dest dest;
	int fd;              /* -1: not open */
	int is_open;
	int is_datagram;     /* one message per send */
	int is_socket;       /* a stream socket: send instead of writev */
	size_t most;         /* bytes of a write; a longer line is written alone */
	/* Original flags of an fd that was set non-blocking; -1: unchanged, or to be left so: all
	 * processes that write to a pipe share its flags, and the next one must not block. */
	int old_flags;
	unsigned int pending; /* records collected for this target */
	uint64_t rest_until_ns; /* wall clock; 0: not resting */
	char *tail;          /* the unwritten rest of a line */
	size_t tail_len;
	uint64_t dropped;
};

#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)

static int
dest_is_equal(const struct log_dest *a, const struct log_dest *b)
{
	if (a->kind != b->kind)
		return 0;
	if (a->kind == LOG_DEST_FD)
		return a->fd == b->fd;
	if (a->kind == LOG_DEST_RING)
		return a->ring == b->ring;
	return a->len == b->len && memcmp(&a->u, &b->u, a->len) == 0;
}

/* The target of a destination, created if needed; NULL when there are too many or memory is out. */
static struct log_target *
log_target_get(struct log_sink *k, const struct log_dest *d)
{
	struct log_target *t;

	for (unsigned int i = 0; i < k->n_targets; i++)
		if (dest_is_equal(&k->target[i].dest, d))
			return &k->target[i];
	if (k->n_targets == LOG_TARGETS_MAX)
		return NULL;
	t = mem_resize(k->target, k->n_targets + 1, sizeof(*t));
	if (!t)
		return NULL;
	k->target = t;
	t += k->n_targets++;
	memset(t, 0, sizeof(*t));
	t->dest = *d;
	t->fd = -1;
	t->most = SIZE_MAX;
	t->old_flags = -1;
	return t;
}

/* True if it failed recently and is not tried now. */
static int
log_target_is_resting(const struct log_target *t, uint64_t now_ns)
{
	/* The wall clock can be set back: the suspension never exceeds one period from now. */
	return t->rest_until_ns > now_ns && t->rest_until_ns - now_ns <= LOG_REST_MS * 1000000u;
}

/* Handles a failure r, a negative errno. */
static void
target_rest(struct log_sink *k, struct log_target *t, uint64_t now_ns, long r)
{
	t->rest_until_ns = now_ns + LOG_REST_MS * 1000000u;
	if (k->on_failure)
		k->on_failure(k->failure_arg, &t->dest, (int)-r);
}

static void
target_drop(struct log_sink *k, struct log_target *t, unsigned int n)
{
	t->dropped += n;
	counter_add(&k->dropped, n);
}

/* An inherited descriptor can be of any type: determines once how to write to it without
 * blocking. */
static int
target_adopt(struct sys *sys, struct log_target *t)
{
	struct stat st;
	int type = 0;
	socklen_t len = sizeof(type);
	long flags, r = sys_fstat(sys, t->dest.fd, &st);

	if (r < 0)
		return (int)r;
	t->fd = t->dest.fd;
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		t->most = PIPE_BUF;
	if (S_ISSOCK(st.st_mode)) {
		r = sys_getsockopt(sys, t->fd, SOL_SOCKET, SO_TYPE, &type, &len);
		if (r < 0)
			return (int)r;
		t->is_datagram = type != SOCK_STREAM;
		t->is_socket = 1;
		return 0;
	}
	flags = sys_fcntl(sys, t->fd, F_GETFL, 0);
	if (flags >= 0 && !(flags & O_NONBLOCK) &&
	    sys_fcntl(sys, t->fd, F_SETFL, flags | O_NONBLOCK) >= 0 && !S_ISFIFO(st.st_mode))
		t->old_flags = (int)flags;
	return 0;
}

static int
target_open(struct sys *sys, struct log_target *t)
{
	int r = 0;

	if (t->is_open || t->dest.kind == LOG_DEST_RING)
		return 0;
	if (t->dest.kind == LOG_DEST_FD) {
		r = target_adopt(sys, t);
	} else {
		r = (int)sys_socket(
			sys, t->dest.u.sa.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		t->fd = r;
		t->is_datagram = 1;
	}
	if (r < 0)
		return r;
	t->is_open = 1;
	return 0;
}

/* Opens the target before the first message. A failure is tried again with the first message. */
static void
log_target_open(struct log_sink *k, struct log_target *t)
{
	(void)!target_open(k->sys, t);
}

/* Closes descriptors that it opened and restores the flags of the others. */
static void
log_target_close(struct log_sink *k, struct log_target *t)
{
	if (t->is_open && t->dest.kind == LOG_DEST_SOCKET)
		(void)sys_close(k->sys, t->fd);
	else if (t->is_open && t->old_flags >= 0)
		(void)sys_fcntl(k->sys, t->fd, F_SETFL, t->old_flags);
	mem_free(t->tail);
	t->tail = NULL;
	t->tail_len = 0;
	t->fd = -1;
	t->old_flags = -1;
	t->is_open = 0;
}

/*
 * Collects up to max records of one target from *pos on as vectors: of a pipe, which other workers
 * and processes may write to, at most what it accepts atomically (pipe(7), PIPE_BUF), so that lines
 * do not mix. A longer line may still be interleaved.
 */
static unsigned int
collect_records(struct log_sink *k, const struct log_target *t, size_t *pos, struct iovec *iov,
	unsigned int max)
{
	size_t bytes = 0, most = t->is_datagram ? SIZE_MAX : t->most;
	unsigned int n = 0;
	uint32_t self = (uint32_t)(t - k->target);

	while (n < max && *pos < k->used) {
		struct log_rec *r = (struct log_rec *)(void *)(k->ring + *pos);

		if (r->target == self) {
			if (n > 0 && bytes + r->len > most)
				break;
			bytes += r->len;
			iov[n].iov_base = r + 1;
			iov[n].iov_len = r->len;
			n++;
		}
		*pos += LOG_REC_SPACE(r->len);
	}
	return n;
}

/* Sends a batch: 0, or -1 when further tries for this target are useless now. */
static int
send_datagrams(struct log_sink *k, struct log_target *t, struct iovec *iov, unsigned int n,
	uint64_t now_ns)
{
	struct mmsghdr v[LOG_BATCH];
	unsigned int done = 0;

	memset(v, 0, n * sizeof(v[0]));
	for (unsigned int i = 0; i < n; i++) {
		v[i].msg_hdr.msg_iov = &iov[i];
		v[i].msg_hdr.msg_iovlen = 1;
		if (t->dest.kind == LOG_DEST_SOCKET) {
			v[i].msg_hdr.msg_name = &t->dest.u;
			v[i].msg_hdr.msg_namelen = t->dest.len;
		}
	}
	while (done < n) {
		long r = sys_sendmmsg(k->sys, t->fd, v + done, n - done, SEND_FLAGS);

		if (r > 0) {
			done += (unsigned int)r;
			counter_add(&k->sent, (unsigned int)r);
			t->pending -= (unsigned int)r;
		} else if (r == -EMSGSIZE) {
			done++;
			t->pending--;
			target_drop(k, t, 1);
		} else {
			if (r != -EAGAIN && r != -ENOBUFS)
				target_rest(k, t, now_ns, r);
			return -1;
		}
	}
	return 0;
}

static long
write_lines(struct sys *sys, const struct log_target *t, struct iovec *iov, unsigned int n)
{
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = n };

	return t->is_socket ? sys_sendmsg(sys, t->fd, &m, SEND_FLAGS)
			    : sys_writev(sys, t->fd, iov, (int)n);
}

/* Keeps the unwritten end of a line; without memory the line is truncated. */
static void
keep_tail(struct log_target *t, const char *p, size_t len)
{
	char *copy = mem_alloc(len);

	if (copy)
		memcpy(copy, p, len);
	mem_free(t->tail);
	t->tail = copy;
	t->tail_len = copy ? len : 0;
}

/* iov[0] is the tail of the last line when has_tail. Like send_datagrams(). */
static int
send_lines(struct log_sink *k, struct log_target *t, struct iovec *iov, unsigned int n,
	int has_tail, uint64_t now_ns)
{
	long r = write_lines(k->sys, t, iov, n);
	size_t left;

	if (r < 0) {
		if (r != -EAGAIN)
			target_rest(k, t, now_ns, r);
		return -1;
	}
	left = (size_t)r;
	for (unsigned int i = 0; i < n; i++) {
		if (left < iov[i].iov_len) {
			keep_tail(t, (char *)iov[i].iov_base + left, iov[i].iov_len - left);
			if (!(has_tail && i == 0)) {
				counter_add(&k->sent, 1);
				t->pending--;
			}
			return -1;
		}
		left -= iov[i].iov_len;
		if (has_tail && i == 0) {
			mem_free(t->tail);
			t->tail = NULL;
			t->tail_len = 0;
			continue;
		}
		counter_add(&k->sent, 1);
		t->pending--;
	}
	return 0;
}

/* The records of this target, without the ends of their lines. NULL when memory is out. */
static struct log_batch *
make_batch(const struct log_sink *k, const struct log_target *t)
{
	struct log_batch *b = mem_alloc(sizeof(*b) + k->used);
	uint32_t self = (uint32_t)(t - k->target);

	if (!b)
		return NULL;
	b->len = 0;
	for (size_t pos = 0; pos < k->used;) {
		const struct log_rec *r = (const struct log_rec *)(const void *)(k->ring + pos);
		uint32_t len = r->len - 1;

		pos += LOG_REC_SPACE(r->len);
		if (r->target != self)
			continue;
		memcpy(b->text + b->len, &len, sizeof(len));
		memcpy(b->text + b->len + sizeof(len), r + 1, len);
		b->len += sizeof(len) + len;
	}
	return b;
}

static void
post_records(struct log_sink *k, struct log_target *t)
{
	struct log_ring *ring = t->dest.ring;
	struct log_batch *b = make_batch(k, t);
	int r = b ? log_ring_post(ring, b) : -ERR_NOMEM;

	if (r < 0) {
		mem_free(b);
		log_ring_count_lost(ring, t->pending);
		target_drop(k, t, t->pending);
	} else {
		counter_add(&k->sent, t->pending);
		if (r && k->on_ring)
			k->on_ring(k->ring_arg, ring);
	}
	t->pending = 0;
}

/* Sends the records collected for it. */
static void
log_target_flush(struct log_sink *k, struct log_target *t, uint64_t now_ns)
{
	struct iovec iov[LOG_BATCH];
	size_t pos = 0;
	int rc = 0;

	if (t->pending == 0 && t->tail_len == 0)
		return;
	if (t->dest.kind == LOG_DEST_RING) {
		post_records(k, t);
		return;
	}
	if (log_target_is_resting(t, now_ns)) {
		rc = -1;
	} else {
		/* The clock may reach that time again. */
		t->rest_until_ns = 0;
		rc = target_open(k->sys, t);
		if (rc < 0)
			target_rest(k, t, now_ns, rc);
	}
	while (rc == 0 && (t->pending > 0 || t->tail_len > 0)) {
		unsigned int first = t->tail_len > 0, n;

		if (first)
			iov[0] = (struct iovec){ t->tail, t->tail_len };
		n = first + collect_records(k, t, &pos, iov + first, LOG_BATCH - first);
		rc = t->is_datagram ? send_datagrams(k, t, iov, n, now_ns) :
				      send_lines(k, t, iov, n, (int)first, now_ns);
	}
	target_drop(k, t, t->pending);
	t->pending = 0;
}

/* Text of one operational message; longer ones are truncated. */
#define MSG_MAX 1024

#define SECOND(id, name, ...) name,
#define FIRST(name) name,
static const char *const level_names[LOG_LEVELS] = { LOG_LEVEL_WORDS(SECOND, ) };
static const char *const facility_names[LOG_FACILITIES] = { LOG_FACILITY_WORDS(FIRST, ) };
static const char *const form_names[LOG_FORMS] = { LOG_FORM_WORDS(SECOND, ) };
#undef SECOND
#undef FIRST

static int
name_find(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -ERR_UNKNOWN;
}

int
log_level_parse(const char *name)
{
	return name_find(level_names, LOG_LEVELS, name);
}

int
log_facility_parse(const char *name)
{
	return name_find(facility_names, LOG_FACILITIES, name);
}

int
log_form_parse(const char *name)
{
	return name_find(form_names, LOG_FORMS, name);
}

void
log_line_init(struct log_line *l)
{
	memset(l, 0, sizeof(*l));
	list_init(&l->link);
	l->dest.fd = -1;
	l->level = LOG_LEVEL_DEBUG;
	l->minlevel = LOG_LEVEL_EMERG;
	l->max_len = LOG_LEN_DEFAULT;
}

void
log_sink_init(struct log_sink *k, struct sys *sys, const struct log_ident *id)
{
	memset(k, 0, sizeof(*k));
	k->sys = sys;
	k->id = *id;
}

static uint64_t
sink_now(struct log_sink *k)
{
	return k->wall_ns ? k->wall_ns(k->wall_arg) : sys_clock_ns(k->sys, CLOCK_REALTIME);
}

static void
flush_at(struct log_sink *k, uint64_t now_ns)
{
	for (unsigned int i = 0; i < k->n_targets; i++)
		log_target_flush(k, &k->target[i], now_ns);
	k->used = 0;
}

void
log_flush(struct log_sink *k)
{
	if (log_has_pending(k))
		flush_at(k, sink_now(k));
}

void
log_open(struct log_sink *k, const struct list *lines)
{
	list_each(it, lines) {
		struct log_target *t =
			log_target_get(k, &list_entry(it, struct log_line, link)->dest);

		if (t)
			log_target_open(k, t);
	}
}

void
log_sink_fini(struct log_sink *k)
{
	if (k->n_targets > 0)
		flush_at(k, sink_now(k)); /* also the ends of partially written lines */
	for (unsigned int i = 0; i < k->n_targets; i++)
		log_target_close(k, &k->target[i]);
	mem_free(k->target);
	mem_free(k->ring);
	memset(k, 0, sizeof(*k));
}

static void
add_tag(struct sbuf *b, const struct log_sink *k, const char *host, const char *tag)
{
	if (host) {
		sbuf_addc(b, ' ');
		sbuf_adds(b, host);
	}
	sbuf_addf(b, " %s[%d]: ", tag, k->id.pid);
}

/* The header by format; pri: facility and level. */
static void
add_head(struct sbuf *b, struct log_sink *k, enum log_form form, int pri, const char *tag,
	uint64_t now_ns)
{
	const struct tm *tm = wall_local(&k->wall, (int64_t)(now_ns / 1000000000u));
	unsigned int usec = (unsigned int)(now_ns % 1000000000u / 1000u);
	int level = pri % 8;
	const char *host = k->id.hostname;

	switch (form) {
	case LOG_FORM_LOCAL:
		sbuf_addf(b, "<%d>", pri);
		wall_add_syslog(b, tm);
		add_tag(b, k, NULL, tag);
		break;
	case LOG_FORM_RFC3164:
		sbuf_addf(b, "<%d>", pri);
		wall_add_syslog(b, tm);
		add_tag(b, k, host ? host : "localhost", tag);
		break;
	case LOG_FORM_RFC5424:
		sbuf_addf(b, "<%d>1 ", pri);
		wall_add_iso(b, tm, usec);
		sbuf_addf(b, " %s %s %d - ", host ? host : "-", tag, k->id.pid);
		break;
	case LOG_FORM_PRIORITY:
		sbuf_addf(b, "<%d>", pri);
		break;
	case LOG_FORM_SHORT:
		sbuf_addf(b, "<%d>", level);
		break;
	case LOG_FORM_TIMED:
	case LOG_FORM_ISO:
		if (form == LOG_FORM_TIMED)
			sbuf_addf(b, "<%d>", level);
		wall_add_iso(b, tm, usec);
		sbuf_addc(b, ' ');
		break;
	case LOG_FORM_RAW:
	case LOG_FORM_JSON:
	case LOG_FORMS:
		break;
	}
}

/* The whole message as an object. If it is too long the text is cut, in halves, since what is left
 * out may be an escaped byte; or the object is empty. */
static size_t
put_object(struct log_sink *k, int level, const char *tag, struct str text, uint64_t now_ns,
	char *to, size_t max)
{
	struct sbuf b;
	size_t begin;

	sbuf_init_fixed(&b, to, max + 1);
	sbuf_adds(&b, "{\"time\":\"");
	wall_add_iso(&b, wall_local(&k->wall, (int64_t)(now_ns / 1000000000u)),
		(unsigned int)(now_ns % 1000000000u / 1000u));
	sbuf_addf(&b, "\",\"level\":\"%s\",\"tag\":", level_names[level]);
	json_put(&b, str_of(tag), SIZE_MAX);
	sbuf_addf(&b, ",\"pid\":%d", k->id.pid);
	if (k->id.hostname) {
		sbuf_adds(&b, ",\"host\":");
		json_put(&b, str_of(k->id.hostname), SIZE_MAX);
	}
	sbuf_adds(&b, ",\"message\":");
	begin = b.len;
	for (size_t most = text.len; !b.failed; most /= 2) {
		json_put(&b, text, most);
		sbuf_adds(&b, most < text.len ? ",\"cut\":true}" : "}");
		if (!b.failed)
			return b.len;
		if (!most)
			break;
		b.len = begin;
		b.failed = 0;
	}
	memcpy(to, "{}", 2);
	return 2;
}

size_t
log_compose(struct log_sink *k, enum log_form form, int facility, enum log_level level,
	const char *text, char *out, size_t size)
{
	uint64_t now_ns = sink_now(k);
	struct sbuf b;

	if (form == LOG_FORM_JSON)
		return put_object(k, (int)level, k->id.tag, str_of(text), now_ns, out, size - 1);
	sbuf_init_fixed(&b, out, size);
	add_head(&b, k, form, facility * 8 + (int)level, k->id.tag, now_ns);
	if (form == LOG_FORM_RFC5424)
		sbuf_adds(&b, "- ");
	sbuf_adds(&b, text);
	return b.len;
}

/* Maximum length of a message with a header of `head` bytes. As in HAProxy `len` bounds the text
 * alone where a ring bounds the whole. */
static size_t
line_max(const struct log_line *l, size_t head)
{
	return l->dest.kind == LOG_DEST_RING ? MIN(l->dest.ring->maxlen, head + l->max_len)
					     : l->max_len;
}

/* Tabs are left alone: formats use them to separate fields. */
static int
is_control(unsigned char c)
{
	return (c < 0x20 && c != '\t') || c == 0x7f;
}

/* Copies as much text as fits, control bytes as #XX; returns the number of bytes written. */
static size_t
put_clean_text(char *to, size_t room, const char *p, size_t len)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;

	for (size_t i = 0; i < len && n < room; i++) {
		unsigned char c = (unsigned char)p[i];

		if (likely(!is_control(c))) {
			to[n++] = (char)c;
			continue;
		}
		if (room - n < 3)
			break;
		to[n++] = '#';
		to[n++] = hex[c >> 4];
		to[n++] = hex[c & 15];
	}
	return n;
}

/* Reserves a record of len bytes; an early flush costs no more than a later one. */
static struct log_rec *
sink_room(struct log_sink *k, size_t len, uint64_t now_ns)
{
	if (!k->ring && !(k->ring = mem_alloc(LOG_RING_SIZE)))
		return NULL;
	if (LOG_RING_SIZE - k->used < LOG_REC_SPACE(len))
		flush_at(k, now_ns);
	return (struct log_rec *)(void *)(k->ring + k->used);
}

static size_t
put_log_message(struct log_sink *k, const struct log_line *l, int level, const char *tag,
	const struct log_message *m, uint64_t now_ns, char *to, size_t max)
{
	const char *sd = m->sd ? m->sd : "-";
	size_t n = 0;

	if (l->form == LOG_FORM_JSON && !m->is_json)
		return put_object(k, level, tag, m->text, now_ns, to, max);
	if (l->form == LOG_FORM_RFC5424) {
		n += put_clean_text(to, max, sd, strlen(sd));
		n += put_clean_text(to + n, max - n, " ", 1);
	}
	return n + put_clean_text(to + n, max - n, m->text.p, m->text.len);
}

static const char *
line_tag(const struct log_sink *k, const struct log_line *l, const char *tag)
{
	if (l->tag)
		return l->tag;
	return tag ? tag : k->id.tag;
}

static void
send_one(struct log_sink *k, const struct log_line *l, int level, const struct log_message *m,
	uint64_t now_ns)
{
	const char *tag = line_tag(k, l, m->tag);
	char head[LOG_HEAD_MAX];
	struct sbuf b;
	struct log_target *t = log_target_get(k, &l->dest);
	struct log_rec *r = NULL;
	char *p;
	size_t n, max;

	sbuf_init_fixed(&b, head, sizeof(head));
	add_head(&b, k, l->form, l->facility * 8 + level, tag, now_ns);
	max = line_max(l, b.len);
	if (t && !log_target_is_resting(t, now_ns))
		r = sink_room(k, max + 1, now_ns);
	if (!r) {
		counter_add(&k->dropped, 1);
		if (t)
			t->dropped++;
		return;
	}
	p = (char *)(r + 1);
	n = MIN(b.len, max);
	memcpy(p, b.p, n);
	n += put_log_message(k, l, level, tag, m, now_ns, p + n, max - n);
	p[n++] = '\n';
	r->target = (uint32_t)(t - k->target);
	r->len = (uint32_t)n;
	k->used += LOG_REC_SPACE(n);
	t->pending++;
}

void
log_send(struct log_sink *k, const struct list *lines, enum log_level level, const char *tag,
	const char *msg, size_t len)
{
	struct log_message m = { .tag = tag, .text = { msg, len } };

	log_send_message(k, lines, level, &m);
}

int
log_line_takes(struct log_line *l, enum log_level level)
{
	return level <= l->level && log_sample_take(&l->sample);
}

void
log_line_send(struct log_sink *k, const struct log_line *l, enum log_level level,
	const struct log_message *m)
{
	send_one(k, l, (int)MAX(level, l->minlevel), m, sink_now(k));
}

void
log_send_message(struct log_sink *k, const struct list *lines, enum log_level level,
	const struct log_message *m)
{
	uint64_t now_ns;

	if (!k || !lines || list_is_empty(lines))
		return;
	now_ns = sink_now(k);
	list_each(it, (struct list *)(uintptr_t)lines) {
		struct log_line *l = list_entry(it, struct log_line, link);

		if (log_line_takes(l, level))
			send_one(k, l, (int)MAX(level, l->minlevel), m, now_ns);
	}
}

size_t
log_line_room(struct log_sink *k, const struct log_line *l, enum log_level level,
	const char *tag, const char *sd)
{
	char head[LOG_HEAD_MAX];
	struct sbuf b;
	size_t n, max;

	if (level > l->level)
		return LOG_LEN_MAX;
	sbuf_init_fixed(&b, head, sizeof(head));
	add_head(&b, k, l->form, l->facility * 8 + (int)MAX(level, l->minlevel),
		line_tag(k, l, tag), sink_now(k));
	max = line_max(l, b.len);
	n = b.len + (l->form == LOG_FORM_RFC5424 ? (sd ? strlen(sd) : 1) + 1 : 0);
	return n < max ? max - n : 0;
}

size_t
log_room(struct log_sink *k, const struct list *lines, enum log_level level, const char *tag,
	const char *sd)
{
	size_t room = LOG_LEN_MAX;

	list_each(it, (struct list *)(uintptr_t)lines) {
		const struct log_line *l = list_entry(it, struct log_line, link);

		room = MIN(room, log_line_room(k, l, level, tag, sd));
	}
	return room;
}

void
log_msg(struct log_sink *k, enum log_level level, const char *fmt, ...)
{
	char text[MSG_MAX];
	va_list ap;
	int n;

	if (!k || !k->lines)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0)
		log_send(k, k->lines, level, NULL, text, MIN((size_t)n, sizeof(text) - 1));
}
