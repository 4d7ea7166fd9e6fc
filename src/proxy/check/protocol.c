/* The built-in methods: their rules, made on the main thread when the configuration is complete,
 * and the evaluation of their answers. */
#include "proxy/check/protocol.h"

#include <ctype.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "proxy/check/check_expect.h"
#include "proxy/check/check_text.h"
#include "spop/spop.h"

#define PACKET_MAX 4096

/* A step of a method. step: its number in messages, as HAProxy counts them; 0: implied. */
static struct check_rule *
add_protocol_step(struct check_conf *c, enum check_rule_kind kind, unsigned int step)
{
	struct check_rule *r = check_rule_add(c, kind, c->where);

	if (r)
		r->step = step;
	return r;
}

static int
add_connect(struct check_conf *c, unsigned int step)
{
	struct check_rule *r = add_protocol_step(c, CHECK_RULE_CONNECT, step);

	if (!r)
		return -ERR_NOMEM;
	r->u.connect.defaults = 1;
	return 0;
}

static int
add_send(struct check_conf *c, unsigned int step, struct str bytes)
{
	struct check_rule *r = add_protocol_step(c, CHECK_RULE_SEND, step);

	if (!r)
		return -ERR_NOMEM;
	r->u.send.data.p = mem_alloc(bytes.len + 1);
	if (!r->u.send.data.p)
		return -ERR_NOMEM;
	memcpy(r->u.send.data.p, bytes.p, bytes.len);
	r->u.send.data.len = bytes.len;
	return 0;
}

static int
add_expect(struct check_conf *c, unsigned int step, enum check_protocol what,
	enum check_status error)
{
	struct check_rule *r = add_protocol_step(c, CHECK_RULE_EXPECT, step);

	if (!r)
		return -ERR_NOMEM;
	r->u.expect.match = CHECK_MATCH_PROTOCOL;
	r->u.expect.protocol = what;
	r->u.expect.error_status = error;
	if (what == CHECK_SSL_RECORD)
		r->u.expect.tout_status = CHECK_L6TOUT;
	return 0;
}

/* --- mysql --- */

/*
 * A client's authentication packet without a password, and COM_QUIT behind it. 4.1 and later have
 * 4 bytes of capabilities and a character set; before that there were 2.
 */
static void
write_mysql_auth(struct sbuf *b, const char *user, int pre_41)
{
	static const char caps_41[] = "\0\x82\0\0" /* PROTOCOL_41, SECURE_CONNECTION */
				      "\0\x80\0\x01" /* maximum size of a packet */
				      "\x21";        /* utf8 */
	static const char caps_old[] = "\0\x80" "\0\0\x01";
	static const char filler[23];
	size_t len = (pre_41 ? sizeof(caps_old) - 1 : sizeof(caps_41) - 1 + sizeof(filler)) +
		strlen(user) + 2;

	sbuf_addc(b, (char)(len & 0xff));
	sbuf_addc(b, (char)(len >> 8 & 0xff));
	sbuf_add(b, "\0\x01", 2);
	if (pre_41) {
		sbuf_add(b, caps_old, sizeof(caps_old) - 1);
	} else {
		sbuf_add(b, caps_41, sizeof(caps_41) - 1);
		sbuf_add(b, filler, sizeof(filler));
	}
	sbuf_add(b, user, strlen(user) + 1);
	sbuf_addc(b, '\0');
	sbuf_add(b, "\x01\0\0\0\x01", 5);
}

static int
add_written(struct check_conf *c, unsigned int step, struct sbuf *b)
{
	int rc = b->failed ? -ERR_NOMEM : add_send(c, step, (struct str){ b->p, b->len });

	sbuf_fini(b);
	return rc;
}

