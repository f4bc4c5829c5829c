// bare PATH notification|write|notify|read|report|channel-write|channel-read COUNT [ROUND [woken]]
//
// The least that a host can do: what `faces` does, against the same peer, in a loop that knows the answers beforehand,
// with one system call for each frame it sends. It shows how fast the peer is, and prints the same line as `faces`.
//
// With `woken`, it makes the system calls that a host with a separate thread cannot avoid: it waits for the socket with
// epoll, reads, and wakes another thread, which takes the value.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { VALUE = 3, VALUE_LENGTH = 20, MPS = 247, ENDPOINT = 0x40, BLOCK_LENGTH = 1024, WINDOW = 64 };

static int descriptor;
static const char *work;
static uint32_t count, at_a_time, done, free_buffers;
static bool is_sending, has_ended;
static double start_time, start_used;
static long start_switches;

static _Noreturn void fail(const char *problem) {
    fprintf(stderr, "bare: %s\n", problem);
    exit(1);
}

static void mark(double *time, double *used, long *switches) {
    struct timespec clock;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    getrusage(RUSAGE_SELF, &usage);
    *time = (double)clock.tv_sec + (double)clock.tv_nsec / 1e9;
    *used = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    *switches = usage.ru_nvcsw + usage.ru_nivcsw;
}

static void begin(void) { mark(&start_time, &start_used, &start_switches); }

static void end(void) {
    double time, used;
    long switches;
    mark(&time, &used, &switches);
    printf("operations=%u seconds=%f cpu=%f switches=%ld lost=%u\n", done, time - start_time, used - start_used,
        switches - start_switches, count - done);
    has_ended = true;
}

static bool is(const char *name) { return strcmp(work, name) == 0; }

