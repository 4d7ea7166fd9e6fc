/*
 * One check at a time of one server: connects, and runs the rules of its list; or has a command
 * run. All on the first worker. Memory: a buffer only while an answer is incomplete.
 */
#ifndef TACIT_PROXY_CHECK_CHECK_RUN_H
#define TACIT_PROXY_CHECK_CHECK_RUN_H

#include "base/list.h"
#include "base/pool.h"
#include "event/timer.h"
#include "net/conn.h"
#include "proxy/check/check_expect.h"
#include "proxy/check/external.h"
#include "proxy/model/check.h"
#include "proxy/model/engine.h"
#include "proxy/sample/eval.h"
#include "rule/sample/var.h"

/* Runs after which a server that was far is tried as a near one again. */
#define CHECK_FAR_RUNS 32

struct check_h2;
struct h2_worker;

/* Data shared by the runs. */
struct check_shared {
	struct engine *engine;
	struct pool bufs;            /* of engine->bufsize bytes */
	char *scratch;               /* the same size: the answer that is being evaluated */
	struct http_field *field;    /* of the same: the fields of its head */
	unsigned int max_fields;
	unsigned int spread;         /* spread-checks, per cent */
	int never_local;             /* pp2-never-send-local */
	const char *node;
	struct log_context log;      /* for %H and %pid */
	struct external *external;   /* NULL: there is no external check */
	struct h2_worker *h2;        /* NULL before the first check over HTTP/2 */
};

enum check_run_state {
	CHECK_IDLE,
	CHECK_CONNECTING,
	CHECK_HANDSHAKING,           /* with a SOCKS4 proxy */
	CHECK_TLS_HANDSHAKE,
	CHECK_SENDING,
	CHECK_EXPECTING,
	CHECK_COMMAND                /* an external check: its command runs, or is about to */
};

struct check_run {
	struct check *check;
	struct check_shared *shared;
	const struct check_conf *conf; /* its rules are not empty, but for CHECK_EXTERNAL */
	enum check_run_state state;
	struct task alarm;           /* sessions have had errors (observe) */
	struct timer start;          /* of the next run */
	struct timer deadline;       /* of this run; after it, of the wait for a TLS session */
	uint64_t due_ms;             /* when this run was to start */
	uint64_t start_ms;
	const struct check_rule *rule; /* the current one; NULL: none yet */
	struct conn conn;
	struct check_h2 *h2;         /* what carries it; NULL: it is no stream of HTTP/2 */
	int spare;                   /* a socket that is not connected, or -1 */
	int spare_family;
	struct vars vars;            /* of the scopes check and sess */
	struct external_job job;     /* of CHECK_EXTERNAL */
	char *buf;                   /* from shared->bufs, or NULL */
	uint32_t len;                /* bytes to send, or received since the last send */
	uint32_t sent;               /* bytes of them that were sent */
	uint8_t handshake_got;       /* bytes of a SOCKS4 proxy's reply */
	uint8_t ended;               /* no more bytes will come */
	uint8_t is_connected;        /* known, not only believed */
	uint8_t has_read_deadline;   /* `timeout check` applies */
	uint8_t far;                 /* connections take time: no call is made early */
};

/*
 * A step begins a rule, or continues it when its descriptor is ready. CHECK_STEP_WAIT: for the
 * event of r->state. CHECK_STEP_FAIL: *v is the result of the check.
 */
typedef enum check_step check_step_fn(struct check_run *r, struct check_verdict *v);

/* Plans the first run at at_ms. 0 or -ERR_NOMEM. */
int check_run_open(struct check_run *r, struct check *c, struct check_shared *shared,
	const struct check_conf *conf, uint64_t at_ms) must_check;
/* engine.hooks.on_alarm */
void check_run_on_alarm(struct engine *e, struct server *srv);
/* Closes what is open; no result. */
void check_run_close(struct check_run *r);

/* --- for its steps --- */

/* The handler of its descriptor. */
void check_run_on_io(void *owner, int fd, uint32_t ev);
/* The result of a call that failed with this errno: CHECK_STEP_FAIL. */
enum check_step check_run_fail(struct check_run *r, int err, struct check_verdict *v);

static inline const struct server *
check_run_server(const struct check_run *r)
{
	return r->check->srv;
}

/* The connect rule that the current connection comes from: the first rule that uses the network is
 * one. */
static inline const struct check_rule *
check_connect_rule(const struct check_run *r)
{
	const struct check_rule *rule = r->rule;

	while (rule->kind != CHECK_RULE_CONNECT)
		rule = list_entry(rule->link.prev, const struct check_rule, link);
	return rule;
}

static inline uint64_t
check_run_now(const struct check_run *r)
{
	return loop_now_ms(r->shared->engine->loop);
}

static inline struct timers *
check_run_deadlines(const struct check_run *r)
{
	return loop_timers(r->shared->engine->loop);
}

static inline struct timers *
check_run_starts(const struct check_run *r)
{
	return loop_starts(r->shared->engine->loop);
}

/* Forgets the bytes to send or received. */
void check_bytes_drop(struct check_run *r);

#endif
