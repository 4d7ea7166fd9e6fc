/*
 * Values of `retry-on`: HTTP_RETRY(id, name, all, text) and HTTP_RETRY_STATUS(status, all); all:
 * included in all-retryable-errors; text: for the manual. (0rtt-rejected: there is no early data.)
 */
HTTP_RETRY(CONN_FAILURE,     "conn-failure",     1, "The connection could not be made.")
HTTP_RETRY(EMPTY_RESPONSE,   "empty-response",   1,
	"The server closed the connection without a byte of a response.")
HTTP_RETRY(JUNK_RESPONSE,    "junk-response",    1, "The response is invalid.")
HTTP_RETRY(RESPONSE_TIMEOUT, "response-timeout", 1, "No response came within timeout server.")
HTTP_RETRY_STATUS(401, 0)
HTTP_RETRY_STATUS(403, 0)
HTTP_RETRY_STATUS(404, 0)
HTTP_RETRY_STATUS(408, 0)
HTTP_RETRY_STATUS(425, 0)
HTTP_RETRY_STATUS(500, 1)
HTTP_RETRY_STATUS(501, 0)
HTTP_RETRY_STATUS(502, 1)
HTTP_RETRY_STATUS(503, 1)
HTTP_RETRY_STATUS(504, 1)
