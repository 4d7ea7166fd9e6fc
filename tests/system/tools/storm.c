/*
 * storm: very many short connections through a proxy, and what they cost it.
 *
 *     storm --listen FD --connect HOST:PORT [--total N] [--concurrency C] [--hold MS]
 *           [--timeout SECONDS] [--pid PID] [--mark N]
 *
 * It is both ends: each client sends one line, the origin sends the same line back after --hold
 * milliseconds and closes, and the client verifies it. With --pid it samples that process: its CPU
 * time during the run, its resident set and the anonymous part of that (KiB) after --mark
 * connections and after the last, and the maximum number of descriptors. Prints one line of JSON;
 * exits 0 if every client was served.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINE 21 /* bytes of a request and of its answer: a number and a newline */
#define MAX_COMPLAINTS 10

enum kind { LISTENER, CLIENT, ORIGIN };

struct peer {
	enum kind kind;
	int fd;
	bool sent;
	unsigned got;
	uint64_t number;
	int64_t since;
	char line[LINE + 1];
	struct peer *next,
		*prev; /* the origins that delay their answer, or the clients, oldest first */
};

struct queue {
	struct peer head;
};

static struct {
	int listen_fd, concurrency, hold, timeout, pid;
	uint64_t total, mark;
	struct sockaddr_in to;
} opt = { .listen_fd = -1, .concurrency = 100, .timeout = 60, .total = 1000 };

static uint64_t started, ended, served, failed;
static long rss_mark, rss_end, anon_mark, anon_end, max_fds;
static int epfd;
static struct queue held, clients;

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
queue_init(struct queue *q)
{
	q->head.next = q->head.prev = &q->head;
}

static void
queue_add(struct queue *q, struct peer *p)
{
	p->prev = q->head.prev;
	p->next = &q->head;
	p->prev->next = p;
	q->head.prev = p;
}

static void
queue_del(struct peer *p)
{
	if (p->next) {
		p->next->prev = p->prev;
		p->prev->next = p->next;
		p->next = p->prev = NULL;
	}
}

/* --- the process under test ------------------------------------------------------------ */
/* A field of smaps_rollup, which is exact; VmRSS lags behind by the counts of each CPU. */
static long
memory_kib(const char *field)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", opt.pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, field, strlen(field)) == 0)
			kib = atol(line + strlen(field));
	}
	if (f)
		fclose(f);
	return kib;
}

/* Nanoseconds of CPU of all its threads. */
static uint64_t
cpu_ns(void)
{
	char path[300];
	unsigned long long ns, sum = 0;
	struct dirent *d;
	FILE *f;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", opt.pid);
	dir = opt.pid ? opendir(path) : NULL;
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", opt.pid, d->d_name);
		if (d->d_name[0] == '.' || (f = fopen(path, "r")) == NULL)
			continue;
		if (fscanf(f, "%llu", &ns) == 1)
			sum += ns;
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static void
count_fds(void)
{
	char path[64];
	long n = -2;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", opt.pid);
	dir = opt.pid ? opendir(path) : NULL;
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	if (n > max_fds)
		max_fds = n;
}

/* --- peers ----------------------------------------------------------------------------- */
static struct peer *
peer_new(enum kind kind, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct peer *p = calloc(1, sizeof(*p));

	if (p == NULL)
		abort();
	p->kind = kind;
	p->fd = fd;
	p->since = now_ms();
	ev.data.ptr = p;
	if (kind == CLIENT) {
		ev.events = EPOLLOUT;
		queue_add(&clients, p);
	}
	epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev);
	return p;
}

static void
peer_free(struct peer *p)
{
	queue_del(p);
	close(p->fd);
	free(p);
}

static void
client_end(struct peer *p, const char *why)
{
	if (why && failed++ < MAX_COMPLAINTS)
		fprintf(stderr, "client %llu: %s (%s), %u bytes after %lld ms\n",
			(unsigned long long)p->number, why, strerror(errno), p->got,
			(long long)(now_ms() - p->since));
	served += why == NULL;
	ended++;
	peer_free(p);
	if (opt.pid && ended == opt.mark) {
		rss_mark = memory_kib("Rss:");
		anon_mark = memory_kib("Anonymous:");
	}
}

static void
client_start(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct peer *p;

	if (fd < 0) {
		perror("socket");
		exit(2);
	}
	p = peer_new(CLIENT, fd);
	p->number = started++;
	snprintf(p->line, sizeof(p->line), "%020llu\n", (unsigned long long)p->number);
	if (connect(fd, (struct sockaddr *)&opt.to, sizeof(opt.to)) < 0 && errno != EINPROGRESS)
		client_end(p, "connect");
}

static void
client_event(struct peer *p)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = p };
	char buf[LINE + 1];
	ssize_t n;

	if (!p->sent) {
		n = send(p->fd, p->line, LINE, MSG_NOSIGNAL);
		if (n == LINE) {
			p->sent = true;
			epoll_ctl(epfd, EPOLL_CTL_MOD, p->fd, &ev);
		} else if (n >= 0 || errno != EAGAIN) {
			client_end(p, "send");
		}
		return;
	}
	n = recv(p->fd, buf, sizeof(buf), 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		client_end(p, "recv");
	} else if (n == 0) {
		errno = 0;
		client_end(p, p->got == LINE ? NULL : "closed early");
	} else if (p->got + (size_t)n > LINE || memcmp(buf, p->line + p->got, (size_t)n) != 0) {
		client_end(p, "wrong answer");
	} else {
		p->got += (unsigned)n;
	}
}

