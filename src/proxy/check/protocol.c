/* The rules of the built-in methods. Main thread, when the configuration is complete. */
#include "proxy/check/protocol.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"

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

/* One message and its answer. */
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
	case CHECK_CONNECT:
	case CHECK_TCP:
	case CHECK_HTTP:
	case CHECK_AGENT:
	case CHECK_EXTERNAL:
		break;
	}
	return 0;
}
