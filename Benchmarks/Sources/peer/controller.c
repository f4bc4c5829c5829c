// A controller with one link, as far as hosts ask (Core 5.4, Vol 4, Part E, 7). It supports legacy advertising and
// scanning and no optional features, so that every host under test takes the same way.
#include "peer.h"

#include <string.h>

bool is_scanning, is_connected;
static uint32_t completed;

static const uint8_t peer_address[6] = {0x01, 0x00, 0x00, 0xDE, 0xC0, 0x00};

static uint8_t *append_event(uint8_t code, size_t count) {
    uint8_t *packet = transport_append(3 + count);
    packet[0] = 0x04;
    packet[1] = code;
    packet[2] = (uint8_t)count;
    memset(packet + 3, 0, count);
    return packet + 3;
}

// Command Complete with status Success and room for so many octets behind it.
static uint8_t *complete(uint16_t opcode, size_t count) {
    uint8_t *parameters = append_event(0x0E, 4 + count);
    parameters[0] = 1;
    put16(parameters + 1, opcode);
    return parameters + 4;
}

static void report_status(uint16_t opcode) {
    uint8_t *parameters = append_event(0x0F, 4);
    parameters[1] = 1;
    put16(parameters + 2, opcode);
}

// LE Connection Complete (7.7.65.1), every 7.5 ms, with a supervision timeout of 20 s.
static void connect_to_host(uint8_t role) {
    uint8_t *parameters = append_event(0x3E, 19);
    parameters[0] = 0x01;
    put16(parameters + 2, CONNECTION);
    parameters[4] = role;
    memcpy(parameters + 6, peer_address, 6);
    put16(parameters + 12, 6);
    put16(parameters + 16, 2000);
    is_connected = true;
    is_scanning = false;
    completed = 0;
    if (role == 0x01) gatt_connected();
}

static void support_commands(uint8_t *octets) {
    static const uint8_t supported[][2] = {
        {0, 5},  {5, 6},  {5, 7},  {14, 3}, {14, 5}, {15, 1}, {15, 5}, {25, 0}, {25, 1}, {25, 2}, {25, 4}, {25, 5},
        {25, 7}, {26, 0}, {26, 1}, {26, 2}, {26, 3}, {26, 4}, {26, 5}, {26, 6}, {26, 7}, {27, 0}, {27, 1}, {27, 2},
        {27, 5},
    };
    for (size_t index = 0; index < sizeof supported / 2; index++) {
        octets[supported[index][0]] |= (uint8_t)(1 << supported[index][1]);
    }
}

void controller_receive_command(const uint8_t *packet) {
    uint16_t opcode = get16(packet + 1);
    const uint8_t *parameters = packet + 4;
    switch (opcode) {
    case 0x0C03:  // Reset
        is_scanning = is_connected = false;
        complete(opcode, 0);
        break;
    case 0x0C01:  // Set Event Mask
    case 0x2001:  // LE Set Event Mask
    case 0x2005:  // LE Set Random Address
    case 0x2006:  // LE Set Advertising Parameters
    case 0x2008:  // LE Set Advertising Data
    case 0x2009:  // LE Set Scan Response Data
    case 0x200B:  // LE Set Scan Parameters
    case 0x200E:  // LE Create Connection Cancel
    case 0x2010:  // LE Clear Filter Accept List
    case 0x2011:  // LE Add Device To Filter Accept List
    case 0x2012:  // LE Remove Device From Filter Accept List
        complete(opcode, 0);
        break;
    case 0x1001: {  // Read Local Version Information: Bluetooth 5.4, by nobody
        uint8_t *version = complete(opcode, 8);
        version[0] = version[3] = 0x0D;
        put16(version + 4, 0xFFFF);
        break;
    }
    case 0x1002:  // Read Local Supported Commands
        support_commands(complete(opcode, 64));
        break;
    case 0x1003:  // Read Local Supported Features: LE, and no BR/EDR
        complete(opcode, 8)[4] = 0x60;
        break;
    case 0x1009:  // Read BD_ADDR
        memcpy(complete(opcode, 6), (uint8_t[]){0x02, 0x00, 0x00, 0xDE, 0xC0, 0x00}, 6);
        break;
    case 0x1405:  // Read RSSI
        put16(complete(opcode, 3), CONNECTION);
        break;
    case 0x2002: {  // LE Read Buffer Size
        uint8_t *sizes = complete(opcode, 3);
        put16(sizes, options.length);
        sizes[2] = (uint8_t)options.buffers;
        break;
    }
    case 0x2003:  // LE Read Local Supported Features
    case 0x201C:  // LE Read Supported States
        complete(opcode, 8);
        break;
    case 0x200A:  // LE Set Advertising Enable
        complete(opcode, 0);
        if (parameters[0] && options.work == NOTIFY && !is_connected) connect_to_host(0x01);
        break;
    case 0x200C:  // LE Set Scan Enable
        is_scanning = parameters[0];
        complete(opcode, 0);
        break;
    case 0x200F:  // LE Read Filter Accept List Size
        *complete(opcode, 1) = 8;
        break;
    case 0x200D:  // LE Create Connection
        report_status(opcode);
        connect_to_host(0x00);
        break;
    case 0x2013: {  // LE Connection Update, which leaves the link as it is
        report_status(opcode);
        uint8_t *update = append_event(0x3E, 10);
        update[0] = 0x03;
        put16(update + 2, CONNECTION);
        put16(update + 4, 6);
        put16(update + 8, 2000);
        break;
    }
    case 0x2016: {  // LE Read Remote Features
        report_status(opcode);
        uint8_t *features = append_event(0x3E, 12);
        features[0] = 0x04;
        put16(features + 2, CONNECTION);
        break;
    }
    case 0x0406: {  // Disconnect
        report_status(opcode);
        uint8_t *disconnection = append_event(0x05, 4);
        put16(disconnection + 1, CONNECTION);
        disconnection[3] = 0x16;
        is_connected = false;
        break;
    }
    default:
        complete(opcode, 0)[-1] = 0x01;  // Unknown HCI Command
    }
}

