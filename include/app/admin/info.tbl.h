/*
 * Fields of `show info` (management manual 9.3): INFO_ROW(id, position, name, tags, type,
 * description). Positions, names, tags and types are HAProxy's; tacit's own fields are at 1000 and
 * above. Tools depend on names and positions.
 */
INFO_ROW(name, 0, "Name", "POS", FIELD_STR, "Name of the product")
INFO_ROW(version, 1, "Version", "POS", FIELD_STR, "Version of the product")
INFO_ROW(release_date, 2, "Release_date", "POS", FIELD_STR, "Date of the version")
INFO_ROW(nbthread, 3, "Nbthread", "CGS", FIELD_U32, "Number of threads")
INFO_ROW(nbproc, 4, "Nbproc", "CGS", FIELD_U32, "Number of processes, always 1")
INFO_ROW(process_num, 5, "Process_num", "KGP", FIELD_U32, "Number of this process, always 1")
INFO_ROW(pid, 6, "Pid", "SGP", FIELD_U32, "Process id")
INFO_ROW(uptime, 7, "Uptime", "MDP", FIELD_STR,
	"Time since the start, in days, hours, minutes and seconds")
INFO_ROW(uptime_sec, 8, "Uptime_sec", "MDP", FIELD_U32, "Time since the start, in seconds")
INFO_ROW(memmax_mb, 9, "Memmax_MB", "CLP", FIELD_U32, "Limit of memory in MiB: tune.memory or -m")
INFO_ROW(poolalloc_mb, 10, "PoolAlloc_MB", "MGP", FIELD_U32, "Memory of pools in MiB")
INFO_ROW(poolused_mb, 11, "PoolUsed_MB", "MGP", FIELD_U32, "Memory of pools in use, in MiB")
INFO_ROW(poolfailed, 12, "PoolFailed", "MCP", FIELD_U32, "Failed allocations from pools")
INFO_ROW(ulimit_n, 13, "Ulimit-n", "CLP", FIELD_U32, "Limit of file descriptors")
INFO_ROW(maxsock, 14, "Maxsock", "CLP", FIELD_U32, "Limit of sockets")
INFO_ROW(maxconn, 15, "Maxconn", "CLP", FIELD_U32, "Limit of connections")
INFO_ROW(hard_maxconn, 16, "Hard_maxconn", "CLP", FIELD_U32, "Limit of connections at start")
INFO_ROW(currconns, 17, "CurrConns", "MGP", FIELD_U32, "Current connections")
INFO_ROW(cumconns, 18, "CumConns", "MCP", FIELD_U32, "Connections so far")
INFO_ROW(cumreq, 19, "CumReq", "MCP", FIELD_U32, "Requests so far")
INFO_ROW(maxsslconns, 20, "MaxSslConns", "MMP", FIELD_U32, "Limit of TLS connections, 0: none")
INFO_ROW(currsslconns, 21, "CurrSslConns", "MGP", FIELD_U32, "Current TLS connections")
INFO_ROW(cumsslconns, 22, "CumSslConns", "MCP", FIELD_U32, "TLS connections so far")
INFO_ROW(maxpipes, 23, "Maxpipes", "CLP", FIELD_U32, "Limit of pipes for splicing")
INFO_ROW(pipesused, 24, "PipesUsed", "MGP", FIELD_U32, "Pipes in use")
INFO_ROW(pipesfree, 25, "PipesFree", "MGP", FIELD_U32, "Idle pipes")
INFO_ROW(connrate, 26, "ConnRate", "MRP", FIELD_U32, "Connections in the last second")
INFO_ROW(connratelimit, 27, "ConnRateLimit", "CLP", FIELD_U32,
	"Limit of connections per second: maxconnrate")
INFO_ROW(maxconnrate, 28, "MaxConnRate", "MMP", FIELD_U32,
	"Highest number of connections in a second")
INFO_ROW(sessrate, 29, "SessRate", "MRP", FIELD_U32, "Sessions in the last second")
INFO_ROW(sessratelimit, 30, "SessRateLimit", "CLP", FIELD_U32,
	"Limit of sessions per second: maxsessrate")
INFO_ROW(maxsessrate, 31, "MaxSessRate", "MRP", FIELD_U32, "Highest number of sessions in a second")
INFO_ROW(sslrate, 32, "SslRate", "MRP", FIELD_U32, "TLS connections in the last second")
INFO_ROW(sslratelimit, 33, "SslRateLimit", "CLP", FIELD_U32, "Limit of TLS connections per second")
INFO_ROW(maxsslrate, 34, "MaxSslRate", "MMP", FIELD_U32,
	"Highest number of TLS connections in a second")
