/*
 * For tests of connections of HTTP/2: a user of a connection that notes what it is called with, and
 * frames written and read as words.
 */
#ifndef TESTS_UNIT_H2_H2_RIG_H
#define TESTS_UNIT_H2_H2_RIG_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "h2/h2_conn.h"
#include "unit/h2/block.h"

#ifndef RIG_STREAMS
#define RIG_STREAMS 16
#endif
#define RIG_TEXT 16384
#define RIG_HEAD 16384
#define RIG_FIELDS 64

struct rig;

struct rig_stream {
	struct h2_stream st;
	struct rig *rig;
	int is_used;
	size_t got;  /* bytes of the body */
	char body[256];
};

/* A user; what it does in its callbacks is chosen by the members before `log`. */
struct rig {
	struct h2_conn h;
	struct h2_shared shared;
	struct h2_config cfg;
	int holds_data;   /* it does not take bytes of bodies */
	int keeps_reset;  /* streams that were reset stay attached */
	int refuses;      /* the code for requests */
	int no_place;     /* on_request fails */
	int bad_head;     /* on_head fails */
	char log[RIG_TEXT];
	size_t n_log;
	int asked;        /* on_continue was called */
	int outputs, rooms;
	struct h2_stream *order[RIG_STREAMS]; /* of the last calls of on_room */
	struct rig_stream stream[RIG_STREAMS];
};

static inline void
rig_note(struct rig *r, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(r->log + r->n_log, sizeof(r->log) - r->n_log, format, ap);
	va_end(ap);
	r->n_log = MIN(r->n_log + (size_t)n, sizeof(r->log) - 1);
}

static inline struct rig_stream *
rig_stream_of(struct h2_stream *st)
{
	return container_of(st, struct rig_stream, st);
}

static inline struct rig_stream *
rig_new_stream(struct rig *r)
{
	for (unsigned int i = 0; i < RIG_STREAMS; i++)
		if (!r->stream[i].is_used) {
			memset(&r->stream[i], 0, sizeof(r->stream[i]));
			r->stream[i].is_used = 1;
			r->stream[i].rig = r;
			return &r->stream[i];
		}
	abort();
}

static inline struct h2_stream *
rig_find(struct rig *r, uint32_t id)
{
	for (unsigned int i = 0; i < RIG_STREAMS; i++)
		if (r->stream[i].is_used && r->stream[i].st.id == id)
			return &r->stream[i].st;
	return NULL;
}

static inline void
rig_release(struct h2_stream *st)
{
	rig_stream_of(st)->is_used = 0;
	h2_stream_release(st);
}

static inline int
rig_on_request(void *arg, const struct http_head *req, int end, struct h2_stream **out)
{
	struct rig *r = arg;

	rig_note(r, "%.*s %.*s%s\n", (int)req->method_text.len, req->method_text.p,
		(int)req->target.len, req->target.p, end ? " end" : "");
	if (r->refuses || r->no_place)
		return r->refuses;
	*out = &rig_new_stream(r)->st;
	return 0;
}

static inline int
rig_on_head(struct h2_stream *st, struct http_head *h, int end)
{
	struct rig *r = rig_stream_of(st)->rig;

	rig_note(r, "%u ", st->id);
	if (h->kind == HTTP_RESPONSE)
		rig_note(r, "status %u", h->status);
	else
		rig_note(r, "trailers");
	for (unsigned int i = 0; i < h->n && h->kind == HTTP_TRAILERS; i++)
		rig_note(r, " %.*s=%.*s", (int)h->field[i].name.len, h->field[i].name.p,
			(int)h->field[i].value.len, h->field[i].value.p);
	rig_note(r, "%s\n", end ? " end" : "");
	return r->bad_head ? -ERR_NOMEM : 0;
}

