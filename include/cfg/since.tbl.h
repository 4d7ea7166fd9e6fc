/*
 * Since which version of HAProxy the words of the manual exist: SINCE(heading, version, names). A
 * name may be a pattern of fnmatch(3). Version "1.3" stands for 1.3 and before, "2.7 to 3.0" for
 * one of these, "-" for words that HAProxy does not have. The source is its manuals of 2.6, 3.0 and
 * 3.2 with its list of changes; words that tacit does not have may stand here, too.
 */
SINCE("SECTIONS", "1.3",
	"backend, defaults, frontend, global, listen")
SINCE("SECTIONS", "1.4",
	"userlist")
SINCE("SECTIONS", "1.5",
	"peers")
SINCE("SECTIONS", "1.6",
	"mailers, resolvers")
SINCE("SECTIONS", "1.8",
	"cache")
SINCE("SECTIONS", "2.1",
	"fcgi-app")
SINCE("SECTIONS", "2.2",
	"http-errors, ring")
SINCE("SECTIONS", "2.3",
	"log-forward")
SINCE("SECTIONS", "3.0",
	"crt-store")
SINCE("SECTIONS", "3.1",
	"log-profile, traces")
SINCE("SECTIONS", "3.2",
	"acme")
SINCE("GLOBAL KEYWORDS", "1.3",
	"chroot, daemon, gid, group, log, maxconn, maxpipes, noepoll, nokqueue, nopoll, "
	"nosplice, pidfile, quiet, spread-checks, stats maxconn, stats socket, "
	"stats timeout, tune.maxaccept, tune.maxpollevents, uid, ulimit-n, user")
SINCE("GLOBAL KEYWORDS", "1.4",
	"description, log-send-hostname, log-tag, node, tune.bufsize, tune.maxrewrite, "
	"tune.rcvbuf.client, tune.rcvbuf.server, tune.sndbuf.client, tune.sndbuf.server")
SINCE("GLOBAL KEYWORDS", "1.5",
	"ca-base, cpu-map, crt-base, max-spread-checks, maxcompcpuusage, maxcomprate, "
	"maxconnrate, maxsessrate, maxsslconn, maxsslrate, maxzlibmem, nogetaddrinfo, "
	"ssl-default-bind-ciphers, ssl-default-bind-options, ssl-default-server-ciphers, "
	"ssl-default-server-options, ssl-server-verify, stats bind-process, "
	"tune.comp.maxlevel, tune.http.cookielen, tune.http.maxhdr, tune.idletimer, "
	"tune.pipesize, tune.ssl.cachesize, tune.ssl.default-dh-param, "
	"tune.ssl.force-private-cache, tune.ssl.lifetime, tune.ssl.maxrecord, "
	"tune.zlib.memlevel, tune.zlib.windowsize, unix-bind")
SINCE("GLOBAL KEYWORDS", "1.6",
	"external-check, server-state-base, server-state-file, ssl-dh-param-file, "
	"tune.buffers.limit, tune.buffers.reserve, tune.lua.forced-yield, tune.lua.maxmem, "
	"tune.lua.session-timeout, tune.lua.task-timeout, tune.pattern.cache-size, "
	"tune.ssl.ssl-ctx-cache-size, tune.vars.global-max-size, tune.vars.reqres-max-size, "
	"tune.vars.sess-max-size, tune.vars.txn-max-size")
SINCE("GLOBAL KEYWORDS", "1.7",
	"noreuseport, presetenv, resetenv, setenv, tune.lua.service-timeout, "
	"tune.recv_enough, unsetenv")
SINCE("GLOBAL KEYWORDS", "1.8",
	"hard-stop-after, master-worker, nbthread, ssl-mode-async, "
	"tune.h2.header-table-size, tune.h2.initial-window-size, "
	"tune.h2.max-concurrent-streams, tune.http.logurilen, "
	"tune.ssl.capture-cipherlist-size, tune.vars.proc-max-size")
SINCE("GLOBAL KEYWORDS", "1.9",
	"busy-polling, mworker-max-reloads, profiling.tasks, ssl-default-bind-ciphersuites, "
	"ssl-default-server-ciphersuites, tune.h2.max-frame-size, tune.runqueue-depth")
SINCE("GLOBAL KEYWORDS", "2.0",
	"noevports, set-dumpable, tune.fail-alloc, tune.listener.multi-queue, "
	"tune.pool-high-fd-ratio, tune.pool-low-fd-ratio")
SINCE("GLOBAL KEYWORDS", "2.1",
	"h1-case-adjust, h1-case-adjust-file, strict-limits")
SINCE("GLOBAL KEYWORDS", "2.2",
	"insecure-fork-wanted, insecure-setuid-wanted, issuers-chain-path, localpeer, "
	"lua-prepend-path, pp2-never-send-local, ssl-default-bind-curves, "
	"ssl-load-extra-files, ssl-skip-self-issued-ca, tune.fd.edge-triggered, "
	"tune.idle-pool.shared, tune.sched.low-latency, tune.ssl.keylog, zero-warning")
SINCE("GLOBAL KEYWORDS", "2.3",
	"ssl-load-extra-del-ext")
