/*
 * Histograms of times.
 * LATENCY_KIND(id, name, help): a time that is measured; metrics have its name.
 * LATENCY_BOUND(us, seconds): a bucket holds times up to this many microseconds; the same number as
 * it is written in metrics. In ascending order; one more bucket holds what is longer.
 */
#ifdef LATENCY_KIND
LATENCY_KIND(QUEUE, "queue", "Time in the queue")
LATENCY_KIND(CONNECT, "connect", "Time to connect to a server")
LATENCY_KIND(RESPONSE, "response", "Time until the head of the response")
LATENCY_KIND(TOTAL, "total", "Time from the request to the end of the response")
#endif

#ifdef LATENCY_BOUND
LATENCY_BOUND(50, "0.00005")
LATENCY_BOUND(100, "0.0001")
LATENCY_BOUND(250, "0.00025")
LATENCY_BOUND(500, "0.0005")
LATENCY_BOUND(1000, "0.001")
LATENCY_BOUND(2500, "0.0025")
LATENCY_BOUND(5000, "0.005")
LATENCY_BOUND(10000, "0.01")
LATENCY_BOUND(25000, "0.025")
LATENCY_BOUND(50000, "0.05")
LATENCY_BOUND(100000, "0.1")
LATENCY_BOUND(250000, "0.25")
LATENCY_BOUND(500000, "0.5")
LATENCY_BOUND(1000000, "1")
LATENCY_BOUND(2500000, "2.5")
LATENCY_BOUND(5000000, "5")
LATENCY_BOUND(10000000, "10")
LATENCY_BOUND(25000000, "25")
LATENCY_BOUND(50000000, "50")
LATENCY_BOUND(100000000, "100")
LATENCY_BOUND(250000000, "250")
#endif
