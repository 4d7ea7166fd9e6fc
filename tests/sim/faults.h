/* Failing allocations of tacit (faults.c) and of OpenSSL (openssl_faults.c), for programs linked
 * with --wrap=malloc,calloc,realloc. Users: torture tests, and unit tests of pools and bounds. */
#ifndef TACIT_SIM_FAULTS_H
#define TACIT_SIM_FAULTS_H

#include <stdint.h>

/* Enables or disables the counting of allocations. */
void faults_apply(int on);
int faults_are_applied(void);
/* Makes the nth counted allocation fail; 0: none. Restarts the count. */
void faults_set(uint64_t nth);
/* Makes this many allocations after it fail, too. */
void faults_set_again(uint64_t times);
/* Calls fn at each allocation that counts; NULL: none. */
void faults_on_allocation(void (*fn)(void));
uint64_t faults_counted(void);
/* True if the allocation that was to fail has happened. */
int faults_hit(void);

/* Counts OpenSSL's allocations with the others. Called before OpenSSL has made the first one; 0, or
 * -1: it was too late. */
int openssl_faults_begin(void);

#endif