static int
mysql_rules(struct check_conf *c)
{
	struct sbuf b;
	int rc = add_connect(c, 1);

	if (rc == 0 && c->user) {
		sbuf_init(&b, PACKET_MAX);
		write_mysql_auth(&b, c->user, c->pre_41);
		rc = add_written(c, 2, &b);
	}
	if (rc == 0)
		rc = add_expect(c, c->user ? 3 : 2, CHECK_MYSQL_GREETING, CHECK_L7RSP);
	if (rc == 0 && c->user)
		rc = add_expect(c, 4, CHECK_MYSQL_RESULT, CHECK_L7RSP);
	return rc;
}

/* --- others --- */

/* A startup message of protocol 3.0. */
static int
pgsql_rules(struct check_conf *c)
{
	/* Without a user the line had an error. */
	const char *user = c->user ? c->user : "";
	size_t len = 4 + 4 + sizeof("user") + strlen(user) + 1 + 1;
	struct sbuf b;
	int rc = add_connect(c, 1);

	sbuf_init(&b, PACKET_MAX);
	sbuf_add(&b, "\0\0", 2);
	sbuf_addc(&b, (char)(len >> 8 & 0xff));
	sbuf_addc(&b, (char)(len & 0xff));
	sbuf_add(&b, "\0\x03\0\0", 4);
	sbuf_add(&b, "user", sizeof("user"));
	sbuf_add(&b, user, strlen(user) + 1);
	sbuf_addc(&b, '\0');
	if (rc < 0) {
		sbuf_fini(&b);
		return rc;
	}
	rc = add_written(c, 2, &b);
	return rc ? rc : add_expect(c, 3, CHECK_PGSQL_AUTH, CHECK_L7RSP);
}

static int
smtp_rules(struct check_conf *c)
{
	struct sbuf b;
	int rc = add_connect(c, 1);

	if (rc == 0)
		rc = add_expect(c, 2, CHECK_SMTP_BANNER, CHECK_L7RSP);
	if (rc == 0) {
		sbuf_init(&b, PACKET_MAX);
		sbuf_addf(&b, "%s\r\n", c->user ? c->user : "HELO localhost");
		rc = add_written(c, 4, &b);
	}
	if (rc == 0)
		rc = add_expect(c, 5, CHECK_SMTP_HELLO, CHECK_L7STS);
	if (rc == 0)
		rc = add_send(c, 6, STR("QUIT\r\n"));
	return rc ? rc : add_expect(c, 7, CHECK_SMTP_BYE, CHECK_L7STS);
}

/* Makes the rules of a method that sends one message and checks the answer. */
static int
question_rules(struct check_conf *c, struct str question, enum check_protocol answer,
	enum check_status error)
{
	int rc = add_connect(c, 0);

	if (rc == 0)
		rc = add_send(c, 1, question);
	return rc ? rc : add_expect(c, 2, answer, error);
}

/* An anonymous simple bind of LDAPv3 (RFC 4511, 4.2). */
#define LDAP_BIND                                                     \
	"\x30\x0c"                /* LDAPMessage */                   \
	"\x02\x01\x01"            /* messageID 1 */                   \
	"\x60\x07\x02\x01\x03"    /* BindRequest, version 3 */        \
	"\x04\0"                  /* no name */                       \
	"\x80\0"                  /* simple, no password */

/* A ClientHello of SSLv3 (RFC 6101, 5.6.1.2) that offers its 39 cipher suites. */
#define SSL_HELLO_BEGIN                                               \
	"\x16\x03\0\0\x79"        /* handshake record, SSLv3 */       \
	"\x01\0\0\x75"            /* ClientHello */                   \
	"\x03\0"                                                      \
	"TACIT-SSL-HELLO-CHK\nTACIT-CHECK\n" /* random */             \
	"\0"                      /* no session */                    \
	"\0\x4e"
#define SSL_SUITES_FIRST 0x01
#define SSL_SUITES_LAST 0x1b
#define SSL_SUITES_MORE_FIRST 0x2f
#define SSL_SUITES_MORE_LAST 0x3a