// Counts the packet as sent, and takes its frame, which is never longer than one packet here.
void controller_receive_acl(const uint8_t *packet, size_t count) {
    if (!is_connected) return;
    if (++completed == options.completed) {
        uint8_t *parameters = append_event(0x13, 5);
        parameters[0] = 1;
        put16(parameters + 1, CONNECTION);
        put16(parameters + 3, completed);
        completed = 0;
    }
    if (count <= 9) return;
    uint16_t channel = get16(packet + 7);
    if (channel == 0x0004) gatt_receive(packet + 9, count - 9);
    if (channel == 0x0005) channel_receive_command(packet + 9, count - 9);
    if (channel >= 0x0040) channel_receive(channel, packet + 9, count - 9);
}

uint8_t *controller_append_frame(uint16_t channel, size_t count) {
    uint8_t *packet = transport_append(9 + count);
    packet[0] = 0x02;
    put16(packet + 1, CONNECTION | 0x2000);
    put16(packet + 3, (unsigned)count + 4);
    put16(packet + 5, (unsigned)count);
    put16(packet + 7, channel);
    return packet + 9;
}

// What a sensor advertises behind its flags, in BTHome 2: a temperature, and a number that changes each time.
static uint8_t put_bthome(uint8_t *data, uint32_t number) {
    static const uint8_t objects[] = {12, 0x16, 0xD2, 0xFC, 0x40, 0x02, 0, 0, 0x3E};
    memcpy(data, objects, sizeof objects);
    put16(data + 6, number % 5000);
    put32(data + 9, number);
    return 1 + objects[0];
}

// LE Advertising Report (7.7.65.2), with 31 octets where it is a device's: flags, a service, and a manufacturer's data,
// in which there is a number that changes each time; or flags and BTHome.
void controller_report(int device, uint32_t number) {
    static const uint8_t service[] = {2, 0x01, 0x06, 3, 0x03, 0x0D, 0x18};
    uint8_t data[31] = {0}, count = 0, type = 0x03;
    if (device != SCAN_RESPONSE) {
        memcpy(data, service, sizeof service);
        count = sizeof service;
    }
    if (device >= 0 && options.bthome) {
        count = 3 + put_bthome(data + 3, number);
    } else if (device >= 0) {
        data[7] = 23;
        data[8] = 0xFF;
        put16(data + 9, 0xFFFF);
        put32(data + 11, number);
        count = 31;
    } else if (device != LAST_REPORT) {
        type = device == CONNECTABLE ? 0x00 : 0x04;
    }
    uint8_t *parameters = append_event(0x3E, 12u + count);
    parameters[0] = 0x02;
    parameters[1] = 1;
    parameters[2] = type;
    memcpy(parameters + 4, peer_address, 6);
    // Each device has an address of its own, and the last report comes from yet another.
    if (device >= 0) put16(parameters + 4, 0x0100u + (unsigned)device);
    if (device == LAST_REPORT) parameters[6] = 0xFF;
    parameters[10] = count;
    memcpy(parameters + 11, data, count);
    parameters[11 + count] = device == LAST_REPORT ? 0 : (uint8_t)-60;
}