SINCE("GLOBAL KEYWORDS", "2.4",
	"default-path, expose-experimental-directives, numa-cpu-mapping, profiling.memory, "
	"set-var")
SINCE("GLOBAL KEYWORDS", "2.5",
	"grace, h2-workaround-bogus-websocket-clients, set-var-fmt, thread-group, "
	"thread-groups, tune.ssl.capture-buffer-size, tune.vars.check-max-size")
SINCE("GLOBAL KEYWORDS", "2.6",
	"close-spread-time, cluster-secret, fd-hard-limit, "
	"h1-accept-payload-with-any-method, httpclient.resolvers.id, "
	"httpclient.resolvers.prefer, httpclient.ssl.ca-file, httpclient.ssl.verify, "
	"no-memory-trimming, ssl-propquery, ssl-provider, ssl-provider-path, "
	"tune.peers.max-updates-at-once, "
	"tune.quic.frontend.conn-tx-buffers.limit, tune.quic.frontend.max-idle-timeout, "
	"tune.quic.frontend.max-streams-bidi, tune.quic.retry-threshold, "
	"tune.ssl.hard-maxrecord")
SINCE("GLOBAL KEYWORDS", "2.7",
	"quick-exit")
SINCE("GLOBAL KEYWORDS", "2.7 to 3.0",
	"prealloc-fd, ssl-security-level, tune.events.max-events-at-once, tune.memory.hot-size, "
	"tune.quic.cc-hystart, tune.quic.max-frame-loss, tune.quic.reorder-ratio, "
	"tune.quic.socket-owner")
SINCE("GLOBAL KEYWORDS", "2.8",
	"httpclient.resolvers.disabled, no-quic, ssl-default-bind-client-sigalgs, "
	"ssl-default-bind-sigalgs, tune.disable-fast-forward, "
	"tune.h2.be.initial-window-size, tune.h2.be.max-concurrent-streams, "
	"tune.h2.fe.initial-window-size, tune.h2.fe.max-concurrent-streams, "
	"tune.listener.default-shards, tune.lua.burst-timeout, "
	"tune.ssl.ocsp-update.maxdelay, tune.ssl.ocsp-update.mindelay, tune.stick-counters")
SINCE("GLOBAL KEYWORDS", "2.9",
	"httpclient.retries, httpclient.timeout.connect, limited-quic, setcap, "
	"ssl-default-server-client-sigalgs, ssl-default-server-curves, "
	"ssl-default-server-sigalgs, tune.disable-zero-copy-forwarding, "
	"tune.h1.zero-copy-fwd-recv, tune.h1.zero-copy-fwd-send, "
	"tune.h2.fe.max-total-streams, tune.h2.zero-copy-fwd-send, tune.lua.log.loggers, "
	"tune.lua.log.stderr, tune.pt.zero-copy-forwarding, tune.quic.zero-copy-fwd-send, "
	"tune.rcvbuf.backend, tune.rcvbuf.frontend, tune.sndbuf.backend, tune.sndbuf.frontend")
SINCE("GLOBAL KEYWORDS", "3.0",
	"harden.reject-privileged-ports.*, http-err-codes, http-fail-codes, key-base, "
	"ocsp-update.*, stats-file, thread-hard-limit, tune.applet.zero-copy-forwarding, "
	"tune.h2.be.glitches-threshold, tune.h2.fe.glitches-threshold, "
	"tune.max-checks-per-thread, tune.quic.frontend.glitches-threshold, tune.ring.queues")
SINCE("GLOBAL KEYWORDS", "3.1",
	"expose-deprecated-directives, force-cfg-parser-pause, tune.bufsize.small, "
	"tune.h2.be.rxbuf, tune.h2.fe.rxbuf, warn-blocked-traffic-after")
SINCE("GLOBAL KEYWORDS", "3.1 to 3.2",
	"stress-level, tune.h2.be.max-frames-at-once, tune.h2.fe.max-frames-at-once, "
	"tune.h2.fe.max-rst-at-once, tune.max-rules-at-once, tune.quic.cc.cubic.min-losses, "
	"tune.quic.disable-tx-pacing, tune.quic.disable-udp-gso, "
	"tune.quic.frontend.default-max-window-size, tune.quic.frontend.max-data-size, "
	"tune.quic.frontend.stream-data-ratio, tune.renice.runtime, tune.renice.startup")
SINCE("GLOBAL KEYWORDS", "3.2",
	"cpu-policy, cpu-set, dns-accept-family, tune.bufsize.large, tune.epoll.mask-events, "
	"tune.glitches.kill.cpu-usage, tune.lua.bool-sample-conversion, "
	"tune.notsent-lowat.client, tune.notsent-lowat.server, "
	"tune.ssl.certificate-compression, tune.takeover-other-tg-connections")
SINCE("GLOBAL KEYWORDS", "3.3 or later",
	"cpu-affinity, noktls, ssl-passphrase-cmd, shm-stats-file, shm-stats-file-max-objects, "
	"tune.cli.max-payload-size, tune.defaults.purge, "
	"tune.h1.be.glitches-threshold, tune.h1.fe.glitches-threshold, tune.lua.openlibs, "
	"tune.quic.be.*, tune.quic.fe.*, tune.quic.frontend.max-tot-window, "
	"tune.quic.frontend.max-tx-mem, "
	"tune.quic.listen, tune.quic.mem.tx-max")
