// The device's GATT server, which has one service with one characteristic, and its client, which subscribes to the
// characteristic that the host under test offers (Core 5.4, Vol 3, Parts F and G).
#include "peer.h"

#include <string.h>

enum { SERVICE = 0x180D, CHARACTERISTIC = 0x2A37, MTU = 247 };
// Of the server: the service, the characteristic, its value, and its Client Characteristic Configuration.
enum { DECLARATION = 1, CHARACTERISTIC_DECLARATION, VALUE, CONFIGURATION };
static const uint16_t types[] = {0, 0x2800, 0x2803, CHARACTERISTIC, 0x2902};
static uint8_t configuration[2];

// The host's characteristic.
static uint16_t value_handle, configuration_handle;

// MARK: Server

static uint8_t *respond(uint8_t opcode, size_t count) {
    uint8_t *pdu = controller_append_frame(0x0004, 1 + count);
    pdu[0] = opcode;
    return pdu + 1;
}

static void refuse(uint8_t request, uint16_t handle, uint8_t reason) {
    uint8_t *parameters = respond(0x01, 4);
    parameters[0] = request;
    put16(parameters + 1, handle);
    parameters[3] = reason;
}

// Writes the value of an attribute of the server, and returns its length.
static size_t value_of(uint16_t handle, uint8_t *value) {
    switch (handle) {
    case DECLARATION: put16(value, SERVICE); return 2;
    case CHARACTERISTIC_DECLARATION:  // Read, write with and without response, notify
        value[0] = 0x1E;
        put16(value + 1, VALUE);
        put16(value + 3, CHARACTERISTIC);
        return 5;
    case VALUE:
        for (uint8_t index = 0; index < VALUE_LENGTH; index++) value[index] = index;
        return VALUE_LENGTH;
    default: memcpy(value, configuration, 2); return 2;
    }
}

// The first attribute in the range a request names whose type is the one it names; 0 where there is none.
static uint16_t find(const uint8_t *range, uint16_t type) {
    for (uint16_t handle = DECLARATION; handle <= CONFIGURATION; handle++) {
        if (handle >= get16(range) && handle <= get16(range + 2) && types[handle] == type) return handle;
    }
    return 0;
}

static void answer_find_information(const uint8_t *range) {
    uint16_t first = get16(range) ? get16(range) : 1, last = get16(range + 2);
    if (last > CONFIGURATION) last = CONFIGURATION;
    if (first > last) return refuse(0x04, first, 0x0A);
    uint8_t *parameters = respond(0x05, 1 + 4u * (last - first + 1u));
    *parameters++ = 1;
    for (uint16_t handle = first; handle <= last; handle++, parameters += 4) {
        put16(parameters, handle);
        put16(parameters + 2, types[handle]);
    }
}

static void answer_read(const uint8_t *pdu, size_t count) {
    uint16_t handle = get16(pdu + 1);
    size_t offset = pdu[0] == 0x0C && count >= 5 ? get16(pdu + 3) : 0;
    if (handle < DECLARATION || handle > CONFIGURATION) return refuse(pdu[0], handle, 0x01);
    uint8_t value[VALUE_LENGTH];
    size_t length = value_of(handle, value);
    if (offset > length) return refuse(pdu[0], handle, 0x07);
    memcpy(respond(pdu[0] + 1, length - offset), value + offset, length - offset);
    if (handle == VALUE) work_answer_read();
}

// Read By Type and Read By Group Type, whose answers differ in one field.
static void answer_read_by_type(const uint8_t *pdu, size_t count) {
    bool is_group = pdu[0] == 0x10;
    uint16_t handle = count == 7 ? find(pdu + 1, get16(pdu + 5)) : 0;
    if (!handle) return refuse(pdu[0], get16(pdu + 1), 0x0A);
    uint8_t value[VALUE_LENGTH];
    size_t length = value_of(handle, value), header = is_group ? 4 : 2;
    uint8_t *parameters = respond(pdu[0] + 1, 1 + header + length);
    parameters[0] = (uint8_t)(header + length);
    put16(parameters + 1, handle);
    if (is_group) put16(parameters + 3, CONFIGURATION);
    memcpy(parameters + 1 + header, value, length);
}

