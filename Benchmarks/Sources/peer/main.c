// peer [OPTIONS] PATH WORK COUNT
//
// The other end of a benchmark: a controller and the device behind it, in a process of their own, as raw HCI (H4) on
// the unix socket PATH. The host under test connects to it as `unix-client:PATH`. If PATH is `vhci`, the kernel gets the
// controller as an adapter. WORK is one of
//
//   notification   after each write of the host, notifies it of up to --round values, until there were COUNT
//   write          takes COUNT writes without response, and answers the read behind them
//   notify         connects to the host when it advertises, subscribes, takes COUNT notifications, unsubscribes
//   read           answers COUNT reads
//   report         when the host scans, reports COUNT advertising events, then one with 0 dBm
//   channel-write  takes COUNT blocks of 1,024 octets over a channel, then sends an octet
//   channel-read   after the host has written to a channel, sends it COUNT blocks, in SDUs of one block
//
// At the end of the connection it prints how much of the time, in percent, it used a processor, and how many operations
// a second it would be capable of if it did so all the time.
#include "peer.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct options options = {
    .round = 4000, .burst = 16, .devices = 64, .buffers = 16, .length = 251, .completed = 4,
    .window = 64, .unread = 65536,
};

static uint32_t done;       // operations
static uint32_t owed;       // notifications of this round that are still to be sent
static double due;          // when something is to be sent without having been asked for
static double begin_time, end_time, begin_used, end_used;

static double processor_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void begin(void) {
    begin_time = now();
    begin_used = processor_time();
}

static void end(void) {
    end_time = now();
    end_used = processor_time();
}

// MARK: What the host does

void work_take_write(void) {
    if (options.work == NOTIFICATION) {
        if (done == 0) begin();
        uint32_t left = options.count - done;
        owed = left < options.round ? left : options.round;
        due = now();
    } else if (options.work == WRITE && done++ == 0) {
        begin();
    }
}

void work_answer_read(void) {
    if (options.work == READ && done++ == 0) begin();
    if ((options.work == READ && done == options.count) || options.work == WRITE) end();
}

void work_subscribe(void) { begin(); }

void work_begin_channel(void) {
    begin();
    if (options.work == CHANNEL_READ) channel_send((uint64_t)options.count * BLOCK_LENGTH);
}

void work_receive_blocks(void) {
    end();
    channel_send(1);
}

void work_receive_value(void) {
    if (++done != options.count) return;
    end();
    gatt_end_subscription();
}

static void receive(const uint8_t *packet, size_t count) {
    bool was_scanning = is_scanning;
    if (packet[0] == 0x01) {
        controller_receive_command(packet);
    } else {
        controller_receive_acl(packet, count);
    }
    if (is_scanning && !was_scanning) due = now() + options.delay / 1000.0;
    if (is_scanning && !was_scanning && options.work == REPORT && done == 0) begin();
}

// MARK: What is sent to it

static bool is_paced(void) { return options.work == NOTIFICATION && options.rate > 0; }

static void send_round(void) {
    while (owed > 0 && (!is_paced() || now() >= due)) {
        for (uint32_t sent = 0; sent < options.burst && owed > 0; sent++, owed--) gatt_notify(done++);
        transport_flush();
        // A peer that was late does not catch up, because that would be several values for one wake-up.
        if (is_paced()) due = fmax(due + (double)options.burst / options.rate, now());
    }
    if (owed == 0 && done == options.count) end();
}

static void send_frames(void) {
    while (channel_can_send()) {
        for (uint32_t count = 0; count < options.burst && channel_can_send(); count++) channel_send_frame();
        transport_flush();
    }
    if (options.work == CHANNEL_READ) end();
}

static void send_reports(void) {
    if (done == options.count) {
        controller_report(LAST_REPORT, 0);
        due += 0.02;
        return transport_flush();
    }
    for (uint32_t sent = 0; sent < options.burst && done < options.count; sent++, done++) {
        uint32_t number = options.repeat ? done / options.devices / options.repeat : done;
        controller_report((int)(done % options.devices), options.constant ? 0 : number);
    }
    transport_flush();
    if (options.rate > 0) due += (double)options.burst / options.rate;
    if (done < options.count) return;
    end();
    // The host is given time to take all of them before it learns that there are no more.
    due = now() + 0.1;
}

static void advertise(void) {
    controller_report(CONNECTABLE, 0);
    controller_report(SCAN_RESPONSE, 0);
    transport_flush();
    due = now() + 0.01;
}

// MARK: Beginning and end

static uint32_t number(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value > 1000000000) fail("a number was expected");
    return (uint32_t)value;
}

static const char *parse(int count, char **arguments) {
    static const struct option names[] = {
        {"round", required_argument, NULL, 'r'},   {"burst", required_argument, NULL, 'b'},
        {"rate", required_argument, NULL, 's'},    {"devices", required_argument, NULL, 'd'},
        {"buffers", required_argument, NULL, 'n'}, {"length", required_argument, NULL, 'l'},
        {"completed", required_argument, NULL, 'c'}, {"unread", required_argument, NULL, 'u'},
        {"constant", required_argument, NULL, 'k'},  {"repeat", required_argument, NULL, 'p'},
        {"bthome", required_argument, NULL, 't'},    {"delay", required_argument, NULL, 'w'},
        {"window", required_argument, NULL, 'W'},    {0},
    };
    uint32_t *const fields[] = {
        &options.round, &options.burst, &options.rate, &options.devices,
        &options.buffers, &options.length, &options.completed, &options.unread, &options.constant,
        &options.repeat, &options.bthome, &options.delay, &options.window,
    };
    static const char *const works[] = {
        "notification", "write", "notify", "read", "report", "channel-write", "channel-read",
    };
    for (int name, index; (name = getopt_long(count, arguments, "", names, &index)) != -1;) {
        if (name == '?') exit(2);
        *fields[index] = number(optarg);
    }
    if (count - optind != 3) fail("usage: peer [OPTIONS] PATH WORK COUNT");
    int work = 0;
    while (work <= CHANNEL_READ && strcmp(works[work], arguments[optind + 1]) != 0) work++;
    options.work = (enum work)work;
    options.count = number(arguments[optind + 2]);
    bool is_valid = work <= CHANNEL_READ && options.count > 0 && options.round > 0 && options.burst > 0
        && options.devices > 0 && options.devices <= 0xFE00 && options.buffers > 0 && options.buffers < 256
        && options.length >= 27 && options.length <= 0xFFFF && options.completed > 0 && options.completed <= options.buffers
        && options.window > 0 && options.window <= 0xFFFF;
    if (!is_valid) fail("an argument is out of its range");
    return arguments[optind];
}

int main(int count, char **arguments) {
    const char *path = parse(count, arguments);
    strcmp(path, "vhci") == 0 ? transport_create_adapter() : transport_listen(path);
    for (;;) {
        bool is_timed = is_scanning || (is_paced() && owed > 0);
        if (!transport_receive(is_timed ? due : INFINITY, receive)) break;
        transport_flush();
        if (owed > 0) send_round();
        if (channel_can_send()) send_frames();
        if (is_scanning && now() >= due) options.work == REPORT ? send_reports() : advertise();
    }
    if (end_time == 0) fail("the host has gone before the end");
    double used = end_used - begin_used;
    printf("busy=%.1f capable=%.0f\n", 100 * used / (end_time - begin_time), options.count / fmax(used, 1e-6));
    return 0;
}