SINCE("GLOBAL KEYWORDS", "3.4",
	"tune.ssl.keyupdate-rate-limit")
SINCE("GLOBAL KEYWORDS", "-",
	"insecure-capabilities-wanted, insecure-files-wanted, insecure-syscalls-wanted, "
	"tune.bulk.bufsize, tune.http.low-water, tune.memory, tune.reload.keep, "
	"tune.splice.after, tune.zerocopy.max, tune.zerocopy.threshold, use-poller")
SINCE("PROXY KEYWORDS", "1.3",
	"acl, backlog, balance, bind, bind-process, capture cookie, capture request header, "
	"capture response header, cookie, default_backend, disabled, dispatch, enabled, "
	"errorfile, errorloc, errorloc302, errorloc303, fullconn, http-check disable-on-404, "
	"id, log, maxconn, mode, monitor fail, monitor-uri, option abortonclose, "
	"option accept-invalid-http-request, option accept-invalid-http-response, "
	"option allbackups, option checkcache, option clitcpka, option contstats, "
	"option dontlog-normal, option dontlognull, option forwardfor, option httpchk, "
	"option httpclose, option httplog, option log-separate-errors, option logasap, "
	"option nolinger, option originalto, option persist, option redispatch, "
	"option smtpchk, option socket-stats, option splice-auto, option splice-request, "
	"option splice-response, option srvtcpka, option ssl-hello-chk, "
	"option tcp-smart-accept, option tcp-smart-connect, option tcpka, option tcplog, "
	"option transparent, persist, rate-limit sessions, redirect, retries, server, "
	"source, stats auth, stats enable, stats hide-version, stats realm, stats refresh, "
	"stats scope, stats uri, tcp-request content, tcp-request inspect-delay, "
	"timeout check, timeout client, timeout connect, timeout http-request, "
	"timeout queue, timeout server, timeout tarpit, transparent, use_backend")
SINCE("PROXY KEYWORDS", "1.4",
	"default-server, description, force-persist, hash-type, http-check expect, "
	"http-check send-state, http-request, ignore-persist, option http-pretend-keepalive, "
	"option http-server-close, option independent-streams, option ldap-check, "
	"option log-health-checks, option mysql-check, stats show-desc, stats show-legends, "
	"stats show-node, stick match, stick on, stick store-request, stick-table, "
	"timeout http-keep-alive")
SINCE("PROXY KEYWORDS", "1.5",
	"compression algo, compression offload, compression type, http-response, "
	"http-send-name-header, log-format, max-keep-alive-queue, option http-keep-alive, "
	"option http-no-delay, option http-use-proxy-header, option pgsql-check, "
	"option prefer-last-server, option redis-check, option tcp-check, stats admin, "
	"stats http-request, stick store-response, tcp-check, tcp-check connect, "
	"tcp-check expect, tcp-check send, tcp-check send-binary, tcp-request connection, "
	"tcp-response content, tcp-response inspect-delay, timeout client-fin, "
	"timeout server-fin, timeout tunnel, unique-id-format, unique-id-header, use-server")
SINCE("PROXY KEYWORDS", "1.6",
	"declare capture, email-alert *, external-check command, external-check path, "
	"http-reuse, load-server-state-from-file, log-format-sd, log-tag, "
	"option external-check, option http-buffer-request, option http-ignore-probes, "
	"server-state-file-name, tcp-check comment")
SINCE("PROXY KEYWORDS", "1.7",
	"filter, filter compression, filter spoe, filter trace, hash-balance-factor, "
	"option spop-check, "
	"tcp-request session")
SINCE("PROXY KEYWORDS", "1.8",
	"dynamic-cookie-key, filter cache, server-template")
SINCE("PROXY KEYWORDS", "2.0",
	"max-session-srv-conns, retry-on")
SINCE("PROXY KEYWORDS", "2.1",
	"clitcpka-cnt, clitcpka-idle, clitcpka-intvl, filter fcgi-app, "
	"option h1-case-adjust-bogus-client, option h1-case-adjust-bogus-server, "
	"srvtcpka-cnt, srvtcpka-idle, srvtcpka-intvl")
SINCE("PROXY KEYWORDS", "2.2",
	"errorfiles, http-after-response, http-check, http-check comment, "
	"http-check connect, http-check send, http-error, option disable-h2-upgrade, "
	"tcp-check send-binary-lf, tcp-check send-lf")
SINCE("PROXY KEYWORDS", "2.3",
	"stats show-modules")
SINCE("PROXY KEYWORDS", "2.5",
	"error-log-format, option httpslog")
SINCE("PROXY KEYWORDS", "2.6",
	"option http-restrict-req-hdr-names, option idle-close-on-response")
SINCE("PROXY KEYWORDS", "2.7",
	"filter bwlim-in, filter bwlim-out")
SINCE("PROXY KEYWORDS", "2.8",
	"compression algo-req, compression algo-res, compression direction, "
	"compression type-req, compression type-res, option forwarded")
