// A controller and the device behind it, as bytes on a socket: what main.c describes.
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum work { NOTIFICATION, WRITE, NOTIFY, READ, REPORT, CHANNEL_WRITE, CHANNEL_READ };

struct options {
    enum work work;
    uint32_t count;      // operations in all
    uint32_t round;      // notifications between two writes of the program under test
    uint32_t burst;      // notifications, reports or K-frames in one write to the socket
    uint32_t rate;       // reports or notifications a second; 0 sends them as fast as the socket takes them
    uint32_t devices;    // advertisers the reports are from
    uint32_t constant;   // whether each of them always reports the same
    uint32_t repeat;     // how often each of them reports the same before it reports something else
    uint32_t delay;      // milliseconds from the start of a scan to the first report
    uint32_t bthome;     // whether they report values in BTHome's format
    uint32_t buffers;    // ACL buffers of the controller
    uint32_t length;     // octets of each
    uint32_t completed;  // ACL packets that one Number Of Completed Packets event tells of
    uint32_t window;     // K-frames that the host may send over a channel before it gets more credits
    uint32_t unread;     // size of the socket's send buffer, in octets
};

extern struct options options;

// transport.c: one connection, and the bytes on their way into it.
void transport_listen(const char *path);
// Instead of a connection: the kernel's virtual adapter.
void transport_create_adapter(void);
// Waits for bytes until a time of the monotonic clock, in seconds; for ever where it is infinite. False at the end.
bool transport_receive(double deadline, void (*packet)(const uint8_t *bytes, size_t count));
// Room for a packet of so many octets, which is sent by the next flush.
uint8_t *transport_append(size_t count);
void transport_flush(void);
double now(void);
_Noreturn void fail(const char *problem);

// controller.c: HCI.
enum { CONNECTION = 0x0040 };
void controller_receive_command(const uint8_t *packet);
void controller_receive_acl(const uint8_t *packet, size_t count);
// One advertising report: an index of 0 and above is a device's, and the others say what they are.
enum { CONNECTABLE = -1, SCAN_RESPONSE = -2, LAST_REPORT = -3 };
void controller_report(int device, uint32_t number);
// An L2CAP frame for a channel, whose payload is still to be filled in.
uint8_t *controller_append_frame(uint16_t channel, size_t count);
extern bool is_scanning, is_connected;

// gatt.c: the peer's server, and its client.
enum { VALUE_LENGTH = 20 };
void gatt_connected(void);
void gatt_receive(const uint8_t *pdu, size_t count);
void gatt_notify(uint32_t number);
void gatt_end_subscription(void);

// channel.c: a service over a credit-based channel.
enum { BLOCK_LENGTH = 1024 };
void channel_receive_command(const uint8_t *command, size_t count);
void channel_receive(uint16_t endpoint, const uint8_t *payload, size_t count);
// Octets to be sent, and whether the host has given credits for the next K-frame.
void channel_send(uint64_t count);
bool channel_can_send(void);
void channel_send_frame(void);

// main.c: what is done with all that.
void work_take_write(void);
void work_receive_value(void);
void work_answer_read(void);
void work_subscribe(void);
void work_begin_channel(void);
void work_receive_blocks(void);

static inline void put64(uint8_t *bytes, uint64_t value) {
    for (int index = 0; index < 8; index++) bytes[index] = (uint8_t)(value >> 8 * index);
}

static inline uint16_t get16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static inline void put16(uint8_t *bytes, unsigned value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

static inline void put32(uint8_t *bytes, uint32_t value) {
    put16(bytes, value);
    put16(bytes + 2, value >> 16);
}

#endif
