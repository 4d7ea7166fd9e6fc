/* OpenSSL's allocations, for programs whose allocations may fail (sim/faults.h). */
#ifndef TACIT_SIM_OPENSSL_FAULTS_H
#define TACIT_SIM_OPENSSL_FAULTS_H

/* From now on they are counted with the others. Before OpenSSL has made the first one; 0, or -1:
 * it was too late. */
int openssl_faults_begin(void);

#endif
