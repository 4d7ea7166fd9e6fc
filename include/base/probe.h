/*
 * Static probes (USDT) at the rows of state machines, for tracers such as bpftrace. The last
 * argument is a text that stands in the row: "STATE EVENT NEXT action". A program that
 * was configured without systemtap-sdt-dev has no probes. A probe that is not traced is a nop.
 */
#ifndef TACIT_BASE_PROBE_H
#define TACIT_BASE_PROBE_H

#ifdef TACIT_SDT
#include <sys/sdt.h>

/* The last member of a row, and its value behind the others. */
#define PROBE_MEMBER const char *probe;
#define PROBE_VALUE(st, ev, to, act) , #st " " #ev " " #to " " #act
/* Hits tacit:machine with an id and the row's text. */
#define PROBE_ROW(machine, id, row) STAP_PROBE2(tacit, machine, (id), (row)->probe)
/* The same with a side between them. */
#define PROBE_SIDE(machine, id, side, row) STAP_PROBE3(tacit, machine, (id), (side), (row)->probe)
#else
#define PROBE_MEMBER
#define PROBE_VALUE(st, ev, to, act)
#define PROBE_ROW(machine, id, row) ((void)0)
#define PROBE_SIDE(machine, id, side, row) ((void)0)
#endif

#endif
