/* The columns of `show stat` about the state of a server and its checks (management manual 9.1). */
#ifndef TACIT_APP_ADMIN_STAT_CHECK_H
#define TACIT_APP_ADMIN_STAT_CHECK_H

#include "app/admin/stat_row.h"
#include "net/addr.h"
#include "proxy/model/dynamic_cookie.h"
#include "proxy/model/server.h"

/* Texts that a row refers to. */
struct stat_texts {
	char addr[ADDR_TEXT];
	char name[sizeof("sock-") + 10]; /* of a listener without a name */
	char cookie[DYNAMIC_COOKIE_TEXT];
	char status[SERVER_STATUS_MAX], tracked[SERVER_STATUS_MAX];
	char check_status[16], agent_status[16];
};

/* Sets status, the counters and the last result of its checks, and what it tracks. */
void stat_put_server_state(struct stat_row *r, const struct server *s, struct stat_texts *texts,
	uint64_t now_ms);

#endif