INFO_ROW(sslfrontendkeyrate, 35, "SslFrontendKeyRate", "MGP", FIELD_U32,
	"TLS keys made for clients in the last second")
INFO_ROW(sslfrontendmaxkeyrate, 36, "SslFrontendMaxKeyRate", "MMP", FIELD_U32,
	"Highest number of such keys in a second")
INFO_ROW(sslfrontendsessionreuse, 37, "SslFrontendSessionReuse_pct", "MGP", FIELD_U32,
	"Percentage of resumed TLS sessions of clients")
INFO_ROW(sslbackendkeyrate, 38, "SslBackendKeyRate", "MRP", FIELD_U32,
	"TLS keys made with servers in the last second")
INFO_ROW(sslbackendmaxkeyrate, 39, "SslBackendMaxKeyRate", "MMP", FIELD_U32,
	"Highest number of such keys in a second")
INFO_ROW(sslcachelookups, 40, "SslCacheLookups", "MCP", FIELD_U32, "Look-ups of TLS sessions")
INFO_ROW(sslcachemisses, 41, "SslCacheMisses", "MCP", FIELD_U32,
	"Look-ups of TLS sessions that found none")
INFO_ROW(compressbpsin, 42, "CompressBpsIn", "MRP", FIELD_U32,
	"Bytes given to compression in the last second")
INFO_ROW(compressbpsout, 43, "CompressBpsOut", "MRP", FIELD_U32,
	"Bytes that compression returned in the last second")
INFO_ROW(compressbpsratelim, 44, "CompressBpsRateLim", "CLP", FIELD_U32,
	"Limit of compressed bytes per second")
INFO_ROW(tasks, 47, "Tasks", "MGP", FIELD_U32, "Timers that are running")
INFO_ROW(run_queue, 48, "Run_queue", "MGP", FIELD_U32, "Always 0: no task waits beyond a turn")
INFO_ROW(idle_pct, 49, "Idle_pct", "MaP", FIELD_U32, "Percentage of the last second spent waiting")
INFO_ROW(node, 50, "node", "COS", FIELD_STR, "Name of the node")
INFO_ROW(description, 51, "description", "COS", FIELD_STR, "Description of the node")
INFO_ROW(stopping, 52, "Stopping", "MGP", FIELD_U32, "1 while the process stops")
INFO_ROW(jobs, 53, "Jobs", "MGP", FIELD_U32, "Sessions, connections of stats sockets, and listeners")
INFO_ROW(unstoppable_jobs, 54, "Unstoppable Jobs", "MGP", FIELD_U32,
	"Jobs that a soft stop does not wait for")
INFO_ROW(listeners, 55, "Listeners", "MGP", FIELD_U32, "Listening sockets")
INFO_ROW(activepeers, 56, "ActivePeers", "MGP", FIELD_U32, "Peers that are connected and verified")
INFO_ROW(connectedpeers, 57, "ConnectedPeers", "MGP", FIELD_U32, "Peers that are connected")
INFO_ROW(droppedlogs, 58, "DroppedLogs", "MGP", FIELD_U32,
	"Log messages that a target did not take")
INFO_ROW(busypolling, 59, "BusyPolling", "MGP", FIELD_U32, "1 if the pollers never sleep")
INFO_ROW(failedresolutions, 60, "FailedResolutions", "MGP", FIELD_U32, "Failed name resolutions")
INFO_ROW(totalbytesout, 61, "TotalBytesOut", "MGP", FIELD_U64, "Bytes sent")
INFO_ROW(totalspliced, 62, "TotalSplicdedBytesOut", "MGP", FIELD_U64,
	"Bytes of them sent by splicing")
INFO_ROW(bytesoutrate, 63, "BytesOutRate", "MRP", FIELD_U64, "Bytes sent in the last second")
INFO_ROW(debugcommands, 64, "DebugCommandsIssued", "MGP", FIELD_U32, "Debugging commands run")
INFO_ROW(cumrecvlogs, 65, "CumRecvLogs", "MCP", FIELD_U32, "Log messages received")
INFO_ROW(build_info, 66, "Build info", "POS", FIELD_STR, "Version and options of the build")
INFO_ROW(memmax_bytes, 67, "Memmax_bytes", "CLP", FIELD_U64, "Limit of memory in bytes")
INFO_ROW(poolalloc_bytes, 68, "PoolAlloc_bytes", "MGP", FIELD_U64, "Memory of pools in bytes")
INFO_ROW(poolused_bytes, 69, "PoolUsed_bytes", "MGP", FIELD_U64, "Memory of pools in use, in bytes")
INFO_ROW(start_time_sec, 70, "Start_time_sec", "MDP", FIELD_U32,
	"Time of the start in seconds since 1970")
