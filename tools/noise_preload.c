/* Noise for a program that has none of its own: preloaded, it takes the main thread out of what it does
 * STRETTO_NOISE_HZ times a second for STRETTO_NOISE_US microseconds (Luo 2018), each process from a moment of its own.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t detour_ns;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void make_detour(int signal_number) {
  (void)signal_number;
  const int64_t end = now_ns() + detour_ns;
  while (now_ns() < end) {
  }
}

static struct timespec as_timespec(double ns) {
  const time_t seconds = (time_t)(ns / 1e9);
  return (struct timespec){seconds, (long)(ns - 1e9 * (double)seconds)};
}

__attribute__((constructor)) static void begin(void) {
  const char* const hz = getenv("STRETTO_NOISE_HZ");
  const char* const us = getenv("STRETTO_NOISE_US");
  if (hz == NULL || us == NULL || atof(hz) <= 0) return;
  detour_ns = (int64_t)(1e3 * atof(us));
  struct sigaction action = {.sa_handler = make_detour, .sa_flags = SA_RESTART};
  sigaction(SIGRTMIN, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  const double period_ns = 1e9 / atof(hz);
  const double phase = (double)(getpid() * 7919L % 1000) / 1000;
  const struct itimerspec times = {as_timespec(period_ns), as_timespec(1 + phase * period_ns)};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &times, NULL) != 0)
    fprintf(stderr, "noise_preload: this system gives no timer\n");
}