static void
origin_answer(struct peer *p)
{
	if (send(p->fd, p->line, LINE, MSG_NOSIGNAL) != LINE)
		perror("origin: send");
	peer_free(p);
}

static void
origin_event(struct peer *p)
{
	ssize_t n = recv(p->fd, p->line + p->got, LINE - p->got, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		peer_free(p); /* the client gave up, and reports it */
		return;
	}
	p->got += (unsigned)n;
	if (p->got < LINE)
		return;
	if (opt.hold == 0) {
		origin_answer(p);
		return;
	}
	epoll_ctl(epfd, EPOLL_CTL_DEL, p->fd, NULL);
	p->since = now_ms();
	queue_add(&held, p);
}

static void
accept_all(void)
{
	int fd;

	while ((fd = accept4(opt.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		peer_new(ORIGIN, fd);
}

/* --- the loop -------------------------------------------------------------------------- */
static void
run(void)
{
	struct epoll_event evs[256], ev = { .events = EPOLLIN };
	struct peer listener = { .kind = LISTENER }, *p;
	int64_t now, sample = 0;
	int n;

	ev.data.ptr = &listener;
	epoll_ctl(epfd, EPOLL_CTL_ADD, opt.listen_fd, &ev);
	while (ended < opt.total) {
		while (started < opt.total && started - ended < (uint64_t)opt.concurrency)
			client_start();
		n = epoll_wait(epfd, evs, 256, opt.hold ? 2 : 100);
		for (int i = 0; i < n; i++) {
			p = evs[i].data.ptr;
			if (p->kind == LISTENER)
				accept_all();
			else if (p->kind == CLIENT)
				client_event(p);
			else
				origin_event(p);
		}
		now = now_ms();
		while ((p = held.head.next) != &held.head && now - p->since >= opt.hold)
			origin_answer(p);
		while ((p = clients.head.next) != &clients.head &&
			now - p->since > opt.timeout * 1000) {
			errno = ETIMEDOUT;
			client_end(p, p->sent ? "no answer" : "not connected");
		}
		if (now >= sample) {
			count_fds();
			sample = now + 50;
		}
	}
}

static void
parse_args(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "listen", 1, NULL, 'l' },
		{ "connect", 1, NULL, 'c' },
		{ "total", 1, NULL, 'n' },
		{ "concurrency", 1, NULL, 'j' },
		{ "hold", 1, NULL, 'h' },
		{ "timeout", 1, NULL, 't' },
		{ "pid", 1, NULL, 'p' },
		{ "mark", 1, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	char *colon;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'l':
			opt.listen_fd = atoi(optarg);
			break;
		case 'n':
			opt.total = strtoull(optarg, NULL, 10);
			break;
		case 'j':
			opt.concurrency = atoi(optarg);
			break;
		case 'h':
			opt.hold = atoi(optarg);
			break;
		case 't':
			opt.timeout = atoi(optarg);
			break;
		case 'p':
			opt.pid = atoi(optarg);
			break;
		case 'm':
			opt.mark = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			colon = strchr(optarg, ':');
			if (colon) {
				*colon = 0;
				opt.to.sin_family = AF_INET;
				opt.to.sin_port = htons((uint16_t)atoi(colon + 1));
				inet_pton(AF_INET, optarg, &opt.to.sin_addr);
			}
			break;
		default:
			exit(2);
		}
	}
	if (opt.listen_fd < 0 || opt.to.sin_port == 0) {
		fprintf(stderr, "usage: storm --listen FD --connect HOST:PORT [options]\n");
		exit(2);
	}
}

int
main(int argc, char **argv)
{
	struct rlimit files = { 0 };
	uint64_t cpu;
	int64_t start, took;

	signal(SIGPIPE, SIG_IGN);
	parse_args(argc, argv);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	queue_init(&held);
	queue_init(&clients);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0 || fcntl(opt.listen_fd, F_SETFL, O_NONBLOCK) < 0) {
		perror("--listen");
		return 2;
	}
	cpu = cpu_ns();
	start = now_ms();
	run();
	took = now_ms() - start;
	cpu = cpu_ns() - cpu;
	rss_end = opt.pid ? memory_kib("Rss:") : 0;
	anon_end = opt.pid ? memory_kib("Anonymous:") : 0;
	printf("{\"served\": %llu, \"failed\": %llu, \"seconds\": %.3f, \"cpu_ms\": %.3f, "
	       "\"cpu_share\": %.4f, \"rss_mark\": %ld, \"rss_end\": %ld, \"anon_mark\": %ld, "
	       "\"anon_end\": %ld, \"max_fds\": %ld}\n",
		(unsigned long long)served, (unsigned long long)failed, (double)took / 1e3,
		(double)cpu / 1e6, took ? (double)cpu / 1e6 / (double)took : 0, rss_mark, rss_end,
		anon_mark, anon_end, max_fds);
	return failed ? 1 : 0;
}
