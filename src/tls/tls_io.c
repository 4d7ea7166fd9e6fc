/* State shared by the TLS connections of one worker, on that worker. */
#include "tls/tls_io.h"

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "tls/transport.h"

struct tls_io *
tls_io_new(int *reason)
{
	struct tls_io *io = mem_zalloc(sizeof(*io));

	*reason = -ERR_NOMEM;
	if (io && tls_bio_open(io) < 0) {
		mem_free(io);
		io = NULL;
	}
	return io;
}

void
tls_io_free(struct tls_io **io)
{
	if (!*io)
		return;
	assert(!counter_read(&(*io)->counts.live));
	tls_bio_close(*io);
	mem_free(*io);
	*io = NULL;
}