static void answer_find_by_type_value(const uint8_t *pdu, size_t count) {
    bool is_found = count == 9 && get16(pdu + 5) == 0x2800 && get16(pdu + 7) == SERVICE && find(pdu + 1, 0x2800);
    if (!is_found) return refuse(pdu[0], get16(pdu + 1), 0x0A);
    uint8_t *parameters = respond(0x07, 4);
    put16(parameters, DECLARATION);
    put16(parameters + 2, CONFIGURATION);
}

static void take_write(const uint8_t *pdu, size_t count) {
    if (get16(pdu + 1) == CONFIGURATION && count >= 5) memcpy(configuration, pdu + 3, 2);
    if (pdu[0] == 0x12) respond(0x13, 0);
    if (get16(pdu + 1) == VALUE) work_take_write();
}

void gatt_notify(uint32_t number) {
    uint8_t *parameters = respond(0x1B, 2 + VALUE_LENGTH);
    put16(parameters, VALUE);
    memset(parameters + 2, 0, VALUE_LENGTH);
    put32(parameters + 2, number);
    // When it was sent, in nanoseconds of the monotonic clock.
    put64(parameters + 2 + 8, (uint64_t)(now() * 1e9));
}

// MARK: Client

void gatt_connected(void) {
    put16(respond(0x02, 2), MTU);
}

static void write_configuration(uint16_t value) {
    uint8_t *parameters = respond(0x12, 4);
    put16(parameters, configuration_handle);
    put16(parameters + 2, value);
}

void gatt_end_subscription(void) { write_configuration(0); }

static void find_characteristic(uint16_t first) {
    uint8_t *parameters = respond(0x08, 6);
    put16(parameters, first);
    put16(parameters + 2, 0xFFFF);
    put16(parameters + 4, 0x2803);
}

static void take_characteristics(const uint8_t *pdu, size_t count) {
    size_t length = pdu[1];
    uint16_t last = 0;
    for (const uint8_t *entry = pdu + 2; length >= 7 && entry + length <= pdu + count; entry += length) {
        last = get16(entry + 3);
        if (length != 7 || get16(entry + 5) != CHARACTERISTIC) continue;
        value_handle = last;
        uint8_t *parameters = respond(0x04, 4);
        put16(parameters, value_handle + 1u);
        put16(parameters + 2, 0xFFFF);
        return;
    }
    find_characteristic(last + 1);
}

static void take_descriptors(const uint8_t *pdu, size_t count) {
    for (const uint8_t *entry = pdu + 2; pdu[1] == 1 && entry + 4 <= pdu + count; entry += 4) {
        if (get16(entry + 2) != 0x2902) continue;
        configuration_handle = get16(entry);
        work_subscribe();
        return write_configuration(1);
    }
    fail("the characteristic cannot be subscribed to");
}

void gatt_receive(const uint8_t *pdu, size_t count) {
    static const uint8_t shortest[] = {
        [0x02] = 3, [0x03] = 3, [0x04] = 5, [0x05] = 6, [0x06] = 7, [0x08] = 7, [0x09] = 9,
        [0x0A] = 3, [0x0C] = 5, [0x10] = 7, [0x12] = 3, [0x1B] = 3, [0x52] = 3,
    };
    if (pdu[0] < sizeof shortest && count < shortest[pdu[0]]) fail("received an ATT PDU that is too short");
    switch (pdu[0]) {
    case 0x1B:
        if (get16(pdu + 1) == value_handle && count == 3 + VALUE_LENGTH) work_receive_value();
        break;
    case 0x52: take_write(pdu, count); break;
    case 0x0A:
    case 0x0C: answer_read(pdu, count); break;
    case 0x01:
        if (pdu[1] == 0x08 || pdu[1] == 0x04) fail("the host has no such characteristic");
        break;
    case 0x02: put16(respond(0x03, 2), MTU); break;
    case 0x03: find_characteristic(1); break;
    case 0x04: answer_find_information(pdu + 1); break;
    case 0x05: take_descriptors(pdu, count); break;
    case 0x06: answer_find_by_type_value(pdu, count); break;
    case 0x08:
    case 0x10: answer_read_by_type(pdu, count); break;
    case 0x09: take_characteristics(pdu, count); break;
    case 0x12: take_write(pdu, count); break;
    case 0x13: break;
    default:
        // Whatever else wants an answer is not supported; commands, notifications and responses want none.
        if (!(pdu[0] & 0x41) && pdu[0] != 0x1E) refuse(pdu[0], 0, 0x06);
    }
}
