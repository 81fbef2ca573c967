// polls FUNCTION COUNT: so many polls without patience of a pipe that has nothing, then one of a pipe that has a byte.
// Prints the milliseconds that the first took, and the results.
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static int ends[2], epoll;

static int poll_once(const char* function) {
  struct pollfd descriptor = {.fd = ends[0], .events = POLLIN};
  struct timespec none = {0, 0};
  struct epoll_event event;
  if (strcmp(function, "poll") == 0) return poll(&descriptor, 1, 0);
  if (strcmp(function, "ppoll") == 0) return ppoll(&descriptor, 1, &none, NULL);
  if (strcmp(function, "epoll_wait") == 0) return epoll_wait(epoll, &event, 1, 0);
  if (strcmp(function, "epoll_pwait") == 0) return epoll_pwait(epoll, &event, 1, 0, NULL);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3 || pipe(ends) != 0 || (epoll = epoll_create1(0)) < 0) return 1;
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) != 0) return 1;
  struct timespec start, end;
  int found = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < atoi(argv[2]); ++i) found += poll_once(argv[1]);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (write(ends[1], "", 1) != 1) return 1;
  const double ms = 1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec);
  printf("%.3f %d %d\n", ms, found, poll_once(argv[1]));
  return 0;
}