static int
ssl_hello_rules(struct check_conf *c)
{
	struct sbuf b;
	int rc;

	sbuf_init(&b, PACKET_MAX);
	sbuf_add(&b, SSL_HELLO_BEGIN, sizeof(SSL_HELLO_BEGIN) - 1);
	for (int i = SSL_SUITES_FIRST; i <= SSL_SUITES_MORE_LAST; i++) {
		if (i > SSL_SUITES_LAST && i < SSL_SUITES_MORE_FIRST)
			continue;
		sbuf_addc(&b, '\0');
		sbuf_addc(&b, (char)i);
	}
	sbuf_add(&b, "\x01\0", 2); /* no compression */
	if (b.failed)
		rc = -ERR_NOMEM;
	else
		rc = question_rules(c, (struct str){ b.p, b.len }, CHECK_SSL_RECORD, CHECK_L6RSP);
	sbuf_fini(&b);
	return rc;
}

/* The longest frame, as that of default buffers. */
#define SPOP_CHECK_FRAME 16380u

static int
spop_rules(struct check_conf *c)
{
	const struct spop_hello h = { .max_frame = SPOP_CHECK_FRAME, .capabilities = STR(""),
		.is_check = 1 };
	struct sbuf b;
	int rc;

	sbuf_init(&b, PACKET_MAX);
	spop_put_hello(&b, &h);
	if (b.failed)
		rc = -ERR_NOMEM;
	else
		rc = question_rules(c, (struct str){ b.p, b.len }, CHECK_SPOP_HELLO, CHECK_L7RSP);
	sbuf_fini(&b);
	return rc;
}

int
check_protocol_rules(struct check_conf *c)
{
	switch (c->method) {
	case CHECK_MYSQL:
		return mysql_rules(c);
	case CHECK_PGSQL:
		return pgsql_rules(c);
	case CHECK_REDIS:
		return question_rules(c, STR("*1\r\n$4\r\nPING\r\n"), CHECK_REDIS_PONG,
			CHECK_L7STS);
	case CHECK_SMTP:
		return smtp_rules(c);
	case CHECK_LDAP:
		return question_rules(c, STR(LDAP_BIND), CHECK_LDAP_BIND, CHECK_L7RSP);
	case CHECK_SSL_HELLO:
		return ssl_hello_rules(c);
	case CHECK_SPOP:
		return spop_rules(c);
	case CHECK_CONNECT:
	case CHECK_TCP:
	case CHECK_HTTP:
	case CHECK_AGENT:
	case CHECK_EXTERNAL:
		break;
	}
	return 0;
}

/* --- answers --------------------------------------------------------------------------------- */

/*
 * Evaluates the answers of built-in methods. Pure. Each reads all bytes since the last send; a
 * field beyond them is never read.
 */

/* The bytes from offset `at` on. */
static struct str
bytes_from(struct str s, size_t at)
{
	return at < s.len ? (struct str){ s.p + at, s.len - at } : (struct str){ "", 0 };
}

/* As much as a text may be: up to a NUL, as an argument for "%.*s". */
static int
text_len(struct str s)
{
	return (int)MIN(strnlen(s.p, s.len), (size_t)CHECK_INFO_MAX);
}

/* Up to the end of the line. */
static int
line_len(struct str s)
{
	size_t n = 0;

	while (n < s.len && s.p[n] != '\r' && s.p[n] != '\n' && s.p[n])
		n++;
	return (int)MIN(n, (size_t)CHECK_INFO_MAX);
}

static unsigned int
byte_at(struct str s, size_t at)
{
	assert(at < s.len);
	return (unsigned char)s.p[at];
}

/* --- MySQL --- */

#define MYSQL_HEADER 4
#define MYSQL_ERROR 0xff
#define MYSQL_ERROR_TEXT 3   /* type, code */

/* The payload of the packet at the beginning. 0: it is incomplete. */
static int
mysql_packet(struct str data, struct str *payload)
{
	size_t len;

	if (data.len < MYSQL_HEADER)
		return 0;
	len = byte_at(data, 0) | byte_at(data, 1) << 8 | (size_t)byte_at(data, 2) << 16;
	*payload = bytes_from(data, MYSQL_HEADER);
	if (payload->len < len)
		return 0;
	payload->len = len;
	return 1;
}

