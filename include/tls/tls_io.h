/* State shared by the TLS connections of one worker: the BIO that OpenSSL reads and writes through,
 * and its buffers. Owned by the worker. */
#ifndef TACIT_TLS_TLS_IO_H
#define TACIT_TLS_TLS_IO_H

#include "base/compiler.h"

struct tls_io;

/* NULL and a negative reason when memory is out. */
struct tls_io *tls_io_new(int *reason) must_check;
/* No connection may be left (asserted). NULL is allowed. */
void tls_io_free(struct tls_io **io);

#endif
