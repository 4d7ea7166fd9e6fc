/*
 * The built-in methods of health checks: option mysql-check, pgsql-check, redis-check, smtpchk,
 * ldap-check and ssl-hello-chk (manual 4.2), as lists of rules.
 */
#ifndef TACIT_PROXY_CHECK_PROTOCOL_H
#define TACIT_PROXY_CHECK_PROTOCOL_H

#include "base/compiler.h"
#include "proxy/check/check_expect.h"
#include "proxy/model/check_conf.h"

/* The answer that a rule with CHECK_MATCH_PROTOCOL expects: check_expect.protocol. */
enum check_protocol {
	CHECK_MYSQL_GREETING,
	CHECK_MYSQL_RESULT,      /* the packet behind the greeting */
	CHECK_PGSQL_AUTH,
	CHECK_REDIS_PONG,
	CHECK_SMTP_BANNER,
	CHECK_SMTP_HELLO,
	CHECK_SMTP_BYE,
	CHECK_LDAP_BIND,
	CHECK_SPOP_HELLO,
	CHECK_SSL_RECORD
};

/*
 * Appends the rules of c->method, one of those above, to the empty list of rules. 0 or -ERR_NOMEM.
 */
int check_protocol_rules(struct check_conf *c) must_check;

/* data: at least one byte, all since the last send. is_last: no more will come. */
enum check_step check_protocol_eval(const struct check_rule *r, struct str data, int is_last,
	struct check_verdict *out) must_check;

#endif
