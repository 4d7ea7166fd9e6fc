/* Allocations that fail, for programs linked with --wrap=malloc,calloc,realloc; others see none. */
#ifndef TACIT_SIM_FAULTS_H
#define TACIT_SIM_FAULTS_H

#include <stdint.h>

/* From now on allocations are counted, or not. */
void faults_apply(int on);
/* The nth counted allocation fails; 0: none. The count starts again. */
void faults_set(uint64_t nth);
/* And so many after it. */
void faults_set_again(uint64_t times);
uint64_t faults_counted(void);
/* Did the one that was to fail come? */
int faults_hit(void);

#endif
