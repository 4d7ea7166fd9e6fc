/* PROXY_HEADER_ROW(id, fc_err of the manual, text of fc_err_str): manual 7.3.3 */
PROXY_HEADER_ROW(NONE, 0, "Success")
PROXY_HEADER_ROW(CLOSED, 11, "Connection closed while waiting for PROXY protocol header")
PROXY_HEADER_ROW(FAILED, 12, "Connection error while waiting for PROXY protocol header")
PROXY_HEADER_ROW(LATE, 13, "Timeout while waiting for PROXY protocol header")
PROXY_HEADER_ROW(CUT, 14, "Truncated PROXY protocol header received")
PROXY_HEADER_ROW(OTHER, 15, "Received something which does not look like a PROXY protocol header")
PROXY_HEADER_ROW(INVALID, 16, "Received an invalid PROXY protocol header")
PROXY_HEADER_ROW(UNHANDLED, 17, "Received an unhandled protocol in the PROXY protocol header")
