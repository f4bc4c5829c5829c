// H4 over a unix socket in large reads and writes, or over the kernel's virtual adapter packet by packet.
#define _GNU_SOURCE  // ppoll
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int descriptor = -1;
static bool is_virtual_adapter;
static uint8_t incoming[65536];
static size_t incoming_count;
static uint8_t outgoing[65536];
static size_t outgoing_count;

void fail(const char *problem) {
    fprintf(stderr, "peer: %s\n", problem);
    exit(1);
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void transport_create_adapter(void) {
    descriptor = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    // A vendor packet creates the adapter, and the kernel answers with another one, which has the adapter's number.
    const uint8_t creation[] = {0xFF, 0x00};
    uint8_t answer[4];
    if (descriptor < 0 || write(descriptor, creation, sizeof creation) < 0
        || read(descriptor, answer, sizeof answer) != sizeof answer) fail(strerror(errno));
    is_virtual_adapter = true;
}

void transport_listen(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = (size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s.new", path);
    if (length >= sizeof address.sun_path) fail("the path is too long");
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) {
        fail(strerror(errno));
    }
    // Under its name there is only a socket that can be connected to.
    if (rename(address.sun_path, path)) fail(strerror(errno));
    descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) fail(strerror(errno));
    close(listener);
    // The kernel doubles what it is given, and counts its own overhead as well.
    int size = (int)options.unread / 2;
    if (setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size)) fail(strerror(errno));
}

// The length of the packet from the host that begins here; 0 while its header has not been received.
static size_t packet_length(const uint8_t *bytes, size_t count) {
    if (count < 4) return 0;
    switch (bytes[0]) {
    case 0x01: return 4u + bytes[3];
    case 0x02: return count < 5 ? 0 : 5u + get16(bytes + 3);
    default: fail("received something that is neither a command nor ACL data");
    }
}

bool transport_receive(double deadline, void (*packet)(const uint8_t *bytes, size_t count)) {
    if (!isinf(deadline)) {
        double left = deadline - now();
        struct timespec timeout = {0};
        if (left > 0) {
            timeout.tv_sec = (time_t)left;
            timeout.tv_nsec = (long)((left - (double)timeout.tv_sec) * 1e9);
        }
        struct pollfd poll = {.fd = descriptor, .events = POLLIN};
        if (ppoll(&poll, 1, &timeout, NULL) == 0) return true;
    }
    ssize_t received = read(descriptor, incoming + incoming_count, sizeof incoming - incoming_count);
    if (received < 0 && errno != ECONNRESET) fail(strerror(errno));
    if (received <= 0) return false;
    incoming_count += (size_t)received;
    size_t start = 0;
    for (;;) {
        size_t length = packet_length(incoming + start, incoming_count - start);
        if (length == 0 || length > incoming_count - start) break;
        packet(incoming + start, length);
        start += length;
    }
    incoming_count -= start;
    memmove(incoming, incoming + start, incoming_count);
    return true;
}

uint8_t *transport_append(size_t count) {
    if (outgoing_count + count > sizeof outgoing) transport_flush();
    uint8_t *room = outgoing + outgoing_count;
    outgoing_count += count;
    return room;
}

// The length of a whole packet to the host.
static size_t sent_length(const uint8_t *packet) { return packet[0] == 0x04 ? 3u + packet[2] : 5u + get16(packet + 3); }

void transport_flush(void) {
    size_t start = 0;
    while (start < outgoing_count) {
        const uint8_t *next = outgoing + start;
        ssize_t sent = is_virtual_adapter ? write(descriptor, next, sent_length(next))
                                          : send(descriptor, next, outgoing_count - start, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) break;
        if (sent < 0) fail(strerror(errno));
        start += (size_t)sent;
    }
    outgoing_count = 0;
}