static enum check_step
mysql_error(struct str payload, struct check_verdict *out)
{
	int code = payload.len < MYSQL_ERROR_TEXT
		? 0
		: (int)(byte_at(payload, 1) | byte_at(payload, 2) << 8);
	struct str text = bytes_from(payload, MYSQL_ERROR_TEXT);

	return check_fail(out, CHECK_L7STS, code, "%.*s", text_len(text), text.p);
}

/* is_result: the second packet, too. The text is the server's version. */
static enum check_step
eval_mysql(struct str data, int is_result, int is_last, struct check_verdict *out)
{
	struct str greeting, result, version;
	int complete = mysql_packet(data, &greeting);

	if (complete && greeting.len == 0)
		return check_fail(out, CHECK_L7RSP, -1, "%s", "");
	if (complete && byte_at(greeting, 0) == MYSQL_ERROR)
		return mysql_error(greeting, out);
	if (complete && is_result) {
		complete = mysql_packet(bytes_from(data, MYSQL_HEADER + greeting.len), &result);
		if (complete && result.len && byte_at(result, 0) == MYSQL_ERROR)
			return mysql_error(result, out);
	}
	if (!complete)
		return is_last ? check_fail(out, CHECK_L7RSP, -1, "%s", "") : CHECK_STEP_WAIT;
	version = bytes_from(greeting, 1);
	return check_next(out, CHECK_L7OK, 0, "%.*s", text_len(version), version.p);
}

/* --- PostgreSQL --- */

#define PGSQL_ERROR_TEXT 6   /* type, length, kind of the first field */
#define PGSQL_AUTH_MIN 9

static enum check_step
eval_pgsql(struct str data, int is_last, struct check_verdict *out)
{
	struct str text = bytes_from(data, PGSQL_ERROR_TEXT);

	if (byte_at(data, 0) == 'E')
		return check_fail(out, CHECK_L7RSP, -1, "%.*s", text_len(text), text.p);
	if (byte_at(data, 0) == 'R' && data.len >= PGSQL_AUTH_MIN)
		return check_next(out, CHECK_L7OK, 0, "PostgreSQL server is ok");
	if (!is_last)
		return CHECK_STEP_WAIT;
	return check_fail(out, CHECK_L7STS, 0, "PostgreSQL unknown error");
}

/* --- Redis --- */

static enum check_step
eval_redis(struct str data, int is_last, struct check_verdict *out)
{
	if (memmem(data.p, data.len, "+PONG\r\n", 7))
		return check_next(out, CHECK_L7OK, 0, "Redis server is ok");
	if (!is_last)
		return CHECK_STEP_WAIT;
	return check_fail(out, CHECK_L7STS, 0, "%.*s", line_len(data), data.p);
}

/* --- SMTP --- */

#define SMTP_CODE_LEN 3
#define SMTP_LINE_MIN 4

/* Three digits and one of these bytes. */
static int
is_smtp_line(struct str line, const char *after)
{
	if (line.len < SMTP_LINE_MIN || !strchr(after, line.p[SMTP_CODE_LEN]) ||
		!line.p[SMTP_CODE_LEN])
		return 0;
	for (size_t i = 0; i < SMTP_CODE_LEN; i++)
		if (!isdigit((unsigned char)line.p[i]))
			return 0;
	return 1;
}

static int
smtp_code(struct str line)
{
	int code = 0;

	for (size_t i = 0; i < MIN(line.len, (size_t)SMTP_CODE_LEN); i++) {
		if (!isdigit((unsigned char)line.p[i]))
			break;
		code = code * 10 + line.p[i] - '0';
	}
	return code;
}

static enum check_step
smtp_done(struct str line, int passed, struct check_verdict *out)
{
	struct str text = bytes_from(line, SMTP_LINE_MIN);

	if (passed)
		return check_next(out, CHECK_L7OK, smtp_code(line), "%.*s", line_len(text), text.p);
	return check_fail(out, CHECK_L7STS, smtp_code(line), "%.*s", line_len(text), text.p);
}

