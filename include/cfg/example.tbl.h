/*
 * Examples of fetches and converters for the manual: EXAMPLE(heading, names, lines). A name may be a
 * pattern of fnmatch(3); the first row counts. Those of fetches are lines of a configuration, those
 * of converters expressions, with a result where it is always the same; '@' is the name. Those in
 * the tables of converters count before these. tests/system/test_manual.py checks each.
 */
EXAMPLE("FETCHES", "always_false, always_true",
	"http-request deny if { @ }")
EXAMPLE("FETCHES", "avg_queue",
	"http-request deny status 503 if { avg_queue(app) gt 10 }")
EXAMPLE("FETCHES", "base, base32",
	"http-request track-sc0 @ table urls")
EXAMPLE("FETCHES", "base32+src, url32+src",
	"http-request track-sc0 @ table urls")
EXAMPLE("FETCHES", "bc_err, bc_err_str",
	"error-log-format \"%ci:%cp %ft %[@]\"")
EXAMPLE("FETCHES", "bc_src, bc_src_port, bc_dst, bc_dst_port",
	"log-format \"%ci:%cp %[@]\"")
EXAMPLE("FETCHES", "be_conn",
	"use_backend api if { be_conn(app) gt 900 }")
EXAMPLE("FETCHES", "be_conn_free",
	"use_backend api if { be_conn_free(app) lt 10 }")
EXAMPLE("FETCHES", "be_sess_rate",
	"http-request deny status 429 if { be_sess_rate(app) gt 500 }")
EXAMPLE("FETCHES", "be_name, fe_name, so_name, be_id, fe_id, so_id",
	"log-format \"%ci:%cp %[@]\"")
EXAMPLE("FETCHES", "bin",
	"http-request set-var(txn.magic) bin(89504e47)")
EXAMPLE("FETCHES", "bool",
	"http-request set-var(txn.open) bool(true)")
EXAMPLE("FETCHES", "int",
	"http-request set-var(txn.limit) int(10)")
EXAMPLE("FETCHES", "ipv4",
	"http-request set-var(txn.gate) ipv4(192.0.2.1)")
EXAMPLE("FETCHES", "ipv6",
	"http-request set-var(txn.gate) ipv6(2001:db8::1)")
EXAMPLE("FETCHES", "str",
	"http-request set-var(txn.pool) str(blue)")
EXAMPLE("FETCHES", "capture.req.hdr",
	"capture request header User-Agent len 64\n"
	"http-response set-header X-Agent %[capture.req.hdr(0)]")
EXAMPLE("FETCHES", "capture.res.hdr",
	"capture response header Server len 32\n"
	"log-format \"%ci %[capture.res.hdr(0)]\"")
EXAMPLE("FETCHES", "capture.req.method, capture.req.uri, capture.req.ver, capture.res.ver",
	"log-format \"%ci %ST %[@]\"")
EXAMPLE("FETCHES", "connslots",
	"use_backend api if { connslots(app) lt 10 }")
EXAMPLE("FETCHES", "cook, cookie, req.cook",
	"use_backend api if { @(beta) yes }")
EXAMPLE("FETCHES", "cook_cnt, req.cook_cnt",
	"http-request deny if { @(session) gt 1 }")
EXAMPLE("FETCHES", "cook_val, req.cook_val",
	"http-request deny status 429 if { @(visits) gt 100 }")
EXAMPLE("FETCHES", "scook, res.cook",
	"http-response set-header X-Session %[@(session)]")
EXAMPLE("FETCHES", "date",
	"http-response set-header Expires %[date(3600),http_date]")
EXAMPLE("FETCHES", "dst, dst_port",
	"use_backend api if { dst 192.0.2.80 } { dst_port 8443 }")
EXAMPLE("FETCHES", "env",
	"http-response set-header X-Site %[env(SITE)]")
EXAMPLE("FETCHES", "fc_pp_tlv",
	"http-request set-header X-Vpc %[fc_pp_tlv(0xea),hex]")
EXAMPLE("FETCHES", "fc_err, fc_err_str, ssl_fc_err, ssl_fc_err_str",
	"error-log-format \"%ci:%cp %ft %[@]\"")
