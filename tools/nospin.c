/* libstretto_nospin.so, for LD_PRELOAD: idle MPI ranks sleep in the kernel.
 *
 * MPI libraries poll their sockets without pause, each rank on a core of its own. Where the ranks of an emulated
 * cluster share a few cores, those that only wait take the time of those that work. Here a poll without patience
 * (timeout 0) that follows upon several without a result first sleeps until something is ready or a limit is over, and
 * is then made as it was asked for: its result is the system's own, just later. What wakes a rank is the message
 * itself, so a message is not late by more than it takes to wake up. What is not seen by the poll is late by the limit
 * at most: messages through shared memory, and work between calls such as MPI_Test in a program that computes
 * meanwhile.
 *
 * The same is done to oversubscribed nodes by mpi_yield_when_idle of Open MPI, whose ranks stay runnable and take
 * turns, and by the libraries' own blocking modes, which not all have (MVAPICH's MV2_USE_BLOCKING; MPICH's ch3:sock).
 *
 *   STRETTO_NOSPIN_POLLS  polls without a result before the first sleep (default 4)
 *   STRETTO_NOSPIN_US     the limit of a sleep in microseconds (default 1000)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

/* The next in the order of loading, so that other interposers stay in the chain. */
static struct {
  int (*poll)(struct pollfd*, nfds_t, int);
  int (*ppoll)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*);
  int (*epoll_wait)(int, struct epoll_event*, int, int);
  int (*epoll_pwait)(int, struct epoll_event*, int, int, const sigset_t*);
} next;

static long polls_before_sleep = 4;
static struct timespec longest_sleep;
static __thread long idle_polls;

static long setting(const char* name, long otherwise) {
  const char* text = getenv(name);
  if (text == NULL || *text == '\0') return otherwise;
  char* end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno == 0 && *end == '\0' && value >= 0 && value <= 1000000) return value;
  fprintf(stderr, "stretto: %s=%s: expected a number from 0 to 1000000\n", name, text);
  exit(2);
}

static void find_next(void) {
  next.poll = (int (*)(struct pollfd*, nfds_t, int))dlsym(RTLD_NEXT, "poll");
  next.ppoll = (int (*)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))dlsym(RTLD_NEXT, "ppoll");
  next.epoll_wait = (int (*)(int, struct epoll_event*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  next.epoll_pwait = (int (*)(int, struct epoll_event*, int, int, const sigset_t*))dlsym(RTLD_NEXT, "epoll_pwait");
}

__attribute__((constructor)) static void start(void) {
  find_next();
  polls_before_sleep = setting("STRETTO_NOSPIN_POLLS", polls_before_sleep);
  const long limit_us = setting("STRETTO_NOSPIN_US", 1000);
  longest_sleep.tv_sec = limit_us / 1000000;
  longest_sleep.tv_nsec = limit_us % 1000000 * 1000;
  prctl(PR_SET_TIMERSLACK, 1000UL); /* sleeps end within 1 us of their time, not 50 */
}

/* Others' constructors may poll before ours has run. */
static void ready(void) {
  if (next.ppoll == NULL) find_next();
}

/* Sleep if this poll is one of many. A signal ends it, too: the poll itself then says what is to be said. */
static void sleep_if_idle(struct pollfd* descriptors, nfds_t count, const sigset_t* mask) {
  if (idle_polls < polls_before_sleep) return;
  const int error = errno;
  next.ppoll(descriptors, count, &longest_sleep, mask);
  errno = error;
}

static int noted(int result) {
  idle_polls = result == 0 ? idle_polls + 1 : 0;
  return result;
}

/* An epoll descriptor is itself ready when something in it is; poll can wait for it, and in units below 1 ms. */
static void sleep_if_idle_on(int epoll, const sigset_t* mask) {
  struct pollfd descriptor = {.fd = epoll, .events = POLLIN};
  sleep_if_idle(&descriptor, 1, mask);
}

EXPORTED int poll(struct pollfd* descriptors, nfds_t count, int timeout_ms) {
  ready();
  if (timeout_ms != 0) return next.poll(descriptors, count, timeout_ms);
  sleep_if_idle(descriptors, count, NULL);
  return noted(next.poll(descriptors, count, 0));
}

EXPORTED int ppoll(struct pollfd* descriptors, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  ready();
  if (timeout == NULL || timeout->tv_sec != 0 || timeout->tv_nsec != 0) {
    return next.ppoll(descriptors, count, timeout, mask);
  }
  sleep_if_idle(descriptors, count, mask);
  return noted(next.ppoll(descriptors, count, timeout, mask));
}

EXPORTED int epoll_wait(int epoll, struct epoll_event* events, int capacity, int timeout_ms) {
  ready();
  if (timeout_ms != 0) return next.epoll_wait(epoll, events, capacity, timeout_ms);
  sleep_if_idle_on(epoll, NULL);
  return noted(next.epoll_wait(epoll, events, capacity, 0));
}

EXPORTED int epoll_pwait(int epoll, struct epoll_event* events, int capacity, int timeout_ms, const sigset_t* mask) {
  ready();
  if (timeout_ms != 0) return next.epoll_pwait(epoll, events, capacity, timeout_ms, mask);
  sleep_if_idle_on(epoll, mask);
  return noted(next.epoll_pwait(epoll, events, capacity, 0, mask));
}
