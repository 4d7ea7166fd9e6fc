/*
 * Hash functions that a configuration can name (manual, `hash-type`, and the converters of the same
 * names). Their values are part of what users rely on: they decide which server a client gets.
 */
#ifndef TACIT_BASE_HASH_H
#define TACIT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Of the ndbm library's public-domain twin. */
uint32_t hash_sdbm(const void *p, size_t n);
/* D. J. Bernstein's, with addition. */
uint32_t hash_djb2(const void *p, size_t n);
/* CRC-32 of IEEE 802.3, as zip and Ethernet have it. */
uint32_t hash_crc32(const void *p, size_t n);
/* CRC-32C of Castagnoli (RFC 9260, B), as SCTP and the PROXY protocol have it: of bytes that follow
 * those whose value is h; 0 for none. */
uint32_t hash_crc32c(uint32_t h, const void *p, size_t n);
/* B. Jenkins' integer hash as HAProxy gives it: every bit of the input changes half of the
 * output's. */
uint32_t hash_avalanche(uint32_t h);

#endif
