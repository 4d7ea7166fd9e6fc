/*
 * Names that are not supported and belong to no feature of missing.tbl.h, and what to use instead:
 * INSTEAD(name, text), of options, actions, fetches, converters and sections. A name that ends with
 * '*' stands for all that begin so.
 */
INSTEAD("add-headers-bin", "use 'add-header' for each field")
INSTEAD("aes_gcm_enc", "only 'aes_gcm_dec' is there: have the application encrypt")
INSTEAD("check-reuse-pool", "remove it: a check opens a connection of its own")
INSTEAD("cpu_*", "'profiling.tasks on' and 'show profiling' measure times")
INSTEAD("del-headers-bin", "use 'del-header' for each field")
INSTEAD("distcc_*", "remove it: 'req.payload' has the bytes")
INSTEAD("ech", "remove it: clients then send the name as they always have")
INSTEAD("idle-ping", "use 'option clitcpka' and 'option srvtcpka'")
INSTEAD("lat_*", "'profiling.tasks on' and 'show profiling' measure times")
INSTEAD("log-forward", "tacit receives no log messages: send them to a syslog daemon")
INSTEAD("mode health", "use 'monitor-uri', or 'http-request return status 200'")
INSTEAD("mode log", "'log' lines name the targets, sections 'ring' hold messages back")
INSTEAD("namespace_list", "remove it: bind lines name their namespaces")
INSTEAD("normalize-uri", "use 'replace-path', or deny what is not normalized")
INSTEAD("pool-conn-name", "remove it: 'sni' keeps connections of different names apart")
INSTEAD("renegotiate", "remove it: TLS is never renegotiated")
INSTEAD("set-headers-bin", "use 'set-header' for each field")
INSTEAD("switch-mode", "use a backend in mode http: it has its clients speak HTTP")
INSTEAD("tcp-ss", "remove it: SYN packets are not kept")
INSTEAD("traces", "use 'trace' and 'show trace' of the admin socket")
