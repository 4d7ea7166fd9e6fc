"""puppetlabs-haproxy, as Debian has it, by `puppet apply`: it renders a catalogue, has it checked with -c, puts the file in
place, and its fact reads the version."""

import pytest
from programs import ALONE, debian, environment, named_haproxy, run
from clients import get
from conftest import WAIT, free_ports
from subject import only_root, only_tacit

pytestmark = [only_tacit, only_root]
CATALOGUE = """\
class {{ 'haproxy':
  package_name        => 'dpkg',
  service_manage      => false,
  config_dir          => '{dir}/etc',
  config_file         => '{dir}/etc/haproxy.cfg',
  config_validate_cmd => '{bin}/haproxy -f % -c',
  global_options      => {{ 'maxconn' => '4000', 'stats' => 'socket {dir}/stats mode 600 level admin', 'log' => '127.0.0.1 local0' }},
}}
haproxy::userlist {{ 'people':
  users  => ['ann insecure-password secret'],
  groups => ['all users ann'],
}}
haproxy::resolver {{ 'dns':
  nameservers => {{ 'one' => '127.0.0.1:5353' }},
  hold        => {{ 'valid' => '10s' }},
  resolve_retries => 3,
  timeout     => {{ 'retry' => '1s' }},
}}
haproxy::frontend {{ 'web':
  mode    => 'http',
  bind    => {{ '127.0.0.1:{web}' => ['maxconn', '100'] }},
  options => [ {{ 'default_backend' => 'app' }}, {{ 'option' => ['forwardfor', 'accept-invalid-http-request'] }},
               {{ 'acl' => 'own path /own' }} ],
}}
haproxy::backend {{ 'app':
  mode    => 'http',
  options => {{ 'balance' => 'roundrobin', 'cookie' => 'SRV insert indirect', 'option' => 'accept-invalid-http-response' }},
}}
haproxy::balancermember {{ 'one':
  listening_service => 'app', server_names => ['one', 'two'], ipaddresses => ['127.0.0.1', '127.0.0.2'], ports => '{origin}',
  options => 'weight 10', define_cookies => true,
}}
haproxy::listen {{ 'raw':
  ipaddress => '127.0.0.1', ports => '{raw}', mode => 'tcp',
  options => {{ 'option' => ['tcplog', 'accept-invalid-http-request'], 'balance' => 'leastconn' }},
}}
haproxy::balancermember {{ 'raw-one':
  listening_service => 'raw', server_names => 'one', ipaddresses => '127.0.0.1', ports => '{origin}', options => 'check',
}}
haproxy::peers {{ 'nodes': collect_exported => false }}
haproxy::peer {{ 'here': peers_name => 'nodes', server_names => '{host}', ipaddresses => '127.0.0.1', port => {peer} }}
haproxy::mailers {{ 'mails': collect_exported => false }}
haproxy::mailer {{ 'mail': mailers_name => 'mails', server_names => 'mail', ipaddresses => '127.0.0.1', port => 25 }}
notice("version ${{haproxy_version}}")
"""


def answer(conn):
    conn.recv(4096)
    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")


@pytest.fixture
def puppet(tmp_path):
    """puppet(catalogue, code) applies one; returns what it printed."""
    debian("/usr/share/puppet/modules.available/puppetlabs-haproxy")
    path = named_haproxy(tmp_path / "bin")
    for name in ("conf", "var"):
        (tmp_path / name).mkdir()
    env = environment(PATH=f"{path}:{environment()['PATH']}", HOME=str(tmp_path))

    def apply(text, code=0):
        file = tmp_path / "site.pp"
        file.write_text(text)
        # 0: nothing changed, 2: something did. Without a network, where its facts would ask for names and for clouds.
        return run(*ALONE, debian("/usr/bin/puppet"), "apply", "--detailed-exitcodes", "--confdir", tmp_path / "conf", "--vardir", tmp_path / "var",
                   "--color=false", "--modulepath=/usr/share/puppet/modules", file, code=code, env=env, limit=30 * WAIT)

    return apply


def test_puppetlabs_haproxy(puppet, daemon, origins, tmp_path):
    web, raw, peer = free_ports(3)
    words = {"dir": tmp_path, "bin": tmp_path / "bin", "web": web, "raw": raw, "peer": peer, "origin": origins(answer).port, "host": "here"}
    printed = puppet(CATALOGUE.format(**words), code=2)
    assert "version 3.0.0" in printed, printed
    text = (tmp_path / "etc" / "haproxy.cfg").read_text()
    d = daemon(text, "-L", "here", raw=True)
    assert get(web) == "one" and get(raw) == "one"
