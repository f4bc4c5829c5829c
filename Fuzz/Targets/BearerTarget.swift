import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP

/// What happens on the enhanced ATT bearers of an encrypted link: the peer opens and closes them, gives credits, and
/// sends SDUs, K-frames and C-frames, valid and invalid ones. Our application uses both roles, and the controller takes
/// its time.
func fuzzBearers(_ input: inout FuzzInput) throws(FuzzViolation) {
    var bench = input.choice(of: 2) == 0 ? BearerBench.central : BearerBench.peripheral
    while !input.isEmpty {
        switch input.choice(of: 32) {
        case 0...8: bench.receiveSDU(on: input.choice(of: 8), split: input.byte(), input.chunk())
        case 9: bench.receiveFrame(on: 0x40 + UInt16(input.choice(of: 8)), input.chunk())
        case 10: bench.receiveCommand(input.chunk())
        case 11: bench.receiveAttribute(input.chunk())
        case 12: bench.open(1 + input.choice(of: 5), input.limits(), credits: UInt16(input.byte()))
        case 13: bench.accept(input.choice(of: 6), input.limits(), credits: UInt16(input.byte()))
        case 14, 15: bench.giveCredits(UInt16(input.byte()), on: input.choice(of: 8))
        case 16: bench.reconfigure(input.choice(of: 8), input.limits())
        case 17: bench.close(input.choice(of: 8))
        case 18: bench.encrypt(input.choice(of: 2) == 1)
        case 19...21: bench.start(input.choice(of: GATTClientOperation.forFuzzing.count), on: input.choice(of: 6))
        case 22...24: bench.host.notify(0, AttributeHandle(rawValue: input.word()), input.chunk())
        case 25: bench.host.settleRequest(input.choice(of: 3), input.chunk())
        case 26, 27: bench.host.completePackets(handle: 1, count: input.byte())
        case 28: bench.host.disconnect(0)
        case 29: bench.pass(.milliseconds(Int64(input.word())))
        default: bench.host.answerCommand(status: input.byte(), input.chunk())
        }
        try bench.settle()
    }
    try bench.host.endQuietly()
    try bench.settle()
}

extension FuzzInput {
    /// An MTU and an MPS, most of them allowed.
    @_lifetime(self: copy self)
    fileprivate mutating func limits() -> BearerBench.Limits {
        BearerBench.Limits(mtu: 60 + word() % 600, mps: 60 + UInt16(byte()))
    }
}
