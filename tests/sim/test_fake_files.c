/* Files, memory files and datagrams: each test runs on the fake kernel and on the real one. */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake/kernel.h"
#include "unit/test.h"

struct box {
	struct fake *k; /* NULL: the real kernel */
	struct sys sys;
	char folder[40], path[60];
};

static const char *
path_of(struct box *b, const char *name)
{
	snprintf(b->path, sizeof(b->path), "%s/%s", b->folder, name);
	return b->path;
}

static void
box_open(struct box *b, int fake)
{
	memset(b, 0, sizeof(*b));
	b->k = fake ? fake_new() : NULL;
	sys_init(&b->sys, fake ? &sys_fake : &sys_linux, b->k);
	snprintf(b->folder, sizeof(b->folder), "/tmp/fake-XXXXXX");
	assert_non_null(mkdtemp(b->folder));
}

static void
box_close(struct box *b)
{
	if (b->k)
		assert_int_equal(fake_fds(b->k), 0);
	fake_free(&b->k);
	assert_int_equal(rmdir(b->folder), 0);
}

static void
on_both(void (*test)(struct box *b))
{
	struct box b;

	for (int fake = 0; fake < 2; fake++) {
		box_open(&b, fake);
		test(&b);
		box_close(&b);
	}
}

static void
use_file(struct box *b)
{
	char buf[16] = "";
	struct stat st;
	int fd;

	assert_int_equal(sys_openat(&b->sys, path_of(b, "f"), O_RDONLY, 0), -ENOENT);
	assert_int_equal(sys_stat(&b->sys, b->path, &st), -ENOENT);
	fd = (int)sys_openat(&b->sys, b->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(sys_write(&b->sys, fd, "abc", 3), 3);
	assert_int_equal(sys_pwrite64(&b->sys, fd, "xy", 2, 5), 2);
	assert_int_equal(sys_pread64(&b->sys, fd, buf, 16, 0), 7);
	assert_memory_equal(buf, "abc\0\0xy", 7);
	assert_int_equal(sys_read(&b->sys, fd, buf, 16), 4);
	assert_int_equal(sys_read(&b->sys, fd, buf, 16), 0);
	assert_int_equal(sys_ftruncate(&b->sys, fd, 2), 0);
	assert_int_equal(sys_ftruncate(&b->sys, fd, 4), 0);
	assert_int_equal(sys_pread64(&b->sys, fd, buf, 16, 1), 3);
	assert_memory_equal(buf, "b\0\0", 3);
	assert_int_equal(sys_fstat(&b->sys, fd, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(sys_fcntl(&b->sys, fd, F_GET_SEALS, 0), -EINVAL);
	assert_int_equal(sys_unlink(&b->sys, b->path), 0);
	assert_int_equal(sys_unlink(&b->sys, b->path), -ENOENT);
	assert_int_equal(sys_pread64(&b->sys, fd, buf, 1, 0), 1);
	assert_int_equal(sys_close(&b->sys, fd), 0);
}

static void
test_a_file_keeps_what_is_written(void **state)
{
	(void)state;
	on_both(use_file);
}

static void
append(struct box *b)
{
	char buf[16] = "";
	int fd[2];

	for (int i = 0; i < 2; i++)
		fd[i] = (int)sys_openat(
			&b->sys, path_of(b, "f"), O_RDWR | O_CREAT | O_APPEND, 0600);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sys_write(&b->sys, fd[i % 2], &"abcd"[i], 1), 1);
	assert_int_equal(sys_pread64(&b->sys, fd[0], buf, 16, 0), 4);
	assert_string_equal(buf, "abcd");
	assert_int_equal(sys_close(&b->sys, fd[1]), 0);
	fd[1] = (int)sys_openat(&b->sys, b->path, O_RDWR | O_TRUNC, 0);
	assert_int_equal(sys_pread64(&b->sys, fd[0], buf, 16, 0), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(sys_close(&b->sys, fd[i]), 0);
	assert_int_equal(sys_unlink(&b->sys, b->path), 0);
}

static void
test_two_descriptors_append_to_one_file(void **state)
{
	(void)state;
	on_both(append);
}

static void
map_memory(struct box *b)
{
	int fd = (int)sys_memfd_create(&b->sys, "m", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *a = NULL, *again = NULL;
	char buf[4] = "";

	assert_true(fd >= 0);
	assert_int_equal(sys_ftruncate(&b->sys, fd, 100000), 0);
	assert_int_equal(sys_mmap(&b->sys, 100000, PROT_READ | PROT_WRITE, fd, &a), 0);
	assert_int_equal(((char *)a)[99999], 0);
	memcpy((char *)a + 70000, "abc", 3);
	assert_int_equal(sys_pread64(&b->sys, fd, buf, 3, 70000), 3);
	assert_string_equal(buf, "abc");
	assert_int_equal(sys_fcntl(&b->sys, fd, F_ADD_SEALS,
			F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL), 0);
	assert_int_equal(sys_ftruncate(&b->sys, fd, 10), -EPERM);
	assert_int_equal(sys_ftruncate(&b->sys, fd, 200000), -EPERM);
	assert_int_equal(sys_fcntl(&b->sys, fd, F_ADD_SEALS, F_SEAL_GROW), -EPERM);
	assert_true(sys_fcntl(&b->sys, fd, F_GET_SEALS, 0) & F_SEAL_SHRINK);
	assert_int_equal(sys_mmap(&b->sys, 100000, PROT_READ, fd, &again), 0);
	((char *)a)[0] = 'z';
	assert_int_equal(((char *)again)[0], 'z');
	assert_int_equal(sys_close(&b->sys, fd), 0);
	assert_int_equal(sys_munmap(&b->sys, a, 100000), 0);
	assert_int_equal(((char *)again)[70001], 'b');
	assert_int_equal(sys_munmap(&b->sys, again, 100000), 0);
}

static void
test_mappings_of_a_memory_file_share_its_bytes(void **state)
{
	(void)state;
	on_both(map_memory);
}

static long
send_text(struct box *b, int fd, const char *text, const struct sockaddr *to, socklen_t len)
{
	struct iovec iov = { (void *)(uintptr_t)text, strlen(text) };
	struct mmsghdr v = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_name = (void *)(uintptr_t)to, .msg_namelen = len } };

	return sys_sendmmsg(&b->sys, fd, &v, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int
datagram_socket(struct box *b, int family)
{
	int fd = (int)sys_socket(&b->sys, family, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	return fd;
}

static void
send_unix(struct box *b)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const struct sockaddr *to = (struct sockaddr *)&un;
	int in = datagram_socket(b, AF_UNIX), out = datagram_socket(b, AF_UNIX);
	char buf[8] = "";
	struct stat st;

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path_of(b, "s"));
	assert_int_equal(sys_connect(&b->sys, out, to, sizeof(un)), -ENOENT);
	assert_int_equal(send_text(b, out, "none", to, sizeof(un)), -ENOENT);
	assert_int_equal(sys_bind(&b->sys, in, to, sizeof(un)), 0);
	assert_int_equal(sys_stat(&b->sys, b->path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(sys_recvfrom(&b->sys, in, buf, 8, 0), -EAGAIN);
	assert_int_equal(send_text(b, out, "one", to, sizeof(un)), 1);
	assert_int_equal(sys_connect(&b->sys, out, to, sizeof(un)), 0);
	assert_int_equal(sys_sendto(&b->sys, out, "second", 6, MSG_NOSIGNAL), 6);
	assert_int_equal(sys_recvfrom(&b->sys, in, buf, 8, MSG_PEEK), 3);
	assert_int_equal(sys_recvfrom(&b->sys, in, buf, 8, 0), 3);
	/* the rest of a message is lost */
	assert_int_equal(sys_recvfrom(&b->sys, in, buf, 3, 0), 3);
	assert_memory_equal(buf, "sec", 3);
	assert_int_equal(sys_recvfrom(&b->sys, in, buf, 8, 0), -EAGAIN);
	assert_int_equal(sys_close(&b->sys, in), 0);
	assert_int_equal(sys_sendto(&b->sys, out, "x", 1, MSG_NOSIGNAL), -ECONNREFUSED);
	assert_int_equal(sys_close(&b->sys, out), 0);
	(void)sys_unlink(&b->sys, path_of(b, "s"));
}

static void
test_unix_datagrams_come_whole_and_in_order(void **state)
{
	(void)state;
	on_both(send_unix);
}

/* Waits for what a descriptor registered for EPOLLIN reports. */
static uint32_t
wait_for(struct box *b, int ep)
{
	struct epoll_event ev = { 0 };

	assert_int_equal(sys_epoll_wait(&b->sys, ep, &ev, 1, 60000), 1);
	return ev.events;
}

static void
send_udp(struct box *b)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct sockaddr *to = (struct sockaddr *)&at;
	socklen_t len = sizeof(at);
	int in = datagram_socket(b, AF_INET), out = datagram_socket(b, AF_INET);
	int ep = (int)sys_epoll_create1(&b->sys, 0);
	struct epoll_event ev = { .events = EPOLLIN };
	char buf[8] = "";

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons(b->k ? 514 : 0);
	assert_int_equal(sys_bind(&b->sys, in, to, len), 0);
	assert_int_equal(sys_getsockname(&b->sys, in, to, &len), 0);
	assert_int_equal(sys_epoll_ctl(&b->sys, ep, EPOLL_CTL_ADD, in, &ev), 0);
	assert_int_equal(sys_epoll_ctl(&b->sys, ep, EPOLL_CTL_ADD, out, &ev), 0);
	assert_int_equal(sys_sendto(&b->sys, out, "x", 1, MSG_NOSIGNAL), -EDESTADDRREQ);
	assert_int_equal(send_text(b, out, "one", to, len), 1);
	assert_true(wait_for(b, ep) & EPOLLIN);
	assert_int_equal(sys_recvfrom(&b->sys, in, buf, 8, 0), 3);
	assert_int_equal(sys_close(&b->sys, in), 0);
	/* a closed port: only the next call of a connected socket reports it */
	assert_int_equal(send_text(b, out, "two", to, len), 1);
	assert_int_equal(sys_connect(&b->sys, out, to, len), 0);
	assert_int_equal(sys_sendto(&b->sys, out, "x", 1, MSG_NOSIGNAL), 1);
	assert_true(wait_for(b, ep) & EPOLLERR);
	assert_int_equal(sys_sendto(&b->sys, out, "x", 1, MSG_NOSIGNAL), -ECONNREFUSED);
	assert_int_equal(sys_recvfrom(&b->sys, out, buf, 8, 0), -EAGAIN);
	assert_int_equal(sys_close(&b->sys, out), 0);
	assert_int_equal(sys_close(&b->sys, ep), 0);
}

static void
test_udp_reports_a_closed_port_once(void **state)
{
	(void)state;
	on_both(send_udp);
}

static void
test_peers_get_datagrams_when_they_arrive(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct box b;
	struct fake_sock *peer;
	char buf[8] = "";
	int fd;

	(void)state;
	box_open(&b, 1);
	peer = fake_receiver(b.k, 53);
	fake_route(b.k, 53, FAKE_FAR, 5 * FAKE_MS);
	fd = datagram_socket(&b, AF_INET);
	assert_int_equal(sys_connect(&b.sys, fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(sys_sendto(&b.sys, fd, "ask", 3, 0), 3);
	fake_advance(b.k, 5 * FAKE_MS - 1);
	assert_int_equal(fake_peer_recv(peer, buf, 8), -EAGAIN);
	fake_advance(b.k, 1);
	assert_int_equal(fake_peer_recv(peer, buf, 8), 3);
	assert_int_equal(fake_peer_send(peer, "tell", 4), 4);
	fake_advance(b.k, 5 * FAKE_MS - 1);
	assert_int_equal(sys_recvfrom(&b.sys, fd, buf, 8, 0), -EAGAIN);
	fake_advance(b.k, 1);
	assert_int_equal(sys_recvfrom(&b.sys, fd, buf, 8, 0), 4);
	assert_int_equal(sys_close(&b.sys, fd), 0);
	box_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_keeps_what_is_written),
		cmocka_unit_test(test_two_descriptors_append_to_one_file),
		cmocka_unit_test(test_mappings_of_a_memory_file_share_its_bytes),
		cmocka_unit_test(test_unix_datagrams_come_whole_and_in_order),
		cmocka_unit_test(test_udp_reports_a_closed_port_once),
		cmocka_unit_test(test_peers_get_datagrams_when_they_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
