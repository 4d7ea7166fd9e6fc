/*
 * The state of servers and backends that outlives the process: copies in its memory file
 * (app/process/keep.h), which the first worker renews after each change. A later process reads them
 * as numbers from outside.
 */
#ifndef TACIT_PROXY_MODEL_SERVER_KEPT_H
#define TACIT_PROXY_MODEL_SERVER_KEPT_H

#include <stdint.h>

#include "net/addr.h"
#include "proxy/model/check.h"

struct proxy;
struct server;

#define SERVER_KEPT_LINE 512
#define SERVER_KEPT_NAME 256

struct check_kept {
	uint8_t exists, enabled;
	int32_t rise, fall, health, status, code;
	uint32_t duration_ms;
	uint64_t fails, observed_fails;
	char info[CHECK_INFO_MAX];
};

/* A number that commands change: as configured, and as it is. */
struct kept_number {
	int64_t conf, now;
};

/* The targets of checks, and the text sent to agents. */
struct check_target_kept {
	uint32_t conf;          /* a hash of what is configured */
	uint32_t port;          /* 0: none */
	struct addr addr;       /* len 0: none */
	char send[SERVER_KEPT_NAME];
};

struct server_kept {
	uint32_t is_set;
	/* As configured: a new configuration's changes count, not the saved value. */
	uint32_t conf_addr;      /* a hash */
	int32_t conf_weight;
	uint32_t conf_disabled;
	uint32_t admin, oper;
	int32_t weight;
	uint32_t downs;
	uint64_t last_change_ms, down_since_ms, down_ms;
	struct addr addr;        /* len 0: none */
	char fqdn[SERVER_KEPT_NAME]; /* "": none */
	char line[SERVER_KEPT_LINE]; /* `add server`: the words after its name; "": configured */
	struct check_kept check, agent;
	struct kept_number maxconn;
	struct kept_number tls;  /* 1: sessions use it */
	struct check_target_kept check_to, agent_to;
};

struct proxy_kept {
	uint32_t is_set;
	uint32_t downs, is_up;
	uint64_t last_change_ms, down_since_ms, down_ms;
	struct kept_number maxconn; /* of the frontend */
};

/* Writes what is configured to the copy, before it changes at run time. */
void server_note_conf(struct server_kept *k, const struct server *s);
/* Renews the copies, if there are some. First worker; under the backend's lock or not. */
void server_note(const struct server *s);
void proxy_note(const struct proxy *be);
/* Enables or disables a check at run time. */
void check_set_enabled(struct check *c, int on);
/* A hash of the address that is configured: to be taken before it changes at run time. */
uint32_t server_conf_addr(const struct server *s);
/* True if a command had set it to a value that this one, with the same configuration, has not. */
static inline int
kept_number_is_set(const struct kept_number *k, int64_t conf, int64_t now)
{
	return k->conf == conf && k->now != now;
}

#endif