/* The greeting, or the answer to QUIT: one line. */
static enum check_step
eval_smtp_line(struct str data, int is_banner, int is_last, struct check_verdict *out)
{
	int valid;

	if (data.len < SMTP_LINE_MIN && !is_last)
		return CHECK_STEP_WAIT;
	valid = is_smtp_line(data, " \r");
	if (!valid && is_banner)
		return check_fail(out, CHECK_L7RSP, -1, "%.*s", line_len(data), data.p);
	return smtp_done(data, valid && data.p[0] == '2', out);
}

/* The answer to EHLO: lines "250-x" and a last one "250 x". */
static enum check_step
eval_smtp_hello(struct str data, int is_last, struct check_verdict *out)
{
	struct str line = data;

	while (is_smtp_line(line, "-") && line.p[0] == '2') {
		const char *end = memmem(line.p, line.len, "\r\n", 2);

		line = end ? bytes_from(line, (size_t)(end - line.p) + 2)
			   : bytes_from(line, line.len);
	}
	if (is_smtp_line(line, " \r") && line.p[0] == '2')
		return smtp_done(line, 1, out);
	return is_last ? smtp_done(data, 0, out) : CHECK_STEP_WAIT;
}

/* --- LDAP --- */

#define LDAP_RESPONSE_MIN 14
#define LDAP_RFC "See RFC: http://tools.ietf.org/html/rfc4511#section-4.1.9"

/* The state of a part of an answer. */
enum ldap_part { LDAP_FITS, LDAP_MORE, LDAP_OTHER };

/* Skips these bytes. */
static enum ldap_part
ldap_skip(struct str *s, struct str bytes)
{
	if (s->len < bytes.len)
		return LDAP_MORE;
	if (!str_is((struct str){ s->p, bytes.len }, bytes))
		return LDAP_OTHER;
	*s = bytes_from(*s, bytes.len);
	return LDAP_FITS;
}

/* Skips a tag and its length (BER, X.690), which has up to four bytes in the long form and always
 * an end (RFC 4511, 5.1). */
static enum ldap_part
skip_ber(struct str *s, unsigned int tag)
{
	unsigned int len, more;

	if (s->len < 2)
		return LDAP_MORE;
	len = byte_at(*s, 1);
	more = len & 0x80 ? len & 0x7f : 0;
	if (byte_at(*s, 0) != tag || len == 0x80 || more > 4)
		return LDAP_OTHER;
	if (s->len < 2 + more)
		return LDAP_MORE;
	*s = bytes_from(*s, 2 + more);
	return LDAP_FITS;
}

/* Reads a BindResponse to message 1, of which a part may have come: *result is its resultCode. */
static enum ldap_part
ldap_result(struct str s, int *result)
{
	static const struct str message_id = { "\x02\x01\x01", 3 };
	static const struct str enumerated = { "\x0a\x01", 2 };
	enum ldap_part part = skip_ber(&s, 0x30);

	if (part == LDAP_FITS)
		part = ldap_skip(&s, message_id);
	if (part == LDAP_FITS)
		part = skip_ber(&s, 0x61);
	if (part == LDAP_FITS)
		part = ldap_skip(&s, enumerated);
	if (part == LDAP_FITS && !s.len)
		part = LDAP_MORE;
	if (part == LDAP_FITS)
		*result = (int)byte_at(s, 0);
	return part;
}

static enum check_step
eval_ldap(struct str data, int is_last, struct check_verdict *out)
{
	enum ldap_part part = LDAP_MORE;
	int result = 0;

	if (data.len >= LDAP_RESPONSE_MIN)
		part = ldap_result(data, &result);
	if (part == LDAP_MORE)
		return is_last ? check_fail(out, CHECK_L7RSP, -1, "%s", "") : CHECK_STEP_WAIT;
	if (part == LDAP_OTHER)
		return check_fail(out, CHECK_L7RSP, -1, "Not LDAPv3 protocol");
	if (result > 0)
		return check_fail(out, CHECK_L7STS, result, LDAP_RFC);
	return check_next(out, CHECK_L7OK, 0, "Success");
}