/* Takes all that has come; the beginning is kept. */
static inline void
rig_take(struct h2_stream *st)
{
	struct rig_stream *s = rig_stream_of(st);
	char buf[20000];
	size_t n;

	while ((n = h2_stream_take(st, buf, sizeof(buf)))) {
		size_t keep = s->got < sizeof(s->body) ? MIN(n, sizeof(s->body) - s->got) : 0;

		if (keep)
			memcpy(s->body + s->got, buf, keep);
		s->got += n;
	}
}

static inline void
rig_on_data(struct h2_stream *st)
{
	struct rig_stream *s = rig_stream_of(st);

	if (s->rig->holds_data)
		return;
	rig_take(st);
	if (h2_stream_has_ended(st))
		rig_note(s->rig, "%u body %zu %.*s\n", st->id, s->got,
			(int)MIN(s->got, (size_t)20), s->body);
}

static inline void
rig_on_room(struct h2_stream *st)
{
	struct rig *r = rig_stream_of(st)->rig;

	r->order[r->rooms++ % RIG_STREAMS] = st;
}

static inline void
rig_on_reset(struct h2_stream *st, uint32_t code, int unprocessed)
{
	struct rig *r = rig_stream_of(st)->rig;

	rig_note(r, "%u reset %s%s\n", st->id, h2_code_name(code) ?: "?",
		unprocessed ? " unprocessed" : "");
	if (!r->keeps_reset)
		rig_release(st);
}

static inline void
rig_on_output(void *arg)
{
	struct rig *r = arg;

	r->outputs++;
}

static inline void
rig_on_goaway(void *arg)
{
	rig_note(arg, "goaway\n");
}

static inline void
rig_on_continue(void *arg)
{
	struct rig *r = arg;

	r->asked = 1;
}

static const struct h2_user rig_user = {
	.on_request = rig_on_request,
	.on_head = rig_on_head,
	.on_data = rig_on_data,
	.on_room = rig_on_room,
	.on_reset = rig_on_reset,
	.on_output = rig_on_output,
	.on_goaway = rig_on_goaway,
	.on_continue = rig_on_continue,
};

/* Its settings are chosen before rig_begin(). */
static inline void
rig_prepare(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	h2_config_default(&r->cfg);
}

static inline int
rig_begin(struct rig *r, int is_client)
{
	if (h2_shared_init(&r->shared, RIG_HEAD, RIG_FIELDS) < 0)
		return -1;
	if (h2_conn_init(&r->h, &r->cfg, &r->shared, &rig_user, r, is_client) == 0)
		return 0;
	h2_shared_fini(&r->shared);
	return -1;
}

static inline void
rig_end(struct rig *r)
{
	for (unsigned int i = 0; i < RIG_STREAMS; i++)
		if (r->stream[i].is_used)
			rig_release(&r->stream[i].st);
	h2_conn_fini(&r->h);
	h2_shared_fini(&r->shared);
}

/* Passes bytes in pieces of at most `step`. */
static inline void
rig_feed(struct rig *r, const uint8_t *p, size_t n, size_t step)
{
	while (n) {
		size_t len = MIN(n, step);
		/* A block of the exact size, so that a sanitizer sees what is beyond. */
		uint8_t *exact = malloc(len);

		if (!exact)
			abort();
		memcpy(exact, p, len);
		(void)h2_conn_input(&r->h, exact, len);
		free(exact);
		while (r->asked) {
			r->asked = 0;
			(void)h2_conn_continue(&r->h);
		}
		p += len;
		n -= len;
	}
}

/* --- frames as words --- */

struct wire {
	uint8_t p[1 << 18];
	size_t n;
};

static inline void
wire_frame(struct wire *w, unsigned int type, unsigned int flags, uint32_t id, const void *p,
	size_t n)
{
	w->n += h2_put_header(w->p + w->n, (uint32_t)n, (enum h2_type)type, flags, id);
	if (n)
		memcpy(w->p + w->n, p, n);
	w->n += n;
}

static inline unsigned int
wire_flags(const char *letters)
{
	unsigned int flags = 0;

	for (; *letters && *letters != ' '; letters++)
		flags |= *letters == 'e' ? H2_END_STREAM
			: *letters == 'h'  ? H2_END_HEADERS
			: *letters == 'p'  ? H2_PADDED
			: *letters == 'w'  ? H2_PRIORITY_FLAG
					   : 0u;
	return flags;
}