SINCE("PROXY KEYWORDS", "2.9",
	"timeout client-hs")
SINCE("PROXY KEYWORDS", "3.0",
	"guid")
SINCE("PROXY KEYWORDS", "3.1",
	"log-steps, option accept-unsafe-violations-in-http-request, "
	"option accept-unsafe-violations-in-http-response")
SINCE("PROXY KEYWORDS", "3.2",
	"compression minsize-req, compression minsize-res, hash-preserve-affinity, "
	"option http-drop-request-trailers, option http-drop-response-trailers, option assume-rfc6587-ntf")
SINCE("PROXY KEYWORDS", "3.3 or later",
	"option use-small-buffers")
SINCE("PROXY KEYWORDS", "3.4",
	"be-unpublished, filter comp-req, filter comp-res, filter-sequence, force-be-switch")
SINCE("PROXY KEYWORDS", "-",
	"balance-panic-threshold")
SINCE("USERLIST KEYWORDS", "1.4",
	"group, user")
SINCE("MAILERS KEYWORDS", "1.6",
	"mailer")
SINCE("MAILERS KEYWORDS", "1.8",
	"timeout mail")
SINCE("RESOLVERS KEYWORDS", "1.6",
	"hold valid, nameserver, resolve_retries, timeout retry")
SINCE("RESOLVERS KEYWORDS", "1.7",
	"hold nx, hold other, hold refused, hold timeout")
SINCE("RESOLVERS KEYWORDS", "1.8",
	"accepted_payload_size, hold obsolete, timeout resolve")
SINCE("RESOLVERS KEYWORDS", "1.9",
	"parse-resolv-conf")
SINCE("RING KEYWORDS", "2.2",
	"description, format, maxlen, server, size, timeout connect, timeout server")
SINCE("RING KEYWORDS", "2.6",
	"backing-file")
SINCE("CRT-STORE KEYWORDS", "3.0",
	"crt-base, key-base, load")
SINCE("LOG-PROFILE KEYWORDS", "3.1",
	"log-tag, on")
SINCE("PEERS KEYWORDS", "1.5",
	"disabled, enabled, peer")
SINCE("PEERS KEYWORDS", "2.0",
	"bind, default-bind, default-server, server, table")
SINCE("PEERS KEYWORDS", "2.4",
	"log")
SINCE("PEERS KEYWORDS", "2.7",
	"shards")
SINCE("CACHE KEYWORDS", "1.8",
	"max-age, total-max-size")
SINCE("CACHE KEYWORDS", "1.9",
	"max-object-size")
SINCE("CACHE KEYWORDS", "2.4",
	"max-secondary-entries, process-vary")
SINCE("CACHE KEYWORDS", "-",
	"collapse")
SINCE("BIND OPTIONS", "1.3",
	"backlog, gid, group, id, interface, maxconn, mode, mss, name, transparent, uid, user")
SINCE("BIND OPTIONS", "1.4",
	"defer-accept, level")
SINCE("BIND OPTIONS", "1.5",
	"accept-proxy, alpn, ca-file, ca-ignore-err, ciphers, crl-file, crt, crt-ignore-err, "
	"crt-list, ecdhe, force-sslv3, force-tlsv10, force-tlsv11, force-tlsv12, nice, "
	"no-sslv3, no-tls-tickets, no-tlsv10, no-tlsv11, no-tlsv12, npn, process, ssl, "
	"strict-sni, tfo, v4v6, v6only, verify")
SINCE("BIND OPTIONS", "1.6",
	"ca-sign-file, ca-sign-pass, generate-certificates, namespace, tcp-ut, "
	"tls-ticket-keys")
SINCE("BIND OPTIONS", "1.7",
	"accept-netscaler-cip, curves")
SINCE("BIND OPTIONS", "1.8",
	"allow-0rtt, expose-fd, force-tlsv13, no-ca-names, no-tlsv13, prefer-client-ciphers, "
	"proto, severity-output, ssl-max-ver, ssl-min-ver")
SINCE("BIND OPTIONS", "1.9",
	"ciphersuites")
SINCE("BIND OPTIONS", "2.2",
	"ca-verify-file")
SINCE("BIND OPTIONS", "2.5",
	"shards, thread")
SINCE("BIND OPTIONS", "2.6",
	"quic-cc-algo, quic-force-retry")
SINCE("BIND OPTIONS", "2.8",
	"client-sigalgs, no-alpn, ocsp-update, sigalgs")
SINCE("BIND OPTIONS", "2.9",
	"quic-socket")
SINCE("BIND OPTIONS", "3.0",
	"default-crt, guid-prefix")
SINCE("BIND OPTIONS", "3.2",
	"label, no-strict-sni, tls-tickets")
SINCE("BIND OPTIONS", "3.3 or later",
	"cc, ktls, no-renegotiate, tcp-md5sig")
SINCE("SERVER OPTIONS", "1.3",
	"addr, backup, check, cookie, disabled, downinter, fall, fastinter, id, inter, "
	"maxconn, maxqueue, minconn, port, redir, rise, slowstart, source, track, weight")
