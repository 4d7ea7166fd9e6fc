/* OpenSSL's allocations, for programs whose allocations may fail (sim/faults.h). */
#ifndef TACIT_SIM_OPENSSL_FAULTS_H
#define TACIT_SIM_OPENSSL_FAULTS_H

/* Counts OpenSSL's allocations with the others. Called before OpenSSL has made the first one; 0, or
 * -1: it was too late. */
int openssl_faults_begin(void);

#endif
