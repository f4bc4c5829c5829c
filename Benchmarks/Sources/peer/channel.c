// The device's service over a credit-based channel (Core 5.4, Vol 3, Part A, 3.4, 4.22 to 4.24 and 10.1). It takes
// blocks of octets, or sends them as SDUs. Each octet of the stream is its position modulo 256.
#include "peer.h"

#include <string.h>

enum { PSM = 0x80, ENDPOINT = 0x40, MTU = 2048, MPS = 247 };

static uint16_t host_endpoint, host_mps;
static uint32_t credits;        // K-frames that may be sent
static uint32_t host_credits;   // K-frames that the host may send
static uint32_t missing;        // octets of the SDU that is being received
static uint64_t received;       // octets
static uint64_t sent, to_send;  // octets
static uint32_t unsent;         // octets of the SDU that is being sent

static uint8_t pattern[256 + MPS];

static uint8_t *signal(uint8_t code, uint8_t identifier, size_t count) {
    uint8_t *command = controller_append_frame(0x0005, 4 + count);
    command[0] = code;
    command[1] = identifier;
    put16(command + 2, (unsigned)count);
    return command + 4;
}

static void give_credits(void) {
    uint8_t *parameters = signal(0x16, 1, 4);
    put16(parameters, ENDPOINT);
    put16(parameters + 2, options.window - host_credits);
    host_credits = options.window;
}

void channel_receive_command(const uint8_t *command, size_t count) {
    if (count < 4 || count < 4u + get16(command + 2)) fail("received a signalling command that is too short");
    const uint8_t *parameters = command + 4;
    size_t length = get16(command + 2);
    if (command[0] == 0x14 && length == 10) {  // LE Credit Based Connection Request
        bool is_offered = get16(parameters) == PSM;
        host_endpoint = get16(parameters + 2);
        host_mps = get16(parameters + 6);
        credits = get16(parameters + 8);
        host_credits = options.window;
        missing = unsent = 0;
        for (size_t index = 0; index < sizeof pattern; index++) pattern[index] = (uint8_t)index;
        uint8_t *answer = signal(0x15, command[1], 10);
        memset(answer, 0, 10);
        put16(answer + 8, is_offered ? 0 : 2);
        if (!is_offered) return;
        put16(answer, ENDPOINT);
        put16(answer + 2, MTU);
        put16(answer + 4, MPS);
        put16(answer + 6, options.window);
    } else if (command[0] == 0x16 && length == 4) {  // Flow Control Credit
        credits += get16(parameters + 2);
    } else if (command[0] == 0x06 && length == 4) {  // Disconnection Request
        memcpy(signal(0x07, command[1], 4), parameters, 4);
    }
}

void channel_receive(uint16_t endpoint, const uint8_t *payload, size_t count) {
    if (endpoint != ENDPOINT || host_credits-- == 0) fail("received a K-frame without a channel or a credit");
    if (count > MPS) fail("received a K-frame that is too long");
    if (missing == 0) {
        if (count < 2 || get16(payload) > MTU) fail("received an SDU that is too long");
        missing = get16(payload);
        payload += 2;
        count -= 2;
    }
    if (count > missing) fail("received more than the SDU");
    missing -= (uint32_t)count;
    bool is_expected = options.work == CHANNEL_READ || memcmp(payload, pattern + received % 256, count) == 0;
    if (!is_expected) fail("received other octets than were expected");
    if (received == 0) work_begin_channel();
    received += count;
    if (host_credits <= options.window / 2) give_credits();
    if (options.work == CHANNEL_WRITE && received == (uint64_t)options.count * BLOCK_LENGTH) work_receive_blocks();
}

void channel_send(uint64_t count) { to_send += count; }

bool channel_can_send(void) { return credits > 0 && sent < to_send; }

// The next K-frame. SDUs have the length of a block.
void channel_send_frame(void) {
    bool is_first = unsent == 0;
    if (is_first) unsent = to_send - sent < BLOCK_LENGTH ? (uint32_t)(to_send - sent) : BLOCK_LENGTH;
    uint32_t header = is_first ? 2 : 0, most = host_mps < MPS ? host_mps : MPS;
    uint32_t count = unsent < most - header ? unsent : most - header;
    uint8_t *payload = controller_append_frame(host_endpoint, header + count);
    if (is_first) put16(payload, unsent);
    memcpy(payload + header, pattern + sent % 256, count);
    unsent -= count;
    sent += count;
    credits--;
}