SINCE("SERVER OPTIONS", "1.4",
	"error-limit, observe, on-error, usesrc")
SINCE("SERVER OPTIONS", "1.5",
	"agent-check, agent-inter, agent-port, alpn, ca-file, check-send-proxy, check-ssl, "
	"ciphers, crl-file, crt, force-sslv3, force-tlsv10, force-tlsv11, force-tlsv12, "
	"no-sslv3, no-tls-tickets, no-tlsv10, no-tlsv11, no-tlsv12, non-stick, npn, "
	"on-marked-down, on-marked-up, send-proxy, send-proxy-v2, send-proxy-v2-ssl, "
	"send-proxy-v2-ssl-cn, ssl, verify, verifyhost")
SINCE("SERVER OPTIONS", "1.6",
	"namespace, no-ssl-reuse, resolve-prefer, resolvers, sni, tcp-ut")
SINCE("SERVER OPTIONS", "1.7",
	"agent-send, init-addr, resolve-net")
SINCE("SERVER OPTIONS", "1.8",
	"agent-addr, allow-0rtt, check-sni, enabled, force-tlsv13, no-agent-check, "
	"no-backup, no-check, no-check-send-proxy, no-check-ssl, no-send-proxy, "
	"no-send-proxy-v2, no-send-proxy-v2-ssl, no-send-proxy-v2-ssl-cn, no-ssl, no-tlsv13, "
	"no-verifyhost, proto, proxy-v2-options, ssl-max-ver, ssl-min-ver, ssl-reuse, stick, "
	"tls-tickets")
SINCE("SERVER OPTIONS", "1.9",
	"ciphersuites, max-reuse, pool-max-conn, pool-purge-delay, resolve-opts")
SINCE("SERVER OPTIONS", "2.0",
	"check-alpn, check-via-socks4, socks4, tfo")
SINCE("SERVER OPTIONS", "2.1",
	"log-proto, no-tfo")
SINCE("SERVER OPTIONS", "2.2",
	"check-proto, pool-low-conn")
SINCE("SERVER OPTIONS", "2.5",
	"ws")
SINCE("SERVER OPTIONS", "2.6",
	"quic-cc-algo, shard")
SINCE("SERVER OPTIONS", "2.9",
	"client-sigalgs, curves, log-bufsize, set-proxy-v2-tlv-fmt, sigalgs")
SINCE("SERVER OPTIONS", "3.0",
	"guid, hash-key")
SINCE("SERVER OPTIONS", "3.1",
	"init-state")
SINCE("SERVER OPTIONS", "3.2",
	"check-pool-conn-name, check-reuse-pool, idle-ping, pool-conn-name, strict-maxconn")
SINCE("SERVER OPTIONS", "3.3 or later",
	"cc, check-sni-auto, ktls, no-check-sni-auto, no-renegotiate, no-sni-auto, "
	"renegotiate, sni-auto")
SINCE("SERVER OPTIONS", "-",
	"non-backup")
SINCE("SWITCHES FOR MEASUREMENTS", "-",
	"*")
SINCE("ACTIONS", "1.3",
	"accept, redirect, reject")
SINCE("ACTIONS", "1.4",
	"allow, auth, deny")
SINCE("ACTIONS", "1.5",
	"add-acl, add-header, close, del-acl, del-header, del-map, expect-proxy, replace-header, "
	"replace-value, set-header, set-log-level, set-map, set-mark, set-nice, set-tos, "
	"tarpit, track-sc*")
SINCE("ACTIONS", "1.6",
	"capture, sc-inc-gpc0, sc-set-gpt0, set-method, set-path, set-query, set-src, "
	"set-status, set-uri, set-var, silent-drop, use-service")
SINCE("ACTIONS", "1.7",
	"set-dst, set-dst-port, set-src-port, unset-var")
SINCE("ACTIONS", "1.8",
	"cache-store, cache-use, sc-inc-gpc1, send-spoe-group, wait-for-handshake")
SINCE("ACTIONS", "1.9",
	"early-hint, set-priority-class, set-priority-offset")
SINCE("ACTIONS", "2.0",
	"disable-l7-retry, do-resolve, replace-uri")
SINCE("ACTIONS", "2.2",
	"normalize-uri, replace-path, return, strict-mode")
SINCE("ACTIONS", "2.3",
	"replace-pathq, set-pathq")
SINCE("ACTIONS", "2.4",
	"set-timeout, switch-mode, wait-for-body")
SINCE("ACTIONS", "2.5",
	"sc-inc-gpc, sc-set-gpt, set-var-fmt")
SINCE("ACTIONS", "2.7",
	"set-bandwidth-limit")
SINCE("ACTIONS", "2.8",
	"sc-add-gpc")
SINCE("ACTIONS", "3.0",
	"set-bc-mark, set-bc-tos, set-fc-mark, set-fc-tos, set-retries")
SINCE("ACTIONS", "3.1",
	"attach-srv, do-log")
SINCE("ACTIONS", "3.2",
	"del-headers-bin, pause, set-headers-bin")
SINCE("ACTIONS", "-",
	"auth-request")
