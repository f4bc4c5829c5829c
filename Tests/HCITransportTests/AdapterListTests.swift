import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct AdapterListTests {
    @Test("adapters are listed by number, with their state and the switch that blocks them")
    func listing() throws {
        let hci1 = AdapterInformation(index: 1)
        let kernel = FakeKernel(adapters: [hci2, hci1, hci0]) {
            $0.held = [2]
            $0.switches = [RadioSwitch(name: "hci1", isSoftBlocked: true, isHardBlocked: false)]
        }
        var blocked = hci1
        blocked.block = .software
        #expect(try HCIAdapter.list(calls: kernel.adapterCalls) == [hci0, blocked, hci2.with(.held(by: nil))])
        #expect(kernel.calls == ["socket", "close 100"])
    }

    @Test("an adapter being set up is distinguished from a managed one that is being brought up")
    func initializing() throws {
        let hci1 = AdapterInformation(index: 1, state: .initializing), hci3 = AdapterInformation(index: 3)
        let kernel = FakeKernel(adapters: [hci0.with(.initializing), hci1, hci3]) { $0.initializing = [1, 3] }
        #expect(try HCIAdapter.list(calls: kernel.adapterCalls) == [hci0, hci1, hci3.with(.initializing)])
    }

    @Test("if the kernel does not report which adapters it manages, they count as up")
    func unmanaged() throws {
        let kernel = FakeKernel {
            $0.held = [0]
            $0.saysManaged = false
        }
        #expect(try HCIAdapter.list(calls: kernel.adapterCalls) == [hci0])
    }

    @Test(
        "the kernel's adapter information is decoded",
        arguments: [
            ([0x42, 0, 0, 1, 0xAA, 0], 0x05, 0x01, 0x60, 0, .up, .usb, true),
            ([0x42, 0, 0, 1, 0xAA, 0], 0x04, 0x11, 0x20, 0, .down, .usb, false),
            ([0, 0, 0, 0, 0, 0], 0x00, 0x0F, 0x00, 0, .down, nil, nil),
            // HCI_INIT and HCI_UP.
            ([0x42, 0, 0, 1, 0xAA, 0], 0x07, 0x01, 0x60, 0, .initializing, .usb, true),
            ([0x42, 0, 0, 1, 0xAA, 0], 0x02, 0x01, 0x60, 0, .initializing, .usb, true),
            // Features in another octet: the controller has been asked, and cannot do it.
            ([0x42, 0, 0, 1, 0xAA, 0], 0x01, 0x03, 0x00, 0xFF, .up, .uart, false),
        ]
            as [(
                [UInt8], UInt32, UInt8, UInt8, UInt8, AdapterInformation.State, AdapterInformation.Bus?, Bool?
            )])
    func decoding(
        octets: [UInt8], flags: UInt32, type: UInt8, feature: UInt8, otherFeature: UInt8,
        state: AdapterInformation.State, bus: AdapterInformation.Bus?, supportsLowEnergy: Bool?
    ) {
        var structure = hci_dev_info()
        structure.dev_id = 7
        withUnsafeMutableBytes(of: &structure.bdaddr) { $0.copyBytes(from: octets) }
        structure.flags = flags
        structure.type = type
        structure.features.4 = feature
        structure.features.3 = otherFeature
        #expect(
            AdapterInformation(structure)
                == AdapterInformation(
                    index: 7, address: octets == [0, 0, 0, 0, 0, 0] ? nil : address("00:AA:01:00:00:42"), bus: bus,
                    state: state, supportsLowEnergy: supportsLowEnergy))
    }

    private func managed(_ answers: [ScriptedSocket.Answer]) -> Set<UInt16>? {
        let socket = ScriptedSocket(incoming: answers, outgoing: [.takesAll])
        let indices = ManagedAdapters.indices(open: { 9 }, calls: socket.calls)
        #expect(socket.written == [[0x3C, 0x00, 0xFF, 0xFF, 0x00, 0x00]])
        #expect(socket.closed == [9])
        return indices
    }

    /// As the kernel answers for hci0, and for hci258, which is not configured.
    private static let answer: [UInt8] = [
        0x01, 0x00, 0xFF, 0xFF, 0x0D, 0x00, 0x3C, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x01, 0x01,
        0x00,
    ]

    @Test("the kernel's answer is found among its announcements")
    func answer() {
        let added: [UInt8] = [0x20, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x01]
        #expect(managed([.bytes(added), .fails(EINTR), .bytes(Self.answer)]) == [0, 258])
    }

    @Test(
        "an invalid or missing answer yields no list",
        arguments: [
            [.fails(EAGAIN)], [.fails(EBADF)], [.bytes([])],
            // The status is "unknown command", the request is another one, an adapter is missing.
            [.bytes([0x02, 0x00, 0xFF, 0xFF, 0x03, 0x00, 0x3C, 0x00, 0x01])],
            [.bytes([0x01, 0x00, 0xFF, 0xFF, 0x05, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00])],
            [.bytes([0x01, 0x00, 0xFF, 0xFF, 0x07, 0x00, 0x3C, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00])],
            .init(repeating: .bytes([0x05, 0x00, 0x01, 0x00, 0x00, 0x00]), count: 40),
        ] as [[ScriptedSocket.Answer]])
    func noAnswer(answers: [ScriptedSocket.Answer]) {
        #expect(managed(answers) == nil)
    }

    @Test("a kernel without the management interface yields no list")
    func noManagement() {
        #expect(ManagedAdapters.indices(open: { () throws(Errno) in throw Errno(EINVAL) }) == nil)
    }
}
