/* Parts of a row that a column of show stat needs. Pure. */
#include "app/admin/stat_parts.h"

/* The part of a column; a column without one here needs all parts. */
static const uint8_t part_of[STAT_COLS + 1] = {
	[STAT_qmax] = STAT_PART_COUNTERS, [STAT_smax] = STAT_PART_COUNTERS,
	[STAT_stot] = STAT_PART_COUNTERS, [STAT_bin] = STAT_PART_COUNTERS,
	[STAT_bout] = STAT_PART_COUNTERS, [STAT_dresp] = STAT_PART_COUNTERS,
	[STAT_dreq] = STAT_PART_COUNTERS, [STAT_econ] = STAT_PART_COUNTERS,
	[STAT_eresp] = STAT_PART_COUNTERS, [STAT_wretr] = STAT_PART_COUNTERS,
	[STAT_wredis] = STAT_PART_COUNTERS, [STAT_lbtot] = STAT_PART_COUNTERS,
	[STAT_cli_abrt] = STAT_PART_COUNTERS, [STAT_srv_abrt] = STAT_PART_COUNTERS,
	[STAT_connect] = STAT_PART_COUNTERS, [STAT_reuse] = STAT_PART_COUNTERS,
	[STAT_wrew] = STAT_PART_COUNTERS, [STAT_req_tot] = STAT_PART_COUNTERS,
	[STAT_hrsp_1xx] = STAT_PART_COUNTERS, [STAT_lastsess] = STAT_PART_COUNTERS,
	[STAT_qtime] = STAT_PART_COUNTERS, [STAT_ctime] = STAT_PART_COUNTERS,
	[STAT_rtime] = STAT_PART_COUNTERS, [STAT_ttime] = STAT_PART_COUNTERS,
	[STAT_qtime_max] = STAT_PART_COUNTERS, [STAT_ctime_max] = STAT_PART_COUNTERS,
	[STAT_rtime_max] = STAT_PART_COUNTERS, [STAT_ttime_max] = STAT_PART_COUNTERS,
	[STAT_qcur] = STAT_PART_LOAD, [STAT_scur] = STAT_PART_LOAD, [STAT_slim] = STAT_PART_LOAD,
	[STAT_qlimit] = STAT_PART_LOAD, [STAT_rate] = STAT_PART_LOAD,
	[STAT_rate_max] = STAT_PART_COUNTERS, [STAT_eint] = STAT_PART_LOAD,
	[STAT_used_conn_cur] = STAT_PART_LOAD, [STAT_status] = STAT_PART_STATE,
	[STAT_weight] = STAT_PART_STATE, [STAT_uweight] = STAT_PART_STATE,
	[STAT_throttle] = STAT_PART_STATE, [STAT_act] = STAT_PART_STATE,
	[STAT_bck] = STAT_PART_STATE, [STAT_lastchg] = STAT_PART_STATE,
	[STAT_chkfail] = STAT_PART_STATE, [STAT_chkdown] = STAT_PART_STATE,
	[STAT_downtime] = STAT_PART_STATE, [STAT_check_status] = STAT_PART_STATE,
	[STAT_check_code] = STAT_PART_STATE, [STAT_check_duration] = STAT_PART_STATE,
	[STAT_srv_icur] = STAT_PART_IDLE, [STAT_idle_conn_cur] = STAT_PART_IDLE,
	[STAT_src_ilim] = STAT_PART_IDLE,
	[STAT_safe_conn_cur] = STAT_PART_IDLE, [STAT_need_conn_est] = STAT_PART_IDLE,
};

unsigned int
stat_parts_of(enum stat_col only)
{
	return part_of[only] ? part_of[only] : STAT_PARTS;
}