SINCE("MATCHING METHODS", "1.3",
	"beg, dir, dom, end, int, ip, len, reg, str, sub")
SINCE("MATCHING METHODS", "1.5",
	"bin, bool, found")
SINCE("PREDEFINED ACLS", "1.3",
	"FALSE, HTTP, HTTP_1.0, HTTP_1.1, HTTP_CONTENT, HTTP_URL_ABS, HTTP_URL_SLASH, "
	"HTTP_URL_STAR, LOCALHOST, METH_CONNECT, METH_GET, METH_HEAD, METH_OPTIONS, "
	"METH_POST, METH_TRACE, REQ_CONTENT, TRUE, WAIT_END")
SINCE("PREDEFINED ACLS", "1.4",
	"RDP_COOKIE")
SINCE("PREDEFINED ACLS", "1.7",
	"METH_DELETE, METH_PUT")
SINCE("PREDEFINED ACLS", "2.3",
	"HTTP_2.0")
SINCE("PREDEFINED ACLS", "3.1",
	"HTTP_3.0")
SINCE("LOG VARIABLES", "1.5",
	"%B, %CC, %CS, %H, %ID, %ST, %T, %Tc, %Tq, %Tr, %Ts, %Tt, %Tw, %U, %ac, %b, %bc, "
	"%bi, %bp, %bq, %ci, %cp, %f, %fc, %fi, %fp, %ft, %hr, %hrl, %hs, %hsl, %lc, %ms, "
	"%pid, %r, %rc, %rt, %s, %sc, %si, %sp, %sq, %sslc, %sslv, %t, %ts, %tsc")
SINCE("LOG VARIABLES", "1.6",
	"%HM, %HP, %HQ, %HU, %HV, %Tl")
SINCE("LOG VARIABLES", "1.7",
	"%TR, %Ta, %Td, %Th, %Ti, %tr, %trg, %trl")
SINCE("LOG VARIABLES", "2.4",
	"%HPO")
SINCE("LOG VARIABLES", "2.6",
	"%Tu")
SINCE("LOG VARIABLES", "3.1",
	"%OG")
SINCE("FETCHES", "1.3",
	"always_false, always_true, be_sess_rate, connslots, dst, dst_conn, dst_port, "
	"fe_sess_rate, hdr, hdr_cnt, hdr_ip, hdr_val, method, nbsrv, path, req_len, "
	"req_rdp_cookie, req_rdp_cookie_cnt, req_ssl_ver, req_ver, resp_ver, shdr, shdr_cnt, "
	"shdr_ip, shdr_val, src, src_port, status, url, url_ip, url_port, wait_end")
SINCE("FETCHES", "1.4",
	"avg_queue, be_conn, be_id, cook, cook_cnt, cook_val, cookie, fe_conn, fe_id, "
	"http_auth, http_auth_group, payload, payload_lv, queue, rdp_cookie, rdp_cookie_cnt, "
	"req_proto_http, scook, scook_cnt, scook_val, so_id, srv_id, srv_is_up")
SINCE("FETCHES", "1.5",
	"base, base32, base32+src, capture.req.hdr, capture.req.method, capture.req.uri, "
	"capture.req.ver, capture.res.hdr, capture.res.ver, date, env, http_first_req, meth, "
	"rand, rep_ssl_hello_type, req.cook, req.cook_cnt, req.cook_val, req.fhdr, "
	"req.fhdr_cnt, req.hdr, req.hdr_cnt, req.hdr_ip, req.hdr_val, req.len, req.payload, "
	"req.payload_lv, req.proto_http, req.rdp_cookie, req.rdp_cookie_cnt, "
	"req.ssl_hello_type, req.ssl_sni, req.ssl_ver, req.ver, req_ssl_hello_type, "
	"req_ssl_sni, res.comp, res.comp_algo, res.cook, res.cook_cnt, res.cook_val, "
	"res.fhdr, res.fhdr_cnt, res.hdr, res.hdr_cnt, res.hdr_ip, res.hdr_val, res.len, "
	"res.payload, res.payload_lv, res.ssl_hello_type, res.ver, sc[012]_bytes_in_rate, "
	"sc[012]_bytes_out_rate, sc[012]_clr_gpc0, sc[012]_conn_cnt, sc[012]_conn_cur, "
	"sc[012]_conn_rate, sc[012]_get_gpc0, sc[012]_gpc0_rate, sc[012]_http_err_cnt, "
	"sc[012]_http_err_rate, sc[012]_http_req_cnt, sc[012]_http_req_rate, "
	"sc[012]_inc_gpc0, sc[012]_kbytes_in, sc[012]_kbytes_out, sc[012]_sess_cnt, "
	"sc[012]_sess_rate, sc[012]_tracked, sc[012]_trackers, sc_bytes_in_rate, "
	"sc_bytes_out_rate, sc_clr_gpc0, sc_conn_cnt, sc_conn_cur, sc_conn_rate, "
	"sc_get_gpc0, sc_gpc0_rate, sc_http_err_cnt, sc_http_err_rate, sc_http_req_cnt, "
	"sc_http_req_rate, sc_inc_gpc0, sc_kbytes_in, sc_kbytes_out, sc_sess_cnt, "
	"sc_sess_rate, sc_tracked, sc_trackers, src_bytes_in_rate, src_bytes_out_rate, "
	"src_clr_gpc0, src_conn_cnt, src_conn_cur, src_conn_rate, src_get_gpc0, "
	"src_gpc0_rate, src_http_err_cnt, src_http_err_rate, src_http_req_cnt, "
	"src_http_req_rate, src_inc_gpc0, src_kbytes_in, src_kbytes_out, src_sess_cnt, "
	"src_sess_rate, src_updt_conn_cnt, srv_conn, srv_sess_rate, ssl_bc, "
	"ssl_bc_alg_keysize, ssl_bc_cipher, ssl_bc_protocol, ssl_bc_session_id, "
	"ssl_bc_unique_id, ssl_bc_use_keysize, ssl_c_ca_err, ssl_c_ca_err_depth, ssl_c_err, "
	"ssl_c_i_dn, ssl_c_key_alg, ssl_c_notafter, ssl_c_notbefore, ssl_c_s_dn, "
	"ssl_c_serial, ssl_c_sha1, ssl_c_sig_alg, ssl_c_used, ssl_c_verify, ssl_c_version, "
	"ssl_f_i_dn, ssl_f_key_alg, ssl_f_notafter, ssl_f_notbefore, ssl_f_s_dn, "
	"ssl_f_serial, ssl_f_sha1, ssl_f_sig_alg, ssl_f_version, ssl_fc, ssl_fc_alg_keysize, "
	"ssl_fc_alpn, ssl_fc_cipher, ssl_fc_has_crt, ssl_fc_has_sni, ssl_fc_npn, "
	"ssl_fc_protocol, ssl_fc_session_id, ssl_fc_sni, ssl_fc_unique_id, "
	"ssl_fc_use_keysize, table_avl, table_cnt, unique-id, url32, url32+src, url_param, "
	"urlp, urlp_val")
