/*
 * The data that entries of a stick table may have, in the order in which HAProxy shows them and
 * numbers them between peers (manual, stick-table): TABLE_DATA(ID, name, kind, flags, doc).
 *
 * Kinds: U32, U64, RATE (counted over a period, which is an argument), NAME (a text of the table's
 * dictionary). Flags: ARRAY (its number of elements is an argument).
 */
TABLE_DATA(SERVER_ID, "server_id", U32, 0, "The id of the server, which stick rules store.")
TABLE_DATA(GPT0, "gpt0", U32, 0, "A tag: a number that rules set (sc-set-gpt0).")
TABLE_DATA(GPC0, "gpc0", U32, 0, "A counter that rules change (sc-inc-gpc0).")
TABLE_DATA(GPC0_RATE, "gpc0_rate", RATE, 0, "By how much gpc0 has grown in the period.")
TABLE_DATA(CONN_CNT, "conn_cnt", U32, 0, "Number of connections.")
TABLE_DATA(CONN_RATE, "conn_rate", RATE, 0, "Connections in the period.")
TABLE_DATA(CONN_CUR, "conn_cur", U32, 0, "Connections that are open now.")
TABLE_DATA(SESS_CNT, "sess_cnt", U32, 0, "Number of accepted connections.")
TABLE_DATA(SESS_RATE, "sess_rate", RATE, 0, "Accepted connections in the period.")
TABLE_DATA(HTTP_REQ_CNT, "http_req_cnt", U32, 0, "Number of requests.")
TABLE_DATA(HTTP_REQ_RATE, "http_req_rate", RATE, 0, "Requests in the period.")
TABLE_DATA(HTTP_ERR_CNT, "http_err_cnt", U32, 0, "Errors of clients: see http-err-codes.")
TABLE_DATA(HTTP_ERR_RATE, "http_err_rate", RATE, 0, "The same in the period.")
TABLE_DATA(BYTES_IN_CNT, "bytes_in_cnt", U64, 0, "Bytes received from clients.")
TABLE_DATA(BYTES_IN_RATE, "bytes_in_rate", RATE, 0, "The same in the period.")
TABLE_DATA(BYTES_OUT_CNT, "bytes_out_cnt", U64, 0, "Bytes received from servers.")
TABLE_DATA(BYTES_OUT_RATE, "bytes_out_rate", RATE, 0, "The same in the period.")
TABLE_DATA(GPC1, "gpc1", U32, 0, "Another counter that rules change (sc-inc-gpc1).")
TABLE_DATA(GPC1_RATE, "gpc1_rate", RATE, 0, "By how much gpc1 has grown in the period.")
TABLE_DATA(SERVER_KEY, "server_key", NAME, 0,
	"The server by its name or address (srvkey), which stick rules store.")
TABLE_DATA(HTTP_FAIL_CNT, "http_fail_cnt", U32, 0, "Failures of servers: see http-fail-codes.")
TABLE_DATA(HTTP_FAIL_RATE, "http_fail_rate", RATE, 0, "The same in the period.")
TABLE_DATA(GPT, "gpt", U32, TABLE_ARRAY,
	"So many tags, with numbers from 0 (sc-set-gpt), instead of gpt0.")
TABLE_DATA(GPC, "gpc", U32, TABLE_ARRAY,
	"So many counters, with numbers from 0 (sc-inc-gpc), instead of gpc0 and gpc1.")
TABLE_DATA(GPC_RATE, "gpc_rate", RATE, TABLE_ARRAY,
	"By how much each of so many counters has grown in the period.")
TABLE_DATA(GLITCH_CNT, "glitch_cnt", U32, 0, "Glitches of connections of HTTP/2 (fc_glitches).")
TABLE_DATA(GLITCH_RATE, "glitch_rate", RATE, 0, "Glitches in the period.")
