// What the daemon needs from the system beyond Swift's module of the C library.
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

/// Adds or changes a descriptor. `struct epoll_event` is packed, so only C accesses it.
static inline int busEpollControl(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = { .events = events, .data = { .u64 = token } };
    return epoll_ctl(epoll, operation, descriptor, &event);
}

/// The maximum number of events that `busEpollWait` returns.
enum { busEpollEventLimit = 64 };

/// Waits for events, and stores the token and the events of each descriptor. Returns their number, or -1.
static inline int busEpollWait(int epoll, uint64_t *tokens, uint32_t *events, int timeout) {
    struct epoll_event ready[busEpollEventLimit];
    int count = epoll_wait(epoll, ready, busEpollEventLimit, timeout);
    for (int index = 0; index < count; index++) {
        tokens[index] = ready[index].data.u64;
        events[index] = ready[index].events;
    }
    return count;
}

/// The state of the error that is not set, which is a macro in sd-bus.
static inline sd_bus_error busErrorNone(void) {
    sd_bus_error error = { NULL, NULL, 0 };
    return error;
}

/// Blocks two signals in this thread and the threads that it starts, and returns a descriptor that reports them.
static inline int busSignalDescriptor(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    sigaddset(&set, second);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
