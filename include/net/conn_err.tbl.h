/* Why a connection has not come to data. CONN_ERR_ROW(id, fc_err of the manual, text of
 * fc_err_str): manual 7.3.3 */
CONN_ERR_ROW(NONE, 0, "Success")
CONN_ERR_ROW(CLOSED, 11, "Connection closed while waiting for PROXY protocol header")
CONN_ERR_ROW(FAILED, 12, "Connection error while waiting for PROXY protocol header")
CONN_ERR_ROW(LATE, 13, "Timeout while waiting for PROXY protocol header")
CONN_ERR_ROW(CUT, 14, "Truncated PROXY protocol header received")
CONN_ERR_ROW(OTHER, 15, "Received something which does not look like a PROXY protocol header")
CONN_ERR_ROW(INVALID, 16, "Received an invalid PROXY protocol header")
CONN_ERR_ROW(UNHANDLED, 17, "Received an unhandled protocol in the PROXY protocol header")
CONN_ERR_ROW(TLS_CLOSED, 24, "Connection closed during SSL handshake")
CONN_ERR_ROW(TLS_LATE, 26, "Timeout during SSL handshake")
CONN_ERR_ROW(TLS_NOMEM, 28, "Out of memory when initializing an SSL connection")
CONN_ERR_ROW(TLS_FAILED, 34, "SSL handshake failure")