EXAMPLE("FETCHES", "fc_rtt, fc_rttvar, fc_retrans, fc_lost, fc_unacked, fc_sacked, "
	"fc_reordering, fc_fackets",
	"log-format \"%ci:%cp %[@]\"")
EXAMPLE("FETCHES", "fc_http_major, bc_http_major",
	"log-format \"%ci HTTP/%[@]\"")
EXAMPLE("FETCHES", "fe_conn",
	"http-request deny status 503 if { fe_conn gt 9000 }")
EXAMPLE("FETCHES", "fe_req_rate, fe_sess_rate",
	"http-request deny status 429 if { @ gt 2000 }")
EXAMPLE("FETCHES", "hdr, req.hdr",
	"use_backend api if { @(host) -i api.example.org }\n"
	"http-request set-header X-First %[@(x-forwarded-for,1)]")
EXAMPLE("FETCHES", "hdr_cnt, req.hdr_cnt",
	"http-request deny status 400 if { @(host) gt 1 }")
EXAMPLE("FETCHES", "hdr_ip, req.hdr_ip",
	"http-request deny unless { @(x-forwarded-for,-1) 192.0.2.0/24 }")
EXAMPLE("FETCHES", "hdr_val, req.hdr_val",
	"http-request deny status 413 if { @(content-length) gt 1000000 }")
EXAMPLE("FETCHES", "req.fhdr",
	"http-request set-header X-Agent %[req.fhdr(user-agent)]")
EXAMPLE("FETCHES", "req.hdr_names",
	"http-request set-header X-Order %[req.hdr_names(:)]")
EXAMPLE("FETCHES", "shdr, res.hdr",
	"http-response del-header Server if { @(server) -m beg old }")
EXAMPLE("FETCHES", "shdr_cnt, res.hdr_cnt",
	"http-response set-header Cache-Control no-store unless { @(cache-control) gt 0 }")
EXAMPLE("FETCHES", "http_auth",
	"http-request auth realm Staff unless { http_auth(staff) }")
EXAMPLE("FETCHES", "http_auth_bearer",
	"http-request set-var(txn.token) http_auth_bearer\n"
	"http-request deny unless { http_auth_bearer -m found }")
EXAMPLE("FETCHES", "http_auth_group",
	"http-request deny unless { http_auth_group(staff) admins }")
EXAMPLE("FETCHES", "last_rule_file, last_rule_line",
	"log-format \"%ci %ST %[@]\"")
EXAMPLE("FETCHES", "meth, method",
	"http-request deny unless { @ GET HEAD POST }")
EXAMPLE("FETCHES", "nbsrv",
	"monitor-uri /alive\n"
	"monitor fail if { nbsrv(app) lt 1 }")
EXAMPLE("FETCHES", "path",
	"use_backend api if { path_beg /api/ }")
EXAMPLE("FETCHES", "pathq, url",
	"http-request redirect location https://www.example.org%[@] if { path_beg /old/ }")
