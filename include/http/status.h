/* Reason phrases of status codes. */
#ifndef TACIT_HTTP_STATUS_H
#define TACIT_HTTP_STATUS_H

/* "Not Found": http/status.tbl.h. An unknown status has the phrase of its class, as in HAProxy:
 * "Client Error". */
const char *http_status_reason(unsigned int status);

#endif
