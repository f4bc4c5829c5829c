// What the transports need of the kernel's Bluetooth interface, and a few Linux calls that the C library's
// module lacks.
// Constants that the system headers write as function-like macros cannot be imported, hence the functions below.
//
// Some system headers belong to both this module and the C library's, and which of them provides a declaration depends on which
// was loaded first. So Swift files that call the system import both.

#ifndef CBLUETOOTHHCI_SHIM_H
#define CBLUETOOTHHCI_SHIM_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#if !__has_include(<bluetooth/bluetooth.h>)
#error "the headers of libbluetooth are missing; install them: sudo apt install libbluetooth-dev"
#else

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>

// _GNU_SOURCE is not defined here, since the C library's module is compiled without it: the two would disagree about what is in
// some structures. What it would declare is declared here, or obtained in another way.
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);

// Enumerations in Glibc's headers and macros in Musl's, so that Swift would import them as different types.

static const int cbt_stream_socket = SOCK_STREAM;
static const int cbt_datagram_socket = SOCK_DGRAM;
static const int cbt_packet_socket = SOCK_SEQPACKET;
static const int cbt_raw_socket = SOCK_RAW;
/// Added to the type of a socket: it does not block and is not inherited by child processes.
static const int cbt_socket_flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
static const uint32_t cbt_epoll_in = EPOLLIN;
static const uint32_t cbt_epoll_out = EPOLLOUT;
/// The other end is gone, or something is wrong.
static const uint32_t cbt_epoll_over = EPOLLERR | EPOLLHUP;

/// The kernel's number for the calling thread, asked for once by each thread. Never inlined: code that a suspended task
/// goes on with on another thread must not keep the place of the first one's number.
__attribute__((noinline)) static int32_t cbt_thread_identifier(void) {
    static __thread int32_t identifier;
    if (identifier == 0) identifier = (int32_t)syscall(SYS_gettid);
    return identifier;
}

/// Names the calling thread. Only the first 15 bytes of the name count.
static inline void cbt_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/// Accepts a connection as a non-blocking socket that is not inherited by child processes.
static inline int cbt_accept(int fd) {
    return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Adapters. Each returns -1 and sets errno on failure; `fd` is any HCI socket that is not bound to a user channel.

/// Brings an adapter up, managed by the kernel's host stack.
static inline int cbt_adapter_up(int fd, uint16_t index) {
    return ioctl(fd, HCIDEVUP, (unsigned long)index);
}

/// Takes an adapter down.
static inline int cbt_adapter_down(int fd, uint16_t index) {
    return ioctl(fd, HCIDEVDOWN, (unsigned long)index);
}

/// Returns information about an adapter. Needs no privilege.
static inline int cbt_adapter_information(int fd, uint16_t index, struct hci_dev_info *info) {
    memset(info, 0, sizeof *info);
    info->dev_id = index;
    return ioctl(fd, HCIGETDEVINFO, info);
}

/// Lists the adapters present, at most HCI_MAX_DEV of them, and returns how many there are.
static inline int cbt_adapter_list(int fd, uint16_t indices[HCI_MAX_DEV]) {
    struct {
        uint16_t count;
        struct hci_dev_req requests[HCI_MAX_DEV];
    } list;
    memset(&list, 0, sizeof list);
    list.count = HCI_MAX_DEV;
    if (ioctl(fd, HCIGETDEVLIST, &list) < 0) return -1;
    int count = list.count < HCI_MAX_DEV ? list.count : HCI_MAX_DEV;
    for (int position = 0; position < count; position++) indices[position] = list.requests[position].dev_id;
    return count;
}

/// Receives a packet, and the time at which the kernel made it (SO_TIMESTAMP) in microseconds since 1970; now, if it does not
/// say. Returns the packet's length, also of one that was cut off, or -1 and sets errno.
static inline ssize_t cbt_receive_timed(int fd, void *bytes, size_t count, int64_t *microseconds) {
    struct iovec vector = {.iov_base = bytes, .iov_len = count};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct timeval))];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control,
    };
    ssize_t received = recvmsg(fd, &message, MSG_DONTWAIT | MSG_TRUNC);
    if (received < 0) return received;
    struct timeval time;
    gettimeofday(&time, NULL);
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMP) {
            memcpy(&time, CMSG_DATA(part), sizeof time);
        }
    }
    *microseconds = (int64_t)time.tv_sec * 1000000 + time.tv_usec;
    return received;
}

// Terminals. Arbitrary baud rates need struct termios2 of asm/termbits.h. That header declares its own struct termios
// and cannot be included with termios.h, so the structure and its two requests are declared here.

struct cbt_terminal {
    uint32_t input_flags, output_flags, control_flags, local_flags;
    uint8_t line_discipline;
    uint8_t control_characters[19];
    uint32_t input_speed, output_speed;
};

/// In control_flags: the baud rate is the number in output_speed.
static const uint32_t cbt_any_baud_rate = 0x00001000;
/// In control_flags: shift of the input baud rate.
static const uint32_t cbt_baud_rate_mask = 0x100F100F;
/// In control_flags: RTS/CTS flow control.
static const uint32_t cbt_flow_control = 0x80000000;

/// Reads a terminal's settings. Returns -1 and sets errno on failure, as the following do.
static inline int cbt_terminal_get(int fd, struct cbt_terminal *settings) {
    return ioctl(fd, _IOR('T', 0x2A, struct cbt_terminal), settings);
}

/// Changes a terminal's settings immediately.
static inline int cbt_terminal_set(int fd, const struct cbt_terminal *settings) {
    return ioctl(fd, _IOW('T', 0x2B, struct cbt_terminal), settings);
}

/// Prevents other programs from opening an open terminal, or allows it again.
static inline int cbt_terminal_set_exclusive(int fd, int is_exclusive) {
    return ioctl(fd, is_exclusive ? TIOCEXCL : TIOCNXCL);
}

/// Unlocks the other end of a new pseudo-terminal, and returns its number N, as in /dev/pts/N.
static inline int cbt_terminal_unlock(int fd) {
    int locked = 0;
    unsigned int number = 0;
    if (ioctl(fd, TIOCSPTLCK, &locked) < 0 || ioctl(fd, TIOCGPTN, &number) < 0) return -1;
    return (int)number;
}

// Filters of a raw HCI socket.

static inline void cbt_filter_clear(struct hci_filter *filter) { hci_filter_clear(filter); }
static inline void cbt_filter_accept_all_packets(struct hci_filter *filter) { hci_filter_all_ptypes(filter); }
static inline void cbt_filter_accept_all_events(struct hci_filter *filter) { hci_filter_all_events(filter); }
static inline void cbt_filter_accept_packet(int type, struct hci_filter *filter) { hci_filter_set_ptype(type, filter); }
static inline void cbt_filter_accept_event(int event, struct hci_filter *filter) { hci_filter_set_event(event, filter); }

#endif

#endif