/* Blocks that have a name: others are lines for block_of(), with ';' between them. */
static inline size_t
wire_block(uint8_t *to, const char *name)
{
	char lines[1024];

	if (strcmp(name, "GET") == 0)
		name = ":method|GET;:scheme|http;:path|/;:authority|a";
	else if (strcmp(name, "POST") == 0)
		name = ":method|POST;:scheme|http;:path|/;:authority|a";
	else if (strcmp(name, "POST5") == 0)
		name = ":method|POST;:scheme|http;:path|/;:authority|a;content-length|5";
	(void)snprintf(lines, sizeof(lines), "%s", name);
	for (char *c = lines; *c; c++)
		if (*c == ';')
			*c = '\n';
	return block_of(to, lines);
}

static inline void
wire_hex(struct wire *w, const char *hex)
{
	for (; *hex; hex += *hex == ' ' ? 1 : 2)
		if (*hex != ' ')
			w->p[w->n++] = (uint8_t)(str_hex_digit(hex[0]) << 4 |
						 str_hex_digit(hex[1]));
}

/*
 * Adds the frames of a line of words, with ", " between them:
 * PRI; S id=value...; A (an acknowledgement); H id flags block; C id flags block; D id flags text;
 * Z id flags n (DATA of n bytes); W id n; R id code; P 8 bytes; PA 8 bytes; G last code; X hex.
 * Flags: e END_STREAM, h END_HEADERS, p PADDED, w PRIORITY, - none.
 */
static inline void
wire_words(struct wire *w, const char *words)
{
	char frame[2048];

	while (*words) {
		const char *end = strstr(words, ", ");
		size_t n = end ? (size_t)(end - words) : strlen(words);
		char letters[16] = "", text[1024] = "";
		unsigned int id = 0, value = 0;
		uint8_t p[2048];

		memcpy(frame, words, n);
		frame[n] = '\0';
		words += end ? n + 2 : n;
		if (strcmp(frame, "PRI") == 0) {
			memcpy(w->p + w->n, H2_PREFACE, H2_PREFACE_LEN);
			w->n += H2_PREFACE_LEN;
		} else if (strcmp(frame, "A") == 0) {
			wire_frame(w, H2_SETTINGS, H2_ACK, 0, NULL, 0);
		} else if (frame[0] == 'S') {
			size_t len = 0;

			for (char *c = frame + 1; *c == ' '; c += strcspn(c, " ")) {
				c++;
				id = (unsigned int)strtoul(c, &c, 10);
				value = (unsigned int)strtoul(c + 1, &c, 10);
				len += h2_put_setting(p + len, (enum h2_setting)id, value);
			}
			wire_frame(w, H2_SETTINGS, 0, 0, p, len);
		} else if (sscanf(frame, "H %u %15s %1023[^\n]", &id, letters, text) >= 2) {
			wire_frame(w, H2_HEADERS, wire_flags(letters), id, p, wire_block(p, text));
		} else if (sscanf(frame, "C %u %15s %1023[^\n]", &id, letters, text) >= 2) {
			wire_frame(w, H2_CONTINUATION, wire_flags(letters), id, p,
				wire_block(p, text));
		} else if (sscanf(frame, "D %u %15s %1023[^\n]", &id, letters, text) >= 2) {
			wire_frame(w, H2_DATA, wire_flags(letters), id, text, strlen(text));
		} else if (sscanf(frame, "Z %u %15s %u", &id, letters, &value) == 3) {
			static const uint8_t zeros[1 << 15];

			wire_frame(w, H2_DATA, wire_flags(letters), id, zeros, value);
		} else if (sscanf(frame, "W %u %u", &id, &value) == 2) {
			w->n += h2_put_window(w->p + w->n, id, value);
		} else if (sscanf(frame, "R %u %u", &id, &value) == 2) {
			w->n += h2_put_rst(w->p + w->n, id, (enum h2_code)value);
		} else if (sscanf(frame, "G %u %u", &id, &value) == 2) {
			w->n += h2_put_goaway(w->p + w->n, id, (enum h2_code)value);
		} else if (sscanf(frame, "PA %8s", text) == 1) {
			wire_frame(w, H2_PING, H2_ACK, 0, text, 8);
		} else if (sscanf(frame, "P %8s", text) == 1) {
			wire_frame(w, H2_PING, 0, 0, text, 8);
		} else if (frame[0] == 'X') {
			wire_hex(w, frame + 2);
		} else {
			abort();
		}
	}
}