EXAMPLE("FETCHES", "payload, req.payload",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content reject unless { @(0,4) -m str \"SSH-\" }")
EXAMPLE("FETCHES", "query",
	"http-request deny if { query -m sub .. }")
EXAMPLE("FETCHES", "queue",
	"http-request deny status 503 if { queue(app) gt 100 }")
EXAMPLE("FETCHES", "rand",
	"use_backend api if { rand(100) lt 5 }")
EXAMPLE("FETCHES", "rdp_cookie, req.rdp_cookie",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content accept if RDP_COOKIE\n"
	"use_backend www if { @(mstshash) -m found }")
EXAMPLE("FETCHES", "req.body",
	"option http-buffer-request\n"
	"http-request deny if { req.body -m sub <script }")
EXAMPLE("FETCHES", "req.body_len, req.body_size",
	"http-request deny status 413 if { @ gt 1000000 }")
EXAMPLE("FETCHES", "req.body_param",
	"option http-buffer-request\n"
	"http-request set-var(txn.user) req.body_param(user)")
EXAMPLE("FETCHES", "req.len, req_len",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content accept if { @ gt 0 }")
EXAMPLE("FETCHES", "req.proto_http, req_proto_http",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content accept if { @ }")
EXAMPLE("FETCHES", "req.ssl_sni, req_ssl_sni",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content accept if { req.ssl_hello_type 1 }\n"
	"use_backend www if { @ -i www.example.org }")
EXAMPLE("FETCHES", "req.ssl_hello_type, req_ssl_hello_type",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content reject unless { @ 1 }")
EXAMPLE("FETCHES", "req.ssl_ver, req_ssl_ver",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content reject if { @ lt 3.3 }")
EXAMPLE("FETCHES", "req.ssl_alpn",
	"tcp-request inspect-delay 5s\n"
	"tcp-request content accept if { req.ssl_hello_type 1 }\n"
	"use_backend www if { req.ssl_alpn acme-tls/1 }")
EXAMPLE("FETCHES", "req.ver, req_ver",
	"http-request deny if { @ 1.0 }")
EXAMPLE("FETCHES", "res.body",
	"http-response wait-for-body time 1s\n"
	"http-response set-header X-Error yes if { res.body -m sub error }")
EXAMPLE("FETCHES", "sc0_http_req_rate",
	"stick-table type ip size 100k expire 1m store http_req_rate(10s)\n"
	"http-request track-sc0 src\n"
	"http-request deny status 429 if { @ gt 100 }")
EXAMPLE("FETCHES", "sc_http_req_rate",
	"stick-table type ip size 100k expire 1m store http_req_rate(10s)\n"
	"http-request track-sc0 src\n"
	"http-request deny status 429 if { @(0) gt 100 }")
EXAMPLE("FETCHES", "src_http_req_rate",
	"stick-table type ip size 100k expire 1m store http_req_rate(10s)\n"
	"http-request track-sc0 src\n"
	"http-request deny status 429 if { src_http_req_rate gt 100 }")
EXAMPLE("FETCHES", "sc0_http_err_rate",
	"stick-table type ip size 100k expire 1m store http_err_rate(1m)\n"
	"http-request track-sc0 src\n"
	"http-request deny if { @ gt 20 }")
EXAMPLE("FETCHES", "sc_http_err_rate",
	"stick-table type ip size 100k expire 1m store http_err_rate(1m)\n"
	"http-request track-sc0 src\n"
	"http-request deny if { @(0) gt 20 }")
EXAMPLE("FETCHES", "sc0_conn_cur",
	"stick-table type ip size 100k expire 1m store conn_cur\n"
	"tcp-request connection track-sc0 src\n"
	"tcp-request connection reject if { @ gt 20 }")
EXAMPLE("FETCHES", "sc_conn_cur",
	"stick-table type ip size 100k expire 1m store conn_cur\n"
	"tcp-request connection track-sc0 src\n"
	"tcp-request connection reject if { @(0) gt 20 }")
EXAMPLE("FETCHES", "src_conn_cur",
	"stick-table type ip size 100k expire 1m store conn_cur\n"
	"tcp-request connection track-sc0 src\n"
	"tcp-request connection reject if { src_conn_cur gt 20 }")
EXAMPLE("FETCHES", "sc0_conn_rate",
	"stick-table type ip size 100k expire 1m store conn_rate(10s)\n"
	"tcp-request connection track-sc0 src\n"
	"tcp-request connection reject if { @ gt 50 }")
EXAMPLE("FETCHES", "sc_conn_rate",
	"stick-table type ip size 100k expire 1m store conn_rate(10s)\n"
	"tcp-request connection track-sc0 src\n"
	"tcp-request connection reject if { @(0) gt 50 }")
EXAMPLE("FETCHES", "src_conn_rate",
	"stick-table type ip size 100k expire 1m store conn_rate(10s)\n"
	"tcp-request connection track-sc0 src\n"
	"tcp-request connection reject if { src_conn_rate gt 50 }")
EXAMPLE("FETCHES", "sc_get_gpc0",
	"stick-table type ip size 100k expire 1m store gpc0\n"
	"http-request track-sc0 src\n"
	"http-request sc-inc-gpc0(0) if { path /login } METH_POST\n"
	"http-request deny if { sc_get_gpc0(0) gt 5 }")
EXAMPLE("FETCHES", "sc_get_gpt0",
	"stick-table type ip size 100k expire 1m store gpt0\n"
	"http-request track-sc0 src\n"
	"http-request deny if { sc_get_gpt0(0) 1 }")
EXAMPLE("FETCHES", "sc_bytes_out_rate",
	"stick-table type ip size 100k expire 1m store bytes_out_rate(1m)\n"
	"http-request track-sc0 src\n"
	"http-request deny status 429 if { sc_bytes_out_rate(0) gt 100000000 }")
EXAMPLE("FETCHES", "sc_key",
	"stick-table type ip size 100k expire 1m store conn_cnt\n"
	"http-request track-sc0 src\n"
	"log-format \"%ci %[sc_key(0)]\"")
EXAMPLE("FETCHES", "src",
	"http-request deny if { src -f /etc/tacit/blocked.lst }")
EXAMPLE("FETCHES", "src_port",
	"http-request set-header X-Client %[src]:%[src_port]")
EXAMPLE("FETCHES", "srv_conn, srv_queue, srv_sess_rate, srv_conn_free",
	"use_backend api if { @(app/a) gt 50 }")
EXAMPLE("FETCHES", "srv_is_up",
	"use_backend api unless { srv_is_up(app/a) }")
EXAMPLE("FETCHES", "srv_weight, srv_iweight, srv_uweight",
	"http-response set-header X-Weight %[@(app/a)]")
EXAMPLE("FETCHES", "srv_name, srv_id",
	"http-response set-header X-Server %[@]")
EXAMPLE("FETCHES", "ssl_c_s_dn, ssl_c_i_dn",
	"http-request set-header X-Client %[@(cn)]")
EXAMPLE("FETCHES", "ssl_c_used, ssl_c_verify",
	"http-request deny unless { ssl_c_used } { ssl_c_verify 0 }")
EXAMPLE("FETCHES", "ssl_s_sha1, ssl_s_serial",
	"http-response set-header X-Certificate %[@,hex]")
EXAMPLE("FETCHES", "ssl_[cf]_sha1, ssl_[cf]_serial",
	"http-request set-header X-Certificate %[@,hex]")
EXAMPLE("FETCHES", "ssl_fc",
	"http-request redirect scheme https unless { ssl_fc }")
EXAMPLE("FETCHES", "ssl_fc_sni",
	"use_backend api if { ssl_fc_sni -i api.example.org }")
EXAMPLE("FETCHES", "ssl_fc_protocol, ssl_fc_cipher, ssl_fc_alpn, ssl_fc_is_resumed, "
	"ssl_bc_protocol, ssl_bc_cipher",
	"log-format \"%ci %[@]\"")
EXAMPLE("FETCHES", "status",
	"http-response set-header X-Failed yes if { status 500:599 }")
EXAMPLE("FETCHES", "stopping",
	"http-response set-header Connection close if { stopping }")
EXAMPLE("FETCHES", "unique-id, uuid",
	"unique-id-format %[uuid]\n"
	"http-request set-header X-Request-Id %[unique-id]")
EXAMPLE("FETCHES", "url_param, urlp",
	"use_backend api if { @(version) 2 }")
EXAMPLE("FETCHES", "urlp_val",
	"http-request deny if { urlp_val(page) gt 1000 }")
EXAMPLE("FETCHES", "var",
	"http-request set-var(txn.host) req.hdr(host),lower\n"
	"use_backend api if { var(txn.host) -m str api.example.org }")
EXAMPLE("FETCHES", "wait_end",
	"tcp-request inspect-delay 2s\n"
	"tcp-request content accept if { wait_end }")
EXAMPLE("CONVERTERS", "bool",
	"int(7),bool gives 1")
EXAMPLE("CONVERTERS", "even",
	"int(8),even gives 1")
EXAMPLE("CONVERTERS", "odd",
	"int(8),odd gives 0")
EXAMPLE("CONVERTERS", "not",
	"int(0),not gives 1")
EXAMPLE("CONVERTERS", "crc32, crc32c, djb2, sdbm",
	"path,@(1)")
EXAMPLE("CONVERTERS", "xxh3, xxh32, xxh64",
	"path,@")
EXAMPLE("CONVERTERS", "sha2",
	"str(a),sha2(256),hex")
EXAMPLE("CONVERTERS", "hmac",
	"path,hmac(sha256,c2VjcmV0),base64")
EXAMPLE("CONVERTERS", "json",
	"req.hdr(user-agent),json(utf8s)")
EXAMPLE("CONVERTERS", "ltime",
	"date,ltime(%H:%M)")
EXAMPLE("CONVERTERS", "cut_crlf",
	"req.body,cut_crlf")
EXAMPLE("CONVERTERS", "capture-req",
	"path,capture-req(0)")
EXAMPLE("CONVERTERS", "capture-res",
	"status,capture-res(0)")
EXAMPLE("CONVERTERS", "add_item",
	"str(a),add_item(;,txn.host)")
EXAMPLE("CONVERTERS", "jwt_header_query",
	"http_auth_bearer,jwt_header_query('$.alg')")
EXAMPLE("CONVERTERS", "protobuf",
	"req.body,protobuf(2.1,sint32)")
EXAMPLE("CONVERTERS", "ungrpc",
	"req.body,ungrpc(2.1,sint32)")
EXAMPLE("CONVERTERS", "fix_tag_value",
	"req.payload(0,0),fix_tag_value(MsgType)")
EXAMPLE("CONVERTERS", "unset-var",
	"path,unset-var(txn.path)")
EXAMPLE("CONVERTERS", "nbsrv",
	"str(app),nbsrv")
EXAMPLE("CONVERTERS", "srv_queue",
	"str(app/a),srv_queue")
EXAMPLE("CONVERTERS", "map_beg, map_beg_str, map_dir, map_dir_str",
	"path,@(/etc/tacit/hosts.map,www)")
EXAMPLE("CONVERTERS", "map_dom, map_dom_str, map_end, map_end_str, map_str, map_str_str, "
	"map_sub, map_sub_str",
	"req.hdr(host),lower,@(/etc/tacit/hosts.map,www)")
EXAMPLE("CONVERTERS", "map_ip, map_ip_str",
	"src,@(/etc/tacit/networks.map,unknown)")
EXAMPLE("CONVERTERS", "map_ip_int",
	"src,@(/etc/tacit/limits.map,10)")
EXAMPLE("CONVERTERS", "map_int, map_int_str",
	"status,@(/etc/tacit/status.map,other)")
EXAMPLE("CONVERTERS", "map_reg, map_reg_str",
	"path,@(/etc/tacit/hosts.map)")
EXAMPLE("CONVERTERS", "map_int_int",
	"status,@(/etc/tacit/limits.map,10)")
EXAMPLE("CONVERTERS", "map_int_ip",
	"status,@(/etc/tacit/addresses.map)")
EXAMPLE("CONVERTERS", "map_ip_ip",
	"src,@(/etc/tacit/addresses.map)")
EXAMPLE("CONVERTERS", "map_*_int",
	"req.hdr(host),lower,@(/etc/tacit/limits.map,10)")
EXAMPLE("CONVERTERS", "map_*_ip",
	"req.hdr(host),lower,@(/etc/tacit/addresses.map)")
EXAMPLE("CONVERTERS", "in_table",
	"src,in_table(clients)")
EXAMPLE("CONVERTERS", "table_gpc_rate, table_gpc, table_gpt, table_clr_gpc, table_inc_gpc",
	"src,@(0,arrays)")
EXAMPLE("CONVERTERS", "table_*_rate, table_*_cnt, table_*_cur",
	"src,@(clients)")
EXAMPLE("CONVERTERS", "table_gpc[01], table_gpt0, table_clr_gpc[01], table_inc_gpc[01], "
	"table_kbytes_*, table_trackers",
	"src,@(clients)")
EXAMPLE("CONVERTERS", "table_expire, table_idle",
	"src,@(clients,0)")
