/* Counters of HTTP/2 connections (manual, show stat: h2_*). One worker writes them. */
#ifndef TACIT_H2_H2_STAT_H
#define TACIT_H2_H2_STAT_H

#include <stdatomic.h>
#include <stdint.h>

struct h2_stat {
	_Atomic uint64_t headers_rcvd, data_rcvd, settings_rcvd, rst_stream_rcvd, goaway_rcvd;
	_Atomic uint64_t conn_errors, stream_errors; /* detected */
	_Atomic uint64_t rst_stream_resp, goaway_resp;
	_Atomic uint64_t open_streams, total_streams;
	_Atomic uint64_t open_connections, total_connections; /* the user counts these */
};

#endif
