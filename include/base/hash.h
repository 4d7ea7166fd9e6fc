/*
 * Hash functions that a configuration can name (manual, `hash-type` and the converters of the same
 * names). Their values must not change, since they determine which server a client uses.
 */
#ifndef TACIT_BASE_HASH_H
#define TACIT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of the ndbm and sdbm libraries. */
uint32_t hash_sdbm(const void *p, size_t n);
/* D. J. Bernstein's, with addition. */
uint32_t hash_djb2(const void *p, size_t n);
/* CRC-32 of IEEE 802.3, as zip and Ethernet have it. */
uint32_t hash_crc32(const void *p, size_t n);
/* CRC-32C of Castagnoli (RFC 9260, B), as in SCTP and the PROXY protocol. h: the value of the
 * preceding bytes, 0 for none. */
uint32_t hash_crc32c(uint32_t h, const void *p, size_t n);
/* B. Jenkins' integer hash with full avalanche, as in HAProxy. */
uint32_t hash_avalanche(uint32_t h);

#endif
