import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSMP

/// What happens to a host that is up: its application calls, its controller sends valid and invalid packets, time
/// passes. Finally the controller is silent forever, and everything pending must end.
func fuzzHost(_ input: inout FuzzInput) throws(FuzzViolation) {
    var bench = HostBench()
    while !input.isEmpty {
        switch input.choice(of: 24) {
        case 0: bench.connect(to: input.address())
        case 1: bench.advertise()
        case 2: bench.scan(input.choice(of: 2) == 0)
        case 3: bench.startOperation(input.choice(of: 8), input.choice(of: GATTClientOperation.forFuzzing.count))
        case 4: bench.notify(input.choice(of: 8), AttributeHandle(rawValue: input.word()), input.chunk())
        case 5: bench.disconnect(input.choice(of: 8))
        case 6: bench.settleRequest(input.choice(of: 3), input.chunk())
        case 7: bench.updateParameters(input.choice(of: 8))
        case 8: bench.readRSSI(input.choice(of: 8))
        case 9: bench.pass(.milliseconds(Int64(input.word())))
        case 10...12: bench.answerCommand(status: input.byte(), input.chunk())
        case 13, 14: bench.reportConnection(role: input.byte(), handle: input.byte(), input.address())
        case 15...18: bench.receiveFrame(handle: input.byte(), ChannelCode.all[input.choice(of: 5)], input.chunk())
        case 19: bench.completePackets(handle: input.byte(), count: input.byte())
        default: bench.receive(input.chunk())
        }
        try bench.settle()
    }
    try bench.endQuietly()
}

/// The relevant channels.
private enum ChannelCode {
    static let all: [UInt16] = [0x0004, 0x0004, 0x0005, 0x0006, 0x0040]
}

extension FuzzInput {
    /// One of few addresses, so that they recur.
    @_lifetime(self: copy self)
    fileprivate mutating func address() -> DeviceAddress {
        let number = byte()
        return DeviceAddress(0xC000_0000_0000 | UInt64(number & 7), kind: number & 8 == 0 ? .public : .random)
    }
}

extension HostBench {
    mutating func connect(to peer: DeviceAddress) {
        guard let attempt = try? host.connect(to: PeerID(peer), timeout: .seconds(20), at: now) else { return }
        attempts.insert(attempt)
    }

    mutating func advertise() {
        try? host.startAdvertising(AdvertisingParameters(data: [2, 1, 6], scanResponse: [2, 10, 0]), at: now)
    }

    mutating func scan(_ isWanted: Bool) {
        if isWanted { try? host.startScanning(ScanParameters(), at: now) } else { host.stopScanning(at: now) }
    }

    mutating func startOperation(_ index: Int, _ operation: Int) {
        guard let link = link(index) else { return }
        let operation = GATTClientOperation.forFuzzing[operation]
        guard let identifier = try? host.start(operation, on: link, at: now) else { return }
        operations.insert(Operation(link: link, identifier: identifier))
    }

    mutating func notify(_ index: Int, _ handle: AttributeHandle, _ value: Span<UInt8>) {
        guard let link = link(index) else { return }
        _ = try? host.notify(handle, value: value, on: link)
        _ = try? host.indicate(handle, value: value, on: link, at: now)
        _ = try? host.writeWithoutResponse(value, to: handle, on: link)
    }

    mutating func disconnect(_ index: Int) {
        guard let link = link(index) else { return }
        try? host.disconnect(link, at: now)
    }

    mutating func settleRequest(_ how: Int, _ value: Span<UInt8>) {
        guard let request = serverRequest else { return answerPairings(how) }
        switch how {
        case 0: try? host.answer(request, value: value)
        case 1: try? host.accept(request)
        default: try? host.refuse(request, with: .unlikelyError)
        }
    }

    private mutating func answerPairings(_ how: Int) {
        for link in links {
            try? host.answerPairing(link, [.accept(), .refuse, .passkey(42)][how], at: now)
        }
    }

    mutating func updateParameters(_ index: Int) {
        guard let link = link(index) else { return }
        let parameters = ConnectionParameters(intervalMin: 24, intervalMax: 40, latency: 0, timeout: 400)
        guard let request = try? host.updateParameters(parameters, of: link, at: now) else { return }
        requests.insert(request)
    }

    mutating func readRSSI(_ index: Int) {
        guard let link = link(index), let request = try? host.readRSSI(of: link, at: now) else { return }
        requests.insert(request)
    }

    private func link(_ index: Int) -> LinkIdentifier? {
        links.isEmpty ? nil : links[index % links.count]
    }
}
