/*
 * Words that read or change an entry of a stick table in expressions. Each row makes the
 * fetches sc_NAME, sc0_NAME, sc1_NAME, sc2_NAME, src_NAME and the converter table_TABLE-NAME:
 *
 * TRACK_VALUE(ID, name, name as a converter, data, doc)        a value of the type TABLE_data
 * TRACK_ELEMENT(ID, name, name as a converter, data, doc)      the same of an array: <idx> is first
 * TRACK_CHANGE(ID, name, element, doc)                         of gpc0 or gpc1
 * TRACK_CHANGE_AT(ID, name, doc)                               of an array: <idx> is first
 */
TRACK_VALUE(BYTES_IN_RATE, "bytes_in_rate", "bytes_in_rate", BYTES_IN_RATE,
	"Bytes received from clients in a period.")
TRACK_VALUE(BYTES_OUT_RATE, "bytes_out_rate", "bytes_out_rate", BYTES_OUT_RATE,
	"Bytes received from servers in a period.")
TRACK_CHANGE_AT(CLR_GPC, "clr_gpc", "Sets gpc number <idx> to 0, and returns what it was.")
TRACK_CHANGE(CLR_GPC0, "clr_gpc0", 0, "Sets gpc0 to 0, and returns what it was.")
TRACK_CHANGE(CLR_GPC1, "clr_gpc1", 1, "Sets gpc1 to 0, and returns what it was.")
TRACK_VALUE(CONN_CNT, "conn_cnt", "conn_cnt", CONN_CNT, "Number of connections.")
TRACK_VALUE(CONN_CUR, "conn_cur", "conn_cur", CONN_CUR, "Number of current connections.")
TRACK_VALUE(CONN_RATE, "conn_rate", "conn_rate", CONN_RATE, "Connections in a period.")
TRACK_ELEMENT(GET_GPC, "get_gpc", "gpc", GPC, "Value of gpc number <idx>.")
TRACK_VALUE(GET_GPC0, "get_gpc0", "gpc0", GPC0, "Value of gpc0.")
TRACK_VALUE(GET_GPC1, "get_gpc1", "gpc1", GPC1, "Value of gpc1.")
TRACK_ELEMENT(GET_GPT, "get_gpt", "gpt", GPT, "Value of gpt number <idx>.")
TRACK_VALUE(GET_GPT0, "get_gpt0", "gpt0", GPT0, "Value of gpt0.")
TRACK_VALUE(GLITCH_CNT, "glitch_cnt", "glitch_cnt", GLITCH_CNT,
	"Number of glitches of connections of HTTP/2 (fc_glitches).")
TRACK_VALUE(GLITCH_RATE, "glitch_rate", "glitch_rate", GLITCH_RATE,
	"Glitches in a period.")
TRACK_ELEMENT(GPC_RATE, "gpc_rate", "gpc_rate", GPC_RATE,
	"How much gpc number <idx> has grown in a period.")
TRACK_VALUE(GPC0_RATE, "gpc0_rate", "gpc0_rate", GPC0_RATE, "How much gpc0 has grown in a period.")
TRACK_VALUE(GPC1_RATE, "gpc1_rate", "gpc1_rate", GPC1_RATE, "How much gpc1 has grown in a period.")
TRACK_VALUE(HTTP_ERR_CNT, "http_err_cnt", "http_err_cnt", HTTP_ERR_CNT,
	"Number of errors of clients: invalid and denied requests, and status codes of http-err-codes.")
TRACK_VALUE(HTTP_ERR_RATE, "http_err_rate", "http_err_rate", HTTP_ERR_RATE,
	"Errors of clients in a period.")
TRACK_VALUE(HTTP_FAIL_CNT, "http_fail_cnt", "http_fail_cnt", HTTP_FAIL_CNT,
	"Number of failures of servers: invalid, missing and late responses, and status codes of "
	"http-fail-codes.")
TRACK_VALUE(HTTP_FAIL_RATE, "http_fail_rate", "http_fail_rate", HTTP_FAIL_RATE,
	"Failures of servers in a period.")
TRACK_VALUE(HTTP_REQ_CNT, "http_req_cnt", "http_req_cnt", HTTP_REQ_CNT, "Number of requests.")
TRACK_VALUE(HTTP_REQ_RATE, "http_req_rate", "http_req_rate", HTTP_REQ_RATE,
	"Requests in a period.")
TRACK_CHANGE_AT(INC_GPC, "inc_gpc", "Adds 1 to gpc number <idx>, and returns its value.")
TRACK_CHANGE(INC_GPC0, "inc_gpc0", 0, "Adds 1 to gpc0, and returns its value.")
TRACK_CHANGE(INC_GPC1, "inc_gpc1", 1, "Adds 1 to gpc1, and returns its value.")
TRACK_VALUE(KBYTES_IN, "kbytes_in", "kbytes_in", BYTES_IN_CNT, "KiB received from clients.")
TRACK_VALUE(KBYTES_OUT, "kbytes_out", "kbytes_out", BYTES_OUT_CNT, "KiB received from servers.")
TRACK_VALUE(SESS_CNT, "sess_cnt", "sess_cnt", SESS_CNT, "Number of accepted connections.")
TRACK_VALUE(SESS_RATE, "sess_rate", "sess_rate", SESS_RATE, "Accepted connections in a period.")
