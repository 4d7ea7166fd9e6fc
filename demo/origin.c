/* The origin of the demonstration and of tests: answers each HTTP request with a small page. It
 * keeps a connection as HTTP/1.1 does, but closes it after anything other than a GET without a
 * body, since it reads no bodies. A program of its own, so that what is counted of tacit is tacit's
 * alone; one thread. All exchanges may last equally long: the oldest is the first to be late. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX 8192 /* bytes of a request's head */
#define TIMEOUT_MS 10000 /* of an exchange, and of the pause before it */
#define EVENTS 64

#define ANSWER(connection) \
	"HTTP/1.1 200 OK\r\nServer: tacit-demo-origin\r\nContent-Type: text/plain\r\n" \
	"Content-Length: 56\r\n" connection "\r\n" \
	"Hello. This page came through tacit from its demo page.\n"

static const char answer_kept[] = ANSWER(""), answer_old[] = ANSWER("Connection: keep-alive\r\n"),
		  answer_last[] = ANSWER("Connection: close\r\n");

enum state { READ_REQUEST, SEND_ANSWER, DRAIN };

struct exchange {
	TAILQ_ENTRY(exchange) link;
	int fd;
	enum state state;
	const char *answer; /* what is left of it */
	int is_last;        /* the connection ends after it */
	size_t used;        /* bytes in head */
	long long deadline;
	char head[REQUEST_MAX + 1]; /* of the request, and what follows it */
};

struct origin {
	int listen_fd, epoll_fd;
	TAILQ_HEAD(, exchange) all; /* oldest first */
};

static long long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void
exchange_end(struct origin *o, struct exchange *x)
{
	TAILQ_REMOVE(&o->all, x, link);
	close(x->fd);
	free(x);
}

static int
watch(struct origin *o, int op, int fd, unsigned int events, void *who)
{
	struct epoll_event ev = { .events = events, .data = { .ptr = who } };

	return epoll_ctl(o->epoll_fd, op, fd, &ev);
}

/* Returns the answer to the request with this head, a string. Only a GET without a body is
 * followed by another one, and only if the client keeps the connection; the response shows an old
 * client that it stays open. */
static const char *
answer_to(const char *head)
{
	if (strncmp(head, "GET ", 4) || strcasestr(head, "\r\nContent-Length:") ||
		strcasestr(head, "\r\nTransfer-Encoding:") ||
		strcasestr(head, "\r\nConnection: close\r"))
		return answer_last;
	if (strstr(head, " HTTP/1.1\r\n"))
		return answer_kept;
	return strcasestr(head, "\r\nConnection: keep-alive\r") ? answer_old : answer_last;
}

/* Takes the next request's head out of what was read. Returns 1 if it is complete, 0 if not, -1 if
 * it is too long. */
static int
take_request(struct exchange *x)
{
	char *end;
	size_t size;

	x->head[x->used] = '\0';
	end = strstr(x->head, "\r\n\r\n");
	if (!end)
		return x->used == REQUEST_MAX ? -1 : 0;
	size = (size_t)(end - x->head) + 4;
	end[2] = '\0';
	x->answer = answer_to(x->head);
	x->is_last = x->answer == answer_last;
	x->used -= size;
	memmove(x->head, x->head + size, x->used);
	return 1;
}

/* Sends what is left of the answer. Returns 1 if that was all and another request may follow, 0 if
 * there is something to wait for, -1 when the connection is over. */