/* --- TLS --- */

#define SSL_HEADER 5
#define SSL_ALERT 0x15
#define SSL_HANDSHAKE 0x16

/* Any handshake record or alert: most servers refuse SSLv3. */
static enum check_step
eval_ssl(struct str data, int is_last, struct check_verdict *out)
{
	unsigned int type = byte_at(data, 0);

	if (data.len < SSL_HEADER && !is_last)
		return CHECK_STEP_WAIT;
	if (type == SSL_ALERT || type == SSL_HANDSHAKE)
		return check_next(out, CHECK_L6OK, -1, "%s", "");
	return check_fail(out, CHECK_L6RSP, -1, "%s", "");
}

/* --- SPOP --- */

/* The hello of an agent: what is wrong with it, or its own reason to refuse. */
static enum spop_status
spop_check_status(const uint8_t *p, size_t n, uint32_t *code)
{
	struct spop_frame f;
	struct spop_agent agent;
	struct str text;
	enum spop_status s = spop_read_frame(p, n, &f);

	*code = s;
	if (s == SPOP_OK && f.type == SPOP_AGENT_HELLO)
		*code = s = spop_read_hello(&f, SPOP_CHECK_FRAME, &agent);
	else if (s == SPOP_OK && (f.type != SPOP_AGENT_DISCONNECT ||
			spop_read_disconnect(&f, code, &text) != SPOP_OK))
		*code = s = SPOP_INVALID;
	else if (s == SPOP_OK)
		s = SPOP_UNKNOWN;
	return s;
}

static enum check_step
eval_spop(struct str data, int is_last, struct check_verdict *out)
{
	const uint8_t *p = (const uint8_t *)data.p;
	uint32_t code = SPOP_TOO_BIG;
	size_t n = data.len < SPOP_LENGTH ? 0 : spop_length(p);
	int is_whole = data.len >= SPOP_LENGTH && n <= data.len - SPOP_LENGTH;

	if (!is_whole && n <= SPOP_CHECK_FRAME && !is_last)
		return CHECK_STEP_WAIT;
	if (!is_whole && n <= SPOP_CHECK_FRAME)
		code = SPOP_INVALID;
	if (is_whole && n <= SPOP_CHECK_FRAME &&
		spop_check_status(p + SPOP_LENGTH, n, &code) == SPOP_OK)
		return check_next(out, CHECK_L7OK, 0, "SPOA server is ok");
	return check_fail(out, CHECK_L7RSP, -1, "%s", spop_status_text(code));
}

enum check_step
check_protocol_eval(const struct check_rule *r, struct str data, int is_last,
	struct check_verdict *out)
{
	assert(data.len > 0);
	switch ((enum check_protocol)r->u.expect.protocol) {
	case CHECK_MYSQL_GREETING:
		return eval_mysql(data, 0, is_last, out);
	case CHECK_MYSQL_RESULT:
		return eval_mysql(data, 1, is_last, out);
	case CHECK_PGSQL_AUTH:
		return eval_pgsql(data, is_last, out);
	case CHECK_REDIS_PONG:
		return eval_redis(data, is_last, out);
	case CHECK_SMTP_BANNER:
		return eval_smtp_line(data, 1, is_last, out);
	case CHECK_SMTP_HELLO:
		return eval_smtp_hello(data, is_last, out);
	case CHECK_SMTP_BYE:
		return eval_smtp_line(data, 0, is_last, out);
	case CHECK_LDAP_BIND:
		return eval_ldap(data, is_last, out);
	case CHECK_SPOP_HELLO:
		return eval_spop(data, is_last, out);
	case CHECK_SSL_RECORD:
		return eval_ssl(data, is_last, out);
	}
	return check_fail(out, CHECK_L7RSP, -1, "%s", "");
}