static void send_bytes(const uint8_t *bytes, size_t length) {
    if (send(descriptor, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) fail(strerror(errno));
}

// A frame with a payload of up to 247 octets.
static void send_frame(uint8_t channel, const uint8_t *payload, uint8_t length) {
    uint8_t packet[9 + MPS] = {0x02, 0x40, 0x00, (uint8_t)(length + 4), 0, length, 0, channel, 0};
    memcpy(packet + 9, payload, length);
    send_bytes(packet, 9u + length);
    free_buffers--;
}

static void send_att(const uint8_t *pdu, uint8_t length) { send_frame(0x04, pdu, length); }

static void ask_for_values(void) { send_att((uint8_t[]){0x52, VALUE, 0, 1}, 4); }
static void read_value(void) { send_att((uint8_t[]){0x0A, VALUE, 0}, 3); }

// Writes or notifications, as many as the controller has room for.
static void send_values(void) {
    uint8_t pdu[3 + VALUE_LENGTH] = {is("write") ? 0x52 : 0x1B, VALUE};
    while (is_sending && free_buffers > 0 && done < count) {
        send_att(pdu, sizeof pdu);
        done++;
    }
    if (done < count || free_buffers == 0) return;
    is_sending = false;
    if (is("write")) read_value();
}

// MARK: A channel

static uint32_t channel_credits, peer_credits, sdu_sent;
static uint64_t octets_received;

static void open_channel(void) {
    send_frame(0x05, (uint8_t[]){0x14, 1, 10, 0, 0x80, 0, ENDPOINT, 0, 0x00, 0x08, MPS, 0, WINDOW, 0}, 14);
    peer_credits = WINDOW;
}

// The next K-frame of a block, each octet of which is its position modulo 256.
static void send_block_part(void) {
    uint8_t payload[MPS] = {BLOCK_LENGTH & 0xFF, BLOCK_LENGTH >> 8};
    uint32_t header = sdu_sent == 0 ? 2 : 0, left = BLOCK_LENGTH - sdu_sent;
    uint32_t length = left < MPS - header ? left : MPS - header;
    for (uint32_t index = 0; index < length; index++) payload[header + index] = (uint8_t)(sdu_sent + index);
    send_frame(ENDPOINT, payload, (uint8_t)(header + length));
    channel_credits--;
    sdu_sent += length;
    if (sdu_sent < BLOCK_LENGTH) return;
    sdu_sent = 0;
    done++;
}

static void send_blocks(void) {
    while (is_sending && free_buffers > 0 && channel_credits > 0 && done < count) send_block_part();
}

static void receive_frame(uint32_t length) {
    if (is("channel-write")) return end();
    // Each SDU begins with its length, which is that of a block.
    octets_received += length - (octets_received % BLOCK_LENGTH == 0 ? 2 : 0);
    done = (uint32_t)(octets_received / BLOCK_LENGTH);
    if (done == count) return end();
    if (--peer_credits > WINDOW / 2) return;
    send_frame(0x05, (uint8_t[]){0x16, 1, 4, 0, ENDPOINT, 0, (uint8_t)(WINDOW - peer_credits), 0}, 8);
    peer_credits = WINDOW;
}

static void receive_command(const uint8_t *command) {
    if (command[0] == 0x16) channel_credits += command[6] | (uint32_t)command[7] << 8;
    if (command[0] != 0x15) return;
    channel_credits = command[10] | (uint32_t)command[11] << 8;
    begin();
    is_sending = is("channel-write");
    // The peer waits for an octet before it sends.
    if (!is_sending) send_frame(ENDPOINT, (uint8_t[]){1, 0, 1}, 3);
}

static void connected(bool is_central) {
    if (!is_central) return;
    if (is("channel-write") || is("channel-read")) return open_channel();
    begin();
    if (is("notification")) ask_for_values();
    if (is("read")) read_value();
    is_sending = is("write");
}

// MARK: Another thread that takes the values

enum { HELD = 1024 };  // A power of two. The values are so far apart that there is never more than one.
static uint8_t held_values[HELD][VALUE_LENGTH];
static sem_t held;
static uint64_t *latencies;
static bool is_woken;

static int compare(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static void *take_values(void *unused) {
    (void)unused;
    for (; done < count; done++) {
        sem_wait(&held);
        uint64_t sent;
        memcpy(&sent, held_values[done % HELD] + 8, sizeof sent);
        struct timespec clock;
        clock_gettime(CLOCK_MONOTONIC, &clock);
        latencies[done] = (uint64_t)clock.tv_sec * 1000000000 + (uint64_t)clock.tv_nsec - sent;
    }
    end();
    qsort(latencies, count, sizeof *latencies, compare);
    printf("median=%f late=%f\n", (double)latencies[count / 2] / 1000, (double)latencies[count - 1 - count / 100] / 1000);
    exit(0);
}

static void begin_taking(void) {
    pthread_t thread;
    latencies = calloc(count, sizeof *latencies);
    if (!latencies || sem_init(&held, 0, 0) || pthread_create(&thread, NULL, take_values, NULL)) fail("no thread");
}

static void hold_value(const uint8_t *value) {
    static uint32_t received;
    memcpy(held_values[received++ % HELD], value, VALUE_LENGTH);
    sem_post(&held);
}

static void receive_att(const uint8_t *pdu) {
    switch (pdu[0]) {
    case 0x1B: {
        if (is_woken) return hold_value(pdu + 3);
        uint32_t next;
        memcpy(&next, pdu + 3, sizeof next);
        done++;
        if (++next == count) return end();
        if (next % at_a_time == 0) ask_for_values();
        break;
    }
    case 0x0B:
        if (is("write") || ++done == count) return end();
        read_value();
        break;
    case 0x02: send_att((uint8_t[]){0x03, 247, 0}, 3); break;
    case 0x08: send_att((uint8_t[]){0x09, 7, VALUE - 1, 0, 0x10, VALUE, 0, 0x37, 0x2A}, 9); break;
    case 0x04: send_att((uint8_t[]){0x05, 1, VALUE + 1, 0, 0x02, 0x29}, 6); break;
    case 0x12:
        send_att((uint8_t[]){0x13}, 1);
        is_sending = pdu[3] == 1;
        if (is_sending) begin(); else end();
        break;
    default: break;
    }
}

static void receive_event(const uint8_t *event) {
    const uint8_t *parameters = event + 2;
    if (event[0] == 0x0E && parameters[2] == 0x20 && parameters[1] == 0x02) {
        free_buffers = parameters[6];
        if (is("report")) begin();
        if (is("report")) return send_bytes((uint8_t[]){0x01, 0x0C, 0x20, 2, 1, 0}, 6);
        if (is("notify")) return send_bytes((uint8_t[]){0x01, 0x0A, 0x20, 1, 1}, 5);
        uint8_t create_connection[29] = {0x01, 0x0D, 0x20, 25};
        send_bytes(create_connection, sizeof create_connection);
    } else if (event[0] == 0x13) {
        free_buffers += parameters[3];
    } else if (event[0] == 0x3E && parameters[0] == 0x01) {
        connected(parameters[4] == 0);
    } else if (event[0] == 0x3E && parameters[0] == 0x02 && !has_ended) {
        bool is_last = parameters[event[1] - 1] == 0;
        if (is_last) end(); else done++;
    }
}

int main(int argument_count, char **arguments) {
    if (argument_count < 4) fail("usage: bare PATH WORK COUNT [ROUND]");
    work = arguments[2];
    count = (uint32_t)strtoul(arguments[3], NULL, 10);
    at_a_time = argument_count > 4 ? (uint32_t)strtoul(arguments[4], NULL, 10) : count;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(arguments[1]) >= sizeof address.sun_path || count == 0 || at_a_time == 0) fail("an argument is wrong");
    strcpy(address.sun_path, arguments[1]);
    descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address)) fail(strerror(errno));
    is_woken = argument_count > 5 && strcmp(arguments[5], "woken") == 0;
    if (is_woken) begin_taking();
    int poll = epoll_create1(0);
    struct epoll_event interest = {.events = EPOLLIN}, ready;
    if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &interest)) fail(strerror(errno));
    send_bytes((uint8_t[]){0x01, 0x02, 0x20, 0}, 4);  // LE Read Buffer Size

    static uint8_t bytes[65536];
    for (size_t held = 0; !has_ended;) {
        if (is_woken && epoll_wait(poll, &ready, 1, -1) < 0) fail(strerror(errno));
        ssize_t received = read(descriptor, bytes + held, sizeof bytes - held);
        if (received <= 0) fail("the peer has gone");
        held += (size_t)received;
        size_t first = 0;
        while (held - first >= 5) {
            const uint8_t *packet = bytes + first;
            bool is_event = packet[0] == 0x04;
            size_t length = is_event ? 3u + packet[2] : 5u + packet[3];
            if (length > held - first) break;
            if (is_event) {
                receive_event(packet + 1);
            } else if (packet[7] == 0x04) {
                receive_att(packet + 9);
            } else if (packet[7] == 0x05) {
                receive_command(packet + 9);
            } else {
                receive_frame(packet[5]);
            }
            first += length;
        }
        held -= first;
        memmove(bytes, bytes + first, held);
        if (is("channel-write")) send_blocks(); else send_values();
    }
    return 0;
}