static int
send_answer(struct origin *o, struct exchange *x)
{
	ssize_t n = send(x->fd, x->answer, strlen(x->answer), MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		return -1;
	if (n > 0)
		x->answer += n;
	if (*x->answer) {
		x->state = SEND_ANSWER;
		return watch(o, EPOLL_CTL_MOD, x->fd, EPOLLOUT, x);
	}
	if (x->is_last) {
		/* The rest from the client is read to its end: a reset would take the answer
		 * back. */
		shutdown(x->fd, SHUT_WR);
		x->state = DRAIN;
		x->used = 0;
	}
	return x->is_last ? watch(o, EPOLL_CTL_MOD, x->fd, EPOLLIN, x) : 1;
}

/* Puts the exchange behind the others: it has all its time again. */
static void
exchange_renew(struct origin *o, struct exchange *x)
{
	TAILQ_REMOVE(&o->all, x, link);
	TAILQ_INSERT_TAIL(&o->all, x, link);
	x->deadline = now_ms() + TIMEOUT_MS;
}

/* Answers the requests that were read. Returns 0, or -1 when the connection is over. */
static int
answer_requests(struct origin *o, struct exchange *x)
{
	int r;

	while ((r = take_request(x)) > 0) {
		r = send_answer(o, x);
		if (r <= 0)
			return r;
		exchange_renew(o, x);
	}
	return r;
}

/* Returns 0, or -1 when the connection is over. */
static int
read_request(struct origin *o, struct exchange *x)
{
	/* There is room: a head that fills all of it is too long, and its connection is over. */
	ssize_t n = recv(x->fd, x->head + x->used, REQUEST_MAX - x->used, 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -1;
	if (x->state == DRAIN)
		return 0;
	x->used += (size_t)n;
	return answer_requests(o, x);
}

/* Sends on. When the answer is out, requests that came meanwhile are answered. Returns 0, or -1 as
 * above. */
static int
send_on(struct origin *o, struct exchange *x)
{
	int r = send_answer(o, x);

	if (r <= 0)
		return r;
	exchange_renew(o, x);
	x->state = READ_REQUEST;
	if (watch(o, EPOLL_CTL_MOD, x->fd, EPOLLIN, x))
		return -1;
	return answer_requests(o, x);
}

static void
on_ready(struct origin *o, struct exchange *x)
{
	if (x->state == SEND_ANSWER ? send_on(o, x) : read_request(o, x))
		exchange_end(o, x);
}

static void
exchange_begin(struct origin *o, int fd)
{
	struct exchange *x = calloc(1, sizeof(*x));
	int on = 1;

	if (!x || watch(o, EPOLL_CTL_ADD, fd, EPOLLIN, x)) {
		free(x);
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	x->fd = fd;
	x->deadline = now_ms() + TIMEOUT_MS;
	TAILQ_INSERT_TAIL(&o->all, x, link);
}

static void
accept_all(struct origin *o)
{
	for (int i = 0; i < EVENTS; i++) {
		int fd = accept4(o->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			exchange_begin(o, fd);
		else if (errno == EMFILE && !TAILQ_EMPTY(&o->all))
			exchange_end(o, TAILQ_FIRST(&o->all));
		else if (errno != ECONNABORTED)
			return;
	}
}

static void
serve(struct origin *o)
{
	struct epoll_event ev[EVENTS];

	for (;;) {
		struct exchange *first = TAILQ_FIRST(&o->all);
		long long left = first ? first->deadline - now_ms() : -1;
		int n = epoll_wait(o->epoll_fd, ev, EVENTS, first && left < 0 ? 0 : (int)left);
		int accepts = 0;

		for (int i = 0; i < n; i++) {
			if (ev[i].data.ptr)
				on_ready(o, ev[i].data.ptr);
			else
				accepts = 1;
		}
		/* Last: what it ends or begins is in no event of this turn. */
		if (accepts)
			accept_all(o);
		while ((first = TAILQ_FIRST(&o->all)) && first->deadline <= now_ms())
			exchange_end(o, first);
	}
}

/* 0 once it listens, else -1 with a message. */
static int
origin_open(struct origin *o, const char *host, const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *at = NULL;
	int on = 1, r = getaddrinfo(host, port, &hints, &at);

	if (r) {
		fprintf(stderr, "origin: %s port %s: %s\n", host, port, gai_strerror(r));
		return -1;
	}
	o->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	o->listen_fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (o->epoll_fd < 0 || o->listen_fd < 0 ||
	    setsockopt(o->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(o->listen_fd, at->ai_addr, at->ai_addrlen) || listen(o->listen_fd, 1024) ||
	    watch(o, EPOLL_CTL_ADD, o->listen_fd, EPOLLIN, NULL)) {
		fprintf(stderr, "origin: %s port %s: %s\n", host, port, strerror(errno));
		r = -1;
	}
	freeaddrinfo(at);
	return r;
}

int
main(int argc, char **argv)
{
	struct origin o = { .all = TAILQ_HEAD_INITIALIZER(o.all) };
	pid_t parent = getpid(), child;

	if (argc < 3) {
		fputs("Usage: origin ADDRESS PORT [COMMAND...]\n"
		      "Serves until it is ended; with a command, beside it and as long as it.\n",
			stderr);
		return 2;
	}
	if (origin_open(&o, argv[1], argv[2]))
		return 1;
	if (argc == 3) {
		puts("listening");
		fflush(stdout);
		serve(&o);
	}
	child = fork();
	if (child == 0) {
		/* Ctrl-C is for the command: this process ends with it, in every case. */
		signal(SIGINT, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			serve(&o);
		return 1;
	}
	if (child > 0)
		execv(argv[3], argv + 3);
	fprintf(stderr, "origin: %s: %s\n", argv[3], strerror(errno));
	return 1;
}