SINCE("FETCHES", "1.6",
	"bin, bool, int, ipv4, ipv6, nbproc, proc, query, req.body, req.body_len, "
	"req.body_param, req.body_size, req.hdr_names, req.ssl_ec_ext, req.ssl_st_ext, "
	"res.hdr_names, sc[012]_get_gpt0, sc_get_gpt0, src_get_gpt0, ssl_c_der, ssl_f_der, "
	"ssl_fc_is_resumed, stopping, str, var")
SINCE("FETCHES", "1.7",
	"dst_is_local, fc_fackets, fc_lost, fc_reordering, fc_retrans, fc_rtt, fc_rttvar, "
	"fc_sacked, fc_unacked, fe_req_rate, hostname, src_is_local")
SINCE("FETCHES", "1.8",
	"be_name, fc_http_major, fc_rcvd_proxy, fe_name, req.ssl_alpn, sc[012]_clr_gpc1, "
	"sc[012]_get_gpc1, sc[012]_gpc1_rate, sc[012]_inc_gpc1, sc_clr_gpc1, sc_get_gpc1, "
	"sc_gpc1_rate, sc_inc_gpc1, src_clr_gpc1, src_get_gpc1, src_gpc1_rate, src_inc_gpc1, "
	"srv_queue, ssl_fc_cipherlist_bin, ssl_fc_cipherlist_hex, ssl_fc_cipherlist_str, "
	"ssl_fc_cipherlist_xxh, thread")
SINCE("FETCHES", "1.9",
	"bc_http_major, be_conn_free, date_us, fe_defbe, http_auth_pass, http_auth_type, "
	"http_auth_user, prio_class, prio_offset, req.hdrs, req.hdrs_bin, res.cache_hit, "
	"res.cache_name, srv_conn_free, srv_iweight, srv_uweight, srv_weight, ssl_bc_alpn, "
	"ssl_bc_client_random, ssl_bc_is_resumed, ssl_bc_npn, ssl_bc_server_random, "
	"ssl_bc_session_key, ssl_fc_client_random, ssl_fc_server_random, ssl_fc_session_key")
SINCE("FETCHES", "2.0",
	"uuid")
SINCE("FETCHES", "2.1",
	"fc_dst_is_local, fc_pp_authority, fc_src_is_local, srv_name")
SINCE("FETCHES", "2.2",
	"fc_pp_unique_id, res.body, res.body_len, res.body_size, res.hdrs, res.hdrs_bin, "
	"so_name, ssl_fc_*_secret, ssl_fc_*_secret_0, ssl_s_der, ssl_s_i_dn, ssl_s_key_alg, "
	"ssl_s_notafter, ssl_s_notbefore, ssl_s_s_dn, ssl_s_serial, ssl_s_sha1, "
	"ssl_s_sig_alg, ssl_s_version")
SINCE("FETCHES", "2.3",
	"pathq, ssl_c_chain_der, ssl_s_chain_der")
SINCE("FETCHES", "2.4",
	"baseq, bc_dst, bc_dst_port, bc_src, bc_src_port, be_server_timeout, "
	"be_tunnel_timeout, cur_server_timeout, cur_tunnel_timeout, fc_dst, fc_dst_port, "
	"fc_src, fc_src_port, fe_client_timeout, sc[012]_http_fail_cnt, "
	"sc[012]_http_fail_rate, sc_http_fail_cnt, sc_http_fail_rate, src_http_fail_cnt, "
	"src_http_fail_rate")
