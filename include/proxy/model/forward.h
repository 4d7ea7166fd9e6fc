/*
 * Header fields with the client's address for servers: X-Forwarded-For, X-Original-To (manual 4.2,
 * option forwardfor and originalto) and Forwarded (RFC 7239; option forwarded).
 */
#ifndef TACIT_PROXY_MODEL_FORWARD_H
#define TACIT_PROXY_MODEL_FORWARD_H

#include <stdint.h>

#include "base/compiler.h"
#include "cfg/diag.h"
#include "http/head.h"
#include "net/addr.h"
#include "rule/sample/sample.h"

struct proxy;
struct stream;

/* <address>[/mask]. As in HAProxy an IPv4-mapped address is in networks of IPv6 only. */
struct forward_net {
	int family;           /* 0: none */
	unsigned int bits;
	unsigned char addr[16];
};

/* 0 or -ERR_SYNTAX. An IPv4 mask may be dotted. */
int forward_net_parse(const char *text, struct forward_net *out) must_check;
int forward_net_has(const struct forward_net *n, const struct addr *a);

/* Options that add an address in a field. */
enum forward_kind { FORWARD_FOR, FORWARD_ORIGINAL_TO, FORWARD_KINDS };

struct forward_option {
	uint8_t on;
	uint8_t if_none;      /* only if there is no field of this name */
	char *header;         /* NULL: the default name */
	struct forward_net except;
};

/* Parameters of Forwarded. */
enum forwarded_part {
	FORWARDED_PROTO = 1u << 0,
	FORWARDED_HOST = 1u << 1,
	FORWARDED_BY = 1u << 2,
	FORWARDED_BY_PORT = 1u << 3,
	FORWARDED_FOR = 1u << 4,
	FORWARDED_FOR_PORT = 1u << 5
};

struct forward_conf {
	struct forward_option to[FORWARD_KINDS];
	unsigned int forwarded; /* enum forwarded_part; 0: off */
};

void forward_conf_fini(struct forward_conf *c);
/* 0 or -ERR_NOMEM. */
int forward_conf_inherit(struct forward_conf *c, const struct forward_conf *defaults) must_check;
/* Warns of options without effect in the proxy's mode. */
void forward_conf_check(const struct proxy *p, struct cfg_diag *d);

/*
 * Adds the fields of both proxies' options to the request, after the rules have processed it: the
 * addresses of its client and its destination. Texts are put into the arena. 0, or -ERR_RANGE when
 * the head or the arena is full; some fields may have been added then.
 */
int http_add_forwarding(struct stream *s, struct http_head *req, struct arena *a) must_check;

#endif
