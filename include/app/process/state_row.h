/* One row of a file with the states of servers (state_file.h). */
#ifndef TACIT_APP_PROCESS_STATE_ROW_H
#define TACIT_APP_PROCESS_STATE_ROW_H

/* Fields of a row, in order. */
enum state_field {
	STATE_BE_ID, STATE_BE_NAME, STATE_SRV_ID, STATE_SRV_NAME, STATE_ADDR, STATE_OPER,
	STATE_ADMIN, STATE_UWEIGHT, STATE_IWEIGHT, STATE_SINCE, STATE_CHECK_STATUS,
	STATE_CHECK_RESULT, STATE_CHECK_HEALTH, STATE_CHECK_STATE, STATE_AGENT_STATE,
	STATE_BE_FORCED_ID, STATE_SRV_FORCED_ID, STATE_FQDN, STATE_PORT, STATE_SRVRECORD,
	STATE_SSL, STATE_CHECK_PORT, STATE_CHECK_ADDR, STATE_AGENT_ADDR, STATE_AGENT_PORT,
	STATE_FIELDS,
	STATE_FIELDS_MIN = STATE_SSL /* older files have fewer */
};

struct engine;
struct report;
struct server;

/* Applies a row; field: STATE_FIELDS texts, "" for missing ones. */
void state_row_apply(struct engine *e, const struct report *report, struct server *s,
	char *const *field);

#endif