SINCE("FETCHES", "2.5",
	"bc_err, bc_err_str, fc_err, fc_err_str, http_auth_bearer, sc1_clr_gpc, sc_clr_gpc, "
	"sc_get_gpc, sc_get_gpt, sc_gpc_rate, sc_inc_gpc, src_clr_gpc, src_get_gpc, "
	"src_get_gpt, src_gpc_rate, src_inc_gpc, ssl_bc_err, ssl_bc_err_str, "
	"ssl_fc_ecformats_bin, ssl_fc_eclist_bin, ssl_fc_err, ssl_fc_err_str, "
	"ssl_fc_extlist_bin, ssl_fc_protocol_hello_id")
SINCE("FETCHES", "2.6",
	"last_rule_file, last_rule_line")
SINCE("FETCHES", "2.9",
	"cur_client_timeout, fc_pp_tlv")
SINCE("FETCHES", "3.0",
	"bc_glitches, bc_nb_streams, bc_setting*_streams_limit, fc_glitches, fc_nb_streams, "
	"fc_setting_streams_limit, fc_settings_streams_limit, sc[012]_glitch_cnt, "
	"sc[012]_glitch_rate, sc_glitch_cnt, sc_glitch_rate, src_glitch_cnt, src_glitch_rate")
SINCE("FETCHES", "3.1",
	"bs.aborted, bs.rst_code, fs.aborted, fs.rst_code")
SINCE("FETCHES", "3.2",
	"sc[012]_key, sc_key")
SINCE("FETCHES", "-",
	"be_panic, http_auth_groups, sc[012]_get_gpc, sc[012]_get_gpt, sc[012]_gpc_rate, "
	"sc[012]_inc_gpc, sc[02]_clr_gpc")
SINCE("CONVERTERS", "1.5",
	"base64, hex, http_date, ipmask, language, lower, map, map_beg, map_beg_int, "
	"map_beg_ip, map_dir, map_dir_int, map_dir_ip, map_dom, map_dom_int, map_dom_ip, "
	"map_end, map_end_int, map_end_ip, map_int, map_int_int, map_int_ip, map_ip, "
	"map_ip_int, map_ip_ip, map_reg, map_reg_int, map_reg_ip, map_str, map_str_int, "
	"map_str_ip, map_sub, map_sub_int, map_sub_ip, upper")
SINCE("CONVERTERS", "1.6",
	"add, and, bool, bytes, capture-req, capture-res, cpl, crc32, debug, div, djb2, "
	"even, field, in_table, json, ltime, mod, mul, neg, not, odd, or, regsub, sdbm, "
	"set-var, sub, table_bytes_in_rate, table_bytes_out_rate, table_conn_cnt, "
	"table_conn_cur, table_conn_rate, table_gpc0, table_gpc0_rate, table_gpt0, "
	"table_http_err_cnt, table_http_err_rate, table_http_req_cnt, table_http_req_rate, "
	"table_kbytes_in, table_kbytes_out, table_server_id, table_sess_cnt, "
	"table_sess_rate, table_trackers, url_dec, utime, word, wt6, xor, xxh32, xxh64")
SINCE("CONVERTERS", "1.7",
	"map_regm, nbsrv, unset-var")
SINCE("CONVERTERS", "1.8",
	"b64dec, concat, hex2i, length, sha1, strcmp, table_gpc1, table_gpc1_rate")
SINCE("CONVERTERS", "1.9",
	"crc32c")
SINCE("CONVERTERS", "2.0",
	"protobuf, ungrpc")
SINCE("CONVERTERS", "2.1",
	"sha2, srv_queue")
SINCE("CONVERTERS", "2.2",
	"aes_gcm_dec, cut_crlf, digest, hmac, htonl, ltrim, rtrim, secure_memcmp")
SINCE("CONVERTERS", "2.3",
	"iif")
SINCE("CONVERTERS", "2.4",
	"fix_is_valid, fix_tag_value, json_query, mqtt_*, table_http_fail_cnt, "
	"table_http_fail_rate, ub64dec, ub64enc, url_enc, xxh3")
SINCE("CONVERTERS", "2.5",
	"be2dec, be2hex, jwt_header_query, jwt_payload_query, jwt_verify, table_gpc, "
	"table_gpc_rate, table_gpt")
SINCE("CONVERTERS", "2.6",
	"add_item, host_only, param, port_only, table_expire, table_idle")
SINCE("CONVERTERS", "2.7",
	"bytes_var")
SINCE("CONVERTERS", "2.8",
	"ms_*, rfc7239_*, us_*")
SINCE("CONVERTERS", "3.0",
	"table_glitch_cnt, table_glitch_rate")
SINCE("CONVERTERS", "3.2",
	"table_clr_gpc, table_clr_gpc0, table_clr_gpc1, table_inc_gpc, table_inc_gpc0, "
	"table_inc_gpc1")
SINCE("CONVERTERS", "-",
	"map_*_str")