/* Names one frame that was sent, as words; heads are decoded with the table of *hp. */
static inline void
wire_name(char *out, size_t cap, const struct h2_frame *f, const uint8_t *p, struct h2_hpack *hp)
{
	static const char *const names[] = { "D", "H", "PRIORITY", "R", "S", "PUSH", "P", "G", "W",
		"C" };
	static struct http_field field[RIG_FIELDS];
	static char place[RIG_HEAD];
	struct h2_texts to = { .p = place, .cap = sizeof(place) };
	struct http_head h;
	size_t n = (size_t)snprintf(out, cap, "%s", f->type < H2_TYPES ? names[f->type] : "?");

	if (f->type == H2_SETTINGS && (f->flags & H2_ACK))
		(void)snprintf(out, cap, "A");
	else if (f->type == H2_PING)
		(void)snprintf(out + n, cap - n, "%s %.8s", f->flags & H2_ACK ? "A" : "",
			(const char *)p);
	else if (f->type == H2_GOAWAY)
		(void)snprintf(out + n, cap - n, " %u %s", h2_get32(p),
			h2_code_name(h2_get32(p + 4)));
	else if (f->type == H2_RST_STREAM)
		(void)snprintf(out + n, cap - n, " %u %s", f->stream, h2_code_name(h2_get32(p)));
	else if (f->type == H2_WINDOW_UPDATE)
		(void)snprintf(out + n, cap - n, " %u %u", f->stream, h2_get32(p));
	else if (f->type == H2_DATA)
		(void)snprintf(out + n, cap - n, " %u%s %u", f->stream,
			f->flags & H2_END_STREAM ? " e" : "", f->len);
	else if (f->type == H2_HEADERS) {
		http_head_init(&h, HTTP_RESPONSE, field, RIG_FIELDS);
		if (h2_head_decode(hp, p, f->len, 0, &h, &to) == 0)
			(void)snprintf(out + n, cap - n, " %u%s %u", f->stream,
				f->flags & H2_END_STREAM ? " e" : "", h.status);
		else
			(void)snprintf(out + n, cap - n, " %u%s", f->stream,
				f->flags & H2_END_STREAM ? " e" : "");
	}
}

/* All that waits to be sent, as words with ", " between them; it counts as sent. */
static inline const char *
rig_sent(struct rig *r, struct h2_hpack *hp)
{
	static char words[RIG_TEXT];
	static struct wire w;
	size_t n = 0;
	struct str s;

	w.n = 0;
	words[0] = '\0';
	while ((s = h2_conn_output(&r->h)).len) {
		memcpy(w.p + w.n, s.p, s.len);
		w.n += s.len;
		h2_conn_sent(&r->h, s.len);
	}
	for (size_t at = 0; w.n - at >= H2_HEADER_LEN;) {
		struct h2_frame f;

		if (r->h.is_client && at == 0 && memcmp(w.p, H2_PREFACE, 9) == 0)
			at += H2_PREFACE_LEN;
		h2_get_header(w.p + at, &f);
		at += H2_HEADER_LEN;
		if (n)
			n += (size_t)snprintf(words + n, sizeof(words) - n, ", ");
		wire_name(words + n, sizeof(words) - n, &f, w.p + at, hp);
		n += strlen(words + n);
		at += f.len;
	}
	return words;
}

#endif
