/*
 * The data that entries of a stick table may have, in the order in which HAProxy shows them and
 * numbers them between peers (manual, stick-table): TABLE_DATA(ID, name, kind, flags).
 *
 * Kinds: U32, U64, RATE (counted over a period, which is an argument), NAME (a text of the table's
 * dictionary). Flags: ARRAY (its number of elements is an argument).
 */
TABLE_DATA(SERVER_ID, "server_id", U32, 0)
TABLE_DATA(GPT0, "gpt0", U32, 0)
TABLE_DATA(GPC0, "gpc0", U32, 0)
TABLE_DATA(GPC0_RATE, "gpc0_rate", RATE, 0)
TABLE_DATA(CONN_CNT, "conn_cnt", U32, 0)
TABLE_DATA(CONN_RATE, "conn_rate", RATE, 0)
TABLE_DATA(CONN_CUR, "conn_cur", U32, 0)
TABLE_DATA(SESS_CNT, "sess_cnt", U32, 0)
TABLE_DATA(SESS_RATE, "sess_rate", RATE, 0)
TABLE_DATA(HTTP_REQ_CNT, "http_req_cnt", U32, 0)
TABLE_DATA(HTTP_REQ_RATE, "http_req_rate", RATE, 0)
TABLE_DATA(HTTP_ERR_CNT, "http_err_cnt", U32, 0)
TABLE_DATA(HTTP_ERR_RATE, "http_err_rate", RATE, 0)
TABLE_DATA(BYTES_IN_CNT, "bytes_in_cnt", U64, 0)
TABLE_DATA(BYTES_IN_RATE, "bytes_in_rate", RATE, 0)
TABLE_DATA(BYTES_OUT_CNT, "bytes_out_cnt", U64, 0)
TABLE_DATA(BYTES_OUT_RATE, "bytes_out_rate", RATE, 0)
TABLE_DATA(GPC1, "gpc1", U32, 0)
TABLE_DATA(GPC1_RATE, "gpc1_rate", RATE, 0)
TABLE_DATA(SERVER_KEY, "server_key", NAME, 0)
TABLE_DATA(HTTP_FAIL_CNT, "http_fail_cnt", U32, 0)
TABLE_DATA(HTTP_FAIL_RATE, "http_fail_rate", RATE, 0)
TABLE_DATA(GPT, "gpt", U32, TABLE_ARRAY)
TABLE_DATA(GPC, "gpc", U32, TABLE_ARRAY)
TABLE_DATA(GPC_RATE, "gpc_rate", RATE, TABLE_ARRAY)
TABLE_DATA(GLITCH_CNT, "glitch_cnt", U32, 0)
TABLE_DATA(GLITCH_RATE, "glitch_rate", RATE, 0)