INFO_ROW(tainted, 71, "Tainted", "SGP", FIELD_STR, "0: nothing unusual was done")
INFO_ROW(poller, 1000, "Poller", "COS", FIELD_STR, "Name of the poller")
INFO_ROW(epoll_mode, 1001, "Epoll_mode", "COS", FIELD_STR, "How descriptors are registered")
INFO_ROW(loop_turns, 1002, "Loop_turns", "MCP", FIELD_U64, "Turns of the loops")
INFO_ROW(loop_events, 1003, "Loop_events", "MCP", FIELD_U64, "Events of descriptors")
INFO_ROW(loop_speculative_turns, 1004, "Loop_speculative_turns", "MCP", FIELD_U64,
	"Turns that did not wait")
INFO_ROW(loop_stale_events, 1005, "Loop_stale_events", "MCP", FIELD_U64,
	"Events of descriptors that were closed")
INFO_ROW(loop_spins, 1006, "Loop_spins", "MCP", FIELD_U64,
	"Connections ended for waking without progress")
INFO_ROW(loop_refused, 1007, "Loop_refused_registrations", "MCP", FIELD_U64,
	"Registrations that the kernel refused")
INFO_ROW(fsm_bugs, 1008, "Fsm_bugs", "MCP", FIELD_U64,
	"Events that the state machine does not allow")
INFO_ROW(lingers, 1009, "Lingers", "MCP", FIELD_U64, "Lingering closes")
INFO_ROW(memory_holds, 1010, "Memory_holds", "MCP", FIELD_U64,
	"Times that new sessions waited for memory")
INFO_ROW(buffer_waits, 1011, "Buffer_waits", "MCP", FIELD_U64,
	"Times that a session waited for a buffer")
INFO_ROW(stream_waits, 1012, "Stream_waits", "MCP", FIELD_U64,
	"Times that a bulk transfer waited for its turn")
INFO_ROW(splice_bytes, 1013, "Splice_bytes", "MCP", FIELD_U64, "Bytes spliced")
INFO_ROW(splice_fallbacks, 1014, "Splice_fallbacks", "MCP", FIELD_U64,
	"Transfers that went back to copying")
INFO_ROW(zerocopy_pinned, 1015, "Zerocopy_pinned", "MGP", FIELD_U64,
	"Buffers that the kernel still sends")
INFO_ROW(zerocopy_bytes, 1016, "Zerocopy_bytes", "MCP", FIELD_U64, "Bytes sent without copying")
INFO_ROW(zerocopy_copied, 1017, "Zerocopy_copied", "MCP", FIELD_U64,
	"Bytes that the kernel copied after all")
INFO_ROW(zerocopy_refused, 1018, "Zerocopy_refused", "MCP", FIELD_U64,
	"Zero-copy sends that the kernel refused")
INFO_ROW(zerocopy_full, 1019, "Zerocopy_full", "MCP", FIELD_U64, "Sends that found no free buffer")
INFO_ROW(syscalls, 1020, "Syscalls", "MCP", FIELD_U64, "System calls so far")
INFO_ROW(confinement, 1021, "Confinement", "COS", FIELD_STR,
	"Rights that the process has given up: capabilities, files, syscalls; or none")
/* The master counts them: nothing is added to what previous processes had. */
INFO_ROW(reloads, 1022, "Reloads", "MGP", FIELD_U32, "Reloads of the master so far")
INFO_ROW(failed_reloads, 1023, "Failed_reloads", "MGP", FIELD_U32,
	"Reloads that have failed: the previous configuration stayed in use")
INFO_ROW(last_reload_ok, 1024, "Last_reload_successful", "SGP", FIELD_U32,
	"0: the latest reload has failed, and the configuration in use is not that of the files")
INFO_ROW(regex_ended, 1025, "Regexes_given_up", "MCP", FIELD_U64,
	"Regular expressions that were given up, which counts as no match")
INFO_ROW(values_too_long, 1026, "Values_too_long", "MCP", FIELD_U64,
	"Values of expressions that were longer than tune.bufsize, and so had none")
INFO_ROW(sentlogs, 1027, "Sent_logs", "MCP", FIELD_U64,
	"Log messages that their targets have accepted")
INFO_ROW(first_cert_end, 1028, "First_certificate_end_sec", "SGP", FIELD_U64,
	"End of the certificate in use that ends first, in seconds since 1970")
