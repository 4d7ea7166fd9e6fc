/* The reason why a connection ended before its data, or could not be opened: no PROXY header, no
 * handshake, no port. The numbers and texts are those of fc_err and fc_err_str. */
#ifndef TACIT_NET_CONN_ERR_H
#define TACIT_NET_CONN_ERR_H

enum conn_err {
#define CONN_ERR_ROW(id, number, text) CONN_ERR_##id,
#include "net/conn_err.tbl.h"
#undef CONN_ERR_ROW
};

int conn_err_number(enum conn_err err);
const char *conn_err_text(enum conn_err err);

#endif
